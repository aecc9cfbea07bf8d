"""The slash commands: one table for prompt, completion, palette, help and the linear mode.

What a command asks of the engine is found here, so that both front ends ask for the same, and
refuse with the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple, get_args

from tui.core.files import counted
from tui.core.meter import dollars
from tui.core.session_record import LeftDelegate
from tui.core.text.patterns import pattern
from tui.core.wire.efforts import AUTO_EFFORT, EFFORTS, effort_refusal
from tui.engine.intents import (
    AddPart,
    Against,
    AskChange,
    AskOnly,
    ChooseModel,
    Compact,
    Continue,
    Delegate,
    Dismiss,
    DropNotes,
    DropPart,
    Export,
    Felt,
    FindBlame,
    Forget,
    Forward,
    Inspect,
    Intent,
    MakeAttempts,
    Mode,
    NewConversation,
    Pin,
    PutNote,
    RedoDecision,
    RedoHunk,
    Rename,
    Restore,
    Rewind,
    SendFailure,
    SendNotes,
    SetAsking,
    SetAutoAccept,
    SetBudget,
    SetEffort,
    SetMode,
    SetTier,
    ShowContext,
    Span,
    Steer,
    StopAttempts,
    StopRedoing,
    StopTask,
    Switch,
    TakeAttempt,
    TakeNotes,
    TendDelegate,
    Tending,
    Throttle,
    ToBackground,
    UndoTurn,
    Verify,
)
from tui.engine.notices import OVER, DelegateView, Status, TaskView

AGAINST: tuple[Against, ...] = get_args(Against)
MODES: tuple[Mode, ...] = get_args(Mode)
SPANS: tuple[Span, ...] = get_args(Span)
DO_THEM = "Do what my notes on the lines say."
"""What is said where the notes are all."""
_TIER = pattern(r"[a-z][a-z0-9_-]{0,31}")


class Command(NamedTuple):
    """One ``/command``."""

    name: str
    help: str
    argument: str = ""
    """How its argument is written; empty: it takes none."""


MODE_WORDS = f"[{'|'.join(MODES)}]"
COMMANDS: tuple[Command, ...] = (
    Command("fast", "Answer with the fast model from now on"),
    Command("deep", "Answer with the deep model from now on"),
    Command(
        "connect",
        "Connect a provider or a server, and choose the fast and the deep model",
        "[PROVIDER|URL]",
    ),
    Command("model", "Choose the model of the current role, or switch roles", "[NAME|fast|deep]"),
    Command(
        "effort",
        "Set the reasoning effort of the current model; auto follows from what becomes of answers",
        f"[{'|'.join((*EFFORTS, AUTO_EFFORT))}]",
    ),
    Command("tier", "Ask for a service tier of the current model, such as priority", "[NAME|off]"),
    Command(
        "budget",
        "Say what was spent, or spend no more than that in this session or today",
        "[session|day USD|off]",
    ),
    Command("throttle", "Slow the model down, to feel the difference", "[TOKENS/S|off]"),
    Command("steer", "Add to the answer that streams, without stopping it", "TEXT"),
    Command("continue", "Let the answer go on that you stopped, from its last character"),
    Command(
        "verify",
        "Run what judges the project on what the screen shows, or on the disk; or only a part",
        "[disk] [all|tests|lint|types|TESTS]",
    ),
    Command("fix", "Have the model mend what failed, until it passes or is of no use"),
    Command(
        "attempts",
        "Try a prompt several times at once: the tests choose the best; or list, take, stop them",
        "[N] PROMPT|show [N]|take N [PATH|hunks A,B]|stop [N]",
    ),
    Command(
        "race",
        "Have two models, efforts or speeds answer one prompt side by side, by the clock",
        "[--models A,B] [--effort E,F] PROMPT|show|take N|stop",
    ),
    Command("blame", "Find the hunks that made the tests fail, or cured them"),
    Command("undo", "Undo the model's last turn, byte for byte"),
    Command("redo", "Redo the last decision or turn that you undid"),
    Command(
        "rewind",
        "Go back to before a turn or a hunk, files and conversation, or come forward again",
        "[TURN|hunk HUNK] [files|talk], or forward",
    ),
    Command(
        "repair",
        "Have the fast model redo a hunk by your words now, while the review goes on; or stop it",
        "HUNK WORDS|stop [HUNK]",
    ),
    Command("review", "Review the whole turn: all files, all hunks"),
    Command(
        "diff",
        "Show what differs from the disk, from HEAD, from the turn's start",
        "[disk|head|turn] [PATH]",
    ),
    Command(
        "note", "Note something for the model on a line; the file stays as it is", "PATH:LINE TEXT"
    ),
    Command("ask", "Ask something that is answered without edits and commands", "PROMPT"),
    Command(
        "inspect",
        "Have the model review what differs from HEAD, or another commit: notes on lines",
        "[REF]",
    ),
    Command(
        "change",
        "Ask for a change of these lines only; what is changed elsewhere is flagged",
        "PATH:FIRST[-LAST] WORDS",
    ),
    Command(
        "notes",
        "List the notes on lines; send, change, take over or drop some",
        "[send [WORDS]|edit NOTE TEXT|take NOTES|drop NOTES]",
    ),
    Command("auto", "Accept hunks automatically, except those that need a look", "[on|off]"),
    Command(
        "mode", "What the model's commands may do: ask, run in the sandbox, only read", MODE_WORDS
    ),
    Command("plan", "Plan mode: the model reads and thinks, and changes nothing"),
    Command(
        "delegate",
        "Have the deep model do this beside the conversation, or go on with what streams",
        "[PROMPT]",
    ),
    Command(
        "tasks",
        "What is delegated, and the model's commands; stop, pause, tell or answer one",
        "[stop TASK|pause|go|take D|tell D WORDS|yes D|no D [WORDS]]",
    ),
    Command("background", "Let the command that the model waits for go on behind it", "[TASK]"),
    Command(
        "context",
        "Show what the next request holds, with tokens and price, or leave a part out",
        "[drop NAME|add NAME]",
    ),
    Command(
        "image",
        "Name an image in the prompt, to be sent with it: a file, or the one on the clipboard",
        "[PATH]",
    ),
    Command("pin", "Keep a file attached, or words in mind, or list both", "[PATH|WORDS]"),
    Command("tree", "Show or hide the file tree with git status"),
    Command("split", "Two editors side by side, or one again"),
    Command("wrap", "Wrap long lines in the editor, or don't"),
    Command("removed", "Hide the removed lines of pending hunks in the editor, or show them"),
    Command("follow", "Follow the landing edit in the editor, or stop following"),
    Command("clear", "Start a new conversation; files and hunks stay"),
    Command(
        "compact",
        "Send a summary, with all that is certain, instead of what was said before the last turn",
        "[WORDS|show]",
    ),
    Command("resume", "Go on with an earlier session: a list to search in", "[ID|WORDS]"),
    Command("fork", "Begin a new session with this one up to a turn", "[TURN]"),
    Command("rename", "Give this session a name in the list of all", "WORDS"),
    Command("export", "Write the conversation to a new file", "[FILE.md|FILE.json]"),
    Command("forget", "Delete what is kept of this session, or of all", "[all]"),
    Command("rescue", "Bring back what was not saved when duetto ended", "[forget]"),
    Command("theme", "Change the colours", "[NAME]"),
    Command("status", "Show models, what they can do, and the sockets, live"),
    Command(
        "stats",
        "How fast your turns of the last week were, from prompt to green; say how it felt",
        "[WHEN|all|felt TIMES|ask on|ask off]",
    ),
    Command("skills", "List the skills that were found, and why one is not told to the model"),
    Command("meter", "Explain each figure of the status line, with its value now"),
    Command("suspend", "Suspend to the shell; fg resumes"),
    Command("help", "Show all keys and commands"),
    Command("quit", "Leave duetto"),
)


def find_command(name: str, commands: tuple[Command, ...] = COMMANDS) -> Command | None:
    """The command of this name, without its slash."""
    return next((command for command in commands if command.name == name), None)


def split_command(text: str) -> tuple[str, str] | None:
    """Name and argument of a draft that is a command; None for any other text.

    A path such as ``/usr/bin`` at the start of a prompt is no command.
    """
    if not text.startswith("/") or text.startswith("//"):
        return None
    name, _, argument = text[1:].strip().partition(" ")
    if not name.replace("-", "").isalpha() and name:
        return None
    return name.lower(), argument.strip()


def unknown_command(name: str, commands: tuple[Command, ...] = COMMANDS) -> str:
    """What to say to a command that there is not."""
    near = get_close_matches(name, [command.name for command in commands], 1, 0.7)
    hint = f"Did you mean /{near[0]}?" if near else "/help lists all commands."
    return f"There is no command /{name}. {hint}"


def asked(name: str, argument: str, status: Status) -> Intent | str | None:
    """What a command asks of the engine; a str says what is wrong with it.

    None: it is about the front end itself, or asks to be told something.
    """
    make = _MAKERS.get(name)
    if make is not None:
        return make(argument, status)
    return _PLAIN.get(name)


def model_words(status: Status) -> str:
    """Both models in words, a line each; not safe to show as it is."""
    lines = [
        f"{role}: {name or 'none'}"
        + (f", effort {effort}" if (effort := status.effort_words(role)) else "")
        + (f" ({why})" if (why := status.auto.get(role)) else "")
        + (f" (it has {', '.join(levels)})" if (levels := status.levels.get(role)) else "")
        + (f", tier {tier}" if (tier := status.tiers.get(role)) else "")
        + (" (answers now)" if role == status.role else "")
        for role, name in status.models.items()
    ]
    return "\n".join(lines)


def auto_words(on: bool) -> str:
    """What `SetAutoAccept` means."""
    if on:
        return "Hunks are accepted automatically, except those that need a look."
    return "Every hunk waits for your decision."


def diff_asked(argument: str) -> tuple[Against, str]:
    """Against what ``/diff`` compares, and which file; an empty path: all that differ."""
    first, _, rest = argument.partition(" ")
    against = next((one for one in AGAINST if one == first), None)
    path = rest.strip() if against else argument
    return against or "head", path.removeprefix("@")


def _model(argument: str, status: Status) -> Intent | str | None:
    if argument in ("fast", "deep"):
        return Switch("fast" if argument == "fast" else "deep")
    return ChooseModel(argument) if argument else None


def _effort(argument: str, status: Status) -> Intent | str | None:
    known, model = status.levels.get(status.role), status.models.get(status.role, "")
    if argument == "auto":
        return effort_refusal(argument, model, known) or SetEffort("auto")
    for effort in EFFORTS:
        if argument == effort:
            return effort_refusal(effort, model, known) or SetEffort(effort)
    levels = [one for one in EFFORTS if known is None or one in known]
    one_of = f"Effort is one of {', '.join((*levels, AUTO_EFFORT))}."
    return (effort_refusal(AUTO_EFFORT, model, known) or one_of) if argument else None


def _tier(argument: str, status: Status) -> Intent | str | None:
    if not argument:
        return None
    if not _TIER.fullmatch(argument):
        return "A tier is one word, such as fast, priority or flex; off asks for none."
    return SetTier("" if argument == "off" else argument)


def _stats(argument: str, status: Status) -> Intent | str | None:
    from tui.engine.stats_words import since_asked  # when it is wanted

    word, _, rest = argument.partition(" ")
    if word == "ask":
        wrong = "/stats ask on has you asked once a day how fast it felt, /stats ask off never."
        return SetAsking(rest == "on") if rest in ("on", "off") else wrong
    if word == "felt":
        wrong = "/stats felt 2 says that it felt twice as fast as without duetto, 1 the same."
        number = rest.strip().removesuffix("x")
        is_number = number.replace(".", "", 1).isdecimal() and number.isascii()
        return Felt(number) if is_number and 0.01 <= float(number) <= 100 else wrong
    since = since_asked(argument)
    return since if isinstance(since, str) else None


def _repair(argument: str, status: Status) -> Intent | str | None:
    number, _, words = argument.partition(" ")
    if number == "stop" and (not words.strip() or words.strip().isdecimal()):
        return StopRedoing(int(words or 0))
    if number.isdecimal() and words.strip():
        return RedoHunk(int(number), words.strip())
    return "Say which hunk, and what is wrong with it: /repair HUNK WORDS, or /repair stop."


def _budget(argument: str, status: Status) -> Intent | str | None:
    word, _, amount = argument.partition(" ")
    for span in SPANS:
        if word == span:
            usd = None if amount == "off" else _dollars(amount)
            if usd is None or usd > 0:
                return SetBudget(span, usd)
    return SetBudget() if not argument else "Say how much: /budget day 5, or /budget session off."


def _dollars(amount: str) -> float:
    """0: it is no amount."""
    try:
        usd = float(amount.strip().lstrip("$"))
    except ValueError:
        return 0.0
    return usd if 0 < usd < 1e6 else 0.0


def _throttle(argument: str, status: Status) -> Intent | str | None:
    if not argument and status.throttle is None:
        return "Nothing is slowed down: /throttle 50 has answers come at 50 tokens/s."
    if argument in ("", "off"):
        return Throttle(None)
    try:
        rate = float(argument)
    except ValueError:
        rate = 0.0
    if not 1 <= rate <= 20_000:
        return "The throttle is a number of tokens/s from 1 to 20000, or off."
    return Throttle(rate)


def _compact(argument: str, status: Status) -> Intent | str | None:
    return None if argument == "show" else Compact(argument)


def _steer(argument: str, status: Status) -> Intent | str | None:
    return Steer(argument) if argument else "Say what to add: /steer TEXT."


def _auto(argument: str, status: Status) -> Intent | str | None:
    if argument not in ("", "on", "off"):
        return "/auto on accepts what needs no look, /auto off asks for every hunk."
    return SetAutoAccept(argument == "on" if argument else not status.auto_accept)


def _mode(argument: str, status: Status) -> Intent | str | None:
    for mode in MODES:
        if argument == mode:
            return SetMode(mode)
    return f"The mode is one of {', '.join(MODES)}." if argument else None


def _background(argument: str, status: Status) -> Intent | str | None:
    if argument and not argument.isdecimal():
        return "A task is a number, as /tasks lists it."
    return ToBackground(int(argument or 0))


_TENDING: Mapping[str, Tending] = {
    "stop": "stop",
    "pause": "pause",
    "go": "go",
    "take": "take",
    "tell": "tell",
    "yes": "answer",
    "no": "answer",
}


def _tasks(argument: str, status: Status) -> Intent | str | None:
    word, _, rest = argument.partition(" ")
    name, _, words = rest.strip().partition(" ")
    if not argument:
        return None
    if word == "stop" and name.isdecimal() and not words:
        return StopTask(int(name[:9]))
    what, number = _TENDING.get(word), name.removeprefix("d")
    needs = word == "tell"
    takes = word in ("tell", "no")
    if what is None or name == number or not number.isdecimal() or (needs and not words):
        return (
            "/tasks lists them; /tasks stop TASK ends one. Of what is delegated (d1): /tasks pause,"
            " go, stop, take, yes and no D, /tasks tell D WORDS."
        )
    if words and not takes:
        return f"/tasks {word} takes nothing behind {name}."
    asks = (one.ask for one in status.delegates if one.number == int(number[:9]))
    if word == "yes" and (ask := next(asks, None)) is not None:
        return TendDelegate(int(number[:9]), what, ask.choices[0], ask.id)
    return TendDelegate(int(number[:9]), what, words.strip())


NO_SUMMARY = "All that was said is sent as it was said: there is no summary."


def mode_words(status: Status) -> str:
    """What the mode means here."""
    if status.mode == "plan":
        return "Plan mode: the model reads and changes nothing."
    if status.mode == "manual":
        return "Every command of the model is asked about, unless it only reads."
    if status.sandboxed:
        return f"The model's commands run without a question in the sandbox ({status.sandbox})."
    return f"Every command is asked about: {status.sandbox or 'no sandbox was found yet'}."


def task_words(status: Status, now: float) -> str:
    """What is delegated, and the model's commands, a line each; not safe to show as it is."""
    lines = [
        line
        for one in status.delegates
        for line in (
            f"d{one.number}  {one.prompt.strip()}  {delegate_state(one, now)}",
            f"    {one.last}" if one.last and one.state not in OVER else "",
            f"    {delegate_asks(one)}" if one.ask is not None else "",
        )
        if line
    ]
    lines += [f"d{one.number}  {one.prompt.strip()}  {left_words(one)}" for one in status.left]
    lines += [
        f"{task.number}  {task.command}  "
        + (
            task.ended
            or ("being stopped" if task.stopping else f"running for {now - task.began_s:.0f} s")
        )
        + ("  (background)" if task.background and not task.ended else "")
        for task in status.tasks
    ]
    return "\n".join(lines) or "Nothing is delegated, and no command of the model runs."


def delegate_state(one: DelegateView, now: float) -> str:
    """How it is with what is delegated: ``works, 12 s · ~512 tokens · $0.004 · 1 file``."""
    if one.ended:
        return one.ended
    asks = "asks" if one.ask is not None else "works"
    said = [f"{asks}, {now - one.began_s:.0f} s" if one.state == "works" else one.state]
    said += [f"{'~' * one.estimated}{counted(one.tokens, 'token')}"] * bool(one.tokens)
    said += [dollars(one.usd)] if one.usd else []
    said += [counted(one.files, "file")] * bool(one.files)
    return " · ".join(said)


def left_words(one: LeftDelegate) -> str:
    """How it is with what an earlier session delegated, and the way to it."""
    state = "done" if one.done else "not done"
    return f"/resume {one.session} goes to its session ({state})"


def delegate_asks(one: DelegateView) -> str:
    """What it asks, and how that is answered."""
    ask, name = one.ask, f"d{one.number}"
    if ask is None:
        return ""
    about = ask.command or ask.detail
    return f"{name} asks: {ask.question} {about}  (/tasks yes {name}, /tasks no {name} [WORDS])"


class BackgroundNews:
    """The model's commands that went to the background since the last look."""

    def __init__(self) -> None:
        self._told: set[int] = set()

    def new(self, status: Status) -> Iterator[tuple[TaskView, str]]:
        """Each that still runs, and what is to be said of it; not safe to show as it is."""
        for task in status.tasks:
            if task.background and not task.ended and task.number not in self._told:
                self._told.add(task.number)
                where = "runs in the background and ends with duetto"
                yield task, f"Task {task.number} {where}: {task.command}"


class DelegateNews:
    """What is delegated and waits for the user since the last look."""

    def __init__(self) -> None:
        self._told: dict[int, object] = {}
        """What of each was told last."""

    def new(self, status: Status) -> Iterator[str]:
        """What it asks, or why it stands still; not safe to show as it is."""
        for one in status.delegates:
            stands = one.state in ("failed", "paused")
            now = one.ask.id if one.ask is not None else one.state if stands else None
            if now == self._told.get(one.number):
                continue
            self._told[one.number] = now
            if one.ask is not None:
                yield delegate_asks(one)
            elif stands:
                why = f": {one.ended}" if one.ended else ""
                yield f"d{one.number} {one.state}{why} (/tasks go d{one.number})"


def _note(argument: str, status: Status) -> Intent | str | None:
    path, line, text = _place(argument)
    if not (path and line.isdecimal() and int(line[:9]) and text):
        return f"Say where, and what: /note PATH:LINE TEXT{_BLANKS}"
    return PutNote(path, int(line[:9]) - 1, text)


_BLANKS = ' (a path with blanks stands in quotes: "my file.py":3).'


def _place(argument: str) -> tuple[str, str, str]:
    """Path, lines and words of ``PATH:LINES WORDS``, as ``@`` writes them in a prompt."""
    argument = argument.removeprefix("@")
    if argument.startswith('"'):
        path, _, rest = argument[1:].partition('":')
        lines, _, words = rest.partition(" ")
    else:
        place, _, words = argument.partition(" ")
        path, _, lines = place.rpartition(":")
    return path, lines, words.strip()


def _ask(argument: str, status: Status) -> Intent | str | None:
    return AskOnly(argument) if argument else "Say what you want to know: /ask PROMPT."


def _inspect(argument: str, status: Status) -> Intent | str | None:
    if argument.startswith("-") or " " in argument:
        return "Name one commit, branch or tag: /inspect [REF]."
    return Inspect(argument or "HEAD")


def _change(argument: str, status: Status) -> Intent | str | None:
    path, lines, text = _place(argument)
    first, dash, last = lines.partition("-")
    last = last if dash else first
    numbers = first.isdecimal() and last.isdecimal() and int(first[:9]) > 0
    if not (path and numbers and text):
        what = "Say which lines, and what is to become of them"
        return f"{what}: /change PATH:FIRST-LAST WORDS{_BLANKS}"
    end = max(int(first[:9]), int(last[:9]))
    return AskChange(path, (int(first[:9]) - 1, 0), (end, 0), text)


def _notes(argument: str, status: Status) -> Intent | str | None:
    word, _, rest = argument.partition(" ")
    number, _, text = rest.strip().partition(" ")
    if word == "send":
        return SendNotes(rest.strip())
    if word == "edit" and number.isdecimal() and text.strip():
        return PutNote("", 0, text.strip(), int(number[:9]))
    if word in ("take", "drop"):
        numbers = rest.replace(",", " ").split()
        chosen = (
            None
            if numbers == ["all"]
            else tuple(int(one[:9]) for one in numbers if one.isdecimal())
        )
        if numbers and (chosen is None or len(chosen) == len(numbers)):
            return TakeNotes(chosen) if word == "take" else DropNotes(chosen)
    if argument:
        return (
            "/notes lists them; /notes send [WORDS], /notes edit NOTE TEXT, /notes take NOTES and"
            " /notes drop NOTES do something with them: numbers, or all."
        )
    return None


def _context(argument: str, status: Status) -> Intent | str | None:
    word, _, name = argument.partition(" ")
    if not argument:
        return ShowContext()
    if word not in ("drop", "add") or not name.strip():
        return (
            "/context shows what is sent, /context drop NAME leaves a part out,"
            " /context add NAME sends it again."
        )
    return DropPart(name.strip()) if word == "drop" else AddPart(name.strip())


def _rescue(argument: str, status: Status) -> Intent | str | None:
    if argument not in ("", "forget"):
        return "/rescue brings it back, /rescue forget removes it."
    return Dismiss() if argument else Restore()


def _rename(argument: str, status: Status) -> Intent | str | None:
    return Rename(argument) if argument else "Say what it is called: /rename WORDS."


def _rewind(argument: str, status: Status) -> Intent | str | None:
    match argument.split():
        case []:
            return None
        case ["forward"]:
            return Forward()
        case ["forward", turn] if _is_number(turn):
            return Forward(int(turn))
        case [turn] if _is_number(turn):
            return Rewind(int(turn))
        case [turn, ("files" | "talk") as part] if _is_number(turn):
            return Rewind(int(turn), part="files" if part == "files" else "talk")
        case ["hunk", hunk] if _is_number(hunk):
            return Rewind(0, int(hunk))
        case ["hunk", hunk, ("files" | "talk") as part] if _is_number(hunk):
            return Rewind(0, int(hunk), "files" if part == "files" else "talk")
    return "/rewind lists the turns; /rewind 2, /rewind 2 files, /rewind hunk 5, /rewind forward."


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 10 and int(word) > 0


def _forget(argument: str, status: Status) -> Intent | str | None:
    if argument not in ("", "all"):
        return "/forget deletes what is kept of this session, /forget all that of every session."
    return Forget(all_sessions=bool(argument))


def _verify(argument: str, status: Status) -> Intent | str | None:
    """What is meant: where, which verifiers, which tests."""
    words = argument.split()
    disk, whole = "disk" in words, "all" in words
    only = tuple(word for word in words if word in ("lint", "types"))
    tests = tuple(word for word in words if word not in ("disk", "all", "lint", "types", "tests"))
    if any(word.startswith("-") for word in tests):
        return "/verify takes disk, all, tests, lint, types, or names of verifiers or tests."
    if "tests" in words:
        only = (*only, "tests")
    return Verify(disk=disk, only=only, tests=tests, whole=whole)


def _attempts(argument: str, status: Status) -> Intent | str | None:
    from tui.core.attempts import read_plan  # hardly a session does

    if shown_attempt(argument) is not None:
        return None
    if (asked := _of_attempts(argument, "attempts")) is not None:
        return asked
    wanted = read_plan(argument)
    return wanted if isinstance(wanted, str) else MakeAttempts(wanted)


def _of_attempts(argument: str, name: str) -> Intent | str | None:
    """What is asked of those that are there; None: it is not written as that is, so a prompt."""
    which = f"Say which: /{name} show 2, stop 2, take 2, take 2 PATH, or take 2 hunks 1,3."
    match argument.split(maxsplit=2):
        case ["stop"]:
            return StopAttempts()
        case ["stop", number] if _is_number(number):
            return StopAttempts(int(number))
        case ["take"]:
            return which
        case ["take", number] if _is_number(number):
            return TakeAttempt(int(number))
        case ["take", number, part] if _is_number(number):
            return _part_of(int(number), part.removeprefix("@"), which)
        case ["show" | "stop" | "take", number] if number.isdecimal():
            return which
    return None


def _part_of(number: int, part: str, which: str) -> Intent | str | None:
    """Some hunks or one file of an attempt; None: the words are neither."""
    words = part.replace(",", " ").split()
    if words[:1] in (["hunk"], ["hunks"]) and all(word[0] in "-0123456789" for word in words[1:]):
        if not words[1:] or not all(map(_is_number, words[1:])):
            return which  # no prompt of five attempts
        return TakeAttempt(number, hunks=tuple(map(int, words[1:])))
    if len(part) > 2 and part[0] == part[-1] == '"':
        return TakeAttempt(number, part[1:-1])
    return TakeAttempt(number, part) if len(part.split()) == 1 else None


def shown_attempt(argument: str) -> int | None:
    """Which attempt is to be shown, 0: all of them; None: none is."""
    match argument.split():
        case [] | ["show"]:
            return 0
        case ["show", number] if _is_number(number):
            return int(number)
    return None


def _race(argument: str, status: Status) -> Intent | str | None:
    from tui.core.attempts import read_race  # hardly a session does

    if shown_attempt(argument) is not None:
        return None
    if (asked := _of_attempts(argument, "race")) is not None:
        return asked
    wanted = read_race(argument)
    return wanted if isinstance(wanted, str) else MakeAttempts(wanted)


_PLAIN: Mapping[str, Intent] = {
    "fast": Switch("fast"),
    "deep": Switch("deep"),
    "continue": Continue(),
    "clear": NewConversation(),
    "undo": UndoTurn(),
    "redo": RedoDecision(),
    "blame": FindBlame(),
    "fix": SendFailure(),
    "plan": SetMode("plan"),
}
_MAKERS: Mapping[str, Callable[[str, Status], Intent | str | None]] = {
    "model": _model,
    "effort": _effort,
    "tier": _tier,
    "budget": _budget,
    "stats": _stats,
    "repair": _repair,
    "throttle": _throttle,
    "steer": _steer,
    "auto": _auto,
    "ask": _ask,
    "change": _change,
    "inspect": _inspect,
    "note": _note,
    "notes": _notes,
    "mode": _mode,
    "background": _background,
    "delegate": lambda argument, status: Delegate(argument),
    "tasks": _tasks,
    "rescue": _rescue,
    "context": _context,
    "verify": _verify,
    "attempts": _attempts,
    "race": _race,
    "pin": lambda argument, status: Pin(argument),
    "rename": _rename,
    "compact": _compact,
    "rewind": _rewind,
    "export": lambda argument, status: Export(argument),
    "forget": _forget,
}

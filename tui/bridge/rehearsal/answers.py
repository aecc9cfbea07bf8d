"""Decides what the rehearsal model answers to a request: exercises, free text, honest words.

Gives a rehearsed answer out at an exact number of tokens a second. The player never sleeps and
never reads a clock: its owner asks when the next token is due and calls `play` then, with the
time in seconds. Each token's deadline follows from the start alone, so a late timer makes one
larger delta instead of a slower stream.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import floor
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from tui.bridge.rehearsal.patches import (
    FilePlan,
    WrittenChange,
    in_prose,
    lines_of,
    plan_file,
    write_patch,
)
from tui.bridge.rehearsal.request import ParsedRequest, parse_request, shows_failure
from tui.bridge.rehearsal.scripts import (
    ORIGINAL,
    FileRegion,
    Fix,
    Script,
    Version,
    has_all,
    load_scripts,
    words_of,
)
from tui.core.instructions import STOPPED_BY_ACCIDENT
from tui.core.wire.events import Usage

if TYPE_CHECKING:
    from tui.bridge.endpoints.response_writer import ResponseWriter


class ReasoningPart(Struct, frozen=True):
    """A reasoning summary; all of it counts as reasoning tokens."""

    text: str

    def item(self) -> dict[str, Any]:
        """The output item to begin."""
        return {"type": "reasoning"}


class TextPart(Struct, frozen=True):
    """Prose."""

    text: str

    def item(self) -> dict[str, Any]:
        """The output item to begin."""
        return {"type": "message"}


class CallPart(Struct, frozen=True):
    """A tool call; ``text`` is what streams: the input, or the arguments as JSON."""

    name: str
    text: str
    custom: bool = False

    def item(self) -> dict[str, Any]:
        """The output item to begin."""
        return {
            "type": "custom_tool_call" if self.custom else "function_call",
            "name": self.name,
        }


AnswerPart = ReasoningPart | TextPart | CallPart


def function_call(name: str, **arguments: object) -> CallPart:
    """A function call with its arguments as JSON."""
    return CallPart(name, json.dumps(arguments, ensure_ascii=False))


MOST_LAG_S = 0.25
"""What is later than this (a client that reads slowly) is not caught up: the stream shifts."""
MOST_HELD_LAG_S = 0.01
"""The same while the words are held for a throttle: what runs ahead of it would be counted as said,
and an Esc would tell of twice the tokens that anybody saw."""


class PlaySpeed(Struct, frozen=True):
    """How fast a model is."""

    tokens_s: float
    ttft_s: float = 0.0
    """Seconds before the first token."""


def token_sizes(random: Random) -> Iterator[int]:
    """Sizes of tokens in characters, for ever: 3 to 5, and 20 for every five of them."""
    sizes = [3, 4, 4, 4, 5]
    while True:
        random.shuffle(sizes)
        yield from sizes


class Player:
    """One answer on its way."""

    def __init__(
        self, parts: Sequence[AnswerPart], pace: PlaySpeed, *, seed: int, now: float
    ) -> None:
        """``now`` is the moment of the request, in seconds of the owner's clock."""
        self._parts = [part for part in parts if part.text]
        self._pace = pace
        self._sizes = token_sizes(Random(seed))
        self._first_s = now + pace.ttft_s
        self._part = 0
        self._at = 0
        self._index: int | None = None
        self._reasoning_tokens = 0
        self.output_tokens = 0
        """Tokens given out so far, reasoning included."""

    @property
    def done(self) -> bool:
        """Everything was given out."""
        return self._part >= len(self._parts)

    def due_s(self) -> float:
        """When the next token is due, in seconds of the owner's clock."""
        return self._first_s + self.output_tokens / self._pace.tokens_s

    def play(self, sink: ResponseWriter, now: float, *, held: bool = False) -> None:
        """Give out all tokens that are due.

        ``held``: the sink lets words go more slowly than they come.
        """
        lag_s, most_s = now - self.due_s(), MOST_HELD_LAG_S if held else MOST_LAG_S
        if lag_s > most_s:
            self._first_s += lag_s - most_s
        due = floor((now - self._first_s) * self._pace.tokens_s + 1e-6) + 1
        while self.output_tokens < due and not self.done:
            self._give(sink, due - self.output_tokens)

    def _give(self, sink: ResponseWriter, most: int) -> None:
        """Give out tokens of one item as one delta."""
        part, first, count = self._parts[self._part], self._at, 0
        while count < most and self._at < len(part.text):
            self._at += next(self._sizes)
            count += 1
        self.output_tokens += count
        if isinstance(part, ReasoningPart):
            self._reasoning_tokens += count
        if self._index is None:
            self._index = sink.item_added(part.item())
        sink.delta(self._index, part.text[first : self._at])
        if self._at < len(part.text):
            return
        sink.item_done(self._index)
        self._part, self._at, self._index = self._part + 1, 0, None

    def usage(self, input_tokens: int = 0, cached_tokens: int = 0) -> Usage:
        """What was really given out so far, beside what the owner counted of the input."""
        return Usage(input_tokens, self.output_tokens, cached_tokens, self._reasoning_tokens)


REVIEW = "Accept or reject the hunks, then run the tests."
TO_RUN = "I run the tests first, and see what is red."
GREEN = "All green: nothing is left to mend there."
_TESTS = ("python3", "-m", "unittest")
_RUN_TESTS = re.compile(r"\brun\s+(?:\w+\s+){0,3}?tests?\b", re.I)
_GREEN = re.compile(r"^OK\b", re.MULTILINE)
REHEARSED = "That was rehearsed text without meaning."
CONNECT = """\
`/connect` connects a real model: a provider (OpenAI, Anthropic, Groq...) with your key, or a server
of yours (Ollama, vLLM...). For one run only, with the key in the provider's own variable:

    duetto --endpoint NAME --fast MODEL --deep MODEL
"""
ELSEWHERE = """\
I am duetto's rehearsal model: scripted answers at real speeds, no real model, so I cannot work on
this project. `/connect` connects one that can. Say *try it here*, and I write a harmless comment
into one of your files, live: you keep it or take it back.
"""
_FILES_HEADS = ("Files in the workspace (", "The workspace has no files yet")
"""With which duetto's instructions begin the list of files."""
_COMMENT = """\
A comment from duetto's rehearsal, written while you watch.
Esc stops it at any character; what you see then stays as it is.
You keep it or take it back with one key, and nothing is on your disk before.
A model that understands this file writes into it the same way.
"""
_MARKS = {
    "#": "py pyi sh bash zsh fish rb pl pm r jl toml yaml yml cfg conf nix ex exs tcl mk cmake tf",
    "//": "js jsx ts tsx mjs cjs c h cc cpp hpp cs java kt kts go rs swift scala dart zig proto",
    "--": "sql lua hs elm ada adb vhdl",
    ";": "lisp el clj scm asm ini",
    "%": "tex erl pro",
    "<!--": "md html htm xml svg vue",
    "/*": "css scss less",
}
_MARK_OF = {ending: mark for mark, endings in _MARKS.items() for ending in endings.split()}
_SETTINGS = frozenset(["toml", "yaml", "yml", "cfg", "conf", "ini", "md"])
_BESIDE = frozenset(["doc", "docs", "examples", "test", "tests", "vendor"])
"""Endings and folders of files that are less fun."""
_NEW_FILE = "try-it-here.md"
"""In a folder without files."""
_CLOSED = {"<!--": " -->", "/*": " */"}
_REFUSED = re.compile(
    r"\bnot (?:be )?(?:placed|applied|found|valid)\b|\brefused\b|\brejected\b|\bconflict"
    r"|\bambiguous\b|\binterrupted\b|\bfailed\b",
    re.IGNORECASE,
)
_CUT = re.compile(r"\bpatch was (?:interrupted|cut)\b")
_PLACED = re.compile(r"\bpending review\b|\baccepted\b")
_QUOTED = "Current text of "
"""What follows in a report is a file's text, not what became of the patch."""


def about(prompt: str, failed: bool, exercise: Script | None, *, practice: bool = True) -> str:
    """The honest answer to everything that no script knows, short outside of the practice."""
    if not practice:
        return ELSEWHERE
    if failed:
        opening = (
            "I cannot tell what is wrong there: I am duetto's rehearsal model, no real one, and "
            "know only the exercises of the practice workspace."
        )
    elif prompt:
        opening = (
            "I am duetto's rehearsal model, no real one: I play the exercises of the practice "
            "workspace and cannot answer anything else."
        )
    else:
        opening = "I am duetto's rehearsal model, and the request asks for nothing."
    if exercise is not None and exercise.asks:
        wishes = ", ".join(f"*{ask.example}*" for ask in exercise.asks.values())
        opening += f" For the exercise at hand I understand these redirects: {wishes}."
    prompts = "\n".join(f"- {script.prompt}" for script in load_scripts())
    return f"{opening}\n\n{CONNECT}\nWhat I can do, in `duetto practice`:\n\n{prompts}\n"


def not_run(output: str) -> str:
    """The tests did not run, or say nothing that a script knows."""
    said = output.strip().splitlines()[:1]
    why = f" ({said[0][:200]})" if said else ""
    return f"So I do not know how the tests stand{why}. F5 runs them, too."


def not_declared(name: str) -> str:
    """A call was asked for that the request does not allow."""
    return f"I cannot call `{name}`: the request declares no such tool."


def called(outputs: Sequence[tuple[str, str]]) -> str:
    """What the calls that were asked for gave: tool and output."""
    return "\n".join(f"`{name}` answered: {output.strip()[:400]}" for name, output in outputs)


def reading(paths: Sequence[str]) -> str:
    """Why files are read first."""
    return f"I need to see {' and '.join(paths)} first."


def no_file(path: str, output: str) -> str:
    """A file that the exercise needs is not to be had."""
    why = f" ({output.strip().splitlines()[0]})" if output.strip() else ""
    return (
        f"This exercise needs `{path}`, and I cannot see it{why}. I am a rehearsal model and know "
        "only the practice workspace: open it with `duetto practice`, or start it over with "
        "`duetto practice --new`."
    )


def lost_region(region: FileRegion) -> str:
    """The text is none of those that the script knows."""
    block = next((text for text in (region.states[ORIGINAL],) if text), "")
    first = next((line.strip() for line in block.splitlines() if line.strip()), "")
    expected = f" I looked for the lines that begin with `{first}`." if first else ""
    return (
        f"You have changed {region.name} in `{region.path}`, and my edit no longer fits it, so I "
        f"leave your text alone.{expected} I am a rehearsal model: I know this file only as the "
        "exercise left it. Undo your change, or start over with `duetto practice --new`."
    )


def solved(script: Script, *, failed: bool) -> str:
    """Nothing is left to change."""
    if failed:
        return (
            f"`{'`, `'.join(script.paths)}` already stands as I would write it. If the tests still "
            "fail, the change may be pending: accept it, then run them again."
        )
    return (
        f"That is already done: `{'`, `'.join(script.paths)}` stands as I would write it. Run "
        "the tests."
    )


def was_cut(outputs: Sequence[str]) -> bool:
    """Whether a patch did not come through whole: the connection broke while it was sent."""
    return any(_CUT.search(output.split("\n", 1)[0]) for output in outputs)


def after_patch(outputs: Sequence[str]) -> str:
    """The closing sentence, from what became of the patch."""
    for output in outputs:
        for line in output.split(f"\n{_QUOTED}")[0].splitlines():
            if _REFUSED.search(line) and not _PLACED.search(line):
                return f"Part of the patch was not placed: {line.strip()[:300]}"
    return "Done. Accept or reject the hunks."


def lines_follow(count: int, path: str) -> str:
    """Before free-form lines."""
    return f"Rehearsed lines without meaning: {count} of them for `{path}`."


CHARS_PER_TOKEN = 4
MOST_TOKENS = 200_000
MOST_LINES = 20_000
MOST_CALLS = 16
_SENTENCES = 97

FreeKind = Literal["prose", "code", "reasoning", "markdown", "lines", "calls", "here"]

_TOKENS = re.compile(
    r"\brehearse\s+([\d][\d,_]*)\s+tokens?(?:\s+of\s+(prose|code|reasoning|markdown))?", re.I
)
_LINES = re.compile(r"\bwrite\s+([\d][\d,_]*)\s+lines?\s+(?:in|into|to)\s+([\w./-]+)", re.I)
_CALL = re.compile(r"\brehearse\s+call\s+([\w.-]+)\s+(\S.*)", re.I)
_HERE = re.compile(r"\btry\s+(?:it|this|that)\s+(?:here|out\s+here|in\s+@?([\w./-]+))", re.I)
_SAMPLE = """
the buffer keeps every line while a patch lands and the meter counts what arrives so that a reader
sees at once how fast a model writes and where it stopped when a key was pressed
"""
_WORDS = _SAMPLE.split()


class FreeForm(Struct, frozen=True):
    """What was asked for."""

    kind: FreeKind
    count: int
    """Tokens, or lines if the kind is ``lines``, or calls."""
    path: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Tool and arguments (or input) as they are to be said."""


def free_form(prompt: str) -> FreeForm | None:
    """Read a prompt that asks for free-form output; None: it does not."""
    if match := _TOKENS.search(prompt):
        kind = (match[2] or "prose").lower()
        count = min(_number(match[1]), MOST_TOKENS)
        known: tuple[FreeKind, ...] = ("code", "reasoning", "markdown")
        return FreeForm(next((one for one in known if one == kind), "prose"), count)
    if match := _LINES.search(prompt):
        return FreeForm("lines", min(_number(match[1]), MOST_LINES), match[2].rstrip("."))
    if match := _HERE.search(prompt):
        return FreeForm("here", 1, (match[1] or "").rstrip("."))
    if found := _CALL.findall(prompt):
        calls = tuple((name, text.rstrip()) for name, text in found[:MOST_CALLS])
        return FreeForm("calls", len(calls), calls=calls)
    return None


def free_text(kind: FreeKind, tokens: int, seed: int) -> str:
    """Text of exactly ``tokens`` times four characters."""
    wanted, random = tokens * CHARS_PER_TOKEN, Random(seed)
    sentences = [_sentence(random) for _ in range(_SENTENCES)]
    parts, size, number = ["Rehearsed text without meaning.\n\n"], 33, 0
    while size < wanted:
        number += 1
        part = _piece(kind, number, random.choice(sentences))
        parts.append(part)
        size += len(part)
    return "".join(parts)[:wanted]


def free_lines(path: str, first: int, count: int, seed: int) -> list[str]:
    """Numbered lines that fit the file's kind; ``first`` is the number of the first one."""
    random = Random(seed)
    return [_line(path, number, random) for number in range(first, first + count)]


def _line(path: str, number: int, random: Random) -> str:
    words = " ".join(random.choices(_WORDS, k=6))
    if path.endswith(".py"):
        return f"value_{number} = {random.randrange(1000)}  # {words}"
    return f"line {number}: {words}"


def _sentence(random: Random) -> str:
    return " ".join(random.choices(_WORDS, k=random.randrange(7, 16))).capitalize() + "."


def _piece(kind: FreeKind, number: int, sentence: str) -> str:
    end = "\n\n" if number % 5 == 0 else " "
    if kind == "code":
        fence = "```python\n" if number == 1 else ""
        return f"{fence}step_{number} = {number * 7 % 1000}  # {sentence}\n"
    if kind == "markdown" and number % 5 == 1:
        return f"## Part {number // 5 + 1}\n\n- **{sentence}**\n- `step_{number}` {sentence}\n\n"
    return sentence + end


def _number(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))


DEFAULT_SEED = 4
DEFAULT_MISTAKES = 0.4
_GO_ON = [["again", "continue", "go", "retry", "finish", "redo", "fix", "resume", "wrong"]]
_MOST_SAID = 50
"""Of what was said before: what a conversation is about now is in the newest."""
_GO_ON_WORDS = 8


class AnswerStyle(Struct, frozen=True):
    """How a model answers."""

    deep: bool = False
    """Thinks longer, and is right the first time."""
    seed: int = DEFAULT_SEED
    mistakes: float = DEFAULT_MISTAKES
    """Share of the exercises that the fast model gets wrong at first, 0 to 1."""
    effort: str = ""
    """``low`` and ``minimal`` think one paragraph, ``none`` not at all."""
    draw: int = 0
    """How many other conversations asked the same before: each has luck of its own."""


class ExerciseChoice(Struct, frozen=True):
    """An exercise and what to make of it."""

    script: Script
    wishes: frozenset[str] = frozenset()


def answer(
    request: Mapping[str, Any], items: Sequence[Mapping[str, Any]], style: AnswerStyle
) -> list[AnswerPart]:
    """The answer to a request, ``items`` being the whole chain of items behind it."""
    parsed = parse_request(request, items)
    outputs = [reply.output for reply in parsed.answers if reply.name == "apply_patch"]
    if outputs and len(outputs) == len(parsed.answers) and not was_cut(outputs):
        return [TextPart(after_patch(outputs))]
    if _INSPECTS in parsed.prompt:
        return [TextPart(inspected(parsed.prompt))]
    wanted = free_form(parsed.prompt)
    if wanted is not None:
        return _free(parsed, wanted, style)
    last = _last_worked(parsed)
    runs = _RUN_TESTS.search(parsed.prompt) and not shows_failure(parsed.prompt)
    if runs and parsed.shell and _is_practice(parsed):
        return _run_tests(parsed, last, style)
    choice = rejected(parsed.prompt) or choose(parsed.prompt, last)
    if choice is None and parsed.images:
        return [TextPart(SEEN.format("\n".join(f"- {words}" for words in parsed.images)))]
    if choice is None:
        known = last.script if last is not None else None
        failed, practice = shows_failure(parsed.prompt), _is_practice(parsed)
        return [TextPart(about(parsed.prompt, failed, known, practice=practice))]
    return _perform(parsed, choice, style)


_INSPECTS = "Write each finding on one line of its own"
_DIFFERS = re.compile(r"^=== (?P<path>.+) \((?:new file|changed)\)$|^ *(?P<line>\d+) \+.*\S", re.M)
_MOST_FINDINGS = 5
JUDGES_NOTHING = (
    "This is a rehearsal: it shows where findings stand, and judges nothing. A real model does:"
    " `/connect`."
)


def inspected(prompt: str) -> str:
    """The findings of a review: one on the first new line of each file, and what they are."""
    found, path = dict[str, str](), ""
    for match in _DIFFERS.finditer(prompt):
        path = match["path"] or path
        if match["line"] and path:
            where = f"{path}:{match['line']}"
            found.setdefault(path, f"{where}: hint: this line is new; a finding would stand here")
    return "\n".join([*list(found.values())[:_MOST_FINDINGS], "", JUDGES_NOTHING]).lstrip()


SEEN = (
    "I was sent:\n\n{}\n\nThis is a rehearsal: I read what an image is and how large, and not what"
    " it shows. A real model sees it: `/connect`."
)


def _run_tests(
    parsed: ParsedRequest, last: ExerciseChoice | None, style: AnswerStyle
) -> list[AnswerPart]:
    """Have the tests run, and mend what they say of an exercise."""
    words = words_of(parsed.prompt)
    named = (script for script in load_scripts() if script.name in words)
    asked = best_match(parsed.prompt) or next(named, None)
    if parsed.ran is None:
        argv = [*_TESTS, *([asked.test] if asked is not None else [])]
        command: object = argv if parsed.shell_takes_words else " ".join(argv)
        return [TextPart(TO_RUN), function_call(parsed.shell, command=command)]
    if shows_failure(parsed.ran):
        choice = _failed_exercise(parsed.ran, ExerciseChoice(asked) if asked else last)
        if choice is not None:
            return _perform(parsed, choice, style)
    if _GREEN.search(parsed.ran):
        return [TextPart(GREEN)]
    return [TextPart(not_run(parsed.ran))]


_REJECTED = re.compile(
    r"\A[^\n]*? of (?P<path>\S+) [^\n]*\n.*^The user rejected that: (?P<why>[^\n]+)$", re.M | re.S
)


def rejected(prompt: str) -> ExerciseChoice | None:
    """The exercise of which one change is to be made anew, by the user's words."""
    found = _REJECTED.search(prompt)
    scripts = (one for one in load_scripts() if found is not None and found["path"] in one.paths)
    script = next(scripts, None)
    if found is None or script is None:
        return None
    return ExerciseChoice(script, script.asked(found["why"]))


def choose(prompt: str, last: ExerciseChoice | None) -> ExerciseChoice | None:
    """The exercise that a prompt means after the one before; None: it means none."""
    if shows_failure(prompt):
        return _failed_exercise(prompt, last)
    if last is not None and last.script.asked(prompt):
        return ExerciseChoice(last.script, last.script.asked(prompt, last.wishes))
    best = best_match(prompt)
    if best is not None:
        before = last.wishes if last is not None and last.script is best else frozenset()
        return ExerciseChoice(best, best.asked(prompt, before))
    if prompt.startswith(STOPPED_BY_ACCIDENT):
        return last
    words = words_of(prompt)
    if last is not None and len(words) <= _GO_ON_WORDS and has_all(words, _GO_ON):
        return last
    return None


def best_match(prompt: str) -> Script | None:
    """The exercise that a prompt means on its own."""
    ranked = sorted(load_scripts(), key=lambda script: -script.matches(prompt))
    return ranked[0] if ranked and ranked[0].matches(prompt) > 0 else None


def _last_worked(parsed: ParsedRequest) -> ExerciseChoice | None:
    """The exercise that the conversation was about, and the wishes told since."""
    last = _followed(parsed.answered[-_MOST_SAID:]) or _followed(parsed.said[-_MOST_SAID:-1])
    if last is None:
        touched = [s for s in load_scripts() if parsed.patched.intersection(s.paths)]
        last = ExerciseChoice(touched[-1]) if touched else None
    return last


def _followed(said: Sequence[str]) -> ExerciseChoice | None:
    """Follow a conversation from exercise to exercise, from wish to wish."""
    last: ExerciseChoice | None = None
    for text in said:
        if shows_failure(text):
            continue
        found = best_match(text)
        if found is not None and (last is None or found is not last.script):
            last = ExerciseChoice(found)
        if last is not None:
            last = ExerciseChoice(last.script, last.script.asked(text, last.wishes))
    return last


def _failed_exercise(output: str, last: ExerciseChoice | None) -> ExerciseChoice | None:
    """The exercise whose tests fail; the one that was worked on comes first."""
    named = [script for script in load_scripts() if script.test in output]
    if last is not None and (last.script in named or not named):
        return last
    return ExerciseChoice(named[0]) if named else None


_WRONG_FIRST = re.compile(r"\bwrong at first\b", re.I)
"""Who asks for a mistake gets one."""


def makes_slip(script: Script, style: AnswerStyle) -> bool:
    """Whether the model gets this exercise wrong at its first try."""
    if style.deep:
        return False
    draw = f"/{style.draw}" if style.draw else ""
    return Random(f"{style.seed}/{script.name}{draw}").random() < style.mistakes


def _perform(parsed: ParsedRequest, choice: ExerciseChoice, style: AnswerStyle) -> list[AnswerPart]:
    """Play an exercise: read what is missing, then patch."""
    script = choice.script
    missing = [path for path in script.paths if _must_read(parsed, script, path)]
    unread = [path for path in missing if path in parsed.unreadable or not parsed.can_read]
    if unread:
        return [TextPart(no_file(unread[0], parsed.unreadable.get(unread[0], "")))]
    if missing:
        reads = [function_call("read_file", path=path) for path in missing]
        return [*_reasoning([reading(missing)], style), *reads]
    first_try = not parsed.failed and parsed.patched.isdisjoint(script.paths)
    version = script.version_for(choice.wishes)
    asked = _WRONG_FIRST.search(parsed.prompt) is not None
    slips = first_try and not choice.wishes and (asked or makes_slip(script, style))
    if slips and not _slipped(parsed, script):
        version = script.versions["slip"]
    return _patch(parsed, script, version, style)


def _must_read(parsed: ParsedRequest, script: Script, path: str) -> bool:
    """Whether the request does not say how a file stands now."""
    if path in parsed.files:
        return path in parsed.stale and parsed.can_read
    new = all(not region.states[ORIGINAL] for region in script.regions if region.path == path)
    return not new or path in parsed.listed


def _slipped(parsed: ParsedRequest, script: Script) -> bool:
    """Whether the files hold the wrong try already."""
    wrong, right = script.versions["slip"].states, script.versions["solution"].states
    return any(
        state not in (ORIGINAL, better)
        and region.states[state].strip("\n") in parsed.files.get(region.path, "")
        for region, state, better in zip(script.regions, wrong, right, strict=True)
    )


def _patch(
    parsed: ParsedRequest, script: Script, version: Version, style: AnswerStyle
) -> list[AnswerPart]:
    """The reasoning, the prose and the patch of one version."""
    plans = [_plan(parsed, script, version, path) for path in script.paths]
    lost = [region for plan in plans for region in plan.lost]
    if lost:
        return [TextPart(lost_region(lost[0]))]
    patch = write_patch(plans, parsed.notation)
    if not patch:
        return [TextPart(solved(script, failed=parsed.failed))]
    told: Version | Fix = version
    if version is script.versions["solution"] and _slipped(parsed, script):
        told = script.fix
    return [*_reasoning(told.reasoning, style), *deliver(parsed, told.prose, patch)]


def _plan(parsed: ParsedRequest, script: Script, version: Version, path: str) -> FilePlan:
    wanted = [
        (region, state)
        for region, state in zip(script.regions, version.states, strict=True)
        if region.path == path
    ]
    return plan_file(path, parsed.files.get(path), wanted)


def _reasoning(paragraphs: Sequence[str], style: AnswerStyle) -> list[AnswerPart]:
    if style.effort == "none" or not paragraphs:
        return []
    brief = not style.deep or style.effort in ("low", "minimal")
    return [ReasoningPart("\n\n".join(paragraphs[:1] if brief else paragraphs))]


def deliver(parsed: ParsedRequest, prose: str, patch: str) -> list[AnswerPart]:
    """Prose and a patch, in the way that the request allows."""
    if parsed.channel == "custom":
        return [TextPart(prose), CallPart("apply_patch", patch, custom=True)]
    if parsed.channel == "function":
        return [TextPart(prose), function_call("apply_patch", **{parsed.patch_argument: patch})]
    return [TextPart(f"{prose}\n\n{in_prose(patch, parsed.notation)}\n{REVIEW}")]


def _free(parsed: ParsedRequest, wanted: FreeForm, style: AnswerStyle) -> list[AnswerPart]:
    """Output without meaning, as it was asked for."""
    if wanted.kind == "calls":
        return _calls(parsed, wanted)
    if wanted.kind == "here":
        return _comment(parsed, wanted.path)
    if wanted.kind == "reasoning":
        text = free_text("reasoning", wanted.count, style.seed)
        return [ReasoningPart(text), TextPart(REHEARSED)]
    if wanted.kind != "lines":
        return [TextPart(free_text(wanted.kind, wanted.count, style.seed))]
    path = wanted.path
    if _must_look(parsed, path):
        return [function_call("read_file", path=path)]
    lines = lines_of(parsed.files[path]) if path in parsed.files else []
    added = free_lines(path, len(lines) + 1, wanted.count, style.seed)
    return _appended(parsed, path, added, lines_follow(wanted.count, path))


def _must_look(parsed: ParsedRequest, path: str) -> bool:
    """True if the file is to be read, and can be."""
    known = path in parsed.files and path not in parsed.stale
    return not known and parsed.can_read and path not in parsed.unreadable


def _appended(
    parsed: ParsedRequest, path: str, added: Sequence[str], prose: str
) -> list[AnswerPart]:
    """Lines at the end of a file, which may be new."""
    plan = FilePlan(path, parsed.files.get(path))
    count = len(lines_of(parsed.files[path])) if path in parsed.files else 0
    plan.changes.append(WrittenChange(count, 0, tuple(added)))
    return deliver(parsed, prose, write_patch([plan], parsed.notation))


def _is_practice(parsed: ParsedRequest) -> bool:
    """Whether a request comes from the practice workspace, or does not say where from."""
    paths = {path for script in load_scripts() for path in script.paths}
    told = any(line.startswith(_FILES_HEADS) for line in parsed.listed)
    return not told or not paths.isdisjoint(parsed.listed | parsed.files.keys())


def _mark(path: str) -> str:
    """What begins a comment in such a file; empty: nothing that is known."""
    name = path.rpartition("/")[2]
    return "#" if name in ("Makefile", "Dockerfile") else _MARK_OF.get(name.rpartition(".")[2], "")


def _how_far(path: str) -> tuple[bool, bool, str]:
    """The project's own code first."""
    *folders, name = path.split("/")
    _, _, ending = name.rpartition(".")
    return not _BESIDE.isdisjoint(folders), ending in _SETTINGS or ending == name, path


def _comment(parsed: ParsedRequest, asked: str) -> list[AnswerPart]:
    """A comment at the end of the file asked for, of an open one, or of another of the project.

    At the end of a file it changes nothing that the file means.
    """
    names = (line for line in parsed.listed if " " not in line and not line.startswith("."))
    listed = sorted(names, key=_how_far)
    found = (path for path in ([asked] if asked else [*parsed.files, *listed]) if _mark(path))
    path = next((path for path in found if path not in parsed.unreadable), "")
    if not (path or asked) and any(line.startswith(_FILES_HEADS[1]) for line in parsed.listed):
        return _appended(parsed, _NEW_FILE, _said("<!--"), f"A new file, `{_NEW_FILE}`, live:")
    if not path:
        what = f"`{asked}` has no comments that I know" if asked else "I see no file with comments"
        return [TextPart(f"{what}. Open a source file or a Markdown file, and ask again.")]
    if _must_look(parsed, path):
        return [function_call("read_file", path=path)]
    if path not in parsed.files:
        return [TextPart(f"I cannot see `{path}`: open it, and ask again.")]
    text, said = parsed.files[path], _said(_mark(path))
    gap = [""] if text.strip() and not text.endswith("\n\n") else []
    return _appended(parsed, path, [*gap, *said], f"A comment at the end of `{path}`, live:")


def _said(mark: str) -> list[str]:
    return [f"{mark} {line}{_CLOSED.get(mark, '')}" for line in _COMMENT.splitlines()]


def _calls(parsed: ParsedRequest, wanted: FreeForm) -> list[AnswerPart]:
    """The calls that were asked for, then what they gave."""
    if parsed.answers:
        return [TextPart(called([(reply.name, reply.output) for reply in parsed.answers]))]
    missing = [name for name, _ in wanted.calls if name not in parsed.declared]
    if missing:
        return [TextPart(not_declared(missing[0]))]
    return [
        CallPart(name, text, custom=parsed.declared[name] == "custom")
        for name, text in wanted.calls
    ]

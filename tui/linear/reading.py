"""Commands that read something out: hunks, files, differences, what was said, the state."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import PLACED, Hunk, Kind, Stage
from tui.core.document.hunk_list import waits
from tui.core.document.workspace import Workspace
from tui.core.files import counted
from tui.core.inert_text import brief, inert
from tui.core.programs import Edited
from tui.core.text.buffer import Buffer, split_text
from tui.core.text.diff import LineBlock, blocks
from tui.core.wire.rate_limits import sentences
from tui.engine.intents import Against, Rewind
from tui.engine.rewound_files import preview_words, turn_words
from tui.engine.session import Session
from tui.errors import StoreRefused
from tui.linear.command_table import help_lines
from tui.linear.narrator import ReadingPace, Speech, Verbatim, verbatim
from tui.linear.words import hunk_line, meter_lines, state_words, status_lines

TAB = "\t"
_REACH = 8
"""How far above a change a line is looked for that is not empty."""
_MOST_PLACES = 20
"""So many places of a hunk are read out."""


def hunk_lines(hunk: Hunk, buffer: Buffer | None) -> list[str]:
    """A hunk with its lines; ``buffer`` is its file's, as it stands."""
    lines = [hunk_line(hunk, path=True)]
    if hunk.kind is Kind.MOVE:
        return lines
    stands = hunk.stage in PLACED and buffer is not None and hunk.decision != "rejected"
    if stands and buffer is not None and hunk.start is not None and hunk.end is not None:
        first = hunk.start.line
        new: Sequence[str] = _rows(buffer.lines[first : max(hunk.end.line, first)])
        lines += _above(buffer.lines, first)
    else:
        first = 0 if hunk.start is None else hunk.start.line
        new = [] if hunk.kind is Kind.DELETE else _rows(split_text(hunk.agent)[0])
    lines += _changes(_rows(split_text(hunk.base)[0]), new, first)
    return [*lines, *_places(hunk, buffer)]


def file_lines(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """What differs in a file."""
    return list(_changes(_rows(list(old)), _rows(list(new)), 0))


def _differing(path: str, said: Iterable[str], changed: Sequence[str]) -> list[str]:
    """A file, what is said of it, and what differs in it."""
    words = inert("".join(f", {one}" for one in said if one))
    return [f"{inert(path)}{words}{':' if changed else '.'}", *changed]


def _above(lines: Sequence[str], first: int) -> list[str]:
    """The nearest line above that says something."""
    for row in range(first - 1, max(first - 1 - _REACH, -1), -1):
        if lines[row].strip():
            return [f"Under line {row + 1}:", Verbatim(f"  {inert(lines[row], TAB)}")]
    return []


def _places(hunk: Hunk, buffer: Buffer | None) -> Iterator[str]:
    """Where an ambiguous hunk could stand."""
    if hunk.stage is not Stage.CANDIDATES or not hunk.candidates:
        return
    yield f"It fits in {counted(len(hunk.candidates), 'place')}; choose one:"
    for number, line in enumerate(hunk.candidates[:_MOST_PLACES], 1):
        above = ""
        if buffer is not None and line < len(buffer.lines):
            above = f": {inert(buffer.lines[line].strip())}"
        yield f"/place {hunk.id} {number} is line {line + 1}{above}"
    if (count := len(hunk.candidates)) > _MOST_PLACES:
        yield f"There are more: /place {hunk.id} with any number up to {count}."


def _changes(old: Sequence[str], new: Sequence[str], first: int) -> Iterator[str]:
    """Each change with a heading in words; a sign stands before every line of the file."""
    for block in blocks(old, new):
        yield from _change(old, new, first, block)


def _change(old: Sequence[str], new: Sequence[str], first: int, block: LineBlock) -> Iterator[str]:
    gone = old[block.old_first : block.old_last]
    come = new[block.new_first : block.new_last]
    if gone:
        yield f"Removed {_span(first + block.old_first, len(gone))}:"
        yield from verbatim(f"- {inert(line, TAB)}" for line in gone)
    if come:
        yield f"Added {_span(first + block.new_first, len(come))}:"
        yield from verbatim(f"+ {inert(line, TAB)}" for line in come)


def _span(first: int, count: int) -> str:
    """``line 4`` or ``lines 4 to 6``."""
    return f"line {first + 1}" if count == 1 else f"lines {first + 1} to {first + count}"


def _rows(lines: list[str]) -> list[str]:
    """Without the empty one behind the last newline, which is no line of the file."""
    return lines[:-1] if lines and not lines[-1] else lines


_NUMBERS = re.compile(r"[\s,]*(\d{1,9})(?:-(\d{1,9}))?(?=[\s,]|$)")
_MOST = 10_000


class Picked(NamedTuple):
    """What is meant, and what was said behind it."""

    hunks: list[Hunk]
    rest: str = ""


def waiting(workspace: Workspace) -> list[Hunk]:
    """The hunks that wait for the user, in order."""
    return [hunk for hunk in workspace.hunk_list.unsettled() if waits(hunk)]


def picked(argument: str, workspace: Workspace) -> Picked | str:
    """The hunks that an argument names, or what is wrong with it.

    Nothing named means the only one that waits.
    """
    found = waiting(workspace)
    first, _, rest = argument.strip().partition(" ")
    if first == "all":
        return Picked(found, rest.strip()) if found else "No hunk is waiting for a decision."
    if _NUMBERS.match(argument):
        return _numbered(argument, workspace)
    path = first.removeprefix("@")
    mine = [hunk for hunk in found if path and path in (hunk.path, hunk.target)]
    if mine:
        return Picked(mine, rest.strip())
    if len(found) == 1:
        return Picked(found, argument.strip())
    if not found:
        return "No hunk is waiting for a decision."
    return f"{counted(len(found), 'hunk')} wait; say which: a number, a file, or all."


def _numbered(argument: str, workspace: Workspace) -> Picked | str:
    """``1``, ``1 3``, ``1,3``, ``1-3``, and words behind them."""
    hunks: list[Hunk] = []
    at = 0
    while number := _NUMBERS.match(argument, at):
        at = number.end()
        first, last = int(number[1]), int(number[2] or number[1])
        if last - first > _MOST:
            return f"{number[0].strip(' ,')} is too many at once."
        for one in range(first, last + 1):
            if one not in workspace.hunk_list:
                return f"There is no hunk {one}; /hunks all lists those of the last turn."
            hunks.append(workspace.hunk_list.by_id(one))
    return Picked(list(dict.fromkeys(hunks)), argument[at:].strip(" ,"))


MOST_LINES = 40
_OVER = 5
"""So few lines more are told at once."""


class LongOutput:
    """Keeps what was not told of the last list."""

    def __init__(self, most: int | None = MOST_LINES) -> None:
        """``most``: lines at a time; None: all."""
        self._most = most
        self._rest: list[str] = []

    def begin(self, lines: Iterable[str]) -> list[str]:
        """The first part of a new list; what was left of another is dropped."""
        self._rest = list(lines)
        return self.more()

    def more(self) -> list[str]:
        """The next part."""
        most = len(self._rest) if self._most is None else self._most
        if len(self._rest) <= most + _OVER:
            most = len(self._rest)
        part, self._rest = self._rest[:most], self._rest[most:]
        if not part:
            return ["There is no more."]
        if left := len(self._rest):
            part.append(f"{left:,} more lines: /more goes on.")
        return part


class Drafts:
    """Nothing that was written gets lost."""

    def __init__(self) -> None:
        self.unsent = ""
        """Written and not sent, or given back; it waits for ``/again``."""
        self.typing = ""
        """What stood in the line when it was looked at last."""
        self._last = ""

    def sent(self, text: str) -> None:
        """This is on its way."""
        self.unsent, self._last = "", text

    def keep(self, text: str) -> None:
        """This waits."""
        self.unsent = text

    def to_repeat(self) -> str:
        """What ``/again`` sends; empty: nothing."""
        return self.unsent or self._last


_MOST_FILES = 400


class Voice(Struct):
    """What commands need of the linear app."""

    say: Callable[[Iterable[str]], None]
    prompt: Callable[[str], None]
    """Send these words to the model."""
    leave: Callable[[], None]
    edit: Callable[[str], Awaitable[Edited]] | None
    """The user's own editor on a text; None: there is no terminal for it."""
    drafts: Drafts
    connect: Callable[[str], None]
    """Begin to ask what connecting a model takes; with the provider if it was named."""
    models: Callable[[], None]
    """Say all models that can be asked, when they are known."""
    resume: Callable[[str], None]
    """Go to another session, or list those in which these words are."""
    fork: Callable[[str], None]
    """Go to a new session that begins with this one."""
    pages: LongOutput
    pace: ReadingPace

    def page(self, lines: Iterable[str]) -> None:
        """Say a list that may be long."""
        if found := list(lines):
            self.say(self.pages.begin(found))


class Recital:
    """Changes nothing; what takes a while is told when it is known."""

    def __init__(self, session: Session, voice: Voice) -> None:
        self._session = session
        self._voice = voice
        self._tasks: set[asyncio.Task[None]] = set()
        self.unhurried = False
        """An editor has the terminal: no line is read before it is closed."""
        self.readings: dict[str, Callable[[str], Iterable[str]]] = {
            "review": self._review,
            "hunks": self._hunks,
            "show": self._show,
            "files": self._files,
            "last": lambda _: self._of_last(BlockKind.TEXT, "The model has not said anything yet."),
            "reasoning": lambda _: self._of_last(
                BlockKind.REASONING, "The model has shown no reasoning in the last turn."
            ),
            "output": self._output,
            "meter": lambda _: meter_lines(session.meter.view(session.now())),
            "status": self._status,
            "skills": lambda _: session.project_words()[1] or ["No skill was found."],
            "help": lambda _: help_lines(),
        }
        """Command -> what it says, given its argument."""

    @property
    def working(self) -> bool:
        """True while something is looked up that will be told."""
        return bool(self._tasks)

    async def settled(self, patience_s: float) -> None:
        """What is looked up was told, or takes longer than that."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=None if self.unhurried else patience_s)

    def diff(self, against: Against, path: str) -> None:
        """Read what differs, when it is known."""
        self.start(self._diff(against, path))

    def stats(self, argument: str) -> None:
        """Read what the turns that are kept say of speed, when it is known."""
        self.start(self._stats(argument))

    async def _stats(self, argument: str) -> None:
        from tui.engine.feeling import CONSENT
        from tui.engine.stats_words import sections, since_asked

        session, since_ms = self._session, since_asked(argument)
        if session.archive is None or isinstance(since_ms, str):
            self._voice.say(["No sessions are kept here."])
            return
        try:
            report = await session.archive.stats(since_ms)
        except StoreRefused as error:
            self._voice.say([inert(str(error))])
            return
        told = sections(report, width=0)
        lines = [line for one in told for line in (f"{one.title}:", *one.lines)]
        lines = [line if line[-1] in ".:" else f"{line}." for line in map(inert, lines)]
        self._voice.page(lines + [CONSENT] * (session.feeling.asks is None))

    def rewind(self, wanted: Rewind | None) -> None:
        """Read the turns; or what a rewind would do, then ask whether to do it."""
        self.start(self._turns() if wanted is None else self._rewind(wanted))

    async def _turns(self) -> None:
        lines = [
            f"{turn.number}. {brief(turn.text)}: {turn_words(turn)}."
            for turn in self._session.rewinding.turns()
        ]
        ways = "/rewind NUMBER goes back to before one, /rewind forward takes that back."
        self._voice.page([*lines, ways] if lines else ["There is no turn yet."])

    async def _rewind(self, wanted: Rewind) -> None:
        plan = await self._session.rewinding.plan(wanted.turn, wanted.hunk, wanted.part)
        if isinstance(plan, str):
            self._voice.say([plan])
            return
        lines = [f"{', '.join(preview_words(plan)).capitalize()}."]
        for one in plan.files:
            changed = file_lines(*((text or "").splitlines() for text in (one.now, one.then)))
            others = "changed by another program since" * one.others
            lines += _differing(one.path, (one.words, others, one.stays), changed)
        self._voice.page(lines)
        self._session.submit(replace(wanted, ask=True))

    def _review(self, argument: str) -> Iterable[str]:
        """Hunks with their lines."""
        workspace = self._session.workspace
        if argument and argument != "all":
            chosen = picked(argument, workspace)
            if isinstance(chosen, str):
                return [chosen]
            found = chosen.hunks
        else:
            found = self._turn_hunks() if argument else waiting(workspace)
        if not found:
            return ["No hunk waits. /review all reads those of the last turn."]
        lines: list[str] = []
        for hunk in found:
            lines += [*([""] if lines else []), *hunk_lines(hunk, workspace.buffers.get(hunk.path))]
        if any(hunk.decidable for hunk in found):
            lines.append("/accept NUMBERS keeps them, /reject NUMBERS WORDS rejects them.")
        return lines

    def _hunks(self, argument: str) -> Iterable[str]:
        found = self._turn_hunks() if argument == "all" else waiting(self._session.workspace)
        return [hunk_line(hunk, path=True) for hunk in found] or [
            "No hunk is waiting for a decision."
        ]

    def _turn_hunks(self) -> list[Hunk]:
        hunks = self._session.workspace.hunks
        last = hunks[-1].turn if hunks else 0
        return [hunk for hunk in hunks if hunk.turn == last]

    def _files(self, argument: str) -> Iterable[str]:
        part = argument.removeprefix("@").lower()
        found = [path for path in self._session.listing() if part in path.lower()]
        lines = [inert(path) for path in found[:_MOST_FILES]]
        if len(found) > _MOST_FILES:
            lines.append(f"{len(found) - _MOST_FILES:,} more: name a part of what you look for.")
        return lines or [f"No file has {inert(part)!r} in its name." if part else "No files."]

    def _show(self, argument: str) -> Iterable[str]:
        words = argument.split(" ")
        numbers: list[int] = []
        while len(words) > 1 and len(numbers) < 2 and words[-1].isdecimal():
            numbers.insert(0, int(words.pop()))
        path = " ".join(words).removeprefix("@")
        if not path:
            return ["Say which file: /show PATH [FIRST [LAST]]."]
        self.start(self._shown(path, numbers))
        return []

    async def _shown(self, path: str, numbers: Sequence[int]) -> None:
        olds = await self._session.diffs.olds("disk", path)
        lines = [line for old in olds for line in old.new]
        if lines and not lines[-1]:
            lines.pop()
        if not lines:
            self._voice.say([olds[0].note or f"{inert(path)} is empty."])
            return
        first = min(max(numbers[0] if numbers else 1, 1), len(lines))
        last = min(numbers[1] if numbers[1:] else len(lines), len(lines))
        head = f"{inert(path)}, lines {first} to {last} of {len(lines)}:"
        rows = enumerate(lines[first - 1 : max(last, first)], first)
        self._voice.page([head, *verbatim(f"{at}: {inert(line, TAB)}" for at, line in rows)])

    async def _diff(self, against: Against, path: str) -> None:
        than = {"disk": "the disk", "head": "HEAD", "turn": "the beginning of the turn"}[against]
        lines: list[str] = []
        for old in await self._session.diffs.olds(against, path):
            changed = file_lines(old.lines, old.new)
            if changed or old.note or old.words:
                lines += _differing(old.path, (old.words, old.note.rstrip(".")), changed)
        self._voice.page(lines or [f"Nothing differs from {than}."])

    def _output(self, argument: str) -> Iterable[str]:
        runs = [b for b in self._session.transcript.blocks if b.kind is BlockKind.RUN]
        if not runs:
            return ["No command has run yet."]
        lines = runs[-1].text.rstrip("\n").split("\n")
        return [f"Output of {brief(runs[-1].title)}:", *verbatim(lines)]

    def _of_last(self, kind: BlockKind, nothing: str) -> Iterable[str]:
        """The last turn's blocks of a kind, as they were said."""
        found: list[Block] = []
        for block in reversed(self._session.transcript.blocks):
            if block.kind is kind and (not found or block.turn == found[-1].turn):
                found.append(block)
            elif found and block.turn < found[-1].turn:
                break
        lines: list[str] = []
        for block in reversed(found):
            speech = Speech()
            lines += [*speech.take(block.text), *speech.rest()]
        return lines or [nothing]

    def _status(self, argument: str) -> Iterable[str]:
        session = self._session
        status = session.status
        lines = [state_words(status, session.meter.view(session.now()))]
        lines += status_lines(status, session.abilities(), session.network())
        lines += map(inert, sentences(status.limits, session.now()))
        lines += [f"Instructions: {words}." for words in session.project_words()[0]]
        if status.open_paths:
            lines.append(f"Open files: {', '.join(map(inert, status.open_paths))}.")
        left = len(waiting(session.workspace))
        lines.append(f"{counted(left, 'hunk')} waiting for your decision." if left else "")
        return filter(None, lines)

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Do this meanwhile; the next line waits for it, for a moment."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

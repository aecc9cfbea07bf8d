"""Commands that read something out: hunks, files, differences, what was said, the state."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field

from tui.core.edited import Edited
from tui.core.edits.hunk import Hunk
from tui.core.inert_text import inert
from tui.core.turn import Block, BlockKind
from tui.core.wire.rate_limits import sentences
from tui.engine.intents import Against
from tui.engine.session import Session
from tui.linear.block_tellers import Pace
from tui.linear.commands import help_lines
from tui.linear.drafts import Drafts
from tui.linear.hunk_text import file_lines, hunk_lines, numbered
from tui.linear.lines import verbatim
from tui.linear.pages import Pages
from tui.linear.picking import picked, waiting
from tui.linear.speech import Speech
from tui.linear.words import brief, counted, hunk_line, meter_lines, state_words, status_lines

_MOST_FILES = 400


@dataclass(slots=True)
class Voice:
    """What the commander needs of the conductor."""

    say: Callable[[Iterable[str]], None]
    prompt: Callable[[str], None]
    """Send these words to the model."""
    leave: Callable[[], None]
    edit: Callable[[str], Awaitable[Edited]] | None
    """The user's own editor on a text; None: there is no terminal for it."""
    drafts: Drafts
    pages: Pages = field(default_factory=Pages)
    pace: Pace = field(default_factory=Pace)

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
            lines.append("/accept NUMBERS takes them, /reject NUMBERS WORDS does not.")
        return lines

    def _hunks(self, argument: str) -> Iterable[str]:
        found = self._turn_hunks() if argument == "all" else waiting(self._session.workspace)
        return [hunk_line(hunk, path=True) for hunk in found] or ["No hunk waits for a decision."]

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
        self._voice.page([head, *numbered(lines, first, max(last, first))])

    async def _diff(self, against: Against, path: str) -> None:
        than = {"disk": "the disk", "head": "HEAD", "turn": "the beginning of the turn"}[against]
        lines: list[str] = []
        for old in await self._session.diffs.olds(against, path):
            changed = file_lines(old.lines, old.new)
            if changed or old.note or old.words:
                said = ", ".join(filter(None, (old.words, old.note.rstrip("."))))
                end = ":" if changed else "."
                lines.append(f"{inert(old.path)}{f', {inert(said)}' if said else ''}{end}")
                lines += changed
        self._voice.page(lines or [f"Nothing differs from {than}."])

    def _output(self, argument: str) -> Iterable[str]:
        runs = [b for b in self._session.transcript.blocks if b.kind is BlockKind.RUN]
        if not runs:
            return ["No command was run yet."]
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

"""What an edit costs without a screen, in processor time: parsed, located, landed, kept."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time

from tests.benchmarks.edit import samples
from tests.benchmarks.edit.samples import CONTEXT_LINES, Change
from tests.benchmarks.screen.replay_text import EDITED
from tui.core.edit_stream import Channel, parser_for
from tui.core.edit_stream.events import Notation
from tui.core.edits.hunk import Stage
from tui.core.edits.workspace import FileRead, Workspace
from tui.core.patches.landing import Landing
from tui.errors import DuettoError

FRAME_TOKENS = 167
"""Tokens between two frames at 10,000 a second."""
TOKEN = 4
"""Characters of a token."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A file, what changes, and in which notation that is told."""

    lines: Sequence[str]
    changes: Sequence[Change]
    fmt: Notation = "apply_patch"

    @property
    def text(self) -> str:
        """What streams."""
        return samples.patch(self.fmt, self.lines, self.changes)

    @property
    def old_lines(self) -> int:
        """How many lines of the file the patch quotes: those that say where it belongs."""
        count = len(self.lines)
        return sum(
            min(count, change.last + CONTEXT_LINES) - max(0, change.first - CONTEXT_LINES)
            for change in self.changes
        )

    @property
    def result(self) -> str:
        """What the file must be in the end."""
        return samples.text_of(samples.changed(self.lines, self.changes))


@contextmanager
def undisturbed() -> Iterator[None]:
    """No collection of garbage in the middle of what is measured, however large the process is."""
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def parsed_mb_s(text: str, fmt: Notation, channel: Channel, size: int) -> float:
    """Millions of characters a second, in deltas of so many. Raises DuettoError: no patch."""
    deltas = _deltas(text, size)
    parser = parser_for(fmt, channel)
    with undisturbed():
        began_s = process_time()
        for delta in deltas:
            parser.feed(delta)
        parser.finish(cut=False)
        spent_s = process_time() - began_s
    return len(text) / max(spent_s, 1e-9) / 1e6


def workspace_of(lines: Sequence[str]) -> Workspace:
    """A workspace in which `EDITED` has these lines."""
    data = samples.text_of(lines).encode()
    return Workspace(lambda path: FileRead(data if path == EDITED else None), ask=True)


def land(workspace: Workspace, edit: Edit, size: int = TOKEN) -> tuple[Landing, float]:
    """Let an edit stream in; returns it with its cost in seconds."""
    deltas = _deltas(edit.text, size)
    landing = Landing(workspace, turn=1, call_id="bench", fmt=edit.fmt)
    with undisturbed():
        began_s = process_time()
        for number, delta in enumerate(deltas):
            landing.feed(delta)
            if number % FRAME_TOKENS == 0:
                landing.tail()
        landing.finish(cut=False)
        return landing, process_time() - began_s


def landed_us(edit: Edit) -> float:
    """A token's cost in microseconds. Raises DuettoError: it did not land, or not exactly."""
    workspace = workspace_of(edit.lines)
    warm(workspace)
    _, spent_s = land(workspace, edit)
    check(workspace, edit)
    return spent_s / (len(edit.text) / TOKEN) * 1e6


def check(workspace: Workspace, edit: Edit) -> None:
    """Raise DuettoError if the buffer is not what the edit makes of the file."""
    buffer = workspace.buffers.get(EDITED)
    if buffer is None or buffer.text() != edit.result:
        raise DuettoError(f"{edit.fmt}: the text in the buffer is not what the patch says")


def among_us(count: int, fmt: Notation, lines: int, added: int) -> float:
    """A token's cost in a file in which so many hunks wait for the user."""
    text = samples.source(lines)
    workspace = workspace_of(text)
    if count:
        earlier = samples.spread(text, count)
        land(workspace, Edit(text, earlier))
        text = samples.changed(text, earlier)
    middle = lines // 2
    new = tuple(f"    added_{row} = self.work({row}, {row})" for row in range(added))
    edit = Edit(text, [Change(middle, middle, new)], fmt)
    _, spent_s = land(workspace, edit)
    check(workspace, edit)
    return spent_s / (len(edit.text) / TOKEN) * 1e6


def located_ms(file: Sequence[str], edit: Edit, refused: bool | None) -> float:
    """Milliseconds for each of the lines that say where a section belongs.

    ``file`` is what the workspace has; the edit is of what the model remembers of it. Raises
    DuettoError: it was refused, or was not although it should be (None: either will do).
    """
    workspace = workspace_of(file)
    warm(workspace)
    landing, spent_s = land(workspace, edit, size=64)
    landed = {hunk.stage is Stage.LANDED for hunk in landing.hunks}
    if landing.failure or (refused is not None and refused in landed):
        words = landing.failure or f"sections were {'placed' if refused else 'refused'}"
        raise DuettoError(f"{edit.fmt}: {words}")
    return spent_s / edit.old_lines * 1000


def sections_ms(file: Sequence[str], parts: Sequence[Edit]) -> tuple[float, float]:
    """Milliseconds a context line of the first section, and of the dearest one behind it.

    The first one has the file's index made. Each part has one change. Raises DuettoError: one of
    them did not land.
    """
    workspace = workspace_of(file)
    workspace.open(EDITED)
    spent: list[float] = []
    for part in parts:
        landing, spent_s = land(workspace, part, size=64)
        if not landing.placed_all:
            raise DuettoError(f"{part.fmt}: {landing.failure or 'a section was refused'}")
        spent.append(spent_s / part.old_lines * 1000)
    first, *others = spent
    return first, max(others)


def warm(workspace: Workspace) -> None:
    """Open the file and make its index: once a file, whatever is located in it later."""
    workspace.open(EDITED)
    workspace.ledger.records[EDITED].index.rows("")


def held_bytes(edit: Edit, size: int) -> int:
    """What a workspace keeps because of an edit that is in it, in deltas of so many characters."""
    workspace = workspace_of(edit.lines)
    warm(workspace)
    text = edit.text
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        landing = Landing(workspace, turn=1, call_id="bench", fmt=edit.fmt)
        for at in range(0, len(text), size):
            landing.feed(text[at : at + size])
            if at // size % FRAME_TOKENS == 0:
                landing.tail()
        landing.finish(cut=False)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    check(workspace, edit)
    return after - before


def repeated(measure: Callable[[], float], runs: int) -> list[float]:
    """The same several times."""
    return [measure() for _ in range(runs)]


def _deltas(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]

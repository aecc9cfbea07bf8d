"""What an edit costs without a screen, in processor time: parsed, located, landed, kept."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import process_time

from tests.benchmarks.edit import figures, samples
from tests.benchmarks.edit.figures import LINES, Plan
from tests.benchmarks.edit.samples import CONTEXT_LINES, Change
from tests.benchmarks.screen.replay_text import EDITED
from tui.core.document.hunk import PLACED, Stage
from tui.core.document.workspace import Workspace
from tui.core.edit_stream import Channel, parser_for
from tui.core.edit_stream.events import Notation
from tui.core.files import FileRead
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
    workspace.documents.records[EDITED].index.rows("")


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


_EQUAL = "@@\n x\n-x\n+y\n x\n"


def applied_s(hunks: int, files: int, lines: int) -> float:
    """CPU seconds to land so many hunks, evenly over files of so many lines, and to accept them.

    Raises:
        DuettoError: not all of them landed.
    """
    text = samples.source(lines)
    each = hunks // files
    names = [f"src/file_{number}.py" for number in range(files)]
    section = samples.patch("apply_patch", text, samples.spread(text, each))
    body = "".join(section.splitlines(keepends=True)[2:-1])
    parts = "".join(f"*** Update File: {name}\n{body}" for name in names)
    data = samples.text_of(text).encode()
    workspace = _workspace(dict.fromkeys(names, data))
    gc.collect()
    began_s = process_time()
    landing = _landed(workspace, parts)
    workspace.accept()
    spent_s = process_time() - began_s
    if sum(hunk.stage in PLACED for hunk in landing.hunks) != each * files:
        raise DuettoError("not all hunks of the patch landed")
    return spent_s


def waiting(sections: int, lines: int) -> tuple[float, float]:
    """Megabytes and CPU seconds of sections that fit at each of so many equal lines."""
    parts = "*** Update File: a.txt\n" + _EQUAL * sections
    data = b"x\n" * lines
    began_s = process_time()
    _landed(_workspace({"a.txt": data}), parts)
    spent_s = process_time() - began_s
    workspace = _workspace({"a.txt": data})
    workspace.open("a.txt")
    gc.collect()
    tracemalloc.start()
    try:
        _landed(workspace, parts)
        return tracemalloc.get_traced_memory()[1] / 1e6, spent_s
    finally:
        tracemalloc.stop()


def _workspace(files: Mapping[str, bytes]) -> Workspace:
    return Workspace(lambda path: FileRead(files.get(path)), ask=True)


def _landed(workspace: Workspace, parts: str) -> Landing:
    landing = Landing(workspace, turn=1, call_id="bench")
    landing.feed(f"*** Begin Patch\n{parts}*** End Patch\n")
    landing.finish(cut=False)
    return landing


Step = tuple[str, str, Callable[[], list[float]]]
"""A figure, where, and what measures it."""
ALIKE_LINES = 4_000
"""Of a file, in which every fourth line begins a function that looks like all others."""
MANY = 300
"""Sections of a patch that are located."""
AMBIGUOUS = 100
ONE_BY_ONE = 20
"""Sections that are measured each by itself."""
CHANNELS: tuple[Channel, ...] = ("custom", "function", "text")


def steps(plan: Plan) -> Iterator[Step]:
    """All that is to be measured, in the order of the report."""
    for fmt in plan.formats:
        yield from _parsing(plan, fmt)
    for fmt in plan.formats:
        if fmt != "whole_file":  # it says the whole file: there is nothing to be located
            yield from _locating(plan, fmt)
    for fmt in plan.formats:
        yield from _landing(plan, fmt)
    for fmt in plan.formats:
        yield from _memory(plan, fmt)
    for fmt in plan.formats:
        yield from _long_line(plan, fmt)
    yield from _whole_patches(plan)


def _parsing(plan: Plan, fmt: Notation) -> Iterator[Step]:
    """Text of many sections, as every channel brings it."""
    lines = samples.source(LINES)
    count = max(1, plan.parse_characters // 400)
    text = samples.patch(fmt, lines, samples.spread(lines, min(count, 1_200), added=4))
    for channel in CHANNELS:
        wire = samples.arguments(text) if channel == "function" else text
        for size in (1, TOKEN):
            where = f"{fmt}, {channel}, deltas of {size}"
            once = partial(parsed_mb_s, wire, fmt, channel, size)
            yield figures.PARSE, where, partial(repeated, once, plan.repeats)


def _locating(plan: Plan, fmt: Notation) -> Iterator[Step]:
    """Sections that fit, that fit nowhere, that fit but for a line, that fit everywhere."""
    file = samples.source(LINES)
    spread = samples.spread(file, MANY)
    foreign = [line.replace("e", "ee") or "pass" for line in file]
    near = [line.replace("look it up", "look that up") for line in file]
    alike = samples.alike(ALIKE_LINES)
    twins = [*alike, *file[: LINES - ALIKE_LINES]]
    among = samples.spread(alike, AMBIGUOUS)
    same = ["same"] * LINES
    chinese = samples.commented(LINES)
    # a unified diff says by its numbers which of several places is meant
    ambiguous = None if fmt == "unified_diff" else True
    kinds: tuple[tuple[str, list[str], Edit, bool | None], ...] = (
        ("exact", file, Edit(file, spread, fmt), False),
        ("comments in Chinese", chinese, Edit(chinese, spread, fmt), False),
        ("nowhere on any tier", file, Edit(foreign, spread, fmt), True),
        ("one line differs", file, Edit(near, spread, fmt), True),
        ("1,000 look-alikes", twins, Edit(twins, among, fmt), ambiguous),
        ("10,000 equal lines", same, Edit(same, samples.spread(same, 10), fmt), ambiguous),
    )
    for words, lines, edit, refused in kinds:
        once = partial(located_ms, lines, edit, refused)
        where = f"{fmt}, {words}"
        yield figures.LOCATE, where, partial(repeated, once, plan.repeats)
    for words, lines in (("ASCII", file), ("comments in Chinese", chinese)):
        parts = [Edit(lines, [change], fmt) for change in samples.spread(lines, ONE_BY_ONE)]
        for at, figure in enumerate((figures.FIRST, figures.WORST)):
            yield figure, f"{fmt}, {words}", partial(_section_ms, lines, parts, at, plan.repeats)


def _section_ms(lines: list[str], parts: list[Edit], at: int, runs: int) -> list[float]:
    """The cheapest of the runs: a collection of garbage elsewhere is as long as a section."""
    return [min(sections_ms(lines, parts)[at] for _ in range(max(3, runs)))]


def _landing(plan: Plan, fmt: Notation) -> Iterator[Step]:
    """A token's cost, and how it follows what is in the file and in the patch."""
    lines = samples.source(LINES)
    few, many = (Edit(lines, samples.spread(lines, count), fmt) for count in plan.sections)
    words = f"{fmt}, {plan.sections[1]:,} for {plan.sections[0]:,}"
    dear, cheap = partial(landed_us, many), partial(landed_us, few)
    yield figures.SECTIONS, words, partial(_ratio, dear, cheap, plan.repeats)
    if fmt != "whole_file":  # it replaces what the hunks have made
        dear = partial(among_us, plan.hunks, fmt, LINES, plan.added_lines)
        cheap = partial(among_us, 0, fmt, LINES, plan.added_lines)
        words = f"{fmt}, {plan.hunks:,} hunks"
        yield figures.HUNKS, words, partial(_ratio, dear, cheap, plan.repeats)


def _memory(plan: Plan, fmt: Notation) -> Iterator[Step]:
    """It grows with the edit, not with the deltas."""
    lines = samples.source(LINES // 10)
    half, whole = (
        _added(lines, count, fmt) for count in (plan.memory_lines, plan.memory_lines * 2)
    )
    held, size = held_bytes, TOKEN
    yield figures.DELTAS, fmt, lambda: [held(half, 1) / held(half, 64)]
    yield figures.TWICE, fmt, lambda: [held(whole, size) / held(half, size)]


def _long_line(plan: Plan, fmt: Notation) -> Iterator[Step]:
    """A line of 400 kB comes, and one of half that."""
    lines = samples.source(LINES // 10)
    middle = len(lines) // 2
    edits = [
        Edit(lines, [Change(middle, middle, ("    " + "x = 1; " * (size // 7),))], fmt)
        for size in (plan.long_line, plan.long_line // 2)
    ]
    dear, cheap = (partial(_landing_s, edit) for edit in edits)
    yield figures.LINE, fmt, partial(_ratio, dear, cheap, max(2, plan.repeats))


def _whole_patches(plan: Plan) -> Iterator[Step]:
    """Many hunks at once, and many that fit in very many places."""
    applied = ((5_000, 300, 600), (3_000, 1, 200_000))
    for hunks, files, lines in () if plan.quick else applied:
        over = f"{files} files" if files > 1 else f"{lines:,} lines"
        once = partial(applied_s, hunks, files, lines)
        where = f"{hunks:,} hunks to {over}"
        yield figures.APPLY, where, partial(repeated, once, plan.repeats)
    waiting = ((200, 150_000), (20_000, 20_000))
    for sections, lines in waiting[:1] if plan.quick else waiting:
        where = f"{sections:,} over {lines:,} lines"
        for at, figure in enumerate((figures.WAITING_MB, figures.WAITING_S)):
            yield figure, where, partial(_waiting, sections, lines, at)


def _waiting(sections: int, lines: int, at: int) -> list[float]:
    return [waiting(sections, lines)[at]]


def _added(lines: list[str], count: int, fmt: Notation) -> Edit:
    new = tuple(f"    added_{number} = self.work({number}, other)" for number in range(count))
    return Edit(lines, [Change(len(lines) // 2, len(lines) // 2, new)], fmt)


def _landing_s(edit: Edit) -> float:
    workspace = workspace_of(edit.lines)
    warm(workspace)
    _, spent_s = land(workspace, edit)
    check(workspace, edit)
    return spent_s


def _ratio(dear: Callable[[], float], cheap: Callable[[], float], runs: int) -> list[float]:
    """One figure of all runs, which take turns: the cheapest of each is compared."""
    pairs = [(cheap(), dear()) for _ in range(max(2, runs))]
    return [figures.ratio([many for _, many in pairs], [few for few, _ in pairs])]

"""What is measured without a screen, figure by figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tests.benchmarks.edit import core_costs, figures, samples, whole_patches
from tests.benchmarks.edit.core_costs import Edit
from tests.benchmarks.edit.plan import LINES, Plan
from tests.benchmarks.edit.samples import Change
from tui.core.edit_stream import Channel
from tui.core.edit_stream.events import Notation

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
        for size in (1, core_costs.TOKEN):
            where = f"{fmt}, {channel}, deltas of {size}"
            once = partial(core_costs.parsed_mb_s, wire, fmt, channel, size)
            yield figures.PARSE, where, partial(core_costs.repeated, once, plan.repeats)


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
        once = partial(core_costs.located_ms, lines, edit, refused)
        where = f"{fmt}, {words}"
        yield figures.LOCATE, where, partial(core_costs.repeated, once, plan.repeats)
    for words, lines in (("ASCII", file), ("comments in Chinese", chinese)):
        parts = [Edit(lines, [change], fmt) for change in samples.spread(lines, ONE_BY_ONE)]
        for at, figure in enumerate((figures.FIRST, figures.WORST)):
            yield figure, f"{fmt}, {words}", partial(_section_ms, lines, parts, at, plan.repeats)


def _section_ms(lines: list[str], parts: list[Edit], at: int, runs: int) -> list[float]:
    """The cheapest of the runs: a collection of garbage elsewhere is as long as a section."""
    return [min(core_costs.sections_ms(lines, parts)[at] for _ in range(max(3, runs)))]


def _landing(plan: Plan, fmt: Notation) -> Iterator[Step]:
    """A token's cost, and how it follows what is in the file and in the patch."""
    lines = samples.source(LINES)
    few, many = (Edit(lines, samples.spread(lines, count), fmt) for count in plan.sections)
    yield figures.TOKEN, fmt, partial(_tokens, many, plan.repeats)
    words = f"{fmt}, {plan.sections[1]:,} for {plan.sections[0]:,}"
    dear, cheap = partial(core_costs.landed_us, many), partial(core_costs.landed_us, few)
    yield figures.SECTIONS, words, partial(_ratio, dear, cheap, plan.repeats)
    if fmt != "whole_file":  # it replaces what the hunks have made
        dear = partial(core_costs.among_us, plan.hunks, fmt, LINES, plan.added_lines)
        cheap = partial(core_costs.among_us, 0, fmt, LINES, plan.added_lines)
        words = f"{fmt}, {plan.hunks:,} hunks"
        yield figures.HUNKS, words, partial(_ratio, dear, cheap, plan.repeats)


def _memory(plan: Plan, fmt: Notation) -> Iterator[Step]:
    """It grows with the edit, not with the deltas."""
    lines = samples.source(LINES // 10)
    half, whole = (
        _added(lines, count, fmt) for count in (plan.memory_lines, plan.memory_lines * 2)
    )
    held = core_costs.held_bytes
    size = core_costs.TOKEN
    yield figures.MEMORY, fmt, lambda: [held(whole, size) / len(whole.text)]
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
    yield figures.LINE_S, fmt, partial(core_costs.repeated, dear, 1)


def _whole_patches(plan: Plan) -> Iterator[Step]:
    """Many hunks at once, and many that fit in very many places."""
    applied = ((5_000, 300, 600), (3_000, 1, 200_000))
    for hunks, files, lines in () if plan.quick else applied:
        over = f"{files} files" if files > 1 else f"{lines:,} lines"
        once = partial(whole_patches.applied_s, hunks, files, lines)
        where = f"{hunks:,} hunks to {over}"
        yield figures.APPLY, where, partial(core_costs.repeated, once, plan.repeats)
    waiting = ((200, 150_000), (20_000, 20_000))
    for sections, lines in waiting[:1] if plan.quick else waiting:
        where = f"{sections:,} over {lines:,} lines"
        for at, figure in enumerate((figures.WAITING_MB, figures.WAITING_S)):
            yield figure, where, partial(_waiting, sections, lines, at)


def _waiting(sections: int, lines: int, at: int) -> list[float]:
    return [whole_patches.waiting(sections, lines)[at]]


def _added(lines: list[str], count: int, fmt: Notation) -> Edit:
    new = tuple(f"    added_{number} = self.work({number}, other)" for number in range(count))
    return Edit(lines, [Change(len(lines) // 2, len(lines) // 2, new)], fmt)


def _landing_s(edit: Edit) -> float:
    workspace = core_costs.workspace_of(edit.lines)
    core_costs.warm(workspace)
    _, spent_s = core_costs.land(workspace, edit)
    core_costs.check(workspace, edit)
    return spent_s


def _tokens(edit: Edit, runs: int) -> list[float]:
    return core_costs.repeated(partial(core_costs.landed_us, edit), runs)


def _ratio(dear: Callable[[], float], cheap: Callable[[], float], runs: int) -> list[float]:
    """One figure of all runs, which take turns: the cheapest of each is compared."""
    pairs = [(cheap(), dear()) for _ in range(max(2, runs))]
    return [figures.ratio([many for _, many in pairs], [few for few, _ in pairs])]

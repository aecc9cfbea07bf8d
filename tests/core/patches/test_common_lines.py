"""What a section costs that fits in many places, or nowhere, does not follow their number."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Sequence

import pytest

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.document.hunk import Decision, Stage
from tui.core.document.waiting_places import NEAREST, nearest
from tui.core.patches import near_miss
from tui.core.text import line_index
from tui.core.text.line_index import LineIndex

SECTIONS = 5
EQUAL = ("@@", " x", "-x", "+y", " x")
PATTERNS: dict[str, tuple[Callable[[int], list[str]], tuple[str, ...]]] = {
    "equal lines": (lambda count: ["x"] * count, EQUAL),
    "a period": (lambda count: ["a", "b"] * (count // 2), ("@@", " a", "-b", "+y", " a")),
    "blank lines": (lambda count: [""] * count, ("@@", " ", "-", "+y", " ")),
    "other indentation": (lambda count: ["  }", "    }"] * (count // 2), ("@@", "-\t}", "+y")),
    "an anchor": (lambda count: ["x"] * count, ("@@ x", "+y")),
    "stacked anchors": (lambda count: ["x"] * count, ("@@ x", "@@ x", " x", "-x", "+y")),
}
each_pattern = each("lines, section", PATTERNS.values())


def waiting(lines: Sequence[str], section: Sequence[str]) -> Disk:
    """Sections that wait for the user; each is a patch of its own, so none is behind another."""
    place = disk(a="".join(f"{line}\n" for line in lines))
    place.workspace.documents.ask = True
    for _ in range(SECTIONS):
        place.land(patch(*section))
    assert {hunk.stage for hunk in place.workspace.hunks} == {Stage.CANDIDATES}
    return place


def kept_bytes(lines: Sequence[str], section: Sequence[str]) -> int:
    """What the sections keep, beside the text."""
    place = disk(a="".join(f"{line}\n" for line in lines))
    place.workspace.documents.ask = True
    for _ in range(5):
        place.land(patch(*section))  # what the file itself takes, in order
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(SECTIONS):
            place.land(patch(*section))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@each_pattern
def test_in_a_longer_file_a_waiting_section_keeps_no_more(lines, section):
    once, twice = kept_bytes(lines(400), section), kept_bytes(lines(1_600), section)
    assert twice < 1.3 * once


@each_pattern
def test_all_places_are_reached_and_the_nearest_are_kept(lines, section):
    place = waiting(lines(300), section)
    hunk = place.workspace.hunks[-1]
    places = hunk.candidates
    assert len(places) > 100
    assert nearest(places) == tuple(places[:NEAREST])
    assert len(nearest(places)) == NEAREST
    last = places[-1]
    assert [*places] == sorted({*places})
    assert last == max(places)
    place.workspace.place(hunk.id, last)
    assert hunk.stage is Stage.LANDED
    place.workspace.undo_decision()
    assert (hunk.stage, hunk.candidates) == (Stage.CANDIDATES, places)
    place.workspace.redo_decision()
    assert hunk.stage is Stage.LANDED
    assert place.text("a.txt").split("\n")[last:].count("y") == 1


WAITING = {
    "one hunk": ("apply_patch", "@@\n x\n-x\n+y\n x\n", 1),
    "two hunks": ("apply_patch", "@@\n x\n-x\n+y\n x\n+z\n x\n", 2),
    "a block": ("search_replace", "<<<<<<< SEARCH\nx\nx\n=======\nx\ny\n>>>>>>> REPLACE\n", 1),
}
each_notation = each("fmt, section, hunks", WAITING.values())


def many_waiting(fmt, section: str, count: int) -> Disk:
    """A file of equal lines, and so many sections that wait for a place in it."""
    place = disk(a="x\n" * 2_000)
    place.workspace.documents.ask = True
    body = section * count
    text = f"a.txt\n{body}" if fmt == "search_replace" else patch(*body.splitlines())
    place.land(text, fmt=fmt)
    return place


@each_notation
def test_sections_that_wait_or_were_given_up_keep_little_more_than_their_lines(fmt, section, hunks):
    many_waiting(fmt, section, 5)
    gc.collect()
    tracemalloc.start()
    try:
        place = many_waiting(fmt, section, 100)
        gc.collect()
        waiting = tracemalloc.get_traced_memory()[0]
        place.workspace.reject([hunk.id for hunk in place.workspace.hunks])
        gc.collect()
        given_up = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert {hunk.decision for hunk in place.workspace.hunks} == {Decision.REJECTED}
    assert waiting < 100 * (1_500 + 1_000 * hunks)
    assert given_up - waiting < 100 * 500 * hunks
    assert not place.workspace.buffers["a.txt"]._marks


@each_notation
def test_a_section_that_was_given_up_waits_again_where_the_text_has_its_lines(fmt, section, hunks):
    place = many_waiting(fmt, section, 3)
    workspace = place.workspace
    workspace.reject([hunk.id for hunk in workspace.hunks])
    workspace.edit("a.txt", (0, 0), (0, 0), "new\n")
    workspace.undo_decision()
    first = workspace.hunks[0]
    assert {hunk.stage for hunk in workspace.hunks} == {Stage.CANDIDATES}
    assert nearest(first.candidates) == (1, 2, 3, 4, 5)
    workspace.place(first.id, 3)
    assert [hunk.stage for hunk in workspace.hunks[:hunks]] == [Stage.LANDED] * hunks
    written = place.text("a.txt").split("\n")
    assert written[:5] == ["new", "x", "x", "x", "y"]
    assert written.count("z") == hunks - 1


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each look-up of a line gave."""
    found: list[int] = []
    rows = LineIndex.rows

    def counting(self: LineIndex, line: str, most: int | None = None) -> Sequence[int]:
        found.append(len(rows(self, line, most)))
        return rows(self, line, most)

    monkeypatch.setattr(LineIndex, "rows", counting)
    return found


def test_a_common_line_is_not_looked_up_again_after_each_change(looked_up):
    lines = [f"u{at}" if at % 50 == 0 else "x" for at in range(5_000)]
    place = disk(a="".join(f"{line}\n" for line in lines))
    blocks = [
        f"<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"
        for at in range(0, 5_000, 50)
        for old, new in ((f"u{at}", f"v{at}\nw"), ("x\nx", "x\ny"))
    ]
    landing = place.land("a.txt\n" + "".join(blocks), fmt="search_replace")
    assert [hunk.stage for hunk in landing.hunks] == [Stage.LANDED, Stage.REFUSED] * 100
    assert len(landing.hunks[-1].candidates) == 100 * 48
    assert sum(looked_up) < 100 * 501 + 20_000


@pytest.mark.parametrize(
    "section",
    [
        ("@@", " word{0} other{0}", "-gone{0}", "+y"),
        ("@@ def missing{0}", " word{0} other{0}", "-gone{0}", "+y"),
        ("@@ def missing{0}", "+y"),
    ],
    ids=["no line is there", "nor its anchor", "only its anchor"],
)
def test_what_is_missing_is_not_searched_for_in_the_whole_file_for_each_section(
    monkeypatch, section
):
    read: list[int] = []
    search = line_index._Block._lines_with

    def counting(self: line_index._Block, wanted: str):
        read.append(self.count)
        return search(self, wanted)

    monkeypatch.setattr(near_miss, "_MOST_ROWS", 50_000)
    monkeypatch.setattr(line_index._Block, "_lines_with", counting)
    place = disk(a="".join(f"line {at}\n" for at in range(10_000)))
    place.land(patch(*(line.format(at) for at in range(200) for line in section)))
    assert {hunk.stage for hunk in place.workspace.hunks} == {Stage.REFUSED}
    assert sum(read) < 300_000
    assert all(hunk.reason for hunk in place.workspace.hunks)

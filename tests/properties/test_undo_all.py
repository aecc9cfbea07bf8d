"""A02: who takes back all of his edits, and all of a model's, has the bytes he began with.

Whatever he typed and deleted across the hunks while they came, in whichever order he goes back,
and be it that he insists where a model's text stands in the way. A run follows from its seed
alone, so 10,000 of them take a minute (``-m slow``), and one that failed is kept as an example.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.notations import NOTATIONS, told
from tests.support.patches import Disk, Edit, pieces
from tui.core.document.workspace import undo_stopped
from tui.core.files import FileRead

PATH = "a.txt"
FAILED = [
    705463,
    2000630,
    202574,
    210468,
    212164,
    27550,
    28636,
    27415,
    27019,
    27061,
    887,
    1126,
    524,
    973,
    389,
    167,
    225,
    353,
]
"""Seeds of runs that did not give the input back at some time."""


class Run:
    """The user and a model in one file, at random."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.types = seed % 8 > 3
        """He types, too; else he only deletes."""
        self.model_first = seed % 4 > 1
        self.whole_turn = bool(seed % 2)
        self.insists = seed % 24 > 15
        """He undoes once more where he is told that a model wrote there."""
        dice, count = self.dice, self.dice.randint(1, 14)
        lines = [f"line {number}" for number in range(count)]
        fmt = dice.choice(NOTATIONS)
        edits = self.edits(count)
        context = dice.randint(0 if fmt == "apply_patch" else 1, 3)
        if not context:  # an addition without any anchor that comes twice says nothing new
            once = {(-1 if one.last == one.first else one.first, one.new): one for one in edits}
            edits = sorted(once.values(), key=lambda one: one.first)
        text = told(fmt, lines, edits, context, PATH)
        self.before = dice.choice(["\n", "\r\n"]).join([*lines, dice.choice(["", "end"])]).encode()
        self.disk = Disk({PATH: self.before})
        self.buffer = self.disk.workspace.open(PATH)
        self.landing = self.disk.start(fmt=fmt)
        cuts = [dice.randint(0, 400) for _ in range(dice.randint(1, 8))]
        self.chunks = ["", *pieces(text, cuts)]

    def edits(self, count: int) -> list[Edit]:
        dice, edits, at = self.dice, list[Edit](), 0
        while at <= count and len(edits) < 4:
            first = dice.randint(at, min(count, at + 6))
            last = dice.randint(first, min(count, first + 3))
            new = [dice.choice(["new", "  more", "x", ""]) for _ in range(dice.randint(0, 3))]
            if last > first or new:
                edits.append(Edit(first, last, tuple(new)))
            at = last + 3
            if dice.random() < 0.4:
                break
        return edits

    def edit(self, group: str) -> None:
        """He deletes or replaces across lines, or types."""
        dice, lines = self.dice, self.buffer.lines
        if not self.types or dice.random() < 0.7:
            row = dice.randrange(len(lines))
            last = min(row + dice.randint(0, 3), len(lines) - 1)
            start = (row, dice.randint(0, len(lines[row])) if dice.random() < 0.5 else 0)
            end = (last, dice.randint(0, len(lines[last])) if dice.random() < 0.5 else 0)
            text = dice.choice(["", "", "q"]) if self.types else ""
        else:
            row = dice.randrange(len(lines))
            start = end = (row, dice.randint(0, len(lines[row])))
            text = dice.choice(["q", "q\n"])
        if start != end or text:
            self.disk.workspace.edit(PATH, min(start, end), max(start, end), text, group)

    def streams(self) -> None:
        """The patch comes in pieces, and he edits in between."""
        number = 0
        for chunk in self.chunks:
            self.landing.feed(chunk)
            if self.dice.random() < 0.5:
                self.landing.tail()
            for _ in range(self.dice.randint(0, 2)):
                self.edit(str(number := number + 1))
        self.landing.finish(cut=self.dice.random() < 0.4)

    def undoes(self) -> None:
        """He undoes until there is nothing more, or a model's text stands in the way."""
        workspace = self.disk.workspace
        while workspace.undo(PATH) is not None:
            if undo_stopped(workspace, PATH) and not self.insists:
                break

    def takes_back(self) -> None:
        """All of the model's."""
        workspace = self.disk.workspace
        if self.whole_turn:
            workspace.undo_turn()
        else:
            workspace.reject([hunk.id for hunk in workspace.hunks])

    def goes_back(self) -> None:
        if self.model_first:
            self.takes_back()  # what he typed in may not come apart yet
        for _ in range(3):  # what stood in his way is gone then
            self.undoes()
            self.takes_back()
        self.undoes()


def gives_the_input_back(seed: int) -> None:
    run = Run(seed)
    run.streams()
    run.goes_back()
    assert run.buffer.encode() == run.before, seed
    assert not run.disk.workspace.is_dirty(PATH), seed


@pytest.mark.slow
@given(st.integers(0, 10**9))
@settings(max_examples=150)
def test_a02_all_taken_back_is_the_input(seed: int) -> None:
    gives_the_input_back(seed)


@pytest.mark.parametrize("seed", FAILED)
def test_a02_what_failed_once_does_not_any_more(seed: int) -> None:
    gives_the_input_back(seed)


@given(st.integers(0, 10**9))
@settings(max_examples=100)
def test_a02_with_the_line_endings_that_another_program_changed_meanwhile(seed: int) -> None:
    run = Run(seed)
    run.streams()
    if run.disk.workspace.documents.records[PATH].waiting:
        return  # its places are of the text as it was
    run.before = run.before.replace(*_other_ending(run.before))
    run.disk.files[PATH] = run.before
    run.disk.workspace.outside_change(PATH, FileRead(run.before))
    run.goes_back()
    assert run.buffer.encode() == run.before
    assert not run.disk.workspace.is_dirty(PATH)


def _other_ending(data: bytes) -> tuple[bytes, bytes]:
    return (b"\r\n", b"\n") if b"\r\n" in data else (b"\n", b"\r\n")


@pytest.mark.slow
def test_a02_ten_thousand_runs_give_the_input_back() -> None:
    for seed in range(10_000):
        gives_the_input_back(seed)


@given(st.integers(0, 10**9))
@settings(max_examples=150)
@example(23)
@example(620)
@example(16671)
def test_what_belongs_on_the_disk_is_what_taking_all_back_leaves(seed: int) -> None:
    run = Run(seed)
    run.streams()
    run.edit("last")
    planned = run.disk.workspace.disk_plan(PATH).data
    run.disk.workspace.reject([hunk.id for hunk in run.disk.workspace.hunks])
    if not run.disk.workspace.documents.records[PATH].live:  # he is asked of no hunk
        assert run.buffer.encode() == (planned or b"")

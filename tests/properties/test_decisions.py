"""Random decisions, undone and done again: the bytes, marks and words are as they were, exactly.

Case I01 of EDIT-CASES.md as a property, over files of many hunks, layers, new files, deletions
and moves; then with a user who types, a disk that changes and models that go on meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import permutations
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.patches import Disk, edits_of, patch, patch_of, turns_left
from tui.core.document import decision_log
from tui.core.document.disk_plan import still_text
from tui.core.document.hunk import PLACED, Decision
from tui.errors import EditRefused

pytestmark = pytest.mark.case("I01")
SEEDS = st.integers(0, 10**9)


@pytest.fixture(autouse=True, scope="module")
def packed() -> Iterator[None]:
    """Steps become bytes, as those of very many hunks do."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(decision_log, "PACKED", 2)
        yield


class Still(NamedTuple):
    """All that a decision may change, as it stands."""

    texts: dict[str, str]
    hunks: list[tuple[object, ...]]
    disk: dict[str, bytes]
    dirty: list[str]


def still(disk: Disk) -> Still:
    workspace = disk.workspace
    hunks: list[tuple[object, ...]] = []
    for hunk in workspace.hunks:
        rows = None
        if hunk.start is not None and hunk.end is not None and hunk.stage in PLACED:
            rows = (hunk.start.line, hunk.end.line)
        stand = rows if hunk.decision is not Decision.REJECTED else None
        hunks.append(
            (
                *(hunk.id, hunk.path, hunk.stage, hunk.decision, hunk.base, hunk.agent, stand),
                *(hunk.words, hunk.reason, bool(hunk.candidates)),
            )
        )
    texts = {path: buffer.text() for path, buffer in workspace.buffers.items()}
    plans = {path: workspace.disk_plan(path).data for path in workspace.documents.records}
    for path, record in workspace.documents.records.items():
        if not record.gone:  # backed out in one walk, or hunk by hunk
            slow = still_text(workspace.documents, record).planned()
            assert plans[path] == (None if slow is None else slow.encode())
    plans = {path: data for path, data in plans.items() if data is not None or path in disk.files}
    disk_now = {**disk.files, **{f"plan of {p}": data or b"none" for p, data in plans.items()}}
    dirty = [path for path in workspace.documents.records if workspace.is_dirty(path)]
    return Still(texts, hunks, disk_now, dirty)


class Reviewer:
    """Someone who decides at random, and thinks better of it."""

    def __init__(self, disk: Disk, seed: int, *, saves: bool, harsh: float = 0.0) -> None:
        self.disk = disk
        self.workspace = disk.workspace
        self.dice = Random(seed)
        self.saves = saves
        self.harsh = harsh
        """How often it takes what the user changed with a hunk."""

    def ids(self) -> list[int] | None:
        if self.dice.random() < 0.2:
            return None
        share = self.dice.choice([0.1, 0.3, 0.7])
        return [hunk.id for hunk in self.workspace.hunks if self.dice.random() < share]

    def decide(self) -> bool:
        """One decision; False if it was about nothing."""
        known = len(self.workspace.documents.decisions.done)
        act = self.dice.random()
        if act < 0.45:
            paths = self.workspace.accept(self.ids())
        elif act < 0.9:
            whole = self.dice.random() < self.harsh
            paths = self.workspace.reject(self.ids(), "no", whole=whole)
        else:
            paths = self.workspace.undo_turn()
        self.write(paths)
        return len(self.workspace.documents.decisions.done) > known

    def write(self, paths: list[str]) -> None:
        if self.saves:
            self.disk.write(paths)


@st.composite
def benches(draw: st.DrawFn) -> Disk:
    """Files with hunks on hunks, all landed."""
    lines = draw(st.lists(st.sampled_from("abcdef"), min_size=2, max_size=14))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    ended = draw(st.sampled_from([newline, ""]))
    text = newline.join(lines) + ended
    disk = Disk({"a.txt": text.encode(), "b.txt": b"one\ntwo\nthree\n", "c.txt": b"see\n"})
    for turn in range(1, draw(st.integers(2, 4))):
        now = disk.workspace.open("a.txt").lines
        now = now[:-1] if not now[-1] else now
        context = draw(st.integers(0, 2))
        edits = draw(edits_of(len(now), apart=draw(st.integers(1, 3))))
        disk.land(patch_of(now, edits, context, "a.txt"), turn=turn)
    if draw(st.booleans()):
        disk.land("*** Begin Patch\n*** Add File: n.txt\n+new\n+file\n*** End Patch\n", turn=1)
        if draw(st.booleans()):
            disk.land(patch("@@", "-new", "+newer", file="n.txt"), turn=2)
    if draw(st.booleans()):
        disk.land(patch("*** Move to: moved.txt", "@@", "-two", "+TWO", file="b.txt"), turn=2)
    if draw(st.booleans()):
        disk.land("*** Begin Patch\n*** Delete File: c.txt\n*** End Patch\n", turn=2)
    if draw(st.booleans()):
        disk.land("*** Begin Patch\n*** Add File: a.txt\n+all\n+new\n*** End Patch\n", turn=3)
    return disk


@given(benches(), SEEDS, st.booleans())
@settings(max_examples=40)
def test_decisions_undone_and_done_again_are_exact(disk: Disk, seed: int, saves: bool) -> None:
    """Down the whole stack and up again, each state is the one that was there."""
    reviewer = Reviewer(disk, seed, saves=saves, harsh=0.2)
    states = [still(disk)]
    for _ in range(8):
        if reviewer.decide():
            states.append(still(disk))
    for want in reversed(states[:-1]):
        reviewer.write(disk.workspace.undo_decision())
        assert not disk.workspace.documents.decisions.stays
        assert still(disk) == want
    with pytest.raises(EditRefused):
        disk.workspace.undo_decision()
    for want in states[1:]:
        reviewer.write(disk.workspace.redo_decision())
        assert still(disk) == want


ANEW = "*** Begin Patch\n*** Add File: a.txt\n+all\n+new\n*** End Patch\n"
NEW = patch("@@", "+new")
NO_END = {
    "all out": patch("@@", "-a"),
    "another": patch("@@", "-a", "+b"),
    "anew": ANEW,
    "before": patch("@@", "+top", " a"),
    "behind": patch("@@", " a", "+tail"),
    "blank": patch("@@", "+"),
    "new": NEW,
    "newer": patch("@@", "-new", "+newer"),
    "new out": patch("@@", "-new"),
}
LINES = {"", "a", "all", "b", "new", "newer", "tail", "top", "z"}


@pytest.mark.slow
@given(st.sampled_from(["a", "z\na"]), st.lists(st.sampled_from([*NO_END]), min_size=2, max_size=4))
@example("a", ["all out", "new", "anew"])
@example("a", ["new", "new", "blank", "new"])
@example("a", ["all out", "new", "new out"])
@example("a", ["new", "newer", "behind"])
@example("z\na", ["before", "new", "blank"])
@settings(max_examples=40)
def test_a_last_line_without_an_end_never_runs_into_the_next(text: str, names: list[str]) -> None:
    """Whichever hunks behind it are rejected, in any order, and brought back."""
    if names.count("anew") > 1:
        return  # the second changes nothing
    for order in permutations(range(1, len(names) + 1)):
        disk = Disk({"a.txt": text.encode()})
        for turn, name in enumerate(names, 1):
            disk.land(NO_END[name], turn=turn)
        if len(disk.workspace.hunks) < len(names):
            return  # one fits nowhere
        texts = [disk.text("a.txt")]
        for number in order:
            known = len(disk.workspace.documents.decisions.done)
            disk.workspace.reject([number], "no")
            assert {*disk.text("a.txt").split("\n")} <= LINES, order
            if len(disk.workspace.documents.decisions.done) > known:
                texts.append(disk.text("a.txt"))
        assert disk.text("a.txt") == text, order
        with suppress(EditRefused):  # what lies on a text that is the same anew
            for want in reversed(texts[:-1]):
                disk.workspace.undo_decision()
                assert disk.text("a.txt") == want, order


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ("all out", "new", "anew"),
        ("new", "new", "blank", "new"),
        ("before", "new", "blank"),
        ("new", "newer", "behind"),
        ("another", "new", "new out", "new"),
    ],
)
def test_hunks_at_a_last_line_without_an_end_come_back_exactly(names: tuple[str, ...]) -> None:
    for order in permutations(range(1, len(names) + 1)):
        disk = Disk({"a.txt": b"a"})
        for turn, name in enumerate(names, 1):
            disk.land(NO_END[name], turn=turn)
        states = [still(disk)]
        for number in order:
            known = len(disk.workspace.documents.decisions.done)
            disk.workspace.reject([number], "no")
            if len(disk.workspace.documents.decisions.done) > known:
                states.append(still(disk))
        for want in reversed(states[:-1]):
            disk.workspace.undo_decision()
            assert still(disk) == want, order


def test_an_accepted_line_is_not_written_into_the_last_one_which_had_no_end() -> None:
    disk = Disk({"a.txt": b"a\na\na"})
    disk.land(patch("@@", " a", "-a", "+new", "+new", "+new", " a"), turn=1)
    disk.land(patch("@@", "-new", "-new", "-a"), turn=2)
    disk.land(NEW, turn=3)
    disk.workspace.accept([3])
    assert disk.workspace.disk_plan("a.txt").data == b"a\na\na\nnew\n"


@given(benches(), SEEDS)
@settings(max_examples=25)
def test_whatever_was_undone_rejecting_all_gives_the_input(disk: Disk, seed: int) -> None:
    """Steps up and down in any order; in the end every file has its first bytes."""
    reviewer = Reviewer(disk, seed, saves=True)
    files = {"a.txt", "b.txt", "c.txt"}
    before = {path: disk.files[path] for path in files}
    for _ in range(20):
        act = reviewer.dice.random()
        with suppress(EditRefused):
            if act < 0.4:
                reviewer.decide()
            elif act < 0.8:
                reviewer.write(disk.workspace.undo_decision())
            else:
                reviewer.write(disk.workspace.redo_decision())
    while disk.workspace.documents.decisions.done:
        reviewer.write(disk.workspace.undo_decision())
    reviewer.write(disk.workspace.reject())
    assert {path: disk.files.get(path) for path in files} == before
    texts = {path: buffer.encode() for path, buffer in disk.workspace.buffers.items()}
    assert texts == {path: before[path] for path in texts}
    assert set(disk.files) == files


@given(benches(), SEEDS)
@settings(max_examples=25)
def test_undoing_a_turn_and_bringing_it_back_is_exact(disk: Disk, seed: int) -> None:
    """`/undo` and `/redo` over turns that were decided on at random."""
    reviewer = Reviewer(disk, seed, saves=True)
    for _ in range(3):
        reviewer.decide()
    states = []
    while turns_left(disk.workspace):
        states.append(still(disk))
        turns, known = turns_left(disk.workspace), len(disk.workspace.documents.decisions.done)
        reviewer.write(disk.workspace.undo_turn())
        if (
            turns_left(disk.workspace) == turns
            or len(disk.workspace.documents.decisions.done) == known
        ):
            return  # a file is where another one was: said so, not done by halves
    for want in reversed(states):
        reviewer.write(disk.workspace.redo_decision())
        assert still(disk) == want

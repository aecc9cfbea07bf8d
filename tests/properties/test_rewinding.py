"""Rewind, for any turns, edits by hand, decisions and saves: back, and forward byte for byte."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.past_hunks import past_hunk
from tests.support.patches import Disk, Edit, disk, patch_of
from tui.core.document.decision_log import DecisionEntry
from tui.core.document.decision_undo import undo_entry
from tui.core.document.past_texts import KnownText, PastHunk, Swap, Taken, swapped, without
from tui.core.session_record import HunkMade
from tui.core.steps import finished
from tui.errors import EditRefused

FILE = "a.txt"
SEEDS = st.integers(0, 10**6)


class Session:
    """Turns of a model in one file; lines are its own (``m2.1``) or the user's (``u2.1``)."""

    def __init__(self, seed: int, *, typing: bool) -> None:
        self.dice, self.typing = random.Random(seed), typing
        count = self.dice.randint(3, 25)
        self.disk: Disk = disk(a="".join(f"line {n}\n" for n in range(count)))
        self.workspace = self.disk.workspace
        self.workspace.open(FILE)
        self.count = 0
        self.known: list[KnownText] = []
        self.starts: dict[int, int] = {}
        self.past: list[PastHunk] = []
        self.made: dict[int, HunkMade] = {}
        for turn in range(1, 5):
            self.starts[turn] = len(self.known)
            self.notes_text()
            self.turn(turn)
        self.disk.write([FILE])
        self.notes_text()

    @property
    def text(self) -> str:
        return self.disk.files[FILE].decode()

    def notes_text(self) -> None:
        self.known.append(KnownText(len(self.known), self.text))

    def lines(self, who: str) -> Iterator[str]:
        while True:
            self.count += 1
            yield f"{who}.{self.count}"

    def turn(self, turn: int) -> None:
        workspace, dice = self.workspace, self.dice
        lines = self.disk.text(FILE).split("\n")[:-1]
        edits, at, new = list[Edit](), 0, self.lines(f"m{turn}")
        while at <= len(lines) and len(edits) < 3:
            first = dice.randint(at, min(len(lines), at + 4))
            last = dice.randint(first, min(len(lines), first + 2))
            put = tuple(next(new) for _ in range(dice.randint(0, 2)))
            edits += [Edit(first, last, put)] if last > first or put else []
            at = last + 3
        self.disk.land(patch_of(lines, edits, 2, FILE), turn=turn)
        made = {h.id: past_hunk(workspace, h) for h in workspace.hunks if h.turn == turn}
        self.made |= made
        if self.typing and dice.random() < 0.7:
            self.types(turn)
        for number in made:
            if dice.random() < 0.8:
                self.disk.write(workspace.accept([number]))
                self.notes_text()
                self.accepted()
            else:
                workspace.reject([number])

    def accepted(self) -> None:
        """What lies below goes with it."""
        known = {one.made.id for one in self.past}
        for number, one in self.made.items():
            if (
                number not in known
                and self.workspace.hunk_list.by_id(number).decision == "accepted"
            ):
                self.past.append(PastHunk(one, len(self.known) - 1))

    def types(self, turn: int) -> None:
        workspace, dice = self.workspace, self.dice
        rows = workspace.buffers[FILE].line_count - 1
        row = dice.randrange(rows) if rows else 0
        text = next(self.lines(f"u{turn}"))
        workspace.edit(FILE, (row, 0), (row, 0), f"{text}\n")
        if dice.random() < 0.5:
            self.disk.write([FILE])
            self.notes_text()

    def before(self, turn: int) -> Taken:
        """By the texts that are known, as in a later start."""
        past = [one for one in self.past if one.made.turn >= turn]
        return without(self.known[self.starts[turn] :], past)


@given(SEEDS, st.integers(1, 4))
@settings(max_examples=40)
def test_without_the_hunks_of_a_turn_the_text_is_the_one_before_it(seed: int, turn: int) -> None:
    session = Session(seed, typing=False)
    taken = session.before(turn)
    assert taken.text == session.known[session.starts[turn]].text
    assert not taken.stays


@given(SEEDS, st.integers(1, 4))
@settings(max_examples=40)
def test_what_was_typed_stays_and_what_models_wrote_goes_or_is_named(seed: int, turn: int) -> None:
    session = Session(seed, typing=True)
    taken = session.before(turn)
    lines = (taken.text or "").split("\n")
    assert {one for one in session.text.split("\n") if one[:1] == "u"} <= {*lines}
    left = {one for one in lines if one[:1] == "m" and int(one[1]) >= turn}
    named = {line for one in taken.stays for line in one.agent.split("\n")}
    assert left <= named


@given(SEEDS, st.integers(1, 4))
@settings(max_examples=40)
def test_hunks_with_marks_go_back_and_forward_byte_for_byte(seed: int, turn: int) -> None:
    session = Session(seed, typing=False)
    workspace, before = session.workspace, session.text
    decided = [hunk.decision for hunk in workspace.hunks]
    chosen = [hunk for hunk in workspace.hunks if hunk.turn >= turn]
    stays = [h.id for h in workspace.hunks if h.turn < turn and h.decision == "accepted"]
    wanted = workspace.with_hunks(FILE, stays)
    entry = DecisionEntry("rewind", turn=turn)
    session.disk.write(finished(workspace.taking_back(chosen, entry)))
    assert session.disk.files.get(FILE) == wanted
    assert session.text == session.known[session.starts[turn]].text
    if entry.size:
        paths, _ = finished(undo_entry(workspace.documents, entry))
        session.disk.write(paths)
    assert session.text == before
    assert [hunk.decision for hunk in workspace.hunks] == decided


@pytest.mark.slow
@given(SEEDS, st.integers(1, 4), st.booleans())
@settings(max_examples=40)
def test_a_swap_goes_back_and_forward_byte_for_byte(seed: int, turn: int, typed: bool) -> None:
    """As in a later start; what is typed between the two stays."""
    session = Session(seed, typing=True)
    now, then = session.text, session.before(turn).text or ""
    place = Disk({FILE: now.encode()})
    documents = place.workspace.documents
    swap = Swap(FILE, now.encode(), then.encode())
    assert not swapped(documents, swap)
    place.write([FILE])
    assert place.files[FILE].decode() == then
    if typed:
        place.workspace.edit(FILE, (0, 0), (0, 0), "typed\n")
    try:
        why = swapped(documents, swap.back)
    except EditRefused:
        raise AssertionError from None
    place.write([FILE])
    if typed:
        assert "typed" in place.files[FILE].decode()
    if not typed or not why:
        assert place.files[FILE].decode().replace("typed\n", "") == now

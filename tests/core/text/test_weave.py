"""Whatever was done to a text comes off, and on again, in any order: against plain strings."""

from __future__ import annotations

import gc
from collections.abc import Hashable, Iterable
from random import Random

import pytest

from tui.core.steps import finished
from tui.core.text import weave as module
from tui.core.text.change_set import ChangeSet, change_at, end_of
from tui.core.text.weave import StillWeave, Weave
from tui.core.text.woven_pieces import WovenEdit, WovenPiece

START = (0, 0)


class Text:
    """A string and its weave."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.base = self.text = "".join(self.dice.choices("ab\n", k=self.dice.randint(0, 30)))
        self.weave = Weave(end_of(START, self.base))

    def change(self, key: int) -> None:
        """Under keys that were used before, too."""
        dice = self.dice
        first = dice.randint(0, len(self.text))
        last = min(len(self.text), first + dice.choice([0, 0, dice.randint(0, 6)]))
        new = "".join(dice.choices("xyz\n", k=dice.randint(0, 5)))
        change = change_at(end_of(START, self.text[:first]), self.text[first:last], new)
        self.text = self.text[:first] + new + self.text[last:]
        self.weave.change(change, key, ahead=dice.random() < 0.3)

    def switch(self, keys: Iterable[Hashable]) -> None:
        edits = [edit for key in keys if (edit := self.weave.edit(key))]
        changes = ChangeSet(end_of(START, self.text), tuple(self.weave.switching(edits)))
        self.text = changes.apply(self.text)
        self.weave.switch(edits)

    def check(self) -> None:
        assert self.weave.end == end_of(START, self.text)
        assert self.weave.without((), self.text) == self.text


@pytest.mark.slow
@pytest.mark.parametrize("most", [4, 64])
def test_all_comes_off_in_any_order(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", most)
    monkeypatch.setattr(module, "_FEW", 0)
    for seed in range(150):
        text = Text(seed)
        for number in range(text.dice.randint(1, 60)):
            if text.dice.random() < 0.2:
                text.switch([text.dice.randint(0, 8)])
            else:
                text.change(text.dice.choice([text.dice.randint(0, 8), 100 + number]))
            if seed % 3:
                text.weave.fold_above()
            text.check()
        if seed % 3 and (text.weave.edit(0), text.weave.edit(1)).count(None) == 0:
            text.switch(key for key in (0, 1) if not text.weave.edit(key).on)
            text.weave.join(0, 1)
            assert text.weave.edit(1) is None
            text.check()
        if seed % 2:
            finished(text.weave.folding())
            text.check()
        if seed % 5:
            text.weave = StillWeave(text.weave).weave()
            text.check()
        on = [edit for edit in text.weave.edits if edit.on]
        assert text.weave.without(on, text.text) == text.base
        text.dice.shuffle(on)
        for edit in on:
            text.switch([edit.key])
            text.check()
        assert text.text == text.base


def test_an_edit_is_blocked_where_others_changed_what_it_is_about_since() -> None:
    weave = Weave((1, 0))
    weave.change(change_at((0, 0), "", "mine "), "mine")
    weave.change(change_at((0, 5), "", "yours "), "yours")
    mine, yours = weave.edit("mine"), weave.edit("yours")
    assert mine is not None
    assert yours is not None
    assert weave.blocked(mine, lambda edit: edit is yours) is None
    weave.change(change_at((0, 1), "in", "IN"), "yours")
    assert weave.blocked(mine, lambda edit: edit is yours) == (0, 1)
    weave.switch([yours])
    assert weave.blocked(mine, lambda edit: edit is yours) is None


@pytest.mark.slow
def test_what_is_done_from_top_to_bottom_is_kept_in_few_objects() -> None:
    """Very many hunks wait; each becomes an object again when it is asked for."""

    def objects() -> int:
        return sum(type(one) in {WovenPiece, WovenEdit} for one in gc.get_objects())

    gc.collect()
    before = objects()
    text = "".join(f"line {row}\n" for row in range(2000))
    weave = Weave(end_of(START, text))
    for row in range(1, 2000, 2):
        weave.change(change_at((row, 0), f"line {row}\n", f"new {row}\n"), row)
        weave.fold_above()
    assert objects() - before < 300
    now = "".join(f"{'new' if row % 2 else 'line'} {row}\n" for row in range(2000))
    assert weave.without((), now) == now
    assert objects() - before < 300
    edit = weave.edit(101)
    assert edit is not None
    assert weave.range(edit, lambda _: False) == ((101, 0), (102, 0))
    assert weave.without([edit], now) == now.replace("new 101\n", "line 101\n")
    assert objects() - before < 600
    finished(weave.folding())
    del edit
    assert objects() - before < 300
    assert weave.without(weave.edits, now) == text

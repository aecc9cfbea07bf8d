"""Whatever keys do to a text, undo takes all of it back, also while a model writes elsewhere."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fake_session import FakeWorkspace, editing_of
from tui.core.text.buffer import plain_text
from tui.core.text.change_set import Position
from tui.ui.editor import changes
from tui.ui.editor.changes import Typing, insert
from tui.ui.editor.comments import C_BLOCK, HASH, MARKUP, toggle
from tui.ui.editor.editing import CHANGES, MOVES
from tui.ui.editor.view import View
from tui.ui.finding.replacing import replace_all
from tui.ui.finding.search import Query

TEXTS = st.text("ab(){}[]:# \t\n\r\u0301\U0001f469\u200d漢", max_size=60)
PATHS = st.sampled_from(["a.py", "a.js", "a.html", "a.md", "noname"])
TYPED = "ab }:])\u0301漢"
PASTED = ("x", "a\nb\n", "\r\n", "}\n\t", "e\u0301\r")


class Hand:
    """Presses keys by chance."""

    def __init__(self, path: str, text: str, chance: random.Random) -> None:
        self.workspace = FakeWorkspace({path: text})
        self.view = View(self.workspace.open(path))
        self.editing = editing_of(self.workspace)
        self.chance = chance
        self.now_s = 0.0

    def press(self) -> None:
        """One key."""
        view, chance = self.view, self.chance
        self.now_s += chance.choice([0.1, 5.0])
        kind = chance.randrange(8)
        if kind < 2:
            move, select = MOVES[chance.choice(sorted(MOVES))]
            move(view.cursor, 3, select)
        else:
            self.make(self.change(kind))
        assert view.buffer.clamp(view.cursor.position) == view.cursor.position

    def change(self, kind: int) -> Typing:
        """What one key does."""
        cursor, chance = self.view.cursor, self.chance
        if kind == 2:
            return changes.character(cursor, chance.choice(TYPED))
        if kind == 3:
            return insert(cursor, chance.choice(PASTED), "paste")
        if kind == 4:
            lines = (changes.duplicate, changes.cut, changes.delete_lines)
            step = chance.choice([-1, 1])
            some = chance.choice([*lines, lambda one: changes.move(one, step)])
            return some(cursor)
        if kind == 5:
            return toggle(cursor, chance.choice([HASH, C_BLOCK, MARKUP]))
        if kind == 6:
            search = self.view.search
            search.look_for(Query(chance.choice(["a", "^", r"\s+", "(a|b)"]), regex=True))
            search.limit(cursor.selection)
            by = chance.choice(["", "xy", r"\n"])
            plan = replace_all(search, self.view.buffer, by, lambda line: False)
            return next(done for done in plan if done is not None).typing
        return CHANGES[chance.choice(sorted(CHANGES))](cursor, chance.choice(["  ", "\t"]))

    def make(self, typing: Typing) -> None:
        """Make a change, if it is one."""
        if typing.replacements:
            self.editing.make(self.view, typing, self.now_s)

    def model(self, line: int) -> None:
        """Somebody else appends a line."""
        end: Position = self.view.buffer.end
        self.workspace.write(self.view.path, end, end, f"\nmodel {line}")


@settings(max_examples=30)
@given(TEXTS, PATHS, st.randoms(use_true_random=False))
def test_undo_takes_everything_back(text: str, path: str, chance: random.Random) -> None:
    hand = Hand(path, text, chance)
    states = {hand.view.buffer.text()}
    for _ in range(25):
        hand.press()
        states.add(hand.view.buffer.text())
        if chance.random() < 0.1:
            hand.workspace.undo(path)
            states.add(hand.view.buffer.text())
    last = hand.view.buffer.text()
    undone = 0
    while hand.workspace.undo(path) is not None:
        undone += 1
    assert hand.view.buffer.text() == plain_text(text)
    for _ in range(undone):
        assert hand.workspace.redo(path) is not None
    assert hand.view.buffer.text() == last


@settings(max_examples=15)
@given(PATHS, st.randoms(use_true_random=False))
def test_a_model_that_appends_is_never_undone(path: str, chance: random.Random) -> None:
    hand = Hand(path, "one\ntwo\n", chance)
    for number in range(8):
        hand.view.cursor.place((0, 0))
        hand.make(changes.character(hand.view.cursor, "a"))
        hand.model(number)
    while hand.workspace.undo(path) is not None:
        pass
    assert hand.view.buffer.text() == "one\ntwo\n" + "".join(f"\nmodel {n}" for n in range(8))

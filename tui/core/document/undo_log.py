"""The user's undo and redo, in groups, kept true while a model edits the same text.

What an edit put in and took out is known to the text's `Weave`, so it comes off, and on again,
whatever others did since; what they did stays. Where others wrote into it, that would leave a
torn text: the first try stops there, and only a second one passes it over. What others did and
took back (a rejected hunk) is in nobody's way. The model's own undo works on hunks (`review`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from operator import attrgetter

from tui.core.text.change_set import Change, Position, moved
from tui.core.text.weave import Weave
from tui.core.text.woven_pieces import WovenEdit

Apply = Callable[[Collection[WovenEdit]], Sequence[Change] | None]
"""Switches edits and returns what that changed in the text; None if it must not be done now."""


class UndoStep:
    """One edit of the user's: its key in the weave."""

    __slots__ = ("group", "mark")

    def __init__(self, number: int) -> None:
        self.group = 0
        self.mark = hash((number,))
        """What makes the states of the user's text with it other ones than those without it."""


class UndoLog:
    """Undo and redo of one user in one buffer; it has no limit that a model could use up."""

    def __init__(self) -> None:
        self.state = 0
        """Which state the user's own text is in; back at an old one, the number is the same."""
        self.step = UndoStep(1)
        """The user's next edit, or the one that is made now."""
        self._steps = 1
        self._undo: list[UndoStep] = []
        self._redo: list[UndoStep] = []
        self._groups = 0
        self._apart: set[int] = set()
        """Groups of edits in several places: undone, they lead to the topmost one."""
        self._whole: set[int] = set()
        """Groups of edits that make sense together only."""
        self._insisted: int | None = None
        """The group that others wrote into, which the next try passes over."""
        self._passed: set[int] = set()
        """Groups that were passed over: they are taken back once nobody's text is in the way."""
        self.stopped = False
        """The last undo (or redo) changed nothing: it stopped at such a group."""
        self._name = ""
        self._tip: tuple[Position, Position] | None = None
        """The last edit's start and end: where the next one joins its group."""

    def __bool__(self) -> bool:
        """True if something can be undone or redone."""
        return bool(self._undo or self._redo)

    def record(self, weave: Weave, change: Change, group: str = "") -> None:
        """The user did this, as `step`; what was undone cannot be done again any more.

        Edits of one non-empty group join while they adjoin. A name with a colon is one action
        (``indent:7``): its edits join wherever they are. One with two (``move-lines::8``) is
        taken back as a whole or not at all.
        """
        adjoins = self._adjoins(change)
        joins = bool(group) and group == self._name and (":" in group or adjoins)
        self._groups += not joins
        if "::" in group:
            self._whole.add(self._groups)
        if joins and not adjoins:
            self._apart.add(self._groups)
        self._name, self._insisted = group, None
        self._tip = (change.start, change.new_end)
        for gone in self._redo:
            weave.forget(gone)
        self._redo.clear()
        self._steps += 1
        step, self.step = self.step, UndoStep(self._steps)
        step.group = self._groups
        self._undo.append(step)
        self.state ^= step.mark

    def foreign(self, change: Change) -> None:
        """Somebody else did this."""
        if self._tip is None:
            return
        start, end = self._tip
        if change.old_end <= start:
            start = moved(start, change.old_end, change.new_end)
            end = moved(end, change.old_end, change.new_end)
            self._tip = (start, end)
        elif change.start < end:
            self._tip = None

    def end_group(self) -> None:
        """The next edit starts a group of its own."""
        self._name = ""

    def has(self, *, again: bool = False) -> bool:
        """True if there is something to take back (or to do again)."""
        return any(step.group not in self._passed for step in (self._redo if again else self._undo))

    def undo(self, weave: Weave, apply: Apply) -> Position | None:
        """Take the newest group back; returns where, None if there is nothing to take back.

        Where others wrote into it nothing is changed (`stopped`), but for a second try.
        """
        return self._walk(self._undo, self._redo, weave, apply)

    def redo(self, weave: Weave, apply: Apply) -> Position | None:
        """Do again what was taken back last."""
        return self._walk(self._redo, self._undo, weave, apply)

    def _adjoins(self, change: Change) -> bool:
        if self._tip is None:
            return False
        start, end = self._tip
        return change.start in (start, end) or change.old_end in (start, end)

    def _walk(
        self, source: list[UndoStep], sink: list[UndoStep], weave: Weave, apply: Apply
    ) -> Position | None:
        self.end_group()
        self._tip, self.stopped = None, False
        for group, run in groupby(source[::-1], attrgetter("group")):
            steps = [*run]
            edits = {step: edit for step in steps if (edit := weave.edit(step))}
            places = {step: weave.blocked(edit, is_foreign) for step, edit in edits.items()}
            whole = group in self._whole
            place = next(filter(None, places.values()) if whole else iter(places.values()), None)
            if place is not None and group not in self._passed:
                if group != self._insisted:
                    self._insisted, self.stopped = group, True
                    return place
                self._passed.add(group)
            if whole and place is not None:
                continue
            done = [step for step in steps if places.get(step) is None]
            changes = apply([edits[step] for step in done if step in edits])
            if changes is None:
                return None
            for step in done:
                source.remove(step)
                sink.append(step)
                self.state ^= step.mark
            if changes:
                return changes[0 if group in self._apart else -1].new_end
        return None


def is_foreign(edit: WovenEdit) -> bool:
    """True if somebody else did it."""
    return edit.needs is None and not isinstance(edit.key, UndoStep)

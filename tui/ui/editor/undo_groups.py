"""Which keys are undone together: a word, a run of deletions, one action.

A group ends where an editor's user expects it: at a pause, at the next word, at another kind
of change, at a move of the cursor and at a save. `core.journal` joins the edits of one name
that adjoin; here is where the names come from. Pure: the time is handed in.
"""

from __future__ import annotations

from tui.ui.editor.changes import Typing

PAUSE_S = 1.5
"""Who stopped for so long begins something new."""
_JOINING = frozenset({"type", "backspace", "delete", "word-left", "word-right", "line", "indent"})
"""Kinds of which several keys are one step; all others are a step each."""
_WHOLE = frozenset({"move-lines"})
"""Kinds whose edits make sense together only: one puts in what another took out."""


class UndoGroups:
    """The names of one editor's undo groups."""

    def __init__(self) -> None:
        self._count = 0
        self._kind = ""
        self._last_s = float("-inf")
        self._after_blank = False

    def name(self, typing: Typing, now_s: float) -> str:
        """The group of a change that is made at ``now_s`` (seconds of any steady clock)."""
        if not self._goes_on(typing, now_s):
            self._count += 1
        self._kind = typing.group
        self._last_s = now_s
        text = typing.replacements[-1].text if typing.replacements else ""
        self._after_blank = text[-1:].isspace()
        # With a colon the edits of one action join wherever they are (`History.record`).
        between = ":" if len(typing.replacements) > 1 else " "
        if typing.group in _WHOLE:
            between = "::"
        return f"{typing.group}{between}{self._count}"

    def close(self) -> None:
        """The next change begins a group."""
        self._kind = ""

    def _goes_on(self, typing: Typing, now_s: float) -> bool:
        if typing.group != self._kind or typing.group not in _JOINING:
            return False
        if now_s - self._last_s >= PAUSE_S or len(typing.replacements) != 1:
            return False
        if typing.group != "type":
            return True
        item = typing.replacements[0]
        begins_word = self._after_blank and not item.text[:1].isspace()
        return item.start == item.end and not begins_word

"""The card of one patch in the conversation: folded file by file, made anew when a hunk moves."""

from __future__ import annotations

from collections.abc import Container, Sequence

from tui.core.edits.hunk import Hunk
from tui.ui import theme
from tui.ui.conversation.hunk_card import Card, Focus, card_lines
from tui.ui.conversation.views import BlockView
from tui.ui.rows import Line, flat, inert, wrap

_COMING = 100
"""Newest hunks of a patch that have rows while it comes; all have them at its end."""


class PatchView(BlockView):
    """A hunk card."""

    _seen: object = None
    _shut: frozenset[str] = frozenset()
    """Files whose hunks are folded away."""

    @property
    def version(self) -> object:
        """The user's decisions change cards anywhere."""
        return (self.scene.version, self.scene.reviews())

    def toggle(self, part: str = "") -> None:
        """Fold a file, or unfold it."""
        self._shut ^= {part}

    def open_up(self, ids: Container[int]) -> bool:
        """Unfold the files of these hunks; True if one was folded."""
        found = {hunk.path for hunk in self._hunks()[0] if self._shut and hunk.id in ids}
        before, self._shut = self._shut, self._shut - found
        return before != self._shut

    def lines(self) -> list[Line]:
        """The card as it stands now."""
        hunks, skip = self._hunks()
        stopped = self.block.state in ("cut", "failed")
        card = Card(self.index, stopped, skip, self._shut)
        lines = card_lines(hunks, self.inner, self._focus(hunks[skip:]), card)
        why = self.block.text.strip()
        said = any(why.partition(": ")[2] in hunk.reason for hunk in hunks)
        if stopped and why and not said:
            style = theme.active().style("warning")
            rows = wrap([(flat(inert(why)), style)], self.inner - 4)
            lines = lines if hunks else []
            lines = [*lines, *(Line([("   ", style), *row], "panel") for row in rows)]
        return lines

    def _hunks(self) -> tuple[Sequence[Hunk], int]:
        """Its hunks, and how many of them have no rows of their own."""
        hunks = self.scene.hunks(self.block.call_id)
        return hunks, max(0, len(hunks) - _COMING) if self.block.state == "open" else 0

    def _focus(self, hunks: Sequence[Hunk]) -> Focus:
        focus = self.scene.focus
        return focus if any(hunk.id == focus.hunk_id for hunk in hunks) else Focus()

    def _sync(self) -> int | None:
        hunks, skip = self._hunks()
        news = [_signature(hunk) for hunk in hunks[skip:]]
        seen = (
            self._focus(hunks[skip:]),
            self.block.state,
            skip,
            news,
            self.block.text,
            self._shut,
        )
        if seen == self._seen and self.pages[0].fresh:
            return None
        self._seen = seen
        return self._put(self.lines())


def _signature(hunk: Hunk) -> tuple[object, ...]:
    """All that a card shows of a hunk."""
    line = None if hunk.start is None else hunk.start.line
    flags = (tuple(hunk.flags), hunk.reason, hunk.words, hunk.candidates)
    return (hunk.id, hunk.path, hunk.stage, hunk.decision, line, hunk.added, hunk.removed, flags)

"""What happened, in words; what went wrong as a card: what, why, and what can be done now."""

from __future__ import annotations

from typing import NamedTuple

from tui.engine.notices import Trouble
from tui.ui import theme
from tui.ui.conversation.views import BlockView
from tui.ui.keymap import shown
from tui.ui.rows import Line, Piece, Target, flat, inert, one_line, wrap


class Failure(NamedTuple):
    """The words of a trouble that the conversation tells."""

    what: str
    why: str
    next_step: str


def failure(text: str) -> Failure:
    """``what: why`` and below it the next step, as the engine notes a turn that failed."""
    head, _, step = text.strip().rpartition("\n")
    head, step = (head, step) if head else (step, "")
    what, _, why = head.partition(": ")
    return Failure(what.strip(), why.strip(), step.strip())


def card_words(trouble: Trouble) -> tuple[str, str]:
    """Title and words of a card that goes away by itself: what; why and the next step."""
    step = f"→ {trouble.next_step}" if trouble.next_step else ""
    rest = "\n".join(filter(None, (trouble.why, step)))
    return (inert(trouble.what), inert(rest)) if rest else ("", inert(trouble.what))


class NoteView(BlockView):
    """A note, or the card of a failure."""

    @property
    def has_stops(self) -> bool:
        """The keys act on a card."""
        return self._is_card

    @property
    def _is_card(self) -> bool:
        """True if it failed; what was only cut short has a next step if it is a trouble."""
        block = self.block
        return block.state == "failed" or (block.state == "cut" and "\n" in block.text.strip())

    def _sync(self) -> int | None:
        if not self._changed():
            return None
        text = "\n".join(filter(None, (self.block.title, self.block.text.strip())))
        return self._put(self._card(failure(text)) if self._is_card else self._note(text))

    def _note(self, text: str) -> list[Line]:
        colour = {"cut": "warning", "failed": "error"}.get(self.block.state, "muted")
        style = theme.active().style(colour)
        rows = wrap([(flat(inert(text)), style)], self.inner - 2)
        lead = ["╌ ", *["  "] * (len(rows) - 1)]
        return [Line([(mark, style), *row]) for mark, row in zip(lead, rows, strict=True)]

    def _card(self, said: Failure) -> list[Line]:
        """The sign and the word tell how bad it is, without the colour."""
        palette = theme.active()
        failed = self.block.state == "failed"
        colour, glyph = ("error", "✗") if failed else ("warning", "!")
        head = palette.style(colour, more="bold")
        text, muted = palette.style("foreground"), palette.style("muted")
        lines = self._part(f" {glyph} ", [(one_line(said.what), head)])
        if said.why:
            lines += self._part("   ", [(flat(inert(said.why)), text)])
        if said.next_step:
            step = (one_line(said.next_step), palette.style("accent"))
            lines += self._part(" → ", [("next: ", muted), step])
        return lines + self._part("   ", [(_ways(), muted)])

    def _part(self, lead: str, pieces: list[Piece]) -> list[Line]:
        """Rows of the card; the sign stands before the first one."""
        style = pieces[-1][1]
        target = Target("card", self.index)
        rows = wrap(pieces, max(self.inner - len(lead) - 1, 1))
        leads = [lead, *["   "] * (len(rows) - 1)]
        return [
            Line([(mark, style), *row], "panel", target)
            for mark, row in zip(leads, rows, strict=True)
        ]


def _ways() -> str:
    """What helps after most failures, and the keys that do it."""
    ways = (
        (shown("switch"), "the other model"),
        ("/status", "the connection"),
        (shown("copy_block", "conversation"), "copies this card"),
    )
    return " · ".join(f"{key} {words}" for key, words in ways if key)

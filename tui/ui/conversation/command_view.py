"""Cards of the model's commands: what was asked for, what it says while it runs, how it ended."""

from __future__ import annotations

from rich.cells import cell_len

from tui.core.text.patterns import pattern
from tui.engine.notices import TaskView
from tui.ui import theme
from tui.ui.conversation.tool_views import RunView
from tui.ui.conversation.views import wait_words
from tui.ui.keymap import shown
from tui.ui.styled_text import Piece, StyledLine, clip, flat, inert, one_line, wrap

_LIVE_ROWS, _ENDED_ROWS = 6, 3
"""Lines of output of a folded card: while it runs, and where it ended well."""
_HEAD = 26
"""Cells of the head beside the command, about."""
_WORDS = 40
"""Cells of how it ended."""
_END = pattern(r"\[(?P<words>[^\[\]\n]*?)(?: after (?P<time>[\d.]+ s))?\]\n?$")
_END_CHARS = 200
ACTIONS = (("background", "background"), ("stop", "stop"))
"""Of the scope "command", and their words on the card."""


class CommandView(RunView):
    """A command of the model: it waits for the user, runs, or has ended."""

    @property
    def runs(self) -> bool:
        """True while it has not ended."""
        return self.block.state == "open"

    @property
    def task(self) -> TaskView | None:
        """What it is while it runs."""
        task = self.context.task(self.block.call_id) if self.runs else None
        return None if task is None or task.ended else task

    @property
    def actions(self) -> tuple[tuple[str, str], ...]:
        """See `BlockView.actions`."""
        if (task := self.task) is None:
            return ()
        return ACTIONS[task.background :]

    @property
    def _has_keys(self) -> bool:
        focus = self.context.focus
        return focus.has_keys and focus.block == self.index

    @property
    def _waits(self) -> bool:
        """The user is asked about it."""
        if not self.runs or self.block.length:
            return False
        title = one_line(self.block.title)
        return any(one_line(ask.command) == title for ask in self.context.asks() if ask.command)

    def _signature(self) -> tuple[object, ...]:
        return (*super()._signature(), self._has_keys, self.actions)

    def _most_lines(self) -> int:
        most = super()._most_lines()
        if not self.folded or self.block.state == "failed":
            return most
        return min(most, _LIVE_ROWS if self.runs else _ENDED_ROWS)

    @property
    def _is_footed(self) -> bool:
        return bool(self._end()[0])

    def _end(self) -> tuple[str, str]:
        """How it ended, and after how long, as its last line says; empty: it has not."""
        block = self.block
        if block.state == "open":
            return "", ""
        found = _END.search(block.text_since(block.length - _END_CHARS))
        return (found["words"], found["time"] or "") if found else ("", "")

    def _told(self) -> list[StyledLine]:
        """All of a long command, where it is unfolded."""
        palette, block = theme.active(), self.block
        if self.folded:
            return super()._told()
        bar, words = ("│ ", palette.style("line")), flat(inert(block.title))
        rows = wrap([(words, palette.style("foreground"))], self.inner - 2)
        whole = len(rows) == 1 and cell_len(words) < self.inner - _HEAD
        lines = [] if whole else [StyledLine([bar, *row]) for row in rows]
        return [*lines, *super()._told()]

    def _lasted(self) -> str:
        """Counts while it runs."""
        if (task := self.task) is not None:
            return wait_words(self.context.now() - task.began_s)
        return self._end()[1].removeprefix("0.0 s")

    def _ending(self) -> tuple[str, str]:
        if self._waits:
            return "? waits for you", "warning"
        if self.runs:
            task = self.task
            if task is None:
                return "…", "muted"
            return ("background", "accent") if task.background else ("running", "warning")
        words = clip(one_line(self._end()[0]), _WORDS)
        words = words or {"failed": "not run"}.get(self.block.state, "")
        glyph, colour = {"done": ("✓", "success"), "failed": ("✗", "error")}.get(
            self.block.state, ("■", "warning")
        )
        return f"{glyph} {words}".rstrip() if words else super()._ending()[0], colour

    def _foot(self) -> list[StyledLine]:
        """What can be done: by keys while they are here, by the mouse always."""
        palette, lit = theme.active(), self._has_keys
        if not (actions := self.actions):
            return []
        pieces: list[Piece] = [("╰ ", palette.style("line"))]
        if not lit:
            pieces.append((f"{shown('show_conversation')}: ", palette.style("faint")))
        for action, words in actions:
            key = shown(action, "command")
            pieces += [
                (key, palette.style("accent", more="bold") if lit else palette.style("muted")),
                (f" {words}", palette.style("muted" if lit else "faint")),
                ("   ", palette.style("faint")),
            ]
        return [StyledLine(pieces)]

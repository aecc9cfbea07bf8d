"""Messages that wait until the answer is done: seen, numbered, and taken back by a click."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events

from tui.ui import theme
from tui.ui.messages import TakenBack
from tui.ui.rows import Line, clip, one_line
from tui.ui.widgets.rows_box import RowsBox

_MOST = 4


class QueueBox(RowsBox):
    """The queue, above the prompt."""

    def show(self, queued: Sequence[str]) -> None:
        """Show these messages."""
        palette = theme.active()
        lines = []
        more = f" +{len(queued) - _MOST} more" if len(queued) > _MOST else ""
        hint = f"{more}  Alt+↑ edits"
        for index, text in enumerate(queued[:_MOST]):
            words = clip(one_line(text), max(self.size.width - 12 - len(hint), 12))
            lines.append(
                Line(
                    [
                        (f"  {index + 1} ", palette.style("accent")),
                        ("queued ", palette.style("faint")),
                        (words, palette.style("muted")),
                    ]
                )
            )
        if lines:
            lines[-1].pieces.append((hint, palette.style("faint")))
        self.show_lines(lines)

    def on_click(self, event: events.Click) -> None:
        """Take this one back."""
        self.post_message(TakenBack(event.y))

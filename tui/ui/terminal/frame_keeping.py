"""The picture of now without its text, kept for the next start (`tui.kept_frame`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.widget import Widget

from tui import kept_frame
from tui.ui.painting.ink import segment_bytes
from tui.ui.terminal.driver import LEAVE, TerminalDriver

if TYPE_CHECKING:
    from tui.ui.painting.screen import PaintedScreen
    from tui.ui.terminal.terminal_app import TerminalApp

_LINES = frozenset("▏▕│─┌┐└┘╭╮╰╯├┤┬┴┼")
"""What panes are framed with."""


def keep_frame(
    app: TerminalApp,
    screen: PaintedScreen,
    header: tuple[Widget, Collection[str]],
    watched: Iterable[str],
) -> None:
    """Keep what the next start may show at once.

    ``header``: words in it that are true as long as folder and command line are the same.
    ``watched``: the files by which all is painted.
    """
    driver = app._driver
    if app.screen is not screen or not isinstance(driver, TerminalDriver) or not driver.entered:
        return
    leaving = app.replies.goodbye() + LEAVE
    texts = (driver.entered, _bare(screen, *header), leaving)
    kept_frame.keep((app.size.width, app.size.height), texts, watched)


def _bare(screen: PaintedScreen, header: Widget, words: Collection[str]) -> str:
    """The frame's bytes: the colours of every part, the frames around them, and these words."""
    rows: list[str] = []
    whole = header.parent
    assert isinstance(whole, Widget)
    for y, row in enumerate(screen.rows_of(whole)):
        segments = list[Segment]()
        for place, strip in row:
            kept = words if place.widget is header else ()
            lines = _LINES if place.widget.children else frozenset[str]()
            segments += [_bare_segment(segment, kept, lines) for segment in strip]
        rows.append(f"\x1b[{y + 1};1H{segment_bytes(segments, 0)}")
    return "\x1b[?2026h" + "".join(rows) + "\x1b[1;1H\x1b[?2026l"


def _bare_segment(segment: Segment, words: Collection[str], lines: Collection[str]) -> Segment:
    """The same cells, with nothing in them but a whole word or lines."""
    text, style, _ = segment
    if text.strip() in words:
        return Segment(text, style)
    bare = "".join([sign if sign in lines else " " * cell_len(sign) for sign in text])
    if style is not None and not bare.strip():
        style = Style(bgcolor=style.bgcolor)
    return Segment(bare, style)

"""A piece of everything in the colours of a theme: code with hunks, a diff, words, the meter.

The editor's and the diff's own painters paint it, so that what is shown is what will be seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from textual.strip import Strip

from tui.ui import theme
from tui.ui.editor.paint import Frame, Painter, Row
from tui.ui.highlight.lines import Spans
from tui.ui.review.document import Side
from tui.ui.review.paint import DiffPainter, Inked, Painted, Sheet
from tui.ui.rows import make_strip
from tui.ui.theming.palette import Palette
from tui.ui.widgets.painted import Painted as PaintedWidget

_CODE = (
    ("class Cache:", ""),
    ('    """Keeps the newest values."""', ""),
    ("    def put(self, key: str) -> None:", ""),
    ("        self._lock = RLock()  # both", "accepted"),
    ("        self._size = max(8, limit)", "pending"),
    ("        self._old = None", "struck"),
    ("        raise Full(f'{key!r} at {n}')", "landing"),
)
_FIRST = 9
"""The number of the first line."""
_SELECTED = 2
_REMOVED, _ADDED = "    with self._lock:", "    with self._gate, limit(1.5):"
_DIFFERS_OLD, _DIFFERS_NEW = (14, 19), (14, 31)
_STATES: tuple[tuple[str, str], ...] = (
    ("✓ accepted", "hunk-accepted"),
    ("● pending", "hunk-pending"),
    ("▸ landing", "hunk-landing"),
    ("◐ partial", "hunk-partial"),
    ("✗ rejected", "hunk-struck"),
    ("! conflict", "hunk-conflict"),
)
_METER: tuple[tuple[str, str], ...] = (
    (" ~1,043", "meter-rate"),
    (" tok/s ", "muted"),
    ("▁▃▅▇█▇ ", "meter-spark"),
    ("├──┴──", "meter-scale"),
    ("◆", "meter-mark"),
    ("─┤", "meter-scale"),
    (" ghost 7% ", "meter-ghost"),
    ("●", "meter-online"),
    (" 3 ms", "muted"),
)
_SAID: tuple[tuple[tuple[str, str], ...], ...] = (
    ((" ▌ ", "you"), ("make it safe for threads", "foreground")),
    ((" fast  ", "fast"), ("One lock, and a limit. ", "foreground"), ("412 tok", "faint")),
    ((" deep  ", "deep"), ("Done. ", "foreground"), ("✓ 12 tests ", "success")),
    (("       ", ""), ("1 flag", "warning"), (" · ", "faint"), ("✗ 1 failed", "error")),
)


@lru_cache(maxsize=32)
def _spans(line: str) -> Spans:
    """The tokens of one line of the sample."""
    from pygments.lexers.python import PythonLexer  # loaded since the first paint, mostly

    found, at = [], 0
    for token, text in PythonLexer().get_tokens(line):
        if text.strip():
            found.append((at, at + len(text), token))
        at += len(text)
    return tuple(found)


def sample_strips(palette: Palette, width: int) -> list[Strip]:
    """All rows of the sample, ``width`` cells wide."""
    rule = _row(palette, (("─" * width, "line"),), width)
    return [
        *(_row(palette, words, width) for words in _SAID),
        rule,
        *_code(palette, width),
        rule,
        *_diff(palette, width),
        rule,
        *_states(palette, width),
        _row(palette, _METER, width, "panel"),
    ]


def _row(
    palette: Palette, words: tuple[tuple[str, str], ...], width: int, back: str = "background"
) -> Strip:
    """One row of words in their colours."""
    pieces = [(text, palette.style(colour)) for text, colour in words]
    return make_strip(pieces, width, palette.style("foreground", back))


def _code(palette: Palette, width: int) -> Iterator[Strip]:
    """Lines as the editor paints them, with a selection and the pen."""
    painter, frame = Painter(palette), Frame(width, 0, 2)
    for index, (line, kind) in enumerate(_CODE):
        chosen = ((4, 20, "selection"),) if index == _SELECTED else ()
        yield painter.strip(
            Row(
                text=line,
                number=_FIRST + index,
                kind=kind,
                spans=_spans(line),
                overlays=chosen,
                current=index == _SELECTED,
                pen=kind == "landing",
            ),
            frame,
        )


def _diff(palette: Palette, width: int) -> Iterator[Strip]:
    """A line before and after, with the words that differ."""
    painter, sheet = DiffPainter(palette), Sheet(width, 0, 2, split=False)
    old = Inked(Side("removed", 12, _REMOVED, 0, (_DIFFERS_OLD,)), _spans(_REMOVED))
    new = Inked(Side("added", 12, _ADDED, 0, (_DIFFERS_NEW,)), _spans(_ADDED))
    yield painter.line(Painted(old, None, "", chosen=False), sheet)
    yield painter.line(Painted(None, new, "", chosen=False), sheet)


def _states(palette: Palette, width: int) -> Iterator[Strip]:
    """The states of hunks, as many a row as fit."""
    row: list[tuple[str, str]] = []
    used = 0
    for text, colour in _STATES:
        if used + len(text) + 2 > width:
            yield _row(palette, tuple(row), width)
            row, used = [], 0
        row.append((f" {text} ", colour))
        used += len(text) + 2
    yield _row(palette, tuple(row), width)


class Sample(PaintedWidget):
    """The sample in the colours that are painted with now."""

    def __init__(self) -> None:
        super().__init__(id="theme-sample")
        self._strips: list[Strip] = []
        self._made_for: tuple[Palette, int] | None = None

    def render_line(self, y: int) -> Strip:
        """A row of it, blank below its end."""
        palette, width = theme.active(), self.size.width
        if self._made_for != (palette, width):
            self._strips = sample_strips(palette, width)
            self._made_for = (palette, width)
        if y < len(self._strips):
            return self._strips[y]
        return make_strip([], width, palette.style("foreground", "background"))

"""Choose a theme: the app previews what is lit; Enter keeps it, Esc brings the old one back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Input, Static

from tui.ui import theme
from tui.ui.editor.paint import EditorRow, RowFrame, RowPainter
from tui.ui.finding.pick_list import PickList
from tui.ui.highlight.lines import Spans
from tui.ui.review.document import DiffSide
from tui.ui.review.paint import ColouredSide, DiffPainter, LineFormat, PaintedLine
from tui.ui.styled_text import Piece, clip, make_strip, one_line, spread
from tui.ui.stylesheets import sheet
from tui.ui.theming.contrast_check import least_contrast
from tui.ui.theming.palette import Palette
from tui.ui.theming.theme_file import ThemeReading
from tui.ui.theming.theme_manager import AUTO, ThemeManager
from tui.ui.widgets.field import Field
from tui.ui.widgets.painted import PaintedWidget

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
    ("◐ cut", "hunk-cut"),
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
    painter, frame = RowPainter(palette), RowFrame(width, 0, 2)
    for index, (line, kind) in enumerate(_CODE):
        chosen = ((4, 20, "selection"),) if index == _SELECTED else ()
        yield painter.strip(
            EditorRow(
                text=line,
                number=_FIRST + index,
                kind=kind,
                spans=_spans(line),
                overlays=chosen,
                current=index == _SELECTED,
                writing=kind == "landing",
            ),
            frame,
        )


def _diff(palette: Palette, width: int) -> Iterator[Strip]:
    """A line before and after, with the words that differ."""
    painter, sheet = DiffPainter(palette), LineFormat(width, 0, 2, split=False)
    old = ColouredSide(DiffSide("removed", 12, _REMOVED, 0, (_DIFFERS_OLD,)), _spans(_REMOVED))
    new = ColouredSide(DiffSide("added", 12, _ADDED, 0, (_DIFFERS_NEW,)), _spans(_ADDED))
    yield painter.line(PaintedLine(old, None, "", chosen=False), sheet)
    yield painter.line(PaintedLine(None, new, "", chosen=False), sheet)


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


_SWATCH = ("accent", "fast", "deep", "success", "error")
_ROOM_FOR_SAMPLE = 72
"""Cells of the screen from which the sample stands beside the list."""


class ThemeEntry(NamedTuple):
    """One row of the list."""

    choice: str
    title: str
    kind: str
    """``dark``, ``light``, or what ``auto`` chooses from."""
    reading: ThemeReading | None = None
    """None of ``auto``."""

    def fits(self, words: str) -> bool:
        """Whether all these words are in it."""
        whole = f"{self.choice} {self.title} {self.kind}".casefold()
        return all(word in whole for word in words.casefold().split())


def entries(themes: ThemeManager) -> list[ThemeEntry]:
    """``auto`` and all themes; the dark ones come first."""
    found = []
    for name in theme.theme_names():
        reading = theme.library.reading(name)
        palette = reading.palette
        kind = "dark" if palette.dark else "light"
        found.append(ThemeEntry(name, one_line(palette.title), kind, reading))
    found.sort(key=lambda entry: (entry.choice != theme.DEFAULT_THEME, entry.kind, entry.choice))
    pair = themes.pair
    return [ThemeEntry(AUTO, "Auto", f"{pair.dark}, {pair.light}"), *found]


class ThemeList(PickList[ThemeEntry]):
    """The themes, one a row, each with a swatch of its own colours."""

    WHEEL_ROWS = 1

    def __init__(self) -> None:
        super().__init__()
        self.id = "theme-list"

    def on_resize(self) -> None:
        """The lit one stays in sight."""
        self.step(0)

    def row(self, item: ThemeEntry, width: int, back: str) -> list[Segment]:
        """Its title, what it is, its colours."""
        style, lit = theme.active().style, item is self.chosen
        right = [(f"{clip(item.kind, 16)} ", style("muted", back)), *self._swatch(item)]
        room = width - sum(cell_len(text) for text, _ in right) - 1
        title = clip(item.title, max(room, 6))
        left = [(title, style("foreground", back, "bold" if lit else ""))]
        return [*make_strip(spread(left, right, width), width, style("foreground", back))]

    def _swatch(self, entry: ThemeEntry) -> list[Piece]:
        """Five colours on the theme's own background; none where ``auto`` leaves it open."""
        if entry.reading is None or self.size.width < 30:
            return []
        own = entry.reading.palette
        blank = (" ", own.style("", "background"))
        return [blank, *(("●", own.style(name, "background")) for name in _SWATCH), blank]

    def on_click(self, event: events.Click) -> None:
        """Preview what is clicked; what is previewed already is kept."""
        event.stop()
        event.prevent_default()
        index = self._top + event.y
        if index < len(self._items):
            kept = index == self._at
            self.step(index - self._at)
            self.post_message(self.Chosen() if kept else self.Lit())


class ThemeChooser(ModalScreen[None]):
    """Moving previews, Enter keeps, Esc restores."""

    CSS_PATH = sheet("chooser")
    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "restore", show=False, priority=True),
        Binding("up", "step(-1)", show=False, priority=True),
        Binding("down", "step(1)", show=False, priority=True),
        Binding("pageup", "step(-8)", show=False, priority=True),
        Binding("pagedown", "step(8)", show=False, priority=True),
    ]

    def __init__(self, themes: ThemeManager) -> None:
        """``themes`` colours the app behind the list."""
        super().__init__()
        self._themes = themes
        self._before = themes.choice
        self._all = entries(themes)
        self._list = ThemeList()
        self._sample = Sample()
        self._status = Static("", markup=False, id="theme-status")
        self._due = False
        """What is lit is about to be previewed."""
        self._over = False

    def compose(self) -> ComposeResult:
        """A field, the list with the sample beside it, what can be done."""
        with Vertical(id="theme-box"):
            yield Field(placeholder="a few letters of a theme, or: light")
            with Horizontal(id="theme-both"):
                yield self._list
                yield self._sample
            yield self._status

    def on_mount(self) -> None:
        """The theme in use is lit."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._recolour())
        self.query_one("#theme-box").border_title = "themes"
        self._show(self._all, self._before)
        self._tell()

    def _show(self, shown: Sequence[ThemeEntry], choice: str) -> None:
        at = next((at for at, one in enumerate(shown) if one.choice == choice), 0)
        self._list.show(shown, at)

    def on_unmount(self) -> None:
        """Textual's signal would keep it."""
        self.app.theme_changed_signal.unsubscribe(self)

    def on_resize(self, event: events.Resize) -> None:
        """The sample stands beside the list where there is room; else the app itself is one."""
        self.set_class(event.size.width < _ROOM_FOR_SAMPLE, "-narrow")

    def action_step(self, rows: int) -> None:
        """Preview another one."""
        self._list.step(rows)
        self._preview()

    def action_restore(self) -> None:
        """Close, with the theme of before."""
        self._over = True
        if self._themes.choice != self._before:
            self._themes.preview(self._before)
        self.dismiss(None)

    @on(ThemeList.Lit)
    def _lit(self, event: ThemeList.Lit) -> None:
        event.stop()
        self._preview()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        found = [entry for entry in self._all if entry.fits(event.value)]
        self._show(found, self._themes.choice if event.value else self._before)
        self._preview()

    @on(Input.Submitted)
    @on(ThemeList.Chosen)
    def _entered(self, event: Message) -> None:
        event.stop()
        if (lit := self._list.chosen) is not None:
            self._over = True
            self._themes.choose(lit.choice)
            self.dismiss(None)

    def _preview(self) -> None:
        """Apply what is lit as soon as there is time: a held key moves the list meanwhile."""
        self._tell()
        if not self._due:
            self._due = True
            self.call_after_refresh(self._apply)

    def _apply(self) -> None:
        """Apply what is lit; where nothing is, what was there before."""
        self._due = False
        if self._over:
            return
        lit = self._list.chosen
        choice = self._before if lit is None else lit.choice
        if choice != self._themes.choice:
            self._themes.preview(choice)

    def _recolour(self) -> None:
        """Renderers have another palette now."""
        self._list.refresh()
        self._sample.refresh()

    def _tell(self) -> None:
        if self._list.chosen is None:
            self._status.update("no theme matches · Esc back")
            return
        self.query_one("#theme-box").border_subtitle = "↑↓ try · Enter keeps · Esc back"
        colourless = "this terminal shows no colours, so themes do not show"
        self._status.update(colourless if self.app.no_color else _said_of(self._list.chosen))


def _said_of(entry: ThemeEntry) -> str:
    """What is known of a theme, in one line."""
    reading = entry.reading
    if reading is None:
        return f"follows the terminal's background: {entry.kind.replace(', ', ' or ')}"
    words = [f"contrast of text {least_contrast(reading.palette):.1f}:1 or more"]
    if reading.source:
        words.append(f"colours of {reading.source}")
    if entry.choice in theme.library.own_names():
        words.append("your own file")
    if reading.complaints:
        count = len(reading.complaints)
        wrong = "1 mistake" if count == 1 else f"{count} mistakes"
        words.append(f"{wrong}: duetto theme check {entry.choice}")
    return one_line(" · ".join(words))

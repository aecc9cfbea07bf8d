"""The guide's panel: a few rows over the prompt, painted as rows."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.strip import Strip

from tui.ui import theme
from tui.ui.guide.lesson import STEPS, Step
from tui.ui.guide.words import Said
from tui.ui.rows import Piece, clip, make_strip, one_line, wrap
from tui.ui.widgets.painted import Painted

_LEAST_ROWS, _MOST_ROWS = 2, 7
_BAR = "▌ "
_ROWS_BESIDE = 3
"""Header, status line and footer."""


class GuidePanel(Painted):
    """Shows one page; how many rows it takes follows from the screen's height."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._said = Said("", [])
        self._figures: Sequence[tuple[str, str]] = ()
        self._at: Step | None = STEPS[0]
        self._way_out = ""
        self._rows: list[list[Piece]] = []
        self._height = 0
        """Of the screen, when the rows were made."""

    def say(
        self,
        said: Said,
        at: Step | None,
        way_out: str,
        figures: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Show this page; ``at`` is the step, None at the end; ``way_out`` how to leave."""
        page = (said, at, way_out, figures)
        if page != (self._said, self._at, self._way_out, self._figures):
            self._said, self._at, self._way_out, self._figures = page
            self.remake()

    @property
    def text(self) -> str:
        """All that it shows, as plain text."""
        return "\n".join("".join(text for text, _ in row) for row in self._rows)

    def on_mount(self) -> None:
        """How many rows there are for it depends on the screen, not on its own size."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self.remake())
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self._fit())

    def on_unmount(self) -> None:
        """Textual's signals would keep it."""
        self.app.theme_changed_signal.unsubscribe(self)
        self.screen.screen_layout_refresh_signal.unsubscribe(self)

    def on_resize(self) -> None:
        """Another width breaks lines elsewhere."""
        self.remake()

    def remake(self) -> None:
        """Make the rows anew, and take as much room as they need."""
        self._height = self.screen.size.height
        width = self.size.width or self.screen.size.width
        self._rows = self._made(max(width - len(_BAR) - 1, 8), self._most())
        if self.styles.height is None or self.styles.height.value != len(self._rows):
            self.styles.height = len(self._rows)
        self.refresh()

    def _fit(self) -> None:
        """After a layout: a taller or lower screen has room for more or less."""
        if self.screen.size.height != self._height:
            self.remake()

    def render_line(self, y: int) -> Strip:
        """One row: a bar, and what is said."""
        palette = theme.active()
        base = palette.style("foreground", "panel")
        pieces = self._rows[y] if y < len(self._rows) else []
        bar = (_BAR, palette.style("accent"))
        return make_strip([bar, *pieces], self.size.width, base)

    def _most(self) -> int:
        """How many rows there is room for; the end may take more."""
        height = self.screen.size.height - _ROWS_BESIDE
        share = height // 2 if self._at is None else height // 4
        return max(min(share, _MOST_ROWS + len(self._figures)), _LEAST_ROWS)

    def _made(self, width: int, most: int) -> list[list[Piece]]:
        """What to do comes first, then where one is, then what happened, then why."""
        palette = theme.active()
        text, muted = palette.style("foreground"), palette.style("muted")
        key = palette.style("accent", more="bold")
        styles = {"text": text, "key": key}
        to_do = wrap([(one_line_of(part), styles[tone]) for part, tone in self._said.to_do], width)
        to_do = to_do[:most]
        room = most - len(to_do)
        title = [self._title(width)] if room > 0 else []
        room -= len(title)
        happened: list[list[Piece]] = []
        if self._said.happened and room > 0:
            sign, colour = ("✓", "success") if self._said.is_good else ("·", "warning")
            words = f"{sign} {one_line(self._said.happened)}"
            happened = wrap([(words, palette.style(colour))], width)[:room]
        room -= len(happened)
        more = self._table(width) if self._at is None else []
        if self._said.why:
            more = wrap([(one_line(self._said.why), muted)], width)
        if self._at is not None:
            more = more if len(more) <= room else []  # half a sentence explains nothing
            return [*title, *happened, *to_do, *more]
        return [*title, *happened, *more[: max(room, 0)], *to_do]

    def _title(self, width: int) -> list[Piece]:
        palette = theme.active()
        at = len(STEPS) if self._at is None else STEPS.index(self._at)
        pieces: list[Piece] = [("guide  ", palette.style("accent", more="bold"))]
        if width >= 44:
            dots = "●" * at + "◆" * (at < len(STEPS)) + "·" * (len(STEPS) - at - 1)
            pieces += [(f"{dots}  ", palette.style("accent"))]
        used = sum(cell_len(text) for text, _ in pieces)
        title = clip(self._said.title, width - used)
        pieces.append((title, palette.style("foreground")))
        room = width - used - cell_len(title)
        if self._way_out and room > cell_len(self._way_out) + 1:
            blank = " " * (room - cell_len(self._way_out))
            pieces.append((f"{blank}{self._way_out}", palette.style("faint")))
        return pieces

    def _table(self, width: int) -> list[list[Piece]]:
        """The figures, their names in a column."""
        palette = theme.active()
        column = max((cell_len(name) for name, _ in self._figures), default=0) + 2
        return [
            [
                (f"{name:<{column}}", palette.style("muted")),
                (clip(figure, max(width - column, 1)), palette.style("foreground", more="bold")),
            ]
            for name, figure in self._figures
        ]


def one_line_of(text: str) -> str:
    """`one_line`, with the blanks at its ends: it is a part of a sentence."""
    inner = one_line(text)
    head = " " if text[:1] == " " else ""
    tail = " " if text[-1:] == " " and inner else ""
    return f"{head}{inner}{tail}"

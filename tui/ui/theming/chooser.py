"""Choose a theme: the app previews what is lit; Enter keeps it, Esc brings the old one back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual import events

from tui.ui import theme
from tui.ui.finding.pick_list import PickList, PickScreen
from tui.ui.styled_text import Piece, clip, one_line
from tui.ui.theming.contrast_check import least_contrast
from tui.ui.theming.theme_file import ThemeReading
from tui.ui.theming.theme_manager import AUTO, ThemeManager

_SWATCH = ("accent", "fast", "deep", "success", "error")


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

    def on_resize(self) -> None:
        """The lit one stays in sight."""
        self.step(0)

    def row(self, item: ThemeEntry, width: int) -> tuple[list[Piece], list[Piece]]:
        """Its title, what it is, its colours."""
        style, lit = theme.active().style, item is self.chosen
        right = [(f"{clip(item.kind, 16)} ", style("muted")), *self._swatch(item)]
        room = width - sum(cell_len(text) for text, _ in right) - 1
        title = clip(item.title, max(room, 6))
        return [(title, style("foreground", more="bold" if lit else ""))], right

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


class ThemeChooser(PickScreen[None]):
    """Moving previews, Enter keeps, Esc restores."""

    placeholder = "a few letters of a theme, or: light"

    def __init__(self, themes: ThemeManager) -> None:
        """``themes`` colours the app behind the list."""
        super().__init__()
        self._themes = themes
        self._before = themes.choice
        self._all = entries(themes)
        self._list = ThemeList()
        self._box.border_title = "themes"
        self._due = False
        """What is lit is about to be previewed."""
        self._over = False

    def on_mount(self) -> None:
        """The theme in use is lit."""
        self._show(self._all, self._before)
        self._tell()

    def _show(self, shown: Sequence[ThemeEntry], choice: str) -> None:
        at = next((at for at, one in enumerate(shown) if one.choice == choice), 0)
        self._list.show(shown, at)

    def action_leave(self) -> None:
        """Close, with the theme of before."""
        self._over = True
        if self._themes.choice != self._before:
            self._themes.preview(self._before)
        self.dismiss(None)

    def look_for(self, words: str) -> None:
        """Show those that have the words, and preview the one that is lit then."""
        found = [entry for entry in self._all if entry.fits(words)]
        self._show(found, self._themes.choice if words else self._before)
        self.lit()

    def action_take(self) -> None:
        """Close, and keep what is lit."""
        if (lit := self._list.chosen) is not None:
            self._over = True
            self._themes.choose(lit.choice)
            self.dismiss(None)

    def lit(self) -> None:
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

    def _tell(self) -> None:
        if self._list.chosen is None:
            self._status.update("no theme matches · Esc back")
            return
        self._box.border_subtitle = "↑↓ try · Enter keeps · Esc back"
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

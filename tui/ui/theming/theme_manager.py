"""Applies themes to the app: the chosen one, another for a look, files that have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tui.errors import SettingsError
from tui.ui import theme
from tui.ui.styled_text import one_line
from tui.ui.theming.theme_file import LACKS

if TYPE_CHECKING:
    from textual.app import App

    from tui.ui.theming.palette import Palette
    from tui.ui.theming.theme_file import ThemeReading


AUTO = "auto"
"""Follow the terminal's background."""

Told = Callable[[], None]


def theme_manager_of(app: App[Any]) -> ThemeManager:
    """The manager that duetto's app has; for another app (a test's) a new one."""
    found = getattr(app, "themes", None)
    return found if isinstance(found, ThemeManager) else ThemeManager(app, theme.active().name)


class ThemePair(NamedTuple):
    """What ``auto`` chooses from."""

    light: str = "paper"
    dark: str = theme.DEFAULT_THEME

    def on(self, dark: bool | None) -> str:
        """The one for a background; of an unknown one it is taken to be dark."""
        return self.light if dark is False else self.dark


def _why(empty: ThemeReading) -> str:
    """Why nothing in a file could be read: what is wrong in it first."""
    for one in empty.complaints:
        if not one.words.startswith(LACKS):
            return str(one)
    return f"{empty.complaints[0].file}: no colour is set in it."


class ThemeManager:
    """The app's themes; it belongs to one app."""

    def __init__(self, app: App[Any], name: str) -> None:
        """Applies ``name``. Raises SettingsError: there is no such theme."""
        self._app = app
        self.pair = ThemePair()
        self.auto = False
        """The theme follows the terminal's background."""
        self.dark: bool | None = None
        """The terminal's background, as far as it is known."""
        self.keep: Callable[[str], None] = lambda name: None
        """Remembers a choice for the next time."""
        self.watch: Callable[[Told], Awaitable[None]] | None = None
        """Tells of changes in the user's folder, until cancelled."""
        self._said = ""
        self._apply_palette(theme.activate(name))

    @property
    def choice(self) -> str:
        """What was chosen: ``auto`` or a theme."""
        return AUTO if self.auto else self._app.theme

    def background_is(self, dark: bool | None) -> None:
        """The terminal said what is behind the text."""
        self.dark = dark
        if self.auto:
            self._apply(self.pair.on(dark))

    def preview(self, choice: str) -> bool:
        """Show the app in a theme, or as ``auto`` would; nothing is kept.

        False: its file can no longer be read, which is said.
        """
        if not self._apply(self.pair.on(self.dark) if choice == AUTO else choice):
            return False
        self.auto = choice == AUTO
        return True

    def choose(self, choice: str) -> None:
        """Apply a theme, or ``auto``, and keep it for the next time."""
        if self.preview(choice):
            self.keep(choice)

    def register_all(self) -> None:
        """Textual knows all themes from now on."""
        for name in theme.theme_names():
            self._register(name)

    async def look_after(self) -> None:
        """Files that change in the user's folder are applied anew, until cancelled."""
        if self.watch is None:
            return
        changed = asyncio.Event()
        watching = asyncio.ensure_future(self.watch(changed.set))
        news = asyncio.ensure_future(changed.wait())
        try:
            while not watching.done():
                await asyncio.wait({watching, news}, return_when=asyncio.FIRST_COMPLETED)
                if news.done():
                    changed.clear()
                    news = asyncio.ensure_future(changed.wait())
                    await self.reload()
        finally:
            watching.cancel()
            news.cancel()

    async def reload(self) -> None:
        """Read the user's files again; what is wrong with the one in use is said."""
        before = theme.active()
        theme.library.forget()
        await asyncio.to_thread(theme.library.complaints)
        name = self._app.theme
        try:
            reading = theme.library.reading(name)
        except SettingsError as error:
            self._say(f"{error} It stays on until you choose another one.")
            return
        if reading.empty:  # half written; the colours of before stay
            self._say(f"{_why(reading)}\nThe colours stay as they are.")
            return
        said = [str(complaint) for complaint in reading.complaints]
        self._say("\n".join(said[:3]) + (f"\nand {len(said) - 3} more" if said[3:] else ""))
        if reading.palette.colours != before.colours or reading.palette.faces != before.faces:
            self._apply_palette(theme.activate(name))
            self._app.mutate_reactive(type(self._app).theme)

    def recolour(self) -> Palette | None:
        """Textual's theme changed: renderers paint with it; None if it is not one of ours."""
        try:
            return theme.activate(self._app.theme)
        except SettingsError:
            return None

    def _apply(self, name: str) -> bool:
        there = self._register(name)
        if there:
            self._app.theme = name
        return there

    def _register(self, name: str) -> bool:
        try:
            self._app.register_theme(theme.cached_theme(name).textual_theme())
        except SettingsError as error:
            self._say(str(error))
            return False
        return True

    def _apply_palette(self, palette: Palette) -> None:
        self._app.register_theme(palette.textual_theme())
        self._app.theme = palette.name

    def _say(self, words: str) -> None:
        """Once, as long as it is true."""
        if words and words != self._said and self._app.is_running:
            shown = "\n".join(one_line(line) for line in words.splitlines())
            self._app.notify(shown, severity="warning", markup=False, timeout=10)
        self._said = words

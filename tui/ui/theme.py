"""Colours: the theme that is painted with, and the others that there are.

``themes/*.toml`` and the files of the user's own folder are read, checked and completed in
`tui.ui.theming`; renderers ask `active` for a `Palette`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tui.ui.theming.library import DEFAULT_THEME as DEFAULT_THEME
from tui.ui.theming.library import Library
from tui.ui.theming.library import themes_dir as themes_dir
from tui.ui.theming.palette import Palette as Palette
from tui.ui.theming.theme_file import Complaint as Complaint

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from rich.style import Style

library = Library()
"""All themes of this process."""
_active: list[Palette] = []


def theme_names(folder: Traversable | None = None) -> list[str]:
    """The themes that there are, the default first; or those of a folder."""
    return library.names() if folder is None else Library(folder).names()


def read_theme(name: str, folder: Traversable | None = None) -> Palette:
    """Read a theme anew; what is wrong in its file is left out.

    Raises SettingsError: there is no such theme, or its file cannot be read.
    """
    return (Library(folder) if folder is not None else Library()).reading(name).palette


def cached_theme(name: str) -> Palette:
    """A theme, the user's own among them. Raises SettingsError as `read_theme`."""
    return library.reading(name).palette


def active() -> Palette:
    """The palette that renderers paint with now; the default theme until one was chosen."""
    if not _active:
        _active.append(cached_theme(DEFAULT_THEME))
    return _active[0]


def activate(name: str) -> Palette:
    """Paint with this theme from now on. Raises SettingsError."""
    _active[:] = [cached_theme(name)]
    return _active[0]


def own_folder(folder: Path | None) -> None:
    """Where the user's own themes are; called before the app is made."""
    library.own_folder(folder)


def complaints() -> list[Complaint]:
    """What is wrong in the files of the user's own folder."""
    return library.complaints()


def syntax_style(token: object) -> Style:
    """The active theme's style of a Pygments token type."""
    return active().syntax_style(token)

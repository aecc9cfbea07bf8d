"""``duetto theme``: the themes that there are, what is wrong in a file, a copy to begin with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui import toml_tables
from tui.core.inert_text import inert
from tui.errors import EXIT_FAILED, EXIT_OK, SettingsError, UsageError
from tui.settings import Paths

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from tui.ui.theme import ThemeLibrary
    from tui.ui.theming.theme_file import ThemeReading


@click.group("theme")
def theme_command() -> None:
    """List the themes, check a file of your own, or copy one to begin with.

    Your own are TOML files in the folder themes/ beside config.toml.
    """


@theme_command.command("list")
def list_command() -> int:
    """Name all themes: dark or light, and the contrast of the text that is hardest to read."""
    from tui.ui.theming.contrast_check import least_contrast

    library = _library()
    own, width = library.own_names(), max(map(len, library.names()))
    for name in library.names():
        palette = library.reading(name).palette
        kind = "dark " if palette.dark else "light"
        where = "  yours" if name in own else ""
        contrast = f"{least_contrast(palette):>4.1f}:1"
        click.echo(f"{name:<{width}}  {kind}  {contrast}  {inert(palette.title)}{where}")
    return EXIT_OK


@theme_command.command("check")
@click.argument("which", nargs=-1, metavar="[NAME | FILE ...]")
def check_command(which: Sequence[str]) -> int:
    """Say what is wrong in a theme, with its line, and which text cannot be read well (WCAG AA).

    Without a name all files of your own folder are checked. Exit status 1: something is wrong.
    """
    library = _library()
    names = which or library.own_names()
    if not names:
        click.echo(f"there are no themes of your own in {library.own}", err=True)
    wrong = 0
    for name in names:
        found = [inert(line) for line in _wrong_in(library, name)]
        for line in found:
            click.echo(line)
        if not found:
            click.echo(f"{inert(name)}: all is well")
        wrong += len(found)
    return EXIT_FAILED if wrong else EXIT_OK


@theme_command.command("copy")
@click.argument("name", metavar="NAME")
@click.argument("new", metavar="NEW")
def copy_command(name: str, new: str) -> int:
    """Copy the theme NAME into your own folder, as NEW.toml, to be changed there.

    A running duetto shows each change of the file it wears as soon as it is saved.
    """
    from tui.ui.theme import is_name

    library = _library()
    place = library.place(name)
    if place is None:
        names = ", ".join(library.names())
        raise UsageError(f"there is no theme {name!r}; there are {names}")
    if not is_name(new):
        raise UsageError(f"{new!r} cannot be a theme's name: use at most 40 letters, digits, . _ -")
    file = Paths.find().themes_dir / f"{new}.toml"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(_titled(place.read_text(encoding="utf-8"), new))
    except FileExistsError:
        raise UsageError(f"{file} is there already") from None
    except OSError as error:
        raise SettingsError(f"cannot write {file}: {error.strerror}") from error
    click.echo(f"{file}\nwear it with /theme {new}; check it with: duetto theme check {new}")
    return EXIT_OK


def _titled(text: str, title: str) -> str:
    """A theme's text under a title of its own: two of one title cannot be told apart in lists."""
    return re.sub(r"^title *=.*$", f'title = "{title}"', text, count=1, flags=re.MULTILINE)


def _library() -> ThemeLibrary:
    """With the user's own folder in it."""
    from tui.ui.theme import ThemeLibrary

    library = ThemeLibrary()
    library.own_folder(Paths.find().themes_dir)
    return library


_HAS_COLOURS = re.compile(r"^\s*(?:\[\s*(?:palette|syntax|hunk|meter|face)\s*\]|base\s*=)", re.M)
"""What every theme has one of."""


def _wrong_in(library: ThemeLibrary, which: str) -> Iterator[str]:
    """A sentence each: what is wrong in the file, then what does not read."""
    from tui.ui.theming.contrast_check import findings

    try:
        place, reading = _read(library, which)
    except SettingsError as error:
        yield str(error)
        return
    try:
        says_colours = bool(_HAS_COLOURS.search(place.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        says_colours = True  # the complaint says what it is
    if not says_colours:
        yield f"{place} is not a theme: it sets no colours (duetto theme copy NAME NEW makes one)"
        return
    for complaint in reading.complaints:
        yield str(complaint)
    if reading.empty and reading.complaints:
        return
    text = place.read_text(encoding="utf-8")
    for finding in findings(reading.palette):
        line = _line_of(text, finding.colour)
        yield f"{place}{f' line {line}' if line else ''}: {finding}"


def _line_of(text: str, colour: str) -> int:
    """Where a file sets a colour; 0: it does not."""
    section, _, name = colour.partition("-")
    key = (section, name) if section in ("syntax", "hunk", "meter") else ("palette", colour)
    line = toml_tables.line_of(text, key)
    there = text.splitlines()[line - 1 : line]
    return line if there and there[0].lstrip().startswith(key[1]) else 0


def _read(library: ThemeLibrary, which: str) -> tuple[Traversable, ThemeReading]:
    """A theme by name, or a file. Raises SettingsError."""
    from tui.ui.theme import read_file

    if (place := library.place(which)) is not None:
        return place, library.reading(which)
    file = Path(which)
    if not file.is_file():
        raise SettingsError(f"there is no theme and no file {which!r}")
    return file, read_file(file, file.stem, library.palette_or_none)

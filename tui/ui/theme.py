"""Colours: the theme that is painted with, and the others that there are.

``themes/*.toml`` and the files of the user's own folder are found here, read, checked and
completed in `tui.ui.theming.theme_file`; renderers ask `active` for a `Palette`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.text.patterns import pattern
from tui.errors import SettingsError
from tui.ui.theming.palette import Palette
from tui.ui.theming.theme_file import LIMIT_BYTES, ThemeComplaint, ThemeReading, reading

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

DEFAULT_THEME = "dusk"
_DEEPEST = 16
"""Themes that build on each other."""
_NAME = pattern(r"(?!auto$)[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def is_name(name: str) -> bool:
    """Whether a theme may be called so."""
    return _NAME.fullmatch(name) is not None


def themes_dir() -> Path:
    """Where duetto's own are: in the wheel beside the code, else in the checkout."""
    package = Path(__file__).resolve().parents[1]
    packed = package / "themes"
    return packed if packed.is_dir() else package.parent / "themes"


class _CircleError(Exception):
    """Themes build on each other."""


class ThemeLibrary:
    """Themes by name; each is read when it is first asked for."""

    def __init__(self, brought: Traversable | None = None) -> None:
        """``brought``: where duetto's own themes are; None: where they always are."""
        self._brought = brought or themes_dir()
        self.own: Path | None = None
        """The user's folder, whether it is there or not."""
        self._readings: dict[str, ThemeReading] = {}
        self._names: list[str] = []

    def own_folder(self, folder: Path | None) -> None:
        """Look in the user's folder as well; a theme there goes before duetto's of that name."""
        self.own = folder
        self.forget()

    def forget(self) -> None:
        """Files may have changed: read them again when they are asked for."""
        self._names = []
        self._readings.clear()

    def names(self) -> list[str]:
        """All of them, the default first, then by name."""
        if not self._names:
            own = (name for name in self.own_names() if self.own and _is_file(self.own, name))
            found = {*_stems(self._brought), *own}
            self._names = sorted(found, key=lambda name: (name != DEFAULT_THEME, name))
        return list(self._names)

    def own_names(self) -> list[str]:
        """Those of the user's folder, and what is called so and is no file."""
        return sorted(_stems(self.own)) if self.own is not None else []

    def odd_names(self) -> list[str]:
        """Files of the user's folder that look like themes and cannot be called by their name."""
        files = [] if self.own is None else _files(self.own)
        return sorted(name for name in files if not is_name(name[:-5]))

    def place(self, name: str) -> Traversable | None:
        """The file of a theme; None: there is no such theme."""
        here = [each for each in (self.own, self._brought) if each and name in _stems(each)]
        found = next((each for each in here if _is_file(each, name)), here[0] if here else None)
        return None if found is None else found / f"{name}.toml"

    def reading(self, name: str) -> ThemeReading:
        """A theme and what is wrong with its file; of one that cannot be read nothing is right.

        Raises SettingsError: there is no such theme.
        """
        found = self._readings.get(name)
        if found is None:
            found = self._readings[name] = self._read_or_blank(name)
        return found

    def _read_or_blank(self, name: str) -> ThemeReading:
        if name not in {*self.names(), *self.own_names()}:
            raise SettingsError(f"There is no theme {name!r}; there are {', '.join(self.names())}.")
        try:
            return self._read(name)
        except SettingsError as error:
            blank = reading("", name, "", lambda _: None)
            return blank._replace(complaints=(ThemeComplaint(f"{name}.toml", 0, str(error)),))

    def _read(self, name: str, above: tuple[str, ...] = ()) -> ThemeReading:
        place = self.place(name)
        if place is None:
            raise SettingsError(f"{name}.toml is gone")
        return read_file(place, name, lambda below: self._below(below, (*above, name)))

    def _below(self, name: str, above: tuple[str, ...]) -> Palette | None:
        """What a theme builds on; a user's theme may build on duetto's of its own name.

        Raises _CircleError, but for the theme that was asked for.
        """
        if name == above[-1] and name in self.own_names() and name in _stems(self._brought):
            return read_file(self._brought / f"{name}.toml", name, lambda _: None).palette
        if name in above:
            if len(above) > 1:
                raise _CircleError
            return None
        if len(above) > _DEEPEST:
            return None
        try:
            return self._read(name, above).palette
        except _CircleError:
            if len(above) > 1:
                raise
            return None
        except SettingsError:
            return None

    def palette_or_none(self, name: str) -> Palette | None:
        """A theme to build on; None: there is none, or it cannot be read."""
        return self._below(name, ("",))

    def complaints(self) -> list[ThemeComplaint]:
        """What is wrong in the files of the user's folder."""
        return [one for name in self.own_names() for one in self._of_own(name)]

    def _of_own(self, name: str) -> tuple[ThemeComplaint, ...]:
        try:
            return self.reading(name).complaints
        except SettingsError:  # it was not there when the themes were listed
            return ()


def read_file(place: Traversable, name: str, base: Callable[[str], Palette | None]) -> ThemeReading:
    """Read one file. Raises SettingsError: it cannot be read, or is no text."""
    try:
        if not place.is_file():
            raise SettingsError(f"{place} is not a file")
        with place.open("rb") as opened:
            data = opened.read(LIMIT_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"cannot read {place}: {error.strerror}") from error
    if len(data) > LIMIT_BYTES:
        raise SettingsError(f"{place} is larger than {LIMIT_BYTES >> 10} kB: not a theme")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SettingsError(f"{place} line {line}: not UTF-8; save it as UTF-8") from error
    return reading(text, name, str(place), base)


def _stems(folder: Traversable) -> set[str]:
    """The names of the themes in a folder."""
    return {name[:-5] for name in _files(folder) if is_name(name[:-5])}


def _is_file(folder: Traversable, name: str) -> bool:
    """No folder, no pipe and no device, nor a link to one; what may not be asked is read later."""
    try:
        return (folder / f"{name}.toml").is_file()
    except OSError:
        return True


def _files(folder: Traversable) -> list[str]:
    try:
        return [file.name for file in folder.iterdir() if file.name.endswith(".toml")]
    except OSError:
        return []


library = ThemeLibrary()
"""All themes of this process."""
_active: list[Palette] = []


def theme_names() -> list[str]:
    """The themes that there are, the default first."""
    return library.names()


def cached_theme(name: str) -> Palette:
    """A theme, the user's own among them. Raises SettingsError: there is no such theme."""
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

"""One theme's file, read leniently: what is wrong is told with its line, the rest is used.

A file has ``title``, ``dark``, ``base`` and ``source``, and the tables ``[palette]``, ``[syntax]``,
``[hunk]``, ``[meter]`` and ``[face]``. Only three palette colours must be there (background,
foreground, accent); what is missing is the base's, else mixed from what is there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tui import toml_tables
from tui.core.text.patterns import pattern
from tui.ui.theming.contrast import luminance, mixed, readable
from tui.ui.theming.palette import Palette

REQUIRED = ("background", "foreground", "accent")
"""The palette colours from which all others can be mixed."""
SECTIONS = ("palette", "syntax", "hunk", "meter")
"""The tables of colours in a theme's file."""

MIXES: dict[str, tuple[str, str, float]] = {
    # name: (from, towards, share); resolved in this order, so later rows may use earlier ones
    "surface": ("background", "foreground", 0.03),
    "panel": ("background", "foreground", 0.07),
    "line": ("background", "foreground", 0.18),
    "raised": ("background", "foreground", 0.16),
    "muted": ("foreground", "background", 0.40),
    "faint": ("foreground", "background", 0.62),
    "selection": ("background", "accent", 0.30),
    "cursor": ("accent", "accent", 0.0),
    "you": ("accent", "accent", 0.0),
    "fast": ("accent", "accent", 0.0),
    "deep": ("accent", "foreground", 0.4),
    "success": ("accent", "accent", 0.0),
    "warning": ("accent", "foreground", 0.3),
    "error": ("accent", "foreground", 0.1),
    "syntax-text": ("foreground", "foreground", 0.0),
    "syntax-comment": ("faint", "foreground", 0.0),
    "syntax-keyword": ("deep", "deep", 0.0),
    "syntax-string": ("success", "success", 0.0),
    "syntax-escape": ("fast", "fast", 0.0),
    "syntax-number": ("fast", "fast", 0.0),
    "syntax-constant": ("syntax-number", "syntax-number", 0.0),
    "syntax-function": ("accent", "accent", 0.0),
    "syntax-type": ("accent", "foreground", 0.3),
    "syntax-builtin": ("syntax-function", "syntax-function", 0.0),
    "syntax-decorator": ("warning", "warning", 0.0),
    "syntax-variable": ("syntax-text", "syntax-text", 0.0),
    "syntax-attribute": ("syntax-function", "syntax-function", 0.0),
    "syntax-tag": ("syntax-keyword", "syntax-keyword", 0.0),
    "syntax-operator": ("muted", "foreground", 0.3),
    "syntax-punctuation": ("muted", "foreground", 0.2),
    "syntax-heading": ("accent", "accent", 0.0),
    "syntax-inserted": ("success", "success", 0.0),
    "syntax-deleted": ("error", "error", 0.0),
    "syntax-error": ("error", "error", 0.0),
    "hunk-landing": ("fast", "fast", 0.0),
    "hunk-pending": ("accent", "accent", 0.0),
    "hunk-accepted": ("success", "success", 0.0),
    "hunk-struck": ("error", "error", 0.0),
    "hunk-cut": ("warning", "warning", 0.0),
    "hunk-conflict": ("error", "error", 0.0),
    "hunk-blamed": ("error", "error", 0.0),
    "hunk-candidate": ("deep", "deep", 0.0),
    "hunk-added": ("hunk-accepted", "hunk-accepted", 0.0),
    "hunk-landing-line": ("background", "hunk-landing", 0.16),
    "hunk-pending-line": ("background", "hunk-pending", 0.11),
    "hunk-accepted-line": ("background", "hunk-accepted", 0.09),
    "hunk-struck-line": ("background", "hunk-struck", 0.13),
    "hunk-cut-line": ("background", "hunk-cut", 0.13),
    "hunk-conflict-line": ("background", "hunk-conflict", 0.18),
    "hunk-blamed-line": ("background", "hunk-blamed", 0.16),
    "hunk-candidate-line": ("background", "hunk-candidate", 0.14),
    "hunk-added-line": ("background", "hunk-added", 0.11),
    "hunk-added-word": ("background", "hunk-added", 0.30),
    "hunk-struck-word": ("background", "hunk-struck", 0.34),
    "meter-rate": ("fast", "fast", 0.0),
    "meter-spark": ("fast", "background", 0.25),
    "meter-scale": ("faint", "faint", 0.0),
    "meter-mark": ("fast", "fast", 0.0),
    "meter-delegate": ("deep", "deep", 0.0),
    "meter-collaborate": ("fast", "fast", 0.0),
    "meter-ghost": ("muted", "muted", 0.0),
    "meter-online": ("success", "success", 0.0),
    "meter-offline": ("error", "error", 0.0),
}
"""Name -> from, towards, share of the way."""


def completed(colours: dict[str, str]) -> dict[str, str]:
    """The colours with what is missing mixed from what is there; `REQUIRED` must be there."""
    whole = dict(colours)
    for name, (start, towards, share) in MIXES.items():
        if name not in whole:
            whole[name] = mixed(whole[start], whole[towards], share)
    return whole


def is_colour(name: str) -> bool:
    """Whether a theme may set a colour of this full name."""
    return name in MIXES or name in REQUIRED


def names_of(section: str) -> list[str]:
    """The names that a table of a theme's file may set."""
    if section == "palette":
        plain = [name for name in MIXES if not name.startswith(_PREFIXES)]
        return [*REQUIRED, *plain]
    prefix = f"{section}-"
    return [name.removeprefix(prefix) for name in MIXES if name.startswith(prefix)]


_PREFIXES = tuple(f"{section}-" for section in SECTIONS if section != "palette")


LIMIT_BYTES = 64 * 1024
"""The largest file that is read: a theme has a hundred lines."""
MOST_COMPLAINTS = 20
"""Complaints that are told about one file."""
_MOST_CHARS, _MOST_BITS = 60, 64
"""How much of a wrong value is shown in the complaint about it."""
ATTRIBUTES = ("bold", "italic", "underline", "strike")
FACED = ("hunk-added-word", "hunk-struck-word")
"""What ``[face]`` may name beside the colours of ``[syntax]``."""
_COLOUR = pattern(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_HEADER = pattern(r"\s*\[+\s*(?P<name>[\w-]+)")
_WORDS = ("title", "base", "source")
LACKS = "[palette] lacks"
"""Begins the complaint about colours that must be there."""
_LENT = {
    True: {"background": "#11141a", "foreground": "#d8dee9", "accent": "#6ccfc4"},
    False: {"background": "#faf8f3", "foreground": "#2b2f36", "accent": "#0f766e"},
}
"""What a dark and a light file are lent that lack what must be there."""
_MIDDLE = 0.18
"""The luminance that looks half as bright as white."""

Base = Callable[[str], Palette | None]
"""The theme of a name to build on; None: there is none."""


class ThemeComplaint(NamedTuple):
    """Something wrong in a file."""

    file: str
    line: int
    """0: the whole file; the words name it."""
    words: str
    """What is wrong, and what to do or what holds instead."""

    def __str__(self) -> str:
        return f"{self.file} line {self.line}: {self.words}" if self.line else self.words


class ThemeReading(NamedTuple):
    """A theme, and what was wrong in its file."""

    palette: Palette
    complaints: tuple[ThemeComplaint, ...] = ()
    empty: bool = False
    """Nothing of it could be read."""
    source: str = ""
    """Where its colours are from, as the file says."""


class _ThemeReader:
    """Reads one text; collects complaints."""

    def __init__(self, text: str, origin: str) -> None:
        self.text = text
        self._origin = origin
        self._lines: dict[tuple[str, ...], int] = {}
        """Where keys stand, if the text is not TOML."""
        self.complaints: list[ThemeComplaint] = []
        self.refused: set[str] = set()
        """Colours that are there, but are none."""

    def complain(self, line: int, words: str) -> None:
        """Something is wrong in that line."""
        if len(self.complaints) < MOST_COMPLAINTS:
            self.complaints.append(ThemeComplaint(self._origin, line, words))

    def wrong(self, key: tuple[str, ...], words: str) -> None:
        """Something is wrong where that key is set."""
        self.complain(self._lines.get(key) or toml_tables.line_of(self.text, key), words)

    def tables(self) -> dict[str, object]:
        """The file's data; of a text that is not TOML, of each line that is."""
        try:
            return tomllib.loads(self.text)
        except (ValueError, RecursionError):  # also of a number with thousands of digits
            return self._line_by_line()

    def _line_by_line(self) -> dict[str, object]:
        data: dict[str, object] = {}
        table, where = data, ""
        for number, line in enumerate(self.text.splitlines(), 1):
            header = _HEADER.match(line)
            try:
                part = tomllib.loads(line)
            except (ValueError, RecursionError) as error:
                part = {}
                what = str(error).partition(" (at ")[0] or "nested too deeply"
                self.complain(number, f"not valid TOML: {what}; this line is left out")
            if header is not None:
                fresh: dict[str, object] = {}
                where = header["name"]
                table = _table(data.setdefault(header["name"], fresh), fresh)
                continue
            for key, value in part.items():
                if key in table:
                    self.complain(number, f"{key!r} is set a second time; this one holds")
                table[key] = value
                self._lines[(where, key) if where else (key,)] = number
        return data

    def colours(self, data: Mapping[str, object]) -> dict[str, str]:
        """The file's own colours, under their full names."""
        colours: dict[str, str] = {}
        for section in SECTIONS:
            values = data.get(section, {})
            if not isinstance(values, Mapping):
                self.wrong((section,), f"{section} has to be a table: [{section}]")
                continue
            prefix = "" if section == "palette" else f"{section}-"
            for name, value in values.items():
                if not is_colour(f"{prefix}{name}") or (not prefix and "-" in name):
                    words = (
                        f"[{section}] has no colour {_shown(name)}{_near(name, names_of(section))}"
                    )
                    self.wrong((section, name), words)
                elif not isinstance(value, str) or not _COLOUR.fullmatch(value):
                    self.refused.add(f"{prefix}{name}")
                    self.wrong(
                        (section, name), f"{name} must look like #a1b2c3, not {_shown(value)}"
                    )
                else:
                    colours[f"{prefix}{name}"] = _long(value)
        return colours

    def faces(self, data: Mapping[str, object]) -> dict[str, str]:
        """The Rich attributes that the file gives, by full names of colours."""
        values = data.get("face", {})
        if not isinstance(values, Mapping):
            self.wrong(("face",), "face has to be a table: [face]")
            return {}
        known = [*(f"syntax-{name}" for name in names_of("syntax")), *FACED]
        faces: dict[str, str] = {}
        for name, value in values.items():
            words = value.split() if isinstance(value, str) else ["?"]
            if name not in known:
                self.wrong(("face", name), f"[face] knows no {_shown(name)}{_near(name, known)}")
            elif not set(words) <= set(ATTRIBUTES):
                self.wrong(("face", name), f"{name} must be words of {', '.join(ATTRIBUTES)}")
            else:
                faces[name] = " ".join(words)
        return faces

    def words(self, data: Mapping[str, object]) -> dict[str, str]:
        """The title, the base and the source."""
        found: dict[str, str] = {}
        for key in data:
            if key not in (*_WORDS, *SECTIONS, "dark", "face"):
                near = _near(key, [*_WORDS, *SECTIONS, "dark", "face"])
                self.wrong((key,), f"unknown entry {_shown(key)}{near}")
        for key in _WORDS:
            value = data.get(key, "")
            if isinstance(value, str):
                found[key] = " ".join(value.split())[:80]
            else:
                self.wrong((key,), f"{key} must be a text in quotes")
        return found


def reading(text: str, name: str, origin: str, base: Base) -> ThemeReading:
    """Read a theme's text; ``origin`` names the file in complaints.

    ``base`` finds other themes: what a file builds on, and what lends a colour that must be there.
    """
    reader = _ThemeReader(text, origin)
    data = reader.tables()
    words, colours, faces = reader.words(data), reader.colours(data), reader.faces(data)
    if words.get("base"):
        if (below := base(words["base"])) is None:
            reader.wrong(
                ("base",), f"cannot build on {words['base']!r}: no such theme, or a circle"
            )
        else:
            colours, faces = {**below.colours, **colours}, {**below.faces, **faces}
    dark = _darkness(reader, data, colours)
    own = bool(colours)
    if missing := [each for each in REQUIRED if each not in colours]:
        if lacking := [each for each in missing if each not in reader.refused]:
            names = ", ".join(lacking)
            reader.wrong(("palette",), f"{LACKS} {names}; duetto's own is used")
        colours |= {each: _LENT[dark][each] for each in missing}
    whole = _read_well(completed(colours), colours) if missing else completed(colours)
    palette = Palette(name, words.get("title") or name, dark, whole, faces)
    found = tuple(sorted(reader.complaints, key=lambda one: one.line))
    return ThemeReading(palette, found, not own, words.get("source", ""))


def _darkness(reader: _ThemeReader, data: Mapping[str, object], colours: Mapping[str, str]) -> bool:
    """As the background is; a file that says something else is told so."""
    said = data.get("dark")
    if said is not None and not isinstance(said, bool):
        reader.wrong(("dark",), "dark must be true or false")
        said = None
    if "background" not in colours:
        return True if said is None else said
    seen = luminance(colours["background"]) < _MIDDLE
    if said is not None and said != seen:
        words = "dark" if seen else "light"
        reader.wrong(("dark",), f"the background is {words}: dark = {str(seen).lower()} holds")
    return seen


def _read_well(whole: dict[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """What was mixed for a broken file reads on every ground; the file's own stays as it is."""
    from tui.ui.theming.contrast_check import GROUNDS, texts  # only for a file like this

    for name in texts():
        if name not in given:
            for ground in GROUNDS:
                whole[name] = readable(whole[name], whole[ground])
    return whole


def _table(found: object, fresh: dict[str, object]) -> dict[str, object]:
    return found if isinstance(found, dict) else fresh


def _shown(value: object) -> str:
    """A value as it is written, if it is short: a file may hold anything."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return "such a number"
    words = repr(value) if isinstance(value, str | int | float) else "a table, a list or a date"
    return words if len(words) <= _MOST_CHARS else f"{words[:_MOST_CHARS]}…"


def _long(colour: str) -> str:
    """``#abc`` is ``#aabbcc``."""
    if len(colour) == 4:
        colour = "#" + "".join(2 * digit for digit in colour[1:])
    return colour.lower()


def _near(name: str, known: list[str]) -> str:
    from difflib import get_close_matches  # a file is mostly right

    found = get_close_matches(name, known, 1, 0.7)
    return f"; did you mean {found[0]!r}?" if found else ""

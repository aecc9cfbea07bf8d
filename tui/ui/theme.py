"""Colours: ``themes/*.toml`` read, checked, completed and given to Textual and to line renderers.

A theme file has ``title``, ``dark`` and the tables ``[palette]``, ``[syntax]``, ``[hunk]`` and
``[meter]``. Only three palette colours must be there (background, foreground, accent); what is
missing is mixed from what is there. The colour ``pending`` of ``[hunk]`` is ``$hunk-pending`` in
tcss and ``"hunk-pending"`` for `Palette.style`; palette colours have no prefix in `Palette`.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from rich.style import Style

from tui.errors import SettingsError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from textual.theme import Theme

DEFAULT_THEME = "dusk"
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_REQUIRED = ("background", "foreground", "accent")
_SECTIONS = ("palette", "syntax", "hunk", "meter")

_MIXES: dict[str, tuple[str, str, float]] = {
    # name: (from, towards, share); resolved in this order, so later rows may use earlier ones
    "surface": ("background", "foreground", 0.03),
    "panel": ("background", "foreground", 0.07),
    "line": ("background", "foreground", 0.18),
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
    "hunk-partial": ("warning", "warning", 0.0),
    "hunk-conflict": ("error", "error", 0.0),
    "hunk-candidate": ("deep", "deep", 0.0),
    "hunk-added": ("hunk-accepted", "hunk-accepted", 0.0),
    "hunk-landing-line": ("background", "hunk-landing", 0.16),
    "hunk-pending-line": ("background", "hunk-pending", 0.11),
    "hunk-accepted-line": ("background", "hunk-accepted", 0.09),
    "hunk-struck-line": ("background", "hunk-struck", 0.13),
    "hunk-partial-line": ("background", "hunk-partial", 0.13),
    "hunk-conflict-line": ("background", "hunk-conflict", 0.18),
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
"""Every colour that a theme may set, and how it is mixed where it does not."""

_TOKENS: dict[str, str] = {
    "Comment": "comment",
    "Comment.Preproc": "decorator",
    "Keyword": "keyword",
    "Keyword.Constant": "constant",
    "Keyword.Type": "type",
    "Name": "variable",
    "Name.Function": "function",
    "Name.Class": "type",
    "Name.Exception": "type",
    "Name.Namespace": "variable",
    "Name.Builtin": "builtin",
    "Name.Builtin.Pseudo": "constant",
    "Name.Decorator": "decorator",
    "Name.Constant": "constant",
    "Name.Attribute": "attribute",
    "Name.Tag": "tag",
    "Name.Entity": "escape",
    "Literal": "string",
    "Literal.Number": "number",
    "Literal.String": "string",
    "Literal.String.Doc": "comment",
    "Literal.String.Escape": "escape",
    "Literal.String.Interpol": "escape",
    "Literal.String.Regex": "escape",
    "Operator": "operator",
    "Operator.Word": "keyword",
    "Punctuation": "punctuation",
    "Generic.Heading": "heading",
    "Generic.Subheading": "heading",
    "Generic.Inserted": "inserted",
    "Generic.Deleted": "deleted",
    "Generic.Error": "error",
    "Generic.Traceback": "error",
    "Generic.Prompt": "comment",
    "Error": "error",
}
"""Pygments token names -> ``[syntax]`` names; what is not here has its parent's."""

_FACES: dict[str, str] = {
    "Comment": "italic",
    "Generic.Emph": "italic",
    "Generic.EmphStrong": "bold italic",
    "Generic.Heading": "bold",
    "Generic.Strong": "bold",
    "Generic.Subheading": "bold",
}
"""Pygments token names -> Rich attributes; what is not here has its parent's."""


def _nearest(name: str, table: dict[str, str]) -> str:
    """What a table has for a token type or its nearest parent; else nothing."""
    while name and name not in table:
        name = name.rpartition(".")[0]
    return table.get(name, "")


class Palette:
    """One theme: every colour by name, and Rich styles made of them."""

    def __init__(self, name: str, title: str, dark: bool, colours: dict[str, str]) -> None:
        """``colours`` must be complete; `read_theme` completes them."""
        self.name = name
        self.title = title
        self.dark = dark
        self.colours = colours
        self._styles: dict[tuple[str, str, str], Style] = {}
        self._tokens: dict[object, Style] = {}

    def style(self, colour: str, back: str = "", more: str = "") -> Style:
        """A Rich style by colour names, e.g. ``style("hunk-pending", "panel", "bold")``.

        Unlike Rich's own parser it takes names of this palette only; an unknown one is a
        KeyError. ``more`` are Rich attributes: ``bold``, ``italic``, ``strike``, ``underline``.
        """
        key = (colour, back, more)
        if (style := self._styles.get(key)) is None:
            style = Style.parse(more) + Style(
                color=self.colours[colour] if colour else None,
                bgcolor=self.colours[back] if back else None,
            )
            self._styles[key] = style
        return style

    def syntax_style(self, token: object) -> Style:
        """The foreground style of a Pygments token type (any object that prints as one)."""
        if (style := self._tokens.get(token)) is None:
            name = str(token).removeprefix("Token.")
            colour = f"syntax-{_nearest(name, _TOKENS) or 'text'}"
            style = self.style(colour, more=_nearest(name, _FACES))
            self._tokens[token] = style
        return style

    def textual_theme(self) -> Theme:
        """The same theme for Textual; all colours are ``$variables`` of tcss too."""
        from textual.theme import Theme

        c = self.colours
        return Theme(
            name=self.name,
            dark=self.dark,
            primary=c["accent"],
            secondary=c["deep"],
            accent=c["accent"],
            foreground=c["foreground"],
            background=c["background"],
            surface=c["surface"],
            panel=c["panel"],
            success=c["success"],
            warning=c["warning"],
            error=c["error"],
            variables={
                **c,
                "border": c["accent"],
                "border-blurred": c["line"],
                "block-cursor-background": c["accent"],
                "block-cursor-foreground": c["background"],
                "block-cursor-blurred-background": c["selection"],
                "input-cursor-background": c["cursor"],
                "input-cursor-foreground": c["background"],
                "input-selection-background": c["selection"],
                "scrollbar": c["line"],
                "scrollbar-hover": c["faint"],
                "scrollbar-active": c["accent"],
                "scrollbar-background": c["background"],
                "scrollbar-background-hover": c["background"],
                "scrollbar-background-active": c["background"],
                "scrollbar-corner-color": c["background"],
            },
        )


def themes_dir() -> Traversable:
    """Where the themes are: in the wheel beside the code, else in the checkout."""
    packed = resources.files("tui") / "themes"
    if packed.is_dir():
        return packed
    return Path(__file__).resolve().parents[2] / "themes"


def theme_names(folder: Traversable | None = None) -> list[str]:
    """The themes that there are, the default first."""
    found = (folder or themes_dir()).iterdir()
    names = sorted(file.name[:-5] for file in found if file.name.endswith(".toml"))
    return sorted(names, key=lambda name: name != DEFAULT_THEME)


def read_theme(name: str, folder: Traversable | None = None) -> Palette:
    """Read, check and complete a theme.

    Raises:
        SettingsError: there is no such theme, or its file is broken; the text says where.
    """
    place = folder or themes_dir()
    if name not in theme_names(place):
        names = ", ".join(theme_names(place))
        raise SettingsError(f"There is no theme {name!r}; there are {names}.")
    file = place / f"{name}.toml"
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: {error}") from error
    title, dark = table.pop("title", name), table.pop("dark", True)
    if not isinstance(title, str) or not isinstance(dark, bool):
        raise SettingsError(f"{file}: title must be a text and dark true or false.")
    return Palette(name, title, dark, _complete(_colours(table, str(file)), str(file)))


def _colours(table: dict[str, object], file: str) -> dict[str, str]:
    """The file's own colours, under their full names."""
    colours: dict[str, str] = {}
    for section, values in table.items():
        if section not in _SECTIONS or not isinstance(values, dict):
            raise SettingsError(f"{file}: unknown entry {section!r}.")
        prefix = "" if section == "palette" else f"{section}-"
        for name, value in values.items():
            full = f"{prefix}{name}"
            if full not in _MIXES and full not in _REQUIRED:
                raise SettingsError(f"{file}: [{section}] has no colour {name!r}.")
            if not isinstance(value, str) or not _COLOUR.fullmatch(value):
                raise SettingsError(f"{file}: [{section}] {name} must look like #a1b2c3.")
            colours[full] = value
    return colours


def _complete(colours: dict[str, str], file: str) -> dict[str, str]:
    missing = [name for name in _REQUIRED if name not in colours]
    if missing:
        raise SettingsError(f"{file}: [palette] lacks {', '.join(missing)}.")
    for name, (start, towards, share) in _MIXES.items():
        if name not in colours:
            colours[name] = _mix(colours[start], colours[towards], share)
    return colours


def _mix(start: str, towards: str, share: float) -> str:
    pairs = ((int(start[i : i + 2], 16), int(towards[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


_active: list[Palette] = []


def active() -> Palette:
    """The palette that renderers paint with now; the default theme until one was chosen."""
    if not _active:
        _active.append(cached_theme(DEFAULT_THEME))
    return _active[0]


def activate(name: str) -> Palette:
    """Paint with this theme from now on. Raises SettingsError."""
    _active[:] = [cached_theme(name)]
    return _active[0]


@lru_cache
def cached_theme(name: str) -> Palette:
    """`read_theme`, once a process and theme."""
    return read_theme(name)


def syntax_style(token: object) -> Style:
    """The active theme's style of a Pygments token type."""
    return active().syntax_style(token)

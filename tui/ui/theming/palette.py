"""One theme as renderers use it: colours by name, Rich styles made of them, text that reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

from tui.ui.theming.contrast import TEXT_RATIO, contrast, mixed, readable

if TYPE_CHECKING:
    from textual.theme import Theme


TOKENS: dict[str, str] = {
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

FACES: dict[str, str] = {
    "Comment": "italic",
    "Generic.Emph": "italic",
    "Generic.EmphStrong": "bold italic",
    "Generic.Heading": "bold",
    "Generic.Strong": "bold",
    "Generic.Subheading": "bold",
}
"""Pygments token names -> Rich attributes; what is not here has its parent's."""


def nearest(name: str, table: dict[str, str]) -> str:
    """What a table has for a token type or its nearest parent; else nothing."""
    while name and name not in table:
        name = name.rpartition(".")[0]
    return table.get(name, "")


_STRUCTURE = frozenset({"line", ""})
"""Colours of rules and borders: they part what is beside them, and say nothing themselves."""


_DIM = 0.4
"""So much of its background is mixed into text where another pane has the keys."""


class Palette:
    """One theme: every colour by name, and Rich styles made of them."""

    def __init__(
        self, name: str, title: str, dark: bool, colours: dict[str, str], faces: dict[str, str]
    ) -> None:
        """``colours`` must be complete."""
        self.name = name
        self.title = title
        self.dark = dark
        self.colours = colours
        self.faces = faces
        """The Rich attributes that the theme gives to what has a colour; of most none."""
        self._styles: dict[tuple[str, str, str], Style] = {}
        self._tokens: dict[object, Style] = {}
        self._legible: dict[Style, Style] = {}
        self._dimmed: dict[Style, Style] = {}

    def style(self, colour: str, back: str = "", more: str = "") -> Style:
        """A Rich style by colour names, e.g. ``style("hunk-pending", "panel", "bold")``.

        Unlike Rich's own parser it takes names of this palette only; an unknown one is a
        KeyError. ``more`` are Rich attributes: ``bold``, ``italic``, ``strike``, ``underline``.
        With a ``back`` the colour is one that reads on it.
        """
        key = (colour, back, more)
        if (style := self._styles.get(key)) is None:
            style = Style.parse(more) + Style(
                color=self._on(colour, back),
                bgcolor=self.colours[back] if back else None,
            )
            self._styles[key] = style
        return style

    def legible(self, style: Style) -> Style:
        """The style, its text made lighter or darker if it does not read on its background.

        For styles that are put together of several: the colour of a token and a selection.
        """
        if (found := self._legible.get(style)) is None:
            found = self._legible[style] = self._made_legible(style)
        return found

    def dimmed(self, style: Style) -> Style:
        """The style where another pane has the keys; never fainter than what is faint anyway.

        What is tinted, as the lines of a hunk, stays bright.
        """
        if (found := self._dimmed.get(style)) is None:
            found = self._dimmed[style] = self._made_dim(style)
        return found

    def syntax_style(self, token: object) -> Style:
        """The foreground style of a Pygments token type (any object that prints as one)."""
        if (style := self._tokens.get(token)) is None:
            name = str(token).removeprefix("Token.")
            colour = f"syntax-{nearest(name, TOKENS) or 'text'}"
            face = self.faces.get(colour)
            style = self.style(colour, more=nearest(name, FACES) if face is None else face)
            self._tokens[token] = style
        return style

    def _on(self, colour: str, back: str) -> str | None:
        if not colour:
            return None
        own = self.colours[colour]
        alone = back in ("", colour) or colour in _STRUCTURE
        return own if alone else readable(own, self.colours[back])

    def _made_legible(self, style: Style) -> Style:
        if style.color is None or style.bgcolor is None:
            return style
        own, back = style.color.get_truecolor().hex, style.bgcolor.get_truecolor().hex
        if own in (back, self.colours["line"]):
            return style
        better = readable(own, back)
        return style if better == own else style + Style(color=better)

    def _made_dim(self, style: Style) -> Style:
        if style.color is None or style.bgcolor is None or style.reverse:
            return style
        own, back = style.color.get_truecolor().hex, style.bgcolor.get_truecolor().hex
        if back not in (self.colours["background"], self.colours["panel"]):
            return style
        least = max(TEXT_RATIO, contrast(self.colours["faint"], back))
        dim = readable(mixed(own, back, _DIM), back, least)
        return style + Style(color=dim) if contrast(dim, back) < contrast(own, back) else style

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
                "muted-over": readable(c["muted"], c["selection"]),
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

"""What is painted on what: the app in a theme that gives each of its names a colour of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.color import Color
from textual.app import App
from textual.screen import ModalScreen
from textual.widget import Widget

from tui.ui import theme
from tui.ui.theming.contrast_check import BLOCKS, GROUNDS, MARKS, OVER, STRUCTURE, texts
from tui.ui.theming.theme_file import MIXES, REQUIRED, SECTIONS

TRACER = "tracer"
Pair = tuple[str, str, bool]
"""What is painted, on what, and whether there are letters or digits in it."""


def is_back(name: str) -> bool:
    """Whether the colour mostly lies under text."""
    plain = name in ("background", "surface", "panel", "selection", "raised", "line")
    return plain or name.endswith(("-line", "-word"))


def tracer_colours() -> dict[str, str]:
    """A colour for each name that no other has: bright for text, dark for what lies under it."""
    names = [*REQUIRED, *MIXES]
    return {
        name: f"#{number:02x}0000" if is_back(name) else f"#ff{255 - number:02x}ff"
        for number, name in enumerate(names, 1)
    }


@contextmanager
def traced(folder: Path) -> Iterator[dict[str, str]]:
    """The tracer is among the user's own themes; colour -> name."""
    colours, lines = tracer_colours(), []
    for section in SECTIONS:
        lines.append(f"[{section}]")
        for name, colour in colours.items():
            if _section(name) == section:
                lines.append(f'{name.removeprefix(f"{section}-")} = "{colour}"')
    (folder / f"{TRACER}.toml").write_text("\n".join(lines))
    theme.library.own_folder(folder)
    vars(theme.cached_theme(TRACER))["dimmed"] = lambda style: style
    try:
        yield {colour: name for name, colour in colours.items()}
    finally:
        theme.library.own_folder(None)
        theme.activate(theme.DEFAULT_THEME)


def _section(name: str) -> str:
    first = name.partition("-")[0]
    return first if first in SECTIONS else "palette"


def cells(app: App[int]) -> Iterator[tuple[str, str, str]]:
    """Text, colour and background of every piece on the screen that shows something.

    What lies dimmed behind a question or a list is not looked at: it waits until that is gone.
    """
    screen = app.screen
    boxes = [screen.region]
    if isinstance(screen, ModalScreen):
        solid = [box for box in screen.walk_children(Widget) if box.styles.background.a == 1]
        boxes = [box.region for box in solid]
    strips = screen._compositor.render_strips()
    for box in boxes:
        for strip in strips[box.y : box.bottom]:
            for text, style, _ in strip.crop(box.x, box.right):
                if text.strip() and style is not None and style.color and style.bgcolor:
                    fore, back = _hex(style.color), _hex(style.bgcolor)
                    yield (text, back, fore) if style.reverse else (text, fore, back)


def _hex(colour: Color) -> str:
    return colour.get_truecolor().hex


def painted(app: App[int], names: dict[str, str]) -> set[Pair]:
    """The pairs on the screen; a colour that is none of the theme's is ``?``."""
    return {
        (names.get(fore, f"? {text}"), names.get(back, "?"), any(one.isalnum() for one in text))
        for text, fore, back in cells(app)
    }


def unknown(found: set[Pair]) -> Iterator[str]:
    """Pairs that the table of colours does not have."""
    for colour, back, is_text in found:
        if colour == "background" and back in BLOCKS:
            continue
        known = colour in texts() and back in (*GROUNDS, *OVER)
        if set(colour) <= set("? ─│●"):
            continue  # a border in a mixed colour, the swatch of another theme
        mark = not is_text and (colour in (*MARKS, *STRUCTURE) or back in (*BLOCKS, *OVER))
        if not known and not mark:
            yield f"{colour} on {back}, {'text' if is_text else 'a mark'}"

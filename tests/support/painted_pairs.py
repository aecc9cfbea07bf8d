"""What is painted on what: the app in a theme that gives each of its names a colour of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.color import Color
from textual.app import App
from textual.screen import ModalScreen
from textual.widget import Widget

from tests.support.scripted_app import exercise, scripted_app, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.engine.notices import Ask
from tui.ui import theme
from tui.ui.app import DuettoApp
from tui.ui.keymap import leader_keys
from tui.ui.theming.mixes import MIXES, REQUIRED, SECTIONS

TRACER = "tracer"
MARKDOWN = """> quote

| a | b |
|---|---|
| 1 | `2` |

# Head

[link](http://x) - *e* **b**
"""
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
    theme.own_folder(folder)
    try:
        yield {colour: name for name, colour in colours.items()}
    finally:
        theme.own_folder(None)
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


async def looked_at(theme_name: str, scenes: int = 4) -> AsyncIterator[DuettoApp]:
    """The app in many of its states, one after the other; or in the first ``scenes`` of them."""
    for session, size, stops in (_worked(), _typed(), _streaming(), _asked())[:scenes]:
        app = scripted_app(session, theme_name)
        async with app.run_test(size=size) as pilot:
            await settled(session, pilot)
            yield app
            for keys in stops:
                await pilot.press(*keys.split())
                await settled(session, pilot)
                for _ in range(40):  # the command palette takes a moment
                    if any(cells(app)):
                        break
                    await pilot.pause(0.02)
                yield app


Scene = tuple[ScriptedSession, tuple[int, int], list[str]]
"""A session, the screen's size, and groups of keys."""


def _worked() -> Scene:
    """A turn is over: the card, selections, searches, screens over the workbench."""
    session = ScriptedSession()
    exercise(session)
    keys = ["alt+j", "a", "f6", "shift+down shift+down", "ctrl+f", "s e l f", "escape"]
    keys += ["ctrl+t", "escape", "f4", "escape", "ctrl+o", "escape", "ctrl+p", "escape", "f1"]
    keys += ["escape", "f7", "w", "escape", "escape", "ctrl+q"]
    return session, (120, 36), keys


def _streaming() -> Scene:
    """An answer with all of Markdown, hunks in every stage, a queue."""
    session = ScriptedSession()
    session.say("user", "make the cache safe")
    session.say("reasoning", "Mutations first", speaker="fast", state="open")
    session.say("text", MARKDOWN, speaker="fast")
    session.say("patch", speaker="fast", state="open")
    for line, stage in enumerate((Stage.LANDED, Stage.PARTIAL, Stage.CONFLICT, Stage.LANDING), 7):
        session.hunk(stage, line, added=1, removed=1)
    session.open("ledger/cache.py")
    status = session.status
    status.busy = True
    status.steering = ["a plain Lock", "keep names"]
    status.steering_fates = ["accepted", "pending"]
    status.queued = ["then a test", "and more"]
    session.measured(300, 0.3, counted=False)
    return session, (120, 40), ["alt+q up"]


def _asked() -> Scene:
    """A question, and what the rehearsal says of itself."""
    session = ScriptedSession()
    session.status.rehearsal = True
    session.status.prompts = ["make the cache safe", "add a limit"]
    session.status.asks = [Ask(1, "Run it?", "make test", ("run it", "do not"))]
    session.open("ledger/cache.py")
    return session, (120, 36), ["up"]


def _typed() -> Scene:
    """What the prompt offers, the list of themes, the state of the models, the leader's list."""
    session = ScriptedSession()
    session.open("ledger/cache.py")
    keys = ["/ t h", "e m e enter", "escape", "@ c a", "escape", "ctrl+u"]
    keys += [" ".join(["/", *"status", "enter"]), "escape", leader_keys()[0], "escape"]
    return session, (120, 36), keys

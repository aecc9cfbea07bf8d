"""Pictures of the app, one for each state that differs in kind; sizes and colours have rules.

Clock, cursor and meter stand still (`tests.support.scripted_app`). After a change that is meant:
``pytest tests/snapshots --snapshot-update``, and look at the pictures.
"""

from __future__ import annotations

import io
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from rich.console import Console
from rich.segment import Segment, Segments
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.pilot import Pilot
from textual.screen import Screen

from tests.support.scripted_app import scripted_app, settled
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp
from tui.ui.conversation.transcript import TranscriptPane
from tui.ui.editor.editor import Editor
from tui.ui.painting.ink import ink
from tui.ui.terminal.facts import TerminalFacts

LOW, MIDDLE, WIDE, NARROW = (80, 24), (120, 36), (200, 50), (40, 20)
SIZES = (MIDDLE, LOW, WIDE, NARROW, (40, 12))
"""What every scene has to fit."""
_LASTING_S = 600.0
_MOST_LOOKS = 100


class Picture(SingleFileSnapshotExtension):
    """A file a picture."""

    _write_mode = WriteMode.TEXT
    _file_extension = "svg"


class Show(NamedTuple):
    """The app that plays a scene."""

    app: DuettoApp
    session: ScriptedSession
    pilot: Pilot[int]

    async def press(self, *keys: str) -> None:
        """One after the other, each with a frame of its own."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def settle(self) -> None:
        """Have a frame and let it be painted."""
        await settled(self.session, self.pilot)


class Scene(NamedTuple):
    """What is to be seen."""

    name: str
    session: Callable[[], ScriptedSession]
    keys: tuple[str, ...] = ()
    """Pressed one after the other."""
    size: tuple[int, int] = MIDDLE
    """The picture's."""
    begin: Callable[[Show], Awaitable[None]] | None = None
    """Done before the keys are pressed."""
    facts: TerminalFacts | None = None
    """The terminal; None: one with everything."""


@asynccontextmanager
async def played(scene: Scene, theme: str = "dusk") -> AsyncIterator[Pilot[int]]:
    """The app when the scene has been played."""
    session = scene.session()
    app = scripted_app(session, theme)
    if scene.facts is not None:
        app.draw_on(scene.facts)
    with (
        patch.object(app, "notify", _lasting(app)),
        patch("tui.ui.review.paint._ROW_S", _LASTING_S),
        patch("tui.ui.review.view._COLOUR_S", _LASTING_S),
    ):
        async with app.run_test(size=scene.size, notifications=True) as pilot:
            show = Show(app, session, pilot)
            await show.settle()
            if scene.begin is not None:
                await scene.begin(show)
            await show.press(*scene.keys)
            await still(pilot)
            yield pilot


async def still(pilot: Pilot[int], gap_s: float = 0.1, alike: int = 3) -> None:
    """Wait until so many looks see the same: searches and colours come in slices."""
    before: list[list[Segment]] = []
    seen = 0
    for _ in range(_MOST_LOOKS):
        await pilot.pause(gap_s)
        if _works(pilot.app.screen):
            continue
        now = [list(row) for row in pilot.app.screen._compositor.render_strips()]
        seen = seen + 1 if now == before else 1
        if seen == alike:
            return
        before = now


def _works(screen: Screen[Any]) -> bool:
    """Something that is seen has no colours yet, however long nothing changes."""
    late = any(pane._late for pane in screen.query(TranscriptPane))
    return late or any("colours" in one.repeats._timers for one in screen.query(Editor))


def _lasting(app: DuettoApp) -> Callable[..., None]:
    """What is told stays until all pictures are taken."""
    notify = app.notify

    def told(message: str, **more: Any) -> None:
        notify(message, **{**more, "timeout": _LASTING_S})

    return told


def picture(app: DuettoApp) -> str:
    """An SVG of the screen in the signs and colours that are written to the terminal."""
    width, height = app.size
    console = Console(
        width=width,
        height=height,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        record=True,
        legacy_windows=False,
    )
    compositor, reduced = app.screen._compositor, ink().reduced
    frame = compositor.render_update(full=True, screen_stack=app._background_screens)
    cells = [part for part in console.render(frame) if not part.control or part.text == "\n"]
    found = [
        Segment(text, style and reduced(style), control)
        for text, style, control in ink().written(cells)
    ]
    console.print(Segments(found))
    return portable(console.export_svg(title="duetto"))


# -- the file

_RECT = re.compile(
    r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" '
    r'shape-rendering="crispEdges"/>'
)


class _Box(NamedTuple):
    """The background of some cells."""

    fill: str
    x: float
    y: float
    width: float
    height: float

    def written(self) -> str:
        x, y, width, height = (f"{number:.6g}" for number in self[1:])
        return f'<rect fill="{self.fill}" x="{x}" y="{y}" width="{width}" height="{height}"/>'


def portable(svg: str) -> str:
    """Without fonts from elsewhere, names that change, and what hides nothing.

    Backgrounds of one colour are one rectangle, however their cells were put together.
    """
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.S)
    svg = re.sub(r'\s*<clipPath id="terminal-\d+-line-\d+">.*?</clipPath>', "", svg, flags=re.S)
    svg = re.sub(r' clip-path="url\(#terminal-\d+-line-\d+\)"', "", svg)
    svg = re.sub(r"terminal-\d+", "t", svg).replace("&#160;", "\u00a0")
    boxes = "\n".join(box.written() for box in _joined(svg))
    svg = _RECT.sub("", svg.replace('<rect fill="#', f'{_MARK}<rect fill="#', 2))
    first, second, rest = svg.split(_MARK)
    crisp = f'<g shape-rendering="crispEdges">\n{boxes}\n</g>'
    return f"{first}{second}{crisp}{rest}"


_MARK = "\0"


def _joined(svg: str) -> list[_Box]:
    """Boxes that touch and have one colour are one: first in a row, then from row to row."""
    rows: list[_Box] = []
    for found in _RECT.findall(svg):
        box = _Box(found[0], *map(float, found[1:]))
        last = rows[-1] if rows else None
        beside = last and (last.fill, last.y) == (box.fill, box.y)
        if last and beside and abs(last.x + last.width - box.x) < 1:
            rows[-1] = last._replace(width=box.x + box.width - last.x)
        else:
            rows.append(box)
    whole: list[_Box] = []
    over: dict[tuple[str, float, float], int] = {}
    for box in rows:
        place = (box.fill, round(box.x, 1), round(box.width, 1))
        at = over.get(place)
        if at is not None and abs(whole[at].y + whole[at].height - box.y) < 1:
            whole[at] = whole[at]._replace(height=box.y + box.height - whole[at].y)
        else:
            over[place] = len(whole)
            whole.append(box)
    return whole

"""Pictures of the app in every size and theme: a scene is played once a size, then dressed anew.

Clock, cursor and meter stand still (`tests.support.scripted_app`). After a change that is meant:
``pytest tests/snapshots --snapshot-update``, and look at the pictures.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.pilot import Pilot

from tests.support.scripted_app import scripted_app, settled
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp

SIZES = ((80, 24), (120, 36), (200, 50))
THEMES = ("dusk", "paper", "contrast", "colourblind-dark")
"""Dark, light, high contrast, and one that does without red and green."""


class Picture(SingleFileSnapshotExtension):
    """A file a picture."""

    _write_mode = WriteMode.TEXT
    _file_extension = "svg"


class Scene(NamedTuple):
    """What is to be seen."""

    name: str
    session: Callable[[], ScriptedSession]
    keys: tuple[str, ...] = ()
    """Pressed one after the other."""
    sizes: tuple[tuple[int, int], ...] = SIZES


@asynccontextmanager
async def played(scene: Scene, size: tuple[int, int]) -> AsyncIterator[Pilot[int]]:
    """The app when the scene has been played."""
    session = scene.session()
    app = scripted_app(session)
    async with app.run_test(size=size) as pilot:
        await settled(session, pilot)
        for key in scene.keys:
            await pilot.press(key)
            await settled(session, pilot)
        await pilot.pause(0.2)
        yield pilot


async def dressed(pilot: Pilot[int], theme: str) -> str:
    """The picture in this theme."""
    app = pilot.app
    assert isinstance(app, DuettoApp)
    app.theme = theme
    await pilot.pause(0.05)
    return portable(app.export_screenshot(title="duetto"))


def portable(svg: str) -> str:
    """Without fonts from elsewhere, names that change, and what hides nothing."""
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.S)
    svg = re.sub(r'\s*<clipPath id="terminal-\d+-line-\d+">.*?</clipPath>', "", svg, flags=re.S)
    svg = re.sub(r' clip-path="url\(#terminal-\d+-line-\d+\)"', "", svg)
    return re.sub(r"terminal-\d+", "t", svg)

"""One picture of each state that differs in kind; rules for all of them in every size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widget import Widget

from tests.snapshots.rooms import (
    commands,
    conversation,
    editor,
    first_run,
    painting,
    prompt,
    review,
    screens,
    status_line,
)
from tests.support.gallery import SIZES, Picture, Scene, picture, played
from tests.support.painted_pairs import TRACER, painted, traced, unknown

ROOMS = (conversation, commands, prompt, status_line, editor, review, screens, first_run, painting)
SCENES = [scene for room in ROOMS for scene in room.SCENES]
AT_ONCE = {"turn", "stages", "question", "find", "review", "status", "guide-3", "ascii-stages"} | {
    "command-question"
}
"""Of the fast tier."""
OVER = {"CompletionList", "Toast", "FileTree", "ScrollBar"}
"""These lie over others, as they are meant to."""


@pytest.fixture(autouse=True)
def any_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that the tests are started from is no matter."""
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(scene, marks=() if scene.name in AT_ONCE else pytest.mark.slow, id=scene.name)
        for scene in SCENES
    ],
)
async def test_scene(scene: Scene, snapshot: Any) -> None:
    async with played(scene) as pilot:
        assert picture(pilot.app) == snapshot.use_extension(Picture)


def test_every_scene_has_a_name_of_its_own() -> None:
    names = Counter(scene.name for scene in SCENES)
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__.split(".")[-1])
async def test_in_every_size_nothing_is_cut_or_overlaps_and_all_of_it_reads(
    room: ModuleType, tmp_path: Path
) -> None:
    """Painted in a theme that tells by its colours which are asked for: the table of pairs is
    reckoned for every theme by `tests.ui.theming.test_contrast`."""
    faults = []
    with traced(tmp_path) as names:
        for scene in room.SCENES:
            async with played(scene, TRACER) as pilot:
                for size in SIZES:
                    await pilot.resize_terminal(*size)
                    await pilot.pause(0.05)
                    await pilot.pause()
                    told = [*cut(pilot), *overlaps(pilot)]
                    if scene.facts is None:
                        told += unknown(painted(pilot.app, names))
                    faults += [f"{scene.name} at {size}: {words}" for words in told]
    assert faults == []


def seen(pilot: Pilot[Any]) -> list[tuple[Widget, Region, Region]]:
    """What paints something itself: its place, and as much of it as can be seen."""
    places = pilot.app.screen._compositor.visible_widgets
    return [
        (widget, region, clip)
        for widget, (region, clip) in places.items()
        if region.area and not any(child in places for child in widget.children)
    ]


def cut(pilot: Pilot[Any]) -> Iterator[str]:
    for widget, region, clip in seen(pilot):
        scrolled = any(one.is_scrollable for one in widget.ancestors if one.id and one.is_attached)
        if not (scrolled or clip.contains_region(region)):
            yield f"{widget.css_identifier} is cut"


def overlaps(pilot: Pilot[Any]) -> Iterator[str]:
    if isinstance(pilot.app.screen, CommandPalette):
        return  # laid out by Textual, its list over its bar
    places = [
        one for one in seen(pilot) if not OVER & {base.__name__ for base in type(one[0]).mro()}
    ]
    for at, (one, region, clip) in enumerate(places):
        for other, place, limit in places[at + 1 :]:
            if region.intersection(clip).overlaps(place.intersection(limit)):
                yield f"{one.css_identifier} overlaps {other.css_identifier}"

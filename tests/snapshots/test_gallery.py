"""Every screen and state, at every size, in four themes; one of them in all themes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.snapshots.scenes import SCENES, turn, whole
from tests.support.gallery import THEMES, Picture, Scene, dressed, played
from tui.ui.theme import theme_names

PLAYS = [
    pytest.param(scene, size, id=f"{scene.name}-{size[0]}x{size[1]}")
    for scene in SCENES
    for size in scene.sizes
]


@pytest.mark.parametrize(("scene", "size"), PLAYS)
async def test_scene(scene: Scene, size: tuple[int, int], snapshot: Any) -> None:
    pictures = snapshot.use_extension(Picture)
    async with played(scene, size) as pilot:
        for theme in THEMES:
            assert await dressed(pilot, theme) == pictures(name=theme)


async def test_every_theme(snapshot: Any) -> None:
    """The same turn in each."""
    pictures = snapshot.use_extension(Picture)
    async with played(Scene("turn", whole), (120, 36)) as pilot:
        for theme in theme_names():
            assert await dressed(pilot, theme) == pictures(name=theme)


async def test_without_colours(snapshot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signs say what colours do not."""
    monkeypatch.setenv("NO_COLOR", "1")
    pictures = snapshot.use_extension(Picture)
    async with played(Scene("review", turn, ("f7", "a")), (80, 24)) as pilot:
        assert await dressed(pilot, "dusk") == pictures

"""Every screen and state, at every size where it has something to show, in four themes.

One of them is there in all themes, and some as poorer terminals show them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.snapshots.scenes import SCENES
from tests.snapshots.sessions import whole
from tests.support.gallery import Picture, Scene, dressed, played
from tui.ui.theme import theme_names

PLAYS = [
    pytest.param(scene, size, id=f"{scene.name}-{size[0]}x{size[1]}")
    for scene in SCENES
    for size in scene.sizes
]


@pytest.fixture(autouse=True)
def any_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that the tests are started from is no matter."""
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.mark.parametrize(("scene", "size"), PLAYS)
async def test_scene(scene: Scene, size: tuple[int, int], snapshot: Any) -> None:
    pictures = snapshot.use_extension(Picture)
    async with played(scene, size) as pilot:
        for theme in scene.themes:
            assert await dressed(pilot, theme) == pictures(name=theme)


async def test_every_theme(snapshot: Any) -> None:
    """The same turn in each."""
    pictures = snapshot.use_extension(Picture)
    async with played(Scene("turn", whole), (120, 36)) as pilot:
        for theme in theme_names():
            assert await dressed(pilot, theme) == pictures(name=theme)


def test_every_scene_has_a_name_of_its_own() -> None:
    names = Counter(scene.name for scene in SCENES)
    assert [name for name, count in names.items() if count > 1] == []

"""Changes in a small folder are told, also if it is made later."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tui.effects.folder_watch import watch_folder

pytest.importorskip("watchfiles")


async def told_after(folder: Path, change: object) -> bool:
    """Whether a change is told; it is made again until it is seen, as a watch takes a moment."""
    told = asyncio.Event()
    watching = asyncio.create_task(watch_folder(folder, told.set))
    assert callable(change)
    try:
        for _ in range(40):
            change()
            try:
                await asyncio.wait_for(told.wait(), 0.25)
            except TimeoutError:
                continue
            return True
        return False
    finally:
        watching.cancel()


async def test_a_new_file_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "themes"
    folder.mkdir()
    assert await told_after(folder, lambda: (folder / "a.toml").write_text("x"))


async def test_where_nothing_is_there_nothing_is_watched(tmp_path: Path) -> None:
    await asyncio.wait_for(watch_folder(tmp_path / "a" / "b", lambda: None), 5)

"""The walks that docs/house.md writes down are those of the running program, and short."""

from __future__ import annotations

from pathlib import Path

from tests.walks import walked, written

MOST = {"token": 12, "frame": 6, "esc": 10, "accept": 12, "key": 9, "echo": 6}
"""Hops."""


async def test_the_walks_are_as_written_and_no_longer(tmp_path: Path) -> None:
    found = await walked(tmp_path)
    assert found == written(), "see `python -m tests.walks`"
    assert {name: len(walk) for name, walk in found.items() if len(walk) > MOST[name]} == {}

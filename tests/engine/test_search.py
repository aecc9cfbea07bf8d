"""No pattern of a model's holds up the event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.support.tables import each
from tui.engine import tools
from tui.engine.tools import CallError, finder, path_filter, searched

ENDLESS, LINE = "(a|aa)+$", "a" * 60 + "b"


def never() -> bool:
    return False


async def test_the_loop_runs_on_while_a_pattern_takes_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tools, "LINE_LIMIT_S", 0.3)
    find = finder(ENDLESS, regex=True)
    began, turns = threading.Event(), 0

    def noted(line: str) -> int:
        began.set()
        return find(line)

    looking = asyncio.create_task(searched("a.txt", [LINE], noted, never))
    while not looking.done():
        await asyncio.sleep(0)
        turns += began.is_set()
    with pytest.raises(CallError, match="takes too long"):
        await looking
    assert turns > 10


async def test_a_search_that_expires_gives_what_it_has() -> None:
    found = await searched("a.txt", ["x"] * 100, finder("x", regex=False), lambda: True)
    assert found == ["a.txt:1: x"]


@each("pattern", ["(", "a{2}{3}**", "[" * 501, "x" * 501])
def test_what_is_no_expression(pattern: str) -> None:
    with pytest.raises(CallError):
        finder(pattern, regex=True)


def test_path_patterns_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "PATH_LIMIT_S", 0.001)
    fits = path_filter("*a" * 20 + "*b")
    with pytest.raises(CallError, match="takes too long"):
        fits("a" * 120)
    assert not path_filter("**/" * 30 + "x")("a/" * 50 + "y")
    assert path_filter("**/" * 30 + "x")("a/" * 50 + "x")

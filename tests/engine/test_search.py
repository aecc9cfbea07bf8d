"""No pattern of a model's holds up the event loop."""

from __future__ import annotations

import asyncio
import time

import pytest

from tui.engine import search
from tui.engine.call_error import CallError
from tui.engine.search import finder, path_filter, searched

ENDLESS, LINE = "(a|aa)+$", "a" * 60 + "b"


def never() -> bool:
    return False


async def test_the_loop_runs_on_while_a_pattern_takes_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "LINE_LIMIT_S", 0.3)
    find = finder(ENDLESS, regex=True)
    looking = asyncio.create_task(searched("a.txt", [LINE], find, never))
    longest_s, before_s = 0.0, time.monotonic()
    while not looking.done():
        await asyncio.sleep(0.005)
        now_s = time.monotonic()
        longest_s, before_s = max(longest_s, now_s - before_s), now_s
    with pytest.raises(CallError, match="takes too long"):
        await looking
    assert longest_s < 0.25


async def test_a_search_that_expires_gives_what_it_has() -> None:
    found = await searched("a.txt", ["x"] * 100, finder("x", regex=False), lambda: True)
    assert found == ["a.txt:1: x"]


def test_texts_and_expressions() -> None:
    assert finder("b(", regex=False)("ab(") == 1
    assert finder(r"b\(", regex=True)("ab(") == 1
    assert finder("z", regex=True)("ab(") < 0


@pytest.mark.parametrize("pattern", ["(", "a{2}{3}**", "[" * 501, "x" * 501])
def test_what_is_no_expression(pattern: str) -> None:
    with pytest.raises(CallError):
        finder(pattern, regex=True)


def test_path_patterns_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PATH_LIMIT_S", 0.001)
    fits = path_filter("*a" * 20 + "*b")
    start_s = time.monotonic()
    with pytest.raises(CallError, match="takes too long"):
        fits("a" * 120)
    assert time.monotonic() - start_s < 1
    assert not path_filter("**/" * 30 + "x")("a/" * 50 + "y")
    assert path_filter("**/" * 30 + "x")("a/" * 50 + "x")

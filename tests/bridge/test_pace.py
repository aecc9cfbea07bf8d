"""Words that are held cost what they are, and come in their order."""

from __future__ import annotations

import asyncio
import math
import time
import tracemalloc
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tui.bridge.pace import Pace, Turns


class Stand:
    """Turns, and what they told."""

    def __init__(self, tokens_s: float) -> None:
        self.run: Any = SimpleNamespace(tokens_s=None)
        self.turns = Turns(Pace(cast(Any, self.run), tokens_s))
        self.told: list[str] = []
        self.writes = 0

    async def write(self) -> None:
        self.writes += 1


@pytest.mark.parametrize("tokens_s", [1.0, 50.0])
async def test_a_large_text_that_is_held_costs_little_more_than_itself(tokens_s: float) -> None:
    stand, text = Stand(tokens_s), "x" * 10_000_000
    tracemalloc.start()
    began_s = time.process_time()
    stand.turns.words(text, stand.told.append)
    spent_s = time.process_time() - began_s
    held_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held_bytes < 2 * len(text)
    assert spent_s < 0.1
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await stand.turns.release(stand.write)
    stand.run.tokens_s = math.inf
    await stand.turns.release(stand.write)
    assert "".join(stand.told) == text


async def test_what_follows_comes_behind_the_words_and_a_new_rate_counts_at_once() -> None:
    stand = Stand(2000)
    stand.turns.words("a" * 1000, stand.told.append)
    stand.turns.say(lambda: stand.told.append("|"))
    stand.turns.words("", stand.told.append)
    stand.turns.words("b" * 1000, stand.told.append)
    stand.turns.say(lambda: stand.told.append("|"))
    stand.run.tokens_s = 4000
    began_s = time.monotonic()
    await stand.turns.release(stand.write)
    assert 0.08 < time.monotonic() - began_s < 2
    assert "".join(stand.told) == "a" * 1000 + "|" + "b" * 1000 + "|"
    assert stand.writes > 5
    assert not stand.turns.held


async def test_what_ends_it_while_it_is_told_is_not_told_again() -> None:
    stand = Stand(20_000)

    def stop() -> None:
        raise KeyError

    stand.turns.words("a", stand.told.append)
    stand.turns.say(stop)
    with pytest.raises(KeyError):
        await stand.turns.release(stand.write)
    await stand.turns.release(stand.write)
    assert stand.told == ["a"]

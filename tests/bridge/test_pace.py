"""Words that are held cost what they are, and come in their order."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

from tui.bridge.endpoints.response_writer import PacedOutput, TokenRate


class Stand:
    """Turns, and what they told."""

    def __init__(self, tokens_s: float) -> None:
        self.run: Any = SimpleNamespace(tokens_s=None)
        self.turns = PacedOutput(TokenRate(cast(Any, self.run), tokens_s))
        self.changes: list[str] = []
        self.writes = 0

    async def write(self) -> None:
        self.writes += 1


async def test_what_follows_comes_behind_the_words_and_a_new_rate_counts_at_once() -> None:
    stand = Stand(2000)
    stand.turns.words("a" * 1000, stand.changes.append)
    stand.turns.say(lambda: stand.changes.append("|"))
    stand.turns.words("", stand.changes.append)
    stand.turns.words("b" * 1000, stand.changes.append)
    stand.turns.say(lambda: stand.changes.append("|"))
    stand.run.tokens_s = 4000
    began_s = time.monotonic()
    await stand.turns.release(stand.write)
    assert time.monotonic() - began_s > 0.08
    assert "".join(stand.changes) == "a" * 1000 + "|" + "b" * 1000 + "|"
    assert stand.writes > 5
    assert not stand.turns.held

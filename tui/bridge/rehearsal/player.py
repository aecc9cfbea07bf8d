"""Gives a rehearsed answer out at an exact number of tokens a second.

The player never sleeps and never reads a clock: its owner asks when the next token is due and
calls `play` then, with the time in seconds. Each token's deadline follows from the start alone,
so a late timer makes one larger delta instead of a slower stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import floor
from random import Random
from typing import Any, Protocol

from msgspec import Struct

from tui.core.wire.events import Usage


class ReasoningPart(Struct, frozen=True):
    """A reasoning summary; all of it counts as reasoning tokens."""

    text: str

    def item(self) -> dict[str, Any]:
        """The output item to begin."""
        return {"type": "reasoning"}


class TextPart(Struct, frozen=True):
    """Prose."""

    text: str

    def item(self) -> dict[str, Any]:
        """The output item to begin."""
        return {"type": "message"}


class CallPart(Struct, frozen=True):
    """A tool call; ``text`` is what streams: the input, or the arguments as JSON."""

    name: str
    text: str
    custom: bool = False

    def item(self) -> dict[str, Any]:
        """The output item to begin."""
        return {
            "type": "custom_tool_call" if self.custom else "function_call",
            "name": self.name,
        }


AnswerPart = ReasoningPart | TextPart | CallPart


def function_call(name: str, **arguments: object) -> CallPart:
    """A function call with its arguments as JSON."""
    return CallPart(name, json.dumps(arguments, ensure_ascii=False))


MOST_LAG_S = 0.25
"""What is later than this (a client that reads slowly) is not caught up: the stream shifts."""
MOST_HELD_LAG_S = 0.01
"""The same while the words are held for a throttle: what runs ahead of it would be counted as said,
and an Esc would tell of twice the tokens that anybody saw."""


class OutputSink(Protocol):
    """Where the output goes: a `core.run.Run`."""

    def item_added(self, item: dict[str, Any]) -> int:
        """Begin an item; returns its index."""

    def delta(self, index: int, text: str) -> None:
        """More text of an item."""

    def item_done(self, index: int) -> None:
        """Finish an item."""


class PlaySpeed(Struct, frozen=True):
    """How fast a model is."""

    tokens_s: float
    ttft_s: float = 0.0
    """Seconds before the first token."""


def token_sizes(random: Random) -> Iterator[int]:
    """Sizes of tokens in characters, for ever: 3 to 5, and 20 for every five of them."""
    sizes = [3, 4, 4, 4, 5]
    while True:
        random.shuffle(sizes)
        yield from sizes


class Player:
    """One answer on its way."""

    def __init__(
        self, parts: Sequence[AnswerPart], pace: PlaySpeed, *, seed: int, now: float
    ) -> None:
        """``now`` is the moment of the request, in seconds of the owner's clock."""
        self._parts = [part for part in parts if part.text]
        self._pace = pace
        self._sizes = token_sizes(Random(seed))
        self._first_s = now + pace.ttft_s
        self._part = 0
        self._at = 0
        self._index: int | None = None
        self._reasoning_tokens = 0
        self.output_tokens = 0
        """Tokens given out so far, reasoning included."""

    @property
    def done(self) -> bool:
        """Everything was given out."""
        return self._part >= len(self._parts)

    def due_s(self) -> float:
        """When the next token is due, in seconds of the owner's clock."""
        return self._first_s + self.output_tokens / self._pace.tokens_s

    def play(self, sink: OutputSink, now: float, *, held: bool = False) -> None:
        """Give out all tokens that are due.

        ``held``: the sink lets words go more slowly than they come.
        """
        lag_s, most_s = now - self.due_s(), MOST_HELD_LAG_S if held else MOST_LAG_S
        if lag_s > most_s:
            self._first_s += lag_s - most_s
        due = floor((now - self._first_s) * self._pace.tokens_s + 1e-6) + 1
        while self.output_tokens < due and not self.done:
            self._give(sink, due - self.output_tokens)

    def _give(self, sink: OutputSink, most: int) -> None:
        """Give out tokens of one item as one delta."""
        part, first, count = self._parts[self._part], self._at, 0
        while count < most and self._at < len(part.text):
            self._at += next(self._sizes)
            count += 1
        self.output_tokens += count
        if isinstance(part, ReasoningPart):
            self._reasoning_tokens += count
        if self._index is None:
            self._index = sink.item_added(part.item())
        sink.delta(self._index, part.text[first : self._at])
        if self._at < len(part.text):
            return
        sink.item_done(self._index)
        self._part, self._at, self._index = self._part + 1, 0, None

    def usage(self, input_tokens: int = 0, cached_tokens: int = 0) -> Usage:
        """What was really given out so far, beside what the owner counted of the input."""
        return Usage(input_tokens, self.output_tokens, cached_tokens, self._reasoning_tokens)

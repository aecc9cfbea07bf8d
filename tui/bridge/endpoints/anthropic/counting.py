"""What an answer took, and who served it, as the Messages API tells it bit by bit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tui.bridge.endpoints.telling import Telling
from tui.core.wire.events import Usage

_TIERS = {"standard": "default"}
"""Tiers that our protocol names otherwise."""


class Counting:
    """The usage of one message. What is told later is a sum over all of it, no addition."""

    def __init__(self, telling: Telling, spent: Sequence[Usage] = ()) -> None:
        """``spent``: what earlier answers of the same turn took."""
        self._telling = telling
        self._spent = spent
        self._counts: dict[str, int] = {}

    def begin(self, usage: object) -> None:
        """The message begins: input is counted, of the output hardly anything is."""
        self.more(usage, whole=False)

    def more(self, usage: object, *, whole: bool) -> None:
        """The provider counted; ``whole``: all of the output."""
        if not isinstance(usage, Mapping):
            return
        details = usage.get("output_tokens_details")
        told = {**usage, **details} if isinstance(details, Mapping) else usage
        for name, value in told.items():
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1e15:
                self._counts[name] = value
        self._tell_tier(usage)
        if self._counts:
            self._telling.used(self._sum(), whole=whole)

    @property
    def usage(self) -> Usage:
        """Of this message alone. What went into a cache, or came out of one, was input."""
        count = self._counts.get
        cached = count("cache_read_input_tokens")
        written = count("cache_creation_input_tokens", 0)
        return Usage(
            count("input_tokens", 0) + (cached or 0) + written,
            count("output_tokens", 0),
            cached,
            count("thinking_tokens"),
            written or None,
        )

    def _sum(self) -> Usage:
        """Of all answers of the turn."""
        every = [*self._spent, self.usage]
        cached = [one.cached_tokens for one in every if one.cached_tokens is not None]
        thought = [one.reasoning_tokens for one in every if one.reasoning_tokens is not None]
        return Usage(
            sum(one.input_tokens for one in every),
            sum(one.output_tokens for one in every),
            sum(cached) if cached else None,
            sum(thought) if thought else None,
            sum(one.cache_write_tokens or 0 for one in every) or None,
        )

    def _tell_tier(self, usage: Mapping[str, Any]) -> None:
        speed, tier = usage.get("speed"), usage.get("service_tier")
        if speed == "fast":
            self._telling.tier = "fast"
        elif isinstance(tier, str) and tier:
            self._telling.tier = _TIERS.get(tier, tier)
        elif isinstance(speed, str) and speed:
            self._telling.tier = _TIERS.get(speed, speed)


def _total(counts: Iterable[int | None]) -> int | None:
    """Their sum; None: nobody counted."""
    told = [count for count in counts if count is not None]
    return sum(told) if told else None

"""What one user may take at a time and in a minute."""

from __future__ import annotations

import math
from collections import deque
from typing import Annotated

import msgspec
from msgspec import Struct

SPAN_S = 60.0
_GRAIN_S = 0.1
"""What comes this close together is kept as one: a window has at most 600 entries."""
Count = Annotated[int, msgspec.Meta(ge=1, le=10**12)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Of one user, over all connections to one bridge; None: no limit, or the default one."""

    connections: Count | None = None
    in_flight: Count | None = None
    """Responses at a time."""
    requests_minute: Count | None = None
    tokens_minute: Count | None = None
    """Input and output tokens, as the providers count them."""

    def over(self, defaults: Limits) -> Limits:
        """These, and the defaults where they say nothing."""
        return Limits(
            self.connections or defaults.connections,
            self.in_flight or defaults.in_flight,
            self.requests_minute or defaults.requests_minute,
            self.tokens_minute or defaults.tokens_minute,
        )


class _Grain(Struct):
    """What was taken within a tenth of a second."""

    began_s: float
    ended_s: float
    amount: int = 0


class RateWindow:
    """How much was taken in the last minute, wherever that minute begins."""

    def __init__(self) -> None:
        self._taken: deque[_Grain] = deque()
        self._sum = 0

    def take(self, amount: int, now_s: float) -> None:
        """Note what was taken."""
        self._sum += amount
        if not self._taken or now_s - self._taken[-1].began_s >= _GRAIN_S:
            self._taken.append(_Grain(now_s, now_s))
        self._taken[-1].ended_s = now_s
        self._taken[-1].amount += amount

    def pause_s(self, limit: int | None, now_s: float) -> float:
        """How long until something more may be taken; 0: now."""
        while self._taken and self._taken[0].ended_s <= now_s - SPAN_S:
            self._sum -= self._taken.popleft().amount
        if limit is None or self._sum < limit:
            return 0.0
        left = self._sum
        for grain in self._taken:
            left -= grain.amount
            if left < limit:
                return grain.ended_s + SPAN_S - now_s
        return SPAN_S


def whole_seconds(pause_s: float) -> int:
    """A pause as ``Retry-After`` says it."""
    return max(1, math.ceil(pause_s))

"""How fast the words of a run may come to its client."""

from __future__ import annotations

import asyncio
import functools
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable

from tui.core.wire.server.run import Run

_CHARS_PER_TOKEN = 4
_PIECES_S = 60
"""More frames a second than this are not smoother to anybody."""
_LOOK_S = 0.05
"""A new rate, given while a piece waits, is heard so soon."""
_AHEAD_S = 0.05
"""What a provider was late with may come so much faster behind it."""


class Pace:
    """The rate of one run: what its request asked for, or the client's newer word."""

    def __init__(self, run: Run, asked_tokens_s: float = math.inf) -> None:
        self._run = run
        self._asked_tokens_s = asked_tokens_s
        self._credit = 0.0
        """Tokens that may come now."""
        self._since_s = time.monotonic()

    @property
    def tokens_s(self) -> float:
        """Tokens a second, four characters each; `math.inf`: as fast as they come."""
        newer = self._run.tokens_s
        return self._asked_tokens_s if newer is None else newer

    @property
    def free(self) -> bool:
        """There is no limit."""
        return self.tokens_s == math.inf

    @property
    def chars(self) -> int:
        """Of a piece of text that comes at once; 0: all of it."""
        rate = self.tokens_s
        return 0 if rate == math.inf else max(1, round(rate / _PIECES_S)) * _CHARS_PER_TOKEN

    async def take(self, chars: int) -> None:
        """Wait until so many characters may come."""
        tokens = chars / _CHARS_PER_TOKEN
        while True:
            rate, now = self.tokens_s, time.monotonic()
            if rate == math.inf:
                self._since_s, self._credit = now, 0.0
                return
            self._credit += (now - self._since_s) * rate
            self._since_s = now
            if self._credit >= tokens:
                # Behind a pause of the provider only a little comes at once.
                self._credit = min(self._credit - tokens, rate * _AHEAD_S)
                return
            await asyncio.sleep(min((tokens - self._credit) / rate, _LOOK_S))


class _Held:
    """A text that is told piece by piece; or, without a text, what is told behind one."""

    __slots__ = ("_at", "_tell", "_text")

    def __init__(self, text: str, tell: Callable[[str], object]) -> None:
        self._text, self._tell, self._at = text, tell, 0

    def chars(self, most: int) -> int:
        """Of the next piece."""
        left = len(self._text) - self._at
        return min(most, left) if most else left

    def pass_over(self, chars: int) -> Callable[[], object]:
        """What tells the next piece, which is no more to be told after that."""
        at, self._at = self._at, self._at + chars
        return functools.partial(self._tell, self._text[at : self._at])


class Turns:
    """What is told of a run, in its order; words, and what follows them, in their time."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self._held: deque[_Held] = deque()

    @property
    def held(self) -> bool:
        """Something waits."""
        return bool(self._held)

    @property
    def waiting(self) -> bool:
        """There is a limit now, or something is held."""
        return bool(self._held) or not self.pace.free

    def say(self, tell: Callable[[], object]) -> None:
        """Tell something now, or behind the words that are held."""
        if self._held:
            self._held.append(_Held("", lambda _nothing: tell()))
        else:
            tell()

    def words(self, text: str, tell: Callable[[str], None]) -> None:
        """Tell a text, whole, or piece by piece as `release` lets it go."""
        if self.waiting:
            self._held.append(_Held(text, tell))
        else:
            tell(text)

    async def release(self, write: Callable[[], Awaitable[None]]) -> None:
        """Tell what is held, and have it written; raises what telling raises."""
        held = self._held
        while held:
            first = held[0]
            chars = first.chars(self.pace.chars)
            if chars and not self.pace.free:
                await write()
                await self.pace.take(chars)
            tell = first.pass_over(chars)
            if not first.chars(0):
                held.popleft()
            tell()
        await write()

    def drop(self) -> None:
        """What is held is told to nobody."""
        self._held.clear()

"""Writes the response of a run, as a kind of endpoint tells it, at the rate its client wants."""

from __future__ import annotations

import asyncio
import functools
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec

from tui.bridge.endpoints.base import Broken, Refused, ResponseFailed, Steered, Unusable
from tui.core.wire.events import Usage
from tui.core.wire.json_writing import is_long
from tui.core.wire.masking import Mask
from tui.core.wire.server.run import (
    TOLD_BY_OTHERS,
    FinishStatus,
    Run,
    required_outputs,
    usage_fields,
)

_CHARS_PER_TOKEN = 4
_PIECES_S = 60
"""More frames a second than this are not smoother to anybody."""
_LOOK_S = 0.05
"""A new rate, given while a piece waits, is heard so soon."""
_AHEAD_S = 0.05
"""What a provider was late with may come so much faster behind it."""


class TokenRate:
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


class _PacedText:
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


class PacedOutput:
    """What is told of a run, in its order; words, and what follows them, in their time."""

    def __init__(self, pace: TokenRate) -> None:
        self.pace = pace
        self._held: deque[_PacedText] = deque()

    @property
    def waiting(self) -> bool:
        """There is a limit now, or something is held."""
        return bool(self._held) or not self.pace.free

    def say(self, tell: Callable[[], object]) -> None:
        """Tell something now, or behind the words that are held."""
        if self._held:
            self._held.append(_PacedText("", lambda _nothing: tell()))
        else:
            tell()

    def words(self, text: str, tell: Callable[[str], None]) -> None:
        """Tell a text, whole, or piece by piece as `release` lets it go."""
        if self.waiting:
            self._held.append(_PacedText(text, tell))
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


CHARS_PER_TOKEN = 4
MOST_CHARS = 16 * 1024 * 1024
MOST_EVENTS = 1_000_000
"""Of one answer. No model gives as much; what it costs to keep is bounded by it."""

_MOST_ASIDE = 2**14, 1000
"""Characters and values of what is no part of an answer, such as rate limits: more is not told."""
_OF_ANSWER = frozenset({"item", "item_id", "output_index"})
"""Fields of the events that tell of an item."""


class ResponseWriter:
    """One run. What fails raises; what ends well ends the run.

    While the run has a limit of tokens a second, its words and what follows them are held, and
    `flush` lets them go in time: whoever tells has to await it often, and has it waited then.
    """

    def __init__(
        self,
        run: Run,
        flush: Callable[[], Awaitable[None]],
        pace: TokenRate | None = None,
        mask: Mask | None = None,
    ) -> None:
        """``flush`` writes what was told, and waits while the client does not read.

        ``mask`` knows what nobody who answers may say of himself.
        """
        self._run = run
        self._write = flush
        self._mask = mask or Mask()
        self._written: Awaitable[None] | None = None
        """What `flushed` has not waited for."""
        self._paced = PacedOutput(pace or TokenRate(run))
        self.began = False
        """Something of the answer was told: from here on nobody else is asked."""
        self._next = run.next_index
        """Output index of the next item, when all that is held was told."""
        self.told = 0
        """How many times something of it was: who looks twice sees whether more came."""
        self._whole = True
        """The provider's count holds all of the output so far."""
        self._usage: Usage | dict[str, Any] | None = None
        self._asked_tokens: int | None = None
        """Tokens of the request, once they have been estimated."""
        self._chars = self._counted_chars = 0
        """Of the output that came, and of that when the provider's count last grew."""

    @property
    def output(self) -> list[dict[str, Any]]:
        """The finished items."""
        return self._run.output

    @property
    def done(self) -> bool:
        """The response has ended."""
        return self._run.done

    @property
    def served(self) -> str:
        """The model that answers, as its provider names it; set it when it is known."""
        return str(self._run.served.get("model") or "")

    @served.setter
    def served(self, model: str) -> None:
        self._run.served["model"] = self._mask.text(model)

    @property
    def tier(self) -> str:
        """The service tier that answers, as its provider names it; set it when it is known."""
        return str(self._run.served.get("service_tier") or "")

    @tier.setter
    def tier(self, name: str) -> None:
        self._run.served["service_tier"] = self._mask.text(name)

    def left_out(self, fields: Iterable[str]) -> None:
        """Fields that the server does not take, and that it was not sent."""
        if names := ", ".join(fields):
            self.note(duetto_left_out=names[:200])

    def note(self, **words: str) -> None:
        """More of who answers, for the response's ``metadata``; each name begins ``duetto_``."""
        told = {name: self._mask.text(text) for name, text in words.items()}
        self._run.served["metadata"] = {**self._run.served.get("metadata", {}), **told}

    @property
    def usage(self) -> Usage | dict[str, Any]:
        """As the provider told it last; what it did not count is four characters a token.

        Then it says ``estimated``.
        """
        known = self._usage
        if known is not None and (self._whole or isinstance(known, dict)):
            return known
        tokens = -(-max(0, self._run.chars - self._counted_chars) // CHARS_PER_TOKEN)
        if known is None:
            self.reckon()
            counted = Usage(self._asked_tokens or 0, tokens)
        elif tokens:
            counted = msgspec.structs.replace(known, output_tokens=known.output_tokens + tokens)
        else:
            return known
        return {**usage_fields(counted), "estimated": True}

    def reckon(self) -> None:
        """Estimate what the run was asked, once; of a long request that takes a while."""
        if self._asked_tokens is None:
            self._asked_tokens = estimated_input(self._run)

    def used(self, usage: Usage | dict[str, Any], *, whole: bool = True) -> None:
        """The provider's count; not ``whole``: of the output so far, if it goes with it at all."""
        before = self._usage.output_tokens if isinstance(self._usage, Usage) else 0
        if not isinstance(usage, Usage) or usage.output_tokens > before:
            self._counted_chars = self._chars
        self._usage, self._whole = usage, whole

    def item_added(self, item: dict[str, Any]) -> int:
        """See `Run.item_added`; it begins behind the words that are held."""
        self.began = True
        self.told += 1
        index = self._next
        self._next += 1
        self._paced.say(functools.partial(self._run.item_added, dict(item)))
        return index

    @property
    def paced(self) -> bool:
        """There is a limit now, or words are held: `flush` is wanted behind each event."""
        return self._paced.waiting

    def flushed(self) -> bool:
        """Write what was told, now; False: `flush` is to be awaited, it may have to wait.

        Raises Broken: there is no end to it.
        """
        if self._paced.waiting:
            return False
        _look_for_end(self._run)
        written = self._write()
        if getattr(written, "needed", True):
            self._written = written
        return self._written is None

    async def flush(self) -> None:
        """Write what was told; wait while the client does not read, or while words are held.

        Raises:
            Steered: an item that was held was the last one.
            Broken: there is no end to it.
        """
        written, self._written = self._written, None
        if written is not None:
            await written
        await self._paced.release(self._write)
        _look_for_end(self._run)

    def drop(self) -> None:
        """What is held is told to nobody."""
        self._paced.drop()

    def delta(self, index: int, text: str, family: str = "") -> None:
        """See `Run.delta`."""
        self.told += 1
        self._chars += len(text)
        if self._paced.waiting:
            self._paced.words(text, lambda piece: self._run.delta(index, piece, family))
        else:
            self._run.delta(index, text, family)

    def item_done(self, index: int, item: dict[str, Any] | None = None) -> None:
        """See `Run.item_done`. Raises Steered: this was the last item."""

        def tell() -> None:
            self._run.item_done(index, item)
            self._look()

        self._paced.say(tell)

    def pass_on(self, event: dict[str, Any]) -> None:
        """See `Run.pass_on`. Raises Steered: this was the last item.

        A long event that is nothing of the answer is left out.
        """
        # Others' events (rate limits, metadata, signs of life) are nothing of the answer.
        if not _OF_ANSWER.isdisjoint(event):
            self.began = True
            self.told += 1
        elif is_long(event, *_MOST_ASIDE):
            return
        else:
            event = {name: self._mask.value(value, name) for name, value in event.items()}
        delta, index = event.get("delta"), event.get("output_index")
        if isinstance(index, int):
            self._next = max(self._next, index + 1)
        self._chars += len(delta) if isinstance(delta, str) else 0
        if isinstance(delta, str) and self._paced.waiting:
            self._paced.words(delta, lambda piece: self._run.pass_on({**event, "delta": piece}))
            return

        def tell() -> None:
            self._run.pass_on(event)
            if event.get("type") == "response.output_item.done":
                self._look()

        self._paced.say(tell)

    def finish(self, status: FinishStatus = "completed", reason: str | None = None) -> None:
        """End the response; ``reason`` is that of an incomplete one.

        Raises Broken: there was no end to it.
        """
        _look_for_end(self._run)
        self._paced.say(lambda: self._run.finish(status, self.usage, reason))

    def finish_steered(self) -> None:
        """End a response that was cut for the client's new input."""
        if required_outputs(self._run.output):
            self.finish()
        else:
            self.finish("incomplete", "steered")

    def conclude(self, status: FinishStatus, response: dict[str, Any]) -> None:
        """End it as a server that speaks the Responses API ended it; see `Run.conclude`.

        Raises:
            Failed: it failed, and nothing of an answer was told; others may be asked.
            Broken: there was no end to it.
        """
        _look_for_end(self._run)
        if status == "failed" and not self.began:
            raise ResponseFailed(response)
        told = {
            key: self._mask.value(value)
            for key in TOLD_BY_OTHERS
            if not is_long(value := response.get(key), *_MOST_ASIDE)
        }
        self._paced.say(functools.partial(self._run.conclude, status, told))

    def give_up(self, code: str, message: str) -> None:
        """End it as failed by a provider that had begun; see `conclude`."""
        usage = self.usage
        counted = usage_fields(usage) if isinstance(usage, Usage) else usage
        self.conclude("failed", {"error": {"code": code, "message": message}, "usage": counted})

    def refuse(self, status: int, code: str, message: str, *more: Any) -> None:
        """Raises Refused; ``more``: see `Run.refuse`."""
        param, headers = (*more, None, None)[:2]
        refused = Refused(status, code, message, param=param or "")
        pause = (headers or {}).get("retry-after")
        refused.retry_after_s = None if pause is None else float(pause)
        raise refused

    def fail(self, code: str, message: str) -> None:
        """Raises Broken. A provider's own failure, with its code, is told by `conclude`."""
        raise Broken(message)

    def _look(self) -> None:
        if self._run.steered and not self._run.unfinished:
            raise Steered


def _look_for_end(run: Run) -> None:
    if max(run.chars, run.item_chars) > MOST_CHARS:
        raise Unusable(f"The answer is longer than {MOST_CHARS >> 20} MB: it was stopped.")
    if run.said > MOST_EVENTS:
        raise Unusable("The answer does not come to an end: it was stopped.")


def estimated_input(run: Run) -> int:
    """Tokens of what a run was asked, where nobody counts them."""
    said = [run.full_input, run.request.get("instructions"), run.request.get("tools")]
    return characters_in(said) // CHARS_PER_TOKEN


def characters_in(value: object) -> int:
    """Characters of all texts in a JSON value; pictures and other data are none."""
    count, rest = 0, [value]
    while rest:  # no recursion: a request may be nested as deep as its reader let it
        part = rest.pop()
        if isinstance(part, str):
            count += 0 if part.startswith("data:") else len(part)
        elif isinstance(part, Mapping):
            rest.extend(part.values())
        elif isinstance(part, list):
            rest.extend(part)
    return count

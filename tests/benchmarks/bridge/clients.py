"""All clients, in a process of their own: ``python -m tests.benchmarks.bridge.clients``.

What it is asked is a method of `Clients`.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.benchmarks.bridge.wires import (
    Wire,
    created,
    dial_bridge,
    dial_provider,
    direct_request,
    interrupt,
)
from tests.benchmarks.transport.worker import answer_questions

_AT_ONCE = 50
"""Sockets that are dialled at a time."""


class Clients:
    """Connections to the provider and to the bridge."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._idle: list[Wire] = []
        self._streams: list[Wire] = []

    async def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """A question's ``do`` is a method's name without its underscore, the rest its words."""
        did: dict[str, Any] = await getattr(self, f"_{question.pop('do')}")(**question)
        return did

    async def _turns(
        self, kind: str, port: int, url: str, token: str, count: int
    ) -> dict[str, Any]:
        """Times to the first token in ms, direct and through the bridge, taken in turn."""
        direct, through = await dial_provider(kind, port), await dial_bridge(url, token)
        times: dict[str, list[float]] = {"direct": [], "through": []}
        for _ in range(count):
            model = f"1-0-t{next(self._numbers)}"
            for name, wire, message in (
                ("direct", direct, direct_request(kind, model)),
                ("through", through, created(model)),
            ):
                sent_s = wire.begin(message)
                await wire.over()
                times[name].append((wire.first_s - sent_s) * 1000)
                await asyncio.sleep(0.002)
        _close(direct, through)
        return times

    async def _burst(
        self, kind: str, port: int, url: str, token: str, tokens: int
    ) -> dict[str, Any]:
        """Our processor time of one answer, direct and through the bridge."""
        model = f"{tokens}-0-b{next(self._numbers)}"
        direct, through = await dial_provider(kind, port), await dial_bridge(url, token)
        spent: dict[str, Any] = {}
        for name, wire, message in (
            ("direct", direct, direct_request(kind, model)),
            ("through", through, created(model)),
        ):
            before_s = time.process_time()
            wire.begin(message)
            await wire.over()
            spent[name] = time.process_time() - before_s
            spent[f"{name}_tokens"] = wire.tokens
        _close(direct, through)
        return spent

    async def _idle_too(self, url: str, token: str, count: int) -> dict[str, Any]:
        """Open sockets that ask nothing."""
        self._idle += await _dialled(url, token, count)
        return {"open": len(self._idle)}

    async def _begin(
        self, url: str, token: str, count: int, tokens: int, rate: int
    ) -> dict[str, Any]:
        """Open streams, each on a socket of its own, begun evenly over one token's time."""
        asked = [(wire, created) for wire in await _dialled(url, token, count)]
        return await self._stream(asked, tokens, rate)

    async def _begin_directly(
        self, kind: str, port: int, count: int, tokens: int, rate: int
    ) -> dict[str, Any]:
        """The same without the bridge: what this machine makes of such a pace."""
        ask = functools.partial(direct_request, kind)
        asked = [(await dial_provider(kind, port), ask) for _ in range(count)]
        return await self._stream(asked, tokens, rate)

    async def _stream(
        self, asked: Sequence[tuple[Wire, Callable[[str], bytes]]], tokens: int, rate: int
    ) -> dict[str, Any]:
        self._streams = [wire for wire, _ in asked]
        for wire, ask in asked:
            wire.begin(ask(f"{tokens}-{rate}-s{next(self._numbers)}"))
            await asyncio.sleep(1 / rate / len(asked))
        for wire in self._streams:
            await wire.first()
        return {}

    async def _interrupts(self, url: str, token: str, count: int, rate: int) -> dict[str, Any]:
        """Interrupt as many streams in their midst, one behind the other; when, by tag."""
        (wire,) = await _dialled(url, token, 1)
        sent: dict[str, float] = {}
        for _ in range(count):
            tag = f"i{next(self._numbers)}"
            wire.begin(created(f"100000-{rate}-{tag}"))
            await wire.first()
            await asyncio.sleep(0.02)
            assert wire.transport is not None
            sent[tag] = time.perf_counter()
            wire.transport.write(interrupt(wire.response_id))
            await wire.over()
        _close(wire)
        return {"sent_s": sent}

    async def _finish(self, tokens: int, rate: int) -> dict[str, Any]:
        """Wait for the streams' ends: how late their tokens were, in ms, and how many came."""
        late: list[float] = []
        for wire in self._streams:
            await wire.over()
            # The earliest token is the clock: how much later than at their pace the others came.
            start_s = min(at_s - (count - 1) / rate for at_s, count in wire.stamps)
            late += [(at_s - start_s - (count - 1) / rate) * 1000 for at_s, count in wire.stamps]
        came = sum(wire.tokens for wire in self._streams)
        _close(*self._streams)
        late.sort()
        p95, most = late[int(len(late) * 0.95)], late[-1]
        return {"tokens": came, "wanted": tokens * len(self._streams), "p95": p95, "max": most}


async def _dialled(url: str, token: str, count: int) -> list[Wire]:
    wires: list[Wire] = []
    for first in range(0, count, _AT_ONCE):
        some = range(min(_AT_ONCE, count - first))
        wires += await asyncio.gather(*(dial_bridge(url, token) for _ in some))
    return wires


def _close(*wires: Wire) -> None:
    for wire in wires:
        if wire.transport is not None:
            wire.transport.abort()


async def serve() -> None:
    """Answer until stdin closes."""
    await answer_questions({"pid": os.getpid()}, Clients().answer)


if __name__ == "__main__":
    asyncio.run(serve())

"""Faults of the way by HTTP+SSE: the bridge and the endpoint behind it (PROTOCOL section 11)."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from aiohttp import web
from msgspec.structs import replace

from tests.support.bridge_client import specification
from tests.support.fault_stand import PATIENT, Stand, seated
from tests.support.nasty_server import Nasty
from tests.support.sse_upstream import (
    Answer,
    SseUpstream,
    completed,
    message,
    opening,
    saying,
    serving,
    stream,
)
from tests.support.tables import each
from tui.core.wire.address import Address
from tui.effects.bridge_process import BridgeProcess
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint
from tui.engine import intents

pytestmark = pytest.mark.slow

WHOLE = saying(opening() + message("one ", "two") + completed())
HALF = (opening() + message("one ", "two"))[:-200]


class Turns:
    """An answer for each request, the last one for all that follow."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = [*answers]

    async def __call__(self, request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return await answer(request, upstream)


async def half(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
    """Say the beginning of an answer, then nothing."""
    response = await stream(request)
    await response.write(HALF)
    await asyncio.sleep(60)
    return response


@asynccontextmanager
async def behind_the_bridge(
    *answers: Answer,
) -> AsyncIterator[tuple[Stand, SseUpstream, BridgeProcess]]:
    """A session at an endpoint that refuses the WebSocket, over a bridge of its own."""
    async with serving(Turns(*answers)) as upstream:
        address = upstream.address
        bridge = BridgeProcess(endpoints={"up": specification(address)})

        async def websocket() -> Address:
            return Address(f"ws{address.url.removeprefix('http')}", address.headers)

        endpoint = Endpoint(
            "up",
            websocket,
            MonotonicClock(),
            options=replace(PATIENT, ping_interval_s=0.1, silence_s=5.0),
            fallback=partial(bridge.address, "up"),
        )
        try:
            async with seated(endpoint, Nasty([])) as at:
                yield at, upstream, bridge
        finally:
            await bridge.close()


def said(upstream: SseUpstream) -> list[str]:
    """The users' and the model's words in the last request."""
    items = upstream.bodies[-1]["input"]
    return [part["text"] for item in items for part in item.get("content", ())]


@each("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_bridge_that_ends_while_it_relays_is_replaced(how: signal.Signals) -> None:
    async with behind_the_bridge(half, WHOLE) as (at, upstream, bridge):
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: "one" in at.seat.said())
        first = bridge.pid
        assert first is not None
        os.kill(first, how)
        await at.seat.idle()
        assert (at.whole, at.troubles) == (["one two"], [])
        assert bridge.pid not in (None, first)
        assert said(upstream) == ["go"]
        await at.seat.ask("more")
        assert said(upstream) == ["go", "one two", "more"]


async def test_a_redirect_by_the_user_closes_the_request() -> None:
    async with behind_the_bridge(half, WHOLE) as (at, upstream, _):
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: "one" in at.seat.said())
        at.session.submit(intents.Prompt("rather"))
        await at.seat.until(lambda: at.whole)
        await asyncio.wait_for(upstream.gone.wait(), 60)
        assert said(upstream)[0] == "go"
        assert said(upstream)[-1] == "rather"

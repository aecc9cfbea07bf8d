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

from tests.support.bridge_client import specification
from tests.support.fault_stand import Stand, seated, unhurried
from tests.support.nasty_server import Nasty
from tests.support.sse_upstream import (
    Answer,
    SseUpstream,
    completed,
    message,
    opening,
    refusing,
    saying,
    serving,
    stream,
)
from tui.core.wire.address import Address
from tui.effects.bridge_process import BridgeProcess
from tui.effects.clock import MonotonicClock
from tui.effects.wire import Endpoint
from tui.engine import intents

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


async def broken(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
    """Say the beginning of an answer, then break the connection."""
    response = await stream(request)
    await response.write(HALF)
    assert request.transport is not None
    request.transport.abort()
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
            options=unhurried(silence_s=1.0, event_s=20.0),
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


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hung"])
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


async def test_an_upstream_that_breaks_off_is_asked_again() -> None:
    async with behind_the_bridge(broken, broken, WHOLE) as (at, upstream, _):
        await at.seat.ask("go")
        assert (at.whole, at.troubles) == (["one two"], [])
        assert len(upstream.bodies) == 3
        assert said(upstream) == ["go"]
        assert upstream.upgrades == 1


async def test_a_redirect_by_the_user_closes_the_request() -> None:
    async with behind_the_bridge(half, WHOLE) as (at, upstream, _):
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: "one" in at.seat.said())
        at.session.submit(intents.Prompt("rather"))
        await at.seat.until(lambda: at.whole)
        await asyncio.wait_for(upstream.gone.wait(), 10)
        assert said(upstream)[0] == "go"
        assert said(upstream)[-1] == "rather"


async def test_a_key_that_works_again_needs_nothing_but_another_try() -> None:
    async with behind_the_bridge(refusing(401, {"error": "no"}), WHOLE) as (at, upstream, _):
        await at.seat.ask("go")
        assert at.session.status.outcome == "failed"
        assert at.session.status.unsent == "go"
        await at.seat.ask("go")
        assert (at.whole, said(upstream)) == (["one two"], ["go"])
        assert upstream.upgrades == 1, "the WebSocket was refused: it is not come back to"


async def test_a_time_to_retry_after_is_waited_for() -> None:
    busy = refusing(429, {"error": {"message": "Slow."}}, **{"Retry-After": "7"})
    async with behind_the_bridge(busy, WHOLE) as (at, upstream, _):
        await at.seat.ask("go")
        assert (at.whole, len(upstream.bodies)) == (["one two"], 2)
        assert at.waits == [1.0] * 7
        assert "Slow: trying again in 7 s (1 of 5)" in at.notes

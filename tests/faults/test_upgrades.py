"""Upgrades that are refused, and the other way to the endpoint (PROTOCOL sections 1, 4, 11)."""

from __future__ import annotations

import pytest

from tests.support.fault_stand import FINE, NEXT, stand
from tests.support.nasty_server import Nasty, Refusal, greeting, nasty
from tests.support.nasty_steps import Close, Ending, Fin, Reset, Step
from tests.support.server_words import created, error, spoken, turn
from tests.support.tables import each
from tui.core.conversation import BlockKind
from tui.core.wire.endpoint_facts import Capabilities
from tui.engine import intents

ALWAYS = 50


async def test_a_refused_key_is_told_at_once() -> None:
    server = Nasty([FINE], refusals=[Refusal(401)] * ALWAYS)
    async with nasty(Nasty([FINE])) as other, stand(server, other=other) as at:
        await at.seat.ask("go")
        assert (at.session.status.outcome, server.upgrades) == ("failed", 1)
        assert len(at.troubles) == 1
        assert "refused the key" in at.troubles[0]
        assert "sk-a-secret-key" not in at.troubles[0]
        assert at.session.status.unsent == "go"
        server.refusals.clear()
        await at.goes_on()


@each("status", [404, 426, 503])
async def test_without_another_way_a_refusal_is_told(status: int) -> None:
    server = Nasty([FINE], refusals=[Refusal(status)] * ALWAYS)
    async with stand(server) as at:
        await at.seat.ask("go")
        assert (at.session.status.outcome, len(at.troubles)) == ("failed", 1)
        assert server.upgrades == (6 if status == 503 else 1)
        assert at.session.status.unsent == "go"
        server.refusals.clear()
        await at.goes_on()


@each("status", [200, 204, 302, 400, 403, 404, 405, 422, 426, 501])
async def test_where_there_is_no_websocket_http_is_used_at_once(status: int) -> None:
    server, relay = Nasty([FINE], refusals=[Refusal(status)] * ALWAYS), Nasty([FINE])
    async with nasty(relay) as other, stand(server, other=other) as at:
        await at.seat.ask("go")
        assert (at.whole, at.troubles) == (["fine"], [])
        assert (server.upgrades, len(relay.requests), at.waits) == (1, 1, [])
        assert at.session.status.transport == "http"
        assert at.capabilities.websocket is False
        relay.script = [FINE, turn(2, *spoken("more", "msg_more"))]
        await at.seat.ask("again")
        assert (at.whole, server.upgrades) == (["fine", "more"], 1)
        assert relay.faults == []


async def test_where_something_on_the_way_spoils_the_upgrade_http_is_used_at_once() -> None:
    server, relay = Nasty([FINE]), Nasty([FINE])
    spoilt = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
    async with (
        nasty(relay) as other,
        greeting(spoilt) as port,
        stand(server, url=f"ws://127.0.0.1:{port}/v1/responses", other=other) as at,
    ):
        await at.seat.ask("go")
        assert (at.whole, at.troubles, at.waits) == (["fine"], [], [])
        assert at.session.status.transport == "http"


@each("status", [500, 503, 529])
async def test_a_server_that_fails_at_upgrades_is_asked_by_http_at_once(status: int) -> None:
    server, relay = Nasty([FINE], refusals=[Refusal(status)] * ALWAYS), Nasty([FINE])
    async with nasty(relay) as other, stand(server, other=other) as at:
        await at.seat.ask("go")
        assert (at.whole, at.troubles, at.waits) == (["fine"], [], [])
        assert (server.upgrades, len(relay.requests)) == (1, 1)
        assert (at.session.status.transport, at.capabilities.websocket) == ("http", None)
        relay.script = [FINE, NEXT]
        await at.seat.ask("again")
        assert (server.upgrades, relay.faults) == (1, [])


async def test_a_server_that_is_down_for_a_moment_is_waited_for_both_ways() -> None:
    down: Step = error(503, "http_503", "it restarts")
    server, relay = Nasty([FINE], refusals=[Refusal(503)] * 3, echo=True), Nasty([[down]])
    async with nasty(relay) as other, stand(server, other=other) as at:
        await at.seat.ask("go")
        assert (at.whole, at.troubles) == (["fine"], [])
        assert (server.upgrades, len(relay.requests)) == (4, 3)
        assert (at.session.status.transport, at.capabilities.websocket) == ("websocket", True)
        await at.goes_on()


async def test_where_the_other_way_cannot_be_gone_it_is_waited_for() -> None:
    server = Nasty([FINE], refusals=[Refusal(503)] * 3, echo=True)
    async with (
        greeting(b"nonsense\r\n\r\n") as port,
        stand(server, other=f"ws://127.0.0.1:{port}/v1/responses") as at,
    ):
        await at.seat.ask("go")
        assert (at.whole, at.troubles, server.upgrades) == (["fine"], [], 4)
        assert at.session.status.transport == "websocket"


async def test_one_that_stays_down_is_given_up_after_as_many_tries() -> None:
    down: Step = error(503, "http_503", "it restarts")
    server, relay = Nasty([FINE], refusals=[Refusal(503)] * ALWAYS, echo=True), Nasty([[down]])
    async with nasty(relay) as other, stand(server, other=other) as at:
        await at.seat.ask("go")
        assert (at.session.status.outcome, len(at.troubles)) == ("failed", 1)
        assert (server.upgrades, len(relay.requests)) == (6, 6)
        assert sum(at.waits) == pytest.approx(6.2)
        server.refusals.clear()
        await at.goes_on()
        assert at.session.status.transport == "websocket"


async def test_one_that_took_a_websocket_before_is_waited_for_there() -> None:
    server, relay = Nasty([FINE], refusals=[Refusal(503)] * 3, echo=True), Nasty([FINE])
    known = Capabilities(websocket=True)
    async with nasty(relay) as other, stand(server, other=other, capabilities=known) as at:
        await at.seat.ask("go")
        assert (at.whole, at.troubles) == (["fine"], [])
        assert (server.upgrades, relay.requests) == (4, [])
        server.script = [*[[] for _ in server.inputs], [Reset()]]
        server.refusals += [Refusal(503)] * ALWAYS
        await at.seat.ask("and then")
        assert at.session.status.transport == "http"
        assert known.websocket is None


@each("status", [429, 503])
async def test_a_server_that_says_when_is_asked_then(status: int) -> None:
    server = Nasty([FINE], refusals=[Refusal(status, {"Retry-After": "3"})] * 2, echo=True)
    async with stand(server) as at:
        seen: list[float | None] = []
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: seen.append(at.session.status.retry_s) or at.whole)
        assert (at.whole, at.troubles, server.upgrades) == (["fine"], [], 3)
        assert at.waits == pytest.approx([1.0] * 6)
        assert at.session.status.retry_s is None
        await at.goes_on()


async def test_what_keeps_breaking_goes_on_over_http() -> None:
    tries = [[created(f"resp_{n}"), *spoken("one", f"msg_{n}"), Reset()] for n in range(6)]
    server = Nasty(tries, echo=True)
    relay = Nasty([FINE], echo=True)
    async with nasty(relay) as other, stand(server, other=other) as at:
        await at.seat.ask("go")
        assert (at.session.status.outcome, at.troubles) == ("completed", [])
        assert (len(server.requests), len(relay.requests)) == (6, 1)
        assert at.whole[-1] == "fine"
        assert at.session.status.transport == "http"
        assert any("HTTP" in note for note in at.notes)
        assert relay.faults == []


async def test_what_is_too_big_for_both_ways_is_told_with_the_advice() -> None:
    words = {"message": "No such path.", "code": "http_404"}
    missing: Step = {"type": "error", "status": 404, "error": words}
    server, relay = Nasty([[Close(1009)]], echo=True), Nasty([[missing]], echo=True)
    async with nasty(relay) as other, stand(server, other=other) as at:
        await at.seat.ask("go")
        assert at.session.status.outcome == "failed"
        assert "/clear" in at.seat.troubles[0].next_step
        await at.goes_on()
        assert at.session.status.transport == "websocket"
        assert len(relay.requests) == 1


async def test_esc_ends_the_wait_for_a_retry() -> None:
    server = Nasty([FINE], refusals=[Refusal(503)] * ALWAYS)
    async with stand(server) as at:
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: server.upgrades >= 1)
        at.session.submit(intents.Interrupt())
        await at.seat.idle()
        assert at.session.status.outcome == "interrupted"
        assert at.seat.texts(BlockKind.TEXT) == []
        server.refusals.clear()
        await at.goes_on()


@each("goodbye", [Close(1013), Close(1000), Reset(), Fin()])
async def test_a_server_that_lets_in_and_closes_is_not_dialled_in_a_storm(goodbye: Ending) -> None:
    server = Nasty([FINE], on_connect=[goodbye], echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        assert (at.session.status.outcome, server.connections) == ("failed", 6)
        assert len(at.troubles) == 1
        assert len(at.waits) >= 4
        server.on_connect = []
        await at.goes_on()


async def test_one_that_refuses_to_go_on_is_asked_once() -> None:
    server = Nasty([FINE], on_connect=[Close(1008, "no more of this")], echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        assert (server.connections, len(at.troubles)) == (1, 1)
        assert "no more of this" in at.troubles[0]
        server.on_connect = []
        await at.goes_on()

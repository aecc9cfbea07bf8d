"""WebSocket, HTTP+SSE by the bridge's relay, and the way back."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from tests.effects.wire.host import Desk, hosting, states
from tui.core.wire import events
from tui.core.wire.address import Address
from tui.effects.wire import ConnectionOptions
from tui.errors import EndpointError, KeyRefused


@pytest.mark.parametrize("status", [400, 404, 405, 426, 501])
async def test_a_refused_websocket_is_left_for_http_at_once(status: int) -> None:
    async with hosting() as host, hosting() as relay:
        host.refusal = status
        desk = Desk(host, relay)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        assert states(heard) == ["connecting", "open"]
        assert lane.transport == "http"
        assert desk.known.websocket is False
        assert [known.websocket for known in desk.learnt] == [False]
        assert desk.known.lanes is None, "what the relay can is not what the endpoint can"
        assert len(relay.asked) == 1
        assert desk.endpoint.views()[0].transport == "http"
        assert not lane.fall_back()
        await desk.endpoint.close()


@pytest.mark.parametrize("status", [401, 403, 429, 503])
async def test_what_is_no_refusal_of_the_protocol_is_told(status: int) -> None:
    async with hosting() as host, hosting() as relay:
        host.refusal = status
        desk = Desk(host, relay)
        lane, _ = desk.lane("main")
        with pytest.raises(EndpointError) as raised:
            await lane.open()
        assert raised.value.transient == (status in (429, 503))
        assert isinstance(raised.value, KeyRefused) == (status in (401, 403))
        assert lane.transport == "websocket"
        await desk.endpoint.close()


async def test_without_a_relay_the_refusal_is_told() -> None:
    async with hosting() as host:
        host.refusal = 426
        desk = Desk(host)
        lane, heard = desk.lane("main")
        with pytest.raises(EndpointError, match="HTTP 426") as raised:
            await lane.open()
        assert raised.value.http_may_work
        assert not raised.value.transient
        assert not lane.fall_back()
        assert "HTTP 426" in await heard.closed()
        await desk.endpoint.close()


async def test_a_relay_that_is_not_there_either_is_told() -> None:
    async with hosting() as host, hosting() as relay:
        host.refusal, relay.refusal = 426, 503
        desk = Desk(host, relay)
        lane, heard = desk.lane("main")
        with pytest.raises(EndpointError, match="HTTP 503"):
            await lane.open()
        relay.refusal = None
        await desk.ask(lane, heard)
        await desk.endpoint.close()


async def test_what_kept_breaking_goes_by_http_from_the_next_open_on() -> None:
    async with hosting() as host, hosting() as relay:
        desk = Desk(host, relay)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        assert lane.fall_back()
        assert lane.transport == "websocket"
        await desk.ask(lane, heard)
        assert lane.transport == "http"
        assert len(relay.asked) == 1
        assert desk.known.websocket is True, "it breaks today; that is no fact for next week"
        await desk.endpoint.close()


async def test_when_http_fails_too_the_websocket_is_next() -> None:
    async with hosting() as host, hosting() as relay:
        desk = Desk(host, relay)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        assert lane.fall_back()
        await desk.ask(lane, heard)
        lane.come_back()
        await desk.ask(lane, heard)
        assert lane.transport == "websocket"
        assert (len(host.asked), len(relay.asked)) == (2, 1)
        await desk.endpoint.close()


@pytest.mark.parametrize("today", [True, False])
async def test_a_websocket_that_was_refused_is_not_come_back_to(today: bool) -> None:
    async with hosting() as host, hosting() as relay:
        host.refusal = 426 if today else None
        desk = Desk(host, relay, known={} if today else {"websocket": False})
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        assert lane.transport == "http"
        lane.come_back()
        await desk.ask(lane, heard)
        assert lane.transport == ("http" if today else "websocket")
        await desk.endpoint.close()


async def test_an_endpoint_at_rest_is_asked_for_a_websocket_again() -> None:
    async with hosting() as host, hosting() as relay:
        host.refusal = 426
        desk = Desk(host, relay, probe_s=0.2)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        host.refusal = None
        await heard.until(lambda: lane.transport == "websocket")
        assert desk.known.websocket is True
        await heard.until(lambda: states(heard)[-2:] == ["closed", "open"])
        await desk.ask(lane, heard)
        assert len(host.asked) == 1
        assert [view.transport for view in desk.endpoint.views()] == ["websocket"]
        assert lane.fall_back(), "it may break again"
        await desk.endpoint.close()


@pytest.mark.parametrize(
    ("refused", "known", "choice", "words"),
    [
        (True, {}, "auto", "the server refused the WebSocket; it is asked for again"),
        (False, {"websocket": False}, "auto", "in an earlier run; it is asked for again"),
        (False, {}, "auto", "the WebSocket failed; it is asked for again"),
        (False, {}, "http", "the settings say"),
    ],
)
async def test_why_it_goes_by_http_is_said(
    refused: bool, known: dict[str, bool], choice: str, words: str
) -> None:
    async with hosting() as host, hosting() as relay:
        host.refusal = 426 if refused else None
        desk = Desk(host, relay, known=known, transport=choice)
        lane, heard = desk.lane("main")
        if not (refused or known or choice == "http"):
            await desk.ask(lane, heard)
            assert [view.why for view in desk.endpoint.views()] == [""]
            assert lane.fall_back()
        await desk.ask(lane, heard)
        (view,) = desk.endpoint.views()
        assert view.transport == "http"
        assert words in view.why
        assert ("again" in view.why) == (choice == "auto")
        lane.come_back()
        (view,) = desk.endpoint.views()
        assert ("the next turn" in view.why) == (choice == "auto" and not refused)
        await desk.endpoint.close()


async def test_the_bridge_is_watched_closely() -> None:
    far = ConnectionOptions()
    async with hosting() as host, hosting() as relay:
        host.refusal = 426
        desk = Desk(host, relay, silence_s=far.silence_s, ping_interval_s=far.ping_interval_s)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        (link,) = desk.endpoint._links
        assert link.pulse._options.silence_s == 10
        assert link.pulse._options.ping_interval_s == 5
        await desk.endpoint.close()


async def test_a_user_who_never_rests_comes_back_from_http() -> None:
    """The WebSocket is asked for beside the turns, and taken by the next one."""
    async with hosting() as host, hosting() as relay:
        host.refusal = 426
        desk = Desk(host, relay, probe_s=0.2)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        host.refusal = None
        turns = 0
        async with asyncio.timeout(5):
            while not host.asked:
                await desk.ask(lane, heard)
                turns += 1
                await asyncio.sleep(0.02)
        assert turns > 2
        assert lane.transport == "websocket"
        assert [view.transport for view in desk.endpoint.views()] == ["websocket"]
        await desk.endpoint.close()


async def test_what_runs_by_http_ends_there() -> None:
    async with hosting() as host, hosting() as relay:
        host.refusal = 426
        desk = Desk(host, relay, probe_s=0.02)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard, "slow")
        host.refusal = None
        await host.until(lambda: bool(host.sockets))
        await asyncio.sleep(0.02)
        told = list(heard.states)
        assert (lane.transport, lane.busy) == ("http", True)
        relay.go.set()
        await heard.has(events.Completed)
        lane.create({"model": "m"})  # a round of the same turn
        await heard.has(events.Completed, 2)
        assert heard.states == told
        assert (host.asked, lane.transport) == ([], "http")
        await desk.ask(lane, heard)
        assert (len(host.asked), lane.transport) == (1, "websocket")
        assert [view.transport for view in desk.endpoint.views()] == ["websocket"]
        assert len(host.sockets) == 1
        await desk.endpoint.close()


async def test_it_is_asked_for_less_and_less_often() -> None:
    async with hosting() as host, hosting() as relay:
        asked = []
        host.refusal = 426
        desk = Desk(host, relay, probe_s=0.05)
        where = desk.endpoint.address

        async def address() -> Address:
            asked.append(desk.clock.now())
            return await where()

        desk.endpoint.address = address
        lane, heard = desk.lane("main")
        async with asyncio.timeout(5):
            while len(asked) < 4:
                await desk.ask(lane, heard)
                await asyncio.sleep(0.005)
        waits = [after - before for before, after in itertools.pairwise(asked)]
        assert waits[0] >= 0.05
        assert waits[2] > 2.5 * waits[0]
        assert heard.states == [("connecting", ""), ("open", "")]
        assert desk.learnt[-1].websocket is False
        await desk.endpoint.close()


async def test_a_websocket_that_soon_breaks_again_is_asked_for_later() -> None:
    async with hosting() as host, hosting() as relay:
        desk = Desk(host, relay, probe_s=0.05)
        lane, heard = desk.lane("main")
        waits = []
        for _ in range(3):
            await desk.ask(lane, heard)
            assert lane.transport == "websocket"
            assert lane.fall_back()
            began = desk.clock.now()
            await desk.ask(lane, heard)
            while desk.endpoint.way.transport == "http":
                await asyncio.sleep(0.005)
            waits.append(desk.clock.now() - began)
        assert waits[2] > 2.5 * waits[0]
        await desk.endpoint.close()


async def test_what_is_known_to_refuse_is_not_asked_first() -> None:
    async with hosting() as host, hosting() as relay:
        desk = Desk(host, relay, known={"websocket": False})
        lane, heard = desk.lane("main")
        assert lane.transport == "http"
        await desk.ask(lane, heard)
        assert host.sockets == []
        await desk.endpoint.close()


@pytest.mark.parametrize("transport", ["http", "websocket"])
async def test_the_user_s_choice_holds(transport: str) -> None:
    async with hosting() as host, hosting() as relay:
        known = {"websocket": transport == "http"}
        desk = Desk(host, relay, transport=transport, known=known, probe_s=0.01)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        assert lane.transport == transport
        assert bool(relay.sockets) == (transport == "http")
        assert not lane.fall_back()
        await desk.endpoint.close()

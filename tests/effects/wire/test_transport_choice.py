"""WebSocket, HTTP+SSE by the bridge's relay, and the way back."""

from __future__ import annotations

import asyncio

from tests.effects.wire.host import Desk, hosting, states
from tests.support.tables import each
from tui.core.wire.address import Address


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
        assert desk.endpoint.transport_choice._timer is None, "it is asked for no more"
        assert lane.fall_back(), "it may break again"


@each(
    "refused, known, choice, words",
    [
        (True, {}, "auto", "the server refused the WebSocket; it is tried again"),
        (False, {"websocket": False}, "auto", "in an earlier run; it is tried again"),
        (False, {}, "auto", "the WebSocket failed; it is tried again"),
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


async def test_a_user_who_never_rests_comes_back_from_http() -> None:
    """The WebSocket is asked for beside the turns, and taken by the next one."""
    async with hosting() as host, hosting() as relay:
        host.refusal = 426
        desk = Desk(host, relay, probe_s=0.2)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        host.refusal = None
        async with asyncio.timeout(60):
            while not host.asked:
                await desk.ask(lane, heard)
                await asyncio.sleep(0.02)
        assert lane.transport == "websocket"
        assert [view.transport for view in desk.endpoint.views()] == ["websocket"]


async def test_it_is_asked_for_less_and_less_often() -> None:
    async with hosting() as host, hosting() as relay:
        asked = []
        host.refusal = 426
        desk = Desk(host, relay, probe_s=0.05)
        where = desk.endpoint.address

        async def address() -> Address:
            asked.append(desk.endpoint.transport_choice._wait_s)
            return await where()

        desk.endpoint.address = address
        lane, heard = desk.lane("main")
        async with asyncio.timeout(60):
            while len(asked) < 4:
                await desk.ask(lane, heard)
                await asyncio.sleep(0.005)
        assert asked[1:4] == [0.05, 0.1, 0.2]
        assert heard.states == [("connecting", ""), ("open", "")]
        assert desk.learnt[-1].websocket is False


async def test_a_websocket_that_soon_breaks_again_is_asked_for_later() -> None:
    async with hosting() as host, hosting() as relay:
        desk = Desk(host, relay, probe_s=0.05)
        lane, heard = desk.lane("main")
        waits = []
        for _ in range(3):
            await desk.ask(lane, heard)
            assert lane.transport == "websocket"
            assert lane.fall_back()
            await desk.ask(lane, heard)
            waits.append(desk.endpoint.transport_choice._wait_s)
            while desk.endpoint.transport_choice.transport == "http":
                await asyncio.sleep(0.005)
        assert waits == [0.05, 0.1, 0.2]

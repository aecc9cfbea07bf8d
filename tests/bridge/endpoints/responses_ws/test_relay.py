"""The relay to a Responses WebSocket: conversations stay on their sockets, stops are passed on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from tests.support.endpoint_kinds import Stand, failure, items, standing, text_of, well_told
from tests.support.endpoint_servers import Call, Hold, Say, Script, Think
from tests.support.endpoint_servers_ws import WsServer
from tests.support.rehearsed import READ, user
from tui.bridge.endpoints.responses_ws import exchange, pool
from tui.bridge.endpoints.responses_ws.dialling import dial
from tui.bridge.endpoints.responses_ws.upstream_socket import (
    MOST_UNREAD_BYTES,
    Lost,
    UpstreamSocket,
)
from tui.core.wire.address import Address

ONE, TWO = Script([Say("one")]), Script([Say("two")])


@pytest.fixture
async def relay() -> AsyncIterator[Stand]:
    async with standing("responses-ws") as stand:
        yield stand


def server_of(relay: Stand) -> WsServer:
    assert isinstance(relay.server, WsServer)
    return relay.server


def creates(relay: Stand) -> list[dict[str, Any]]:
    return [frame for frame in server_of(relay).frames if frame["type"] == "response.create"]


def new_items(relay: Stand) -> list[tuple[bool, int]]:
    """Of each request: whether it names a parent, and how many items it says."""
    return [("previous_response_id" in one, len(one["input"])) for one in creates(relay)]


async def two_turns(relay: Stand) -> str:
    """Returns the newest response's id."""
    first = await relay.answered(ONE)
    parent = first[-1]["response"]["id"]
    second = await relay.answered(TWO, said="more", previous_response_id=parent)
    return str(second[-1]["response"]["id"])


async def test_a_conversation_sends_its_new_items_only(relay: Stand) -> None:
    await two_turns(relay)
    assert new_items(relay) == [(False, 1), (True, 1)]
    first, second = creates(relay)
    assert second["previous_response_id"] == "resp_up1"
    assert "resp_up" not in json.dumps(relay.unheard)
    assert first["store"] is False
    assert "stream" not in first
    assert relay.server.connections == 1


async def test_a_client_that_sends_all_of_it_goes_on_there_too(relay: Stand) -> None:
    events = await relay.answered(ONE)
    said = [user("hi"), *events[-1]["response"]["output"], user("more")]
    await relay.answered(TWO, said=said)
    assert new_items(relay) == [(False, 1), (True, 1)]


async def test_another_model_is_told_everything(relay: Stand) -> None:
    parent = (await relay.answered(ONE))[-1]["response"]["id"]
    await relay.answered(TWO, said="more", previous_response_id=parent, model="other")
    assert new_items(relay) == [(False, 1), (False, 3)]


async def test_a_parent_that_is_lost_there_is_sent_in_full(relay: Stand) -> None:
    parent = (await relay.answered(ONE))[-1]["response"]["id"]
    server_of(relay)._known.clear()
    events = await relay.answered(TWO, said="more", previous_response_id=parent)
    assert text_of(events) == "two"
    assert new_items(relay) == [(False, 1), (True, 1), (False, 3)]
    assert relay.server.connections == 1


async def test_a_socket_that_closed_while_idle_is_replaced(relay: Stand) -> None:
    parent = (await relay.answered(ONE))[-1]["response"]["id"]
    await server_of(relay).sockets[0].close(1001)
    events = await relay.answered(TWO, said="more", previous_response_id=parent)
    assert text_of(events) == "two"
    assert new_items(relay) == [(False, 1), (False, 3)]


async def test_a_socket_that_dies_unnoticed_is_replaced(relay: Stand) -> None:
    parent = (await relay.answered(ONE))[-1]["response"]["id"]
    server_of(relay).sockets[0].transport.abort()
    events = await relay.answered(TWO, said="more", previous_response_id=parent)
    assert text_of(events) == "two"
    assert relay.server.connections == 2


@pytest.mark.parametrize("instead", [None, "silence"])
async def test_what_may_have_been_worked_on_is_not_asked_twice(
    relay: Stand, instead: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "STALE_S", 0.0)
    parent = (await relay.answered(ONE))[-1]["response"]["id"]
    relay.answers(Script([Hold()], instead=instead), TWO)
    await relay.ask("more", previous_response_id=parent)
    await relay.server.until(lambda server: len(server.requests) == 2)
    await server_of(relay).sockets[0].close(1011)
    assert failure(await relay.until())[2] == 502
    assert len(relay.server.requests) == 2


async def test_the_age_limit_is_no_matter_of_the_client(relay: Stand) -> None:
    parent = (await relay.answered(ONE))[-1]["response"]["id"]
    error = {"code": "websocket_connection_limit_reached", "message": "60 minutes are up."}
    socket = server_of(relay).sockets[0]
    await socket.send(json.dumps({"type": "error", "status": 400, "error": error}))
    events = await relay.answered(TWO, said="more", previous_response_id=parent)
    assert text_of(events) == "two"
    assert relay.server.connections == 2


async def test_conversations_at_the_same_time_have_sockets_of_their_own(relay: Stand) -> None:
    relay.answers(Script([Say("held for long", held=True)]), ONE, TWO)
    await relay.ask("slow", stream_id="a")
    await relay.until("response.output_text.delta", lane="a")
    await relay.ask("fast", stream_id="b")
    assert text_of(await relay.until(lane="b")) == "one"
    assert relay.server.connections == 2
    relay.server.released.set()
    parent = (await relay.until(lane="a"))[-1]["response"]["id"]
    await relay.ask("on", stream_id="a", previous_response_id=parent)
    assert text_of(await relay.until(lane="a")) == "two"
    assert new_items(relay) == [(False, 1), (False, 1), (True, 1)]
    assert relay.server.requests[2].connection == 1


async def test_conversations_come_and_go_on_a_few_sockets(relay: Stand) -> None:
    for number in range(9):
        await relay.answered(ONE, said=f"hi {number}")
    assert relay.server.connections == pool.MOST_KEPT
    assert [one["input"][0]["content"][0]["text"] for one in creates(relay)] == [
        f"hi {number}" for number in range(9)
    ]


async def test_a_conversation_is_known_by_its_cache_key(relay: Stand) -> None:
    await relay.answered(ONE, prompt_cache_key="thread 1")
    await relay.answered(TWO, said="anew, compacted", prompt_cache_key="thread 1")
    assert relay.server.connections == 1
    assert new_items(relay) == [(False, 1), (False, 1)]


async def stop(relay: Stand, script: Script) -> list[dict[str, Any]]:
    """Interrupt an answer behind its first words."""
    relay.server.scripts.insert(0, script)
    await relay.ask("for ever")
    events = await relay.until("response.output_text.delta")
    name = events[0]["response"]["id"]
    await relay.send({"type": "response.interrupt", "response_id": name})
    events += await relay.until()
    well_told(events)
    return events


HELD = Script([Think("hm"), Say("and much more of it", held=True)])


async def test_an_interrupt_is_passed_on_and_the_socket_stays(relay: Stand) -> None:
    relay.answers(TWO)
    ended = (await stop(relay, HELD))[-1]["response"]
    frames = server_of(relay).frames
    told = {"type": "response.interrupt", "response_id": "resp_up1"}
    assert frames[-1] == {**told, "mode": "discard_partial_items"}
    assert ended["usage"]["output_tokens"] == 5
    assert [item["type"] for item in ended["output"]] == ["reasoning"]
    await relay.ask("shorter", previous_response_id=ended["id"])
    assert text_of(await relay.until()) == "two"
    assert new_items(relay) == [(False, 1), (True, 1)]
    assert relay.server.connections == 1


async def test_what_a_slow_client_did_not_hear_is_no_part_of_the_conversation(
    relay: Stand,
) -> None:
    """The server there has finished long before; the client stops in the midst of the words."""
    relay.answers(Script([Say("four" * 400), Say("never heard")]), TWO)
    await relay.ask(client_metadata={"duetto_tokens_s": "50"})
    name = (await relay.until("response.output_text.delta"))[0]["response"]["id"]
    await relay.send({"type": "response.interrupt", "response_id": name})
    ended = (await relay.until())[-1]["response"]
    assert ended["output"] == []
    await relay.ask("shorter", previous_response_id=name)
    assert text_of(await relay.until()) == "two"
    assert relay.server.heard[-1].told == [("user", "hi"), ("user", "shorter")]
    assert "previous_response_id" not in creates(relay)[-1]


async def test_a_server_without_interrupts_loses_its_socket(relay: Stand) -> None:
    server_of(relay).interrupts = False
    relay.answers(TWO)
    for _ in range(2):
        ended = (await stop(relay, HELD))[-1]["response"]
        assert ended["usage"]["output_tokens"] > 0
        async with asyncio.timeout(5):
            await relay.server.requests[-1].gone.wait()
        await relay.ask("shorter", previous_response_id=ended["id"])
        assert text_of(await relay.until()) == "two"
        stopped, after = relay.server.requests[-2:]
        assert stopped.connection != after.connection
    asked = [frame for frame in server_of(relay).frames if frame["type"] == "response.interrupt"]
    assert len(asked) == 1, "what it does not know is not said again"


async def test_a_steer_interrupts_there_and_goes_on_in_the_same_conversation(relay: Stand) -> None:
    call = Call("read_file", "{}", "c", custom=False)
    relay.answers(Script([Say("first words", held=True), Hold(), call]), TWO)
    await relay.ask("write", tools=[READ])
    name = (await relay.until("response.output_text.delta"))[0]["response"]["id"]
    await relay.send({"type": "response.steer", "previous_response_id": name, "input": "Smaller."})
    await relay.until("response.steer.accepted")
    relay.server.released.set()
    cut = await relay.until()
    assert cut[-1]["response"]["incomplete_details"]["reason"] == "steered"
    assert text_of(await relay.until()) == "two"
    assert relay.server.heard[-1].told[0] == ("user", "write")
    assert relay.server.heard[-1].told[-1] == ("user", "Smaller.")


@pytest.mark.parametrize(("code", "status"), [(1009, 400), (1008, 403), (1013, 503)])
async def test_close_codes_that_mean_something(relay: Stand, code: int, status: int) -> None:
    relay.answers(Script([Hold()]))
    await relay.ask()
    await relay.until("response.in_progress")
    await relay.server.until(lambda server: bool(server.requests))
    await server_of(relay).sockets[0].close(code)
    events = await relay.until()
    assert failure(events)[2] == status
    assert f"close code {code}" in events[-1]["error"]["message"]


async def test_vendor_events_and_pings_go_by(relay: Stand) -> None:
    relay.answers(Script([Say("held for long", held=True)]))
    await relay.ask()
    await relay.until("response.output_text.delta")
    socket = server_of(relay).sockets[0]
    await socket.send('{"type":"codex.rate_limits","plan":"x"}')
    await socket.send("[1, 2]")
    pong = await socket.ping()
    async with asyncio.timeout(5):
        await pong
    relay.server.released.set()
    assert (await relay.until())[-1]["type"] == "response.completed"


async def test_what_nobody_reads_waits_there_beyond_a_bound() -> None:
    frame, count, sent = "x" * 2**16, 1000, 0

    async def floods(socket: ServerConnection) -> None:
        nonlocal sent
        for _ in range(count):
            await socket.send(frame)
            sent += 1

    async with serve(floods, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        dialled = await dial(Address(f"http://127.0.0.1:{port}/v1"))
        socket = UpstreamSocket(dialled, 0.0)
        before = -1
        async with asyncio.timeout(20):
            while before != sent:  # until it stands still
                before = sent
                await asyncio.sleep(0.2)
        assert MOST_UNREAD_BYTES < sent * 2**16 < MOST_UNREAD_BYTES + 2**24
        async with asyncio.timeout(20):
            assert sum([len(await socket.heard()) for _ in range(count)]) == count * 2**16
            with pytest.raises(Lost) as lost:
                await socket.heard()
        assert lost.value.code == 1000
        assert not socket.usable
        await socket.close()


async def test_items_are_handed_on_as_they_are(relay: Stand) -> None:
    call = Call("apply_patch", "*** Begin Patch\n", "call_7", custom=True)
    events = await relay.answered(Script([Think("hm"), call]), tools=[READ])
    assert [item["id"] for item in items(events)] == ["rs_resp_up1_0", "call_resp_up1_1"]

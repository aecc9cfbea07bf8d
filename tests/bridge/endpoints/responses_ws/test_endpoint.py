"""The relay to a Responses WebSocket: conversations stay on their sockets, stops are passed on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.endpoint_kinds import NAME, Stand, failure, standing, text_of, well_told
from tests.support.endpoint_servers import MODEL, Call, Hold, Say, Script, Think
from tests.support.endpoint_servers_ws import WsServer
from tests.support.rehearsed import READ, user
from tests.support.tables import each
from tui.bridge.endpoints.base import Asked
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.endpoints.responses_ws import endpoint
from tui.core.wire.refusals import UNUSABLE
from tui.core.wire.server.run import Run, Task

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


@pytest.mark.parametrize("instead", [None, "silence"])
async def test_what_may_have_been_worked_on_is_not_asked_twice(
    relay: Stand, instead: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "STALE_S", 0.0)
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
        async with asyncio.timeout(60):
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


@each("code, status", [(1009, 400), (1008, 403), (1013, 503), (4401, 401), (4429, 429)])
async def test_close_codes_that_mean_something(relay: Stand, code: int, status: int) -> None:
    relay.answers(Script([Hold()]))
    before = len(relay.server.requests)
    await relay.ask()
    await relay.until("response.in_progress")
    await relay.server.until(lambda server: len(server.requests) > before)
    await server_of(relay).sockets[-1].close(code)
    events = await relay.until()
    assert failure(events)[2] == status
    assert f"close code {code}" in events[-1]["error"]["message"]


BOM = "\ufeff" + json.dumps({"type": "error", "error": {"message": "Its words."}})


@each(
    "said, words, code",
    [
        (b"\x88\x02\x03\xf0", "close code 1008", UNUSABLE),
        (b"\x88\x02\x11\x34", "close code 4404", UNUSABLE),
        (b"\x88\x02\x03\xf3", "close code 1011", "server_error"),
        (b"\x83\x00", "broke the WebSocket protocol", UNUSABLE),
        (b"\x81\x7f\x00\x00\x00\x00\x10\x00\x00\x00", "a message that is too big", UNUSABLE),
        (bytes([0x81, len(BOM.encode())]) + BOM.encode(), "Its words.", "server_error"),
    ],
)
async def test_what_ends_an_answer_says_whether_to_ask_again(
    relay: Stand, said: bytes, words: str, code: str
) -> None:
    relay.answers(Script([Say("of an answer", held=True)], after="stall"))
    await relay.ask()
    await relay.until("response.output_text.delta")
    server_of(relay).sockets[-1].transport.write(said)
    failed = (await relay.until())[-1]["response"]["error"]
    assert words in failed["message"]
    assert failed["code"] == code


async def flush() -> None:
    """Nobody reads here."""


async def test_a_socket_whose_client_is_gone_in_mid_answer_is_nobody_s() -> None:
    """The client may be gone a moment before whoever answers it is cancelled."""
    async with standing("responses-ws") as stand:
        stand.answers(Script([Say("of the first client", held=True)], after="stall"))
        endpoint = await stand.bridge.endpoints.endpoint(NAME)
        request = {"model": MODEL, "input": [user("hi")]}
        said: list[str] = []
        run = Run(Task("resp_1", None, request, [user("hi")]), said.append, lambda *_: None)
        run.start()
        asked = Asked(MODEL, request, run.full_input)
        answering = asyncio.create_task(endpoint.answer(asked, ResponseWriter(run, flush)))
        async with asyncio.timeout(60):
            while not any("output_text.delta" in json.loads(event)["type"] for event in said):
                await asyncio.sleep(0.01)
        run.abandon()
        stand.server.released.set()
        await asyncio.wait({answering}, timeout=5)
        async with asyncio.timeout(60):
            await stand.server.requests[0].gone.wait()
        stand.answers(Script([Say("of the second")]))
        await stand.ask("hello", prompt_cache_key="k")
        assert text_of(await stand.until()) == "of the second"
        assert stand.server.connections == 2

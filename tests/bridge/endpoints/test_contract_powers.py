"""What holds for every kind of endpoint: interrupts, steering, prewarm, the throttle."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.endpoint_kinds import Stand, of_each_kind, text_of, well_told
from tests.support.endpoint_servers import Hold, Request, Say, Script, Think

pytestmark = pytest.mark.usefixtures("plain_words")

"""An upstream hears of an interrupt so soon."""


def users(there: Stand) -> str:
    """What the user has said, in the newest request: some languages join what stands together."""
    return "\n\n".join(text for _, text in there.server.heard[-1].of("user"))


async def interrupted(there: Stand, script: Script, lane: str) -> tuple[list[Any], Request, float]:
    """Stop an answer behind its first words; its events, its request, when it was stopped."""
    there.server.scripts.insert(0, script)
    await there.ask("for ever", stream_id=lane)
    events = await there.until("response.output_text.delta", lane=lane)
    name = events[0]["response"]["id"]
    request = there.server.requests[-1]
    stopped_s = asyncio.get_running_loop().time()
    await there.send({"type": "response.interrupt", "response_id": name})
    events += await there.until(lane=lane)
    return events, request, stopped_s


@of_each_kind
async def test_a_conversation_goes_on_behind_an_interrupt(there: Stand) -> None:
    there.answers(Script([Say("fine")]))
    script = Script([Think("a thought"), Say("and much more of it", held=True)])
    events, _, _ = await interrupted(there, script, "a")
    parent = events[-1]["response"]["id"]
    await there.ask("shorter", stream_id="a", previous_response_id=parent)
    assert text_of(await there.until(lane="a")) == "fine"
    assert users(there) == "for ever\n\nshorter"
    assert there.server.heard[-1].of("assistant") == []


@of_each_kind
async def test_a_steer_cuts_at_an_item_and_goes_on_by_itself(there: Stand) -> None:
    there.answers(Script([Say("first words", held=True), Hold()]), Script([Say("as you wish")]))
    await there.ask("write")
    events = await there.until("response.output_text.delta")
    name = events[0]["response"]["id"]
    await there.send({"type": "response.steer", "previous_response_id": name, "input": "Smaller."})
    events += await there.until("response.steer.accepted")
    there.server.released.set()
    events += await there.until()
    well_told(events)
    last = events[-1]
    if last["type"] == "response.incomplete":
        assert last["response"]["incomplete_details"]["reason"] == "steered"
    assert text_of(items_text(last)) == "first words"
    successor = await there.until()
    well_told(successor)
    assert successor[0]["response"]["id"] != name
    assert text_of(successor) == "as you wish"
    heard = there.server.heard[-1]
    told = [("user", "write"), ("assistant", "first words"), ("user", "Smaller.")]
    assert heard.told == told


def items_text(last: dict[str, Any]) -> list[dict[str, Any]]:
    """The finished messages as if they had come in one delta each."""
    texts = [item["content"][0]["text"] for item in last["response"]["output"]]
    return [{"type": "response.output_text.delta", "delta": text} for text in texts]


@of_each_kind
async def test_a_steer_before_the_first_token_is_heeded_at_once(there: Stand) -> None:
    there.answers(Script([Hold(), Say("late")]), Script([Say("as you wish")]))
    await there.ask("write")
    events = await there.until("response.in_progress")
    await there.server.until(lambda server: bool(server.requests))
    name = events[0]["response"]["id"]
    await there.send({"type": "response.steer", "previous_response_id": name, "input": "Smaller."})
    events += await there.until()
    assert events[-1]["response"]["incomplete_details"]["reason"] == "steered"
    assert text_of(await there.until()) == "as you wish"
    assert users(there) == "write\n\nSmaller."


@of_each_kind
async def test_a_prewarm_opens_the_connection_that_the_request_takes(there: Stand) -> None:
    there.answers(Script([Say("warm")]))
    await there.ask("base", generate=False)
    events = await there.until()
    assert events[-1]["response"]["output"] == []
    await there.server.until(lambda server: server.connections == 1)
    assert there.server.requests == []
    parent = events[-1]["response"]["id"]
    await there.ask("hi", previous_response_id=parent)
    assert text_of(await there.until()) == "warm"
    assert there.server.connections == 1
    assert there.server.heard[0].told == [("user", "base"), ("user", "hi")]

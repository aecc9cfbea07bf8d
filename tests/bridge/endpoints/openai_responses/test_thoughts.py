"""Sealed thoughts go back to who sealed them, and to nobody else."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.endpoint_kinds import Stand, failure, server_of, standing, text_of
from tests.support.endpoint_servers import KEY, MODEL, Call, Say, Script, Server, Status, Think
from tests.support.rehearsed import user
from tui.bridge.endpoints.base import EndpointSpec
from tui.bridge.told_endpoints import target

OK = Script([Say("all is well")])
BUSY = Script(instead=Status(503, "busy"))
KINDS = ["openai-responses", "responses-ws"]


def thinking(seal: str) -> Script:
    return Script([Think("hm", seal), Say("so")])


def sealed(server: Server) -> list[str]:
    """What the newest request had of thoughts."""
    said = server.requests[-1].body["input"]
    return [item["encrypted_content"] for item in said if item["type"] == "reasoning"]


@contextlib.asynccontextmanager
async def two(kind: str) -> AsyncIterator[tuple[Stand, Server]]:
    """An endpoint with another one that it falls back on."""
    async with standing(kind) as stand, server_of(kind).serving() as other:
        spec = EndpointSpec(kind, other.url)
        stand.bridge.endpoints.targets["other"] = target("other", spec, KEY)
        stand.knows(fallbacks=(f"other/{MODEL}",))
        yield stand, other


async def turn(stand: Stand, parent: str | None = None) -> str:
    """Returns the response's id."""
    await stand.ask("on", **({"previous_response_id": parent} if parent else {}))
    events = await stand.until()
    assert events[-1]["type"] == "response.completed", events[-1]
    return str(events[-1]["response"]["id"])


@pytest.mark.parametrize("kind", KINDS)
async def test_each_provider_is_sent_its_own(kind: str) -> None:
    async with two(kind) as (stand, other):
        stand.answers(thinking("b25l"), BUSY, OK)
        other.scripts = [thinking("dHdv")]
        first = await turn(stand)
        second = await turn(stand, first)
        assert len(other.requests) == 1
        assert sealed(other) == []
        await turn(stand, second)
        assert sealed(stand.server) == ["b25l"]


@pytest.mark.parametrize("kind", KINDS)
async def test_of_what_is_refused_the_own_ones_are_kept(kind: str) -> None:
    refused = Script(instead=Status(400, "bad", "Could not decrypt the given encrypted_content."))
    foreign = {"type": "reasoning", "id": "rs_9", "summary": [], "encrypted_content": "eHg="}
    said = [user("a"), foreign, {"type": "message", "role": "assistant", "content": "A"}]
    async with standing(kind) as stand:
        stand.answers(thinking("b25l"), refused, OK)
        parent = await turn(stand)
        for text in ("b", "c"):
            await stand.ask([*said, user(text)], previous_response_id=parent)
            events = await stand.until()
            parent = events[-1]["response"]["id"]
            assert text_of(events) == "all is well"
            assert sealed(stand.server) == ["b25l"]
        assert len(stand.server.requests) == 4


@pytest.mark.parametrize("kind", KINDS)
async def test_own_ones_are_left_out_when_they_are_refused_too(kind: str) -> None:
    words = "reasoning `encrypted_content` was not issued to this caller"
    refused = Script(instead=Status(400, "invalid_request_error", words))
    async with standing(kind) as stand:
        stand.answers(thinking("b25l"), refused, OK)
        second = await turn(stand, await turn(stand))
        assert sealed(stand.server) == []
        stand.answers(refused)
        await stand.ask("x", previous_response_id=second)
        assert failure(await stand.until())[1] == words
        assert len(stand.server.requests) == 4, "there was nothing more to leave out"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_refusal_that_stays_is_no_reason_to_forget_thoughts(kind: str) -> None:
    words = "include: reasoning.encrypted_content is invalid here"
    refused = Script(instead=Status(400, "invalid_request_error", words))
    async with standing(kind) as stand:
        stand.answers(Script([Think("hm", "b25l"), Call("look", "{}", "c")]), refused)
        await stand.ask("on")
        told = (await stand.until())[-1]["response"]["output"]
        output: dict[str, Any] = {"type": "function_call_output", "call_id": "c", "output": "1"}
        await stand.ask([user("on"), *told, output])
        assert failure(await stand.until())[1] == words
        stand.answers(OK)
        await stand.ask([user("on"), *told, output])
        assert text_of(await stand.until()) == "all is well"
        assert sealed(stand.server) == ["b25l"]

"""Thoughts that travel through a client go back to who made them, and to nobody else."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from tests.support.endpoint_kinds import Stand, failure, server_of, standing
from tests.support.endpoint_servers import KEY, MODEL, Say, Script, Server, Status, Think
from tests.support.tables import each
from tui.bridge.endpoints.base import EndpointSpec
from tui.bridge.endpoints.encrypted_content import PREFIX, is_sealed, seal, unseal
from tui.bridge.targets import target


@each("text", [None, 7, "", "gAAAAABo", PREFIX, PREFIX + "%%", PREFIX + "é"])
def test_what_nobody_sealed_is_nothing(text):
    assert unseal("anthropic", "m", text) is None
    assert is_sealed(text) is (isinstance(text, str) and text.startswith(PREFIX))


def test_what_was_changed_on_the_way_is_nothing():
    sealed = seal("anthropic", "m", {"a": 1})
    assert unseal("anthropic", "m", sealed) == {"a": 1}
    assert unseal("anthropic", "m", sealed + "!!!!") is None


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


@each("kind", KINDS)
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


@each("kind", KINDS)
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

"""A field that a server refuses is left out, also where it is dialled without the bridge."""

from __future__ import annotations

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import begun, notes
from tui.core.wire import events
from tui.engine import intents

LITELLM = "anthropic does not support parameters: ['prompt_cache_key'], for model=claude."


async def refused(world: World, words: str) -> None:
    world.wire.give(events.ErrorEvent(400, "invalid_request_error", words))
    await settle()


async def test_it_is_asked_again_without_and_from_then_on() -> None:
    world = World()
    await begun(world)
    await refused(world, LITELLM)
    first, second = world.wire.requests
    assert "prompt_cache_key" in first
    assert "prompt_cache_key" not in second
    assert second["input"] == first["input"]
    assert notes(world) == []
    assert world.session.status.left_out == "prompt_cache_key"
    model = SteppedRehearsal(world.wire)
    model.answers("Hi.")
    assert world.session.status.outcome == "completed"
    world.session.submit(intents.Prompt("and now"))
    await settle()
    third = world.wire.requests[2]
    assert "prompt_cache_key" not in third
    assert "previous_response_id" in third, "it goes on with the chain"


async def test_a_server_that_always_finds_something_is_believed_in_the_end() -> None:
    world = World()
    await begun(world)
    for name in ("prompt_cache_key", "include", "store", "parallel_tool_calls", "reasoning"):
        await refused(world, f"Unknown parameter: '{name}'.")
    assert not world.session.status.busy or len(world.wire.requests) <= 6
    await refused(world, "Unknown parameter: 'instructions'.")
    assert world.session.status.outcome == "failed"
    assert len(world.wire.requests) <= 6


async def test_a_refused_prewarm_teaches_the_same() -> None:
    world = World()
    world.session.submit(intents.Prewarm())
    await settle()
    await refused(world, LITELLM)
    world.session.submit(intents.Prompt("hello"))
    request = await world.wire.request(1)
    assert "prompt_cache_key" in world.wire.prewarms[0]
    assert "prompt_cache_key" not in request

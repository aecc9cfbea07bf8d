"""The endpoint is ready when the first prompt comes, and nothing is paid where that cannot be."""

from __future__ import annotations

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tui.engine import intents


async def warmed(world: World) -> SteppedRehearsal:
    """The user began to type, and the server has answered the prewarm."""
    world.session.submit(intents.Prewarm())
    await settle()
    model = SteppedRehearsal(world.wire)
    model.begin()
    model.complete()
    return model


async def test_nothing_is_offline_that_was_never_called(world: World) -> None:
    assert world.session.status.connection == "starting"
    world.session.submit(intents.Switch("deep"))
    await settle()
    assert world.session.status.connection != "offline"


async def test_it_is_sent_once_a_connection(world: World) -> None:
    await warmed(world)
    world.session.submit(intents.Prewarm())
    await settle()
    assert len(world.wire.prewarms) == 1
    world.wire.lose()
    world.session.submit(intents.Prewarm())
    await settle()
    assert len(world.wire.prewarms) == 2
    assert world.wire.dials == 2


async def test_a_prompt_waits_for_the_end_of_the_prewarm(world: World) -> None:
    world.session.submit(intents.Prewarm())
    await settle()
    world.session.submit(intents.Prompt("hello"))
    await settle()
    assert world.wire.requests == []
    model = SteppedRehearsal(world.wire)
    model.begin()
    assert world.session.transcript.blocks[-1].text == "hello"
    model.complete()
    request = await world.wire.request(1)
    assert request["previous_response_id"] == "resp_1"


async def test_another_effort_than_was_warmed_says_all(world: World) -> None:
    await warmed(world)
    world.session.submit(intents.SetEffort("high"))
    world.session.submit(intents.Prompt("hello"))
    assert "previous_response_id" not in await world.wire.request(1)

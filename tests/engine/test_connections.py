"""The endpoint is ready when the first prompt comes, and nothing is paid where that cannot be."""

from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import texts
from tui.engine import connections, intents
from tui.engine.ports import Abilities, RoleSpec
from tui.errors import EndpointError


async def warmed(world: World) -> SteppedRehearsal:
    """The user began to type, and the server has answered the prewarm."""
    world.session.submit(intents.Prewarm())
    await settle()
    model = SteppedRehearsal(world.wire)
    model.begin()
    model.complete()
    return model


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


async def test_where_it_is_refused_only_the_dial_is_made(world: World) -> None:
    world.wire.can = Abilities(prewarm=False)
    world.session.submit(intents.Prewarm())
    await settle()
    assert (world.wire.dials, world.wire.prewarms) == (1, [])


async def test_without_chaining_there_is_nothing_to_continue_from() -> None:
    world = World(roles={"fast": RoleSpec("fast", "quick-1", "main", chaining=False)})
    world.session.submit(intents.Prewarm())
    await settle()
    assert (world.wire.dials, world.wire.prewarms) == (1, [])


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


async def test_but_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PREWARM_S", 0.0)
    world = World()
    world.session.submit(intents.Prewarm())
    await settle()
    world.session.submit(intents.Prompt("hello"))
    request = await world.wire.request(1)
    assert "previous_response_id" not in request
    assert (world.wire.drops, world.wire.dials) == (1, 2)


async def test_nothing_of_a_prewarm_that_answers_is_shown(world: World) -> None:
    world.session.submit(intents.Prewarm())
    await settle()
    model = SteppedRehearsal(world.wire)
    model.answers("I was not asked.")
    assert world.session.transcript.blocks == []
    assert world.session.meter.view(world.clock.now()).tokens == 0


async def test_a_dial_that_fails_while_typing_is_told_to_the_prompt(world: World) -> None:
    world.wire.refusals = [EndpointError("nothing listening"), EndpointError("nothing listening")]
    world.session.submit(intents.Prewarm())
    await settle()
    assert world.session.drain().troubles == []
    world.session.submit(intents.Prompt("hello"))
    await settle()
    assert world.session.status.unsent == "hello"
    assert len(world.session.drain().troubles) == 1


async def test_another_effort_than_was_warmed_says_all(world: World) -> None:
    await warmed(world)
    world.session.submit(intents.SetEffort("high"))
    world.session.submit(intents.Prompt("hello"))
    assert "previous_response_id" not in await world.wire.request(1)


async def test_esc_while_the_prompt_waits_for_it_gives_the_prompt_back(world: World) -> None:
    world.session.submit(intents.Prewarm())
    await settle()
    world.session.submit(intents.Prompt("hello"))
    await settle()
    world.session.submit(intents.Interrupt())
    assert world.session.status.unsent == "hello"
    model = SteppedRehearsal(world.wire)
    model.begin()
    model.complete()
    world.session.submit(intents.Prompt("hello again"))
    assert texts(await world.wire.request(1)) == ["hello again"]

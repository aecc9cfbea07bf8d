"""The endpoint is ready when the first prompt comes, and nothing is paid where that cannot be."""

from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import begun, texts
from tui.core.wire import events
from tui.engine import intents, prewarm
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


async def test_typing_dials_and_prewarms() -> None:
    world = World({"a.py": "one\n"})
    world.session.submit(intents.OpenFile("a.py"))
    model = await warmed(world)
    (request,) = world.wire.prewarms
    assert request["generate"] is False
    assert request["input"] == []
    assert "a.py" in request["instructions"]
    assert request["tools"]
    assert not world.session.status.busy
    world.session.submit(intents.Prompt("hello"))
    first = await world.wire.request(1)
    assert first["previous_response_id"] == "resp_1"
    assert first["instructions"] == request["instructions"]
    assert first["tools"] == request["tools"]
    said = texts(first)
    assert "one" in said[0]
    assert said[-1] == "hello"
    model.begin()
    model.text("Hi.")
    model.complete()
    assert world.session.status.outcome == "completed"
    assert world.wire.dials == 1


async def test_it_is_sent_once_a_connection() -> None:
    world = World()
    await warmed(world)
    world.session.submit(intents.Prewarm())
    await settle()
    assert len(world.wire.prewarms) == 1
    world.wire.lose()
    world.session.submit(intents.Prewarm())
    await settle()
    assert len(world.wire.prewarms) == 2
    assert world.wire.dials == 2


async def test_what_was_warm_is_gone_with_the_socket() -> None:
    world = World()
    await warmed(world)
    world.wire.lose()
    world.session.submit(intents.Prompt("hello"))
    request = await world.wire.request(1)
    assert "previous_response_id" not in request
    assert texts(request) == ["hello"]


async def test_where_it_is_refused_only_the_dial_is_made() -> None:
    world = World()
    world.wire.can = Abilities(prewarm=False)
    world.session.submit(intents.Prewarm())
    await settle()
    assert (world.wire.dials, world.wire.prewarms) == (1, [])


async def test_without_chaining_there_is_nothing_to_continue_from() -> None:
    world = World(roles={"fast": RoleSpec("fast", "quick-1", "main", chaining=False)})
    world.session.submit(intents.Prewarm())
    await settle()
    assert (world.wire.dials, world.wire.prewarms) == (1, [])


@pytest.mark.parametrize(
    "refusal",
    [events.ErrorEvent(400, "invalid_request"), events.Failed({"id": "resp_x"})],
)
async def test_a_refused_prewarm_costs_nothing_but_itself(refusal: events.Event) -> None:
    world = World()
    world.session.submit(intents.Prewarm())
    await settle()
    world.wire.give(refusal)
    world.session.submit(intents.Prompt("hello"))
    request = await world.wire.request(1)
    assert "previous_response_id" not in request
    assert (world.wire.dials, world.wire.drops) == (1, 0)
    assert world.session.drain().troubles == []


async def test_a_prompt_waits_for_the_end_of_the_prewarm() -> None:
    world = World()
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
    monkeypatch.setattr(prewarm, "PREWARM_S", 0.0)
    world = World()
    world.session.submit(intents.Prewarm())
    await settle()
    world.session.submit(intents.Prompt("hello"))
    request = await world.wire.request(1)
    assert "previous_response_id" not in request
    assert (world.wire.drops, world.wire.dials) == (1, 2)


async def test_nothing_of_a_prewarm_that_answers_is_shown() -> None:
    world = World()
    world.session.submit(intents.Prewarm())
    await settle()
    model = SteppedRehearsal(world.wire)
    model.begin()
    model.text("I was not asked.")
    model.complete()
    assert world.session.transcript.blocks == []
    assert world.session.meter.view(world.clock.now()).tokens == 0


async def test_a_running_conversation_is_not_prewarmed() -> None:
    world = World()
    model = await begun(world, "one")
    world.session.submit(intents.Prewarm())
    model.text("first")
    model.complete()
    world.session.submit(intents.Prewarm())
    await settle()
    assert world.wire.prewarms == []
    world.wire.lose()
    world.session.submit(intents.Prewarm())
    await settle()
    assert (world.wire.dials, world.wire.prewarms) == (2, [])


async def test_a_dial_that_fails_while_typing_is_told_to_the_prompt() -> None:
    world = World()
    world.wire.refusals = [EndpointError("nobody listens"), EndpointError("nobody listens")]
    world.session.submit(intents.Prewarm())
    await settle()
    assert world.session.drain().troubles == []
    world.session.submit(intents.Prompt("hello"))
    await settle()
    assert world.session.status.unsent == "hello"
    assert len(world.session.drain().troubles) == 1


async def test_another_effort_than_was_warmed_says_all() -> None:
    world = World()
    await warmed(world)
    world.session.submit(intents.SetEffort("high"))
    world.session.submit(intents.Prompt("hello"))
    assert "previous_response_id" not in await world.wire.request(1)


async def test_a_new_conversation_does_not_continue_from_an_old_prewarm() -> None:
    world = World()
    world.session.submit(intents.Prewarm())
    await settle()
    world.session.submit(intents.NewConversation())
    model = SteppedRehearsal(world.wire)
    model.begin()
    model.complete()
    world.session.submit(intents.Prompt("hello"))
    assert "previous_response_id" not in await world.wire.request(1)


async def test_esc_while_the_prompt_waits_for_it_gives_the_prompt_back() -> None:
    world = World()
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

"""The effort of a conversation: only what the model has, as its server says it."""

from __future__ import annotations

from msgspec.structs import replace

from tests.support.fakes import World, settle
from tests.support.stored_sessions import resumed, stored
from tests.support.turns import begun
from tui.core.wire import events
from tui.engine import intents
from tui.engine.ports import RoleSpec
from tui.engine.slash import asked, model_words


async def test_a_level_that_the_model_lacks_is_refused_and_its_levels_are_named() -> None:
    world = World(roles={"fast": RoleSpec("fast", "quick-1", "main", efforts=("low", "high"))})
    words = "quick-1 has no effort max: it has low, high."
    assert asked("effort", "max", world.session.status) == words
    world.session.submit(intents.SetEffort("max"))
    assert [one.what for one in world.session.drain().troubles] == [words]
    assert asked("effort", "high", world.session.status) == intents.SetEffort("high")
    assert "it has low, high" in model_words(world.session.status)


async def test_levels_that_a_server_names_hold_from_then_on() -> None:
    world = World()
    world.session.submit(intents.SetEffort("max"))
    await begun(world)
    assert world.wire.requests[0]["reasoning"]["effort"] == "max"
    words = "Unsupported value: 'max' for reasoning.effort. Supported values are: 'low', 'high'."
    world.wire.give(events.ErrorEvent(400, "unsupported_value", words, "reasoning.effort"))
    again = await world.wire.request(2)
    assert again["reasoning"]["effort"] == "high"
    await settle()
    assert world.session.status.efforts["fast"] == "high"
    assert "it has low, high" in str(asked("effort", "medium", world.session.status))


async def test_a_session_that_goes_on_keeps_its_effort_with_the_same_model() -> None:
    world = World()
    (await begun(world)).finishes("Done.")
    kept = stored(world)
    turn = replace(kept.turns[0], began=replace(kept.turns[0].began, effort="xhigh"))
    other = await resumed(world, replace(kept, turns=(turn,)))
    assert other.session.status.efforts["fast"] == "xhigh"
    world.roles["fast"] = RoleSpec("fast", "other-2", "main", effort="low")
    assert (await resumed(world, kept)).session.status.efforts["fast"] == "low"

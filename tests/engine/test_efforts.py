"""The effort of a conversation: only what the model has, as its server says it; and ``auto``."""

from __future__ import annotations

import dataclasses

from msgspec.structs import replace

from tests.support.fakes import World, settle
from tests.support.judged_runs import TESTS, Failing, Files, asks, has, judged
from tests.support.stored_sessions import resumed, stored
from tests.support.turns import begun, land, notes, update
from tui.core.session_record import AllEfforts
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
    world.session.status.levels["fast"] = ("turbo", "high")
    assert asked("effort", "turbo", world.session.status) == "Effort is one of high, auto."
    world.session.status.levels["fast"] = ("turbo",)
    assert "that duetto knows: it has turbo." in str(asked("effort", "turbo", world.session.status))
    world.session.status.levels["fast"] = ("low", "high")
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


def passes(files: Files) -> list[str]:
    return []


def breaks(files: Files) -> list[str]:
    """The first change breaks a test."""
    return ["test_a"] if has(files, 1) else []


async def on_auto(failing: Failing = passes, *levels: str) -> World:
    """A model on ``auto``; whether its tests fail is said."""
    world, _ = judged(40, failing)
    world.files.data["b.py"] = world.files.data["a.py"]
    await world.runs()
    world.session.status.levels["fast"] = levels or ("low", "medium", "high")
    world.session.submit(intents.SetEffort("auto"))
    return world


async def changed(world: World, *paths: str) -> None:
    """A turn changes a line of each of these files."""
    model = await begun(world)
    number = world.session.last_turn
    for path in paths or ("a.py",):
        land(world, update(path, f"-x{number} = 0\n+x{number} = 1\n"), turn=number)
    model.finishes("Done.")
    await settle()


async def verified(world: World, wanted: intents.Verify | None = None) -> str:
    """The effort when the verifiers have run."""
    await asks(world, wanted or intents.Verify())
    return effort(world)


def effort(world: World) -> str:
    return world.session.status.effort_words("fast")


async def test_auto_rises_when_what_was_changed_fails_and_says_why() -> None:
    world = await on_auto(breaks)
    assert effort(world) == "auto medium"
    assert await verified(world) == "auto medium", "nobody has changed anything"
    await changed(world)
    assert await verified(world) == "auto high"
    words = "fast thinks with effort high from now on: the tests failed"
    assert notes(world)[-1] == words
    assert "effort auto high (the tests failed)" in model_words(world.session.status)
    assert await verified(world) == "auto high", "the same change counts once"
    await begun(world)
    assert world.wire.requests[-1]["reasoning"]["effort"] == "high"


async def test_auto_never_rises_above_what_the_model_has() -> None:
    world = await on_auto(breaks, "low", "high")
    for _ in range(3):
        await changed(world)
        await verified(world)
    assert effort(world) == "auto high"
    assert len([one for one in notes(world) if "from now on" in one]) == 1


async def test_auto_falls_behind_three_changes_that_pass_but_never_to_no_thinking() -> None:
    world = await on_auto(passes, "none", "low", "medium")
    seen = []
    for _ in range(7):
        await changed(world)
        seen.append(await verified(world))
    assert seen == ["auto medium"] * 2 + ["auto low"] * 5
    assert "3 changes in a row passed the tests" in " ".join(notes(world))


async def test_a_failure_between_them_begins_the_row_anew() -> None:
    world = await on_auto(lambda files: ["test_a"] if has(files, 3) and not has(files, 4) else [])
    seen = []
    for _ in range(7):
        await changed(world)
        seen.append(await verified(world))
    assert seen == [f"auto {one}" for one in ("medium",) * 2 + ("high",) * 3 + ("medium",) * 2]


async def test_auto_rises_once_for_changes_of_several_files() -> None:
    world = await on_auto(passes, "low", "medium", "high", "xhigh")
    await changed(world, "a.py", "b.py")
    assert effort(world) == "auto high"
    assert notes(world)[-1].endswith("from now on: the last change spans 2 files")
    await changed(world, "a.py", "b.py")
    assert effort(world) == "auto high"


async def test_a_verdict_that_comes_while_an_answer_streams_counts_when_it_is_over() -> None:
    world = await on_auto(breaks)
    await changed(world)
    model = await begun(world)
    assert await verified_beside(world) == "auto medium"
    model.finishes("Done.")
    await settle()
    assert effort(world) == "auto high"


async def test_what_fails_live_in_an_answer_does_not_count_for_the_change_before() -> None:
    world = await on_auto(lambda files: ["test_a"] if has(files, 2) else [])
    world.verify = dataclasses.replace(TESTS, part=lambda part: TESTS)
    await changed(world)  # without a verdict
    model = await begun(world)
    land(world, update("a.py", "-x2 = 0\n+x2 = 1\n"), turn=2)
    await verified_beside(world, intents.Verify(unasked=True, files=("a.py",)))
    assert world.session.status.verdict == "failed"
    model.finishes("Done.")
    await settle()
    assert effort(world) == "auto medium", "all of the answer is judged at its end"
    assert await verified(world) == "auto high"


async def verified_beside(world: World, wanted: intents.Verify | None = None) -> str:
    """The effort when the verifiers have run beside an answer."""
    world.session.submit(wanted or intents.Verify())
    while not world.session.status.verdict:
        await settle()
    return effort(world)


async def test_what_passes_in_part_is_no_green_change() -> None:
    world = await on_auto()
    for _ in range(4):
        await changed(world)
        assert await verified(world, intents.Verify(tests=("test_a",))) == "auto medium"


async def test_the_users_own_effort_ends_auto_and_auto_begins_where_it_is() -> None:
    world = await on_auto(breaks)
    world.session.submit(intents.SetEffort("low"))
    assert effort(world) == "low"
    await changed(world)
    assert await verified(world) == "low"
    assert asked("effort", "auto", world.session.status) == intents.SetEffort("auto")
    world.session.submit(intents.SetEffort("auto"))
    assert effort(world) == "auto low"


async def test_a_model_without_levels_has_no_auto() -> None:
    world = World(roles={"fast": RoleSpec("fast", "quick-1", "main", efforts=())})
    words = "quick-1 has no levels of effort."
    assert asked("effort", "auto", world.session.status) == words
    world.session.submit(intents.SetEffort("auto"))
    assert [one.what for one in world.session.drain().troubles] == [words]
    assert effort(world) == ""


async def test_auto_outlives_a_resume() -> None:
    world = await on_auto(breaks)
    await changed(world)
    await verified(world)
    kept = replace(stored(world), efforts=AllEfforts((("fast", "quick-1", "auto high"),)))
    assert effort(await resumed(world, kept)) == "auto high"
    kept = replace(kept, efforts=AllEfforts((("fast", "quick-1", "low"),)))
    world.roles["fast"] = RoleSpec("fast", "quick-1", "main", effort="medium", auto_effort=True)
    assert effort(await resumed(world, kept)) == "low"

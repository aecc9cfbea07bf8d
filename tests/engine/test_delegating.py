"""What is delegated: a lane of its own, of which the user hears in the tray."""

from __future__ import annotations

import asyncio
import fcntl
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import json, structs

from tests.engine.test_attempts import change
from tests.engine.test_recording import Memory
from tests.support.fakes import FakeShadow, FakeWire, World, settle
from tests.support.judged_runs import TESTS, Failing, Judge, has, judged
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.stored_sessions import resumed
from tests.support.turns import CACHE, PATCH, begun, notes, outputs, texts, update
from tui.core.programs import Sandbox
from tui.core.session_record import AllDelegates, Happened
from tui.core.wire import events
from tui.effects.store import reading
from tui.effects.store.writing import StoreWriter
from tui.engine import intents, lane_session
from tui.engine.delegating import ENDED, LEFT_DONE
from tui.engine.judging import THEY_MEET
from tui.engine.notices import DelegateView
from tui.engine.ports import VerifyCommand
from tui.engine.session import SessionOptions, reasons_to_stay
from tui.engine.slash import DelegateNews, task_words
from tui.errors import KeyRefused


@pytest.fixture(autouse=True)
def no_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has changed is looked at in the next turn of the event loop."""
    monkeypatch.setattr(lane_session, "FRAME_S", 0.0)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World({"cache.py": CACHE}, options=SessionOptions(conversation="c", ask=True))
    yield world
    await world.session.close()


def wire_of(world: World, number: int = 1) -> FakeWire:
    return world.lanes[number - 1]


def view(world: World, number: int = 1) -> DelegateView:
    return next(one for one in world.session.status.delegates if one.number == number)


async def delegated(world: World, text: str = "make it safe", number: int = 1) -> SteppedRehearsal:
    world.session.submit(intents.Delegate(text))
    await settle()
    wire = wire_of(world, number)
    await wire.request(1)
    model = SteppedRehearsal(wire)
    model.begin("slow-1")
    return model


async def tend(world: World, what: intents.Tending, words: str = "", number: int = 1) -> None:
    world.session.submit(intents.TendDelegate(number, what, words))
    await settle()


async def finishes(model: SteppedRehearsal, patch: str = PATCH) -> None:
    """It changes something, and says so."""
    model.patch(patch, "c1")
    model.complete()
    await settle()
    model.answers("It is safe now.")
    await settle()


async def test_it_works_beside_the_conversation_and_comes_home_as_a_turn(world: World) -> None:
    model = await delegated(world)
    assert texts(wire_of(world).requests[0])[-1] == "make it safe"
    assert wire_of(world).requests[0]["model"] == "slow-1"
    fast = await begun(world, "what is this?")
    world.session.submit(intents.Interrupt())
    fast.interrupted(3)
    await settle()
    assert view(world).state == "works", "Esc is not for it"
    await finishes(model)
    assert (view(world).state, view(world).last) == ("home", "It is safe now.")
    (hunk,) = world.session.workspace.hunks
    assert (hunk.turn, hunk.decidable) == (2, True)
    assert world.files.writes == []
    assert notes(world)[-1] == "delegate d1: 1 hunk in 1 file waits for you; judged: passes"


async def test_what_was_typed_meanwhile_stays(world: World) -> None:
    model = await delegated(world)
    world.session.workspace.open("cache.py")
    world.session.workspace.edit("cache.py", (0, 0), (0, 0), "# mine\n")
    await finishes(model)
    text = world.session.workspace.buffers["cache.py"].text()
    assert text.startswith("# mine\nclass Cache")
    assert "with self.lock" in text


async def until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not there():
            await asyncio.sleep(0)


async def judged_world(failing: Failing) -> tuple[World, Judge, SteppedRehearsal]:
    """A delegate in a project with tests."""
    options = SessionOptions(conversation="c", ask=True)
    world, judge = judged(8, failing, options=options)
    return world, judge, await delegated(world, "make it one")


async def test_it_is_judged_before_it_comes_home_and_says_so() -> None:
    world, _, model = await judged_world(lambda files: [] if has(files, 0) else ["test_first"])
    before = dict(world.files.data)
    await finishes(model, change(0))
    await until(lambda: view(world).state == "home" and world.session.at_rest)
    words = "1 hunk in 1 file waits for you; judged: passes"
    assert view(world).ended == words
    assert f"delegate d1: {words}" in notes(world)
    assert world.session.status.verdict == "passed", "and once more, on the screen"
    assert world.files.data == before
    assert all(isinstance(one, FakeShadow) and one.closed for one in world.shadows.made)
    await world.session.close()


async def test_one_that_breaks_something_comes_home_and_says_what() -> None:
    world, _, model = await judged_world(lambda files: ["test_first"] if has(files, 0) else [])
    await finishes(model, change(0))
    await until(lambda: view(world).state == "home" and world.session.at_rest)
    assert view(world).ended.endswith("; judged: breaks test_first")
    fast = await begun(world, "what was that?")
    told = "What judges the project says of them: breaks test_first."
    assert any(told in text for text in texts(world.wire.requests[0]))
    fast.finishes("A change.")
    await settle()
    await world.session.close()


@pytest.mark.parametrize("rounds", [0, 3])
async def test_tests_that_want_one_port_meet_no_others(rounds: int) -> None:
    """Neither those of another delegate nor those on the screen of one that is home."""
    world, judge, one = await judged_world(lambda files: [])
    judge.rounds = rounds
    two = await delegated(world, "make it two", 2)
    judge.hold, judge.port = asyncio.Event(), True
    await finishes(one, change(0))
    await finishes(two, change(4))
    await until(lambda: all("tests run" in each.ended for each in world.session.status.delegates))
    judge.hold.set()
    await until(lambda: all(each.state == "home" for each in world.session.status.delegates))
    await until(lambda: world.session.at_rest)
    said = {each.ended for each in world.session.status.delegates}
    assert said == {"1 hunk in 1 file waits for you; judged: passes"}
    await world.session.close()


async def test_a_run_on_the_screen_that_meets_the_tests_of_a_lane_is_judged_again() -> None:
    """Neither that run nor the look at what failed before takes a port that is held for a fault."""
    world, judge, model = await judged_world(lambda files: [])
    world.session.submit(intents.OpenFile("a.py"))
    await settle()
    world.session.workspace.edit("a.py", (0, 0), (0, 0), "# mine\n")
    judge.hold, judge.port = asyncio.Event(), True
    await finishes(model, change(0))
    await until(lambda: view(world).ended.startswith("done: its tests run"))
    await until(lambda: judge.running == 1)
    world.session.submit(intents.Verify())
    await until(lambda: judge.running == 2)
    judge.hold.set()
    await until(lambda: bool(world.session.status.verdict) and not world.session.status.running)
    assert world.session.status.verdict == "passed"
    assert notes(world).count(THEY_MEET) == 1
    await until(lambda: view(world).state == "home" and world.session.at_rest)
    assert view(world).ended.endswith("judged: passes")
    await world.session.close()


@pytest.mark.parametrize("what", ["stop", "take"])
async def test_while_it_is_judged_it_can_be_stopped_or_taken(what: intents.Tending) -> None:
    world, judge, model = await judged_world(lambda files: [])
    judge.hold = asyncio.Event()
    await finishes(model, change(0))
    await until(lambda: view(world).ended.startswith("done: its tests run"))
    await tend(world, what)
    state = "stopped" if what == "stop" else "home"
    await until(lambda: view(world).state == state)
    assert len(world.session.workspace.hunks) == (what == "take")
    assert "judged" not in view(world).ended
    judge.hold.set()
    await until(lambda: world.session.at_rest)
    await world.session.close()


@pytest.mark.parametrize("what", ["stop", "take"])
async def test_it_can_be_stopped_or_taken_while_it_is_looked_what_judges(
    what: intents.Tending,
) -> None:
    world, judge, model = await judged_world(lambda files: [])
    found, looks = asyncio.Event(), asyncio.Event()

    async def slow() -> Sequence[VerifyCommand]:
        looks.set()
        await found.wait()
        return () if world.verify is None else (world.verify,)

    world.ports.verifiers = slow
    await finishes(model, change(0))
    await looks.wait()
    await tend(world, what)
    found.set()
    state = "stopped" if what == "stop" else "home"
    await until(lambda: view(world).state == state)
    await until(lambda: world.session.at_rest)
    assert view(world).state == state
    assert len(judge.seen) == (what == "take"), "only what is on the screen"
    await world.session.close()


async def saved(world: World, path: str, text: str) -> None:
    """The user puts a text before a file, and saves it."""
    world.session.submit(intents.OpenFile(path))
    await settle()
    world.session.workspace.edit(path, (0, 0), (0, 0), text)
    world.session.submit(intents.SaveFile(path))
    await settle()


async def test_what_the_user_breaks_and_saves_meanwhile_is_not_held_against_it() -> None:
    world, judge, model = await judged_world(
        lambda files: ["test_b"] * (b"bad" in (files["b.py"] or b""))
    )
    world.files.data["b.py"] = b"b = 0\n"
    await saved(world, "b.py", "c = 0\n")
    judge.hold = asyncio.Event()
    await finishes(model, change(0))
    await until(lambda: bool(judge.seen))
    await saved(world, "b.py", "bad = 1\n")
    judge.hold.set()
    await until(lambda: view(world).state == "home" and world.session.at_rest)
    assert view(world).ended.endswith(
        "; judged: breaks nothing, mends nothing: 1 test fails as before"
    )
    await world.session.close()


async def test_it_is_judged_beside_what_the_user_saved_meanwhile_in_its_file() -> None:
    world, _, model = await judged_world(
        lambda files: [] if b"needed" in (files["a.py"] or b"") else ["test_needed"]
    )
    model.patch(change(0), "c1")
    model.complete()
    await settle()
    await saved(world, "a.py", "needed = 1\n")
    model.answers("It is one now.")
    await until(lambda: view(world).state == "home" and world.session.at_rest)
    assert view(world).ended == "1 hunk in 1 file waits for you; judged: passes"
    assert world.session.status.verdict == "passed"
    await world.session.close()


async def test_a_command_of_the_workspace_is_not_run_for_it_without_consent() -> None:
    world, judge, model = await judged_world(lambda files: [])
    world.verify = replace(TESTS, needs_consent=True)
    await finishes(model, change(0))
    await until(lambda: view(world).state == "home")
    assert view(world).ended == "1 hunk in 1 file waits for you"
    assert not judge.seen
    assert not world.session.status.asks
    await world.session.close()


async def test_who_stops_one_that_does_not_work_any_more_is_told(world: World) -> None:
    fast = await begun(world, "what is this?")
    model = await delegated(world)
    await finishes(model)
    assert view(world).ended == "done: comes when no answer streams"
    await tend(world, "stop")
    assert world.session.drain().troubles[-1].what == "d1 is done and comes home"
    fast.finishes("A cache.")
    await settle()
    assert view(world).state == "home"
    await tend(world, "stop")
    assert world.session.drain().troubles[-1].what == "d1 does not work any more"


async def test_two_of_them_at_once_come_home_one_after_the_other(world: World) -> None:
    one = await delegated(world)
    two = await delegated(world, "return something", 2)
    await finishes(two, update("cache.py", "-        return key", "+        return True"))
    await finishes(one)
    assert [one.state for one in world.session.status.delegates] == ["home", "home"]
    text = world.session.workspace.buffers["cache.py"].text()
    assert "with self.lock" in text
    assert "return True" in text


async def test_what_streams_is_handed_over_with_what_was_said(world: World) -> None:
    fast = await begun(world, "make it safe")
    key = fast.open_text()
    fast.say(key, "I will add a lock")
    world.session.submit(intents.Delegate())
    await settle()
    assert world.wire.interrupts == 1
    fast.interrupted(5)
    await settle()
    request = await wire_of(world).request(1)
    assert texts(request)[-1].endswith("make it safe")
    assert "make it safe" in texts(request)[:-1]
    assert not world.session.status.unsent


async def test_nothing_streams_that_could_be_handed_over(world: World) -> None:
    world.session.submit(intents.Delegate())
    assert [one.what for one in world.session.drain().troubles] == [
        "No answer streams that could be delegated"
    ]
    await tend(world, "stop", number=7)
    assert [one.what for one in world.session.drain().troubles] == ["There is no delegate d7"]


async def test_its_commands_ask_in_the_tray_and_not_in_the_prompt(world: World) -> None:
    model = await delegated(world)
    model.call("shell", {"command": "rm -r build"}, "c1")
    model.complete()
    await settle()
    ask = view(world).ask
    assert ask is not None
    assert ask.command == "rm -r build"
    assert not world.session.status.asks
    await tend(world, "answer", "not that one")
    assert view(world).ask is None
    assert world.runner.commands == []


async def test_a_second_yes_does_not_allow_what_was_not_shown_yet(world: World) -> None:
    model = await delegated(world)
    model.call("shell", {"command": "make one"}, "c1")
    model.call("shell", {"command": "rm -r build"}, "c2")
    model.complete()
    await settle()
    ask = view(world).ask
    assert ask is not None
    assert ask.command == "make one"
    for _ in range(2):  # a key that bounces, before the screen has painted what is asked next
        world.session.submit(intents.TendDelegate(1, "answer", ask.choices[0], ask.id))
        await settle()
    assert world.runner.commands == ["make one"]
    ask = view(world).ask
    assert ask is not None
    assert ask.command == "rm -r build"


async def test_it_is_paused_told_something_and_goes_on(world: World) -> None:
    model = await delegated(world)
    await tend(world, "pause")
    model.interrupted(3)
    await settle()
    assert view(world).state == "paused"
    await tend(world, "tell", "use an RLock")
    request = await wire_of(world).request(2)
    assert texts(request)[-1] == "use an RLock"
    assert view(world).state == "works"
    model.begin()
    await finishes(model)
    assert view(world).state == "home"


async def test_words_to_one_that_answers_do_not_wait_for_the_end_of_that(world: World) -> None:
    model = await delegated(world)
    model.say(model.open_text(), "I will use a plain Lock, everywhere, ")
    await tend(world, "tell", "use an RLock")
    assert wire_of(world).interrupts == 1
    model.interrupted(3)
    request = await wire_of(world).request(2)
    assert texts(request)[-1] == "use an RLock"
    assert view(world).state == "works"
    model.begin()
    await finishes(model)
    assert view(world).state == "home"


async def test_a_server_that_takes_words_during_an_answer_gets_them(world: World) -> None:
    spec = world.session.services.state.roles["deep"]
    world.session.services.state.roles["deep"] = structs.replace(spec, steers=True)
    await delegated(world)
    await tend(world, "tell", "use an RLock")
    assert (wire_of(world).steers, wire_of(world).interrupts) == (["use an RLock"], 0)


async def test_words_to_one_whose_command_runs_go_with_its_output(world: World) -> None:
    world.runner.box, world.runner.hold = Sandbox(works=True), asyncio.Event()
    model = await delegated(world)
    model.call("shell", {"command": "make it"}, "c1")
    model.complete()
    await settle()
    await tend(world, "tell", "use an RLock")
    world.runner.hold.set()
    request = await wire_of(world).request(2)
    assert list(outputs(request)) == ["c1"]
    assert texts(request)[-1] == "use an RLock"
    assert wire_of(world).interrupts == 0


async def test_one_that_is_stopped_keeps_what_it_made_until_it_is_taken(world: World) -> None:
    model = await delegated(world)
    model.patch(PATCH, "c1")
    model.complete()
    await settle()
    await tend(world, "stop")
    model.interrupted(3)
    await settle()
    words = "stopped; /tasks take d1 brings in what it changed"
    assert (view(world).state, view(world).ended) == ("stopped", words)
    assert not world.session.workspace.hunks
    await tend(world, "take")
    assert view(world).state == "home"
    assert world.session.workspace.hunks[0].decidable


@pytest.mark.parametrize("what", ["pause", "tell", "go"])
async def test_one_that_is_done_and_waits_for_the_answer_says_so(
    world: World, what: intents.Tending
) -> None:
    model = await delegated(world)
    await begun(world, "and why?")
    await finishes(model)
    await tend(world, what, "x")
    assert [one.what for one in world.session.drain().troubles] == ["d1 is done and comes home"]


@pytest.mark.parametrize("fails", [False, True])
async def test_what_one_that_waits_has_changed_so_far_is_taken(world: World, fails: bool) -> None:
    model = await delegated(world)
    model.patch(PATCH, "c1")
    model.complete()
    await settle()
    await tend(world, "take")
    (said,) = world.session.drain().troubles
    assert (said.what, said.next_step) == ("d1 still works", "/tasks stop d1 ends it")
    if fails:
        model.wire.give(events.ErrorEvent(400, "insufficient_quota", "no credit is left"))
    else:
        await tend(world, "pause")
        model.interrupted(3)
    await settle()
    assert view(world).state == ("failed" if fails else "paused")
    await tend(world, "take")
    assert view(world).state == "home"
    assert world.session.workspace.hunks[0].decidable
    assert world.session.lanes.open == []


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8])
async def test_one_that_is_stopped_before_it_was_asked_is_not_asked(
    world: World, turns: int
) -> None:
    world.session.submit(intents.Delegate("make it safe"))
    for _ in range(turns):  # of the event loop, while the lane is made and dialled
        await asyncio.sleep(0)
    asked = bool(world.lanes and world.lanes[0].requests)
    world.session.submit(intents.TendDelegate(1, "stop"))
    await settle()
    if asked:
        SteppedRehearsal(wire_of(world)).interrupted(0)
        await settle()
    assert view(world).state == "stopped"
    assert sum(len(wire.requests) for wire in world.lanes) == asked


async def test_one_that_was_not_asked_yet_can_be_told_nothing(world: World) -> None:
    world.session.submit(intents.Delegate("make it safe"))
    world.session.submit(intents.TendDelegate(1, "pause"))
    assert [one.what for one in world.session.drain().troubles] == ["d1 only begins"]


async def test_who_leaves_is_told_of_those_that_work(world: World) -> None:
    model = await delegated(world)
    (reason,) = reasons_to_stay(world.session, "")
    assert reason == "d1 still works, and ends with duetto: make it safe"
    await tend(world, "pause")
    model.interrupted(1)
    await settle()
    (reason,) = reasons_to_stay(world.session, "")
    assert reason == "d1 waits, and ends with duetto: make it safe"


async def test_one_that_cannot_be_reached_waits_for_the_user(world: World) -> None:
    world.ports.wires("main", "delegate-1")
    wire_of(world).refusals.append(KeyRefused("the key was refused"))
    world.session.submit(intents.Delegate("make it safe"))
    await settle()
    assert view(world).state == "failed"
    assert "the key was refused" in view(world).ended
    await tend(world, "go")
    assert view(world).state == "works"
    model = SteppedRehearsal(wire_of(world))
    model.begin()
    await finishes(model)
    assert view(world).state == "home"


async def killed(world: World, store: StoreWriter, folder: Path) -> World:
    """Another duetto over the same files, when the first one was killed."""
    await store.settled()
    return await resumed(world, reading.load(folder, store.id), ask=True)


@pytest.fixture
async def stored(tmp_path: Path) -> AsyncIterator[tuple[World, StoreWriter]]:
    store = StoreWriter(tmp_path, time.monotonic)
    world = World({"cache.py": CACHE}, options=SessionOptions(conversation="c", ask=True))
    world.ports.store = lambda: store
    await world.runs()
    fast = await begun(world, "what is this?")
    fast.finishes("A cache.")
    await settle()
    yield world, store
    await world.session.close()
    await asyncio.to_thread(store.close)


async def killed_at_work(world: World, store: StoreWriter, folder: Path) -> World:
    """A start after a kill, which came when one had changed something and went on."""
    model = await delegated(world)
    model.patch(PATCH, "c1")
    model.complete()
    await wire_of(world).request(2)
    return await killed(world, store, folder)


async def test_after_a_kill_it_goes_on_and_nothing_is_asked_twice(
    stored: tuple[World, StoreWriter], tmp_path: Path
) -> None:
    other = await killed_at_work(*stored, tmp_path)
    assert (view(other).state, view(other).ended) == ("paused", "duetto ended while it worked")
    other.session.submit(intents.TendDelegate(1, "go"))
    await tend(other, "go")
    assert len(other.lanes) == 1, "pressed twice"
    request = await wire_of(other).request(1)
    said = texts(request)
    assert said.count("make it safe") == 1
    assert said.count("what is this?") == 1
    assert said[-1].startswith("duetto was restarted while you worked")
    assert list(outputs(request)) == ["c1"]
    model = SteppedRehearsal(wire_of(other))
    model.begin()
    model.finishes("It is safe now.")
    await settle()
    assert view(other).state == "home"
    (hunk,) = other.session.workspace.hunks
    assert "with self.lock" in hunk.agent
    await other.session.close()


async def plain(tmp_path: Path) -> World:
    """A plain start in the same folder."""
    other = World({"cache.py": CACHE}, options=SessionOptions(conversation="o", ask=True))
    mine = StoreWriter(tmp_path, time.monotonic)
    other.ports.store, other.ports.archive = (lambda: mine), (lambda: reading.Archive(tmp_path))
    await other.runs()
    return other


async def test_a_plain_start_says_that_delegates_of_a_kill_wait(
    stored: tuple[World, StoreWriter], tmp_path: Path
) -> None:
    world, store = stored
    await delegated(world)
    await store.settled()
    alive = await plain(tmp_path)
    assert not alive.session.status.left, "a duetto works on it"
    await asyncio.to_thread(store.close)
    other = await plain(tmp_path)
    await until(lambda: bool(other.session.status.left))
    (left,) = other.session.status.left
    assert (left.session, left.prompt, left.done) == (store.id, "make it safe", False)
    assert notes(other)[-1] == "1 delegate of an earlier session waits: /tasks shows it"
    assert f"/resume {store.id}" in task_words(other.session.status, 0.0)
    assert not other.session.status.asks
    for one in (alive, other):
        await one.session.close()


async def test_a_plain_start_says_which_session_was_killed(tmp_path: Path) -> None:
    world, store = World(), StoreWriter(tmp_path, time.monotonic)
    world.ports.store = lambda: store
    await world.runs()
    (await begun(world, "what is this?")).finishes("A cache.")
    await settle()
    await store.settled()
    alive = await plain(tmp_path)
    assert not notes(alive), "a duetto is in it"
    assert store._log is not None
    fcntl.flock(store._log._fd, fcntl.LOCK_UN)  # as a kill does
    other = await plain(tmp_path)
    await until(lambda: bool(notes(other)))
    assert notes(other) == [
        f"The last session here was cut off: what is this?\n/resume {store.id} goes on with it"
    ]
    for one in (alive, other):
        await one.session.close()


async def test_of_a_command_that_a_kill_ended_it_is_not_said_that_it_never_ran(
    stored: tuple[World, StoreWriter], tmp_path: Path
) -> None:
    world, store = stored
    world.runner.box, world.runner.hold = Sandbox(works=True), asyncio.Event()
    model = await delegated(world)
    model.call("shell", {"command": "make it"}, "c1")
    model.complete()
    await settle()
    other = await killed(world, store, tmp_path)
    await tend(other, "go")
    request = await wire_of(other).request(1)
    assert outputs(request) == {"c1": "duetto ended while it ran: what it did by then is not known"}
    await other.session.close()


async def test_one_that_was_killed_before_its_first_answer_is_asked_then(
    stored: tuple[World, StoreWriter], tmp_path: Path
) -> None:
    world, store = stored
    await delegated(world)
    other = await killed(world, store, tmp_path)
    await tend(other, "go")
    said = texts(await wire_of(other).request(1))
    assert said.count("make it safe") == 1
    assert said[-1].endswith("make it safe")
    await other.session.close()


@pytest.mark.parametrize("answered", [False, True])
async def test_who_is_told_something_behind_a_kill_hears_what_it_was_asked_too(
    stored: tuple[World, StoreWriter], tmp_path: Path, *, answered: bool
) -> None:
    world, store = stored
    model = await delegated(world)
    if answered:
        model.patch(PATCH, "c1")
        model.complete()
        await wire_of(world).request(2)
    other = await killed(world, store, tmp_path)
    await tend(other, "tell", "use a plain lock")
    said = texts(await wire_of(other).request(1))
    assert said[-1].endswith(" on what you were asked:\n\nmake it safe\n\nuse a plain lock")
    await other.session.close()


async def test_what_came_home_or_was_stopped_does_not_come_again(
    stored: tuple[World, StoreWriter], tmp_path: Path
) -> None:
    world, store = stored
    await finishes(await delegated(world))
    model = await delegated(world, "another", 2)
    await tend(world, "stop", number=2)
    model.interrupted(1)
    await settle()
    assert [one.state for one in world.session.status.delegates] == ["home", "stopped"]
    other = await killed(world, store, tmp_path)
    assert other.session.status.delegates == []
    await other.session.close()


async def done_when_killed(world: World, store: StoreWriter, folder: Path) -> World:
    """A start after a kill, which came when one was done and had not come home."""
    model = await delegated(world)
    await begun(world, "and why?")
    await finishes(model)
    assert view(world).state == "done"
    return await killed(world, store, folder)


async def test_one_that_was_done_when_duetto_ended_comes_home_and_is_not_asked_again(
    stored: tuple[World, StoreWriter], tmp_path: Path
) -> None:
    other = await done_when_killed(*stored, tmp_path)
    assert view(other).ended == LEFT_DONE
    await tend(other, "go")
    assert view(other).state == "home"
    assert not other.lanes
    assert len(other.session.workspace.hunks) == 1
    await other.session.close()


async def test_what_is_taken_is_on_its_way_at_once(
    stored: tuple[World, StoreWriter], tmp_path: Path
) -> None:
    other = await done_when_killed(*stored, tmp_path)
    for what in ("take", "take", "stop"):
        other.session.submit(intents.TendDelegate(1, what))
        assert view(other).state == "done"
    await settle()
    assert view(other).state == "home"
    assert [one.what for one in other.session.drain().troubles] == ["d1 is done and comes home"]
    assert len(other.session.workspace.hunks) == 1
    await other.session.close()


async def test_one_that_goes_on_is_not_taken_before_it_knows_what_it_did(
    stored: tuple[World, StoreWriter], tmp_path: Path
) -> None:
    other = await killed_at_work(*stored, tmp_path)
    other.session.submit(intents.TendDelegate(1, "go"))
    await tend(other, "take")
    assert list(outputs(await wire_of(other).request(1))) == ["c1"]
    assert [one.what for one in other.session.drain().troubles] == ["d1 still works"]
    assert (view(other).state, other.session.workspace.hunks) == ("works", [])
    await other.session.close()


async def test_one_that_is_stopped_as_it_goes_on_keeps_what_it_had_changed(
    stored: tuple[World, StoreWriter], tmp_path: Path
) -> None:
    other = await killed_at_work(*stored, tmp_path)
    other.session.submit(intents.TendDelegate(1, "go"))
    await tend(other, "stop")
    assert view(other).ended == "stopped; /tasks take d1 brings in what it changed"
    assert not other.lanes
    await tend(other, "take")
    assert view(other).state == "home"
    assert len(other.session.workspace.hunks) == 1
    await other.session.close()


async def test_what_cannot_be_done_with_one_that_waits_is_said(
    stored: tuple[World, StoreWriter], tmp_path: Path
) -> None:
    world, store = stored
    await delegated(world)
    other = await killed(world, store, tmp_path)
    await tend(other, "pause")
    await tend(other, "answer")
    assert [(one.what, one.next_step) for one in other.session.drain().troubles] == [
        ("d1 waits already", "/tasks go d1 lets it go on"),
        ("d1 asks nothing", ""),
    ]
    assert view(other).state == "paused"
    await other.session.close()


class Kept(Memory):
    """A store that knows what was kept last of what is delegated: number, and whether done."""

    @property
    def of(self) -> list[tuple[int, bool]]:
        told = [one.record for one in self.rows if isinstance(one.record, Happened)]
        last = next(one for one in reversed(told) if one.what == "delegates")
        return [(one.number, one.done) for one in json.decode(last.detail, type=AllDelegates).of]


async def test_one_that_was_done_stays_in_the_store_until_it_is_home_or_stopped(
    stored: tuple[World, StoreWriter], tmp_path: Path
) -> None:
    world, store = stored
    await delegated(world, "another")
    model = await delegated(world, number=2)
    await begun(world, "and why?")
    await finishes(model)
    other = await killed(world, store, tmp_path)
    states = [(one.state, one.ended) for one in other.session.status.delegates]
    assert states == [("paused", ENDED), ("paused", LEFT_DONE)]
    stands = [*DelegateNews().new(other.session.status)]
    assert stands == [
        f"d1 paused: {ENDED} (/tasks go d1)",
        f"d2 paused: {LEFT_DONE} (/tasks go d2)",
    ]
    kept = Kept()
    other.ports.store = lambda: kept
    await tend(other, "go", number=1)
    await wire_of(other).request(1)
    assert kept.of == [(1, False), (2, True)]
    await tend(other, "stop", number=2)
    assert kept.of == [(1, False)]
    assert view(other, 2).ended == "stopped; /tasks take d2 brings in what it changed"
    await other.session.close()


@pytest.mark.parametrize("what", ["take", "stop"])
async def test_one_that_came_home_without_a_request_waits_in_the_store_no_more(
    stored: tuple[World, StoreWriter], tmp_path: Path, what: intents.Tending
) -> None:
    other = await done_when_killed(*stored, tmp_path)
    kept = Kept()
    other.ports.store = lambda: kept
    await tend(other, what)
    assert kept.of == []
    await other.session.close()

"""The throttle: any model's answer comes at the rate that the user wants, also in its midst."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import begun, texts
from tui.core.conversation import BlockKind
from tui.core.patches.landing import Landing
from tui.core.wire.events import Completed, Event, InputDelta, ItemAdded, ItemDone, TextDelta
from tui.engine import intents, pacer
from tui.engine.pacer import STEP_S

LONG = "0123456789" * 40


def said(world: World) -> str:
    blocks = world.session.transcript.blocks
    return "".join(block.text for block in blocks if block.kind is BlockKind.TEXT)


async def pass_time(world: World, seconds: float) -> None:
    for _ in range(round(seconds / STEP_S)):
        await settle()
        world.clock.advance(STEP_S)
    await settle()


async def throttled(tokens_s: float) -> tuple[World, SteppedRehearsal]:
    world = World()
    world.session.submit(intents.Throttle(tokens_s))
    return world, await begun(world, "one")


async def test_text_comes_at_the_rate_that_was_asked_for() -> None:
    world, model = await throttled(25)
    model.finishes(LONG)
    assert said(world) == ""
    await pass_time(world, 1.0)
    assert said(world) == LONG[: len(said(world))]
    assert 90 <= len(said(world)) <= 110  # 25 tokens of 4 characters
    assert world.session.status.busy
    rate = world.session.meter.view(world.clock.now()).tokens_s
    assert rate is not None
    assert 20 <= rate <= 30
    await pass_time(world, 4.0)
    assert said(world) == LONG
    assert world.session.status.outcome == "completed"


async def test_it_takes_hold_in_the_middle_of_an_answer_and_lets_go_at_once(world: World) -> None:
    model = await begun(world, "one")
    model.text("at once ")
    assert said(world) == "at once "
    world.session.submit(intents.Throttle(5))
    model.text(LONG)
    await pass_time(world, 1.0)
    assert len(said(world)) < 40
    world.session.submit(intents.Throttle(None))
    assert said(world) == "at once " + LONG
    model.text(" and on")
    assert said(world).endswith(" and on")
    model.complete()
    assert not world.session.status.busy


async def test_esc_drops_what_is_held_and_the_next_request_says_all_without_it() -> None:
    world, model = await throttled(25)
    model.text(LONG)
    model.complete(5_000)
    await pass_time(world, 0.4)
    shown = said(world)
    world.session.submit(intents.Interrupt())
    rate = world.session.meter.view(world.clock.now()).tokens_s
    assert rate is not None
    assert rate < 40  # not what the server counted and nobody saw
    assert not world.session.status.busy
    assert world.session.status.outcome == "interrupted"
    await pass_time(world, 1.0)
    assert said(world) == shown
    world.session.submit(intents.Throttle(None))
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert "previous_response_id" not in request
    assert LONG not in str(request)
    assert texts(request)[0] == "one"


async def test_esc_before_the_end_waits_for_the_server_and_still_keeps_nothing_unseen() -> None:
    world, model = await throttled(25)
    model.say(model.open_text(), LONG)
    await pass_time(world, 0.4)
    world.session.submit(intents.Interrupt())
    assert world.session.status.stopping
    assert world.wire.interrupts == 1
    model.interrupted()
    assert world.session.status.outcome == "interrupted"
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert "previous_response_id" not in request
    assert "0123456789" not in str(request)


async def test_a_connection_that_breaks_is_heard_of_behind_what_it_said(
    quick_retries: None,
) -> None:
    world, model = await throttled(25)
    model.say(model.open_text(), LONG)
    world.wire.lose()
    await settle()
    assert said(world) == ""
    await pass_time(world, 1.0)
    assert len(world.wire.requests) == 1
    await pass_time(world, 4.0)
    assert len(world.wire.requests) == 2


async def test_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacer, "MOST_CHARS", 100)
    world, model = await throttled(1)
    model.say(model.open_text(), LONG)
    await settle()
    assert len(said(world)) == len(LONG) - 100


WHOLE = "*** Begin Patch\n*** Add File: new.txt\n" + "+line\n" * 3_000 + "*** End Patch\n"
MESSAGE: dict[str, object] = {
    "type": "message",
    "id": "m",
    "content": [{"type": "output_text", "text": WHOLE}],
}
CALL: dict[str, object] = {"type": "custom_tool_call", "id": "c", "call_id": "c"}
CALL |= {"name": "apply_patch", "input": WHOLE}
AT_ONCE: dict[str, Event] = {
    "a piece of text": TextDelta(item_id="m", delta=WHOLE),
    "a piece of a call": InputDelta(item_id="c", delta=WHOLE),
    "a message": ItemDone(item=MESSAGE),
    "a call": ItemDone(item=CALL),
    "an answer": Completed({"id": "resp_1", "output": [CALL]}),
}


@each("name", AT_ONCE)
async def test_what_comes_at_once_and_is_long_lands_in_parts_and_esc_drops_the_rest(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fed: list[int] = []
    feed = Landing.feed

    def counted(landing: Landing, delta: str) -> None:
        fed.append(len(delta))
        feed(landing, delta)

    monkeypatch.setattr(Landing, "feed", counted)
    for stops in (False, True):
        world = World()
        await begun(world, "one")
        if "piece of a call" in name:
            world.wire.give(ItemAdded(item={**CALL, "input": ""}))
        fed.clear()
        world.wire.give(AT_ONCE[name])
        assert sum(fed) == 0, "nothing is held up"
        if stops:
            world.session.submit(intents.Interrupt())
            assert world.session.status.stopped
        await settle()
        landed = world.session.workspace.buffers.get("new.txt")
        assert sum(fed) == (0 if stops else len(WHOLE))
        assert max(fed, default=0) <= 1_000
        assert stops is (landed is None)


@pytest.mark.parametrize("key", ["x", "left"])
async def test_nothing_lands_while_a_key_is_on_its_way_to_the_screen(
    world: World, key: str
) -> None:
    model = await begun(world, "one")
    first = world.session.input_first
    first.came(key, asyncio.get_running_loop())
    model.text("behind ")
    first.taken()
    model.text("it")
    assert said(world) == ""
    first.shown()
    await settle()
    assert said(world) == "behind it"
    first.came(
        key, asyncio.get_running_loop()
    )  # and one that changes nothing on the screen is waited for only so long
    model.text(" again")
    model.complete()
    while world.session.status.busy:
        await asyncio.sleep(0)
    assert said(world) == "behind it again"


async def test_no_more_is_read_while_a_key_is_on_its_way_or_enough_is_held(world: World) -> None:
    model = await begun(world, "one")
    first = world.session.input_first
    item, pieces = model.open_text(), pacer.FULL + 1
    assert not first.holds_reading()
    first.came("x", asyncio.get_running_loop())
    assert first.holds_reading()
    for _ in range(pieces):
        model.say(item, "x")
    first.taken()
    first.shown()
    assert first.holds_reading(), "the key is on the screen, the answer not yet"
    while said(world) != "x" * pieces:
        await asyncio.sleep(0)
    assert not first.holds_reading()
    first.came("x", asyncio.get_running_loop())
    for _ in range(pieces):
        model.say(item, "x")
    world.session.submit(intents.Interrupt())
    first.taken()
    first.shown()
    assert not first.holds_reading()


async def test_a_key_is_not_on_the_screen_with_the_one_before_it(world: World) -> None:
    model = await begun(world, "one")
    first = world.session.input_first
    for _ in range(2):
        first.came("x", asyncio.get_running_loop())
        first.taken()
    first.came("x", asyncio.get_running_loop())
    first.shown()
    model.text("behind")
    assert first.untaken
    assert said(world) == ""
    first.taken()
    first.shown()
    await settle()
    assert said(world) == "behind"


async def test_our_bridge_hears_of_the_rate_with_the_request_and_of_none_with_the_next(
    world: World,
) -> None:
    """Not only when the answer has begun: much would have come by then on a busy machine."""
    world.wire.paces = True
    world.session.submit(intents.Throttle(5))
    world.session.submit(intents.Prompt("one"))
    await world.wire.request(1)
    assert world.wire.rates == [5]
    world.session.submit(intents.Throttle(None))
    model = SteppedRehearsal(world.wire)
    model.begin()
    assert world.wire.rates == [5, None, None]

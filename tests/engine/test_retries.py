"""How long it tries, what the user sees of it, and what comes after the last try."""

from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tests.support.turns import begun, notes, texts
from tui.core.turn import BlockKind
from tui.core.wire import events
from tui.engine import intents
from tui.engine.recovery import MAX_TRIES
from tui.errors import EndpointError, KeyRefused


def after(seconds: float) -> dict[str, str]:
    return {"retry-after": str(seconds)}


async def test_the_wait_is_counted_down_and_esc_ends_it() -> None:
    world = World()
    await begun(world)
    world.wire.give(events.ErrorEvent(429, "rate_limit_exceeded", "slow down", headers=after(11)))
    await settle()
    seen = []
    for _ in range(4):
        seen.append(world.session.status.retry_s)
        world.clock.advance(1)
        await settle()
    assert seen == [11, 10, 9, 8]
    assert notes(world) == ["slow down: trying again in 11 s (1 of 5)"]
    world.session.submit(intents.Interrupt())
    status = world.session.status
    assert (status.retry_s, status.busy, status.outcome) == (None, False, "interrupted")
    assert status.unsent == "make it safe"
    world.clock.advance(60)
    await settle()
    assert len(world.wire.requests) == 1
    assert world.session.status.retry_s is None


async def test_after_the_wait_it_goes_on() -> None:
    world = World()
    await begun(world)
    world.wire.give(events.ErrorEvent(429, "rate_limit_exceeded", headers=after(2.5)))
    waits = []
    while len(world.wire.requests) < 2:
        await settle()
        waits.append(world.session.status.retry_s)
        world.clock.advance(0.5)
    assert waits[0] == 2.5
    assert None in waits[-2:]
    assert world.wire.dials == 1
    assert world.session.status.retry_s is None


async def test_a_wait_asked_for_at_the_upgrade_is_kept() -> None:
    world = World()
    world.wire.refusals = [EndpointError("busy", transient=True, retry_after_s=3.0)]
    world.session.submit(intents.Prompt("hello"))
    await settle()
    assert world.session.status.retry_s == 3.0
    for _ in range(3):
        assert world.wire.requests == []
        world.clock.advance(1)
        await settle()
    assert texts(await world.wire.request(1)) == ["hello"]
    assert world.wire.dials == 2


async def test_esc_while_it_waits_for_the_first_contact_gives_the_prompt_back() -> None:
    world = World()
    world.wire.refusals = [EndpointError("busy", transient=True, retry_after_s=3.0)]
    world.session.submit(intents.Prompt("hello"))
    await settle()
    world.session.submit(intents.Interrupt())
    status = world.session.status
    assert (status.unsent, status.busy, status.retry_s) == ("hello", False, None)


async def test_five_tries_then_http_then_five_more(quick_retries: None) -> None:
    world = World()
    world.wire.other_way = True
    world.session.submit(intents.Prompt("hello"))
    for number in range(1, 2 * MAX_TRIES + 3):
        await world.wire.request(number)
        assert world.wire.transport == ("websocket" if number <= MAX_TRIES + 1 else "http")
        world.wire.lose()
    await settle()
    assert any("going on over HTTP" in note for note in notes(world))
    assert world.session.status.outcome == "failed"
    assert world.wire.transport == "websocket", "HTTP is no better: the next turn asks again"
    assert world.session.status.unsent == "hello"


async def test_tries_are_counted_from_the_last_whole_response(quick_retries: None) -> None:
    world = World()
    model = await begun(world)
    for number in range(1, 4):
        for _ in range(MAX_TRIES):
            world.wire.lose()
            await world.wire.request(len(world.wire.requests) + 1)
        model.begin()
        model.call("list", {}, f"call_{number}")
        model.complete()
        await settle()
    assert world.session.status.busy
    assert not any("lost" in trouble.what for trouble in world.session.drain().troubles)


async def test_a_server_that_speaks_only_http_is_spoken_to_so_at_once() -> None:
    world = World()
    world.wire.other_way = True
    world.wire.refusals = [EndpointError("426", http_may_work=True)]
    world.session.submit(intents.Prompt("hello"))
    assert texts(await world.wire.request(1)) == ["hello"]
    world.session.drain()
    assert world.session.status.transport == "http"
    assert world.session.drain().troubles == []


async def test_a_key_that_is_refused_on_the_way_is_not_tried_again(quick_retries: None) -> None:
    world = World()
    world.wire.other_way = True
    model = await begun(world)
    model.say(model.open_text(), "half")
    world.wire.refusals = [KeyRefused("the key has expired")]
    world.wire.lose()
    await settle()
    assert world.wire.dials == 2
    assert world.wire.transport == "websocket"
    assert world.session.status.outcome == "failed"
    assert any("key" in t.what and t.unreachable for t in world.session.drain().troubles)


async def test_an_endpoint_that_worked_before_is_tried_again(quick_retries: None) -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    model.complete()
    world.wire.lose()
    world.wire.refusals = [EndpointError("nobody listens") for _ in range(MAX_TRIES)]
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert texts(request) == ["one", "two"]
    assert world.wire.dials == 2 + MAX_TRIES


async def test_the_connection_limit_is_nobodys_concern(quick_retries: None) -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    limit = events.ErrorEvent(400, "websocket_connection_limit_reached", "60 minutes are up")
    world.wire.give(limit)
    request = await world.wire.request(2)
    assert [item["role"] for item in request["input"]] == ["user", "assistant"]
    assert world.wire.dials == 2
    assert notes(world) == []
    assert world.session.drain().troubles == []


async def test_an_idle_socket_that_grew_too_old_is_not_a_loss() -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    model.complete()
    world.wire.close_code = 1000
    world.wire.lose("the session's time is over")
    assert world.session.status.connection == "offline"
    assert world.session.drain().troubles == []
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert "previous_response_id" not in request
    assert texts(request) == ["one", "two"]


@pytest.mark.parametrize("close_code", [None, 1000, 1001, 1005, 1006, 1008, 1011, 1012, 1013])
async def test_however_a_socket_at_rest_ends_it_is_not_a_loss(close_code: int | None) -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    model.complete()
    world.wire.close_code = close_code
    world.wire.lose("the server restarts")
    assert world.session.status.connection == "offline"
    assert world.session.drain().troubles == []


async def test_a_socket_that_esc_had_to_drop_is_not_a_loss() -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    world.session.submit(intents.Interrupt())
    world.wire.lose("no answer to the interrupt")
    await settle()
    status = world.session.status
    assert (status.busy, status.connection) == (False, "offline")


async def test_a_connection_that_does_not_come_back_is_a_loss() -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    world.wire.close_code = 1008
    world.wire.lose("the server refuses to go on")
    await settle()
    status = world.session.status
    assert (status.busy, status.outcome, status.connection) == (False, "failed", "lost")


async def test_what_ends_a_turn_is_said_once_and_stays_in_the_conversation() -> None:
    world = World()
    await begun(world, "one")
    world.wire.give(events.ErrorEvent(401, "invalid_api_key", "no such key"))
    await settle()
    (trouble,) = world.session.drain().troubles
    assert trouble.noted
    blocks = [block for block in world.session.transcript.blocks if trouble.what in block.text]
    assert [(block.kind, block.state) for block in blocks] == [(BlockKind.NOTE, "failed")]
    assert blocks[0].text.endswith(f"\n{trouble.next_step}")


async def test_a_key_refused_before_the_first_prompt_is_called_that() -> None:
    world = World()
    world.wire.refusals = [KeyRefused("h refused the key (HTTP 401): check it")]
    await world.session.run()
    await settle()
    (trouble,) = world.session.drain().troubles
    assert (trouble.what, trouble.severity) == ("The server refused the key", "warning")
    assert "HTTP 401" in trouble.why
    assert trouble.unreachable


@pytest.mark.parametrize("again", ["lost", "limit", "over"])
async def test_only_a_half_answer_that_is_asked_for_again_is_void(
    quick_retries: None, again: str
) -> None:
    world = World()
    model = await begun(world, "one")
    model.text("whole")
    model.say(model.open_text(), "the first half")
    if again == "limit":
        limit = events.ErrorEvent(400, "websocket_connection_limit_reached", "60 minutes are up")
        world.wire.give(limit)
    else:
        world.wire.close_code = 1008 if again == "over" else 1006
        world.wire.lose()
    await settle()
    if again != "over":
        await world.wire.request(2)
        assert "failed" not in {block.state for block in world.session.transcript.blocks}
        model.begin()
    states = [b.state for b in world.session.transcript.blocks if b.kind is BlockKind.TEXT]
    assert states == ["done", "cut" if again == "over" else "failed"]

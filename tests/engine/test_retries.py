"""How long it tries, what the user sees of it, and what comes after the last try."""

from __future__ import annotations

from tests.support.fakes import World, settle
from tests.support.tables import each
from tests.support.turns import begun, notes, texts
from tui.core.conversation import BlockKind
from tui.core.wire import events
from tui.engine import intents
from tui.engine.recovery import MAX_TRIES
from tui.errors import EndpointError, KeyRefused


def after(seconds: float) -> dict[str, str]:
    return {"retry-after": str(seconds)}


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


async def test_a_socket_that_esc_had_to_drop_is_not_a_loss() -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    world.session.submit(intents.Interrupt())
    world.wire.lose("no answer to the interrupt")
    await settle()
    status = world.session.status
    assert (status.busy, status.connection) == (False, "offline")


async def test_a_key_refused_before_the_first_prompt_is_called_that() -> None:
    world = World()
    world.wire.refusals = [KeyRefused("h refused the key (HTTP 401): check it")]
    await world.runs()
    (trouble,) = world.session.drain().troubles
    assert (trouble.what, trouble.severity) == ("The server refused the key", "warning")
    assert "HTTP 401" in trouble.why
    assert trouble.unreachable


@each("again", ["lost", "limit", "over"])
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

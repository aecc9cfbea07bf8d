"""The foreground turn, stepped event by event: interrupt, redirect, queue, switch."""

from __future__ import annotations

from functools import partial

from tests.support.effort import lines_run
from tests.support.fakes import FakeWire, World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import CACHE, PATCH, begun, notes, texts
from tui.core.conversation import BlockKind
from tui.core.wire import events
from tui.engine import intents
from tui.engine.intents import Role
from tui.engine.ports import RoleSpec
from tui.errors import EndpointError, KeyRefused


async def test_a_model_that_is_gone_is_said_once_and_is_no_error() -> None:
    words = "old-1 is not served any more: use new-1"
    world = World(roles={"fast": RoleSpec("fast", "old-1", "main", outdated=words)})
    for number in range(2):
        model = await begun(world, f"hello {number}")
        model.complete()
        told = world.session.drain().troubles
        assert [(one.what, one.severity) for one in told] == [(words, "information")][number:]


async def test_esc_freezes_before_anything_else() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    key = model.open_patch("call_1")
    cut = PATCH.index("         return")
    model.patch_delta(key, PATCH[:cut])
    world.session.submit(intents.Interrupt())
    frozen = world.session.workspace.buffers["cache.py"].text()
    assert world.wire.interrupts == 1
    assert world.session.status.stopped.startswith("stopped after ~")
    assert any(note.startswith("stopped after") for note in notes(world))
    model.patch_delta(key, PATCH[cut:])
    world.session.drain()
    assert world.session.workspace.buffers["cache.py"].text() == frozen
    model.interrupted(31)
    assert not world.session.status.busy
    assert world.session.status.outcome == "interrupted"
    assert "31 tokens" in world.session.status.stopped


@each("error", [EndpointError("nobody listens"), KeyRefused("bad key")])
async def test_an_unreachable_endpoint_gives_the_prompt_back(error: EndpointError) -> None:
    world = World()
    world.wire.refusals = [error]
    world.session.submit(intents.Prompt("hello"))
    await settle()
    await settle()
    status = world.session.status
    assert not status.busy
    assert status.unsent == "hello"
    assert world.session.drain().troubles[0].unreachable


async def test_switching_mid_stream_hands_the_instruction_over() -> None:
    world = World(
        roles={
            "fast": RoleSpec("fast", "quick-1", "main"),
            "deep": RoleSpec("deep", "slow-1", "other"),
        }
    )
    model = await begun(world, "sort it")
    model.reason("secret thoughts")
    key = model.open_text()
    model.say(key, "I would")
    world.session.submit(intents.Switch("deep"))
    assert world.session.status.role == "deep"
    assert world.wire.interrupts == 1
    model.interrupted()
    other = world.wires["other"]
    request = await other.request(1)
    assert request["model"] == "slow-1"
    assert "previous_response_id" not in request
    assert texts(request)[-1] == "sort it"
    assert "reasoning" not in [item["type"] for item in request["input"]]
    users = [b for b in world.session.transcript.blocks if b.kind is BlockKind.USER]
    assert len(users) == 1


async def test_what_nobody_has_begun_to_answer_is_handed_over_as_it_is() -> None:
    world = World()
    model = await begun(world, "sort it")
    world.session.submit(intents.Steer("by name"))
    world.wire.news("accepted")
    model.complete()
    world.wire.give(events.Created({"id": "resp_2"}))
    world.wire.news("used")
    world.session.submit(intents.Switch("deep"))
    model.interrupted()
    request = await world.wire.request(2)
    assert texts(request)[-1] == "sort it\n\nby name"
    assert len([text for text in texts(request) if "sort it" in text]) == 1


async def test_esc_before_anything_was_sent_gives_the_prompt_back() -> None:
    world = World()
    world.session.submit(intents.Prompt("hello"))
    world.session.submit(intents.Interrupt())
    assert not world.session.status.busy
    assert world.session.status.unsent == "hello"
    assert world.session.transcript.blocks[-1].text == "the model did not get this prompt"
    await settle()
    assert world.wire.requests == []


async def test_a_new_conversation_forgets() -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    world.session.submit(intents.NewConversation())
    model.interrupted()
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert texts(request) == ["two"]
    assert "previous_response_id" not in request


async def test_a_role_without_a_model_is_explained() -> None:
    world = World(roles={"deep": RoleSpec("deep", "slow-1", "main")})
    assert world.session.status.role == "deep"
    world.session.submit(intents.Switch("fast"))
    assert "No fast model" in world.session.drain().troubles[0].what


TWO_ENDPOINTS: dict[Role, RoleSpec] = {
    "fast": RoleSpec("fast", "quick-1", "near"),
    "deep": RoleSpec("deep", "slow-1", "far"),
}


async def test_another_endpoint_that_breaks_does_not_end_the_chain() -> None:
    world = World(roles=TWO_ENDPOINTS)
    near, far = world.ports.wires("near"), world.ports.wires("far")
    assert isinstance(near, FakeWire)
    world.session.submit(intents.Switch("deep"))
    world.session.submit(intents.Prewarm())
    await settle()
    far.give(events.ErrorEvent(400, "invalid_request"))
    world.session.submit(intents.Switch("fast"))
    world.session.submit(intents.Prompt("one"))
    await near.request(1)
    model = SteppedRehearsal(near)
    model.answers("first")
    far.lose()
    world.session.submit(intents.Prompt("two"))
    request = await near.request(2)
    assert request["previous_response_id"] == "resp_1"


async def test_esc_costs_the_same_however_many_hunks_the_patch_has() -> None:
    cost = []
    for count in (20, 1000):
        world = World({"a.txt": "".join(f"{number}\n" for number in range(2 * count))})
        model = await begun(world)
        key = model.open_patch("call_1")
        model.patch_delta(key, "*** Begin Patch\n*** Update File: a.txt\n")
        for number in range(0, 2 * count, 2):
            model.patch_delta(key, f"@@\n-{number}\n+new {number}\n")
        model.patch_delta(key, "@@\n-1")
        cost.append(lines_run(partial(world.session.submit, intents.Interrupt())))
        assert world.wire.interrupts == 1
        assert len(world.session.workspace.hunks) == count, "the one that was cut is no hunk"
    assert cost[1] < cost[0] + 200, cost

"""The foreground turn, stepped event by event: interrupt, redirect, queue, switch."""

from __future__ import annotations

import pytest

from tests.support.fakes import FakeWire, World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import CACHE, PATCH, begun, notes, outputs, texts
from tui.core.turn import BlockKind
from tui.core.wire import events
from tui.engine import intents
from tui.engine.intents import Role
from tui.engine.ports import Abilities, RoleSpec
from tui.errors import EndpointError, KeyRefused


async def test_what_one_model_was_served_by_is_not_said_of_the_other() -> None:
    roles = {role: RoleSpec(role, f"{role}-1", "main") for role in ("fast", "deep")}
    world = World(roles=roles)
    model = await begun(world, "hello")
    model.complete()
    assert world.session.status.served_model
    world.session.submit(intents.Switch("deep"))
    assert (world.session.status.served_model, world.session.status.served_tier) == ("", "")


@pytest.mark.parametrize(("steers", "able", "can"), [
    (False, None, False), (None, None, True), (True, None, True), (False, True, True),
    (True, False, False),
])  # fmt: skip
async def test_whether_a_model_is_steered(
    steers: bool | None, able: bool | None, can: bool
) -> None:
    world = World(roles={"fast": RoleSpec("fast", "quick-1", "main", steers=steers)})
    await begun(world)
    world.wire.can = Abilities(steer=able)
    assert world.session.alt_label() == ("steer" if can else "queue")


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


async def test_typing_while_it_streams_redirects() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    model.patch(PATCH, "call_1")
    key = model.open_text()
    model.say(key, "And now I will al")
    assert world.session.prompt_label() == "redirect"
    world.session.submit(intents.Prompt("use a plain Lock"))
    assert world.session.status.queued == ["use a plain Lock"]
    assert world.wire.interrupts == 1
    assert len(world.wire.requests) == 1
    model.interrupted()
    request = await world.wire.request(2)
    assert world.session.status.queued == []
    assert request["previous_response_id"] == "resp_1"
    assert "call_1" in outputs(request)
    said = texts(request)
    assert said[-1] == "use a plain Lock"
    report = "\n".join(said[:-1])
    assert "interrupted by the user" in report
    assert "kept, pending review" in outputs(request)["call_1"]
    assert "kept" not in report  # nothing is told twice


async def test_a_redirect_over_a_dropped_socket_says_everything() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    key = model.open_patch("call_1")
    model.patch_delta(key, PATCH[: PATCH.index("         return")])
    world.session.submit(intents.Prompt("stop that"))
    world.wire.lose("dropped to stop it")
    request = await world.wire.request(2)
    assert "previous_response_id" not in request
    assert world.wire.dials == 2
    said = texts(request)
    assert "make it safe" in said
    assert said[-1] == "stop that"
    calls = [i for i in request["input"] if i.get("type") == "custom_tool_call"]
    assert [call["call_id"] for call in calls] == ["call_1"]
    assert calls[0]["input"].endswith("\n")
    assert "call_1" in outputs(request)


async def test_two_redirects_become_one_message() -> None:
    world = World()
    model = await begun(world)
    world.session.submit(intents.Prompt("first thought"))
    world.session.submit(intents.Prompt("second thought"))
    assert world.wire.interrupts == 1
    model.interrupted()
    assert texts(await world.wire.request(2))[-1] == "first thought\n\nsecond thought"


async def test_the_queue_waits_for_the_end_and_not_for_an_interrupt() -> None:
    world = World()
    model = await begun(world)
    world.session.submit(intents.Queue("later"))
    world.session.submit(intents.Queue("never"))
    world.session.submit(intents.Unqueue(1))
    world.session.submit(intents.Interrupt())
    model.interrupted()
    await settle()
    assert world.session.status.queued == ["later"]
    assert not world.session.status.busy
    world.session.submit(intents.Prompt("now"))
    await world.wire.request(2)
    model.begin()
    model.text("ok")
    model.complete()
    assert texts(await world.wire.request(3))[-1] == "later"


async def test_a_bad_request_gives_the_prompt_back() -> None:
    world = World()
    world.session.submit(intents.Prompt("hello"))
    await world.wire.request(1)
    world.wire.give(events.ErrorEvent(400, "invalid_prompt", "no such model"))
    assert world.session.status.outcome == "failed"
    assert world.session.status.unsent == "hello"
    trouble = world.session.drain().troubles[0]
    assert "no such model" in trouble.why
    world.session.submit(intents.Prompt("hello"))
    assert texts(await world.wire.request(2)) == ["hello"]


@pytest.mark.parametrize("error", [EndpointError("nobody listens"), KeyRefused("bad key")])
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


async def test_deltas_wake_the_front_end_once() -> None:
    world = World()
    model = await begun(world)
    world.session.drain()
    world.wakes = 0
    key = model.open_text()
    for _ in range(100):
        model.say(key, "word ")
    assert world.wakes == 1
    notices = world.session.drain()
    assert notices.transcript_from == 1
    assert notices.meter


async def test_esc_after_a_redirect_keeps_its_text_and_sends_nothing() -> None:
    world = World()
    model = await begun(world)
    world.session.submit(intents.Prompt("no, this"))
    world.session.submit(intents.Interrupt())
    model.interrupted()
    await settle()
    assert len(world.wire.requests) == 1
    assert world.session.status.queued == ["no, this"]


async def test_undoing_while_it_streams_stops_it_first() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    model.patch(PATCH, "call_1")
    world.session.submit(intents.UndoTurn())
    assert world.wire.interrupts == 1
    assert world.session.workspace.buffers["cache.py"].text() == CACHE


async def test_a_role_without_a_model_is_explained() -> None:
    world = World(roles={"deep": RoleSpec("deep", "slow-1", "main")})
    assert world.session.status.role == "deep"
    world.session.submit(intents.Switch("fast"))
    assert "No fast model" in world.session.drain().troubles[0].what


TWO_ENDPOINTS: dict[Role, RoleSpec] = {
    "fast": RoleSpec("fast", "quick-1", "near"),
    "deep": RoleSpec("deep", "slow-1", "far"),
}


async def test_a_socket_that_breaks_while_another_endpoint_is_dialled_ends_its_chain() -> None:
    world = World(roles=TWO_ENDPOINTS)
    near, far = world.ports.wires("near"), world.ports.wires("far")
    assert isinstance(near, FakeWire)
    assert isinstance(far, FakeWire)
    world.session.submit(intents.Prompt("one"))
    await near.request(1)
    model = SteppedRehearsal(near)
    model.begin()
    model.text("first")
    model.complete()
    far.refusals = [KeyRefused("no")]
    world.session.submit(intents.Switch("deep"))
    world.session.submit(intents.Prompt("two"))
    near.lose()
    await settle()
    assert world.session.status.outcome == "failed"
    world.session.submit(intents.Switch("fast"))
    world.session.submit(intents.Prompt("three"))
    request = await near.request(2)
    assert "previous_response_id" not in request
    assert texts(request) == ["one", "three"]


async def test_another_endpoint_that_breaks_does_not_end_the_chain() -> None:
    world = World(roles=TWO_ENDPOINTS)
    near, far = world.ports.wires("near"), world.ports.wires("far")
    assert isinstance(near, FakeWire)
    assert isinstance(far, FakeWire)
    world.session.submit(intents.Switch("deep"))
    world.session.submit(intents.Prewarm())
    await settle()
    far.give(events.ErrorEvent(400, "invalid_request"))
    world.session.submit(intents.Switch("fast"))
    world.session.submit(intents.Prompt("one"))
    await near.request(1)
    model = SteppedRehearsal(near)
    model.begin()
    model.text("first")
    model.complete()
    far.lose()
    world.session.submit(intents.Prompt("two"))
    request = await near.request(2)
    assert request["previous_response_id"] == "resp_1"

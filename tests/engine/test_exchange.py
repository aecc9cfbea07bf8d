"""Requests, tool rounds and recovery, stepped event by event over a fake wire."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import CACHE, begun, notes, outputs, texts
from tui.core.turn import BlockKind
from tui.core.wire import events
from tui.engine import exchange, intents, reply
from tui.engine.session import Options


async def test_a_turn_of_text() -> None:
    world = World({"cache.py": CACHE})
    world.session.submit(intents.Prompt("hello"))
    assert world.session.status.busy
    request = await world.wire.request(1)
    assert request["model"] == "quick-1"
    assert request["store"] is False
    assert request["include"] == ["reasoning.encrypted_content"]
    assert request["prompt_cache_key"] == "conversation-1"
    assert request["parallel_tool_calls"] is True
    assert "reasoning" not in request
    assert "previous_response_id" not in request
    assert "cache.py" in request["instructions"]
    assert {tool["name"] for tool in request["tools"]} == {
        "read_file", "list", "search", "apply_patch",
    }  # fmt: skip
    assert texts(request)[-1] == "hello"
    model = SteppedRehearsal(world.wire)
    model.begin("quick-1-served")
    model.reason("thinking")
    model.text("Hi there, **friend**.")
    model.complete(12)
    blocks = world.session.transcript.blocks
    assert [(b.kind.value, b.text, b.state) for b in blocks] == [
        ("user", "hello", "done"),
        ("reasoning", "thinking", "done"),
        ("text", "Hi there, **friend**.", "done"),
    ]
    assert not world.session.status.busy
    assert world.session.status.outcome == "completed"
    assert world.session.status.served_model == "quick-1-served"
    assert world.session.meter.view(world.clock.now()).tokens == 12


async def test_the_next_turn_continues_the_chain() -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    model.complete()
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert request["previous_response_id"] == "resp_1"
    assert texts(request) == ["two"]


async def test_changed_settings_say_everything_again() -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    model.complete()
    world.session.submit(intents.SetEffort("high"))
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert "previous_response_id" not in request
    assert request["reasoning"]["effort"] == "high"
    assert texts(request) == ["one", "two"]
    assert request["input"][1]["role"] == "assistant"


async def test_reading_tools_are_answered_together() -> None:
    world = World({"a.py": "one\n", "b.py": "two\n"})
    model = await begun(world)
    model.call("read_file", {"path": "a.py"}, "call_a")
    model.call("search", {"pattern": "two"}, "call_b")
    model.complete()
    answers = outputs(await world.wire.request(2))
    assert "one\n" in answers["call_a"]
    assert answers["call_b"] == "b.py:1: two"
    tools = [b for b in world.session.transcript.blocks if b.kind is BlockKind.TOOL]
    assert [t.title for t in tools] == ["read_file a.py", "search two"]
    assert all(t.state == "done" for t in tools)


async def test_private_files_are_asked_for() -> None:
    world = World({".env": "KEY=secret\n"})
    world.files.private = {".env": "it holds secrets"}
    model = await begun(world)
    model.call("read_file", {"path": ".env"}, "call_a")
    model.complete()
    await settle()
    ask = world.session.status.asks[0]
    assert ".env" in ask.question
    world.session.submit(intents.Answer(ask.id, ask.choices[-1]))
    answer = outputs(await world.wire.request(2))["call_a"]
    assert "declined" in answer
    assert "secret\n" not in answer
    assert world.session.status.asks == []
    model.begin()
    model.call("read_file", {"path": ".env"}, "call_b")
    model.complete()
    await settle()
    ask = world.session.status.asks[0]
    world.session.submit(intents.Answer(ask.id, ask.choices[0]))
    assert "KEY=secret" in outputs(await world.wire.request(3))["call_b"]


async def test_esc_while_a_question_waits_ends_the_turn() -> None:
    world = World({".env": "KEY=secret\n"})
    world.files.private = {".env": "it holds secrets"}
    model = await begun(world)
    model.call("read_file", {"path": ".env"}, "call_a")
    model.complete()
    await settle()
    world.session.submit(intents.Interrupt())
    await settle()
    assert not world.session.status.busy
    assert world.session.status.asks == []
    assert world.wire.interrupts == 0
    world.session.submit(intents.Prompt("go on without it"))
    assert "interrupted" in outputs(await world.wire.request(2))["call_a"]


async def test_rounds_are_limited() -> None:
    world = World({"a.py": "one\n"}, options=Options(round_limit=2))
    model = await begun(world)
    for number in (1, 2):
        model.call("list", {}, f"call_{number}")
        model.complete()
        if number == 1:
            await world.wire.request(2)
            model.begin()
    await settle()
    assert not world.session.status.busy
    assert world.session.status.outcome == "failed"
    assert any("2 rounds" in note for note in notes(world))
    world.session.submit(intents.Prompt("go on"))
    assert "call_2" in outputs(await world.wire.request(3))


PIECE = "x" * 30_000
MESSAGE = {"type": "message", "role": "assistant"}
ENDLESS = {
    "text": lambda n: events.TextDelta("m", PIECE),
    "thoughts": lambda n: events.ReasoningDelta("r", PIECE),
    "arguments": lambda n: events.ArgumentsDelta("c", PIECE),
    "input": lambda n: events.InputDelta("p", PIECE),
    "messages": lambda n: events.TextDelta(f"m{n}", "", output_index=n),
    "items": lambda n: events.ItemAdded(n, {**MESSAGE, "id": f"m{n}", "content": []}),
    "finished items": lambda n: events.ItemDone(
        n, {**MESSAGE, "id": f"m{n}", "content": [{"type": "output_text", "text": PIECE}]}
    ),
}


@pytest.mark.parametrize("kind", ENDLESS)
async def test_an_answer_without_end_is_stopped_with_a_sentence(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply, "MOST_CHARS", 2**20)
    world = World()
    await begun(world)
    came = 0
    while world.session.status.busy and came < 5000:
        world.wire.on_event(ENDLESS[kind](came), world.clock.now())
        came += 1
    assert 30 < came < 5000
    (trouble,) = world.session.drain().troubles
    assert f"{trouble.what}: {trouble.why}" == "The answer was stopped: it is longer than 16 MB"
    assert world.wire.state == "closed"
    world.session.submit(intents.Prompt("and now"))
    await world.wire.request(2)


async def test_lost_before_the_first_event_is_silent() -> None:
    world = World()
    world.session.submit(intents.Prompt("hello"))
    await world.wire.request(1)
    world.wire.lose()
    request = await world.wire.request(2)
    assert texts(request) == ["hello"]
    assert notes(world) == []
    assert world.session.drain().troubles == []


async def test_lost_in_the_middle_keeps_what_is_finished(quick_retries: None) -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    model.reason("hm")
    model.text("I will look.")
    model.call("read_file", {"path": "cache.py"}, "call_a")
    await settle()
    key = model.open_text()
    model.say(key, "half a sen")
    world.wire.lose()
    request = await world.wire.request(2)
    assert "previous_response_id" not in request
    kinds = [item["type"] for item in request["input"]]
    assert kinds == [
        "message", "reasoning", "message", "function_call", "function_call_output",
    ]  # fmt: skip
    assert any("trying again" in note for note in notes(world))
    cut = [b for b in world.session.transcript.blocks if b.state == "cut"]
    assert [b.text for b in cut] == ["half a sen"]


async def test_a_forgotten_parent_is_resent_once() -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    model.complete()
    world.session.submit(intents.Prompt("two"))
    await world.wire.request(2)
    lost = events.ErrorEvent(400, "previous_response_not_found", "not found")
    world.wire.give(lost)
    request = await world.wire.request(3)
    assert "previous_response_id" not in request
    assert texts(request) == ["one", "two"]
    assert notes(world) == []
    world.wire.give(lost)
    assert world.session.status.outcome == "failed"


async def test_a_server_error_is_tried_again_on_a_new_socket(quick_retries: None) -> None:
    world = World()
    await begun(world)
    world.wire.give(events.ErrorEvent(500, "server_error", "oops"))
    await world.wire.request(2)
    assert world.wire.drops == 1
    assert world.wire.dials == 2


async def test_an_answer_at_the_output_limit_says_so() -> None:
    world = World()
    model = await begun(world)
    model.text("as far as it goes")
    model.cut_short("max_output_tokens")
    assert world.session.status.outcome == "failed"
    assert any("output limit" in note for note in notes(world))


async def test_the_throttle_does_not_break_the_chain() -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    model.complete()
    world.session.submit(intents.Throttle(50))
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert "client_metadata" not in request
    assert request["previous_response_id"] == "resp_1"


async def test_a_call_that_finishes_after_esc_is_not_run() -> None:
    world = World({"a.py": "one\n"})
    model = await begun(world)
    world.session.submit(intents.Prompt("never mind"))
    model.call("read_file", {"path": "a.py"}, "call_a")
    model.interrupted()
    request = await world.wire.request(2)
    assert "not run" in outputs(request)["call_a"]


async def test_open_private_buffers_are_not_sent() -> None:
    world = World({".env": "KEY=secret-value\n", "a.py": "x = 1\n"})
    world.files.private = {".env": "it holds secrets"}
    world.session.submit(intents.OpenFile(".env"))
    world.session.submit(intents.OpenFile("a.py"))
    world.session.cursor("a.py", (0, 2), ((0, 0), (0, 2)))
    world.session.submit(intents.Prompt("hello"))
    request = await world.wire.request(1)
    said = "\n".join(texts(request))
    assert "secret-value" not in said
    assert ".env is open but its text is not sent" in said
    assert '<file path="a.py" state="active" cursor="1:3" selection="1:1-1:3" chars="6">' in said


async def test_a_lane_that_never_gets_free_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "STOP_LIMIT_S", 0.0)
    world = World()
    await begun(world)
    world.session.submit(intents.Prompt("again"))
    assert world.wire.interrupts == 1
    assert texts(await world.wire.request(2))[-1] == "again"
    assert world.wire.drops == 1


async def test_a_message_that_is_too_big_is_not_sent_again() -> None:
    world = World()
    world.session.submit(intents.Prompt("hello"))
    await world.wire.request(1)
    world.wire.close_code = 1009
    world.wire.lose("the message was too big")
    await settle()
    assert len(world.wire.requests) == 1
    assert world.session.status.unsent == "hello"
    assert "too big" in world.session.drain().troubles[0].why


async def test_it_stops_trying_in_the_end(quick_retries: None) -> None:
    world = World()
    world.session.submit(intents.Prompt("hello"))
    for number in range(1, 7):
        await world.wire.request(number)
        world.wire.lose()
    await settle()
    assert len(world.wire.requests) == 6
    assert world.session.status.outcome == "failed"
    assert world.session.status.unsent == "hello"


async def test_esc_ends_the_waiting_between_tries() -> None:
    world = World()
    model = await begun(world)
    model.text("something")
    world.wire.give(events.ErrorEvent(429, "rate_limit_exceeded", headers={"retry-after": "60"}))
    assert world.session.status.busy
    world.session.submit(intents.Interrupt())
    assert not world.session.status.busy
    world.session.submit(intents.Prompt("go on"))
    assert texts(await world.wire.request(2))[-1] == "go on"


async def test_a_bug_before_the_request_ends_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Busy for ever would be worse: the prompt goes back to its box, and exec comes to an end."""
    world = World({"cache.py": CACHE})

    def broken() -> list[str]:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(world.files, "listing", broken)
    world.session.submit(intents.Prompt("hello"))
    status = world.session.status
    for _ in range(200):
        await asyncio.sleep(0.005)
        if not status.busy:
            break
    assert (status.busy, status.outcome, status.unsent) == (False, "failed", "hello")
    assert any("broke off" in trouble.what for trouble in world.session.drain().troubles)


async def test_private_instructions_are_not_sent_and_it_is_said() -> None:
    world = World()
    world.agents_md = "the key is 12345"
    world.files.private = {"AGENTS.md": "it leads to a secret"}
    await begun(world)
    assert "12345" not in str(world.wire.requests)
    assert "AGENTS.md is not sent to the model: it leads to a secret" in notes(world)
    await world.session.close()

"""Requests, tool rounds and recovery, stepped event by event over a fake wire."""

from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import CACHE, begun, notes, outputs, texts
from tui.core.wire import events
from tui.engine import intents, response, turn
from tui.engine.session import SessionOptions


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
    request = await world.wire.request(2)
    assert request["previous_response_id"] == "resp_1"
    assert "interrupted" in outputs(request)["call_a"]


@each("limit, said", [(1, "1 rounds"), (3, "3 rounds")])
async def test_rounds_are_limited(limit: int, said: str) -> None:
    world = World({"a.py": "one\n"}, options=SessionOptions(round_limit=limit))
    model = await begun(world)
    for number in range(1, limit + 1):
        assert len(world.wire.requests) == number
        model.call("list", {}, f"call_{number}")
        model.complete()
        if number < limit:
            await world.wire.request(number + 1)
            model.begin()
    await settle()
    status = world.session.status
    assert (status.busy, status.outcome) == (False, "failed")
    assert any(said in note for note in notes(world))
    world.session.submit(intents.Prompt("go on"))
    assert f"call_{limit}" in outputs(await world.wire.request(limit + 1))
    assert len(world.wire.requests) == limit + 1


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


@each("kind", ENDLESS)
async def test_an_answer_without_end_is_stopped_with_a_sentence(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response, "MOST_CHARS", 2**20)
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


async def test_an_answer_at_the_output_limit_says_so() -> None:
    world = World()
    model = await begun(world)
    model.text("as far as it goes")
    model.cut_short("max_output_tokens")
    assert world.session.status.outcome == "failed"
    assert any("output limit" in note for note in notes(world))


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
    monkeypatch.setattr(turn, "STOP_LIMIT_S", 0.0)
    world = World()
    await begun(world)
    world.session.submit(intents.Prompt("again"))
    assert world.wire.interrupts == 1
    assert texts(await world.wire.request(2))[-1] == "again"
    assert world.wire.drops == 1


async def test_a_bug_before_the_request_ends_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Busy for ever would be worse: the prompt goes back to its box, and exec comes to an end."""
    world = World({"cache.py": CACHE})

    def broken() -> list[str]:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(world.files, "listing", broken)
    world.session.submit(intents.Prompt("hello"))
    status = world.session.status
    while status.busy:
        await settle()
    assert (status.busy, status.outcome, status.unsent) == (False, "failed", "hello")
    assert any("broke off" in trouble.what for trouble in world.session.drain().troubles)


async def test_private_instructions_are_not_sent_and_it_is_said() -> None:
    world = World()
    world.agents_md = "the key is 12345"
    world.files.private = {"AGENTS.md": "it leads to a secret"}
    await begun(world)
    assert "12345" not in str(world.wire.requests)
    assert "AGENTS.md is not sent to the model: it leads to a secret" in notes(world)

"""Requests, tool rounds and recovery, stepped event by event over a fake wire."""

from __future__ import annotations

import json

import pytest

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import CACHE, PATCH, begun, notes, outputs, texts
from tui.core.conversation import BlockKind
from tui.core.wire import events
from tui.core.wire.rate_limits import PAUSE, Limit
from tui.engine import intents, response
from tui.engine.intents import Role
from tui.engine.ports import RoleSpec
from tui.engine.requests import TurnLimits
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
        "read_file", "list", "search", "shell", "shell_output", "apply_patch",
    }  # fmt: skip
    assert texts(request)[-1] == "hello"
    model = SteppedRehearsal(world.wire)
    model.begin("quick-1-served")
    model.reason("thinking")
    assert world.session.meter.view(world.clock.now()).reasoning == "counted"
    model.text("Hi there, **friend**.")
    model.complete(12)
    assert shown(world) == [
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


@each("limit, said", [(1, "1 round of"), (3, "3 rounds")])
async def test_rounds_are_limited(limit: int, said: str) -> None:
    world = World({"a.py": "one\n"}, options=SessionOptions(limits=TurnLimits(limit)))
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


@each("repeats", [True, False])
async def test_the_same_call_with_the_same_result_three_times_in_a_row_ends_a_turn(
    repeats: bool,
) -> None:
    world = World({"a.py": "one\n"})
    model = await begun(world)
    for number in range(1, 4):
        read = {"path": "a.py" if repeats or number != 2 else "b.py"}
        model.call("read_file", read, f"call_{number}")
        model.complete()
        await settle()
        if world.session.status.busy:
            model.begin()
    assert world.session.status.busy is not repeats
    assert any("the same call 3 times" in note for note in notes(world)) is repeats
    assert world.session.status.can_go_on is repeats


async def test_one_that_waits_for_a_command_may_do_so_as_often_as_it_likes() -> None:
    world = World({"a.py": "one\n"})
    model = await begun(world)
    for number in range(1, 5):
        model.call("shell_output", {"task": 1}, f"call_{number}")
        model.complete()
        await settle()
        model.begin()
    assert world.session.status.busy


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
    assert f"{trouble.what}: {trouble.why}" == "The answer was stopped: it is longer than 4 MB"
    assert world.wire.state == "closed"
    world.session.submit(intents.Prompt("and now"))
    await world.wire.request(2)


async def test_an_answer_at_the_output_limit_says_so(world: World) -> None:
    model = await begun(world)
    model.text("as far as it goes")
    model.cut_short("max_output_tokens")
    assert world.session.status.outcome == "failed"
    assert any("output limit" in note for note in notes(world))
    world = World()
    model = await begun(world)
    model.cut_short("max_output_tokens")
    assert not world.session.status.unsent, "nothing came, but the model took the prompt up"


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


async def test_private_instructions_are_not_sent_and_it_is_said(world: World) -> None:
    world.files.data["AGENTS.md"] = b"the key is 12345"
    world.files.private = {"AGENTS.md": "it leads to a secret"}
    await begun(world)
    assert "12345" not in str(world.wire.requests)
    assert "AGENTS.md is not sent to the model: it leads to a secret" in notes(world)


def two_roles() -> dict[Role, RoleSpec]:
    return {role: RoleSpec(role, f"{role}-1", "main") for role in ("fast", "deep")}


async def test_a_response_tells_what_is_left() -> None:
    world = World(roles=two_roles())
    model = await begun(world, "hello")
    now = world.clock.now()
    headers = {"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "60"}
    metadata = {"duetto_rate_limits": json.dumps(headers)}
    world.wire.give(events.Completed({"id": "resp_9", "metadata": metadata}))
    assert world.session.status.limits == (Limit("requests", 3, None, now + 60),)
    world.session.submit(intents.Switch("deep"))
    assert world.session.status.limits == (), "the other model's are not known"
    assert model is not None


async def test_a_refusal_with_a_pause_longer_than_is_waited_for_says_until_when(
    world: World,
) -> None:
    await begun(world)
    now = world.clock.now()
    headers = {"retry-after": "3600", "x-ratelimit-remaining-tokens": "0"}
    world.wire.give(events.ErrorEvent(429, "rate_limit_exceeded", "slow down", headers=headers))
    await settle()
    status = world.session.status
    assert not status.busy
    assert Limit(PAUSE, 0, None, now + 3600) in status.limits
    assert Limit("tokens", 0) in status.limits


async def test_a_vendors_event_tells_too_and_others_are_passed_over(world: World) -> None:
    await begun(world)
    window = {"used_percent": 90, "window_minutes": 300}
    raw = {"rate_limits": {"primary": window}}
    world.wire.give(events.Unknown("codex.rate_limits", raw), events.Unknown("ping", {}))
    assert world.session.status.limits == (Limit("% of 5 h", 10, 100),)


CODES = [None, 1000, 1011]
MOMENTS = ["before created", "after created", "mid delta", "after item done", "before terminal"]
LINE = "        self.items[key] = 1\n"
LAID = CACHE.replace(LINE, f"        with self.lock:\n    {LINE}")


def shown(world: World) -> list[tuple[str, str, str]]:
    """Kind, text and state of what was said."""
    blocks = world.session.transcript.blocks
    beside = (BlockKind.NOTE, BlockKind.PACE)
    return [(b.kind.value, b.text, b.state) for b in blocks if b.kind not in beside]


def play(model: SteppedRehearsal, moment: str) -> None:
    """The response as far as that moment."""
    if moment == "before created":
        return
    model.begin()
    if moment in ("mid delta", "after item done"):
        key = model.open_text()
        model.say(key, "I will ")
        if moment == "after item done":
            model.say(key, "look.")
            model.close_text(key, "I will look.")
    elif moment == "before terminal":
        model.text("I will look.")
        model.call("read_file", {"path": "cache.py"}, "call_a")


@each("code", CODES)
@each("moment", MOMENTS)
async def test_a_loss_at_any_moment_is_mended(
    moment: str, code: int | None, quick_retries: None
) -> None:
    world = World({"cache.py": CACHE})
    world.session.submit(intents.Prompt("look at it"))
    await world.wire.request(1)
    model = SteppedRehearsal(world.wire)
    play(model, moment)
    await settle()
    world.wire.close_code = code
    world.wire.lose()
    request = await world.wire.request(2)
    assert "previous_response_id" not in request
    finished = moment in ("after item done", "before terminal")
    kinds = [item["type"] for item in request["input"]]
    calls = ["function_call", "function_call_output"] if moment == "before terminal" else []
    assert kinds == ["message"] * (2 if finished else 1) + calls
    assert texts(request) == ["look at it"]
    assert world.session.drain().troubles == []
    assert bool(notes(world)) == (moment == "mid delta")
    model.answers("All of it.")
    assert world.session.status.outcome == "completed"
    said = [(text, state) for kind, text, state in shown(world) if kind == "text"]
    before = {"mid delta": [("I will ", "failed")]}.get(moment, [])
    before = [("I will look.", "done")] if finished else before
    assert said == [*before, ("All of it.", "done")]
    assert len(world.wire.requests) == 2
    world.session.submit(intents.Prompt("and now"))
    third = await world.wire.request(3)
    assert third["previous_response_id"]
    assert texts(third) == ["and now"]


async def test_a_half_written_call_is_forgotten(quick_retries: None) -> None:
    world = World({"a.py": "one\n"})
    model = await begun(world)
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read_file"}
    world.wire.give(events.ItemAdded(0, item), events.ArgumentsDelta("fc_1", '{"path": "a'))
    world.wire.lose()
    request = await world.wire.request(2)
    assert [item["type"] for item in request["input"]] == ["message"]
    model.begin()
    model.call("read_file", {"path": "a.py"}, "call_2")
    model.complete()
    assert list(outputs(await world.wire.request(3))) == ["call_2"]


async def test_half_a_hunk_is_taken_back_and_laid_whole_by_the_next_answer(
    quick_retries: None,
) -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    key = model.open_patch("call_1")
    model.patch_delta(key, PATCH[: PATCH.index("         return")])
    world.session.drain()
    world.wire.lose()
    request = await world.wire.request(2)
    assert [item["type"] for item in request["input"]] == ["message"]
    assert world.session.workspace.buffers["cache.py"].text() == CACHE
    model.begin()
    model.patch(PATCH, "call_2")
    model.complete()
    assert world.session.workspace.buffers["cache.py"].text() == LAID


async def test_what_landed_of_a_broken_patch_stands_once(quick_retries: None) -> None:
    world = World({"cache.py": CACHE, "b.py": "x = 1\n"})
    model = await begun(world)
    key = model.open_patch("call_1")
    model.patch_delta(key, PATCH.replace("*** End Patch", "*** Update File: b.py\n@@\n-x = "))
    world.session.drain()
    world.wire.lose()
    request = await world.wire.request(2)
    assert "Do not resend" in outputs(request)["call_1"]
    assert world.session.workspace.buffers["cache.py"].text() == LAID


async def test_what_landed_of_a_broken_patch_in_prose_is_told(quick_retries: None) -> None:
    spec = RoleSpec("fast", "quick-1", "main", patch_tool="text")
    world = World({"cache.py": CACHE}, roles={"fast": spec})
    model = await begun(world)
    model.say(model.open_text(), f"Here:\n\n{PATCH}\nAnd now")
    world.session.drain()
    assert world.session.workspace.buffers["cache.py"].text() == LAID
    world.wire.lose()
    request = await world.wire.request(2)
    assert texts(request)[-1].startswith("Your last answer broke off after")
    assert "do not send kept hunks again:\ncache.py (unsaved" in texts(request)[-1]
    assert "cache.py" in texts(request)[-1]


async def test_the_output_of_the_terminal_event_does_for_missing_items(world: World) -> None:
    await begun(world, "one")
    content = [{"type": "output_text", "text": "All."}]
    message = {"type": "message", "role": "assistant", "content": content}
    world.wire.give(events.Completed({"id": "resp_1", "output": [message]}))
    assert shown(world)[-1] == ("text", "All.", "done")
    world.wire.lose()
    world.session.submit(intents.Prompt("two"))
    assert (await world.wire.request(2))["input"][1] == message


async def test_an_end_that_says_nothing_ends_the_turn_all_the_same(world: World) -> None:
    model = await begun(world, "one")
    model.say(model.open_text(), "No end of mine, no usage.")
    world.wire.give(events.Completed({}))
    assert shown(world)[-1] == ("text", "No end of mine, no usage.", "done")
    assert world.session.status.outcome == "completed"
    assert world.session.meter.view(world.clock.now()).tokens_estimated
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert request["previous_response_id"] == "resp_1"

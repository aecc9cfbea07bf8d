"""The foreground turn, stepped event by event over a fake wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tui.core import events
from tui.core.turn import BlockKind
from tui.engine import exchange, intents
from tui.engine.ports import RoleSpec
from tui.engine.session import Options
from tui.errors import EndpointError, KeyRefused

CACHE = "class Cache:\n    def put(self, key):\n        self.items[key] = 1\n        return key\n"
PATCH = """*** Begin Patch
*** Update File: cache.py
@@
 class Cache:
     def put(self, key):
-        self.items[key] = 1
+        with self.lock:
+            self.items[key] = 1
         return key
*** End Patch
"""


def texts(request: dict[str, Any]) -> list[str]:
    """The user messages of a request."""
    return [
        item["content"][0]["text"]
        for item in request["input"]
        if item.get("type") == "message" and item.get("role") == "user"
    ]


def outputs(request: dict[str, Any]) -> dict[str, str]:
    """Call id -> output."""
    return {
        item["call_id"]: item["output"]
        for item in request["input"]
        if str(item.get("type", "")).endswith("_output")
    }


def notes(world: World) -> list[str]:
    return [b.text for b in world.session.transcript.blocks if b.kind is BlockKind.NOTE]


async def begun(world: World, text: str = "make it safe") -> SteppedRehearsal:
    """A prompt is sent and its response has begun."""
    world.session.submit(intents.Prompt(text))
    await world.wire.request(len(world.wire.requests) + 1)
    model = SteppedRehearsal(world.wire)
    model.begin()
    return model


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


async def test_a_patch_lands_and_is_answered_at_once() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    key = model.open_patch("call_1")
    cut = PATCH.index("         return")
    model.patch_delta(key, PATCH[:cut])
    world.session.drain()
    assert "with self.lock" in world.session.workspace.buffers["cache.py"].text()
    model.patch_delta(key, PATCH[cut:])
    model.close_patch(key, "call_1", PATCH)
    model.complete()
    request = await world.wire.request(2)
    assert request["previous_response_id"] == "resp_1"
    assert "pending review" in outputs(request)["call_1"]
    model.begin()
    model.text("Done.")
    model.complete()
    assert world.session.status.outcome == "completed"
    assert world.files.data["cache.py"].decode() == CACHE
    patch = next(b for b in world.session.transcript.blocks if b.kind is BlockKind.PATCH)
    assert patch.state == "done"
    assert len(world.session.workspace.hunks_of(patch.call_id)) == 1


async def test_accepting_writes_and_the_next_request_says_so() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    model.patch(PATCH, "call_1")
    model.complete()
    await world.wire.request(2)
    model.begin()
    model.text("Done.")
    model.complete()
    world.session.submit(intents.Accept())
    assert b"with self.lock" in world.files.data["cache.py"]
    world.session.submit(intents.Prompt("thanks"))
    said = "\n".join(texts(await world.wire.request(3)))
    assert "accepted" in said
    assert said.endswith("thanks")


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
    assert "kept, pending review" in report


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


async def test_an_answer_at_the_output_limit_says_so() -> None:
    world = World()
    model = await begun(world)
    model.text("as far as it goes")
    model.cut_short("max_output_tokens")
    assert world.session.status.outcome == "failed"
    assert any("output limit" in note for note in notes(world))


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


async def test_esc_before_anything_was_sent_gives_the_prompt_back() -> None:
    world = World()
    world.session.submit(intents.Prompt("hello"))
    world.session.submit(intents.Interrupt())
    assert not world.session.status.busy
    assert world.session.status.unsent == "hello"
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


async def test_the_throttle_does_not_break_the_chain() -> None:
    world = World()
    model = await begun(world, "one")
    model.text("first")
    model.complete()
    world.session.submit(intents.Throttle(50))
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert request["client_metadata"] == {"duetto_tokens_s": "50"}
    assert request["previous_response_id"] == "resp_1"


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


async def test_a_call_that_finishes_after_esc_is_not_run() -> None:
    world = World({"a.py": "one\n"})
    model = await begun(world)
    world.session.submit(intents.Prompt("never mind"))
    model.call("read_file", {"path": "a.py"}, "call_a")
    model.interrupted()
    request = await world.wire.request(2)
    assert "not run" in outputs(request)["call_a"]


async def test_items_only_in_the_terminal_event_count() -> None:
    world = World()
    await begun(world)
    message = {"type": "message", "id": "m", "role": "assistant", "content": "all at once"}
    world.wire.give(events.Completed({"id": "resp_1", "output": [message]}))
    assert world.session.transcript.blocks[-1].text == "all at once"


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


async def test_nothing_of_a_private_file_is_quoted_in_a_report() -> None:
    world = World({".env": "KEY=secret-value\nOTHER=1\n"})
    world.files.private = {".env": "it holds secrets"}
    model = await begun(world)
    patch = "*** Begin Patch\n*** Update File: .env\n@@\n-KEY=secret-valu\n+KEY=\n*** End Patch\n"
    model.patch(patch, "call_1")
    model.complete()
    request = await world.wire.request(2)
    assert "secret-value" not in str(request["input"])


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


async def test_patches_in_prose_land_and_are_reported_next_time() -> None:
    world = World(
        {"cache.py": CACHE},
        roles={"fast": RoleSpec("fast", "quick-1", "main", patch_tool="text")},
    )
    model = await begun(world)
    model.text(f"Here it is:\n\n{PATCH}\nThat is all.\n")
    model.complete()
    kinds = [b.kind.value for b in world.session.transcript.blocks]
    assert kinds == ["user", "text", "patch", "text"]
    assert "with self.lock" in world.session.workspace.buffers["cache.py"].text()
    shown = "".join(b.text for b in world.session.transcript.blocks if b.kind is BlockKind.TEXT)
    assert "*** Begin Patch" not in shown
    assert "That is all." in shown
    world.session.submit(intents.Prompt("and now?"))
    said = "\n".join(texts(await world.wire.request(2)))
    assert "pending review" in said


async def test_patches_in_function_arguments_and_hosted_calls() -> None:
    world = World({"cache.py": CACHE, "b.txt": "one\ntwo\n"})
    model = await begun(world)
    model.call("apply_patch", {"input": PATCH}, "call_1")
    operation = {"type": "update_file", "path": "b.txt", "diff": ""}
    item = {"type": "apply_patch_call", "id": "apc", "call_id": "call_2", "operation": operation}
    diff = "@@\n one\n-two\n+TWO"
    world.wire.give(
        events.ItemAdded(1, item),
        events.PatchDelta("apc", diff),
        events.ItemDone(1, {**item, "operation": {**operation, "diff": diff}}),
    )
    model.complete()
    request = await world.wire.request(2)
    assert all("pending review" in output for output in outputs(request).values())
    hosted = next(i for i in request["input"] if i["type"] == "apply_patch_call_output")
    assert hosted["status"] == "completed"
    assert world.session.workspace.buffers["b.txt"].text() == "one\nTWO\n"
    assert "with self.lock" in world.session.workspace.buffers["cache.py"].text()


async def test_the_smallest_stream_is_enough() -> None:
    """No deltas at all: items come whole (PROTOCOL section 3)."""
    world = World({"cache.py": CACHE})
    await begun(world)
    item = {"type": "custom_tool_call", "id": "i", "call_id": "c", "name": "apply_patch"}
    world.wire.give(
        events.ItemDone(0, {**item, "input": PATCH}), events.Completed({"id": "resp_1"})
    )
    assert "pending review" in outputs(await world.wire.request(2))["c"]


async def test_a_lane_that_never_gets_free_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "STOP_LIMIT_S", 0.0)
    world = World()
    await begun(world)
    world.session.submit(intents.Prompt("again"))
    assert world.wire.interrupts == 1
    assert texts(await world.wire.request(2))[-1] == "again"
    assert world.wire.drops == 1

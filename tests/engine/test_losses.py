"""The socket breaks at every moment of a response: nothing is lost, nothing comes twice."""

from __future__ import annotations

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import CACHE, PATCH, begun, notes, outputs, texts
from tui.core.conversation import BlockKind
from tui.core.wire import events
from tui.engine import intents
from tui.engine.ports import RoleSpec

CODES = [None, 1000, 1011]
MOMENTS = ["before created", "after created", "mid delta", "after item done", "before terminal"]
LINE = "        self.items[key] = 1\n"
LAID = CACHE.replace(LINE, f"        with self.lock:\n    {LINE}")


def shown(world: World) -> list[tuple[str, str, str]]:
    """Kind, text and state of what is not a note."""
    blocks = world.session.transcript.blocks
    return [(b.kind.value, b.text, b.state) for b in blocks if b.kind is not BlockKind.NOTE]


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


async def test_a_call_that_still_runs_when_the_socket_breaks_is_waited_for() -> None:
    world = World({".env": "KEY=1\n"})
    world.files.private = {".env": "it holds secrets"}
    model = await begun(world)
    model.call("read_file", {"path": ".env"}, "call_a")
    await settle()
    world.wire.lose()
    await settle()
    world.clock.advance(1)
    await settle()
    assert len(world.wire.requests) == 1
    await world.answers(0)
    request = await world.wire.request(2)
    assert "KEY=1" in outputs(request)["call_a"]


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


async def test_a_half_written_patch_of_which_nothing_landed_is_forgotten(
    quick_retries: None,
) -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    key = model.open_patch("call_1")
    model.patch_delta(key, "*** Begin Patch\n*** Upd")
    world.wire.lose()
    request = await world.wire.request(2)
    assert [item["type"] for item in request["input"]] == ["message"]


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


async def test_a_failed_continuation_is_asked_for_in_full(quick_retries: None) -> None:
    """The server has dropped the parent (PROTOCOL.md section 4)."""
    world = World({"a.py": "one\n"})
    model = await begun(world)
    model.call("list", {}, "call_1")
    model.complete()
    assert (await world.wire.request(2))["previous_response_id"] == "resp_1"
    model.begin()
    world.wire.give(events.Failed({"id": "resp_2", "error": {"code": "server_error"}}))
    request = await world.wire.request(3)
    assert "previous_response_id" not in request
    assert list(outputs(request)) == ["call_1"]


async def test_the_output_of_the_terminal_event_does_for_missing_items() -> None:
    world = World()
    await begun(world, "one")
    content = [{"type": "output_text", "text": "All."}]
    message = {"type": "message", "role": "assistant", "content": content}
    world.wire.give(events.Completed({"id": "resp_1", "output": [message]}))
    assert shown(world)[-1] == ("text", "All.", "done")
    world.wire.lose()
    world.session.submit(intents.Prompt("two"))
    assert (await world.wire.request(2))["input"][1] == message


async def test_an_end_that_says_nothing_ends_the_turn_all_the_same() -> None:
    world = World()
    model = await begun(world, "one")
    model.say(model.open_text(), "No end of mine, no usage.")
    world.wire.give(events.Completed({}))
    assert shown(world)[-1] == ("text", "No end of mine, no usage.", "done")
    assert world.session.status.outcome == "completed"
    assert world.session.meter.view(world.clock.now()).tokens_estimated
    world.session.submit(intents.Prompt("two"))
    request = await world.wire.request(2)
    assert request["previous_response_id"] == "resp_1"

"""Patches by every channel, prose, and what the model is told of them."""

from __future__ import annotations

import tracemalloc

from tests.support.fakes import World
from tests.support.turns import CACHE, PATCH, begun, outputs, texts
from tui.core.turn import BlockKind
from tui.core.wire import events
from tui.engine import intents
from tui.engine.ports import RoleSpec


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


async def test_items_only_in_the_terminal_event_count() -> None:
    world = World()
    await begun(world)
    message = {"type": "message", "id": "m", "role": "assistant", "content": "all at once"}
    world.wire.give(events.Completed({"id": "resp_1", "output": [message]}))
    assert world.session.transcript.blocks[-1].text == "all at once"


async def test_nothing_of_a_private_file_is_quoted_in_a_report() -> None:
    world = World({".env": "KEY=secret-value\nOTHER=1\n"})
    world.files.private = {".env": "it holds secrets"}
    model = await begun(world)
    patch = "*** Begin Patch\n*** Update File: .env\n@@\n-KEY=secret-valu\n+KEY=\n*** End Patch\n"
    model.patch(patch, "call_1")
    model.complete()
    request = await world.wire.request(2)
    assert "secret-value" not in str(request["input"])


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


async def test_a_long_answer_is_not_kept_in_pieces_of_a_token() -> None:
    """A token as an object of its own costs sixty bytes; the text is kept twice, in few pieces."""
    world = World({})
    model = await begun(world)
    text = "".join(f"{number:04} word " for number in range(10_000))
    tracemalloc.start()
    try:
        model.text(text, chunk=4)
        world.session.drain()
        world.wire.requests.clear()
        found = tracemalloc.take_snapshot()
        held = sum(
            trace.size
            for trace in found.traces
            if "tui" in trace.traceback[0].filename and "support" not in trace.traceback[0].filename
        )
    finally:
        tracemalloc.stop()
    assert held < 5 * len(text), f"{held / len(text):.1f} bytes a character"

"""Calls as careless servers say them: twice, in other words at their end, or in an envelope."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from tests.support.fakes import World, settle
from tests.support.tables import each
from tests.support.turns import CACHE, PATCH, begun, outputs, texts
from tui.core.document.hunk import Kind, Stage
from tui.core.wire import events
from tui.engine import intents
from tui.engine.session import SessionOptions

INSERT = "*** Begin Patch\n*** Update File: cache.py\n@@ class Cache:\n+    x = 1\n*** End Patch\n"


def item_of(patch: str, **others: Any) -> dict[str, Any]:
    return {
        "type": "custom_tool_call",
        "id": "ctc_1",
        "call_id": "call_1",
        "name": "apply_patch",
        "input": patch,
        **others,
    }


def said(world: World, patch: str, item: dict[str, Any]) -> None:
    """A call from its beginning to its end."""
    world.wire.give(events.ItemAdded(0, item_of("", status="in_progress")))
    for at in range(0, len(patch), 5):
        world.wire.give(events.InputDelta("ctc_1", patch[at : at + 5]))
    world.wire.give(events.ItemDone(0, item))


def patches(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in request["input"] if item["type"] == "custom_tool_call"]


@pytest.mark.case("A18")
@each("whole", [True, False])
async def test_an_item_that_a_response_says_twice_is_one(whole: bool) -> None:
    world = World({"cache.py": CACHE})
    await begun(world)
    said(world, INSERT, item_of(INSERT, status="completed"))
    if whole:
        said(world, INSERT, item_of(INSERT))
    else:
        world.wire.give(events.ItemDone(0, item_of(INSERT)))
    world.wire.give(events.Completed({"id": "resp_1"}))
    request = await world.wire.request(2)
    assert list(outputs(request)) == ["call_1"]
    assert world.session.workspace.buffers["cache.py"].text().count("x = 1") == 1
    assert len(world.session.workspace.hunks) == 1
    world.wire.lose()
    request = await world.wire.request(3)
    assert len(patches(request)) == 1
    assert list(outputs(request)) == ["call_1"]


async def test_an_id_that_two_responses_say_is_sent_once(quick_retries: None) -> None:
    world = World({"cache.py": CACHE})
    await begun(world)
    said(world, INSERT, item_of(INSERT))
    world.wire.lose()
    await world.wire.request(2)
    world.wire.give(events.Created({"id": "resp_2"}))
    said(world, INSERT, item_of(INSERT))
    world.wire.lose()
    request = await world.wire.request(3)
    ids = [item.get("id") for item in patches(request)]
    assert ids == ["ctc_1", None]


async def test_hunks_that_the_finished_call_contradicts_are_flagged_and_quoted() -> None:
    world = World({"cache.py": CACHE}, options=SessionOptions(auto_accept=True))
    await begun(world)
    said(world, PATCH, item_of(PATCH.replace("self.lock", "self.mutex")))
    world.wire.give(events.Completed({"id": "resp_1"}))
    answer = outputs(await world.wire.request(2))["call_1"]
    assert "pending review" in answer
    assert "the finished call differs from what streamed" in answer
    assert "        with self.lock:" in answer


async def test_a_contradicted_message_is_flagged_and_quoted() -> None:
    world = World({"cache.py": CACHE})
    await begun(world)
    world.wire.give(events.ItemAdded(0, {"type": "message", "id": "m"}))
    world.wire.give(events.TextDelta("m", f"So:\n\n{PATCH}\n"))
    content = [{"type": "output_text", "text": PATCH.replace("self.lock", "self.mutex")}]
    item = {"type": "message", "id": "m", "role": "assistant", "content": content}
    world.wire.give(events.ItemDone(0, item), events.Completed({"id": "resp_1"}))
    await settle()
    assert {hunk.call_id for hunk in world.session.workspace.hunks} == {"1 m"}
    world.session.submit(intents.Prompt("go on"))
    told = "\n".join(texts(await world.wire.request(2)))
    assert "the finished call differs from what streamed" in told


async def test_a_hosted_call_may_name_its_file_at_its_end_only() -> None:
    for streams in (True, False):
        world = World({"cache.py": CACHE})
        await begun(world)
        diff = "@@\n class Cache:\n+    x = 1\n"
        bare = {"type": "apply_patch_call", "id": "apc", "call_id": "c"}
        operation = {"type": "update_file", "path": "cache.py", "diff": diff}
        world.wire.give(events.ItemAdded(0, bare))
        if streams:
            world.wire.give(events.PatchDelta("apc", diff))
        item = {**bare, "operation": operation}
        world.wire.give(events.ItemDone(0, item), events.Completed({"id": "resp_1"}))
        (answer,) = [i for i in (await world.wire.request(2))["input"] if "output" in i]
        assert answer["status"] == "completed"
        assert world.session.workspace.buffers["cache.py"].text().count("x = 1") == 1


async def test_a_file_that_never_was_is_not_told_as_deleted() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    model.patch("*** Begin Patch\n*** Add File: new.py\nhello\n*** End Patch\n", "call_1")
    model.complete()
    answer = outputs(await world.wire.request(2))["call_1"]
    assert "deleted" not in answer


@each("kind", ["custom", "function"])
async def test_a_file_never_gets_a_nul(kind: str) -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    text = INSERT.replace("x = 1", "x = '\0'")
    if kind == "custom":
        model.patch(text, "call_1")
    else:
        model.call("apply_patch", {"input": text}, "call_1")
    model.complete()
    await world.wire.request(2)
    assert "x = '\ufffd'" in world.session.workspace.buffers["cache.py"].text()


async def test_edits_of_a_private_file_stay_private_when_it_is_deleted() -> None:
    world = World({"cache.py": CACHE, "key.txt": "KEY=hunter2\n"})
    world.files.private["key.txt"] = "it holds secrets"
    world.session.submit(intents.OpenFile("key.txt"))
    world.session.workspace.edit("key.txt", (0, 4), (0, 11), "hunter3")
    model = await begun(world)
    model.patch("*** Begin Patch\n*** Delete File: key.txt\n*** End Patch\n", "call_1")
    world.session.submit(intents.Accept((1,)))
    await settle()
    model.complete()
    request = await world.wire.request(2)
    assert "hunter" not in str(world.wire.requests) + str(request)


@each("path", ["cache.py", "cache.py\n*** Delete File: other.py"])
async def test_an_operation_is_about_its_own_file_only(path: str) -> None:
    world = World({"cache.py": CACHE, "other.py": "x\n"})
    await begun(world)
    diff = "@@\n class Cache:\n+    x = 1\n*** Delete File: other.py\n"
    operation = {"type": "update_file", "path": path, "diff": diff}
    item = {"type": "apply_patch_call", "id": "apc", "call_id": "c", "operation": operation}
    world.wire.give(events.ItemAdded(0, {**item, "operation": {**operation, "diff": ""}}))
    for at in range(0, len(diff), 3):
        world.wire.give(events.PatchDelta("apc", diff[at : at + 3]))
    world.wire.give(events.ItemDone(0, item), events.Completed({"id": "resp_1"}))
    (answer,) = [i for i in (await world.wire.request(2))["input"] if "output" in i]
    assert answer["status"] == "failed"
    assert [hunk.path for hunk in world.session.workspace.hunks if hunk.path == "other.py"] == []
    if path == "cache.py":
        assert "it is about one file, not about 'other.py' too" in answer["output"]
        assert "hunk 1 kept" in answer["output"]


async def test_nothing_of_a_private_file_is_quoted_in_a_report() -> None:
    world = World({".env": "KEY=secret-value\nOTHER=1\n"})
    world.files.private = {".env": "it holds secrets"}
    model = await begun(world)
    patch = "*** Begin Patch\n*** Update File: .env\n@@\n-KEY=secret-valu\n+KEY=\n*** End Patch\n"
    model.patch(patch, "call_1")
    model.complete()
    request = await world.wire.request(2)
    assert "secret-value" not in str(request["input"])


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


A = "one\ntwo\nthree\n"
FILES = {"a.py": A, "old.py": "gone\n"}
OPERATIONS = [
    ("update_file", "a.py", "@@\n one\n-two\n+TWO\n three\n"),
    ("create_file", "sub/new.py", "+first\n+\n+last\n"),
    ("delete_file", "old.py", ""),
]
ENVELOPED = """*** Begin Patch
*** Update File: a.py
@@
 one
-two
+TWO
 three
*** Add File: sub/new.py
+first
+
+last
*** Delete File: old.py
*** End Patch
"""


def hosted_item(number: int, diff: str = "") -> dict[str, Any]:
    kind, path, _ = OPERATIONS[number]
    operation = {"type": kind, "path": path, "diff": diff}
    return {
        "type": "apply_patch_call",
        "id": f"item_{number}",
        "call_id": f"call_{number}",
        "status": "completed" if diff or kind == "delete_file" else "in_progress",
        "operation": operation,
    }


def stream(world: World, number: int, size: int) -> None:
    """A call as the wire gives it: its header, its diff in pieces, the whole of it."""
    diff = OPERATIONS[number][2]
    world.wire.give(events.ItemAdded(number, hosted_item(number)))
    for at in range(0, len(diff), size):
        world.wire.give(events.PatchDelta(f"item_{number}", diff[at : at + size]))
    world.wire.give(events.ItemDone(number, hosted_item(number, diff)))


def hunks_of(world: World) -> list[tuple[object, ...]]:
    return [
        (h.path, h.kind, h.stage, tuple(h.flags), h.base, h.agent, h.added, h.removed)
        for h in world.session.workspace.hunks
    ]


@each("size", [1, 5, 400])
async def test_b20_operations_with_bare_diffs_do_what_the_envelope_does(size: int) -> None:
    world, other = World(dict(FILES)), World(dict(FILES))
    model = await begun(world)
    for number in range(len(OPERATIONS)):
        stream(world, number, size)
    model.complete()
    enveloped = await begun(other)
    enveloped.patch(ENVELOPED, "call")
    enveloped.complete()
    request = await world.wire.request(2)
    await other.wire.request(2)
    assert hunks_of(world) == hunks_of(other)
    assert [hunk[1:3] for hunk in hunks_of(world)] == [
        (Kind.EDIT, Stage.LANDED),
        (Kind.ADD, Stage.LANDED),
        (Kind.DELETE, Stage.LANDED),
    ]
    answers = [one for one in request["input"] if one["type"] == "apply_patch_call_output"]
    assert [one["status"] for one in answers] == ["completed"] * 3
    assert sorted(outputs(request)) == ["call_0", "call_1", "call_2"]
    for one in (world, other):
        one.session.submit(intents.Accept())
        await settle()
        texts = {path: bytes(data) for path, data in one.files.data.items()}
        assert texts == {"a.py": b"one\nTWO\nthree\n", "sub/new.py": b"first\n\nlast\n"}


async def test_b20_the_diff_lands_while_it_comes_and_a_cut_leaves_nothing_half_done() -> None:
    world = World(dict(FILES))
    await begun(world)
    world.wire.give(events.ItemAdded(0, hosted_item(1)), events.PatchDelta("item_1", "+first\n+la"))
    await settle()
    assert world.session.workspace.buffers["sub/new.py"].text().startswith("first\n")
    world.wire.give(events.ItemAdded(1, hosted_item(2)))
    world.session.submit(intents.Interrupt())
    await settle()
    kinds = {h.kind: h.stage for h in world.session.workspace.hunks}
    assert kinds.get(Kind.DELETE, Stage.REFUSED) is Stage.REFUSED
    assert kinds[Kind.ADD] is Stage.LANDED, "nobody looks: its whole lines are kept"
    assert world.session.workspace.buffers["sub/new.py"].text() == "first\n"
    assert set(world.files.data) == set(FILES)

"""The built-in tool's calls: an operation and a bare diff that streams, without an envelope."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fakes import World, settle
from tests.support.tables import each
from tests.support.turns import begun, outputs
from tui.core.document.hunk import Kind, Stage
from tui.core.wire import events
from tui.engine import intents

A = "one\ntwo\nthree\n"
FILES = {"a.py": A, "old.py": "gone\n"}
OPERATIONS = [
    ("update_file", "a.py", "@@\n one\n-two\n+TWO\n three\n"),
    ("create_file", "sub/new.py", "+first\n+\n+last\n"),
    ("delete_file", "old.py", ""),
]
PATCH = """*** Begin Patch
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


def item_of(number: int, diff: str = "") -> dict[str, Any]:
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
    world.wire.give(events.ItemAdded(number, item_of(number)))
    for at in range(0, len(diff), size):
        world.wire.give(events.PatchDelta(f"item_{number}", diff[at : at + size]))
    world.wire.give(events.ItemDone(number, item_of(number, diff)))


def hunks_of(world: World) -> list[tuple[object, ...]]:
    return [
        (h.path, h.kind, h.stage, tuple(h.flags), h.base, h.agent, h.added, h.removed)
        for h in world.session.workspace.hunks
    ]


@pytest.mark.case("B20")
@each("size", [1, 5, 400])
async def test_b20_operations_with_bare_diffs_do_what_the_envelope_does(size: int) -> None:
    world, other = World(dict(FILES)), World(dict(FILES))
    model = await begun(world)
    for number in range(len(OPERATIONS)):
        stream(world, number, size)
    model.complete()
    enveloped = await begun(other)
    enveloped.patch(PATCH, "call")
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


@pytest.mark.case("B20")
async def test_b20_the_diff_lands_while_it_comes_and_a_cut_leaves_nothing_half_done() -> None:
    world = World(dict(FILES))
    await begun(world)
    world.wire.give(events.ItemAdded(0, item_of(1)), events.PatchDelta("item_1", "+first\n+la"))
    await settle()
    assert world.session.workspace.buffers["sub/new.py"].text().startswith("first\n")
    world.wire.give(events.ItemAdded(1, item_of(2)))
    world.session.submit(intents.Interrupt())
    await settle()
    kinds = {h.kind: h.stage for h in world.session.workspace.hunks}
    assert kinds.get(Kind.DELETE, Stage.DROPPED) is Stage.DROPPED
    assert kinds[Kind.ADD] is Stage.PARTIAL
    assert world.session.workspace.buffers["sub/new.py"].text() == "first\n"
    assert set(world.files.data) == set(FILES)

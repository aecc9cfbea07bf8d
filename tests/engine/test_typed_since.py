"""What the user types between a request and the model's first line, in every format."""

from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tests.support.notations import NOTATIONS, told
from tests.support.patches import Edit
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import begun, texts
from tui.core.edit_stream.events import Notation
from tui.core.edits.hunk import Stage
from tui.core.edits.sections.section_merge import MERGED
from tui.engine import intents
from tui.engine.ports import PatchTool, RoleSpec
from tui.engine.session import Options

LINES = [f"line {number}" for number in range(12)]
TEXT = "".join(f"{line}\n" for line in LINES)
EDIT = Edit(3, 4, ("LINE 3",))
CHANNELS: list[PatchTool] = ["custom", "function", "text"]


def world_of(channel: PatchTool, fmt: Notation) -> World:
    spec = RoleSpec("fast", "quick-1", "main", patch_tool=channel, patch_format=fmt)
    world = World({"a.py": TEXT}, roles={"fast": spec}, options=Options(conversation="c"))
    world.session.submit(intents.OpenFile("a.py"))
    return world


async def answered(channel: PatchTool, patch: str, model: SteppedRehearsal) -> None:
    if channel == "custom":
        model.patch(patch, "call_1")
    elif channel == "function":
        model.call("apply_patch", {"input": patch}, "call_1")
    else:
        model.text(f"Here it is:\n\n{patch}\n")
    model.complete()
    await settle()


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("fmt", NOTATIONS)
async def test_typed_elsewhere_both_are_kept(fmt: Notation, channel: PatchTool) -> None:
    world = world_of(channel, fmt)
    workspace = world.session.workspace
    workspace.edit("a.py", (0, 0), (0, 0), "# known\n")
    model = await begun(world)
    known = ["# known", *LINES]
    workspace.edit("a.py", (11, 0), (11, 0), "mine ")
    patch = told(fmt, known, [Edit(4, 5, ("LINE 3",))], 2, "a.py")
    await answered(channel, patch, model)
    want = "# known\n" + TEXT.replace("line 3", "LINE 3").replace("line 10", "mine line 10")
    assert workspace.buffers["a.py"].text() == want
    (hunk,) = workspace.hunks
    assert (hunk.base, hunk.agent) == ("line 3\n", "LINE 3\n")
    assert hunk.flags == ([MERGED] if fmt == "whole_file" else [])
    world.session.submit(intents.Accept())
    assert world.files.data["a.py"] == want.encode()
    world.session.submit(intents.UndoTurn())
    assert b"mine line 10" in world.files.data["a.py"]


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("fmt", NOTATIONS)
async def test_typed_in_the_same_line_the_users_text_stays(
    fmt: Notation, channel: PatchTool
) -> None:
    world = world_of(channel, fmt)
    workspace = world.session.workspace
    model = await begun(world)
    workspace.edit("a.py", (3, 0), (3, 0), "mine ")
    await answered(channel, told(fmt, LINES, [EDIT], 2, "a.py"), model)
    assert workspace.buffers["a.py"].text() == TEXT.replace("line 3", "mine line 3")
    (hunk,) = workspace.hunks
    assert hunk.stage in (Stage.CONFLICT, Stage.REFUSED)
    assert "LINE 3\n" in hunk.agent
    world.session.submit(intents.Accept())
    await settle()
    assert world.files.data["a.py"] == TEXT.encode()
    world.session.submit(intents.Prompt("go on"))
    said = "\n".join(texts(await world.wire.request(2)))
    assert "mine line 3" in said

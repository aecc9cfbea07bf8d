"""What the user types between a request and the model's first line, in every format."""

from __future__ import annotations

from tests.support.fakes import World, settle
from tests.support.notations import NOTATIONS, told
from tests.support.patches import Edit
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import begun, texts
from tui.core.document.hunk import Stage
from tui.core.edit_stream.events import Notation
from tui.engine import intents
from tui.engine.ports import PatchTool, RoleSpec
from tui.engine.session import SessionOptions

LINES = [f"line {number}" for number in range(12)]
TEXT = "".join(f"{line}\n" for line in LINES)
EDIT = Edit(3, 4, ("LINE 3",))
CHANNELS: list[PatchTool] = ["custom", "function", "text"]


def world_of(channel: PatchTool, fmt: Notation) -> World:
    spec = RoleSpec("fast", "quick-1", "main", patch_tool=channel, patch_format=fmt)
    world = World({"a.py": TEXT}, roles={"fast": spec}, options=SessionOptions(conversation="c"))
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


@each("channel", CHANNELS)
@each("fmt", NOTATIONS)
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

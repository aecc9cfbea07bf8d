"""Scenarios through a whole session, one of each ten of a kind, on every channel.

All of them are played through the document: tests/core/patches.
"""

from __future__ import annotations

import json

import pytest

from tests.support.fakes import World, settle
from tests.support.scenarios import LINK, Scenario, scenarios
from tests.support.turns import begun, outputs, texts
from tui.core.conversation import BlockKind
from tui.core.text.buffer import Buffer
from tui.core.wire import events
from tui.engine import intents
from tui.engine.ports import PatchFormat, PatchTool, RoleSpec
from tui.engine.session import SessionOptions

REAL_FOLDERS = ("directory", "too long", "UTF-8", "symlink")
"""What only a real disk refuses."""
FORMATS: dict[str, PatchFormat] = {
    "v4a": "apply_patch",
    "sr": "search_replace",
    "udiff": "unified_diff",
    "whole": "whole_file",
}
PLAYABLE = [
    (one, fmt)
    for folder, fmt in FORMATS.items()
    for one in scenarios(folder)
    if not one.meta.get("symlinks") and not any(part in one.error for part in REAL_FOLDERS)
]
WHOLE = [(one, fmt) for one, fmt in PLAYABLE if not one.cut][::10]
CUT = [(one, fmt) for one, fmt in PLAYABLE if one.cut][::10]
CHANNELS: list[PatchTool] = ["custom", "function", "text"]


def tree(scenario: Scenario) -> dict[str, bytes]:
    """The input, links left out."""
    return {p: d for p, d in scenario.tree("input").items() if not d.startswith(LINK)}


def world_of(before: dict[str, bytes], channel: PatchTool, fmt: PatchFormat) -> World:
    spec = RoleSpec("fast", "quick-1", "main", patch_tool=channel, patch_format=fmt)
    return World(before, roles={"fast": spec}, options=SessionOptions(conversation="c"))


class Mirror:
    """A front end that has of every text what the notices told it, and nothing else."""

    def __init__(self, world: World) -> None:
        self.session = world.session
        self.texts: dict[str, tuple[Buffer, int, list[str]]] = {}
        self.hunks: list[tuple[object, ...]] = []

    def frame(self) -> None:
        """Hear of what changed; what was not told must be as it was."""
        notices, buffers = self.session.drain(), self.session.workspace.buffers
        for path in notices.buffers | (buffers.keys() - self.texts.keys()):
            if path in buffers:
                self.texts[path] = buffers[path], buffers[path].revision, self._heard(buffers[path])
        for path in [path for path in self.texts if path not in buffers]:
            assert path in notices.buffers or notices.tabs
            del self.texts[path]
        shown = {path: lines for path, (_, _, lines) in self.texts.items()}
        assert shown == {path: list(buffer.lines) for path, buffer in buffers.items()}
        hunks = self._hunks()
        assert notices.hunks or hunks == self.hunks
        self.hunks = hunks
        if notices.landing is not None and notices.landing[0] in buffers:
            assert 0 <= notices.landing[1] <= len(shown[notices.landing[0]])

    def _heard(self, buffer: Buffer) -> list[str]:
        known, revision, lines = self.texts.get(buffer.path, (None, 0, []))
        changes = buffer.changes_since(revision) if known is buffer else None
        if changes is None:
            return list(buffer.lines)
        heard: list[str | None] = [*lines]
        for row, removed, added in changes:
            heard[row : row + removed] = [None] * added
        assert len(heard) == len(buffer.lines)
        return [buffer.lines[n] if line is None else line for n, line in enumerate(heard)]

    def _hunks(self) -> list[tuple[object, ...]]:
        return [(h.id, h.stage, h.decision, h.agent) for h in self.session.workspace.hunks]


async def accepted_and_undone(world: World, scenario: Scenario, before: dict[str, bytes]) -> None:
    session = world.session
    await settle()
    assert world.files.data == before, "nothing is written without an accept"
    session.submit(intents.Accept())
    await settle()
    assert world.files.data == scenario.expected()
    session.drain()
    session.submit(intents.UndoTurn())
    await settle()
    assert world.files.data == before, "and every byte comes back"


@pytest.mark.parametrize(("scenario", "fmt"), WHOLE, ids=str)
async def test_a_scenario_in_a_session(scenario: Scenario, fmt: PatchFormat) -> None:
    for channel in CHANNELS:
        await played(scenario, fmt, channel)
    if fmt == "apply_patch":
        await through_a_shell(scenario)


async def played(scenario: Scenario, fmt: PatchFormat, channel: PatchTool) -> None:
    """One turn with the scenario's patch; all is accepted, then undone."""
    before = tree(scenario)
    world = world_of(before, channel, fmt)
    model = await begun(world)
    mirror = Mirror(world)
    if channel == "custom":
        key = model.open_patch("call_1")
        for at in range(0, len(scenario.patch), 7):
            model.patch_delta(key, scenario.patch[at : at + 7])
            mirror.frame()
        model.close_patch(key, "call_1", scenario.patch)
    elif channel == "function":
        model.call("apply_patch", {"input": scenario.patch}, "call_1")
    else:
        model.text(f"Here it is:\n\n{scenario.patch}\n")
    mirror.frame()
    model.complete()
    mirror.frame()
    await accepted_and_undone(world, scenario, before)


@pytest.mark.parametrize(("scenario", "fmt"), CUT, ids=str)
@pytest.mark.case("I04")
async def test_a_cut_stream_is_reported_and_every_call_is_answered(
    scenario: Scenario, fmt: PatchFormat
) -> None:
    for channel in CHANNELS:
        await cut_off(scenario, fmt, channel)


async def cut_off(scenario: Scenario, fmt: PatchFormat, channel: PatchTool) -> None:
    """One turn that ends in the middle of the scenario's patch, and what the next one is told."""
    before = tree(scenario)
    world = world_of(before, channel, fmt)
    model = await begun(world)
    if channel == "custom":
        key = model.open_patch("call_1")
        model.patch_delta(key, scenario.patch)
    elif channel == "function":
        item = {"type": "function_call", "id": "f", "call_id": "call_1", "name": "apply_patch"}
        delta = json.dumps({"input": scenario.patch})[:-2]
        world.wire.give(events.ItemAdded(0, item), events.ArgumentsDelta("f", delta))
    else:
        model.say(model.open_text(), scenario.patch)
    world.session.submit(intents.Interrupt())
    world.wire.lose()
    await settle()
    assert world.files.data == before
    world.session.submit(intents.Prompt("go on"))
    request = await world.wire.request(2)
    calls = [i for i in request["input"] if str(i.get("type")).endswith("_call")]
    assert {call["call_id"] for call in calls} == set(outputs(request))
    said = "\n".join(texts(request)[:-1])
    assert "was interrupted by the user after" in said
    for hunk in world.session.workspace.hunks:
        assert said.count(f"hunk {hunk.id} ") == 1, said
        assert hunk.reason in said
    world.session.submit(intents.Reject())
    await settle()
    assert world.files.data == before


async def through_a_shell(scenario: Scenario) -> None:
    before = tree(scenario)
    world = world_of(before, "custom", "auto")
    model = await begun(world)
    script = f"apply_patch <<'EOF'\n{scenario.patch}\nEOF\n"
    model.call("shell", {"command": ["bash", "-lc", script]}, "call_1")
    world.session.drain()
    model.complete()
    if world.session.workspace.hunks:
        await accepted_and_undone(world, scenario, before)


async def test_a_block_of_code_without_a_file_name_is_said() -> None:
    spec = RoleSpec("fast", "quick-1", "main", patch_tool="text", patch_format="whole_file")
    world = World({"a.py": "one\n"}, roles={"fast": spec})
    model = await begun(world)
    model.finishes("a.py\n```python\nONE\n```\n\nThen:\n\n```sh\nmake\n```\n\n```output\nok\n```\n")
    await settle()
    notes = [
        block.text for block in world.session.transcript.blocks if block.kind is BlockKind.NOTE
    ]
    assert notes == ["a code block had no file name above: not applied"]
    assert world.session.workspace.buffers["a.py"].lines[0] == "ONE"

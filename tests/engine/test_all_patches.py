"""Every scenario through a whole session, on every channel: as ``duetto apply`` has it."""

from __future__ import annotations

import json

import pytest

from tests.support.fakes import World, settle
from tests.support.scenarios import LINK, Scenario, scenarios
from tests.support.turns import begun, outputs, texts
from tui.core.wire import events
from tui.engine import intents
from tui.engine.ports import PatchFormat, PatchTool, RoleSpec
from tui.engine.session import Options

REAL_FOLDERS = ("directory", "too long", "UTF-8", "symlink")
"""What only a real disk refuses."""
FORMATS: dict[str, PatchFormat] = {
    "v4a": "apply_patch",
    "sr": "search_replace",
    "udiff": "unified_diff",
    "whole": "whole_file",
}
WHOLE = [
    (one, fmt)
    for folder, fmt in FORMATS.items()
    for one in scenarios(folder)
    if not one.cut
    and not one.meta.get("symlinks")
    and not any(part in one.error for part in REAL_FOLDERS)
]
CUT = [(one, fmt) for folder, fmt in FORMATS.items() for one in scenarios(folder) if one.cut]
CHANNELS: list[PatchTool] = ["custom", "function", "text"]


def tree(scenario: Scenario) -> dict[str, bytes]:
    """The input, links left out."""
    return {p: d for p, d in scenario._tree("input").items() if not d.startswith(LINK)}


def world_of(before: dict[str, bytes], channel: PatchTool, fmt: PatchFormat) -> World:
    spec = RoleSpec("fast", "quick-1", "main", patch_tool=channel, patch_format=fmt)
    return World(before, roles={"fast": spec}, options=Options(conversation="c"))


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
    await session.close()


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(("scenario", "fmt"), WHOLE, ids=str)
async def test_a_scenario_in_a_session(
    scenario: Scenario, fmt: PatchFormat, channel: PatchTool
) -> None:
    before = tree(scenario)
    world = world_of(before, channel, fmt)
    model = await begun(world)
    if channel == "custom":
        model.patch(scenario.patch, "call_1")
    elif channel == "function":
        model.call("apply_patch", {"input": scenario.patch}, "call_1")
    else:
        model.text(f"Here it is:\n\n{scenario.patch}\n")
    world.session.drain()
    model.complete()
    await accepted_and_undone(world, scenario, before)


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(("scenario", "fmt"), CUT, ids=str)
@pytest.mark.case("I04")
async def test_a_cut_stream_is_reported_and_every_call_is_answered(
    scenario: Scenario, fmt: PatchFormat, channel: PatchTool
) -> None:
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
    await world.session.close()


@pytest.mark.parametrize("scenario", [one for one, fmt in WHOLE if fmt == "apply_patch"], ids=str)
async def test_a_scenario_through_a_shell(scenario: Scenario) -> None:
    before = tree(scenario)
    world = world_of(before, "custom", "auto")
    model = await begun(world)
    script = f"apply_patch <<'EOF'\n{scenario.patch}\nEOF\n"
    model.call("shell", {"command": ["bash", "-lc", script]}, "call_1")
    world.session.drain()
    model.complete()
    if world.session.workspace.hunks:
        await accepted_and_undone(world, scenario, before)

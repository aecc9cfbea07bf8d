"""Every scenario through a whole session, on all three channels: as ``duetto apply`` has it."""

from __future__ import annotations

import dataclasses

import pytest

from tests.support.fakes import World, settle
from tests.support.scenarios import LINK, Scenario, scenarios
from tests.support.turns import begun
from tui.engine import intents
from tui.engine.ports import RoleSpec
from tui.engine.session import Options

REAL_FOLDERS = ("directory", "too long", "UTF-8", "symlink")
"""What only a real disk refuses."""
WHOLE = [
    one
    for one in scenarios()
    if not one.cut
    and not one.meta.get("symlinks")
    and not any(part in one.error for part in REAL_FOLDERS)
]


@pytest.mark.parametrize("channel", ["custom", "function", "text"])
@pytest.mark.parametrize("scenario", WHOLE, ids=str)
async def test_a_scenario_in_a_session(scenario: Scenario, channel: str) -> None:
    before = {p: d for p, d in scenario._tree("input").items() if not d.startswith(LINK)}
    spec = dataclasses.replace(RoleSpec("fast", "quick-1", "main"), patch_tool=channel)
    world = World(before, roles={"fast": spec}, options=Options(conversation="c"))
    session = world.session
    model = await begun(world)
    if channel == "custom":
        model.patch(scenario.patch, "call_1")
    elif channel == "function":
        model.call("apply_patch", {"input": scenario.patch}, "call_1")
    else:
        model.text(f"Here it is:\n\n{scenario.patch}\n")
    session.drain()
    model.complete()
    await settle()
    assert world.files.data == before, "nothing is written without an accept"
    session.submit(intents.Accept())
    assert world.files.data == scenario.expected()
    session.drain()
    session.submit(intents.UndoTurn())
    assert world.files.data == before, "and every byte comes back"
    await session.close()

"""A02: every scenario, on every channel, cut at every place: nothing is done too early.

Nothing is on the disk without an accept, undoing gives every byte back, and what was accepted
of a cut patch can be taken back too.
"""

from __future__ import annotations

import json

import pytest

from tests.support.early import check_not_early
from tests.support.patches import Disk
from tests.support.scenarios import LINK, Scenario, scenarios
from tui.core.edit_stream import Channel
from tui.core.edits.hunk import Decision, Stage
from tui.core.edits.patches.landing import Landing

ENDED = {Stage.LANDED, Stage.PARTIAL, Stage.DROPPED, Stage.REFUSED, Stage.CONFLICT}
PLAIN = [one for one in scenarios() if not one.meta.get("symlinks")]


def files_of(scenario: Scenario) -> dict[str, bytes]:
    tree = scenario._tree("input")
    return {path: data for path, data in tree.items() if not data.startswith(LINK)}


def stream_of(scenario: Scenario, channel: Channel) -> str:
    if channel == "function":
        return json.dumps({"input": scenario.patch})
    return f"Look:\n{scenario.patch}\nDone.\n" if channel == "text" else scenario.patch


def places_of(text: str, channel: Channel) -> list[int]:
    """Every place of the plain patch; on other channels every third one, and around newlines."""
    if channel == "custom":
        return list(range(len(text) + 1))
    return [at for at in range(len(text) + 1) if at % 3 == 0 or text[at - 1 : at] in ("\n", "\\")]


def cut_at(files: dict[str, bytes], text: str, channel: Channel) -> None:
    disk = Disk(dict(files))
    workspace = disk.workspace
    landing = Landing(workspace, turn=1, call_id="x", channel=channel)
    middle = len(text) // 2
    for piece in (text[:middle], text[middle:]):
        landing.feed(piece)
        landing.tail()
    landing.finish(cut=True)
    assert {hunk.stage for hunk in workspace.hunks} <= ENDED
    assert landing.report()
    assert disk.files == files
    for path in list(workspace.buffers):
        assert workspace.disk_plan(path).data == files.get(path), path
    plain = text.replace("\\n", "\n") if channel == "function" else text
    check_not_early(workspace.hunks, plain)
    disk.write(workspace.accept())
    disk.write(workspace.undo_turn())
    assert disk.files == files
    assert workspace.model_turns == []
    assert Decision.ACCEPTED not in {hunk.decision for hunk in workspace.hunks}


@pytest.mark.case("A02")
@pytest.mark.parametrize("channel", ["custom", "function", "text"])
@pytest.mark.parametrize("scenario", PLAIN, ids=str)
def test_a02_cut_everywhere_nothing_early_and_every_byte_back(scenario, channel):
    files = files_of(scenario)
    text = stream_of(scenario, channel)
    for at in places_of(text, channel):
        cut_at(files, text[:at], channel)

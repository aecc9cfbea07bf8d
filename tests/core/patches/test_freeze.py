"""A cut freezes what is painted: nothing moves, all of it comes back (EDITS.md section 6)."""

from __future__ import annotations

import json

import pytest

from tests.core.patches.test_scenarios import ALL, FORMATS, files_of
from tests.support.patches import Disk
from tests.support.scenarios import Scenario
from tests.support.tables import each
from tui.core.document.file_record import in_order
from tui.core.document.hunk import Decision, Stage
from tui.core.document.review import take_back_cut
from tui.core.document.workspace import Workspace
from tui.core.edit_stream import Channel, Format
from tui.core.patches.landing import Landing

SAMPLE = 7
"""Of the fast tier: so many places at which a scenario is cut."""


def frozen(files: dict[str, bytes]) -> Disk:
    """The disk of a workspace that is on the screen."""
    disk = Disk(dict(files))
    disk.workspace = Workspace(disk.read, root="/root", ask=True, freeze=True)
    disk.workspace.documents.names = lambda: sorted(disk.files)
    return disk


def rows(workspace: Workspace) -> dict[str, list[str]]:
    """The rows of each file as an editor paints them, those that are removed in their place."""
    return {path: _rows(workspace, path) for path in workspace.buffers}


def _rows(workspace: Workspace, path: str) -> list[str]:
    above: dict[int, list[str]] = {}
    record = workspace.documents.records[path]
    for hunk in in_order(record, (0, record.buffer.line_count)):
        if not hunk.decidable or hunk.start is None or hunk.end is None:
            continue
        old = hunk.base.split("\n")
        for behind, low, high in (
            ((0, 0, hunk.base.count("\n") or bool(hunk.base)),)
            if hunk.woven is None
            else hunk.woven
        ):
            line = min(hunk.start.line + behind, hunk.end.line)
            above.setdefault(line, []).extend(old[low:high])
    lines = [*record.buffer.lines, None]
    shown = [
        [*above.get(at, ()), *([] if line is None else [line])] for at, line in enumerate(lines)
    ]
    found = [row.rstrip("\r") for some in shown for row in some]
    while found and not found[-1]:
        found.pop()  # blank at the end looks like no row
    return found


def begun(disk: Disk, fmt: Format, text: str, channel: Channel, turn: int = 1) -> Landing:
    """A patch that came so far, as it is painted."""
    landing = Landing(disk.workspace, turn=turn, call_id=f"call {turn}", channel=channel, fmt=fmt)
    for at in range(0, len(text), 11):
        landing.feed(text[at : at + 11])
        landing.tail()
    return landing


def check(scenario: Scenario, text: str, channel: Channel) -> None:
    """Cut behind this text."""
    files, fmt = files_of(scenario), FORMATS[scenario.folder.parent.name]
    disk = frozen(files)
    space = disk.workspace
    landing = begun(disk, fmt, text, channel)
    painted, incoming = rows(space), {path: space.ghost(path) for path in space.buffers}
    landing.finish(cut=True)
    assert {path: space.ghost(path) for path in incoming} == incoming
    assert {path: rows(space)[path] for path in painted} == painted
    assert landing.report()
    cut = space.hunk_list.cut()
    disk.write(space.accept())
    assert space.hunk_list.cut() == cut, "to accept all leaves out what was cut"
    disk.write(
        space.undo_decision() if Decision.ACCEPTED in {h.decision for h in space.hunks} else []
    )
    assert disk.files == files
    for path in space.buffers:
        assert space.disk_plan(path).data == files.get(path), path
    taken = take_back_cut(space.documents)
    assert taken == cut
    assert not space.hunk_list.cut()
    if taken:
        disk.write(space.undo_decision())
        assert rows(space) == painted, "what was taken back comes back"
        assert {one.stage for one in taken} == {Stage.CUT}
    disk.write(space.undo_turn())
    assert disk.files == files
    assert {path: buffer.encode() for path, buffer in space.buffers.items()} == {
        path: files[path] for path in space.buffers
    }
    if not scenario.error:
        space.take_user_changes()  # as a request does
        again = begun(disk, fmt, scenario.patch, "text", turn=2)
        again.finish(cut=False)
        disk.write(space.accept())
        assert disk.files == files_of(scenario, "expected"), (
            "the next patch lands in the same lines"
        )


def texts(scenario: Scenario, channel: Channel) -> str:
    return json.dumps({"input": scenario.patch}) if channel == "function" else scenario.patch


@pytest.mark.slow
@pytest.mark.case("A02", "I04")
@pytest.mark.parametrize("kind", FORMATS)
def test_a_cut_moves_nothing_that_is_painted(kind):
    for number, scenario in enumerate(one for one in ALL if one.folder.parent.name == kind):
        text = scenario.patch
        step = max(1, len(text) // SAMPLE)
        for at in range(number % step, len(text) + 1, step):
            check(scenario, text[:at], "text")


@pytest.mark.slow
@pytest.mark.case("A02", "I04")
@each("channel", ["text", "custom", "function"])
@pytest.mark.parametrize("scenario", ALL, ids=str)
def test_a_cut_at_any_character_moves_nothing_that_is_painted(scenario, channel):
    text = texts(scenario, channel)
    for at in range(len(text) + 1):
        check(scenario, text[:at], channel)

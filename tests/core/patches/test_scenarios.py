"""Every folder of the corpus in every format, in memory: whole, in pieces, taken back, and cut.

The command line runs some of the folders on a real disk (tests/cli); here all that a person or a
model sees can be compared.
"""

from __future__ import annotations

import json
from random import Random

import pytest
from msgspec.structs import replace

from tests.support.early import check_not_early
from tests.support.patches import Disk
from tests.support.records import Records
from tests.support.scenarios import CORPUS, LINK, Scenario, scenarios
from tests.support.tables import each
from tui.core.document.hunk import Decision, Stage
from tui.core.edit_stream import Channel, Format
from tui.core.edit_stream.events import Ev, FileEnd, SectionEnd
from tui.core.patches.landing import DeleteWork, Landing, UpdateWork

FORMATS: dict[str, Format] = {
    "v4a": "apply_patch",
    "sr": "search_replace",
    "udiff": "unified_diff",
    "whole": "whole_file",
}
ON_A_DISK = {"273_add_over_a_folder", "274_add_below_a_file", "275_update_a_folder"}
ON_A_DISK |= {"302_path_too_long"}
"""What only a real file system refuses; the command line's tests have them."""
ALL = [
    one
    for folder in sorted(path.name for path in CORPUS.iterdir() if path.is_dir())
    for one in scenarios(folder)
    if not one.meta.get("symlinks") and one.folder.name not in ON_A_DISK
]
_FEW = 20
"""Pieces, after each of which the text is held against its changes."""
ENDED = {Stage.LANDED, Stage.CUT, Stage.REFUSED, Stage.CONFLICT}


def files_of(scenario: Scenario, name: str = "input") -> dict[str, bytes]:
    return {path: data for path, data in scenario.tree(name).items() if not data.startswith(LINK)}


def disk_of(files: dict[str, bytes]) -> Disk:
    disk = Disk(dict(files))
    disk.workspace.documents.names = lambda: sorted(disk.files)
    return disk


def land(
    disk: Disk, fmt: Format, pieces: list[str], *, cut: bool, channel: Channel = "text"
) -> Landing:
    """Land what came in pieces, with a frame after each."""
    records = Records(disk.workspace)
    landing = Landing(disk.workspace, turn=1, call_id="x", channel=channel, fmt=fmt)
    for piece in pieces:
        landing.feed(piece)
        landing.tail()
        if len(pieces) < _FEW:
            records.check()
    landing.finish(cut)
    records.check()
    return landing


def reasons(landing: Landing) -> str:
    """All that is told of what is not well."""
    told = [hunk.reason for hunk in landing.hunks] + [landing.failure]
    told += ["incomplete: the stream was cut"] * landing.was_cut
    return "\n".join(told)


def seen(disk: Disk, landing: Landing) -> object:
    """All that can be told from outside."""
    hunks = [
        (h.path, h.kind, h.stage, tuple(h.flags), h.reason, h.base, h.agent, h.target,
         h.candidates, h.added, h.removed, h.start and h.start.line, h.end and h.end.line)
        for h in landing.hunks
    ]  # fmt: skip
    texts = {path: buffer.encode() for path, buffer in disk.workspace.buffers.items()}
    return hunks, texts, landing.failure, landing.was_cut


def split(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def at_random(text: str, seed: int) -> list[str]:
    random, pieces, at = Random(seed), list[str](), 0
    while at < len(text):
        size = random.choice((0, 1, 2, 3, 7, 19))
        pieces.append(text[at : at + size])
        at += size
    return pieces


def start_of(scenario: Scenario) -> tuple[dict[str, bytes], Format]:
    return files_of(scenario), FORMATS[scenario.folder.parent.name]


@pytest.mark.case("A01", "A02", "A03", "A05", "A06", "B04", "B10", "B15", "B17", "B18")
@pytest.mark.case("C04", "C06", "C07", "C08", "C12", "C13", "C14", "D03", "D04", "D09", "D11")
@pytest.mark.case("E04", "E05", "F01", "F04", "F05", "F07")
@pytest.mark.parametrize("scenario", ALL, ids=str)
def test_a_scenario_whole_in_pieces_taken_back_and_cut(scenario, snapshot):
    assert check_result(scenario) + painted_half_way(scenario) == snapshot
    for channel in ("text", "custom"):
        check_pieces(scenario, channel)
    check_taken_back(scenario)
    files, fmt = start_of(scenario)
    ends = [at for at, char in enumerate(scenario.patch, 1) if char == "\n"]
    for at in ends[:: 1 + len(ends) // 12]:
        check_cut(files, fmt, scenario.patch[:at])


def check_result(scenario: Scenario) -> str:
    """The tree and the reason; returns what is told of each hunk."""
    files, fmt = start_of(scenario)
    disk = disk_of(files)
    landing = land(disk, fmt, [scenario.patch], cut=scenario.cut)
    disk.write(disk.workspace.accept())
    assert disk.files == files_of(scenario, "expected"), reasons(landing)
    assert landing.placed_all == (not scenario.error), reasons(landing)
    assert scenario.error in reasons(landing)
    return "".join(
        f"{one.path} {one.kind.value} {one.stage.value} -{one.removed} +{one.added} "
        f"{[*one.flags]}\n"
        for one in landing.hunks
    )


def painted_half_way(scenario: Scenario) -> str:
    """What is shown of the files when two thirds of the stream have come."""
    files, fmt = start_of(scenario)
    disk = disk_of(files)
    landing = Landing(disk.workspace, turn=1, call_id="x", channel="text", fmt=fmt)
    landing.feed(scenario.patch[: len(scenario.patch) * 2 // 3])
    landing.tail()
    return "".join(
        f"{path}: {marks or ''} {space.ghost(path) or ''}".rstrip() + "\n"
        for space in [disk.workspace]
        for path in space.buffers
        if (marks := space.decorations(path, 0, 999)) or space.ghost(path)
    )


def check_pieces(scenario: Scenario, channel: Channel) -> None:
    """Any pieces, detection, and a function's arguments give the same hunks, texts and reasons."""
    files, fmt = start_of(scenario)
    text, cut = scenario.patch, scenario.cut

    def look(fmt: Format, pieces: list[str], channel: Channel) -> object:
        disk = disk_of(files)
        return seen(disk, land(disk, fmt, pieces, cut=cut, channel=channel))

    wanted = look(fmt, [text], channel)
    for pieces in (list(text), split(text, 17), at_random(text, len(text))):
        assert look(fmt, pieces, channel) == wanted, pieces[:9]
    if channel == "text":
        assert look("auto", split(text, 5), channel) == wanted
    else:
        assert look(fmt, split(json.dumps({"patch": text}), 3), "function") == wanted


def check_taken_back(scenario: Scenario) -> None:
    """Undo all, and reject all, give every byte back."""
    files, fmt = start_of(scenario)
    for accept in (True, False):
        disk = disk_of(files)
        land(disk, fmt, [scenario.patch], cut=scenario.cut)
        workspace = disk.workspace
        if accept:
            disk.write(workspace.accept())
            disk.write(workspace.undo_turn())
        else:
            disk.write(workspace.reject())
        assert disk.files == files
        assert all(files[path] == buffer.encode() for path, buffer in workspace.buffers.items())


def check_cut(files: dict[str, bytes], fmt: Format, text: str, channel: Channel = "text") -> None:
    """Nothing is done early, and every byte comes back."""
    disk = disk_of(files)
    workspace = disk.workspace
    landing = land(disk, fmt, split(text, len(text) // 2 + 1), cut=True, channel=channel)
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
    assert not workspace.last_turn
    assert Decision.ACCEPTED not in {hunk.decision for hunk in workspace.hunks}


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ALL, ids=str)
def test_a_scenario_cut_at_every_place_on_every_channel(scenario):
    files, fmt = start_of(scenario)
    cut_everywhere(files, fmt, scenario.patch)
    for channel in ("custom", "function"):
        whole = json.dumps({"input": scenario.patch}) if channel == "function" else scenario.patch
        for at in range(0, len(whole) + 1, 3):
            check_cut(files, fmt, whole[:at], channel)


def cut_everywhere(files: dict[str, bytes], fmt: Format, text: str) -> None:
    for at in range(len(text) + 1):
        check_cut(files, fmt, text[:at])


EMPTY = {"e.py": b"", "a.py": b"a\n"}
DIFFS = {
    "a deletion of nothing": "diff --git a/e.py b/e.py\ndeleted file mode 100644\n"
    "index e69de29..0000000\ndiff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
    "@@ -1 +1 @@\n-a\n+b\n",
    "a rename alone": "diff --git a/a.py b/c.py\nsimilarity index 100%\nrename from a.py\n"
    "rename to c.py\ndiff --git a/e.py b/e.py\n--- a/e.py\n+++ b/e.py\n@@ -0,0 +1 @@\n+x\n",
}


@each("name", DIFFS)
def test_a02_a_diff_without_lines_does_nothing_before_the_next_header(name):
    cut_everywhere(EMPTY, "unified_diff", DIFFS[name])


@pytest.mark.parametrize(
    ("work", "mark"), [(DeleteWork, "*** Delete File"), (UpdateWork, "*** Move to")]
)
def test_a02_who_takes_a_cut_for_an_end_is_found_out(work, mark, monkeypatch):
    """The check above fails for code that deletes or moves at a cut right behind the header."""
    end = work.end
    monkeypatch.setattr(work, "end", lambda self, closed, why: end(self, True, why))
    found = [one for one in ALL if mark in one.patch and not one.error]
    assert len(found) >= 5
    for scenario in found:
        with pytest.raises(AssertionError, match="early"):
            cut_everywhere(*start_of(scenario), scenario.patch)


RENAME = """diff --git a/a.py b/c.py
rename from a.py
rename to c.py
--- a/a.py
+++ b/c.py
@@ -1,2 +1,3 @@
 a
+b
 c
"""
REMOVAL = "--- a/e.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-\n"


@pytest.mark.parametrize(
    ("files", "text"), [({"a.py": b"a\nc\n"}, RENAME), ({"e.py": b"x\n\n"}, REMOVAL)]
)
def test_a02_who_takes_a_cut_diff_for_a_whole_one_is_found_out(files, text, monkeypatch):
    """So it does for a parser that closes sections and files whose counts are not complete."""
    cut_everywhere(files, "unified_diff", text)
    take = Landing._take

    def closed(self: Landing, event: Ev) -> None:
        whole = isinstance(event, SectionEnd | FileEnd)
        take(self, replace(event, closed=True) if whole else event)

    monkeypatch.setattr(Landing, "_take", closed)
    monkeypatch.setattr(DeleteWork, "_compare", lambda self, record: None)
    with pytest.raises(AssertionError, match="early"):
        cut_everywhere(files, "unified_diff", text)

"""Several files: all of them, or none."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.support.fakes import MemoryFiles
from tui.core.document.disk_plan import DiskPlan
from tui.core.document.workspace import Workspace
from tui.core.files import MAX_BYTES
from tui.core.patches.landing import Landing
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.write_ahead_log import WriteAheadLog
from tui.engine.saving import bring
from tui.engine.unfinished import Way, look, settle
from tui.errors import FileRefused

PLANS = {
    "changed": DiskPlan(b"old", b"new"),
    "made": DiskPlan(None, b"new"),
    "removed": DiskPlan(b"old", None),
    "same": DiskPlan(b"same", b"same"),
}


def files() -> MemoryFiles:
    return MemoryFiles({"changed": "old", "removed": "old", "same": "same", "last": "old"})


def test_nothing_is_begun_if_a_file_is_not_what_it_was() -> None:
    for path, plan in {
        "last": DiskPlan(b"other", b"new"),
        "gone": DiskPlan(b"old", b"new"),
        "same": DiskPlan(None, b"new"),
        "..": DiskPlan(b"old", b"new"),
    }.items():
        disk = files()
        assert list(bring(disk, {**PLANS, path: plan})) == [path]
        assert disk.data == files().data
        assert disk.writes == []


def test_a_file_is_not_made_one_that_nobody_may_edit() -> None:
    for data, words in ((b"a\0b", "hold a NUL byte"), (b"a" * (MAX_BYTES + 1), "larger than 8 MB")):
        disk = files()
        refusals = bring(disk, {**PLANS, "last": DiskPlan(b"old", data)})
        assert list(refusals) == ["last"]
        assert words in refusals["last"]
        assert disk.data == files().data


def test_what_was_written_before_a_failure_is_taken_back() -> None:
    disk = files()
    disk.read_only.add("last")
    refusals = bring(disk, {**PLANS, "last": DiskPlan(b"old", b"new")})
    assert refusals == {"last": "last is read-only"}
    assert disk.data == files().data


def test_what_was_written_last_is_taken_back_first() -> None:
    disk = MemoryFiles(dict.fromkeys("abc", "old"))
    disk.read_only.add("c")
    bring(disk, dict.fromkeys("abc", DiskPlan(b"old", b"new")))
    assert disk.writes == ["a", "b", "b", "a"]


def test_what_cannot_be_taken_back_is_told() -> None:
    class Stuck(MemoryFiles):
        def delete(self, path: str, expected: bytes) -> None:
            raise FileRefused(f"{path} stays")

    disk = Stuck({"removed": "old"})
    refusals = bring(disk, {"made": PLANS["made"], "removed": PLANS["removed"]})
    assert refusals == {"removed": "removed stays", "made": "could not be put back: made stays"}


@pytest.mark.case("H07")
@pytest.mark.parametrize("hard", [True, False])
def test_a_file_with_two_names_is_written_once(tmp_path: Path, hard: bool) -> None:
    work = tmp_path / "work"
    work.mkdir()
    a, b = work / "a", work / "b"
    a.write_bytes(b"old\n")
    if hard:
        b.hardlink_to(a)
    else:
        b.symlink_to("a")
    disk, journal = Files(work, Listing(work)), WriteAheadLog(tmp_path / "state", str(work))
    two = {"a": DiskPlan(b"old\n", b"one\n"), "b": DiskPlan(b"old\n", b"two\n")}
    assert bring(disk, two, journal) == {
        "b": "'b' is another name of 'a', and was to get another text"
    }
    assert a.read_bytes() == b"old\n"
    assert bring(disk, {**two, "b": two["a"]}, journal) == {}
    assert a.read_bytes() == b.read_bytes() == b"one\n"
    journal.close()
    assert not (tmp_path / "state" / "journal").exists(), "nothing stands in it"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.case("H07")
def test_a_moved_file_and_one_that_comes_back_keep_their_mode(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "run.sh").write_bytes(b"a\nb\n")
    (work / "run.sh").chmod(0o750)
    disk, journal = Files(work, Listing(work)), WriteAheadLog(tmp_path / "state", str(work))
    workspace = Workspace(disk.read)
    landing = Landing(workspace, turn=1, call_id="c")
    landing.feed(
        "*** Begin Patch\n*** Update File: run.sh\n*** Move to: bin/run\n"
        "@@\n-a\n+A\n*** End Patch\n"
    )
    landing.finish(cut=False)
    plans = {
        path: workspace.disk_plan(path) for path in workspace.accept([h.id for h in landing.hunks])
    }
    assert bring(disk, plans, journal) == {}
    assert mode_of(work / "bin" / "run") == 0o750
    back = {path: DiskPlan(plan.data, plan.expected) for path, plan in plans.items()}
    assert bring(disk, back, journal) == {}
    assert mode_of(work / "run.sh") == 0o750
    journal.close()


@pytest.mark.case("H07", "H08")
@pytest.mark.parametrize("way", ["finish", "undo"])
def test_after_a_kill_too(tmp_path: Path, way: Way) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "gone.sh").write_bytes(b"old\n")
    (work / "gone.sh").chmod(0o750)
    journal = WriteAheadLog(tmp_path / "state", str(work))

    class Killed(Files):
        def write(self, path: str, data: bytes, expected: bytes | None) -> None:
            raise KeyboardInterrupt

    plans = {
        "gone.sh": DiskPlan(b"old\n", None),
        "run.sh": DiskPlan(None, b"new\n", (1,), "gone.sh"),
    }
    with pytest.raises(KeyboardInterrupt):
        bring(Killed(work, Listing(work)), plans, journal)
    journal.leave()
    disk, journal = Files(work, Listing(work)), WriteAheadLog(tmp_path / "state", str(work))
    ((one, findings),) = look(disk, journal, journal.unfinished())
    assert settle(disk, journal, (one, findings), {each.step.path: way for each in findings}) == {}
    (file,) = work.iterdir()
    assert file.name == ("run.sh" if way == "finish" else "gone.sh")
    assert mode_of(file) == 0o750
    journal.close()


@pytest.mark.case("H07")
def test_what_somebody_wrote_over_it_meanwhile_is_theirs(tmp_path: Path) -> None:
    """It is said now, and nobody is asked at the next start."""
    work = tmp_path / "work"
    work.mkdir()
    for name in "abc":
        (work / name).write_bytes(b"old\n")

    class Busy(Files):
        def write(self, path: str, data: bytes, expected: bytes | None) -> None:
            if path == "c":
                (work / "a").write_bytes(b"theirs\n")
                (work / "c").write_bytes(b"theirs\n")
            super().write(path, data, expected)

    journal = WriteAheadLog(tmp_path / "state", str(work))
    plans = {name: DiskPlan(b"old\n", b"new\n") for name in "abc"}
    refusals = bring(Busy(work, Listing(work)), plans, journal)
    journal.close()
    assert set(refusals) == {"a", "c"}
    assert [path.read_bytes() for path in sorted(work.iterdir())] == [
        b"theirs\n",
        b"old\n",
        b"theirs\n",
    ]
    assert not (tmp_path / "state" / "journal").exists()

"""Several files: all of them, or none."""

from __future__ import annotations

from tests.support.fakes import MemoryFiles
from tui.core.disk_plan import DiskPlan
from tui.core.file_read import MAX_BYTES
from tui.engine.write_set import bring
from tui.errors import FileRefused

PLANS = {
    "changed": DiskPlan(b"old", b"new"),
    "made": DiskPlan(None, b"new"),
    "removed": DiskPlan(b"old", None),
    "same": DiskPlan(b"same", b"same"),
}


def files() -> MemoryFiles:
    return MemoryFiles({"changed": "old", "removed": "old", "same": "same", "last": "old"})


def test_all_plans_are_carried_out() -> None:
    disk = files()
    assert bring(disk, PLANS) == {}
    assert disk.data == {"changed": b"new", "made": b"new", "same": b"same", "last": b"old"}


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


def test_what_cannot_be_taken_back_is_told() -> None:
    class Stuck(MemoryFiles):
        def delete(self, path: str, expected: bytes) -> None:
            raise FileRefused(f"{path} stays")

    disk = Stuck({"removed": "old"})
    refusals = bring(disk, {"made": PLANS["made"], "removed": PLANS["removed"]})
    assert refusals == {"removed": "removed stays", "made": "could not be put back: made stays"}

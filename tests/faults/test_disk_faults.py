"""The disk fails at any step of writing several files: all are old, or it is known which."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.support.killed_writes import AFTER, BEFORE, make, state
from tests.support.tables import each
from tui.core.document.disk_plan import DiskPlan
from tui.core.document.unfinished_writes import State
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.write_ahead_log import WriteAheadLog
from tui.engine.saving import bring
from tui.engine.unfinished import Way, look, settle

pytestmark = pytest.mark.case("H07")
PLANS = {path: DiskPlan(BEFORE.get(path), AFTER.get(path)) for path in sorted(BEFORE | AFTER)}
WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EIO: "input/output error",
    errno.EACCES: "permission denied",
}
CALLS = ("write", "fsync", "replace", "link", "unlink", "mkdir", "ftruncate", "posix_fallocate")
MOST = 30


def broken(
    monkeypatch: pytest.MonkeyPatch, name: str, number: int, code: int, *, for_good: bool
) -> list[int]:
    """The so manyth call of a function fails, and if ``for_good`` all behind it."""
    real: Callable[..., Any] = getattr(os, name)
    calls: list[int] = []

    def failing(*arguments: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) == number or (for_good and len(calls) > number):
            raise OSError(code, os.strerror(code))
        return real(*arguments, **named)

    monkeypatch.setattr(os, name, failing)
    return calls


def fresh(folder: Path) -> tuple[Path, Files, WriteAheadLog]:
    work = make(folder)
    return work, Files(work, Listing(work)), WriteAheadLog(folder / "state", str(work))


def settled(work: Path) -> dict[str, bytes]:
    """The files, without a temporary one that could not be removed."""
    return {path: data for path, data in state(work).items() if ".duetto-" not in path}


def is_clean(work: Path) -> bool:
    return not [path for path in work.rglob("*") if path.name.startswith(".duetto")]


@each("name, code", [*product(CALLS, [errno.ENOSPC]), *product(["replace"], [*WORDS][1:])])
def test_one_call_fails(tmp_path: Path, name: str, code: int) -> None:
    """Nothing of the set is written, or all of it; the reason is in words a person knows."""
    refused, top = 0, tmp_path / f"{name} {code}"
    for number in range(1, MOST):
        work, files, journal = fresh(top / str(number))
        with pytest.MonkeyPatch.context() as patched:
            calls = broken(patched, name, number, code, for_good=False)
            refusals = bring(files, PLANS, journal)
        refused += bool(refusals)
        assert settled(work) == (BEFORE if refusals else AFTER), (number, refusals)
        assert (work / "linked.txt").stat().st_nlink == 2
        assert (work / "new").exists() is not bool(refusals)
        words = (WORDS[code], os.strerror(code).lower())
        assert all(any(each in why for each in words) for why in refusals.values()), refusals
        journal.close()
        assert WriteAheadLog(top / str(number) / "state", str(work)).unfinished() == []
        if len(calls) < number:
            break
    assert refused or name in ("link", "posix_fallocate"), "not every file system has these"


@each("name", ["write", "fsync", "replace", "ftruncate"])
def test_a_disk_that_fails_from_then_on(tmp_path: Path, name: str) -> None:
    """What cannot be put back stands in the journal, and the next duetto puts it right."""
    for number in range(1, MOST):
        work, files, journal = fresh(tmp_path / name / str(number))
        with pytest.MonkeyPatch.context() as patched:
            calls = broken(patched, name, number, errno.EIO, for_good=True)
            refusals = bring(files, PLANS, journal)
        if len(calls) < number:
            assert refusals == {}
            break
        left = look(files, journal, journal.unfinished())
        now = state(work)
        for path in PLANS:
            assert now.get(path) in (BEFORE.get(path), AFTER.get(path)), (number, path)
        if not left:
            now = settled(work)
            assert now in (BEFORE, AFTER), (number, refusals)
            continue
        ((one, findings),) = left
        assert {each.state for each in findings} <= {State.OLD, State.NEW}
        assert any("could not be put back" in why for why in refusals.values()) or any(
            "some of it is written" in why for why in refusals.values()
        )
        ways: dict[str, Way] = dict.fromkeys([each.step.path for each in findings], "undo")
        assert settle(files, journal, (one, findings), ways) == {}
        assert state(work) == BEFORE
        assert is_clean(work)


def test_a_full_state_folder_holds_up_several_files_and_not_one(tmp_path: Path) -> None:
    """One file that is replaced whole is old or new by itself; the user's text is saved."""
    work, files, journal = fresh(tmp_path)
    (tmp_path / "state").write_text("no folder")
    refusals = bring(files, PLANS, journal)
    assert set(refusals) == {path for path, plan in PLANS.items() if plan.data != plan.expected}
    assert "files are written together only with it" in refusals["a.py"]
    assert "set DUETTO_HOME" in refusals["a.py"]
    assert state(work) == BEFORE
    assert bring(files, {"a.py": PLANS["a.py"]}, journal) == {}
    assert (work / "a.py").read_bytes() == AFTER["a.py"]
    refusals = bring(files, {"linked.txt": PLANS["linked.txt"]}, journal)
    assert "linked.txt" in refusals, "it is written in place, where a kill could leave half of it"

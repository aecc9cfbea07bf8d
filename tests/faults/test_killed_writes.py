"""H08: killed at any step of writing several files, each is old or new, and it is known which."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.killed_writes import AFTER, BEFORE, MIDDLE, OWNER, state
from tests.support.sources import ROOT
from tui.core.document.unfinished_writes import State
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.write_ahead_log import WriteAheadLog
from tui.engine.unfinished import Way, look, settle

pytestmark = [pytest.mark.case("H08"), pytest.mark.slow]
PATHS = sorted(BEFORE.keys() | AFTER.keys())


def killed(folder: Path, kind: str) -> list[Path]:
    """Where each of the steps was the last; behind the last step nothing is left to do."""
    folder.mkdir()
    ran = subprocess.run(
        [sys.executable, "-m", "tests.support.killed_writes", str(folder), kind],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    steps = int(ran.stdout)
    return [folder / str(number) for number in range(1, steps + 2)]


def both(work: Path) -> tuple[Files, WriteAheadLog]:
    """The next duetto."""
    state_dir = work.parent / "state"
    return Files(work, Listing(work)), WriteAheadLog(state_dir, str(work))


def check(top: Path, way: Way) -> str:
    """What the next duetto finds, and that it can go either way; in words for the summary."""
    work = top / "work"
    files, journal = both(work)
    left = look(files, journal, journal.unfinished())
    now = state(work)
    for path in PATHS:
        assert now.get(path) in (BEFORE.get(path), AFTER.get(path)), f"{top.name}: {path}"
    assert set(now) <= set(PATHS), "no temporary file is left"
    assert (work / "linked.txt").stat().st_nlink == 2
    if os.geteuid() == 0:
        assert (work / "foreign.txt").stat().st_uid == OWNER
    if not left:
        assert now in (BEFORE, AFTER), f"{top.name}: nobody says so"
        return "nothing" if now == BEFORE else "everything"
    ((one, findings),) = left
    for each in findings:
        assert each.state in (State.OLD, State.NEW)
        want = (BEFORE if each.state is State.OLD else AFTER).get(each.step.path)
        assert now.get(each.step.path) == want
    assert {each.step.path for each in findings} == set(PATHS) - {"still.txt"}
    assert all(each.step.hunks for each in findings)
    assert settle(files, journal, (one, findings), {each.step.path: way for each in findings}) == {}
    assert state(work) == (BEFORE if way == "undo" else AFTER)
    assert (work / "linked.txt").stat().st_nlink == 2
    assert (work / "new").exists() is (way == "finish"), "its folders are made and go with it"
    journal.close()
    assert both(work)[1].unfinished() == []
    assert not (top / "state" / "journal").exists()
    return "some"


@pytest.mark.parametrize("kind", ["session", "apply"])
@pytest.mark.parametrize("way", ["finish", "undo"])
def test_killed_at_every_step(tmp_path: Path, kind: str, way: Way) -> None:
    found = [check(top, way) for top in killed(tmp_path / "all", kind)]
    assert len(found) > 30
    begun, over = found.index("some"), len(found) - 1 - found[::-1].index("some")
    assert set(found[:begun]) <= {"nothing"}, "nothing is touched before the journal says what"
    assert set(found[begun : over + 1]) == {"some"}
    assert set(found[over + 1 :]) == {"everything"}


@pytest.mark.parametrize("kind", ["settling", "taking back"])
@pytest.mark.parametrize("way", ["finish", "undo"])
def test_killed_again_while_it_is_settled(tmp_path: Path, kind: str, way: Way) -> None:
    """It is asked about once, whatever was chosen first; the last choice holds."""
    tops = killed(tmp_path / "all", kind)
    assert len(tops) > 15
    asked = 0
    for top in tops:
        work = top / "work"
        files, journal = both(work)
        left = look(files, journal, journal.unfinished())
        now = state(work)
        assert len(left) <= 1, f"{top.name}: asked {len(left)} times"
        for one, findings in left:
            assert {each.state for each in findings} <= {State.OLD, State.NEW}
            ways: dict[str, Way] = {each.step.path: way for each in findings}
            assert settle(files, journal, (one, findings), ways) == {}
            assert state(work) == (AFTER if way == "finish" else BEFORE), top.name
        assert left or now == (AFTER if kind == "settling" else BEFORE), top.name
        asked += len(left)
        journal.close()
        assert both(work)[1].unfinished() == []
        assert not (top / "state" / "journal").exists()
    assert asked > 10


def test_one_of_the_steps_leaves_a_file_half_written(tmp_path: Path) -> None:
    """Else the middle is not where it was."""
    top = killed(tmp_path / "all", "session")[MIDDLE - 1]
    now = state(top / "work")
    assert now["foreign.txt"] == BEFORE["foreign.txt"]
    assert now["linked.txt"] not in (BEFORE["linked.txt"], AFTER["linked.txt"])
    assert now["sub/b.py"] == AFTER["sub/b.py"]
    assert now["gone.txt"] == BEFORE["gone.txt"]

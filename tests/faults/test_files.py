"""The disk fails at any step of writing several files: all are old, or it is known which."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.support.fakes import World
from tests.support.killed_writes import AFTER, BEFORE, MIDDLE, OWNER, make, state
from tests.support.sources import ROOT
from tests.support.tables import each
from tui.core.document.disk_plan import DiskPlan
from tui.core.document.hunk import Stage
from tui.core.document.unfinished_writes import State
from tui.core.patches.landing import Landing
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.watcher import Watcher
from tui.effects.write_ahead_log import WriteAheadLog
from tui.engine import intents
from tui.engine.saving import bring
from tui.engine.session import Session, SessionOptions
from tui.engine.unfinished import Way, look, settle

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


@pytest.mark.case("H07")
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


@pytest.mark.case("H07")
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
            "part of it is written" in why for why in refusals.values()
        )
        ways: dict[str, Way] = dict.fromkeys([each.step.path for each in findings], "undo")
        assert settle(files, journal, (one, findings), ways) == {}
        assert state(work) == BEFORE
        assert is_clean(work)


@pytest.mark.case("H07")
def test_a_full_state_folder_holds_up_several_files_and_not_one(tmp_path: Path) -> None:
    """One file that is replaced whole is old or new by itself; the user's text is saved."""
    work, files, journal = fresh(tmp_path)
    (tmp_path / "state").write_text("no folder")
    refusals = bring(files, PLANS, journal)
    assert set(refusals) == {path for path, plan in PLANS.items() if plan.data != plan.expected}
    assert "these files are written together or not at all" in refusals["a.py"]
    assert "set DUETTO_HOME" in refusals["a.py"]
    assert state(work) == BEFORE
    assert bring(files, {"a.py": PLANS["a.py"]}, journal) == {}
    assert (work / "a.py").read_bytes() == AFTER["a.py"]
    refusals = bring(files, {"linked.txt": PLANS["linked.txt"]}, journal)
    assert "linked.txt" in refusals, "it is written in place, where a kill could leave half of it"


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
    for finding in findings:
        assert finding.state in (State.OLD, State.NEW)
        want = (BEFORE if finding.state is State.OLD else AFTER).get(finding.step.path)
        assert now.get(finding.step.path) == want
    assert {finding.step.path for finding in findings} == set(PATHS) - {"still.txt"}
    assert all(finding.step.hunks for finding in findings)
    assert settle(files, journal, (one, findings), {each.step.path: way for each in findings}) == {}
    assert state(work) == (BEFORE if way == "undo" else AFTER)
    assert (work / "linked.txt").stat().st_nlink == 2
    assert (work / "new").exists() is (way == "finish"), "its folders are made and go with it"
    journal.close()
    assert both(work)[1].unfinished() == []
    assert not (top / "state" / "journal").exists()
    return "some"


@pytest.mark.case("H08")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["session", "apply"])
@pytest.mark.parametrize("way", ["finish", "undo"])
def test_killed_at_every_step(tmp_path: Path, kind: str, way: Way) -> None:
    found = [check(top, way) for top in killed(tmp_path / "all", kind)]
    assert len(found) > 30
    begun, over = found.index("some"), len(found) - 1 - found[::-1].index("some")
    assert set(found[:begun]) <= {"nothing"}, "nothing is touched before the journal says what"
    assert set(found[begun : over + 1]) == {"some"}
    assert set(found[over + 1 :]) == {"everything"}


@pytest.mark.case("H08")
@pytest.mark.slow
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


@pytest.mark.case("H08")
@pytest.mark.slow
def test_one_of_the_steps_leaves_a_file_half_written(tmp_path: Path) -> None:
    """Else the middle is not where it was."""
    top = killed(tmp_path / "all", "session")[MIDDLE - 1]
    now = state(top / "work")
    assert now["foreign.txt"] == BEFORE["foreign.txt"]
    assert now["linked.txt"] not in (BEFORE["linked.txt"], AFTER["linked.txt"])
    assert now["sub/b.py"] == AFTER["sub/b.py"]
    assert now["gone.txt"] == BEFORE["gone.txt"]


COUNT, OPEN = 500, 40
TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


def git(root: Path, *arguments: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    subprocess.run(
        ["git", "-C", str(root), *identity, *arguments],
        check=True,
        env=environment,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two branches: on ``other`` every file has a new first line, and f001.py is not there."""
    root = tmp_path / "work"
    root.mkdir()
    for number in range(COUNT):
        (root / f"f{number:03}.py").write_text(TEXT)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    git(root, "checkout", "-qb", "other")
    for number in range(COUNT):
        (root / f"f{number:03}.py").write_text("zero\n" + TEXT)
    (root / "f001.py").unlink()
    git(root, "commit", "-qam", "two")
    git(root, "checkout", "-q", "main")
    return root


class Seen:
    """What the watcher tells the session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.bursts: list[set[str]] = []
        self.news = asyncio.Event()

    def __call__(self, paths: set[str]) -> None:
        self.bursts.append(paths)
        self.session._saving.outside(paths)
        self.news.set()

    async def until_settled(self, count: int) -> None:
        """All of so many files were told, and looked at."""
        async with asyncio.timeout(60):
            while len(set().union(*self.bursts)) < count:
                self.news.clear()
                await self.news.wait()
            while self.session._saving.changes._task is not None:
                await asyncio.wait([self.session._saving.changes._task])


@asynccontextmanager
async def watching(root: Path) -> AsyncIterator[Seen]:
    world = World()
    world.ports.files = Files(root, Listing(root))
    world.ports.watch = None
    session = Session(world.ports, world.roles, SessionOptions(ask=True))
    seen, watcher = Seen(session), Watcher(str(root))
    task = asyncio.create_task(watcher.watch(seen))
    async with asyncio.timeout(60):
        await watcher.started.wait()
    try:
        yield seen
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await session.close()


def begun(session: Session, path: str) -> Landing:
    landing = Landing(session.workspace, turn=1, call_id=f"call_{path}")
    landing.feed(f"*** Begin Patch\n*** Update File: {path}\n@@\n one\n-two\n+TWO\n three\n")
    landing.tail()
    return landing


@pytest.mark.slow
@pytest.mark.case("G09")
async def test_one_rescan_and_the_open_hunk_goes_on(repository: Path) -> None:
    async with watching(repository) as seen:
        session = seen.session
        for number in range(OPEN):
            session.workspace.open(f"f{number:03}.py")
        landing, lost = begun(session, "f007.py"), begun(session, "f001.py")
        seen.bursts.clear()
        await asyncio.to_thread(git, repository, "checkout", "-q", "other")
        await seen.until_settled(COUNT)
        bursts = [burst for burst in seen.bursts if len(burst) > 10]
        assert len(bursts) <= 2, "it is told together"
        for number in set(range(OPEN)) - {1, 7}:
            assert session.workspace.buffers[f"f{number:03}.py"].text() == "zero\n" + TEXT
        landing.feed("-four\n+FOUR\n five\n*** End Patch\n")
        landing.finish(cut=False)
        assert {hunk.stage for hunk in landing.hunks} == {Stage.LANDED}
        both = ("zero\n" + TEXT).replace("two", "TWO").replace("four", "FOUR")
        assert session.workspace.buffers["f007.py"].text() == both
        lost.feed(" four\n*** End Patch\n")
        lost.finish(cut=False)
        assert session.workspace.conflicts == {"f001.py"}
        ids = tuple(hunk.id for hunk in landing.hunks)
        session.submit(intents.Accept(ids))
        assert (repository / "f007.py").read_text() == both
        session.submit(intents.Accept())
        assert not (repository / "f001.py").exists(), "never made again without being asked"


@pytest.mark.slow
@pytest.mark.case("G10")
async def test_two_replacements_in_a_row_by_another_editor_are_both_seen(repository: Path) -> None:
    async with watching(repository) as seen:
        buffer = seen.session.workspace.open("f000.py")
        for word in ("first", "second"):
            seen.bursts.clear()
            (repository / "f000.py~").write_text(TEXT.replace("two", word))
            (repository / "f000.py~").replace(repository / "f000.py")
            async with asyncio.timeout(60):
                while word not in buffer.text():
                    seen.news.clear()
                    await seen.news.wait()


@pytest.mark.slow
@pytest.mark.case("G07")
async def test_a_real_move_is_offered_to_be_followed(repository: Path) -> None:
    async with watching(repository) as seen:
        seen.session.submit(intents.OpenFile("f000.py"))
        (repository / "f000.py").write_text(TEXT + "only here\n")
        await seen.until_settled(1)
        seen.bursts.clear()
        (repository / "sub").mkdir()
        (repository / "f000.py").replace(repository / "sub" / "g.py")
        async with asyncio.timeout(60):
            while not seen.session.status.asks:
                seen.news.clear()
                await seen.news.wait()
        assert seen.session.status.asks[0].question.startswith("f000.py was moved to sub/g.py")

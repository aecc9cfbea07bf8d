"""A real ``git checkout`` of 500 files while a model writes in one of them."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.fakes import World
from tui.core.document.hunk import Stage
from tui.core.patches.landing import Landing
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.watcher import Watcher
from tui.engine import intents
from tui.engine.session import Session, SessionOptions

pytestmark = pytest.mark.slow

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
        async with asyncio.timeout(20):
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
    async with asyncio.timeout(15):
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


@pytest.mark.case("G10")
async def test_two_replacements_in_a_row_by_another_editor_are_both_seen(repository: Path) -> None:
    async with watching(repository) as seen:
        buffer = seen.session.workspace.open("f000.py")
        for word in ("first", "second"):
            seen.bursts.clear()
            (repository / "f000.py~").write_text(TEXT.replace("two", word))
            (repository / "f000.py~").replace(repository / "f000.py")
            async with asyncio.timeout(15):
                while word not in buffer.text():
                    seen.news.clear()
                    await seen.news.wait()


@pytest.mark.case("G07")
async def test_a_real_move_is_offered_to_be_followed(repository: Path) -> None:
    async with watching(repository) as seen:
        seen.session.submit(intents.OpenFile("f000.py"))
        (repository / "f000.py").write_text(TEXT + "only here\n")
        await seen.until_settled(1)
        seen.bursts.clear()
        (repository / "sub").mkdir()
        (repository / "f000.py").replace(repository / "sub" / "g.py")
        async with asyncio.timeout(15):
            while not seen.session.status.asks:
                seen.news.clear()
                await seen.news.wait()
        assert seen.session.status.asks[0].question.startswith("f000.py was moved to sub/g.py")

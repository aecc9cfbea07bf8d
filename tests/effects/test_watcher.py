from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import watchfiles

from tests.support.tables import each
from tui.effects import watcher
from tui.effects.watcher import Watcher, watch_folder
from tui.errors import FileRefused


class Heard:
    """What the watcher told, awaitable."""

    def __init__(self) -> None:
        self.bursts: list[set[str]] = []
        self._news = asyncio.Event()

    def __call__(self, paths: set[str]) -> None:
        self.bursts.append(paths)
        self._news.set()

    async def until(self, *paths: str) -> None:
        async with asyncio.timeout(60):
            while not set(paths) <= set().union(*self.bursts):
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def watching(watcher: Watcher) -> AsyncIterator[Heard]:
    heard = Heard()
    task = asyncio.create_task(watcher.watch(heard))
    async with asyncio.timeout(60):
        await watcher.started.wait()
    try:
        yield heard
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_caches_are_not_told(tmp_path: Path) -> None:
    for folder in (".git", "__pycache__", "node_modules/x"):
        (tmp_path / folder).mkdir(parents=True)
    async with watching(Watcher(str(tmp_path))) as heard:
        for path in (".git/config", "__pycache__/a.pyc", "node_modules/x/i.js"):
            (tmp_path / path).write_text("x")
        (tmp_path / "last.txt").write_text("x")
        await heard.until("last.txt")
    assert set().union(*heard.bursts) == {"last.txt"}


async def test_a_folder_that_is_not_there_is_not_watched(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="gone is no longer a folder"):
        await Watcher(str(tmp_path / "gone")).watch(lambda paths: None)


@pytest.mark.case("G07")
@each("error", [OSError("OS file watch limit reached"), RuntimeError("inotify")])
async def test_where_nothing_can_be_watched_open_files_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def refused(*folders: Path, **options: object) -> AsyncIterator[set[object]]:
        for fault in (error,):
            raise fault
        yield set()

    monkeypatch.setattr(watchfiles, "awatch", refused)
    monkeypatch.setattr(watcher, "POLL_S", 0.05)
    said: list[str] = []
    (tmp_path / "a.txt").write_text("1")
    (tmp_path / "b.txt").write_text("1")
    look = Watcher(str(tmp_path), said.append)
    look.opened(["a.txt"])
    async with watching(look) as heard:
        await heard.until("a.txt")
        heard.bursts.clear()
        (tmp_path / "b.txt").write_text("2")
        (tmp_path / "new").write_text("2")
        (tmp_path / "new").replace(tmp_path / "a.txt")
        await heard.until("a.txt")
        assert set().union(*heard.bursts) == {"a.txt"}
        heard.bursts.clear()
        (tmp_path / "a.txt").unlink()
        await heard.until("a.txt")
    assert said == [
        f"the system refused it ({error}): of changes only those of open files are seen"
    ]


@pytest.mark.slow
@pytest.mark.case("G07", "G10")
async def test_in_a_huge_tree_folders_of_open_files_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "MAX_FOLDERS", 3)
    deep = tmp_path / "a/b/c/d"
    deep.mkdir(parents=True)
    (tmp_path / "node_modules/m").mkdir(parents=True)
    for path in (deep / "x.py", deep / "y.py", tmp_path / "node_modules/m/z.js"):
        path.write_text("1")
    said: list[str] = []
    look = Watcher(str(tmp_path), said.append)
    look.opened(["a/b/c/d/x.py"])
    async with watching(look) as heard:
        for text in "23":  # G10: two atomic replaces in a row
            await asyncio.sleep(0)
            heard.bursts.clear()
            while not {"a/b/c/d/x.py"} <= set().union(*heard.bursts):
                (tmp_path / "new").write_text(text)
                (tmp_path / "new").replace(deep / "x.py")
                await asyncio.sleep(0.3)
        look.opened(["a/b/c/d/x.py", "node_modules/m/z.js"])
        await changing(heard, tmp_path / "node_modules/m/z.js", "node_modules/m/z.js")
        # a checkout takes the folder away and brings it back
        shutil.rmtree(tmp_path / "a/b")
        await heard.until("a/b")
        deep.mkdir(parents=True)
        await changing(heard, deep / "x.py", "a/b/c/d/x.py")
        heard.bursts.clear()
        await changing(heard, deep / "x.py", "a/b/c/d/x.py")
    assert len(said) == 1
    assert "more than 3 folders" in said[0]


async def changing(heard: Heard, file: Path, *paths: str) -> None:
    """Write the file until that is heard: a watch that was just asked for begins soon."""
    heard.bursts.clear()
    number = 0
    async with asyncio.timeout(60):
        while not set(paths) <= set().union(*heard.bursts):
            file.write_text(str(number := number + 1))
            await asyncio.sleep(0.25)


@pytest.mark.case("G07")
async def test_a_file_is_told_by_every_name_under_which_it_is_open(tmp_path: Path) -> None:
    """The system names it by one of them only, and not always by its own."""
    (tmp_path / "real" / "sub").mkdir(parents=True)
    (tmp_path / "real" / "x.py").write_text("1")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "f.py").symlink_to("link/x.py")
    names = {"real/x.py", "link/x.py", "f.py"}
    look = Watcher(str(tmp_path))
    look.opened(names)
    async with watching(look) as heard:
        (tmp_path / "real" / "x.py").write_text("2")
        await heard.until(*names)
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "x.py").write_text("3")
        (tmp_path / "link").unlink()
        (tmp_path / "link").symlink_to("other")
        await heard.until("link")
        heard.bursts.clear()
        await changing(heard, tmp_path / "other" / "x.py", "link/x.py", "f.py")


async def test_of_a_huge_tree_the_upper_folders_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home folder or / must not hold up the screen while it is set up."""
    monkeypatch.setattr(watcher, "MAX_FOLDERS", 5)
    for name in ("src/a/b/c", "node_modules/m/n/o", ".git/objects/00", "docs"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "loop").symlink_to(tmp_path)
    folders = watcher.folders_of(tmp_path)
    names = [folder.relative_to(tmp_path).as_posix() for folder in folders]
    assert (names[0], names[3:]) == (".", ["src/a", "src/a/b"])
    assert set(names[1:3]) == {"src", "docs"}
    async with watching(Watcher(str(tmp_path))) as heard:
        (tmp_path / "src" / "x.py").write_text("x = 1\n")
        await heard.until("src/x.py")
        (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
        await heard.until(".git/HEAD")


async def test_all_of_a_large_tree_is_watched_by_a_process_which_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Setting up the watch of 2,500 folders held the screen up for more than a second."""
    monkeypatch.setattr(watcher, "MOST_HERE", 3)
    monkeypatch.setattr(watcher, "MAX_FOLDERS", 5)
    for name in ("src/a/b/c", "node_modules/m", ".git"):
        (tmp_path / name).mkdir(parents=True)
    said: list[str] = []
    async with watching(Watcher(str(tmp_path), said.append)) as heard:
        (child,) = children()
        (tmp_path / "src/a/b/c/deep.py").write_text("x = 1\n")
        (tmp_path / ".git/HEAD").write_text("ref: refs/heads/other\n")
        await heard.until("src/a/b/c/deep.py", ".git/HEAD")
        (tmp_path / "node_modules/m/i.js").write_text("x")
        (tmp_path / "new").mkdir()
        (tmp_path / "new/file.py").write_text("y = 1\n")
        for n in range(450):  # more than one line says
            (tmp_path / "src" / f"m{n}.py").write_text("z = 1\n")
        await heard.until("new/file.py", *(f"src/m{n}.py" for n in range(450)))
    assert not said
    assert "node_modules/m/i.js" not in set().union(*heard.bursts)
    assert heard.bursts[0] == set()
    assert child not in children()


async def test_where_the_process_ends_the_watch_goes_on_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "MOST_HERE", 1)
    async with watching(Watcher(str(tmp_path))) as heard:
        (child,) = children()
        count = len(heard.bursts)
        os.kill(child, signal.SIGKILL)
        async with asyncio.timeout(60):
            while len(heard.bursts) == count:  # it says that it begins once more
                await asyncio.sleep(0.01)
        (tmp_path / "x.py").write_text("x = 1\n")
        await heard.until("x.py")


def children() -> list[int]:
    """The processes that watch for this one."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = place.joinpath("stat").read_text().rpartition(")")[2].split()[1]
            words = place.joinpath("cmdline").read_bytes()
            if int(parent) == os.getpid() and b"tui.effects.watcher" in words:
                found.append(int(place.name))
    return found


pytest.importorskip("watchfiles")


async def told_after(folder: Path, change: object) -> bool:
    """Whether a change is told; it is made again until it is seen, as a watch takes a moment."""
    told = asyncio.Event()
    watching = asyncio.create_task(watch_folder(folder, told.set))
    assert callable(change)
    try:
        for _ in range(240):
            change()
            try:
                await asyncio.wait_for(told.wait(), 0.25)
            except TimeoutError:
                continue
            return True
        return False
    finally:
        watching.cancel()


async def test_a_new_file_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "themes"
    folder.mkdir()
    assert await told_after(folder, lambda: (folder / "a.toml").write_text("x"))


async def test_where_nothing_is_there_nothing_is_watched(tmp_path: Path) -> None:
    await asyncio.wait_for(watch_folder(tmp_path / "a" / "b", lambda: None), 60)

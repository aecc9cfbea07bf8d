"""Folders and git's states for the file tree: asked for when somebody looks, then when told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from tests.support.fakes import World, settle
from tui.core.files import FolderEntry, GitState
from tui.engine.disk_changes import PAUSE_S, entries_below
from tui.errors import FileRefused


class Git:
    """What git would say, and how often it was asked."""

    def __init__(self) -> None:
        self.files: Mapping[str, GitState] = {"a.py": "M"}
        self.asked = 0
        self.hold: asyncio.Event | None = None

    async def states(self) -> Mapping[str, GitState]:
        self.asked += 1
        if self.hold is not None:
            await self.hold.wait()
        return dict(self.files)


def world() -> tuple[World, Git]:
    made, git = World({"a.py": "", "sub/b.py": ""}), Git()
    made.ports.git_status = git.states
    return made, git


async def started() -> tuple[World, Git]:
    made, git = world()
    await made.runs()
    made.session.drain()
    return made, git


async def test_git_is_asked_once_and_again_when_something_changed() -> None:
    made, git = await started()
    made.session.folders.watch(seen=True)
    await settle()
    assert made.session.folders.states.files == {"a.py": "M"}
    assert made.session.drain().git
    made.clock.advance(60)
    await settle()
    assert git.asked == 1
    git.files = {"a.py": "M", "sub/c.py": "?"}
    made.changed_outside("sub/c.py", ".git/index")
    await settle()
    notices = made.session.drain()
    assert notices.folders == {"sub"}
    assert notices.git
    assert made.session.folders.states.of("sub") == "?"


async def test_a_commit_elsewhere_is_a_change_of_states_only() -> None:
    made, git = await started()
    made.session.folders.watch(seen=True)
    await settle()
    made.session.drain()
    made.clock.advance(60)
    await settle()
    git.files = {}
    made.changed_outside(".git/index")
    await settle()
    notices = made.session.drain()
    assert (notices.git, notices.folders) == (True, set())


async def test_a_storm_of_changes_asks_git_at_a_measured_pace() -> None:
    made, git = await started()
    made.session.folders.watch(seen=True)
    await settle()
    for number in range(50):
        made.changed_outside(f"f{number}.py")
        await settle()
    assert git.asked == 1
    made.clock.advance(PAUSE_S)
    await settle()
    assert git.asked == 2


async def test_the_same_answer_is_no_news() -> None:
    made, _ = await started()
    made.session.folders.watch(seen=True)
    await settle()
    made.session.drain()
    made.clock.advance(60)
    await settle()
    made.changed_outside(".git/HEAD")
    await settle()
    assert not made.session.drain().git


async def test_out_of_sight_nothing_more_is_asked() -> None:
    made, git = await started()
    made.session.folders.watch(seen=True)
    await settle()
    made.session.folders.watch(seen=False)
    made.changed_outside("a.py")
    made.clock.advance(60)
    await settle()
    assert git.asked == 1
    made.session.folders.watch(seen=True)
    await settle()
    assert git.asked == 2
    made.session.folders.watch(seen=False)
    made.clock.advance(60)
    await settle()
    assert git.asked == 2
    made.session.folders.watch(seen=True)
    await settle()
    assert git.asked == 3, "not all that git reads is watched"


async def test_closing_ends_a_question_that_waits() -> None:
    made, git = await started()
    git.hold = asyncio.Event()
    made.session.folders.watch(seen=True)
    await settle()
    async with asyncio.timeout(30):
        await made.session.close()


async def test_a_folder_is_listed_by_the_port_or_from_the_listing() -> None:
    made, _ = world()
    assert [entry.name for entry in await made.session.folders.entries("")] == ["sub", "a.py"]
    assert await made.session.folders.entries("sub") == [FolderEntry("b.py")]

    def refuse(folder: str) -> list[FolderEntry]:
        raise FileRefused(f"{folder}: permission denied")

    made.ports.folder = refuse
    with pytest.raises(FileRefused, match="sub: permission"):
        await made.session.folders.entries("sub")


def test_names_below_a_folder() -> None:
    paths = ["a/b/c.py", "a/d.py", "ab/e.py", "a/B.py"]
    assert entries_below(paths, "a") == [
        FolderEntry("b", "folder"),
        FolderEntry("B.py"),
        FolderEntry("d.py"),
    ]
    assert entries_below(paths, "x") == []


async def test_a_file_that_came_is_found_when_the_user_looks_for_it() -> None:
    made, _ = await started()
    assert "new.py" not in made.session.listing()
    made.files.data["new.py"] = b""
    made.changed_outside("new.py")
    await settle()
    assert "new.py" not in made.session.listing()
    made.session.folders.look()
    made.session.folders.look()
    await settle()
    assert "new.py" in made.session.listing()
    assert made.session.drain().listing
    made.session.folders.look()
    await settle()
    assert not made.session.drain().listing

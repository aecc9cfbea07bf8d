"""What files are compared with: disk, HEAD, the turn's start."""

from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tui.core.files import FileRead, GitState
from tui.core.patches.landing import Landing
from tui.engine.diffs import Old
from tui.engine.intents import OpenFile
from tui.errors import EditRefused

PATCH = """*** Begin Patch
*** Update File: a.py
@@
-two
+zwei
*** Add File: new.py
+made
*** Update File: b.py
@@
 x
+y
*** End Patch
"""


async def opened(*paths: str) -> World:
    """A session with these files open."""
    world = World({"a.py": "one\ntwo\nthree\n", "b.py": "x\n"})
    for path in paths:
        world.session.submit(OpenFile(path))
    await settle()
    return world


def landed(world: World, turn: int) -> None:
    """A turn begins, and its patch lands."""
    world.session.diffs.turn_begins(turn)
    landing = Landing(world.session.workspace, turn=turn, call_id=f"call_{turn}")
    landing.feed(PATCH)
    landing.finish(cut=False)


def shown(old: Old) -> tuple[list[str], list[str], str]:
    """Old lines, new lines, and what is said."""
    return list(old.lines), list(old.new), old.words or old.note


async def test_other_line_endings_are_said_not_shown_as_lines() -> None:
    world = await opened("a.py")
    world.files.data["a.py"] = b"one\r\ntwo\r\nthree\r\n"
    (old,) = await world.session.diffs.olds("disk", "a.py")
    assert old.note == "The lines are the same; their endings are LF, not CRLF."
    for other in (b"one\r\n2\r\nthree\r\n", b"one\ntwo\nthree\n"):
        world.files.data["a.py"] = other
        (old,) = await world.session.diffs.olds("disk", "a.py")
        assert old.note == ""


async def test_a_file_that_the_turn_opened_is_compared_without_the_turn() -> None:
    world = await opened()
    landed(world, 1)
    world.session.workspace.accept()
    found = {old.path: shown(old) for old in await world.session.diffs.olds("turn")}
    assert found == {
        "a.py": (["one", "two", "three", ""], ["one", "zwei", "three", ""], ""),
        "b.py": (["x", ""], ["x", "y", ""], ""),
        "new.py": ([], ["made", ""], "new file"),
    }


async def test_the_start_is_that_of_the_last_turn() -> None:
    world = await opened("a.py")
    landed(world, 1)
    world.session.workspace.accept()
    world.session.diffs.turn_begins(2)
    (old,) = await world.session.diffs.olds("turn", "a.py")
    assert list(old.lines) == list(old.new) == ["one", "zwei", "three", ""]


async def test_head_is_what_was_committed() -> None:
    world = await opened("a.py")

    async def head(path: str) -> FileRead:
        return FileRead(b"one\n") if path == "a.py" else FileRead(None)

    async def states() -> dict[str, GitState]:
        return {"b.py": "?", "gone.py": "D"}

    world.ports.git_head = head
    world.ports.git_status = states
    found = {old.path: shown(old) for old in await world.session.diffs.olds("head")}
    assert found["a.py"] == (["one", ""], ["one", "two", "three", ""], "")
    assert found["b.py"] == ([], ["x", ""], "new file")


async def test_what_cannot_be_compared_says_why() -> None:
    world = await opened("a.py")
    assert [old.note for old in await world.session.diffs.olds("head", "a.py")] == [
        "git is not asked here"
    ]
    world.files.data["b.py"] = b"\0\1"
    assert [old.note for old in await world.session.diffs.olds("disk", "b.py")] == [
        "'b.py' is a binary file (2 B)"
    ]


async def test_why_nothing_that_differs_can_be_attached() -> None:
    world = await opened()
    attach = world.session.attachments.makers["diff"]

    async def head(path: str) -> FileRead:
        return FileRead(None, "this folder has no git commit yet" if path == "a.py" else "")

    states: dict[str, GitState] = {"a.py": "?"}

    async def changed() -> dict[str, GitState]:
        return states

    world.ports.git_head, world.ports.git_status = head, changed
    with pytest.raises(EditRefused, match="no git commit yet"):
        await attach()
    states.clear()
    assert await attach() == ""
    states["b.py"] = "?"
    assert "+x" in await attach()
    states.clear()
    states["c.py"] = "?"
    world.files.data["c.py"], world.files.private["c.py"] = b"secret\n", "it is ignored"
    with pytest.raises(EditRefused, match="is private"):
        await attach()


async def test_of_a_new_folder_its_files_differ_from_head() -> None:
    world = World({"a.py": "x\n", "new/b.py": "b\n", "new/deep/c.py": "c\n", "news.py": "n\n"})

    async def states() -> dict[str, GitState]:
        return {"new": "?"}

    async def head(path: str) -> FileRead:
        return FileRead(None)

    world.ports.git_head, world.ports.git_status = head, states
    olds = await world.session.diffs.olds("head")
    assert [(old.path, old.words) for old in olds] == [
        ("new/b.py", "new file"),
        ("new/deep/c.py", "new file"),
    ]
    assert "+c" in await world.session.attachments.makers["diff"]()

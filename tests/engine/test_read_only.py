"""What may only be looked at, and files that are not there yet, as the session treats them."""

from __future__ import annotations

import json

from tests.support.fakes import World
from tests.support.tables import each
from tui.core.files import FileRead
from tui.engine.intents import OpenFile, Prompt, SaveFile

LATIN, BINARY = b"caf\xe9\n", b"\0secret\n"
LARGE = FileRead(None, "'big' is too large", head=b"one\n", size_bytes=100 << 20)
LOCKED = FileRead(b"hi\n", unwritable="you have no permission to write it")


class Odd(World):
    """A world in which some files are not as others."""

    def __init__(self) -> None:
        super().__init__({"a.py": "a\n", "latin": LATIN, "bin": BINARY})
        self.files.odd = {"big": LARGE, "locked": LOCKED}

    def changes(self, path: str, read: FileRead) -> list[str]:
        """Somebody else did something to it; returns what the user is told."""
        self.files.odd[path] = read
        self.changed_outside(path)
        return [f"{t.what}: {t.why}" for t in self.session.drain().troubles]


@each("path", ["latin", "bin", "big", "locked"])
async def test_it_is_said_once_when_it_is_opened(path: str) -> None:
    world = Odd()
    for _ in range(2):
        world.session.submit(OpenFile(path))
    troubles = world.session.drain().troubles
    assert [trouble.what for trouble in troubles] == ["Read-only"]
    assert troubles[0].severity == "information"
    assert troubles[0].why.startswith(f"'{path}' ")
    assert world.session.status.active_path == path
    assert not world.session.workspace.is_dirty(path)


@each("path", ["latin", "bin", "big"])
@each("force", [False, True])
async def test_a_view_is_never_saved(path: str, force: bool) -> None:
    world = Odd()
    world.session.submit(OpenFile(path))
    world.session.drain()
    world.session.submit(SaveFile(path, force))
    (trouble,) = world.session.drain().troubles
    assert trouble.what == f"{path} was not saved"
    assert "read-only" in trouble.why
    assert world.files.writes == []


async def test_nothing_of_a_view_is_sent() -> None:
    world = Odd()
    for path in ("latin", "bin", "big", "locked"):
        world.session.submit(OpenFile(path))
    world.session.submit(Prompt("hello"))
    sent = json.dumps(await world.wire.request(1), ensure_ascii=False)
    assert "\udce9" not in sent
    assert "secret" not in sent
    assert "latin is open but cannot be quoted: 'latin' is not UTF-8 (byte 4)" in sent
    assert 'path=\\"locked\\"' in sent
    assert 'writable=\\"no\\"' in sent


async def test_rights_that_change_are_told() -> None:
    world = Odd()
    await world.runs()
    world.session.submit(OpenFile("locked"))
    world.session.drain()
    assert world.changes("locked", LOCKED) == []
    assert world.changes("locked", FileRead(b"hi\n")) == ["locked may be edited again: "]
    world.session.workspace.edit("locked", (0, 0), (0, 0), "x")
    told = world.changes("locked", LOCKED)
    assert told == ["Read-only: 'locked' is read-only: you have no permission to write it."]
    assert world.session.workspace.buffers["locked"].text() == "xhi\n"


async def test_a_view_that_grows_or_goes_is_told() -> None:
    world = Odd()
    await world.runs()
    world.session.submit(OpenFile("big"))
    world.session.drain()
    grown = FileRead(None, "too large", head=b"one\ntwo\n", size_bytes=101 << 20)
    assert world.changes("big", grown) == []
    assert "101 MB" in world.session.workspace.read_only("big")
    assert world.session.workspace.buffers["big"].text() == "one\ntwo\n"
    assert world.changes("big", FileRead(None)) == ["big is gone from the disk: "]
    folder = FileRead(None, "'big' is a directory", "directory")
    assert world.changes("big", folder) == ["big cannot be read any more: 'big' is a directory"]
    assert world.session.workspace.buffers["big"].text() == "one\ntwo\n"
    assert world.changes("big", FileRead(b"small\n")) == ["big may be edited again: "]
    assert world.session.workspace.buffers["big"].text() == "small\n"


async def test_a_text_that_becomes_a_folder_and_a_file_again_is_as_saved() -> None:
    world = Odd()
    await world.runs()
    world.session.submit(OpenFile("a.py"))
    world.session.drain()
    folder = FileRead(None, "'a.py' is a directory", "directory")
    assert world.changes("a.py", folder) == ["a.py cannot be read any more: 'a.py' is a directory"]
    assert world.session.workspace.is_dirty("a.py")
    assert world.changes("a.py", FileRead(b"a\n")) == []
    assert not world.session.workspace.is_dirty("a.py")


async def test_a_new_file_is_made_when_it_is_saved() -> None:
    world = Odd()
    session = world.session
    session.submit(OpenFile("sub/new.py", 4, 2, new=True))
    assert session.status.open_paths == ["sub/new.py"]
    (trouble,) = session.drain().troubles
    assert (trouble.what, trouble.next_step) == ("sub/new.py is a new file", "saving makes it")
    assert not session.workspace.is_dirty("sub/new.py")
    assert not session.unsaved("")
    assert "sub/new.py" not in world.files.data
    session.submit(SaveFile("sub/new.py"))
    assert world.files.data["sub/new.py"] == b""
    session.workspace.edit("sub/new.py", (0, 0), (0, 0), "x\n")
    session.submit(SaveFile("sub/new.py"))
    assert world.files.data["sub/new.py"] == b"x\n"
    session.workspace.edit("sub/new.py", (0, 0), (1, 0), "")
    session.submit(SaveFile("sub/new.py"))
    assert world.files.data["sub/new.py"] == b""


async def test_a_new_file_that_came_meanwhile_is_opened() -> None:
    world = Odd()
    for path in ("a.py", "latin"):
        world.session.submit(OpenFile(path, new=True))
        assert world.session.workspace.buffers[path].text()


async def test_files_opened_aside_do_not_become_the_active_one() -> None:
    world = Odd()
    world.session.submit(OpenFile("a.py"))
    world.session.submit(OpenFile("latin", 0, 2, aside=True))
    notices = world.session.drain()
    assert world.session.status.active_path == "a.py"
    assert notices.goto is None
    assert notices.troubles == []
    assert notices.gotos_before == [("latin", 0, 2)]

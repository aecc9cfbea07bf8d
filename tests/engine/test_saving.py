from __future__ import annotations

import json
import os
import stat
import tempfile
import unicodedata
from pathlib import Path

import pytest

from tests.support.fakes import MemoryFiles, World
from tests.support.tables import each
from tests.support.turns import land, update
from tui.core.document.disk_plan import DiskPlan
from tui.core.document.hunk import Decision, Stage
from tui.core.edit_stream import Format
from tui.core.files import MAX_BYTES, FileRead
from tui.core.patches.landing import Landing
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.write_ahead_log import WriteAheadLog
from tui.engine import intents
from tui.engine.disk_changes import DECIDE_LATER
from tui.engine.intents import OpenFile, Prompt, SaveFile
from tui.engine.saving import bring
from tui.engine.session import Session, SessionOptions
from tui.engine.unfinished import Way, look, settle

TEXT = "one\ntwo\nthree\nfour\nfive\n"


def decisions(world: World) -> list[Decision]:
    return [hunk.decision for hunk in world.session.workspace.hunks]


async def test_accept_writes_what_was_accepted_only() -> None:
    world = World({"a.py": TEXT})
    land(world, update("a.py", "-two", "+TWO"))
    land(world, update("a.py", "-four", "+FOUR"), turn=2)
    world.session.submit(intents.Accept((1,)))
    assert world.files.data["a.py"] == TEXT.replace("two", "TWO").encode()
    assert "FOUR" in world.session.workspace.buffers["a.py"].text()
    assert world.session.drain().hunks
    world.session.submit(intents.Accept())
    assert b"FOUR" in world.files.data["a.py"]


async def test_manual_saving_waits_for_the_user() -> None:
    world = World({"a.py": TEXT}, options=SessionOptions(save="manual"))
    land(world, update("a.py", "-two", "+TWO"))
    world.session.submit(intents.Accept())
    assert world.files.data["a.py"] == TEXT.encode()
    world.session.submit(intents.SaveFile("a.py"))
    assert b"TWO" in world.files.data["a.py"]


async def test_undoing_the_turn_restores_every_byte() -> None:
    world = World({"a.py": TEXT, "b.py": "x\n"})
    text = update("a.py", "-two", "+TWO").replace(
        "*** End Patch", "*** Add File: new.py\n+hello\n*** Delete File: b.py\n*** End Patch"
    )
    before = dict(world.files.data)
    land(world, text)
    world.session.submit(intents.Accept())
    assert set(world.files.data) == {"a.py", "new.py"}
    world.session.submit(intents.UndoTurn())
    assert world.files.data == before
    world.session.submit(intents.UndoTurn())
    assert world.session.drain().troubles


async def test_contradicting_changes_block_saving_until_forced() -> None:
    world = World({"a.py": TEXT})
    session = world.session
    session.submit(intents.OpenFile("a.py"))
    session.workspace.edit("a.py", (1, 0), (1, 3), "mine")
    world.files.data["a.py"] = TEXT.replace("two", "theirs").encode()
    session.submit(intents.SaveFile("a.py"))
    assert b"theirs" in world.files.data["a.py"]
    assert session.drain().troubles
    session.submit(intents.SaveFile("a.py", force=True))
    assert b"mine" in world.files.data["a.py"]


async def conflict(world: World) -> None:
    await world.runs()
    world.session.submit(intents.OpenFile("a.py"))
    world.session.workspace.edit("a.py", (1, 0), (1, 3), "mine")
    world.files.data["a.py"] = TEXT.replace("two", "theirs").encode()
    world.changed_outside("a.py")


ASKING = SessionOptions(ask=True, conversation="c")


async def test_the_user_is_asked_once_which_text_is_to_stay() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    await conflict(world)
    session = world.session
    session.submit(intents.SaveFile("a.py"))
    (ask,) = session.status.asks
    assert ask.question == "a.py changed on disk: whose text stays?"
    await world.answers(0)
    assert world.files.data["a.py"] == TEXT.replace("two", "mine").encode()
    assert not session.status.asks
    assert not session.workspace.conflicts


async def test_theirs_can_be_taken_and_nothing_is_lost() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    await conflict(world)
    session = world.session
    await world.answers(1)
    assert session.workspace.buffers["a.py"].text() == TEXT.replace("two", "theirs")
    session.workspace.undo("a.py")
    assert session.workspace.buffers["a.py"].text() == TEXT.replace("two", "mine")
    assert world.files.data["a.py"] == TEXT.replace("two", "theirs").encode()


async def test_a_file_deleted_on_disk_is_made_again_only_when_the_user_says_so() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    await conflict(world)
    session = world.session
    await world.answers("later")
    del world.files.data["a.py"]
    session.submit(intents.SaveFile("a.py"))
    assert "a.py" not in world.files.data
    assert "was deleted on disk" in session.drain().troubles[-1].why
    (ask,) = session.status.asks
    assert ask.question == "a.py was deleted on disk: keep your text?"
    assert ask.choices[0] == "Keep mine: make the file again"
    await world.answers(0)
    assert b"mine" in world.files.data["a.py"]


async def test_accepting_never_overwrites_what_changed_on_disk() -> None:
    world = World({"a.py": TEXT})
    land(world, update("a.py", "-two", "+TWO"))
    land(world, update("a.py", "-four", "+FOUR"), turn=2)
    world.files.data["a.py"] = TEXT.replace("two", "theirs").encode()
    await world.runs()
    world.changed_outside("a.py")
    world.session.submit(intents.Accept((2,)))
    assert world.files.data["a.py"] == TEXT.replace("two", "theirs").encode()
    assert decisions(world) == [Decision.PENDING, Decision.PENDING]
    world.session.submit(intents.Reload("a.py"))
    assert decisions(world) == [Decision.REJECTED, Decision.REJECTED]
    assert [hunk.agent for hunk in world.session.workspace.hunks if hunk.is_out] == [
        "TWO\n",
        "FOUR\n",
    ]
    world.session.submit(intents.SaveFile("a.py"))
    assert world.files.data["a.py"] == TEXT.replace("two", "theirs").encode()


@each("theirs", [TEXT + "theirs\n", TEXT.replace("two", "theirs")])
async def test_a_file_that_others_changed_since_is_not_deleted_unseen(theirs: str) -> None:
    world = World({"a.py": TEXT})
    land(world, "*** Begin Patch\n*** Delete File: a.py\n*** End Patch\n")
    world.files.data["a.py"] = theirs.encode()
    await world.runs()
    world.changed_outside("a.py")
    world.session.submit(intents.Accept())
    assert world.files.data["a.py"] == theirs.encode()
    (hunk,) = world.session.workspace.hunks
    assert hunk.reason == "the file was edited since: not deleted"


MOVE = "*** Update File: a.py\n*** Move to: b.py\n@@\n-two\n+TWO\n"
SWAP = (
    "diff --git a/a.py b/b.py\nrename from a.py\nrename to b.py\n"
    "--- a/a.py\n+++ b/b.py\n@@ -2 +2 @@\n-two\n+TWO\n"
    "diff --git a/b.py b/a.py\nrename from b.py\nrename to a.py\n"
)
THEIRS = TEXT.replace("two", "theirs")


@each("when", ["told", "untold", "unsaved"])
@each(
    "before, patch, theirs",
    [
        ("x\n", MOVE, {"b.py": "x\ntheirs\n"}),
        ("x\n", f"*** Delete File: b.py\n{MOVE}", {"b.py": "theirs\n"}),
        ("", MOVE, {"b.py": "theirs\n"}),
        ("", MOVE, {"b.py": ""}),
        ("x\n", MOVE, {"a.py": THEIRS}),
        ("x\n", MOVE, {"a.py": None}),
        ("x\n", MOVE, {"a.py": None, "b.py": TEXT}),
        ("x\n", MOVE, {"a.py": THEIRS, "b.py": "x\ntheirs\n"}),
        ("x\n", SWAP, {"a.py": THEIRS}),
        ("x\ntwo\nthree\nfour\nfive\n", SWAP, {"a.py": THEIRS}),
    ],
)
async def test_nothing_that_others_wrote_is_lost_where_files_move(
    before: str, patch: str, theirs: dict[str, str | None], when: str
) -> None:
    options = SessionOptions(save="manual" if when == "unsaved" else "on-accept")
    world = World({"a.py": TEXT, **({"b.py": before} if before else {})}, options=options)
    fmt: Format = "unified_diff" if patch is SWAP else "apply_patch"
    landing = land(
        world, patch if patch is SWAP else f"*** Begin Patch\n{patch}*** End Patch\n", fmt=fmt
    )
    assert {hunk.stage for hunk in landing.hunks} == {Stage.LANDED}
    await world.runs()
    if when == "unsaved":
        world.session.submit(intents.Accept())
    for path, text in theirs.items():
        world.files.data.pop(path, None)
        if text is not None:
            world.files.data[path] = text.encode()
    if when != "untold":
        world.changed_outside(*theirs)
        world.session.submit(intents.OpenFile("b.py"))
    for _ in range(2):  # what a refused write has told stays known
        world.session.submit(intents.Accept())
    if when == "unsaved":
        world.session.submit(intents.SaveFile("a.py"))
        world.session.submit(intents.SaveFile("b.py"))
    elif "b.py" in theirs:
        moved = landing.hunks[-1]
        assert (moved.stage, moved.reason) == (Stage.CONFLICT, "'b.py' was edited since: not moved")
    for path, text in theirs.items():
        assert world.files.data.get(path) == (None if text is None else text.encode())


async def test_of_files_saved_together_the_one_that_changed_on_disk_is_named() -> None:
    world = World({"a.py": TEXT, "b.py": TEXT})
    both = update("a.py", "-two", "+TWO").replace("*** End Patch\n", "")
    land(world, both + update("b.py", "-four", "+FOUR").replace("*** Begin Patch\n", ""))
    world.files.data["b.py"] = TEXT.replace("four", "theirs").encode()
    await world.runs()
    world.changed_outside("b.py")
    before = dict(world.files.data)
    world.session.drain()
    world.session.submit(intents.Accept())
    assert world.files.data == before
    told = world.session.drain().troubles
    assert [one.what for one in told] == ["b.py was not saved", "b.py changed on disk"]
    assert told[0].next_step == "nothing was written, the hunks stay pending"
    assert decisions(world) == [Decision.PENDING, Decision.PENDING]


@pytest.mark.parametrize("theirs", [None, TEXT.replace("four", "theirs")])
async def test_a_file_that_is_decided_on_later_holds_no_other_up(theirs: str | None) -> None:
    world = World({"a.py": TEXT, "b.py": TEXT}, options=SessionOptions(ask=True))
    both = update("a.py", "-two", "+TWO").replace("*** End Patch\n", "")
    land(world, both + update("b.py", "-four", "+FOUR").replace("*** Begin Patch\n", ""))
    if theirs is None:
        del world.files.data["b.py"]
    else:
        world.files.data["b.py"] = theirs.encode()
    await world.runs()
    world.changed_outside("b.py")
    await world.answers(DECIDE_LATER)
    world.session.drain()
    world.session.submit(intents.Accept())
    assert world.files.data["a.py"] == TEXT.replace("two", "TWO").encode()
    assert world.files.data.get("b.py") == (None if theirs is None else theirs.encode())
    assert decisions(world) == [Decision.ACCEPTED, Decision.PENDING]
    (told,) = world.session.drain().troubles
    assert told.what == "Hunk 2 of b.py left out: you decide later whose text stays"
    world.session.submit(intents.Accept())  # nothing else is left: the question is there again
    assert len(world.session.status.asks) == 1


async def test_tabs() -> None:
    world = World({"a.py": TEXT, "b.py": "", "bin": b"\0"})
    session = world.session
    session.submit(intents.OpenFile("a.py", 2, 1))
    session.submit(intents.OpenFile("b.py"))
    assert session.status.open_paths == ["a.py", "b.py"]
    assert session.status.active_path == "b.py"
    assert session.drain().goto == ("a.py", 2, 1)
    session.submit(intents.CloseFile("b.py"))
    assert session.status.active_path == "a.py"
    session.submit(intents.OpenFile("bin"))
    session.submit(intents.OpenFile("gone.py"))
    assert session.status.open_paths == ["a.py", "bin"]
    assert len(session.drain().troubles) == 2
    session.cursor("a.py", (1, 1))


async def test_several_files_are_accepted_together_or_not_at_all() -> None:
    world = World({"a.py": TEXT, "b.py": TEXT})
    both = update("a.py", "-two", "+TWO").replace("*** End Patch\n", "")
    land(world, both + update("b.py", "-four", "+FOUR").replace("*** Begin Patch\n", ""))
    before = dict(world.files.data)
    world.files.read_only.add("b.py")
    world.session.submit(intents.Accept())
    assert world.files.data == before
    assert decisions(world) == [Decision.PENDING, Decision.PENDING]
    world.files.read_only.clear()
    world.session.submit(intents.Accept())
    assert b"TWO" in world.files.data["a.py"]
    assert b"FOUR" in world.files.data["b.py"]


async def test_taking_a_turn_back_saves_nothing_of_the_users_where_saving_is_theirs() -> None:
    world = World({"a.py": TEXT}, options=SessionOptions(save="manual"))
    session = world.session
    land(world, update("a.py", "-two", "+TWO"))
    session.submit(intents.Accept())
    session.workspace.edit("a.py", (4, 0), (4, 0), "mine ")
    session.submit(intents.UndoTurn())
    assert session.workspace.buffers["a.py"].text() == TEXT.replace("five", "mine five")
    assert not world.files.writes


async def test_a_text_that_could_not_be_opened_again_is_not_written() -> None:
    world = World({"a.py": TEXT})
    world.session.submit(intents.OpenFile("a.py"))
    world.session.workspace.edit("a.py", (0, 0), (0, 0), "x" * MAX_BYTES)
    world.session.submit(intents.SaveFile("a.py"))
    (trouble,) = world.session.drain().troubles
    assert "larger than 8 MB" in trouble.why
    assert not trouble.next_step, "no hunk is pending"
    world.session.workspace.edit("a.py", (0, 0), (0, MAX_BYTES), "y")
    world.session.submit(intents.SaveFile("a.py"))
    assert world.files.data["a.py"].startswith(b"yone")


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
    assert world.changes("big", FileRead(None)) == ["big was deleted from the disk: "]
    folder = FileRead(None, "'big' is a directory", "directory")
    assert world.changes("big", folder) == ["big can no longer be read: 'big' is a directory"]
    assert world.session.workspace.buffers["big"].text() == "one\ntwo\n"
    assert world.changes("big", FileRead(b"small\n")) == ["big may be edited again: "]
    assert world.session.workspace.buffers["big"].text() == "small\n"


async def test_a_text_that_becomes_a_folder_and_a_file_again_is_as_saved() -> None:
    world = Odd()
    await world.runs()
    world.session.submit(OpenFile("a.py"))
    world.session.drain()
    folder = FileRead(None, "'a.py' is a directory", "directory")
    assert world.changes("a.py", folder) == ["a.py can no longer be read: 'a.py' is a directory"]
    assert world.session.workspace.is_dirty("a.py")
    assert world.changes("a.py", FileRead(b"a\n")) == []
    assert not world.session.workspace.is_dirty("a.py")


async def test_a_new_file_is_made_when_it_is_saved() -> None:
    world = Odd()
    session = world.session
    session.submit(OpenFile("sub/new.py", 4, 2, new=True))
    assert session.status.open_paths == ["sub/new.py"]
    (trouble,) = session.drain().troubles
    assert (trouble.what, trouble.next_step) == ("sub/new.py is a new file", "saving creates it")
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


PATCH = "*** Begin Patch\n*** Update File: f.txt\n@@\n one\n-two\n+TWO\n three\n*** End Patch\n"
BLOCK = (
    "f.txt\n```\n<<<<<<< SEARCH\none\ntwo\nthree\n=======\none\nTWO\nthree\n>>>>>>> REPLACE\n```\n"
)
DIFF = "--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
ODD = b"f\x0cf\xc2\x85\xe2\x80\xa8\r f\n"
"""What some take for ends of lines."""
FORMATS = {"apply_patch": PATCH, "search_replace": BLOCK, "unified_diff": DIFF}


def session_in(root: Path) -> Session:
    """A session on a real folder."""
    world = World()
    world.ports.files = Files(root, Listing(root))
    world.ports.journal = WriteAheadLog(root.parent / "state", str(root))
    return Session(world.ports, world.roles)


def edited(session: Session, text: str, fmt: str) -> None:
    landing = Landing(session.workspace, turn=1, call_id="call_1", channel="text", fmt="auto")
    landing.feed(text)
    landing.finish(cut=False)
    assert landing.hunks, fmt


def workspace_in(tmp_path: Path) -> Path:
    """A new folder for each row."""
    root = Path(tempfile.mkdtemp(dir=tmp_path)) / "ws"
    root.mkdir()
    return root


@pytest.mark.case("H04")
@each("crlf_patch", [False, True])
@each("fmt", FORMATS)
@each(
    "before, after",
    [
        (b"one\ntwo\nthree\n", b"one\nTWO\nthree\n"),
        (b"one\r\ntwo\r\nthree\r\n", b"one\r\nTWO\r\nthree\r\n"),
        (b"one\ntwo\r\nthree\nfour\r\n", b"one\nTWO\nthree\nfour\r\n"),
        (b"\xef\xbb\xbfone\ntwo\nthree\n", b"\xef\xbb\xbfone\nTWO\nthree\n"),
        (b"one\ntwo\nthree\nfour", b"one\nTWO\nthree\nfour"),
        (b"one\ntwo\nthree\n" + ODD, b"one\nTWO\nthree\n" + ODD),
        (b"zero\x0c\none\ntwo\nthree\n", b"zero\x0c\none\nTWO\nthree\n"),
    ],
)
def test_only_the_hunks_lines_change(
    tmp_path: Path, before: bytes, after: bytes, fmt: str, crlf_patch: bool
) -> None:
    root = workspace_in(tmp_path)
    (root / "f.txt").write_bytes(before)
    session = session_in(root)
    text = FORMATS[fmt]
    edited(session, text.replace("\n", "\r\n") if crlf_patch else text, fmt)
    session.submit(intents.Accept())
    assert (root / "f.txt").read_bytes() == after
    session.submit(intents.UndoTurn())
    assert (root / "f.txt").read_bytes() == before


@pytest.mark.case("H06")
@each("fmt", FORMATS)
@each(
    "data, reason",
    [
        ("one\ntwo\nthree\nñ\n".encode("latin-1"), "is not UTF-8"),
        ("one\ntwo\nthree\n".encode("utf-16"), "is UTF-16, not UTF-8"),
        (b"one\ntwo\nthree\n\0", "is a binary file"),
        (b"one\ntwo\nthree\n" + b"x" * MAX_BYTES, "too large"),
    ],
)
def test_what_is_no_text_is_refused_with_the_reason(
    tmp_path: Path, data: bytes, reason: str, fmt: str
) -> None:
    root = workspace_in(tmp_path)
    (root / "f.txt").write_bytes(data)
    session = session_in(root)
    edited(session, FORMATS[fmt], fmt)
    assert {hunk.stage for hunk in session.workspace.hunks} == {Stage.REFUSED}
    assert all(reason in hunk.reason for hunk in session.workspace.hunks)
    session.submit(intents.Accept())
    assert (root / "f.txt").read_bytes() == data


@pytest.mark.case("H01")
@each(
    "path", ["/etc/hosts", "../out", "a/../../out", "~/x", ".git/hooks/pre-commit", "link/x", "p"]
)
@each("what", ["Add", "Update", "Delete"])
def test_nothing_outside_is_made_changed_or_deleted(tmp_path: Path, path: str, what: str) -> None:
    root = workspace_in(tmp_path)
    (root / "link").symlink_to(root.parent)
    os.mkfifo(root / "p")
    body = {"Add": "+x\n", "Update": "@@\n-127.0.0.1\n+x\n", "Delete": ""}[what]
    before = sorted(os.listdir(root.parent))
    session = session_in(root)
    text = f"*** Begin Patch\n*** {what} File: {path}\n{body}*** End Patch\n"
    landing = Landing(session.workspace, turn=1, call_id="call_1")
    landing.feed(text)
    landing.finish(cut=False)
    session.submit(intents.Accept())
    assert {hunk.stage for hunk in landing.hunks} == {Stage.REFUSED}
    assert all(hunk.reason for hunk in landing.hunks)
    assert sorted(os.listdir(root.parent)) == before
    assert sorted(os.listdir(root)) == ["link", "p"]


@pytest.mark.case("H02")
@each("path", ["{root}/f.txt", "sub/../f.txt", "./f.txt", "link.txt"])
def test_what_leads_inside_is_edited(tmp_path: Path, path: str) -> None:
    root = workspace_in(tmp_path)
    (root / "f.txt").write_bytes(b"one\ntwo\nthree\n")
    (root / "link.txt").symlink_to("f.txt")
    session = session_in(root)
    edited(session, PATCH.replace("File: f.txt", f"File: {path.format(root=root)}"), "apply_patch")
    session.submit(intents.Accept())
    assert (root / "f.txt").read_bytes() == b"one\nTWO\nthree\n"
    assert (root / "link.txt").is_symlink(), "the link stays one"


@pytest.mark.case("H09")
def test_no_twin_is_made_of_a_name_that_is_spelled_in_another_way(tmp_path: Path) -> None:
    root = workspace_in(tmp_path)
    there = unicodedata.normalize("NFD", "café.txt")
    (root / there).write_bytes(b"one\n")
    session = session_in(root)
    landing = Landing(session.workspace, turn=1, call_id="call_1")
    landing.feed(
        "*** Begin Patch\n*** Add File: café.txt\n+x\n"
        "*** Update File: café.txt\n@@\n-one\n+ONE\n*** End Patch\n"
    )
    landing.finish(cut=False)
    session.submit(intents.Accept())
    assert {hunk.stage for hunk in landing.hunks} == {Stage.REFUSED}
    assert all("is spelled" in hunk.reason for hunk in landing.hunks)
    assert os.listdir(root) == [there]
    assert (root / there).read_bytes() == b"one\n"


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
        "b": "'b' is another name of 'a', and would get a different text"
    }
    assert a.read_bytes() == b"old\n"
    assert bring(disk, {**two, "b": two["a"]}, journal) == {}
    assert a.read_bytes() == b.read_bytes() == b"one\n"
    journal.close()
    assert not (tmp_path / "state" / "journal").exists(), "nothing stands in it"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


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

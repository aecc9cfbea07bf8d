"""What an accepted hunk does to the bytes of a file: its own lines, and nothing else."""

from __future__ import annotations

import os
import tempfile
import unicodedata
from pathlib import Path

import pytest

from tests.support.fakes import World
from tests.support.tables import each
from tui.core.document.hunk import Stage
from tui.core.files import MAX_BYTES
from tui.core.patches.landing import Landing
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.write_ahead_log import WriteAheadLog
from tui.engine import intents
from tui.engine.session import Session

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
        ("one\ntwo\nthree\n".encode("utf-16"), "is binary"),
        (b"one\ntwo\nthree\n\0", "is binary"),
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

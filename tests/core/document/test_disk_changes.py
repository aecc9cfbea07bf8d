from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.patches import disk, patch
from tui.core.document import disk_changes
from tui.core.document.hunk import Decision, Stage
from tui.core.document.report import hunk_words
from tui.core.files import FileRead
from tui.errors import EditRefused
from tui.ui.conversation.hunk_card import reasons

THEIRS = FileRead(b"a\nTHEIRS\nc\nd\ne\n")


def in_conflict(text: str = "mine"):
    place = disk(a="a\nb\nc\nd\ne\n")
    place.workspace.open("a.txt")
    place.workspace.edit("a.txt", (1, 0), (1, 1), text)
    place.workspace.outside_change("a.txt", THEIRS)
    assert place.workspace.conflicts == {"a.txt"}
    return place


def test_a_deleted_file_that_comes_back_as_it_was_is_no_conflict():
    place = disk(a="a\n")
    place.workspace.open("a.txt")
    place.workspace.outside_change("a.txt", FileRead(None))
    assert place.workspace.conflicts == {"a.txt"}
    assert place.workspace.is_dirty("a.txt")
    place.workspace.outside_change("a.txt", FileRead(b"a\n"))
    assert place.workspace.conflicts == set()


def test_theirs_is_taken_and_undo_brings_mine_back():
    place = in_conflict()
    place.workspace.edit("a.txt", (4, 0), (4, 1), "my e")
    place.workspace.outside_change("a.txt", THEIRS, theirs=True)
    assert place.text("a.txt").encode() == THEIRS.data
    assert not place.workspace.is_dirty("a.txt")
    assert place.workspace.conflicts == set()
    assert place.workspace.undo("a.txt")
    assert place.text("a.txt") == "a\nmine\nc\nd\nmy e\n", "one step"
    assert place.workspace.is_dirty("a.txt")
    assert place.workspace.disk_plan("a.txt").expected == THEIRS.data
    place.workspace.redo("a.txt")
    assert place.text("a.txt").encode() == THEIRS.data
    assert not place.workspace.is_dirty("a.txt")


def test_pending_hunks_that_fit_theirs_stay():
    place = in_conflict()
    place.land(patch("@@", "-d", "+D"))
    place.workspace.outside_change("a.txt", THEIRS, theirs=True)
    assert place.text("a.txt") == "a\nTHEIRS\nc\nD\ne\n"
    assert place.workspace.disk_plan("a.txt").data == THEIRS.data
    place.workspace.reject()
    assert place.text("a.txt").encode() == THEIRS.data


def test_a_hunk_in_conflict_is_not_accepted_by_who_writes_the_same_to_the_disk():
    place = disk(a="a\nb\nc\nd\ne\n")
    (mine,) = place.land(patch("@@", "-b", "+B")).hunks
    (kept,) = place.land(patch("@@", "-d", "+D")).hunks
    place.workspace.edit("a.txt", (1, 0), (1, 1), "mine")
    place.workspace.reject([mine.id])
    place.workspace.outside_change("a.txt", FileRead(place.text("a.txt").encode()))
    assert (mine.stage, mine.decision) == (Stage.CONFLICT, Decision.PENDING)
    assert (kept.stage, kept.decision) == (Stage.LANDED, Decision.ACCEPTED)


def test_a_new_file_that_somebody_else_made_too_is_theirs():
    """Without its hunks nothing of ours belongs there: that must not read as "delete it"."""
    place = disk()
    place.land("*** Begin Patch\n*** Add File: b.txt\n+one\n+two\n*** End Patch\n")
    theirs = FileRead(b"outside\n")
    place.workspace.outside_change("b.txt", theirs)
    assert place.workspace.conflicts == {"b.txt"}
    place.workspace.outside_change("b.txt", theirs, theirs=True)
    assert place.workspace.disk_plan("b.txt").data == b"outside\n"
    (hunk,) = place.workspace.hunks
    assert reasons(hunk) == ["the file on the disk was taken instead"]  # not that the user said it
    told = hunk_words(place.workspace.documents, hunk)
    assert "rejected by the user: the file on the disk was taken instead;" in told


def test_what_cannot_be_edited_is_not_taken():
    place = in_conflict()
    for read in (FileRead(None), FileRead(b"\0"), FileRead(None, "a FIFO")):
        with pytest.raises(EditRefused):
            place.workspace.outside_change("a.txt", read, theirs=True)
    with pytest.raises(EditRefused):
        place.workspace.outside_change("other.txt", THEIRS, theirs=True)
    assert place.text("a.txt") == "a\nmine\nc\nd\ne\n"


LINES = st.lists(st.sampled_from(["a", "b", "é", "", "\r", "c\r"]), max_size=6)
TEXTS = st.builds(
    lambda bom, lines, end: (bom + "\n".join(lines) + end).encode(),
    st.sampled_from(["", "\ufeff"]),
    LINES,
    st.sampled_from(["", "\n"]),
)


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=2))
def test_a_clean_file_is_what_the_disk_says_byte_for_byte(old, new, later):
    place = disk()
    place.files["a.txt"] = old
    buffer = place.workspace.open("a.txt")
    for data in (new, old + new, new + old, *later):
        place.workspace.outside_change("a.txt", FileRead(data))
        assert buffer.encode() == data
        assert not place.workspace.is_dirty("a.txt")
        assert place.workspace.disk_plan("a.txt").expected == data


def test_of_a_log_that_nobody_edits_only_what_is_new_is_made_into_text(monkeypatch):
    line = "2026-11-21 12:00:00 something happened in a module and so on\r\n"
    place = disk(a=line * 20_000)
    space = place.workspace
    buffer, made = space.open("a.txt"), []
    decoded = disk_changes.decoded

    def counted(path, data):
        made.append(data)
        return decoded(path, data)

    monkeypatch.setattr(disk_changes, "decoded", counted)
    data = (line * 20_000).encode()
    for piece in (b"new\r\n", b"half", b" and half\n", "\ufeffé\n".encode()):
        data += piece
        space.outside_change("a.txt", FileRead(data))
        assert buffer.encode() == data
        assert not space.is_dirty("a.txt")
    assert [len(piece) for piece in made if len(piece) < 100] == [5, 4, 6]
    space.outside_change("a.txt", FileRead(data + b"\0\n"))
    assert "binary" in space.read_only("a.txt")


@pytest.mark.parametrize("line", ["", "more\r\n"])
@pytest.mark.parametrize("typed", [False, True])
def test_line_endings_that_others_change_are_nobodys_edit(typed: bool, line: str):
    """Hunks come off, and on again, decisions and the user's edits are undone as before."""
    place = disk(a="a\nb\nc\nd\ne\nf\n")
    space = place.workspace
    taken, kept, rejected = place.land(
        patch("@@", "-b", "+B", "@@", " d", "+new", "@@", "-f", "+F")
    ).hunks
    place.write(space.accept([kept.id]))
    space.reject([rejected.id])
    if typed:
        space.edit("a.txt", (0, 0), (0, 1), "mine")
    disk_now = place.files["a.txt"].replace(b"\n", b"\r\n") + line.encode()
    place.files["a.txt"] = disk_now
    space.outside_change("a.txt", FileRead(disk_now))
    first = "mine" if typed else "a"
    assert space.conflicts == set()
    assert place.text("a.txt") == f"{first}\r\nB\r\nc\r\nd\r\nnew\r\ne\r\nf\r\n{line}"
    assert len(space.take_disk_changes()) == 1 + bool(line)  # one says it of all lines
    assert space.disk_plan("a.txt").data == disk_now.replace(b"a", first.encode())
    space.undo_decision()
    assert place.text("a.txt").endswith(f"new\r\ne\r\nF\r\n{line}")
    place.write(space.undo_turn())
    assert place.text("a.txt") == f"{first}\r\nb\r\nc\r\nd\r\ne\r\nf\r\n{line}"
    assert taken.stage is Stage.LANDED
    space.undo_decision()
    assert place.text("a.txt") == f"{first}\r\nB\r\nc\r\nd\r\nnew\r\ne\r\nF\r\n{line}"
    space.undo("a.txt")
    assert place.text("a.txt").startswith("a\r\n")

"""What the review shows of each file: the text as it stands, and what stood there."""

from __future__ import annotations

import pytest

from tests.support.review_session import CACHE, ReviewSession
from tui.core.edits.hunk import Decision, Stage
from tui.ui.review.changes import Change, FileChanges, of_hunks, of_texts


def reviewed(session: ReviewSession) -> dict[str, FileChanges]:
    """The files of all hunks."""
    return {file.path: file for file in of_hunks(session.workspace, session.workspace.hunks)}


def new_of(file: FileChanges, change: Change) -> list[str]:
    """The new lines of a change."""
    return list(file.lines[change.first : change.last] if change.new is None else change.new)


@pytest.fixture
def session() -> ReviewSession:
    made = ReviewSession()
    made.turn_of()
    return made


def test_files_come_in_the_order_of_the_patch_with_what_happens_to_them(
    session: ReviewSession,
) -> None:
    found = reviewed(session)
    assert [(path, file.words) for path, file in found.items()] == [
        ("ledger/cache.py", ""),
        ("ledger/lock.py", "new file"),
        ("tests/test_cache.py", ""),
        ("ledger/old.py", "deleted"),
    ]
    cache = found["ledger/cache.py"]
    assert (cache.added, cache.removed, cache.decided) == (9, 6, 1), (
        "the refused one waits for nothing"
    )


def test_lines_that_both_sides_have_are_no_change(session: ReviewSession) -> None:
    """The first hunk says `import time` on both sides."""
    change = reviewed(session)["ledger/cache.py"].changes[0]
    assert (list(change.old), change.first, change.last) == ([], 4, 5)


def test_the_old_side_is_the_file_as_it_was(session: ReviewSession) -> None:
    for file in reviewed(session).values():
        before = session.files.get(file.path, "") if file.words != "new file" else ""
        assert file.old_lines() == before.splitlines()


def test_a_rejected_hunk_stays_where_it_would_stand(session: ReviewSession) -> None:
    before = reviewed(session)["ledger/cache.py"]
    session.workspace.reject([3], "too long")
    after = reviewed(session)["ledger/cache.py"]
    rejected = next(one for one in after.changes if one.number == 3)
    landed = next(one for one in before.changes if one.number == 3)
    assert rejected.first == landed.first
    assert new_of(after, rejected) == new_of(before, landed)
    assert list(after.lines[rejected.first : rejected.last]) == list(rejected.old)
    assert after.old_lines() == CACHE.splitlines()


def test_rejected_ones_are_found_where_all_were_rejected(session: ReviewSession) -> None:
    """Their marks stood in a text with all the others in it."""
    session.workspace.reject(None, "no")
    file = reviewed(session)["ledger/cache.py"]
    for change in file.changes:
        if change.is_lost:
            continue
        assert list(file.lines[change.first : change.last]) == list(change.old)
    assert list(file.lines) == CACHE.splitlines()
    assert file.decided == 5


def test_what_was_not_found_is_behind_all_others(session: ReviewSession) -> None:
    change = reviewed(session)["ledger/cache.py"].changes[-1]
    assert change.is_lost
    assert change.hunk is not None
    assert change.hunk.stage is Stage.REFUSED
    assert not change.is_there
    assert (list(change.old), list(change.new or ())) == (
        ["    return nowhere"],
        ["    return somewhere"],
    )


def test_what_the_user_typed_in_a_hunk_is_part_of_it(session: ReviewSession) -> None:
    session.workspace.edit("ledger/cache.py", (11, 0), (11, 0), "# mine\n")
    file = reviewed(session)["ledger/cache.py"]
    hunk = session.workspace.hunk(2)
    assert hunk.start is not None
    assert "# mine" in [*file.lines]
    assert file.old_lines().count("# mine") <= 1


def test_a_landing_hunk_says_of_each_row_what_it_is() -> None:
    session = ReviewSession()
    session.begin()
    while "with self._lock" not in session.workspace.open("ledger/cache.py").text():
        session.feed(5)
    session.feed(40)
    file = reviewed(session)["ledger/cache.py"]
    change = next(one for one in file.changes if one.marks)
    rows = list(zip(change.marks, file.lines[change.first : change.last], strict=True))
    assert [line for mark, line in rows if mark == "struck"] == CACHE.splitlines()[18:21]
    assert rows[3] == ("landing", "        with self._lock:")
    assert change.grows == change.marks.count("landing")
    assert file.old_lines() == CACHE.splitlines()


def test_an_overwritten_file_is_compared_line_by_line() -> None:
    session = ReviewSession()
    new = CACHE.replace("size", "capacity")
    patch = "*** Begin Patch\n*** Add File: ledger/cache.py\n"
    session.turn_of(patch + "".join(f"+{line}\n" for line in new.splitlines()) + "*** End Patch\n")
    file = reviewed(session)["ledger/cache.py"]
    assert file.old_lines() == CACHE.splitlines()
    assert sum(len(change.old) for change in file.changes) < 8
    assert {change.hunk for change in file.changes} == set(session.workspace.hunks)


def test_a_rejected_deletion_shows_the_file_again(session: ReviewSession) -> None:
    assert reviewed(session)["ledger/old.py"].lines == ()
    session.workspace.reject([8], "")
    file = reviewed(session)["ledger/old.py"]
    assert session.workspace.hunk(8).decision is Decision.REJECTED
    assert file.words == ""
    assert list(file.lines) == ["x = 1", "y = 2"]


def test_two_texts_are_compared() -> None:
    file = of_texts("a.py", ["one", "two", "three"], ["one", "2", "three", "four"])
    assert [(one.first, one.last, list(one.old)) for one in file.changes] == [
        (1, 2, ["two"]),
        (3, 4, []),
    ]
    assert (file.added, file.removed) == (2, 1)

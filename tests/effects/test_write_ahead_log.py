"""What is about to be written is in the state folder first, whole or not at all."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from tui.core.document.unfinished_writes import WriteStep
from tui.effects.write_ahead_log import WriteAheadLog
from tui.errors import FileRefused

STEPS = [
    WriteStep("a.py", b"old\n", b"new\x00\n\n", (1, 2)),
    WriteStep("sub/b.py", None, b"", (3,), ("sub",)),
    WriteStep("gone.py", b"", None),
]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def journals(state: Path) -> list[Path]:
    return sorted((state / "journal").glob("*")) if (state / "journal").exists() else []


def left_behind(state: Path, *sets: list[WriteStep], root: str = "/work") -> None:
    """As a duetto that was killed leaves it."""
    journal = WriteAheadLog(state, root)
    for steps in sets:
        journal.begin(steps, "abc")
    journal.leave()


def test_it_is_private(state: Path) -> None:
    left_behind(state, STEPS)
    (file,) = journals(state)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_nothing_stays_of_what_came_to_its_end(state: Path) -> None:
    journal = WriteAheadLog(state, "/work")
    for _ in range(3):
        journal.begin(STEPS)
        journal.done("a.py")
        journal.end()
        (file,) = journals(state)
        assert b"new" not in file.read_bytes(), "no text of the user's stays there"
    journal.close()
    assert journals(state) == []
    assert not (state / "journal").exists()


def test_what_is_being_written_by_a_duetto_that_lives_is_its_own_business(state: Path) -> None:
    journal = WriteAheadLog(state, "/work")
    journal.begin(STEPS)
    assert WriteAheadLog(state, "/work").unfinished() == []
    assert journal.unfinished() == []
    with pytest.raises(FileRefused):
        WriteAheadLog(state, "/work").forget(journals(state)[0].name)
    journal.leave()
    assert len(WriteAheadLog(state, "/work").unfinished()) == 1


def test_a_set_that_is_not_whole_was_not_begun(state: Path) -> None:
    left_behind(state, STEPS)
    (file,) = journals(state)
    whole = file.read_bytes()
    head = whole.index(b"\n") + 1
    for size in range(len(whole)):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(whole[:size])
        assert WriteAheadLog(state, "/work").unfinished() == []
        assert file.exists() is False, "it is removed, as nothing stands in it"
    file.parent.mkdir()
    file.write_bytes(whole)
    assert len(WriteAheadLog(state, "/work").unfinished()) == 1
    file.write_bytes(whole[:head] + whole[head:].replace(b"new", b"NEW"))
    assert WriteAheadLog(state, "/work").unfinished() == [], "its hash is wrong"


def test_sets_and_journals_come_in_the_order_in_which_they_were_begun(state: Path) -> None:
    left_behind(state, STEPS[:1], STEPS[1:])
    left_behind(state, STEPS[2:])
    found = WriteAheadLog(state, "/work").unfinished()
    assert [[step.path for step in one.steps] for one in found] == [
        ["a.py"],
        ["sub/b.py", "gone.py"],
        ["gone.py"],
    ]


def test_what_is_settled_is_forgotten(state: Path) -> None:
    left_behind(state, STEPS)
    journal = WriteAheadLog(state, "/work")
    (one,) = journal.unfinished()
    for name in ("../journal/x.log", "none.log", "/etc/passwd", ""):
        with pytest.raises(FileRefused):
            journal.forget(name)
    journal.forget(one.name)
    assert journals(state) == []
    with pytest.raises(FileRefused):
        journal.forget(one.name)


@pytest.mark.parametrize("name", ["write", "fsync", "open"])
def test_nothing_may_be_changed_if_it_cannot_be_kept(
    state: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    journal = WriteAheadLog(state, "/work")
    journal.begin(STEPS)
    journal.end()
    if name == "open":
        journal.leave()

    def full(*arguments: object, **named: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, name, full)
        with pytest.raises(FileRefused, match=r"cannot be written: no space .*DUETTO_HOME"):
            journal.begin(STEPS)
    journal.leave()
    assert WriteAheadLog(state, "/work").unfinished() == []


def test_journals_of_one_second_are_told_apart_by_numbers(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "strftime", lambda _: "2026-01-02-030405")
    for _ in range(3):
        left_behind(state, STEPS)
    assert [file.stem for file in journals(state)] == [
        f"2026-01-02-030405-00{number}" for number in (1, 2, 3)
    ]


def test_paths_of_a_journal_stay_in_the_workspace(state: Path) -> None:
    left_behind(state, [WriteStep("../out", b"a", b"b")])
    assert WriteAheadLog(state, "/work").unfinished() == []


def test_a_link_in_its_place_is_not_followed(state: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    state.mkdir()
    (state / "journal").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileRefused):
        WriteAheadLog(state, "/work").begin(STEPS)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_only_one_settles_it(state: Path) -> None:
    left_behind(state, STEPS)
    (one,) = WriteAheadLog(state, "/work").unfinished()
    first, second = WriteAheadLog(state, "/work"), WriteAheadLog(state, "/work")
    with first.settling(one.name):
        with pytest.raises(FileRefused, match="settling it now"), second.settling(one.name):
            pass
        assert second.unfinished() == [], "it is in good hands"
        first.begin(STEPS[:1], "def")
        first.leave()
        first.forget(one.name)
    with pytest.raises(FileRefused, match="meanwhile"), second.settling(one.name):
        pass
    (again,) = second.unfinished()
    assert again.again


def test_a_folder_that_another_duetto_removes_is_made_again(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, opened = WriteAheadLog(state, "/work"), os.open
    raced: list[str] = []

    def removing(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is not None and not raced:
            raced.append(path)
            (state / "journal").rmdir()
        return opened(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", removing)
    journal.begin(STEPS)
    assert raced
    assert len(journals(state)) == 1
    journal.end()
    journal.close()

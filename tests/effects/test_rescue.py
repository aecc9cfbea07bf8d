from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.sources import ROOT
from tui.core.unsaved import Unsaved, UnsavedFile
from tui.effects.rescue import RescueFolders
from tui.errors import FileRefused

FILES = (
    UnsavedFile("src/a.py", b"typed\r\n", b"old\r\n"),
    UnsavedFile("new \x9b file.txt", "n\u00f6\n".encode(), None),
)
ALL = Unsaved(FILES, "half a thought", ("first", "second\nline"))


@pytest.fixture
def folders(tmp_path: Path) -> RescueFolders:
    (tmp_path / "work").mkdir()
    return RescueFolders(tmp_path / "home" / "state", str(tmp_path / "work"))


def left(folders: RescueFolders, unsaved: Unsaved) -> tuple[str, list[str]]:
    """Keep it, and end."""
    return folders.keep(unsaved, last=True)


@pytest.fixture
def next_one(folders: RescueFolders, tmp_path: Path) -> RescueFolders:
    """The next duetto in the same workspace."""
    return RescueFolders(tmp_path / "home" / "state", str(tmp_path / "work"))


def test_only_the_user_may_read_it(folders: RescueFolders, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folders.keep(ALL)
    finally:
        os.umask(before)
    modes = {
        (path.is_dir(), path.stat().st_mode & 0o777)
        for path in [tmp_path / "home/state", *(tmp_path / "home/state").rglob("*")]
    }
    assert modes == {(True, 0o700), (False, 0o600)}


def test_each_end_has_its_own_folder_and_the_newest_comes_first(
    folders: RescueFolders, tmp_path: Path
) -> None:
    one_each = [RescueFolders(tmp_path / "home" / "state", str(tmp_path / "work")) for _ in "123"]
    made = [left(one, Unsaved(draft=str(n)))[0] for n, one in enumerate(one_each)]
    assert len(set(made)) == 3
    assert [unsaved.draft for unsaved in folders.kept()] == ["2", "1", "0"]


def test_another_workspace_sees_nothing_of_it(folders: RescueFolders, tmp_path: Path) -> None:
    left(folders, ALL)
    (tmp_path / "other").mkdir()
    assert RescueFolders(tmp_path / "home" / "state", str(tmp_path / "other")).kept() == []


def test_a_file_opened_by_its_name_is_offered_to_the_project_and_the_other_way(
    folders: RescueFolders, tmp_path: Path
) -> None:
    state, work = tmp_path / "home" / "state", tmp_path / "work"
    inner = UnsavedFile("a.py", b"typed\r\n", b"old\r\n")
    folder, _ = left(RescueFolders(state, str(work / "src")), Unsaved((inner,), "thought"))
    outer = UnsavedFile("src/a.py", inner.data, inner.before)
    assert folders.kept() == [Unsaved((outer,), "thought", (), folder)]
    folders.dismiss(folder)
    folder, _ = left(folders, Unsaved((outer,)))
    assert RescueFolders(state, str(work / "src")).kept() == [Unsaved((inner,), folder=folder)]
    assert RescueFolders(state, str(work / "sr")).kept() == []


def test_what_lies_in_part_elsewhere_is_not_offered(tmp_path: Path) -> None:
    state = tmp_path / "home" / "state"
    both = Unsaved((UnsavedFile("src/a.py", b"a", None), UnsavedFile("b.py", b"b", None)))
    left(RescueFolders(state, str(tmp_path)), both)
    left(RescueFolders(state, str(tmp_path)), Unsaved(draft="of the project"))
    assert RescueFolders(state, str(tmp_path / "src")).kept() == []


def test_a_link_is_not_followed(folders: RescueFolders, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home/state").mkdir(parents=True)
    (tmp_path / "home/state/rescue").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileRefused, match="rescue"):
        folders.keep(ALL)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert folders.kept() == []


def test_a_linked_file_is_not_read(folders: RescueFolders, tmp_path: Path) -> None:
    folder = Path(left(folders, ALL)[0])
    (tmp_path / "secret").write_text("secret")
    (folder / "draft.txt").unlink()
    (folder / "draft.txt").symlink_to(tmp_path / "secret")
    assert "secret" not in repr(folders.kept())
    assert folder.exists()


def test_one_file_that_cannot_be_written_does_not_take_the_others_along(
    folders: RescueFolders,
) -> None:
    long = UnsavedFile("x" * 300, b"long", None)
    folder, failed = left(folders, Unsaved((long, *FILES)))
    assert len(failed) == 1
    assert failed[0].endswith("File name too long")
    assert set(FILES) <= set(folders.kept()[0].files)
    assert Path(folder).is_dir()


def test_a_paths_way_out_is_not_taken(folders: RescueFolders) -> None:
    folder = Path(left(folders, ALL)[0])
    manifest = folder / "workspace.json"
    (folder.parent / "secret").write_text("secret")
    manifest.write_text(manifest.read_text().replace("src/a.py", "../../secret"))
    assert [file.path for file in folders.kept()[0].files] == [FILES[1].path]
    for broken in ("{", "[" * 100_000, "[]", '{"files": 3}', "\udcff"):
        manifest.write_text(broken, errors="surrogateescape")
        (kept,) = folders.kept()
        assert {file.path for file in kept.files} == {file.path for file in FILES}
    assert folder.is_dir()


def test_a_state_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(FileRefused, match="home"):
        RescueFolders(tmp_path / "home" / "state", str(tmp_path)).keep(ALL)


def test_only_a_rescue_folder_is_dismissed(folders: RescueFolders, tmp_path: Path) -> None:
    folder, _ = left(folders, ALL)
    for wrong in (str(tmp_path / "work"), f"{folder}/..", folder + "/files", "/"):
        with pytest.raises(FileRefused, match="not a folder of rescued text"):
            folders.dismiss(wrong)
    folders.dismiss(folder)
    assert folders.kept() == []
    assert not Path(folder).exists()


def test_what_a_living_duetto_keeps_is_its_own(
    folders: RescueFolders, next_one: RescueFolders
) -> None:
    mine = Path(folders.keep(ALL)[0])
    theirs = Path(next_one.keep(Unsaved(draft="another"))[0])
    assert folders.kept() == next_one.kept() == []
    left(next_one, Unsaved(draft="another"))
    assert [unsaved.draft for unsaved in folders.kept()] == ["another"]
    assert mine != theirs
    assert (mine / "draft.txt").read_text() == ALL.draft


def test_what_was_saved_or_sent_is_taken_out(
    folders: RescueFolders, next_one: RescueFolders
) -> None:
    folder = Path(folders.keep(ALL)[0])
    folders.keep(Unsaved(FILES[1:], "", ("second\nline",)))
    assert not (folder / "files/src/a.py").exists()
    assert not (folder / "before/src/a.py").exists()
    assert not (folder / "draft.txt").exists()
    assert not (folder / "queued-2.txt").exists()
    left(folders, Unsaved(FILES[1:], "", ("second\nline",)))
    assert next_one.kept() == [Unsaved(FILES[1:], "", ("second\nline",), str(folder))]


def test_the_folder_goes_with_the_last_of_it_and_comes_again(folders: RescueFolders) -> None:
    folder = Path(folders.keep(ALL)[0])
    assert folders.keep(Unsaved()) == ("", [])
    assert not folder.parent.exists()
    again = Path(folders.keep(Unsaved(draft="more"))[0])
    assert (again / "draft.txt").read_text() == "more"


def test_what_is_typed_after_a_removal_that_failed_is_offered(
    folders: RescueFolders, next_one: RescueFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(shutil, "rmtree", fails_busy)
        first = Path(folders.keep(ALL)[0])
        assert folders.keep(Unsaved()) == ("", [])
    assert first.exists()
    assert next_one.kept() == []  # it was saved
    second = left(folders, Unsaved(draft="more"))[0]
    assert Path(second) != first
    assert [(kept.draft, kept.folder) for kept in next_one.kept()] == [("more", second)]


def test_a_list_that_cannot_be_removed_stays_the_one_that_is_written(
    folders: RescueFolders, next_one: RescueFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folders.keep(ALL)[0]
    with monkeypatch.context() as broken:
        broken.setattr(os, "unlink", fails_busy)
        with pytest.raises(FileRefused):
            folders.keep(Unsaved())
    assert left(folders, Unsaved(draft="more"))[0] == folder
    assert [kept.draft for kept in next_one.kept()] == ["more"]


def fails_busy(*_: object, **__: object) -> None:
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def test_a_folder_that_somebody_removed_is_made_again(
    folders: RescueFolders, next_one: RescueFolders
) -> None:
    shutil.rmtree(folders.keep(ALL)[0])
    folder, failed = left(folders, ALL)
    assert failed == []
    assert next_one.kept() == [Unsaved(ALL.files, ALL.draft, ALL.queued, folder)]


def test_after_the_last_words_nothing_is_written(folders: RescueFolders) -> None:
    folder = Path(left(folders, ALL)[0])
    assert folders.keep(Unsaved(draft="late")) == ("", [])
    assert (folder / "draft.txt").read_text() == ALL.draft


def test_a_power_cut_between_a_text_and_what_it_belongs_to_is_noticed(
    folders: RescueFolders, next_one: RescueFolders
) -> None:
    folder = Path(left(folders, ALL)[0])
    (folder / "before/src/a.py").write_bytes(b"of another time\n")
    assert next_one.kept()[0].files[0] == UnsavedFile("src/a.py", b"typed\r\n", None)


@pytest.mark.parametrize("damage", [b"", b"[]", b"\0" * 4096])
def test_a_broken_list_of_what_is_kept_loses_none_of_it(
    folders: RescueFolders, next_one: RescueFolders, tmp_path: Path, damage: bytes
) -> None:
    folder = Path(left(folders, ALL)[0])
    (folder / "workspace.json").write_bytes(damage)
    (kept,) = next_one.kept()
    assert {file.path: file.data for file in kept.files} == {f.path: f.data for f in FILES}
    assert {file.before for file in kept.files} == {None}  # it may be of another time
    assert (kept.draft, kept.queued) == (ALL.draft, ALL.queued)
    assert RescueFolders(tmp_path / "home" / "state", str(tmp_path / "other")).kept() == []
    next_one.dismiss(str(folder))
    assert next_one.kept() == []


def test_a_write_that_fails_leaves_the_text_before_it(
    folders: RescueFolders, next_one: RescueFolders
) -> None:
    folder = Path(folders.keep(ALL)[0])
    (folder / "writing").mkdir()
    changed = UnsavedFile("src/a.py", b"typed more\n", b"old\r\n")
    _, failed = folders.keep(Unsaved((changed,), ALL.draft))
    assert failed
    (folder / "writing").rmdir()
    assert (folder / "files/src/a.py").read_bytes() == b"typed\r\n"
    assert folders.keep(Unsaved((changed,), ALL.draft))[1] == []
    left(folders, Unsaved((changed,), ALL.draft))
    assert next_one.kept() == [Unsaved((changed,), ALL.draft, (), str(folder))]


def test_half_a_text_does_not_fill_the_disk(
    folders: RescueFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(folders.keep(ALL)[0])

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    changed = UnsavedFile("src/a.py", b"typed more\n" * 1000, b"old\r\n")
    assert folders.keep(Unsaved((changed,)))[1] == [
        "files/src/a.py: No space left on device",
        "workspace.json: No space left on device",
    ]
    assert not (folder / "writing").exists()


def test_a_full_disk_is_not_filled_with_folders(
    folders: RescueFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        patched.setattr(os, "fsync", full)
        for _ in range(3):
            with suppress(FileRefused):
                folders.keep(ALL)
    folders.keep(ALL)
    assert len(list((tmp_path / "home/state/rescue").iterdir())) == 1


TYPING = """
import sys
from pathlib import Path
from tui.core.unsaved import Unsaved, UnsavedFile
from tui.effects.rescue import RescueFolders

folders = RescueFolders(Path(sys.argv[1]), sys.argv[2])
number = 0
while True:
    number += 1
    data = str(number).encode() * 3000
    folders.keep(Unsaved((UnsavedFile("a.py", data, b"old"),), "draft " * number))
    if number == 3:
        print("typing", flush=True)
"""


@pytest.mark.slow
def test_a_kill_in_the_midst_of_it_leaves_a_whole_text(
    next_one: RescueFolders, tmp_path: Path
) -> None:
    arguments = [str(tmp_path / "home" / "state"), str(tmp_path / "work")]
    with subprocess.Popen(
        [sys.executable, "-c", TYPING, *arguments], cwd=ROOT, stdout=subprocess.PIPE
    ) as typing:
        assert typing.stdout.readline() == b"typing\n"
        assert next_one.kept() == []
        typing.send_signal(signal.SIGKILL)
    (kept,) = next_one.kept()
    digits = kept.files[0].data.decode()
    assert digits == digits[: len(digits) // 3000] * 3000
    assert kept.files[0].before == b"old"
    assert set(kept.draft.split()) == {"draft"}


@pytest.fixture
def dead_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that never confirms a write: no test may wait for it."""

    def stuck(_: int) -> None:
        raise AssertionError("it waited for the disk")

    monkeypatch.setattr(os, "fsync", stuck)


NOTHING = Unsaved()
CHANGED = Unsaved((UnsavedFile("src/a.py", b"typed more", b"old\r\n"),), "", ("third",))


@pytest.mark.parametrize("brought", [NOTHING, ALL, CHANGED], ids=["nothing", "all", "changed"])
@pytest.mark.parametrize("jotted", [NOTHING, ALL, CHANGED], ids=["nothing", "all", "changed"])
def test_what_was_jotted_down_last_is_offered_before_any_of_it_is_on_the_disk(
    folders: RescueFolders,
    next_one: RescueFolders,
    request: pytest.FixtureRequest,
    brought: Unsaved,
    jotted: Unsaved,
) -> None:
    folders.keep(brought)
    request.getfixturevalue("dead_disk")
    folders.jot(jotted)
    killed(folders)
    offered = [Unsaved(one.files, one.draft, one.queued) for one in next_one.kept()]
    assert offered == [jotted] * bool(jotted)


@pytest.mark.parametrize("half", [1, 9, 40, 200])
def test_half_of_what_was_jotted_down_counts_for_nothing(
    folders: RescueFolders, next_one: RescueFolders, half: int
) -> None:
    folder = Path(folders.keep(ALL)[0])
    folders.jot(CHANGED)
    killed(folders)
    os.truncate(folder / "newest", half)
    assert [one.files for one in next_one.kept()] == [FILES]


def test_what_was_only_jotted_down_can_be_removed(
    folders: RescueFolders, next_one: RescueFolders
) -> None:
    folders.jot(ALL)
    killed(folders)
    (one,) = next_one.kept()
    next_one.dismiss(one.folder)
    assert next_one.kept() == []


def test_what_is_jotted_down_while_another_one_goes_away_stays(
    folders: RescueFolders, next_one: RescueFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders.keep(ALL)
    folders.jot(NOTHING)
    plain = RescueFolders._bring

    def overtaken(self: RescueFolders, unsaved: Unsaved) -> tuple[str, list[str]]:
        folders.jot(CHANGED)
        return plain(self, unsaved)

    monkeypatch.setattr(RescueFolders, "_bring", overtaken)
    folders.bring()
    killed(folders)
    assert [one.files for one in next_one.kept()] == [CHANGED.files]


def killed(folders: RescueFolders) -> None:
    """Its process is gone, and its locks with it."""
    assert folders._own is None or folders._own.let_go() is None

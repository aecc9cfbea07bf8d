from __future__ import annotations

import os
from pathlib import Path

import pytest

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


def test_what_is_kept_is_read_back(folders: RescueFolders) -> None:
    folder, failed = folders.keep(ALL)
    assert failed == []
    assert folders.kept() == [Unsaved(ALL.files, ALL.draft, ALL.queued, folder)]
    assert (Path(folder) / "files/src/a.py").read_bytes() == b"typed\r\n"
    assert (Path(folder) / "draft.txt").read_text() == "half a thought"


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


def test_each_end_has_its_own_folder_and_the_newest_comes_first(folders: RescueFolders) -> None:
    made = [folders.keep(Unsaved(draft=str(number)))[0] for number in range(3)]
    assert len(set(made)) == 3
    assert [unsaved.draft for unsaved in folders.kept()] == ["2", "1", "0"]


def test_another_workspace_sees_nothing_of_it(folders: RescueFolders, tmp_path: Path) -> None:
    folders.keep(ALL)
    (tmp_path / "other").mkdir()
    assert RescueFolders(tmp_path / "home" / "state", str(tmp_path / "other")).kept() == []


def test_a_link_is_not_followed(folders: RescueFolders, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home/state").mkdir(parents=True)
    (tmp_path / "home/state/rescue").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileRefused, match="rescue"):
        folders.keep(ALL)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert folders.kept() == []


def test_a_linked_file_is_not_read(folders: RescueFolders, tmp_path: Path) -> None:
    folder = Path(folders.keep(ALL)[0])
    (tmp_path / "secret").write_text("secret")
    (folder / "draft.txt").unlink()
    (folder / "draft.txt").symlink_to(tmp_path / "secret")
    assert "secret" not in repr(folders.kept())
    assert folder.exists()


def test_one_file_that_cannot_be_written_does_not_take_the_others_along(
    folders: RescueFolders,
) -> None:
    long = UnsavedFile("x" * 300, b"long", None)
    folder, failed = folders.keep(Unsaved((long, *FILES)))
    assert len(failed) == 1
    assert failed[0].endswith("File name too long")
    assert [file.path for file in folders.kept()[0].files] == [file.path for file in FILES]
    assert Path(folder).is_dir()


def test_a_paths_way_out_is_not_taken(folders: RescueFolders) -> None:
    folder = Path(folders.keep(ALL)[0])
    manifest = folder / "workspace.json"
    (folder.parent / "secret").write_text("secret")
    manifest.write_text(manifest.read_text().replace("src/a.py", "../../secret"))
    assert [file.path for file in folders.kept()[0].files] == [FILES[1].path]
    manifest.write_text("{")
    assert folders.kept() == []
    assert folder.is_dir()


def test_a_state_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(FileRefused, match="home"):
        RescueFolders(tmp_path / "home" / "state", str(tmp_path)).keep(ALL)


def test_only_a_rescue_folder_is_dismissed(folders: RescueFolders, tmp_path: Path) -> None:
    folder, _ = folders.keep(ALL)
    for wrong in (str(tmp_path / "work"), f"{folder}/..", folder + "/files", "/"):
        with pytest.raises(FileRefused, match="not a folder of rescued text"):
            folders.dismiss(wrong)
    folders.dismiss(folder)
    assert folders.kept() == []
    assert not Path(folder).exists()

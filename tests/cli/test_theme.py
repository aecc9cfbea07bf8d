"""``duetto theme``: for people who make themes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tui.cli.main import run
from tui.ui import theme


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUETTO_HOME", str(tmp_path))
    return tmp_path / "themes"


def test_the_list_names_all_with_their_contrast(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["theme", "list"]) == 0
    out = capsys.readouterr().out
    for name in theme.theme_names():
        assert name in out
    assert "light" in out
    assert ":1" in out


def test_a_copy_is_one_of_ones_own_and_all_is_well(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert run(["theme", "copy", "nord", "mine"]) == 0
    assert (folder / "mine.toml").is_file()
    assert run(["theme", "check"]) == 0
    assert "mine: all is well" in capsys.readouterr().out
    assert run(["theme", "list"]) == 0
    # not "Nord" twice: in the list and the chooser it goes by its own name
    assert re.search(r"^mine +dark .*  mine  yours$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nord", "mine"], "is there already"),
        (["noon", "other"], "no theme 'noon'"),
        (["nord", "../other"], "cannot be a theme's name"),
        (["nord", "auto"], "cannot be a theme's name"),
    ],
)
def test_what_cannot_be_copied(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert run(["theme", "copy", "nord", "mine"]) == 0
    text = (folder / "mine.toml").read_text()
    assert run(["theme", "copy", *arguments]) != 0
    assert words in capsys.readouterr().err
    assert (folder / "mine.toml").read_text() == text
    assert len(list(folder.iterdir())) == 1


def test_every_mistake_is_told_with_its_line_and_the_exit_status(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "draft.toml"
    file.write_text('base = "nord"\n[palette]\nfaint = "#556"\nfats = "#fff"\n[meter\nrate = 3\n')
    assert run(["theme", "check", str(file)]) == 1
    out = capsys.readouterr().out
    assert "line 4: [palette] has no colour 'fats'; did you mean 'fast'?" in out
    assert "line 5: not valid TOML" in out
    assert "line 6: rate must look like #a1b2c3, not 3" in out
    assert f"{file} line 3: faint on panel has a contrast of" in out
    assert "would do" in out


def test_what_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["theme", "check", "noon"]) == 1
    assert "no theme and no file 'noon'" in capsys.readouterr().out
    assert run(["theme", "check"]) == 0
    assert "no themes of your own" in capsys.readouterr().err


def test_a_file_name_cannot_act_on_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "a\x1b]0;x\x07.toml"
    file.write_text('title = "\\u001b[31m"\n[palette]\nfats = "\\u001b[2J"\n')
    run(["theme", "check", str(file)])
    assert "\x1b" not in capsys.readouterr().out


def test_what_is_no_text_and_what_is_no_file_are_told(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    folder.mkdir()
    (folder / "odd.toml").write_bytes(b"\xff")
    (folder / "dir.toml").mkdir()
    assert run(["theme", "check"]) == 1
    out = capsys.readouterr().out
    assert "odd.toml line 1: not UTF-8" in out
    assert "dir.toml is not a file" in out
    assert run(["theme", "list"]) == 0

import os
from pathlib import Path

import pytest

from tui.cli.target import Target, target_of
from tui.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "ledger"
    root.mkdir()
    (root / "cache.py").write_text("x = 1\n")
    (root / "odd:3").write_text("")
    return root


def test_nothing_is_named() -> None:
    assert target_of([]) is None


def test_a_folder(folder: Path) -> None:
    assert target_of([str(folder)]) == Target(folder)


def test_a_relative_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    assert target_of(["ledger"]) == Target(folder)
    assert target_of(["."]) == Target(folder.parent)


@pytest.mark.parametrize(
    ("arguments", "line", "col"),
    [
        (["cache.py"], None, 0),
        (["cache.py", "+12"], 11, 0),
        (["+12", "cache.py"], 11, 0),
        (["cache.py:12"], 11, 0),
        (["cache.py:12:5"], 11, 4),
        (["cache.py:12:"], 11, 0),
        (["cache.py:0"], 0, 0),
        (["odd:3"], None, 0),
    ],
)
def test_a_file_opens_its_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: int | None, col: int
) -> None:
    monkeypatch.chdir(folder)
    name = "odd:3" if "odd:3" in arguments else "cache.py"
    assert target_of(arguments) == Target(folder, name, line, col)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "no such file or folder: nowhere"),
        (["nowhere.py:3"], "no such file or folder"),
        (["cache.py", "other.py"], "one PATH"),
        (["cache.py", "+1", "+2"], "one PATH and one"),
        (["+3"], r"\+3 needs a file"),
        ([".", "+3"], "a line needs a file"),
        (["cache.py/x"], "cannot open"),
        (["a\0b"], "cannot open"),
        (["/dev/null"], "neither a file nor a folder"),
    ],
)
def test_what_cannot_be_opened_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(UsageError, match=says) as caught:
        target_of(arguments)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("name", ["ledger", "ledger/cache.py"])
def test_no_permission_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    # root may read everything, so the answer of the system is put in
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name not in name)
    with pytest.raises(UsageError, match="permission denied"):
        target_of([str(folder.parent / name)])

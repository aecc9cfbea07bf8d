import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui.cli.target import Place, Target, target_of
from tui.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "ledger"
    root.mkdir()
    (root / "cache.py").write_text("x = 1\n")
    (root / "odd:3").write_text("")
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "sub" / "b.py").write_text("b\n")
    (root / "dangling").symlink_to("gone")
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
        (["cache.py", "+12:5"], 11, 4),
        (["+12:5", "cache.py"], 11, 4),
        (["cache.py", "+12,5"], 11, 4),
        (["cache.py:3", "+12"], 11, 0),
        (["cache.py:0:0"], 0, 0),
        (["cache.py:" + "9" * 30], 999_999_998 + 1, 0),
        (["cache.py:12:"], 11, 0),
        (["cache.py:0"], 0, 0),
        (["odd:3"], None, 0),
        (["odd:3:"], None, 0),
        (["odd:3:7"], 6, 0),
        (["odd:3:7:"], 6, 0),
        (["odd:3:7:5"], 6, 4),
        (["cache.py:"], None, 0),
    ],
)
def test_a_file_opens_its_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: int | None, col: int
) -> None:
    monkeypatch.chdir(folder)
    name = "odd:3" if arguments[0].startswith("odd") else "cache.py"
    assert target_of(arguments) == Target(folder, (Place(name, line, col),))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere/new.py"], "no such file or folder: nowhere/new.py"),
        (["nowhere/"], "no such folder: nowhere"),
        (["nowhere/new.py:3"], "no such file or folder"),
        (["dangling"], "no such file or folder: dangling"),
        (["new\n.py"], "no such file or folder"),
        ([".git"], "inside .git"),
        (["cache.py", "+1", "+2"], r"one \+LINE a file at most"),
        (["+1", "+2", "cache.py"], r"\+1 and \+2 need a file each"),
        (["+3"], r"\+3 needs a file"),
        (["cache.py", "+abc"], r"\+abc is neither a \+LINE nor a file"),
        ([".", ".."], "open one at a time"),
        (["sub", "cache.py"], "is not in"),
        (["cache.py", "/etc/hostname-of-nobody"], "have no folder in common"),
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


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        (["cache.py", "odd:3"], [("cache.py", None, 0), ("odd:3", None, 0)]),
        (["cache.py:2", "odd:3", "+4"], [("cache.py", 1, 0), ("odd:3", 3, 0)]),
        (["+2", "cache.py", "+4", "odd:3"], [("cache.py", 1, 0), ("odd:3", 3, 0)]),
        (["cache.py", "+2", "odd:3", "+4:2"], [("cache.py", 1, 0), ("odd:3", 3, 1)]),
        (["cache.py", "sub/b.py:7:3"], [("cache.py", None, 0), ("sub/b.py", 6, 2)]),
        ([".", "sub/b.py:7"], [("sub/b.py", 6, 0)]),
        (["sub/b.py", "sub/../sub/b.py"], [("b.py", None, 0), ("b.py", None, 0)]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value[0], str) else None,
)
def test_several_files_share_the_folder_that_holds_them(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    places: list[tuple[str, int | None, int]],
) -> None:
    monkeypatch.chdir(folder)
    target = target_of(arguments)
    assert target is not None
    one_folder = arguments[0].startswith("sub/")
    assert target.root == (folder / "sub" if one_folder else folder)
    assert [(place.path, place.line, place.col) for place in target.places] == places


@pytest.mark.parametrize(
    ("argument", "path", "line"),
    [("new.py", "new.py", None), ("new.py:4", "new.py", 3), ("sub/deep/x", "x", None)],
)
def test_a_file_that_is_not_there_is_made_in_a_folder_that_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, argument: str, path: str, line: int | None
) -> None:
    monkeypatch.chdir(folder)
    root = folder / "sub" / "deep" if "deep" in argument else folder
    assert target_of([argument]) == Target(root, (Place(path, line, 0, new=True),))
    assert not (root / path).exists()


def test_what_is_at_hand_decides_what_is_new(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    target = target_of(["cache.py", "sub/new.py"])
    assert target is not None
    assert [place.new for place in target.places] == [False, True]


WORDS = st.text("a+:,1.0/~\\\0\n\x1b \udcff\u202eé-", max_size=12) | st.sampled_from(
    ["cache.py", "+3", "sub/b.py:2", ".", "cache.py:1:", "::", "+", "+1:2:3", "~", ".git/x", "..."]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.lists(WORDS, max_size=4))
def test_any_words_give_a_target_or_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    try:
        target = target_of(words)
    except UsageError:
        return
    assert sorted(folder.rglob("*")) == before
    for place in target.places if target is not None else ():
        assert target is not None
        whole = target.root / place.path
        assert whole.parent.is_dir()
        assert place.new == (not whole.exists())
        assert (place.line or 0) >= 0 <= place.col

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.tables import case
from tui.cli.target import target_of
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


def test_what_cannot_be_opened_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, says in (
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
    ):
        with case(arguments, says):
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

"""What was asked before, over runs."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.effects import prompt_history
from tui.effects.prompt_history import PromptHistory

HERE, THERE = "/home/u/ledger", "/home/u/other"


def kept(state: Path, *texts: str, root: str = HERE) -> PromptHistory:
    history = PromptHistory(state, root)
    for text in texts:
        history.keep(text)
    history.close()
    return history


def texts(state: Path, root: str = HERE) -> list[str]:
    return [entry.text for entry in PromptHistory(state, root).load()]


def test_the_next_run_has_what_was_asked(tmp_path: Path) -> None:
    history = kept(tmp_path / "state", "one", "two\nlines 📦 \ud800", "three")
    assert texts(tmp_path / "state") == ["one", "two\nlines 📦 \\ud800", "three"]
    assert stat.S_IMODE(history.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(history.file.parent.stat().st_mode) == 0o700


def test_what_was_asked_here_is_nearest_and_a_text_is_there_once(tmp_path: Path) -> None:
    kept(tmp_path, "one", "both", "one")
    kept(tmp_path, "both", "elsewhere", root=THERE)
    assert texts(tmp_path) == ["elsewhere", "both", "one"]
    first, *_ = PromptHistory(tmp_path, HERE).load()
    assert (first.here, first.place) == (False, "other")


@each(
    "broken",
    [
        b'["/home/u/ledger", 1, "half of a li',
        b"\xff\xfe\x00\n\x00[",
        b'{"a": 1}\n[1, 2, 3]\n["a"]\n[' + b"[" * 5_000 + b"\n",
    ],
)
def test_what_is_broken_is_passed_over(tmp_path: Path, broken: bytes) -> None:
    (tmp_path / "prompts.jsonl").write_bytes(broken)
    kept(tmp_path, "one")
    assert texts(tmp_path) == ["one"]


@each("kind", ["folder", "link", "pipe"])
def test_what_is_no_file_is_neither_read_nor_written(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    folder = tmp_path / kind
    folder.mkdir()
    file = folder / "prompts.jsonl"
    if kind == "folder":
        file.mkdir()
    elif kind == "link":
        file.symlink_to(target)
    else:
        os.mkfifo(file)
    kept(folder, "one")
    assert texts(folder) == []
    assert target.read_text() == "mine"


def test_it_does_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_history, "LARGEST_FILE", 4_000)
    monkeypatch.setattr(prompt_history, "KEPT_BYTES", 2_000)
    kept(tmp_path, *(f"{number} " + "x" * 90 for number in range(100)))
    history = kept(tmp_path, "last")
    assert history.file.stat().st_size < 4_100
    assert texts(tmp_path)[-1] == "last"
    assert texts(tmp_path)[-2].startswith("99 ")
    assert [name.name for name in tmp_path.glob("prompts.*") if name.suffix != ".lock"] == [
        "prompts.jsonl"
    ]


def test_others_may_not_read_a_file_that_they_could(tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl").write_text(json.dumps([HERE, 1, "old"]) + "\n")
    (tmp_path / "prompts.jsonl").chmod(0o644)
    history = kept(tmp_path, "new")
    assert texts(tmp_path) == ["old", "new"]
    assert stat.S_IMODE(history.file.stat().st_mode) == 0o600


def test_what_is_too_long_is_kept_for_the_run_only(tmp_path: Path) -> None:
    kept(tmp_path, "x" * 1_000_000, "short")
    assert texts(tmp_path) == ["short"]


def test_nothing_in_the_file_acts_on_the_terminal(tmp_path: Path) -> None:
    """It lies in a folder that other programs write to."""
    history = PromptHistory(tmp_path, HERE)
    acting = "red \x1b[31m \x9b31m \u202e \0 \r end\tof\nit"
    entry = json.dumps(["/home/u/\x1b]0;x\x07", 1, acting])
    history.file.write_text(f"{entry}\n", encoding="utf-8")
    (found,) = history.load()
    assert found.text == "red \\x1b[31m \\x9b31m \\u202e \\x00 \\r end\tof\nit"
    assert found.place == "\\x1b]0;x\\x07"


def test_two_duettos_at_once_lose_nothing(tmp_path: Path) -> None:
    def ask(name: str) -> None:
        kept(tmp_path, *(f"{name} {number}" for number in range(50)))

    threads = [threading.Thread(target=ask, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts(tmp_path)) == 100

"""The practice workspace: made once, opened again, started over without losing the old one."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support.rehearsed import fresh_files
from tui.bridge.rehearsal import RECORD
from tui.cli import open_app, practice
from tui.cli.options import Invocation
from tui.errors import UsageError

NOW = datetime(2026, 11, 21, 10, 30)


def tree(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in root.rglob("*")
        if path.is_file()
    }


def test_it_is_made_once_and_left_alone(tmp_path: Path) -> None:
    root = practice.ensure(tmp_path / "data")
    assert tree(root) == fresh_files()
    assert (root / "ledger" / "cache.py").is_file()
    assert (root / "README.md").is_file()
    assert (root / RECORD).is_file()
    (root / "ledger" / "cache.py").write_text("mine")
    (root / "README.md").unlink()
    assert practice.ensure(tmp_path / "data") == root
    assert (root / "ledger" / "cache.py").read_text() == "mine"
    assert not (root / "README.md").exists()
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["practice"]


def test_starting_over_keeps_the_old_one(tmp_path: Path) -> None:
    root = practice.ensure(tmp_path)
    (root / "ledger" / "cache.py").write_text("mine")
    again, kept = practice.start_over(tmp_path, NOW)
    assert again == root
    assert kept == tmp_path / "practice-2026-11-21-103000"
    assert (kept / "ledger" / "cache.py").read_text() == "mine"
    assert tree(root) == fresh_files()
    _, second = practice.start_over(tmp_path, NOW)
    assert second == tmp_path / "practice-2026-11-21-103000-2"
    assert (kept / "ledger" / "cache.py").read_text() == "mine"


def test_a_file_in_its_place_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "practice").write_text("")
    with pytest.raises(UsageError, match="is not a folder"):
        practice.ensure(tmp_path)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "data"
    blocked.write_text("")
    with pytest.raises(UsageError, match="DUETTO_HOME"):
        practice.ensure(blocked)


def test_what_is_begun_and_what_comes_next(tmp_path: Path) -> None:
    root = practice.ensure(tmp_path)
    prompts = practice.load_scripts()
    assert len(prompts) == 8
    assert all((root / exercise.test).is_file() for exercise in prompts)
    assert practice.begun(root) == []
    assert practice.suggested(root) == prompts[0].prompt == "make the cache safe for threads"
    (root / "ledger" / "cache.py").write_text("changed")
    (root / "ledger" / "tags.py").write_text("new")
    assert practice.begun(root) == ["cache", "tags"]
    assert practice.suggested(root) == prompts[1].prompt
    for path in (root / "ledger").glob("*.py"):
        path.write_text("changed")
    assert practice.suggested(root) == ""


def test_a_broken_record_does_no_harm(tmp_path: Path) -> None:
    root = practice.ensure(tmp_path)
    (root / ".practice.json").write_text("{")
    assert practice.begun(root) == []


def run(monkeypatch: pytest.MonkeyPatch, home: Path, *args: str) -> tuple[str, list[str]]:
    """Run the command with the app replaced; its output and what the app was to open."""
    opened: list[str] = []

    def fake(asked: Invocation, beginning: object) -> int:
        opened.extend(asked.arguments)
        return 0

    monkeypatch.setenv("DUETTO_HOME", str(home))
    monkeypatch.setattr(open_app, "open_app", fake)
    monkeypatch.setattr(practice, "require_screen", lambda: None)
    result = CliRunner().invoke(practice.practice_command, args, catch_exceptions=False)
    return result.output, opened


def test_the_command_opens_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    output, opened = run(monkeypatch, tmp_path)
    assert opened == [str(tmp_path / "data" / "practice")]
    assert output == ""
    output, opened = run(monkeypatch, tmp_path, "--new")
    assert opened == [str(tmp_path / "data" / "practice")]
    assert "kept in" in output
    assert len(os.listdir(tmp_path / "data")) == 2


def test_without_a_terminal_nothing_is_started_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DUETTO_HOME", str(tmp_path))
    result = CliRunner().invoke(practice.practice_command, ["--new"])
    assert isinstance(result.exception, UsageError)
    assert list(tmp_path.iterdir()) == []

"""The settings of a first run: they read back as they were meant, and replace nothing."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.bridge.providers.model_lists import name_of
from tui.cli.first_run import text_of, write
from tui.settings import load, parse


def test_both_models_and_their_endpoint() -> None:
    settings = parse(text_of("ollama", "qwen3:8b", "qwen3:32b"), "config.toml")
    assert settings.models.fast is not None
    assert settings.models.deep is not None
    assert settings.models.fast.name == "qwen3:8b"
    assert settings.models.deep.name == "qwen3:32b"
    assert {settings.models.fast.endpoint, settings.models.deep.endpoint} == {"ollama"}


@given(st.text(min_size=1).filter(lambda name: bool(name_of({"id": name}))))
def test_any_name_that_a_server_may_give_reads_back(name: str) -> None:
    settings = parse(text_of("ollama", name, name), "config.toml")
    assert settings.models.fast is not None
    assert settings.models.fast.name == name_of({"id": name}) or settings.models.fast.name == name


def test_it_is_written_whole_and_for_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.toml"
    assert write(file, text_of("ollama", "a", "b")) == ""
    assert load(file).models.fast is not None
    assert os.listdir(file.parent) == ["config.toml"]
    assert file.stat().st_mode & 0o077 == 0


def test_settings_that_came_meanwhile_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\n")
    assert "there already" in write(file, text_of("ollama", "a", "b"))
    assert file.read_text() == "# mine\n"
    assert os.listdir(tmp_path) == ["config.toml"]


def test_a_link_that_leads_nowhere_is_left_alone_too(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.symlink_to(tmp_path / "dotfiles" / "duetto.toml")
    assert "there already" in write(file, text_of("ollama", "a", "b"))
    assert file.is_symlink()


def test_a_disk_that_is_full_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    def opened(descriptor: int, mode: str, encoding: str) -> Full:
        os.close(descriptor)
        return Full()

    monkeypatch.setattr(os, "fdopen", opened)
    assert "No space left" in write(tmp_path / "config.toml", text_of("ollama", "a", "b"))
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    wrong = write(tmp_path / "file" / "config.toml", text_of("ollama", "a", "b"))
    assert "cannot be written" in wrong


@pytest.mark.parametrize("text", ["[models.fast]\nnam = 1\n", "schema ="])
def test_what_duetto_could_not_read_is_not_written(tmp_path: Path, text: str) -> None:
    assert write(tmp_path / "config.toml", text)
    assert os.listdir(tmp_path) == []

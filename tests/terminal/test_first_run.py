"""The very first start, with the real binary."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal
from tui.cli.open_app import FIRST_RUN

SIZES = [(120, 36), (80, 24), (40, 12)]
CTRL_Q, ESC = "\x11", "\x1b"


@pytest.fixture
def environment(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """Nothing was ever started; no key is there."""
    (tmp_path / "home" / "state" / FIRST_RUN).unlink()
    return {name: value for name, value in environment.items() if not name.endswith("_API_KEY")}


def chosen(tmp_path: Path) -> str:
    return str(json.loads((tmp_path / "home" / "state" / FIRST_RUN).read_bytes())["choice"])


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_practice_with_the_guide(
    start: Callable[..., Terminal], tmp_path: Path, size: tuple[int, int]
) -> None:
    term = start(size=size)
    term.wait_for("Practice, with a guide")
    term.wait_for("Just look around")
    term.type("\r")
    term.wait_for("takes the suggestion")
    term.wait_gone("Just look around")
    assert chosen(tmp_path) == "practice"
    term.type(CTRL_Q)
    assert term.wait_exit() == 0
    assert term.trouble() == ""


def test_just_looking_is_remembered(start: Callable[..., Terminal], tmp_path: Path) -> None:
    term = start()
    term.wait_for("Just look around")
    term.type(ESC)
    term.wait_for("Tab takes the suggestion")
    assert chosen(tmp_path) == "look"
    term.type(CTRL_Q)
    assert term.wait_exit() == 0
    again = start()
    again.wait_for("Tab takes the suggestion")
    assert "Just look around" not in again.text


def test_leaving_without_a_choice_is_asked_again(start: Callable[..., Terminal]) -> None:
    term = start()
    term.wait_for("Just look around")
    term.type("\x03")
    assert term.wait_exit() == 0
    assert term.trouble() == ""
    start().wait_for("Just look around")


def test_the_current_folder(start: Callable[..., Terminal], tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine\n")
    term = start()
    term.wait_for("Just look around")
    term.type("3")
    term.wait_for(f"{tmp_path.name}/")
    term.wait_for("This is a rehearsal")
    assert chosen(tmp_path) == "here"
    term.type(CTRL_Q)
    assert term.wait_exit() == 0
    assert term.trouble() == ""


def test_a_folder_that_is_named_is_opened_at_once(
    start: Callable[..., Terminal], tmp_path: Path
) -> None:
    term = start(tmp_path)
    term.wait_for("send")
    assert "Just look around" not in term.text
    assert not (tmp_path / "home" / "state" / FIRST_RUN).exists()


def test_keys_are_named_and_no_settings_are_written(
    start: Callable[..., Terminal], environment: dict[str, str], tmp_path: Path
) -> None:
    environment["GROQ_API_KEY"] = "gsk-correct-horse-battery"
    term = start()
    term.wait_for("GROQ_API_KEY is set")
    assert "battery" not in term.output.decode("utf-8", "replace")
    assert not (tmp_path / "home" / "config.toml").exists()

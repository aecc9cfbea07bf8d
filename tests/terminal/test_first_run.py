"""The very first start, with the real binary."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal
from tui.cli.open_app import FIRST_RUN

CTRL_C, CTRL_Q, ESC = "\x03", "\x11", "\x1b"


@pytest.fixture
def environment(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """Nothing was ever started; no key is there."""
    (tmp_path / "home" / "state" / FIRST_RUN).unlink()
    return {name: value for name, value in environment.items() if not name.endswith("_API_KEY")}


def chosen(tmp_path: Path) -> str:
    return str(json.loads((tmp_path / "home" / "state" / FIRST_RUN).read_bytes())["choice"])


def test_the_practice_with_the_guide(
    start: Callable[..., Terminal], environment: dict[str, str], tmp_path: Path
) -> None:
    environment["GROQ_API_KEY"] = "gsk-correct-horse-battery"
    term = start(size=(80, 24))
    term.wait_for("Practice, with a guide")
    term.wait_for("GROQ_API_KEY is set")
    assert "battery" not in term.output.decode("utf-8", "replace")
    term.type("\r")
    term.wait_for("takes the suggestion")
    term.wait_gone("Just look around")
    assert chosen(tmp_path) == "practice"
    assert not (tmp_path / "home" / "config.toml").exists()


def test_it_is_asked_until_it_was_answered(start: Callable[..., Terminal], tmp_path: Path) -> None:
    term = start(size=(40, 12))
    term.wait_for("Just look around")
    term.type(CTRL_C)
    assert term.wait_exit() == 0
    assert term.trouble() == ""
    again = start()
    again.wait_for("Just look around")
    again.type(ESC)
    again.wait_for("Tab takes the suggestion")
    assert chosen(tmp_path) == "look"
    third = start()
    third.wait_for("Tab takes the suggestion")
    assert "Just look around" not in third.text


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

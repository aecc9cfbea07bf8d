"""The very first start, with the real binary."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.stand_in import stand_in
from tests.support.terminal import Terminal
from tests.terminal.conftest import choose_models
from tui.cli.open_app import FIRST_RUN
from tui.settings import load

CTRL_C, ESC = "\x03", "\x1b"


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
    term.wait_gone("This folder")
    assert chosen(tmp_path) == "practice"
    assert not (tmp_path / "home" / "config.toml").exists()


def test_it_is_asked_until_it_was_answered(start: Callable[..., Terminal], tmp_path: Path) -> None:
    term = start(size=(40, 12))
    term.wait_for("This folder")
    term.type(CTRL_C)
    assert term.wait_exit() == 0
    assert term.trouble() == ""
    again = start()
    again.wait_for("This folder")
    again.type(ESC)
    again.wait_for("Tab takes the suggestion")
    assert chosen(tmp_path) == "look"
    third = start()
    third.wait_for("Tab takes the suggestion")
    assert "This folder" not in third.text


def test_this_folder_where_it_is_not_opened_by_itself(
    start: Callable[..., Terminal], tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("mine\n")
    term = start()
    term.wait_for("This folder")
    term.type("2")
    term.wait_for(f"{tmp_path.name}/")
    term.wait_for("This is a rehearsal")
    assert chosen(tmp_path) == "here"
    term.leave()


def test_a_server_of_this_machine_is_connected_and_answers_at_once(
    start: Callable[..., Terminal], tmp_path: Path
) -> None:
    settings = tmp_path / "home" / "config.toml"
    with stand_in(key="") as provider:
        provider.is_provider(tmp_path / "home", local=True)
        term = start(size=(80, 24))
        term.wait_for("2 models on 127.0.0.1")
        term.wait_for("Connect a model              Mine")
        term.type("3")
        term.wait_for("Which provider?")
        term.wait_for("▸ Mine")
        term.type("\r")
        choose_models(term)
        term.type("\r")
        term.wait_for("will say:")
        assert not settings.exists()
        term.type("\r")
        term.wait_for("fast is tiny-8b on mine from now on")
        term.wait_for("deep large-32b")
        provider.asked.clear()
        term.type("count\r")
        term.wait_for("37 38 39 40")
        assert provider.asked == ["tiny-8b"]
    found = load(settings).models
    assert found.fast is not None
    assert found.deep is not None
    assert (found.fast.name, found.fast.endpoint) == ("tiny-8b", "mine")
    assert found.deep.name == "large-32b"
    assert chosen(tmp_path) == "connected"


def test_a_folder_that_is_named_is_opened_at_once(
    start: Callable[..., Terminal], tmp_path: Path
) -> None:
    term = start(tmp_path)
    term.wait_for("send")
    assert "This folder" not in term.text
    assert not (tmp_path / "home" / "state" / FIRST_RUN).exists()

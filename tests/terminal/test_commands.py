"""The real program, and a model that runs commands: asked, answered, stopped, in the background."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.calling_server import CallingServer
from tests.support.terminal import Terminal

ANSWER, CONVERSATION, ESC, UP, QUIT = "\x1bn", "\x1b1", "\x1b", "\x1b[A", "\x11"
WAITS = "touch started && echo begun && sleep 600"

Open = Callable[[CallingServer], Terminal]


@pytest.fixture
def open_on(start: Callable[..., Terminal], work: Path) -> Open:
    def opened(server: CallingServer) -> Terminal:
        term = start("--endpoint", server.address, "--fast", "m", work, size=(120, 36))
        term.wait_for("send")
        term.type("go\r")
        return term

    return opened


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_it_waits_while_the_user_types_and_runs_when_they_say_so(open_on: Open, work: Path) -> None:
    server = CallingServer(["touch yes.txt && echo it ran"], ["touch no.txt"])
    term = open_on(server)
    term.wait_for("waits for you")
    term.type("yn ")
    term.wait_for("❯ yn")
    assert not (work / "yes.txt").exists()
    term.type(ANSWER)
    term.wait_for("May the model run this")
    term.wait_for("touch yes.txt && echo it ran")
    term.type("y")
    term.wait_for("✓ exit 0")
    term.wait_for("it ran")
    assert (work / "yes.txt").exists()
    term.wait_for(lambda text: "touch no.txt" in text and "waits for you" in text)
    term.type(ANSWER)
    term.wait_for("May the model run this")
    term.type("w")
    term.wait_for("refuse")
    term.type("not that file\r")
    term.wait_for(re.compile(r"Done\..*\d tokens", re.DOTALL))
    assert "not that file" in server.outputs[-1]
    assert not (work / "no.txt").exists()
    term.wait_for("not run")
    term.type(f"\x03{QUIT}")
    term.wait_exit()
    assert term.trouble() == ""


def test_it_goes_on_in_the_background_survives_esc_and_is_stopped_by_a_key(
    open_on: Open, work: Path
) -> None:
    server = CallingServer([WAITS], [WAITS])
    term = open_on(server)
    term.wait_for("waits for you")
    term.type(f"{ANSWER}s")
    term.wait_for(lambda text: "begun" in text and "May the model" not in text)
    term.type(CONVERSATION)
    term.wait_for("s stop it")  # of the footer: "b background" stands on the card before, too
    term.type("b")
    term.wait_for(lambda text: text.count("$ touch started") == 2)  # the next one, allowed
    term.wait_for("running")
    term.type(ESC)
    term.wait_for("stopped after")
    term.type("/tasks\r")
    term.wait_for(re.compile(r"1 touch started[^\n]*background"))
    term.type("s")
    term.wait_for(re.compile(r"1 touch started[^\n]*stopped after"))
    term.type(f"q{QUIT}")
    term.wait_exit()
    assert term.trouble() == ""

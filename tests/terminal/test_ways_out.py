"""Whatever ends duetto, the terminal is as it was before."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.terminal import DEADLINE_S, Terminal

Start = Callable[..., Terminal]
DEADLY = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


@pytest.mark.parametrize("number", [*DEADLY, signal.SIGUSR1], ids=lambda number: number.name)
def test_a_signal_while_it_streams(start: Start, number: signal.Signals) -> None:
    term = start("practice")
    term.wait_for("send")
    term.type("make the cache safe for threads\r")
    term.wait_for("Esc stop")
    term.signal(number)
    assert term.wait_exit() == 128 + number
    assert term.trouble() == ""
    assert "Traceback" not in term.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_as_early_as_it_can_come(start: Start, number: signal.Signals) -> None:
    """The terminal is taken, nothing is painted: nobody but the driver can see to it."""
    term = start("practice")
    term.wait_for(lambda _: b"\x1b[?1049h" in term.output)
    term.signal(number)
    assert term.wait_exit() in (128 + number, -number)
    assert term.trouble() == ""
    assert "Traceback" not in term.text


@pytest.mark.parametrize(
    "fault", ["in_handler", "in_timer", "exit_in_handler", "while_composing", "in_paint"]
)
def test_a_fault(environment: dict[str, str], tmp_path: Path, fault: str) -> None:
    command = [sys.executable, "-m", "tests.terminal.crashing", fault]
    with Terminal(command, env=environment, cwd=tmp_path) as term:
        if fault != "while_composing":
            term.wait_for("send")
            term.type("x")
        assert term.wait_exit() != 0
        assert term.trouble() == ""
        assert "Traceback" not in term.text
        if fault == "in_handler":
            assert "internal error (ZeroDivisionError)" in term.text.replace("\n", " ")
    if fault == "in_handler":
        assert "Traceback" in (tmp_path / "home" / "state" / "duetto.log").read_text()


def test_its_bridge_is_killed(start: Start) -> None:
    """A child's death is no reason to die, and none to leave the terminal behind."""
    term = start("practice")
    term.wait_for("send")
    term.type("hello\r")
    term.wait_for("I am duetto's rehearsal model")
    for child in term.children():
        with suppress(ProcessLookupError):  # one of git's may end by itself
            os.kill(child, signal.SIGKILL)
    term.leave()


@pytest.mark.parametrize("number", [None, signal.SIGTERM], ids=["quit", "SIGTERM"])
def test_a_terminal_that_takes_nothing(start: Start, number: signal.Signals | None) -> None:
    """Nobody reads what it writes, and it still hears and ends."""
    term = start("practice", size=(200, 60))
    term.wait_for("send")
    term.type("hello\r")
    for column in range(120, 200):  # frames without end, none of them read
        term.resize(column, 60)
        time.sleep(0.02)
    if number is not None:
        term.signal(number)
    else:
        term.type("\x11y")  # where the answer still runs it asks
    deadline = time.monotonic() + DEADLINE_S
    while term.status is None and time.monotonic() < deadline:
        time.sleep(0.05)
        term._reap()
    assert term.status == (0 if number is None else 128 + number)


def test_the_shell_gets_its_own_modes_back(start: Start) -> None:
    """Colours, wrapping, the cursor and the Kitty protocol's stack, in the order that undoes."""
    term = start("practice")
    term.wait_for("send")
    term.leave()
    end = term.output[term.output.rindex(b"\x1b[?2026l") :]
    assert b"\x1b[0m" in end
    assert end.index(b"\x1b[<u") < end.index(b"\x1b[?1049l") < end.index(b"\x1b[?25h")
    pushed = len(re.findall(rb"\x1b\[>\d+u", term.output))
    assert pushed == len(re.findall(rb"\x1b\[<u", term.output)) == 1
    told = re.findall(rb"\x1b\]([^;]*;?[^\x07\x1b]*)", term.output)
    assert told[-1] == b"22;"  # the mouse's pointer; no title, no colour of the terminal's
    asked = b"11;?"  # which colour is behind the text: nothing is changed by that
    assert all(words.startswith(b"22;") or words == asked for words in told)

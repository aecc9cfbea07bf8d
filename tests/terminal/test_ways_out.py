"""Whatever ends duetto, the terminal is as it was before."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.terminal import DEADLINE_S, Terminal
from tests.terminal.crashing import HANGING

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
        status = term.wait_exit()
        assert term.trouble() == ""
        assert "Traceback" not in term.text
        if fault == "in_handler":
            assert "internal error (ZeroDivisionError)" in term.text.replace("\n", " ")
        if fault == "exit_in_handler":
            assert status == 3
            assert "internal error" not in term.text
        assert status != 0
    if fault == "in_handler":
        assert "Traceback" in (tmp_path / "home" / "state" / "duetto.log").read_text()


@pytest.mark.parametrize("fault", HANGING)
@pytest.mark.parametrize("number", [None, signal.SIGTERM], ids=["quit", "SIGTERM"])
def test_what_hangs_is_left(
    environment: dict[str, str], tmp_path: Path, fault: str, number: signal.Signals | None
) -> None:
    """Whatever does not end: the terminal is given back, and the process ends."""
    command = [sys.executable, "-m", "tests.terminal.crashing", fault]
    with Terminal(command, env=environment, cwd=tmp_path) as term:
        term.wait_for("send")
        if number is None:
            term.type("\x11")
        else:
            term.type("zebra")
            term.wait_for("zebra")
            term.signal(number)
        assert term.wait_exit(hangs=True) == (0 if number is None else 128 + number)
        assert term.trouble() == ""
    assert (b"a draft not saved: kept in" in term.output) == (number is not None)
    assert "thread" in (tmp_path / "home" / "state" / "duetto.log").read_text().lower()


def test_a_signal_while_the_event_loop_hangs(environment: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.terminal.crashing", "loop_hangs"]
    with Terminal(command, env=environment, cwd=tmp_path) as term:
        term.wait_for("send")
        term.type("x")
        term.wait_until((tmp_path / "it hangs").exists)
        term.signal(signal.SIGTERM)
        assert term.wait_exit(hangs=True) == 128 + signal.SIGTERM
        assert term.trouble() == ""
    assert b"a draft not saved: kept in" in term.output


@pytest.mark.parametrize("fault", HANGING)
@pytest.mark.parametrize("arguments", [("exec", "hello"), ("--linear",)], ids=["exec", "linear"])
def test_what_hangs_without_a_screen_is_left(
    environment: dict[str, str], tmp_path: Path, fault: str, arguments: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.terminal.crashing", fault, *arguments],
        cwd=tmp_path,
        env=environment,
        input="/quit\n",
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0
    assert "not everything ended within" in done.stderr


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

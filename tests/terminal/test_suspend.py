"""SIGTSTP and SIGCONT: the shell gets its terminal, and duetto gets it back."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import ALT_SCREEN, DEADLINE_S, Terminal

Start = Callable[..., Terminal]


def state(pid: int) -> str:
    """A letter: R runs, S sleeps, T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def wait_stopped(term: Terminal) -> None:
    """Read until the process is stopped."""
    deadline = time.monotonic() + DEADLINE_S
    while state(term.pid) != "T":
        assert time.monotonic() < deadline, "it was not stopped"
        term.pump(0.02)
    while term.pump(0.05):  # what it wrote before
        pass


def wait_for_the_shell(term: Terminal) -> None:
    """Read until its prompt is there again: duetto drops what is typed while it leaves."""
    term.wait_for(lambda _: not term.modes[ALT_SCREEN])
    term.wait_for(lambda _: term.output.endswith(b"$ "))


def ready(term: Terminal) -> str:
    """Wait for the first picture; returns it."""
    term.wait_for("send")
    return picture(term.settle())


def picture(text: str) -> str:
    """The screen without its status line: what is said of the connection may change."""
    lines = text.splitlines()
    return "\n".join([*lines[:-2], lines[-1]])


def test_it_leaves_and_comes_back(start: Start) -> None:
    term = start("practice")
    shown = ready(term)
    for _ in range(3):
        term.signal(signal.SIGTSTP)
        wait_stopped(term)
        assert term.trouble() == ""
        term._screen.reset()  # the shell's output
        term.signal(signal.SIGCONT)
        term.wait_for(lambda text: picture(text) == shown)
        assert term.kitty_depth == 1
    term.type("still here")
    term.wait_for("❯ still here")


def test_it_comes_back_in_another_size(start: Start) -> None:
    term = start("practice", size=(80, 24))
    ready(term)
    term.signal(signal.SIGTSTP)
    wait_stopped(term)
    term._screen.reset()
    term.resize(140, 40)
    term.signal(signal.SIGCONT)
    term.wait_for("No file is open")
    assert len(term.lines) == 40
    term.type("x")
    term.wait_for("❯ x")


def test_a_stop_that_nobody_can_notice_is_made_good(start: Start) -> None:
    """SIGSTOP: the shell has written over the screen and set its own modes."""
    term = start("practice")
    shown = ready(term)
    term.signal(signal.SIGSTOP)
    wait_stopped(term)
    term._screen.reset()
    term.signal(signal.SIGCONT)
    term.wait_for(lambda text: picture(text) == shown)
    assert term.kitty_depth == 1
    term.leave()


def test_a_signal_while_it_is_stopped_ends_it(start: Start) -> None:
    term = start("practice")
    ready(term)
    term.signal(signal.SIGTSTP)
    wait_stopped(term)
    term.signal(signal.SIGTERM)
    term.signal(signal.SIGCONT)
    assert term.wait_exit() == 128 + signal.SIGTERM
    assert term.trouble() == ""


@pytest.fixture
def shell(environment: dict[str, str], tmp_path: Path) -> list[str]:
    """A shell with job control that has nothing of this machine's set up."""
    found = shutil.which("bash")
    assert found is not None, "bash runs the tests of job control"
    return [found, "--norc", "--noprofile", "-i"]


def test_in_a_shell_with_jobs(
    shell: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    env = environment | {"PS1": "$ ", "HISTFILE": "", "INPUTRC": os.devnull}
    with Terminal(shell, env=env, cwd=tmp_path) as term:
        term.wait_for("$")
        term.type(f"{sys.executable} -m tui.cli\n")
        term.wait_for("send")
        term.settle()
        term.type("/suspend\r")
        term.wait_for("Stopped")
        term.type("stty -a | grep -o ' echo '; echo one''two\n")
        term.wait_for("onetwo")
        assert " echo" in term.text
        term.type("fg\n")
        term.wait_for("❯")
        term.wait_gone("onetwo")
        term.type("x")
        term.wait_for("❯ x")
        term.type("\x11")
        term.wait_for("y  Leave")
        term.type("y")
        wait_for_the_shell(term)
        term.type("echo three''four\n")
        term.wait_for("threefour")
        term.type("exit\n")
        term.wait_exit()


def test_in_the_background_it_waits_for_the_terminal(
    shell: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    env = environment | {"PS1": "$ ", "HISTFILE": "", "INPUTRC": os.devnull}
    with Terminal(shell, env=env, cwd=tmp_path) as term:
        term.wait_for("$")
        term.type(f"set -b; {sys.executable} -m tui.cli &\n")  # a job that stops is told at once
        term.wait_for("Stopped")
        term.type("fg\n")
        term.wait_for("send")
        term.type("\x11")
        wait_for_the_shell(term)
        term.type("exit\n")
        term.wait_exit()

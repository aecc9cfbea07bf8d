"""Starting and ending: the terminal is as it was before, whatever happens."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

Start = Callable[..., Terminal]
READY = "send"
QUIT = "\x11"


def test_it_starts_on_the_practice_workspace_and_quits(start: Start, practice: Path) -> None:
    term = start()
    for words in ("Tab takes the suggestion", "REHEARSAL", "practice/"):
        term.wait_for(words)
    assert (practice / "README.md").exists()
    term.type(QUIT)
    assert term.wait_exit() == 0
    assert term.trouble() == ""


def test_with_a_model_of_ones_own_it_starts_on_the_current_folder(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("mine\n")
    term = start("--endpoint", "ws://127.0.0.1:9/v1/responses", "--fast", "m")
    shown = term.wait_for(READY)
    assert f"{tmp_path.name}/" in shown
    assert "practice/" not in shown


def test_the_screen_is_ready_for_typing_at_once(start: Start) -> None:
    term = start()
    term.wait_for(READY)
    term.type("hello there")
    term.wait_for("❯ hello there")


@pytest.mark.parametrize("size", [(80, 24), (40, 12)], ids=["80x24", "40x12"])
def test_it_is_usable_when_small(start: Start, size: tuple[int, int]) -> None:
    term = start(size=size)
    term.wait_for(READY)
    term.type("hi")
    term.wait_for("❯ hi")
    term.type(QUIT)
    term.wait_for("A draft")
    term.type("y")
    assert term.wait_exit() == 0
    assert term.trouble() == ""


def test_growing_and_shrinking(start: Start) -> None:
    term = start(size=(80, 24))
    term.wait_for(READY)
    term.wait_gone("No file is open")
    term.resize(140, 40)
    term.wait_for("No file is open")
    term.resize(60, 15)
    term.wait_gone("No file is open")
    term.type("still here")
    term.wait_for("❯ still here")


def test_a_file_with_a_place_is_shown(start: Start, tmp_path: Path) -> None:
    lines = "".join(f"line {number}\n" for number in range(1, 201))
    (tmp_path / "long.txt").write_text(lines)
    term = start("long.txt:150:3")
    shown = term.wait_for("line 150")
    assert "long.txt" in shown
    assert "line 1\n" not in shown
    term.wait_for("150:3")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
def test_a_signal_ends_it_in_order(start: Start, number: signal.Signals) -> None:
    term = start()
    term.wait_for(READY)
    term.signal(number)
    assert term.wait_exit() == 128 + number
    assert term.trouble() == ""


def test_ctrl_c_twice_quits(start: Start) -> None:
    term = start()
    term.wait_for(READY)
    term.type("a draft")
    term.wait_for("❯ a draft")
    term.type("\x03")
    term.wait_gone("❯ a draft")
    assert term.status is None
    term.type("\x03")
    term.settle(0.1)
    term.type("\x03")
    assert term.wait_exit() == 0
    assert term.trouble() == ""


def test_its_bridge_ends_with_it(start: Start) -> None:
    """Even when duetto is killed and can tidy nothing."""
    term = start()
    term.wait_for(READY)
    term.type("hello\r")
    term.wait_for("I am duetto's rehearsal model")
    children = [
        int(child)
        for task in Path(f"/proc/{term.pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    assert children
    term.signal(signal.SIGKILL)
    assert term.wait_exit() == -signal.SIGKILL
    for _ in range(100):
        if not any(running(child) for child in children):
            break
        term.settle(0.05, 0.05)
    assert not any(running(child) for child in children)


def running(pid: int) -> bool:
    """Whether a process is there and not only a name."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False

"""Starting and ending: the terminal is as it was before, whatever happens."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.support.terminal import DEADLINE_S, Terminal

Start = Callable[..., Terminal]
READY = "send"


def test_it_starts_on_the_practice_workspace_and_quits(start: Start, practice: Path) -> None:
    term = start("practice")
    for words in ("Tab takes the suggestion", "REHEARSAL", "practice/"):
        term.wait_for(words)
    assert (practice / "README.md").exists()
    term.leave()


def test_with_a_model_of_ones_own_it_starts_on_the_current_folder(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("mine\n")
    term = start("--endpoint", "ws://127.0.0.1:9/v1/responses", "--fast", "m", ".")
    shown = term.wait_for(READY)
    assert f"{tmp_path.name}/" in shown
    assert "practice/" not in shown


def test_its_bridge_ends_with_it(start: Start) -> None:
    """Even when duetto is killed and can tidy nothing."""
    term = start("practice")
    term.wait_for(READY)
    term.type("hello\r")
    term.wait_for("I am duetto's rehearsal model")
    watched: list[int] = []
    for child in term.children():
        with suppress(ProcessLookupError):  # one of git's may end by itself
            watched.append(os.pidfd_open(child))
    assert watched
    term.signal(signal.SIGKILL)
    assert term.wait_exit() == -signal.SIGKILL
    for child in watched:
        assert select.select([child], [], [], DEADLINE_S)[0], "it has not ended"
        os.close(child)

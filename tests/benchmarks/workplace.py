"""Where the real program is measured: a folder, a home of its own, its prompt, and its keys."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.screen.terminal import Emulator, PseudoTerminal
from tests.support.commands import clean_environment
from tui.cli.open_app import FIRST_RUN

MODEL = """
[endpoints.here]
url = "ws://127.0.0.1:{port}/v1/responses"
kind = "responses-ws"
[models.fast]
name = "m"
endpoint = "here"
"""
"""Settings whose model is at a port of this machine."""


@contextmanager
def workplace(settings: str = "") -> Iterator[tuple[Path, dict[str, str]]]:
    """An empty folder, and the environment of a program that was started before."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        home, folder = Path(place) / "home", Path(place) / "work"
        (home / "state").mkdir(parents=True, mode=0o700)
        (home / "state" / FIRST_RUN).write_text("{}\n")
        if settings:
            (home / "config.toml").write_text(f"schema = 1\n{settings}")
        folder.mkdir()
        yield folder, clean_environment(home)


def ready(terminal: PseudoTerminal) -> None:
    """Wait for its prompt."""
    terminal.quits_with(b"\x11")
    terminal.rest(0.5)
    terminal.quiet(0.4, 10.0)
    terminal.rest(1.0)


def ask(terminal: PseudoTerminal, then_s: float) -> None:
    """Send a prompt, and let so much time pass."""
    terminal.write(b"go")
    terminal.rest(0.3)
    terminal.write(b"\r")
    terminal.rest(then_s)


def waits_ms(
    terminal: PseudoTerminal, emulator: Emulator, pressed: Sequence[tuple[float, str]]
) -> list[float]:
    """From each key to its echo, the shortest first; 10 s where there was none."""
    terminal.rest(0.3)
    picture = emulator.read(terminal.take(), [text for _, text in pressed])
    return sorted((picture.seen.get(text, at_s + 10.0) - at_s) * 1000 for at_s, text in pressed)


def p95(ranked: Sequence[float]) -> float:
    """What 95 of 100 do not exceed."""
    return ranked[int(0.95 * len(ranked))]

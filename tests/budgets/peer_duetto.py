"""duetto as a peer of the bench: how it is started, what says that it is ready, its keys."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.budgets.bench import pty_bench

ROOT = Path(__file__).resolve().parents[2]


class Duetto(pty_bench.Peer):
    """``duetto`` on the replay server's Responses WebSocket."""

    name = "duetto"
    tty_ready = r"replay"
    submit = b"\r"
    interrupt = b"\x1b"
    quit = b"\x11"
    settle = 0.3
    """Seconds of silence that mean it is ready; its cursor blinks twice a second."""

    def setup(self) -> None:
        """Give it a home of its own, and an empty workspace."""
        home = Path(pty_bench.HOMES) / self.name
        home.mkdir(parents=True, exist_ok=True)
        Path(pty_bench.WORK).mkdir(parents=True, exist_ok=True)
        self.env = {"DUETTO_HOME": str(home), "PYTHONPATH": str(ROOT)}
        url = f"ws://127.0.0.1:{pty_bench.PORT}/v1/responses"
        models = ["--endpoint", url, "--fast", "replay", "--deep", "replay"]
        self.argv = [*command(), *models, pty_bench.WORK]


def command() -> list[str]:
    """The installed script beside this interpreter, else the module (slower by its start)."""
    script = Path(sys.executable).with_name("duetto")
    if script.exists() and os.access(script, os.X_OK):
        return [str(script)]
    return [sys.executable, "-m", "tui.cli"]

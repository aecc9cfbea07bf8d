"""Duetto as the client of another make's bench, to compare its figures with ``ui``.

    python -m tests.benchmarks.peer_duetto BENCH MODE[,MODE] [RATE:TOKENS[,RATE:TOKENS] [REPEATS]]

BENCH is the folder of that bench: `pty_bench.py`, which drives a terminal client, and
`replay_server.py`, which is started here on a free port. Modes: startup stream keys esc. Prints a
JSON object a run.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.screen import clients


@contextlib.contextmanager
def replay_server(bench: Path) -> Iterator[int]:
    """The bench's server; gives its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, str(bench / "replay_server.py"), "--port", str(port)]
    process = subprocess.Popen(command)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/log", timeout=5).close()
                break
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def peer(bench: Any, port: int, base: Path) -> type:
    """The bench's class for us: how it is started, what says that it is ready, its keys."""

    def setup(self: Any) -> None:
        home, work = base / "homes/duetto", Path(bench.WORK)
        for folder in (home, work):
            folder.mkdir(parents=True, exist_ok=True)
        client = clients.duetto(clients.Place(port, home, work), str(work))
        self.argv, self.env = list(client.command), client.environment

    facts = {"name": "duetto", "tty_ready": "replay", "quit": b"\x11", "settle": 0.3}
    return type("Duetto", (bench.Peer,), {**facts, "setup": setup})


def main() -> None:
    """Run the bench's own command line with us as its peer."""
    folder = Path(sys.argv[1]).resolve()
    with replay_server(folder) as port, tempfile.TemporaryDirectory() as base:
        # it reads both when it is imported
        os.environ["PORT"], os.environ["BENCH_BASE"] = str(port), base
        sys.path.insert(0, str(folder))
        bench = importlib.import_module("pty_bench")
        bench.add_peer(peer(bench, port, Path(base)))
        sys.argv[1:] = ["duetto", *sys.argv[2:3], *(sys.argv[3:] or ["1000:4000"])]
        bench.main()


if __name__ == "__main__":
    main()

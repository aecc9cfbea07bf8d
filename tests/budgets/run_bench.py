"""Measures duetto from outside: ``python -m tests.budgets.run_bench [MODE ...] [--rate N] ...``.

Modes: ``startup`` (to the first paint and the first echoed key), ``stream`` (lag of the painted
text, CPU), ``keys`` (echo while it streams), ``esc`` (key to wire). Prints one table with the
bounds; exit status 1 when a figure is beyond its bound.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

MODES = ("startup", "stream", "keys", "esc")
BENCH = Path(__file__).with_name("bench")

Figures = Mapping[str, float | int | str | None]

COLUMNS: dict[str, tuple[tuple[str, str, float | None], ...]] = {
    "startup": (
        ("first_paint", "first paint ms", 600.0),
        ("key_echo", "first key echoed ms", None),
        ("cpu_startup", "CPU s", None),
        ("idle_cpu_pct", "idle CPU %", None),
        ("rss_idle", "RSS MB", None),
    ),
    "stream": (
        ("lag50", "paint lag p50 ms", None),
        ("lag95", "paint lag p95 ms", 50.0),
        ("lagmax", "paint lag max ms", None),
        ("drain", "drain ms", 50.0),
        ("cpu_per_1k", "CPU s per 1,000 tokens", 0.5),
        ("bytes_per_tok", "terminal bytes per token", None),
        ("updates_s", "screen updates per s", None),
        ("marks", "marks painted", None),
    ),
    "keys": (
        ("key50", "key echo p50 ms", None),
        ("key95", "key echo p95 ms", None),
        ("keymax", "key echo max ms", None),
        ("keys", "keys echoed", None),
    ),
    "esc": (
        ("esc_wire", "Esc to wire ms", None),
        ("esc_text", "Esc to last new text ms", None),
        ("cancel_how", "how", None),
    ),
}
"""Mode -> (key of pty_bench, what it is, bound)."""


def main() -> int:
    """Run the modes and print the figures; returns the exit status."""
    parser = argparse.ArgumentParser("run_bench", description=__doc__)
    parser.add_argument("modes", nargs="*", metavar="MODE", help=", ".join(MODES))
    parser.add_argument("--rate", type=int, default=1000, help="tokens/s")
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--reps", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object a run")
    asked = parser.parse_args()
    if unknown := set(asked.modes) - set(MODES):
        parser.error(f"no mode {', '.join(sorted(unknown))}: {', '.join(MODES)}")
    late = 0
    with replay_server() as port, tempfile.TemporaryDirectory() as base:
        for mode in asked.modes or MODES:
            runs = [
                measured(mode, asked.rate, asked.tokens, (port, base)) for _ in range(asked.reps)
            ]
            if asked.json:
                print("\n".join(json.dumps(run) for run in runs), flush=True)
            late += shown(mode, runs)
    return int(late > 0)


@contextlib.contextmanager
def replay_server() -> Iterator[int]:
    """The bench's server on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(BENCH / "replay_server.py"), "--port", str(port)]
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


def measured(mode: str, rate: int, tokens: int, place: tuple[int, str]) -> Figures:
    """One run; ``place`` is the server's port and a folder for homes and workspaces."""
    os.environ["PORT"], os.environ["BENCH_BASE"] = str(place[0]), place[1]
    # imported late: it reads its port and its folder when it is imported
    from tests.budgets.bench import pty_bench
    from tests.budgets.peer_duetto import Duetto

    pty_bench.add_peer(Duetto)
    figures: Figures = pty_bench.run_one(Duetto.name, mode, rate, tokens, bool(os.environ.get("V")))
    return figures


def shown(mode: str, runs: list[Figures]) -> int:
    """Print the medians of a mode; returns how many are beyond their bound."""
    print(f"\n{mode} ({len(runs)} run{'s' * (len(runs) > 1)})")
    for trouble in (run["error"] for run in runs if "error" in run):
        print(f"  error: {trouble}")
    beyond = sum("error" in run for run in runs)
    for key, title, bound in COLUMNS[mode]:
        values = [value for run in runs if (value := run.get(key)) is not None]
        if not values:
            print(f"  {title:<26} -")
            beyond += bound is not None
            continue
        numbers = [value for value in values if isinstance(value, (int, float))]
        value = statistics.median(numbers) if numbers else values[0]
        late = bound is not None and isinstance(value, (int, float)) and value > bound
        beyond += late
        verdict = "" if bound is None else f"  {'BEYOND' if late else 'within'} {bound:g}"
        print(f"  {title:<26} {value}{verdict}")
    return beyond


if __name__ == "__main__":
    sys.exit(main())

"""What a person feels, and how memory grows, while a server floods the program with frames.

Run ``python -m tests.benchmarks.flood_cost [--by ws,wss,bridge] [--server FILE] [NAME ...]``. For
each
behaviour of `tests.support.floods` (or of another script that takes the same arguments) the real
app types in a pseudo-terminal, then presses Esc; the real ``exec`` gets SIGINT. Printed are the
95th percentile of a key's echo, the time from Esc to "stopped" and from SIGINT to the exit in
milliseconds, the exit code, the growth of memory in MB, and what was said where the turn was over
before. `BUDGETS` says what is allowed; exit status 1: something is beyond it.
"""

from __future__ import annotations

import argparse
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import trustme

from tests.benchmarks import processes
from tests.benchmarks.screen.measurement import pressed_keys
from tests.benchmarks.screen.terminal import Emulator, PseudoTerminal
from tests.benchmarks.workplace import MODEL, ask, p95, ready, waits_ms, workplace
from tests.support.commands import DUETTO
from tests.support.floods import FLOODS
from tests.support.sources import ROOT

BUDGETS = {"key": 50.0, "esc": 100.0, "sigint": 500.0, "grown": 50.0}
ROADS = ("ws", "wss", "bridge")
ASKED_S = 5.0
"""Until the first word of an answer, at most."""
BEGUN_S = 2.0
"""Behind it, until keys are typed or a signal is sent."""
TYPED_S = 4.0
CONFIG = f"""[endpoints.gone]
url = "ws://127.0.0.1:9/v1/responses"
kind = "responses-ws"{MODEL}
fallbacks = ["gone/m"]
"""
"""A model that has fallbacks is asked through the bridge."""


@dataclass
class Felt:
    """One behaviour over one road; milliseconds and MB, None: the turn was over before."""

    key: float | None = None
    esc: float | None = None
    sigint: float | None = None
    grown: float = 0.0
    code: int | None = None
    said: str = ""

    @property
    def beyond(self) -> list[str]:
        """What is more than allowed."""
        found = [name for name, most in BUDGETS.items() if (getattr(self, name) or 0.0) > most]
        interrupted = self.sigint is None or self.code == 130
        return found if interrupted else [*found, "code"]


@dataclass
class Stand:
    """Where one behaviour is measured."""

    folder: Path
    arguments: list[str]
    environment: dict[str, str]

    def exec(self, felt: Felt) -> None:
        """A turn without a screen, interrupted."""
        process = subprocess.Popen(
            [*DUETTO, "exec", "go", *self.arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        select.select([process.stdout], [], [], ASKED_S)  # some floods come without a word
        threading.Thread(target=process.stdout.read, daemon=True).start()
        peak, until = Peak(process.pid), time.monotonic() + BEGUN_S
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
            peak.look()
        if process.poll() is None:
            pressed_s = time.monotonic()
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
            felt.sigint = (time.monotonic() - pressed_s) * 1000
        assert process.stderr is not None
        felt.code = process.wait()
        felt.said = process.stderr.read().decode(errors="replace").strip().splitlines()[-1:] or [""]
        felt.said = felt.said[0][:150]
        felt.grown = max(felt.grown, peak.grown)

    def app(self, felt: Felt) -> None:
        """A turn on the screen: keys, then Esc."""
        emulator = Emulator()
        command = [*DUETTO, *self.arguments, "."]
        with PseudoTerminal(command, self.environment, self.folder) as terminal:
            ready(terminal)
            peak = Peak(terminal.pid)
            ask(terminal, BEGUN_S + 1.0)
            peak.look()
            pressed = pressed_keys(terminal, time.monotonic() + TYPED_S)
            peak.look()
            felt.key = p95(waits_ms(terminal, emulator, pressed))
            if felt.sigint is not None:  # else the turn is over here, too
                felt.esc = self._stopped(terminal, emulator)
            peak.look()
        felt.grown = max(felt.grown, peak.grown)

    def _stopped(self, terminal: PseudoTerminal, emulator: Emulator) -> float | None:
        """From Esc to the word; None: the turn was over before."""
        if re.search(r"stopped|was lost|could not answer|incomplete|The turn was", emulator.text):
            return None
        pressed_s, seen_s = terminal.write(b"\x1b"), None
        while seen_s is None and time.monotonic() < pressed_s + 15.0:
            terminal.rest(0.05)
            for at_s, rows in emulator.changes(terminal.take()):
                if seen_s is None and any("stopped" in row for row in rows):
                    seen_s = at_s
        return ((seen_s or pressed_s + 15.0) - pressed_s) * 1000


class Peak:
    """The most memory of a process and of what it started, over what it had at first."""

    def __init__(self, pid: int) -> None:
        self._pid, self._first, self._most = pid, 0.0, 0.0
        self.look()

    def look(self) -> None:
        """Look now."""
        rss_mb = processes.usage([self._pid]).rss_mb
        self._first = self._first or rss_mb if rss_mb > 30 else 0.0
        self._most = max(self._most, rss_mb)

    @property
    def grown(self) -> float:
        """In MB."""
        return self._most - (self._first or self._most)


@contextmanager
def stand(name: str, road: str, server: list[str]) -> Iterator[Stand]:
    """A server with this behaviour, and a program that is set up for it."""
    with workplace() as (work, environment):
        folder, tls = work.parent, list[str]()
        if road == "wss":
            authority = trustme.CA()
            issued = authority.issue_cert("localhost", "127.0.0.1")
            authority.cert_pem.write_to_path(str(folder / "ca.pem"))
            issued.cert_chain_pems[0].write_to_path(str(folder / "cert.pem"))
            issued.private_key_pem.write_to_path(str(folder / "key.pem"))
            tls = [str(folder / "cert.pem"), str(folder / "key.pem")]
            environment["SSL_CERT_FILE"] = str(folder / "ca.pem")
        process = subprocess.Popen(
            [*server, name, *tls],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline())
            arguments = ["--endpoint", f"{road}://localhost:{port}/v1/responses", "--fast", "m"]
            if road == "bridge":
                config = Path(environment["DUETTO_HOME"]) / "config.toml"
                config.write_text(f"schema = 1\n{CONFIG.format(port=port)}")
                arguments = []
            yield Stand(work, arguments, environment)
        finally:
            process.stdin.close()
            process.wait(10)


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--by", default=",".join(ROADS))
    parser.add_argument("--server", type=Path)
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args()
    server = [sys.executable, "-m", "tests.support.floods"]
    if chosen.server is not None:
        server = [sys.executable, str(chosen.server)]
    print(f"{'':22}  key p95     Esc  SIGINT  code  memory  (ms, MB)", flush=True)
    over = False
    for name in chosen.names or FLOODS:
        for road in chosen.by.split(","):
            felt = Felt()
            with stand(name, road, server) as place:
                place.exec(felt)
                place.app(felt)
            figures = [
                f"{value:7.0f}" if value is not None else "   over"
                for value in (felt.key, felt.esc, felt.sigint)
            ]
            beyond = f"  BEYOND: {', '.join(felt.beyond)}" if felt.beyond else ""
            print(
                f"{name:14} {road:6} {' '.join(figures)}  {felt.code!s:>5} {felt.grown:6.0f}"
                f"  {felt.said}{beyond}",
                flush=True,
            )
            over |= bool(felt.beyond)
    return int(over)


if __name__ == "__main__":
    sys.exit(main())

"""What a person feels with very many hunks in one patch: keys, Esc, the review, decisions.

Run ``python -m tests.benchmarks.hunks_cost [--hunks N] [--files N]``. The real app, in a
pseudo-terminal, gets one apply_patch call from a server of ours. Printed is the processor time
that the program has spent from a key to its echo, in milliseconds, as the wall clock of a busy
machine says little, with what it spent on the patch meanwhile; beside it that clock. `BUDGETS`
says what is allowed of the first; exit status 1: something is beyond it, or a file is not as it
must be. Fewer than 10,000 hunks may all be there before a key is pressed. Then the memory
before the turn, while all hunks wait, and after they were decided on. Linux only (schedstat).
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))


from tests.benchmarks.screen.terminal import Emulator, Piece, PseudoTerminal
from tests.benchmarks.workplace import workplace
from tests.support.commands import DUETTO
from tests.support.patch_server import PatchServer, made
from tui.engine.decisions import IDLE_S

BUDGETS = {"key": 50.0, "esc": 100.0}
KEYS = 20
WITHIN_S = 20.0
LETTERS = [*map(chr, range(0x410, 0x450)), *map(chr, range(0x3B1, 0x3C9))]
"""They stand nowhere else, so an echo cannot be anything else."""


class Feeler:
    """Presses keys, and waits for what they do."""

    def __init__(self, terminal: PseudoTerminal) -> None:
        self._terminal = terminal
        self._letters = itertools.cycle(LETTERS)
        self._emulator = Emulator()
        self._spent_ns: dict[str, int] = {}
        """By the threads' ids."""
        self.beyond: list[str] = []

    def spent_ms(self) -> float:
        """Processor time of all threads of the program, those that have ended too."""
        for one in Path(f"/proc/{self._terminal.pid}/task").glob("*/schedstat"):
            with suppress(FileNotFoundError, ProcessLookupError):
                self._spent_ns[one.parent.name] = int(one.read_text().split()[0])
        return sum(self._spent_ns.values()) / 1e6

    def memory_mb(self) -> float:
        """What the program holds in memory now."""
        status = Path(f"/proc/{self._terminal.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def press(self, keys: bytes, echo: str) -> tuple[float, float]:
        """Processor time, and time, until this stands in a row that changes."""
        self._emulator.read(self._terminal.take())
        spent_ms, seen_s = self.spent_ms(), 0.0
        pressed_s = self._terminal.write(keys)
        while not seen_s and time.monotonic() < pressed_s + WITHIN_S:
            time.sleep(0.001)
            spent, pieces = self.spent_ms() - spent_ms, self._terminal.take()
            for at_s, rows in self._emulator.changes(pieces):
                if any(echo in row for row in rows):
                    seen_s = seen_s or at_s
        return spent, ((seen_s or time.monotonic()) - pressed_s) * 1000

    def letter(self, letter: str) -> tuple[float, float]:
        """Processor time, and time, until this letter, which stands nowhere else, is written.

        To make a picture of what is written takes longer than to write it, and the program works
        on meanwhile: that comes after.
        """
        self._emulator.read(self._terminal.take())
        spent_ms, pieces, written = self.spent_ms(), list[Piece](), b""
        at_s = pressed_s = self._terminal.write(letter.encode())
        while letter.encode() not in written and at_s < pressed_s + WITHIN_S:
            time.sleep(0.001)
            at_s, spent, taken = time.monotonic(), self.spent_ms() - spent_ms, self._terminal.take()
            pieces += taken
            written += b"".join(piece for _, piece in taken)
        self._emulator.read(pieces)
        return spent, (at_s - pressed_s) * 1000

    def keys(self, when: str) -> None:
        """Type in the prompt."""
        waits = []
        for letter in itertools.islice(self._letters, KEYS):
            waits.append(self.letter(letter))
            self._terminal.rest(0.1)
        self._terminal.write(b"\x7f" * KEYS)
        self.tell(f"key, {when}", waits, "key")

    def tell(self, what: str, waits: Sequence[tuple[float, float]], budget: str = "") -> None:
        """Print the 95th percentiles, and judge the first."""
        at = math.ceil(0.95 * len(waits)) - 1
        spent, lasted = (sorted(one[part] for one in waits)[at] for part in (0, 1))
        over = budget and spent > BUDGETS[budget]
        self.beyond += [what] if over else []
        print(f"{what:32} {spent:7.0f} {lasted:7.0f}{'  BEYOND' if over else ''}", flush=True)

    def settle(self, within_s: float = 600.0) -> None:
        """Wait until the program has nothing to do any more."""
        until, still = time.monotonic() + within_s, 0
        while still < 8 and time.monotonic() < until:
            spent_ms = self.spent_ms()
            self._terminal.rest(0.25)
            still = still + 1 if self.spent_ms() - spent_ms < 20 else 0
        self._emulator.read(self._terminal.take())


def measure(hunks: int, files: int, *, stop: bool) -> list[str]:
    """One turn; ``stop``: with Esc in its middle, else to its end. Returns what is beyond."""
    before, after, patch = made(hunks, files)
    server = PatchServer(patch)
    with workplace() as (work, environment):
        for path, text in before.items():
            (work / path).write_text(text)
        address = f"ws://127.0.0.1:{server.port}/v1/responses"
        command = [*DUETTO, "--endpoint", address, "--fast", "m", "."]
        with PseudoTerminal(command, environment, work) as terminal:
            feeler = Feeler(terminal)
            terminal.quits_with(b"\x11")
            terminal.quiet(1.0, 20.0)
            terminal.write(b"go")
            terminal.rest(0.5)
            held_mb = [feeler.memory_mb()]
            terminal.write(b"\r")
            terminal.rest(3.0)
            if stop:
                feeler.tell("Esc", [feeler.press(b"\x1b", "stopped")], "esc")
                return feeler.beyond
            feeler.keys("while it streams")
            server.ended.wait()
            feeler.settle()
            held_mb.append(feeler.memory_mb())
            feeler.keys("after the turn")
            feeler.tell("the review", [feeler.press(b"\x1b[18~", "pending")])
            feeler.settle()
            feeler.tell(
                "n, in the review", [feeler.press(b"n", "accept") for _ in range(KEYS)], "key"
            )
            terminal.write(b"\x1b")
            feeler.settle()
            terminal.write(b"\x1ba")
            feeler.keys("while all is accepted")
            feeler.settle()
            terminal.rest(IDLE_S + 1.0)
            feeler.settle()
            held_mb.append(feeler.memory_mb())
            more = f"{held_mb[-1] / held_mb[0] - 1:+8.0%}"
            print("MB before, waiting, decided     ", *(f"{one:7.0f}" for one in held_mb), more)
        wrong = [path for path, text in after.items() if (work / path).read_text() != text]
    return [*feeler.beyond, *(f"{path} is not as it must be" for path in wrong)]


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--hunks", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=20)
    chosen = parser.parse_args()
    print(f"{chosen.hunks:,} hunks in {chosen.files} files           CPU ms      ms", flush=True)
    beyond = [
        one for stop in (True, False) for one in measure(chosen.hunks, chosen.files, stop=stop)
    ]
    print("\n".join(beyond))
    return int(bool(beyond))


if __name__ == "__main__":
    sys.exit(main())

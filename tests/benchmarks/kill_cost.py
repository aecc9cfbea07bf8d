"""How old the oldest key is that a `kill -9` loses.

Run ``python -m tests.benchmarks.kill_cost [--linear] [--kills N] [--keys-s N]``. The real program,
in
a pseudo-terminal, is typed to at a steady pace and killed in the middle of that; then what the next
duetto would offer is read. Printed are, in milliseconds, how long before each kill the first key
was pressed that is not there; exit status 1: more than a second, which is what the docs promise.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.workplace import workplace
from tests.support.commands import DUETTO
from tests.support.terminal import Terminal
from tui.effects.rescue import RescueFolders

PROMISED_MS = 1000.0
KEY = "y"


def lost_ms(
    work: Path, environment: dict[str, str], *, linear: bool, keys_s: float, typed_s: float
) -> float:
    """One kill; 0 if nothing is lost."""
    (work / "a.txt").write_text("old\n")
    command = [*DUETTO, *(["--linear"] if linear else []), str(work / "a.txt")]
    with Terminal(command, env=environment, cwd=work) as term:
        if linear:
            term.wait_for("/quit leaves.")
        else:
            term.wait_for("send")
            term.type("\x1b2")
            term.wait_for("undo")
        pressed_s = pressed(term, keys_s, typed_s)
        term.signal(signal.SIGKILL)
        killed_s = time.monotonic()
        term.wait_exit()
    state = Path(environment["DUETTO_HOME"]) / "state"
    offered = RescueFolders(state, str(work)).kept()
    text = "".join(one.draft + "".join(str(file.data) for file in one.files) for one in offered)
    kept = text.count(KEY)
    return (killed_s - pressed_s[kept]) * 1000 if kept < len(pressed_s) else 0.0


def pressed(term: Terminal, keys_s: float, typed_s: float) -> list[float]:
    """Press keys at a pace; returns when each was pressed."""
    times: list[float] = []
    began_s = time.monotonic()
    while (now_s := time.monotonic()) < began_s + typed_s:
        due = int((now_s - began_s) * keys_s) + 1 - len(times)
        if due > 0:
            term.type(KEY * due)
            times += [now_s] * due
        term.pump(1 / keys_s if keys_s < 200 else 0.005)
    return times


def main() -> int:
    """Kill, and say what that lost."""
    ways = argparse.ArgumentParser(description=__doc__)
    ways.add_argument("--linear", action="store_true")
    ways.add_argument("--kills", type=int, default=20)
    ways.add_argument("--keys-s", type=float, default=15.0)
    given = ways.parse_args()
    found: list[float] = []
    for _ in range(given.kills):
        typed_s = random.uniform(0.2, 4.0)
        with workplace() as place:
            lost = lost_ms(*place, linear=given.linear, keys_s=given.keys_s, typed_s=typed_s)
        found.append(lost)
        print(f"{lost:7.0f} ms, after {typed_s:.1f} s of keys", flush=True)
    late = sum(one > PROMISED_MS for one in found)
    load = os.getloadavg()[0]
    found.sort()
    middle = found[len(found) // 2]
    print(f"median {middle:.0f} ms, most {found[-1]:.0f}, late {late} of {len(found)}, load {load}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())

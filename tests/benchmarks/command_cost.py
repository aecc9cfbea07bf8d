"""What a command of the model costs: until it starts, and while it prints very much.

Run ``python -m tests.benchmarks command_cost``. A scripted server calls the shell of the real
program. Printed are the milliseconds from the last token of a call to the process's start (the
clock of bash says when it began), what the sandbox adds, and, while a command prints 1 GB, the 95th
percentile of a key's echo and the growth of memory. `BUDGETS` says what is allowed; exit status 1:
something is beyond it.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import time

from tests.benchmarks.flood_cost import Peak
from tests.benchmarks.screen.measurement import pressed_keys
from tests.benchmarks.screen.terminal import Emulator, PseudoTerminal
from tests.benchmarks.workplace import MODEL, ask, p95, ready, waits_ms, workplace
from tests.support.calling_server import CallingServer
from tests.support.commands import DUETTO

BUDGETS = {"start": 15.0, "more in the sandbox": 15.0, "key": 16.0, "grown": 20.0}
STARTS = 15
_LONGEST_S = 110.0
"""For all of the output."""
WHEN = "echo $EPOCHREALTIME"
PRINTS = 'bash -c "yes 0123456789012345678901234567890123456789 | head -c {size}; sleep 1"'
CONFIG = f'[commands]\nallow = ["echo", "head", "bash"]{MODEL}'


def starts(mode: str) -> float:
    """Median of the milliseconds from a call's last token to its process."""
    server = CallingServer(*[[f"bash -c '{WHEN}'"]] * STARTS)
    with workplace(CONFIG.format(port=server.port)) as (folder, environment):
        command = [*DUETTO, "exec", "go", "--mode", mode]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    found = [re.search(r"(\d+\.\d+)$", said) for said in server.outputs]
    began = [float(one[1]) for one in found if one]
    assert len(began) == STARTS, server.outputs
    waits = [(b - c) * 1000 for b, c in zip(began, server.called_s, strict=True)]
    return statistics.median(waits)


def printing(size: int) -> tuple[float, float]:
    """Echo of keys (95th percentile, ms) and growth (MB) while a command prints so many bytes."""
    server, emulator = CallingServer([PRINTS.format(size=size)]), Emulator()
    with (
        workplace(CONFIG.format(port=server.port)) as (folder, environment),
        PseudoTerminal([*DUETTO, "."], environment, folder) as terminal,
    ):
        ready(terminal)
        peak = Peak(terminal.pid)
        ask(terminal, 0.5)
        pressed = pressed_keys(terminal, time.monotonic() + 4.0)
        until = time.monotonic() + _LONGEST_S
        while not server.outputs and time.monotonic() < until:
            terminal.rest(0.2)
            peak.look()
        waits = waits_ms(terminal, emulator, pressed)
    assert any("bytes left out" in said for said in server.outputs), server.outputs
    return p95(waits), peak.grown


def main(*, quick: bool = False) -> int:
    """Print each figure beside what is allowed."""
    key, grown = printing(100_000_000 if quick else 1_000_000_000)
    start = starts("manual")
    more = starts("sandbox") - start
    figures = {"start": start, "more in the sandbox": more, "key": key, "grown": grown}
    for name, value in figures.items():
        unit = "MB" if name == "grown" else "ms"
        print(f"{name:22} {value:8.1f} {unit}   allowed {BUDGETS[name]:g}")
    print(f"the machine's load was {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return int(any(value > BUDGETS[name] for name, value in figures.items()))

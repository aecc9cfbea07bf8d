"""Processor time and memory of a program and of all that it started, read from the system."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Usage:
    """Of several processes, in sum."""

    cpu_s: float
    """Since they began, with their children that have ended."""
    rss_mb: float
    """Of memory now."""
    peak_mb: float
    """The most that each ever had; `rss_mb` where the system does not say."""


TAG = "DUETTO_BENCH_TAG"
"""The variable by which a daemon is known that has left its family."""


def family(pid: int, tag: str) -> list[int]:
    """A process, its descendants, and those that inherited a value of `TAG`."""
    parents = dict(_relations())
    found = [pid, *(other for other in parents if other != pid and _is_tagged(other, tag))]
    for one in found:
        found += [
            child for child, parent in parents.items() if child not in found and parent == one
        ]
    return found


def usage(pids: Iterable[int]) -> Usage:
    """What processes have used; one that has gone uses nothing."""
    if not (PROC / "self/stat").exists():
        return _told_by_ps(pids)
    cpu_s = rss_kb = peak_kb = 0.0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, KeyError):
            fields = _stat(pid)
            cpu_s += sum(map(int, fields[11:15])) / _ticks_a_second()
            status = dict(
                line.split(":", 1)
                for line in (PROC / str(pid) / "status").read_text().splitlines()
                if line.startswith("Vm")
            )
            rss_kb += int(status["VmRSS"].split()[0])
            peak_kb += int(status["VmHWM"].split()[0])
    return Usage(cpu_s, rss_kb / 1024, peak_kb / 1024)


def cpu_s(pids: Sequence[int]) -> float:
    """Processor time only."""
    if not (PROC / "self/stat").exists():
        return _told_by_ps(pids).cpu_s
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            ticks += sum(map(int, _stat(pid)[11:15]))
    return ticks / _ticks_a_second()


def ran_s(pids: Sequence[int]) -> float:
    """How long the threads that live now have run: finer than `cpu_s`, which counts ticks."""
    ran_ns = 0
    try:
        for pid in pids:
            for task in (PROC / str(pid) / "task").iterdir():
                ran_ns += int((task / "schedstat").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return cpu_s(pids)
    return ran_ns / 1e9


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Signal those that are left."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def wait(pids: Sequence[int], child: int, seconds: float) -> bool:
    """Wait for the end of all; ``child`` is ours to be reaped. False: not all in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            os.waitpid(child, os.WNOHANG)
        if not any(_lives(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _is_tagged(pid: int, tag: str) -> bool:
    try:
        return f"{TAG}={tag}".encode() in (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False


def _relations() -> Iterable[tuple[int, int]]:
    """All processes with their parent."""
    if not (PROC / "self/stat").exists():
        for line in _ps("-A", "-o", "pid=,ppid="):
            pid, parent = line.split()
            yield int(pid), int(parent)
        return
    for entry in os.listdir(PROC):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                yield int(entry), int(_stat(int(entry))[1])


def _stat(pid: int) -> list[str]:
    """The fields behind the name, which may hold blanks and brackets."""
    return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


@cache
def _ticks_a_second() -> int:
    return os.sysconf("SC_CLK_TCK")


def _told_by_ps(pids: Iterable[int]) -> Usage:
    """Where there is no /proc (macOS)."""
    cpu, rss_kb = 0.0, 0
    for line in _ps("-o", "time=,rss=", "-p", ",".join(map(str, pids))):
        clock, memory = line.split()
        seconds = 0.0
        for part in clock.replace("-", ":").split(":"):
            seconds = seconds * 60 + float(part)
        cpu, rss_kb = cpu + seconds, rss_kb + int(memory)
    return Usage(cpu, rss_kb / 1024, rss_kb / 1024)


def _ps(*arguments: str) -> list[str]:
    said = subprocess.run(["ps", *arguments], capture_output=True, text=True, check=False)
    return said.stdout.splitlines()

"""Ends commands whose duetto is gone, however it ended, and clears away what stood for them.

A process beside duetto reads a pipe that duetto holds. Each command says its number there before
it becomes what it is to run, so that none can begin unseen; when the pipe ends, duetto has ended,
and what is noted then is stopped. This needs nothing of the system but pipes and process groups.

The file is run as a script, too: it imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache

MARK = "DUETTO_COMMAND"
"""The variable that all processes of a command inherit, whatever group they are in."""
ENTER = f'printf "+run %s %s\\0" $$ "${MARK}" >&0 && exec "$@" <>"$0"'
"""For a shell whose stdin is `CommandGuard.entrance`; ``$0`` is what the command has as stdin.

The leader of a session gets the first terminal that it opens.
"""
_GRACE_S = 1.0
_LAST_S = 0.4
_LOOK_S = 0.02


class CommandGuard:
    """Duetto's end of the pipe."""

    def __init__(self) -> None:
        self._writing = -1
        self._noted: dict[str, None] = {}

    def entrance(self) -> int:
        """Where a command says its number; -1: this system has no such guard."""
        if os.name == "nt" or not sys.executable:
            return -1
        if self._writing < 0 or not self._write(""):
            self._start()
        return self._writing

    def note(self, kind: str, what: str) -> None:
        """Have something ended or removed, should this process end before `forget`.

        ``run``: a process group and its mark; ``empty``: a file or folder, if it is empty;
        ``file``: a file; ``tree``: a folder with all in it.
        """
        self._noted[f"{kind} {what}"] = None
        self._write(f"+{kind} {what}")

    def entered(self, what: str) -> None:
        """A command has noted itself."""
        self._noted[f"run {what}"] = None

    def forget(self, kind: str, what: str) -> None:
        """It is over, or gone."""
        self._noted.pop(f"{kind} {what}", None)
        self._write(f"-{kind} {what}")

    def _start(self) -> None:
        """Anew, too, where somebody ended the guard."""
        if self._writing >= 0:
            os.close(self._writing)
        reading, self._writing = os.pipe()
        nothing = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
        try:
            os.posix_spawn(
                sys.executable,
                (sys.executable, "-I", "-S", __file__),
                {},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, reading, 0),
                    nothing,
                    (os.POSIX_SPAWN_DUP2, 1, 2),
                ],
            )
        except OSError:
            os.close(self._writing)
            self._writing = -1
        finally:
            os.close(reading)
        for noted in self._noted:
            self._write(f"+{noted}")

    def _write(self, record: str) -> bool:
        if self._writing < 0:
            return False
        with contextlib.suppress(BrokenPipeError):
            os.write(self._writing, os.fsencode(record) + b"\0")
            return True
        return False


@cache
def command_guard() -> CommandGuard:
    """That of this process."""
    return CommandGuard()


def pids() -> list[str]:
    """All processes, where the system shows them (Linux)."""
    with contextlib.suppress(OSError):
        return [name for name in os.listdir("/proc") if name.isdecimal()]
    return []


def is_alive(group: int) -> bool:
    """Somebody of a group is more than a dead process that nobody has asked about."""
    found = pids()
    for pid in found:
        with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/stat", "rb") as file:
            state, _, of_group = file.read().rpartition(b")")[2].split()[:3]
            if int(of_group) == group and state not in (b"Z", b"X"):
                return True
    return not found  # where it cannot be told, it is taken for alive


def marked(*marks: str) -> list[int]:
    """Processes of commands, also those that left the group, where environments show (Linux)."""
    wanted = [f"{MARK}={mark}".encode() for mark in marks]
    found = []
    for pid in pids():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            environment = file.read()
            if any(mark in environment for mark in wanted):
                found.append(int(pid))
    return found


def signalled(signal_one: Callable[[int, int], None], pid: int, number: int) -> bool:
    """False: nobody is there."""
    try:
        signal_one(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _end(runs: dict[int, str]) -> None:
    """Stop groups, and what left them: SIGTERM, then SIGKILL."""
    for number, grace_s in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, _LAST_S)):
        until = time.monotonic() + grace_s
        first: int = number
        while True:
            there = [
                group for group in runs if signalled(os.killpg, group, first) and is_alive(group)
            ]
            left = marked(*runs.values())
            for pid in left:
                signalled(os.kill, pid, number)
            if not there and not left:
                return
            if time.monotonic() > until:
                break
            first = 0 if number == signal.SIGTERM else number
            time.sleep(_LOOK_S)


def clear_away(kind: str, path: str) -> None:
    """Remove what was noted, and forget it; see `CommandGuard.note`."""
    _remove(kind, path)
    command_guard().forget(kind, path)


def _remove(kind: str, path: str) -> None:
    with contextlib.suppress(OSError):
        if kind == "tree":
            import shutil

            shutil.rmtree(path, ignore_errors=True)
        elif kind == "file":
            os.unlink(path)
        elif os.path.isdir(path):
            os.rmdir(path)
        elif os.path.getsize(path) == 0:
            os.unlink(path)


def _records() -> Iterable[str]:
    rest = b""
    while data := os.read(0, 65_536):
        *whole, rest = (rest + data).split(b"\0")
        yield from map(os.fsdecode, whole)


def main() -> None:
    """Wait for duetto's end, then end what it left."""
    with contextlib.suppress(OSError):
        os.setsid()  # not of the group that a terminal's end, or a kill, is for
    os.chdir("/")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    noted: dict[tuple[str, str], None] = {}
    for record in _records():
        kind, _, what = record[1:].partition(" ")
        if record.startswith("+"):
            noted[kind, what] = None
        else:
            noted.pop((kind, what), None)
    runs = [what.split() for kind, what in noted if kind == "run"]
    if runs:
        _end({int(group): mark for group, mark in runs})
    for kind, what in reversed(noted):
        if kind != "run":
            _remove(kind, what)


if __name__ == "__main__":
    main()

"""Runs commands in the workspace: the tests, or what the user typed after ``!``.

A command is a process group of its own, with a deadline and nothing on stdin;
stopping it stops all that it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping, Sequence

from tui.core.programs import AS_THE_USER, RunOptions, RunResult, Sandbox

GRACE_S = 2.0
"""Between SIGTERM and SIGKILL."""
STRAGGLER_S = 0.5
"""How long output is still awaited after the command itself has ended."""


class _Output(asyncio.Protocol):
    """The reading end of the command's pipe."""

    def __init__(self, tell: Callable[[bytes], None]) -> None:
        self._tell = tell
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._tell(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()


class Verifier:
    """Runs commands in one folder."""

    def __init__(
        self,
        root: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """``environment`` is what commands get, read at each run (None: this process's)."""
        self._root = root
        self._environment = os.environ if environment is None else environment

    async def sandbox(self) -> Sandbox:
        """What confines the model's commands."""
        return Sandbox()

    async def run(
        self,
        command: str | Sequence[str],
        output: Callable[[bytes], None],
        deadline_s: float,
        how: RunOptions = AS_THE_USER,
    ) -> RunResult:
        """Run to the end, passing output on as it comes.

        At the deadline, and when this is cancelled, the whole process group gets SIGTERM, then
        SIGKILL; a cancelled run raises CancelledError after that.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        sink = _Output(output)
        try:
            process, pipe = await self._start(command, how.folder, sink)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            return RunResult(None, clock() - began, error=f"cannot start {command!r}: {why}")
        timed_out = False
        try:
            async with asyncio.timeout(deadline_s):
                await process.wait()
        except TimeoutError:
            timed_out = True
        finally:
            try:
                await _end(process)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(sink.ended.wait(), STRAGGLER_S)
            finally:
                pipe.close()
        return RunResult(process.returncode, clock() - began, timed_out=timed_out)

    async def _start(
        self, command: str | Sequence[str], folder: str, sink: _Output
    ) -> tuple[Process, asyncio.ReadTransport]:
        """Start it with a pipe of our own.

        With asyncio's own one ``wait()`` would wait for the last holder of the pipe, and a
        daemon that the command left behind holds it for ever.
        """
        argv = _shell(command) if isinstance(command, str) else tuple(command)
        if not argv or not argv[0]:
            raise ValueError("the command is empty")
        reading, writing = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=os.path.join(self._root, folder),
                env=child_environment(self._environment),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writing,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        loop = asyncio.get_running_loop()
        pipe = os.fdopen(reading, "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(lambda: sink, pipe)
        return process, transport


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command sees: everything, but no colour is forced and output is not held back.

    Its output is read by a pipe and shown as text, so NO_COLOR is set whatever it was.
    """
    child = dict(environment)
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "COLUMNS", "LINES"):
        child.pop(name, None)
    child.update(NO_COLOR="1", PYTHONUNBUFFERED="1", TERM="dumb")
    return child


def _shell(command: str) -> tuple[str, ...]:
    if os.name == "nt":
        return (os.environ.get("COMSPEC", "cmd.exe"), "/c", command)
    return ("/bin/sh", "-c", command)


async def _end(process: Process) -> None:
    """Stop what is left of the process group: SIGTERM, then SIGKILL."""
    _signal(process, signal.SIGTERM)
    if process.returncode is not None:
        return
    try:
        async with asyncio.timeout(GRACE_S):
            await process.wait()
    except TimeoutError:
        pass
    finally:
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    await process.wait()


def _signal(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            process.send_signal(number)
        else:
            os.killpg(process.pid, number)

"""Runs commands in the workspace: the tests, what the user typed after ``!``, the model's own.

A command is a process group of its own, with a deadline, and nobody types into it; stopping it
stops all that it started, also what has left the group.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from tui.core.programs import (
    AS_THE_USER,
    Confinement,
    Launch,
    RunOptions,
    RunResult,
    Sandbox,
    git_environment,
    is_below,
    only_reading,
    without_keys,
)
from tui.effects.commands.guard import ENTER, MARK, command_guard, is_alive, marked, signalled

GRACE_S = 1.5
"""Between SIGTERM and SIGKILL."""
STRAGGLER_S = 0.5
"""How long output, and what a command left running in its group, is still awaited at its end."""
_LAST_S = 0.4
"""For what is killed and was forking meanwhile."""
_READ_BYTES = 32_768
"""At a time: a key waits for no more than one such piece."""
_LOOK_S = 0.01
_MOST_NAMED = 80
"""Characters of a command that cannot be started, in the sentence that says so."""
_BASHES = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash")
_END_OF_INPUT = b"\x04" * 16
"""What who reads the terminal finds there."""


class Confining(Protocol):
    """What confines commands (sandbox)."""

    sandbox: Sandbox

    def launch(self, argv: Sequence[str], folder: str, confined: Confinement) -> Launch:
        """How a command is started in it, in an absolute folder. Raises OSError."""


class _Started(NamedTuple):
    process: Process
    output: _OutputPipe
    launch: Launch
    mark: str


class CommandRunner:
    """Runs commands in one folder."""

    def __init__(
        self,
        root: str,
        environment: Mapping[str, str] | None = None,
        find_sandbox: Callable[[], Confining] | None = None,
    ) -> None:
        """``environment`` is what commands get, read at each run (None: this process's).

        ``find_sandbox`` is called once, in a thread, when it is first asked for; it may take long.
        """
        self._root = os.path.realpath(root)
        self._environment = os.environ if environment is None else environment
        self._find_sandbox = find_sandbox
        self._finding: asyncio.Task[Confining | None] | None = None

    async def sandbox(self) -> Sandbox:
        """What confines the model's commands here; found out once. Never raises."""
        found = await self._confining()
        return found.sandbox if found is not None else Sandbox()

    async def _confining(self) -> Confining | None:
        if self._finding is None:
            self._finding = asyncio.create_task(self._found())
        # who asks may be cancelled: others wait, too
        return await asyncio.shield(self._finding)

    async def _found(self) -> Confining | None:
        if self._find_sandbox is None:
            return None
        try:
            return await asyncio.to_thread(self._find_sandbox)
        except OSError:
            return None

    async def git_programs(self, folders: Iterable[str]) -> str:
        """The setting of a repository's own by which git would run a program in these folders.

        They are below the root; empty: there is none. Never raises.
        """
        from tui.effects.commands.git_settings import git_setting  # at the first need

        paths = [os.path.join(self._root, folder) for folder in folders]
        environment = git_environment(self._environment, self._root)
        return await asyncio.to_thread(git_setting, paths, environment)

    async def run(
        self,
        command: str | Sequence[str],
        output: Callable[[bytes], None],
        deadline_s: float,
        how: RunOptions = AS_THE_USER,
    ) -> RunResult:
        """Run to the end, passing all output on as it comes.

        At the deadline, and when this is cancelled, the whole process group gets SIGTERM, then
        SIGKILL; a cancelled run raises CancelledError after that.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            started = await self._start(command, output, how)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            return RunResult(None, clock() - began, error=f"cannot start {_named(command)}: {why}")
        process = started.process
        stopped = True
        timed_out = False
        try:
            async with asyncio.timeout(deadline_s):
                await process.wait()
            stopped = False
        except TimeoutError:
            timed_out = True
        finally:
            await self._end(started, stopped=stopped)
        return RunResult(process.returncode, clock() - began, timed_out=timed_out)

    async def _end(self, started: _Started, *, stopped: bool) -> None:
        """Stop what is left: all that a ``stopped`` command started, else its group at least."""
        try:
            async with asyncio.TaskGroup() as ending:
                grace_s = GRACE_S if stopped else STRAGGLER_S
                ending.create_task(_end_group(started.process, grace_s))
                if stopped or started.launch.strays:
                    ending.create_task(_end_marked(started.mark))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(started.output.ended.wait(), STRAGGLER_S)
        finally:
            command_guard().forget("run", f"{started.process.pid} {started.mark}")
            started.output.close()
            await asyncio.to_thread(started.launch.tidy)

    async def _start(
        self,
        command: str | Sequence[str],
        output: Callable[[bytes], None],
        how: RunOptions,
    ) -> _Started:
        argv = _shell(command, bash=how.bash) if isinstance(command, str) else tuple(command)
        if not argv or not argv[0]:
            raise ValueError("the command is empty")
        folder = self._folder(how.folder)
        environment = child_environment(self._environment)
        if not how.keys:
            environment = without_keys(environment)
        if how.reads:
            environment = only_reading(environment, self._root)
        argv = (_program(argv[0], folder, environment), *argv[1:])
        entrance = command_guard().entrance()
        launch = Launch(argv)
        if how.confined is not None:
            confining = await self._confining()
            if confining is None:
                raise OSError("there is no sandbox")
            launch = confining.launch(argv, folder, how.confined)
        mark = os.urandom(12).hex()
        environment |= {**launch.variables, MARK: mark}
        given = await asyncio.to_thread(_stdin, how.stdin) if how.stdin else None
        reading, writing = _terminal() if how.pty else os.pipe()
        stdin = os.devnull if given is None else f"/dev/fd/{given}"
        stdin = os.ttyname(writing) if how.pty else stdin
        entered = ("/bin/sh", "-c", ENTER, stdin) if entrance >= 0 else ()
        try:
            process = await asyncio.create_subprocess_exec(
                *entered,
                *launch.argv,
                cwd=folder,
                env=environment,
                stdin=entrance if entered else DEVNULL if given is None else given,
                pass_fds=() if given is None else (given,),
                stdout=writing,
                stderr=writing,
                start_new_session=True,
                preexec_fn=launch.confine,
            )
        except BaseException:
            os.close(reading)
            await asyncio.to_thread(launch.tidy)
            raise
        finally:
            os.close(writing)
            if given is not None:
                os.close(given)
        if entered:
            command_guard().entered(f"{process.pid} {mark}")
        return _Started(process, _OutputPipe(reading, output), launch, mark)

    def _folder(self, below: str) -> str:
        """Where a command starts. Raises OSError."""
        folder = os.path.realpath(os.path.join(self._root, below))
        if not is_below(folder, self._root):
            raise OSError(f"{below} leads out of the workspace")
        if not os.path.isdir(folder):
            raise OSError(f"the folder {below or self._root} is not there")
        return folder


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command sees: everything, but no colour is forced and output is not held back.

    Its output is read by us and shown as text, so NO_COLOR is set whatever it was.
    """
    child = dict(environment)
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "COLUMNS", "LINES"):
        child.pop(name, None)
    child.update(NO_COLOR="1", PYTHONUNBUFFERED="1", TERM="dumb")
    return child


class _OutputPipe:
    """The reading end of a command's output, a small piece in each turn of the event loop.

    It is ours and not asyncio's: with that one ``wait()`` would wait for the last holder of the
    pipe, and a daemon that the command left behind holds it for ever.
    """

    def __init__(self, reading: int, tell: Callable[[bytes], None]) -> None:
        self._reading = reading
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        os.set_blocking(reading, False)
        self._loop.add_reader(reading, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._reading, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:  # a terminal whose other end is closed
            data = b""
        if data:
            self._tell(data)
        else:
            self._loop.remove_reader(self._reading)
            self.ended.set()

    def close(self) -> None:
        """Read no more."""
        self._loop.remove_reader(self._reading)
        os.close(self._reading)


def _named(command: str | Sequence[str]) -> str:
    name = command if isinstance(command, str) else next(iter(command), "")
    return repr(name if len(name) <= _MOST_NAMED else f"{name[:_MOST_NAMED]}…")


def _shell(command: str, *, bash: bool) -> tuple[str, ...]:
    if os.name == "nt":
        return (os.environ.get("COMSPEC", "cmd.exe"), "/c", command)
    found = bash and next(filter(os.path.exists, _BASHES), "")
    return (found or "/bin/sh", "-c", command)


def _stdin(data: bytes) -> int:
    """A file without a name, not a pipe: nobody waits for who does not read it."""
    import tempfile

    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return os.dup(file.fileno())


def _terminal() -> tuple[int, int]:
    """A terminal that echoes nothing and changes no line ends; who reads it finds the end."""
    import fcntl
    import struct
    import termios

    ours, theirs = os.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~(termios.ECHO | termios.ECHONL)
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.write(ours, _END_OF_INPUT)
    return ours, theirs


def _program(name: str, folder: str, environment: Mapping[str, str]) -> str:
    """The file to run. Raises OSError."""
    if "/" in name:
        found = shutil.which(os.path.join(folder, name))
    else:
        found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "no such program, or it cannot be run")
    return found


async def _end_group(process: Process, grace_s: float) -> None:
    """Stop what is left of the process group: SIGTERM, then SIGKILL."""
    kill = getattr(signal, "SIGKILL", signal.SIGTERM)
    try:
        number: int = signal.SIGTERM
        for _ in range(round(grace_s / _LOOK_S)):
            there = _signal(process, number)
            if process.returncode is not None and not (
                there and await asyncio.to_thread(is_alive, process.pid)
            ):
                break
            number = 0
            await asyncio.sleep(_LOOK_S)
    finally:
        _signal(process, kill)
    await process.wait()


def _signal(process: Process, number: int) -> bool:
    """False: nobody is there."""
    if os.name == "nt":
        return signalled(lambda _, sent: process.send_signal(sent), 0, number)
    return signalled(os.killpg, process.pid, number)


async def _end_marked(mark: str) -> None:
    """Stop what has left the group, where the system shows processes' environments (Linux)."""
    deadline = asyncio.get_running_loop().time()
    for number, grace_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, _LAST_S)):
        deadline += grace_s
        while pids := await asyncio.to_thread(marked, mark):
            for pid in pids:
                signalled(os.kill, pid, number)
            if asyncio.get_running_loop().time() > deadline:
                break
            await asyncio.sleep(10 * _LOOK_S)

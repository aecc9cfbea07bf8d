"""Runs commands in the workspace: the tests, what the user typed after ``!``, the model's own.

A command is a process group of its own, with a deadline, and nobody types into it; stopping it
stops all that it started, also what has left the group (`guard`). What a command of the model
leaves running ends with it; what the user's own leaves in another group goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import signal
import socket
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tui.core.programs import (
    AS_THE_USER,
    CommandLine,
    Entry,
    Launch,
    Output,
    RemoteShadow,
    RunOptions,
    RunResult,
    Sandbox,
    Shadow,
    git_environment,
    is_below,
    only_reading,
    without_keys,
)
from tui.effects.commands.guard import (
    ANSWER,
    ENDED,
    EXITED,
    FAILED,
    FULL,
    MOST_PROCESSES,
    STARTED,
    command_guard,
    message,
    signalled,
)

if TYPE_CHECKING:
    from tui.effects.commands.sandbox import Tool

GRACE_S = 1.5
"""Between SIGTERM and SIGKILL."""
STRAGGLER_S = 0.5
"""How long output, and what a command left running in its group, is still awaited at its end."""
_LAST_S = 5.0
"""For a warden that was told to kill, on a busy machine, until it is given up."""
_APART_S = 0.1
"""From a start to the fork of the next warden: it would take the processor from what starts."""
_READ_BYTES = 32_768
"""At a time: a key waits for no more than one such piece."""
_MOST_NAMED = 80
"""Characters of a command that cannot be started, in the sentence that says so."""
_BASHES = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash")
_END_OF_INPUT = b"\x04" * 16
"""What who reads the terminal finds there."""


class _Started(NamedTuple):
    warden: _WardenChannel
    output: _OutputPipe
    launch: Launch
    entry: Entry
    reports: Sequence[str]
    """That it writes; of one that is stopped nobody reads them."""


class _Start(NamedTuple):
    """All that a warden is told of a command."""

    launch: Launch
    entry: Entry
    environment: Mapping[str, str]
    how: RunOptions
    folder: str

    def message(self) -> bytes:
        """In the warden's words."""
        launch, how, opens = self.launch, self.how, self.launch.open_folder
        variables = {**self.environment, **self.entry.variables, **launch.variables}
        what = {
            "run": True,
            "argv": [os.fsencode(word) for word in launch.argv],
            "env": {os.fsencode(name): os.fsencode(v) for name, v in variables.items()},
            "pty": how.pty,
            "whole": not how.keys or how.shadow is not None,
            "filter": launch.forbids,
            "open": None if opens is None else (os.fsencode(opens[0]), opens[1]),
            "overlays": [
                (
                    os.fsencode(one.folder),
                    [os.fsencode(lower) for lower in one.lower],
                    os.fsencode(one.upper),
                    os.fsencode(one.work),
                    one.writable,
                )
                for one in self.entry.overlays
            ],
            "written": [os.fsencode(folder) for folder in self.entry.written],
            "folder": os.fsencode(self.folder),
            "room": self.entry.room,
            "memory": how.memory,
            "nice": how.nice,
            "confined": how.confined is not None,
            "grace_s": GRACE_S,
            "last_s": STRAGGLER_S,
        }
        return message(what)


class CommandRunner:
    """Runs commands in one folder."""

    def __init__(
        self,
        root: str,
        environment: Mapping[str, str] | None = None,
        find_sandbox: Callable[[], Tool] | None = None,
    ) -> None:
        """``environment`` is what commands get, read at each run (None: this process's).

        ``find_sandbox`` is called once, in a thread, when it is first asked for; it may take long.
        """
        self._root = os.path.realpath(root)
        self._environment = os.environ if environment is None else environment
        self._find_sandbox = find_sandbox
        self._finding: asyncio.Task[Tool | None] | None = None

    async def sandbox(self) -> Sandbox:
        """What confines the model's commands here; found out once. Never raises."""
        found = await self._confining()
        return found.sandbox if found is not None else Sandbox()

    async def _confining(self) -> Tool | None:
        if self._finding is None:
            self._finding = asyncio.create_task(self._found())
        # who asks may be cancelled: others wait, too
        return await asyncio.shield(self._finding)

    async def _found(self) -> Tool | None:
        with contextlib.suppress(OSError):
            await asyncio.to_thread(command_guard().ready)
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

    def places(self, folder: str, names: Sequence[str]) -> tuple[str, ...]:
        """Where a folder below the root, and names in it, lead now; see `RunOptions`."""
        path = os.path.join(self._root, folder)
        found = [os.path.join(path, os.path.expanduser(name)) for name in names]
        return (_identity(path), *map(os.path.realpath, found))

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
    ) -> RunResult:
        """Run to the end, passing all output on as it comes.

        At the deadline, and when this is cancelled, the whole process group gets SIGTERM, then
        SIGKILL; a cancelled run raises CancelledError after that.
        """
        if isinstance(how.shadow, RemoteShadow):
            return await how.shadow.run(command, output, deadline_s, how)
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            started = await self._start(command, output, how)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            return RunResult(None, clock() - began, error=f"cannot start {_named(command)}: {why}")
        warden = started.warden
        stopped = True
        timed_out = False
        strayed = ""
        try:
            async with asyncio.timeout(deadline_s):
                await warden.left.wait()
            stopped = False
        except TimeoutError:
            timed_out = True
        finally:
            strayed = await self._end(started, stopped=stopped)
        seconds = clock() - began
        if warden.full:
            why = {
                1: f"wrote more than {started.entry.room / 1e9:.3g} GB",
                2: f"took more than {how.memory / 1e9:.3g} GB of memory",
                3: f"had more than {MOST_PROCESSES:,} processes",
            }[warden.full]
            return RunResult(None, seconds, error=f"stopped: it {why}")
        return RunResult(warden.status, seconds, timed_out=timed_out, strayed=strayed)

    async def _end(self, started: _Started, *, stopped: bool) -> str:
        """Stop what is left: all that a ``stopped`` command started, else what belongs to it.

        Returns what `RunResult.strayed` says.
        """
        ending = self._ended(started, stopped=stopped)
        # nothing may run any more when the shadow is left, though this is cancelled once more
        return await (_surely(ending) if started.entry.written else ending)

    async def _ended(self, started: _Started, *, stopped: bool) -> str:
        warden = started.warden
        try:
            if stopped:
                warden.say({"stop": True})
            grace_s = (GRACE_S if stopped else STRAGGLER_S) + _LAST_S
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(warden.ended.wait(), grace_s)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(started.output.ended.wait(), STRAGGLER_S)
        finally:
            started.output.close()
            for report in started.reports if stopped else ():
                with contextlib.suppress(OSError):
                    os.unlink(report)
            try:
                await asyncio.to_thread(started.launch.tidy)
            finally:  # also where this is cancelled once more: the shadow serves others
                try:
                    strayed = await asyncio.shield(asyncio.to_thread(started.entry.leave))
                finally:
                    warden.close()
        return strayed

    async def _start(
        self,
        command: CommandLine,
        output: Output,
        how: RunOptions,
    ) -> _Started:
        started, start, fds = await self._prepared(command, output, how)
        warden = started.warden
        try:
            try:
                await warden.run(start, fds[:3])
            finally:
                for fd in set(fds):  # a terminal is stdin and output
                    os.close(fd)
        except BaseException:
            if warden.told:  # it may run already
                await self._end(started, stopped=True)
            else:
                started.output.close()
                await _given_up(started.launch, started.entry, warden)
            raise
        return started

    async def _prepared(
        self,
        command: CommandLine,
        output: Output,
        how: RunOptions,
    ) -> tuple[_Started, _Start, list[int]]:
        """All that it takes, and what is to be closed: stdin, output and folder before others."""
        argv = _shell(command, bash=how.bash) if isinstance(command, str) else tuple(command)
        if not argv or not argv[0]:
            raise ValueError("the command is empty")
        if any("\0" in word for word in argv):
            raise ValueError("it holds a NUL character")
        environment = self._environment_for(how)
        confining = None if how.confined is None else await self._confining()
        if how.stdin:
            given = await asyncio.to_thread(_stdin, how.stdin)
        else:
            given = os.open(os.devnull, os.O_RDONLY)
        fds = [given]
        warden = None
        launch, entry = Launch(argv), Entry(self._root)
        try:
            folder, opened = self._folder(how.folder)
            fds.append(opened)
            if how.places:
                names = self.places(how.folder, how.names)
                _same_places(how, (_identity(folder, opened), *names[1:]))
            if how.shadow is not None:
                entry = await _entered(how.shadow, how)
            if entry.root != self._root:
                folder, opened = self._folder(how.folder, entry.root)
                fds.append(opened)
            argv = (_program(argv[0], folder, environment, entry), *argv[1:])
            warden = await _new_warden()
            for file in how.brings:
                warden.note("file", file)
            launch = Launch(argv)
            if how.confined is not None:
                if confining is None:
                    raise OSError("there is no sandbox")
                from tui.effects.commands.sandbox import ConfinedCommand  # not before the paint

                shadow = entry.root if how.shadow is not None else ""
                asked = ConfinedCommand(argv, folder, how.confined, warden.note, shadow)
                launch = confining.launch(asked)
            reading, writing = _terminal() if how.pty else os.pipe()
            started = _Started(warden, _OutputPipe(reading, output), launch, entry, how.brings)
            stdin = writing if how.pty else given
            rest = [one for one in (*fds, writing) if one not in (stdin, writing, opened)]
            start = _Start(launch, entry, environment, how, folder)
            return started, start, [stdin, writing, opened, *rest]
        except BaseException:
            for fd in fds:
                os.close(fd)
            await _given_up(launch, entry, warden)
            raise

    def _environment_for(self, how: RunOptions) -> dict[str, str]:
        environment = child_environment(self._environment)
        if not how.keys:
            environment = without_keys(environment)
        return only_reading(environment, self._root) if how.reads else environment

    def _folder(self, below: str, root: str = "") -> tuple[str, int]:
        """The folder of a command, opened so that it cannot be swapped. Raises OSError."""
        root = root or self._root
        named = os.path.join(root, below)
        try:
            opened = os.open(named, os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY))
        except (FileNotFoundError, NotADirectoryError):
            folder = os.path.realpath(named)
            if is_below(folder, root):
                raise OSError(f"the folder {below or root} is not there") from None
            raise OSError(f"{below} leads out of the workspace") from None
        try:
            if os.path.isdir("/proc/self/fd"):
                folder = os.readlink(f"/proc/self/fd/{opened}")
            else:
                folder = os.path.realpath(named)
            if not is_below(folder, root):
                raise OSError(f"{below} leads out of the workspace")
            return folder, opened
        except OSError:
            os.close(opened)
            raise


async def _entered(shadow: Shadow, how: RunOptions) -> Entry:
    """Have a command enter; where this is cancelled, it leaves. Raises OSError."""
    work = asyncio.to_thread(shadow.enter, confined=how.confined is not None, written=how.written)
    entering = asyncio.create_task(work)
    try:
        return await asyncio.shield(entering)
    except asyncio.CancelledError:
        await asyncio.shield(_leave(entering))
        raise


async def _leave(entering: asyncio.Task[Entry]) -> None:
    """Leave as soon as it has entered."""
    with contextlib.suppress(OSError):
        await asyncio.to_thread((await entering).leave)


async def _given_up(launch: Launch, entry: Entry, warden: _WardenChannel | None) -> None:
    """Nothing was started."""
    try:
        await asyncio.to_thread(launch.tidy)
    finally:  # also where this is cancelled once more
        try:
            await asyncio.shield(asyncio.to_thread(entry.leave))
        finally:
            if warden is not None:
                warden.close()


async def _surely(work: Coroutine[object, object, str]) -> str:
    """Work to its end, also where this is cancelled meanwhile."""
    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()


def _identity(folder: str, opened: int = -1) -> str:
    """A folder, also when another one has its name."""
    try:
        stat = os.stat(folder if opened < 0 else opened)
    except OSError:
        return ""
    return f"{os.path.realpath(folder)}:{stat.st_dev}:{stat.st_ino}"


def _same_places(how: RunOptions, places: Sequence[str]) -> None:
    """Raises OSError: something was swapped since it was allowed."""
    names = (how.folder or "the workspace", *how.names)
    for name, then, now in zip(names, how.places, places, strict=True):
        if then != now:
            raise OSError(f"{name} is not what it was when this was allowed; ask again")


class _WardenChannel:
    """Who starts a command and ends it; see `guard`."""

    def __init__(self, channel: socket.socket) -> None:
        channel.setblocking(False)
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._answers = b""
        self._pid = 0
        self._number = 0
        self.status: int | None = None
        self._began = asyncio.Event()
        """Forked, then started or not."""
        self.told = False
        """It was told to start a command, and has not said that it cannot."""
        self.full = 0
        """It took more than it may, see `guard.ANSWER`."""
        self.left = asyncio.Event()
        """The command itself has ended."""
        self.ended = asyncio.Event()
        """Nothing of it is left."""
        self._loop.add_reader(channel, self._read)

    async def is_there(self) -> bool:
        """Whether it was forked at all."""
        await self._began.wait()
        self._began.clear()
        return not self.ended.is_set()

    async def run(
        self,
        start: _Start,
        fds: list[int],
    ) -> None:
        """Have it start the command, with its stdin, output and folder. Raises OSError."""
        data = start.message()
        if start.launch.ruleset >= 0:
            fds = [*fds, start.launch.ruleset]
        socket.send_fds(self._channel, [data[:1]], fds)
        await self._loop.sock_sendall(self._channel, data[1:])
        self.told = True
        await self._began.wait()
        self.told = bool(self._pid)
        if not self._pid:
            number = self._number or errno.EPIPE
            raise OSError(number, os.strerror(number))
        self._loop.call_later(_APART_S, _stand_by)

    def note(self, kind: str, path: str) -> None:
        """Have it remove something, should this process end before `close`."""
        self.say({"note": (kind, path)})

    def say(self, what: dict[str, Any]) -> None:
        """Tell it something short."""
        with contextlib.suppress(OSError):
            self._channel.send(message(what))

    def close(self) -> None:
        """All is cleared away."""
        self.say({"done": True})
        self._loop.remove_reader(self._channel)
        self._channel.close()
        _stand_by()

    def _read(self) -> None:
        while True:  # its end, too, if it is there
            try:
                data = self._channel.recv(4096)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            self._answers += data
            while len(self._answers) >= ANSWER.size:
                answer, self._answers = self._answers[: ANSWER.size], self._answers[ANSWER.size :]
                self._hear(*ANSWER.unpack(answer))
            if not data:
                self._lost()
                return

    def _hear(self, what: bytes, number: int) -> None:
        if what == EXITED:
            self.status = number
            self.left.set()
        elif what == FULL:
            self.full = number
        elif what == ENDED:
            self.ended.set()
        else:
            self._pid = number if what == STARTED else 0
            self._number = number if what == FAILED else 0
            self._began.set()
            if what == FAILED:
                self.ended.set()

    def _lost(self) -> None:
        """Somebody killed it: its group is stopped here, all else by the guard."""
        self._loop.remove_reader(self._channel)
        if self._pid and not self.ended.is_set():
            signalled(os.killpg, self._pid, signal.SIGKILL)
            if self.status is None:
                self.status = -signal.SIGKILL
        for event in (self.ended, self.left, self._began):
            event.set()


def _stand_by() -> None:
    """Have a warden for the next command."""
    with contextlib.suppress(OSError):
        command_guard().ready()


async def _new_warden() -> _WardenChannel:
    """Raises OSError."""
    for _ in range(3):  # one that stood by, or the guard, may have been killed meanwhile
        warden = _WardenChannel(command_guard().warden())
        try:
            if await warden.is_there():
                return warden
        except BaseException:
            warden.close()
            raise
        warden.close()
    raise OSError("the process that starts commands cannot be started")


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

    def __init__(self, reading: int, tell: Output) -> None:
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


def _named(command: CommandLine) -> str:
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


def _program(name: str, folder: str, environment: Mapping[str, str], entry: Entry) -> str:
    """The file to run. Raises OSError."""
    if "/" in name and entry.overlays:
        return os.path.join(folder, name)  # it may be another one there
    if "/" in name:
        found = shutil.which(os.path.join(folder, name))
    else:
        found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "no such program, or it cannot be run")
    return found

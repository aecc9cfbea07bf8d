"""Starts commands, and ends all that they started: with the command, or should duetto be gone.

A small process beside duetto, the guard, forks a warden for each command. What the command starts
stays below its warden whatever it does (double forks, sessions, a cleared environment), because
orphans are given to the warden (Linux: PR_SET_CHILD_SUBREAPER) and not to init. A warden holds a
socket of duetto's, whose end says that duetto is gone. It needs the guard no more: who kills that
one ends nothing. Who kills a warden has its orphans given to the guard, which kills them.

The file is run as a script, too: it imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import marshal
import os
import select
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

ANSWER = struct.Struct("=ci")
"""What a warden says: READY, STARTED with the process, FAILED with errno, EXITED with the status
(negative: the signal), FULL if it is killed because it wrote too much (1), took too much memory (2)
or had too many processes (3), and ENDED when nothing is left of it."""
READY, STARTED, FAILED, EXITED, FULL, ENDED = b"r", b"s", b"f", b"x", b"o", b"e"
_LENGTH = struct.Struct("=I")
_MOST_FDS = 8
_CLEAR_S = 0.4
"""For what is killed and was forking meanwhile."""
_LOOK_S = 0.02
_MEASURE_S = 0.2
"""Between two looks at what a command has written."""
_NICE = 10
"""How much a command gives way that nobody waits for."""
MOST_PROCESSES = 4096
"""Of a command in a shadow, with threads where the system counts them (not root's)."""
_SUBREAPER, _NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 36, 38, 22, 2
_ADD_RULE, _RESTRICT = 445, 446
_NEW_NAMESPACES = 0x10000000 | 0x00020000
"""Of the user, and of mounts."""
_PRIVATE = 0x40000 | 0x4000
"""All mounts, for us alone."""
_BIND = 0x1000 | 0x4000
_SET_MOUNT, _HERE, _RECURSIVE = 442, -100, 0x8000
_DROP_POWER, _TO_MOUNT = 24, 21


class CommandGuard:
    """Duetto's end of the guard."""

    def __init__(self) -> None:
        self._control: socket.socket | None = None
        self._spare: socket.socket | None = None
        self._pid = 0
        self._lock = threading.Lock()

    def ready(self) -> None:
        """Have a warden stand by. Raises OSError."""
        with self._lock:
            if self._spare is None:
                self._spare = self._forked()

    def warden(self) -> socket.socket:
        """The socket of a warden, which says READY if it still runs. Raises OSError."""
        with self._lock:
            spare, self._spare = self._spare, None
            return spare or self._forked()

    def _forked(self) -> socket.socket:
        """Another warden; of a new guard if the last one was ended."""
        ours, theirs = socket.socketpair()
        with theirs:
            for again in (True, False):
                try:
                    if self._control is None:
                        self._control = self._start()
                    socket.send_fds(self._control, [b"w"], [theirs.fileno()])
                    return ours
                except OSError:
                    self._gone()
                    if not again:
                        ours.close()
                        raise
        raise AssertionError

    def _gone(self) -> None:
        """It has ended: the next command gets another."""
        if self._control is not None:
            self._control.close()
            self._control = None
            with contextlib.suppress(OSError):
                os.waitpid(self._pid, os.WNOHANG)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._pid = os.posix_spawn(
                    sys.executable,
                    (sys.executable, "-I", "-S", __file__),
                    {},
                    file_actions=[
                        (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                        (os.POSIX_SPAWN_DUP2, 1, 2),
                    ],
                )
            except OSError:
                ours.close()
                raise
        return ours


@cache
def command_guard() -> CommandGuard:
    """That of this process."""
    return CommandGuard()


def message(what: dict[str, Any]) -> bytes:
    """For a warden.

    ``note``: a kind and a path to remove should duetto be gone (``empty``: a file or folder, if it
    is empty; ``file``; ``tree``: a folder with all in it). ``run``: argv, env, pty, whole, ruleset,
    filter, grace_s (between SIGTERM and SIGKILL), last_s (for what is left at its end); with it
    come stdin, output, folder and the ruleset, if there is one. ``stop``: end it all. ``done``:
    what was noted is cleared away.
    """
    data = marshal.dumps(what)
    return _LENGTH.pack(len(data)) + data


def _failing(result: int) -> None:
    """Raises OSError where a call of the C library failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _enter(
    overlays: Iterable[tuple[bytes, list[bytes], bytes, bytes, bool]], *, mounts: bool
) -> None:
    """Have this process, and all that it starts, see folders with overlays over them.

    Not ``mounts``: root cannot take them off again (others cannot anyway). Raises OSError.
    """
    import resource

    libc = ctypes.CDLL(None, use_errno=True)
    _new_namespaces(libc)
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    most = MOST_PROCESSES if hard < 0 else min(hard, MOST_PROCESSES)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, hard))
    _failing(libc.mount(None, b"/", None, _PRIVATE, None))
    for folder, lower, upper, work, writable in overlays:
        if not lower:
            _failing(libc.mount(upper, folder, None, _BIND, None))
            if not writable:
                read_only = struct.pack("QQQQ", 1, 0, 0, 0)
                _failing(libc.syscall(_SET_MOUNT, _HERE, folder, _RECURSIVE, read_only, 32))
            continue
        # by descriptors: their names may have any character
        names = []
        for path in (*lower, upper, work):
            names.append(f"/proc/self/fd/{os.open(path, os.O_PATH | os.O_CLOEXEC)}")
        options = f"lowerdir={':'.join(names[:-2])},upperdir={names[-2]},workdir={names[-1]}"
        options += ",userxattr,volatile"
        _failing(libc.mount(b"overlay", folder, b"overlay", 0, options.encode()))
    if not mounts and not os.geteuid():
        libc.prctl(_DROP_POWER, _TO_MOUNT, 0, 0, 0)


def _new_namespaces(libc: ctypes.CDLL) -> None:
    """In which we may mount, and all users are who they are. Raises OSError."""
    uid, gid = os.geteuid(), os.getegid()
    if uid:
        _failing(libc.unshare(_NEW_NAMESPACES))
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            _write(f"/proc/self/{name}", text)
        return
    # root's files may be of any user: one who stays outside has to say that all are the same here
    ours = os.getpid()
    reading, writing = os.pipe()
    helper = os.fork()
    if not helper:
        try:
            os.close(writing)
            os.read(reading, 1)
            for name in ("uid_map", "gid_map"):
                with open(f"/proc/self/{name}") as file:
                    lines = [line.split() for line in file]
                same = "".join(f"{first} {first} {count}\n" for first, _, count in lines)
                _write(f"/proc/{ours}/{name}", same)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(reading)
    try:
        _failing(libc.unshare(_NEW_NAMESPACES))
    finally:
        os.close(writing)
        status = os.waitpid(helper, 0)[1]
    if status:
        raise PermissionError(errno.EPERM, "no users can be named there")


def _write(name: str, text: str) -> None:
    opened = os.open(name, os.O_WRONLY)
    try:
        os.write(opened, text.encode())
    finally:
        os.close(opened)


def confine(ruleset: int, forbids: bytes, folder: tuple[str, int] | None = None) -> None:
    """Put limits on this process and all that it starts: Landlock's and seccomp's.

    The ``folder`` gets its rights before.
    """
    libc = ctypes.CDLL(None)
    if folder is not None:
        rule = struct.pack("=Qi", folder[1], os.open(folder[0], os.O_PATH | os.O_CLOEXEC))
        if libc.syscall(_ADD_RULE, ruleset, 1, rule, 0):
            os._exit(126)
    text = ctypes.create_string_buffer(forbids)
    program = struct.pack("HxxxxxxP", len(forbids) // 8, ctypes.addressof(text))
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(_RESTRICT, ruleset, 0) or (
        forbids and libc.prctl(_SET_SECCOMP, _FILTER, program, 0, 0)
    ):
        os._exit(126)


def remove(kind: str, path: str) -> None:
    """Remove what was noted; see `message`."""
    with contextlib.suppress(OSError):
        if kind == "tree":
            import shutil

            try:
                shutil.rmtree(path, ignore_errors=True)
            except RecursionError:  # folders without end
                import subprocess

                subprocess.run(("rm", "-rf", "--", path), capture_output=True, check=False)
        elif kind == "file":
            os.unlink(path)
        elif os.path.isdir(path):
            os.rmdir(path)
        elif os.path.getsize(path) == 0:
            os.unlink(path)


def signalled(signal_one: Callable[[int, int], None], pid: int, number: int) -> bool:
    """False: nobody is there."""
    try:
        signal_one(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _parents() -> dict[int, list[int]]:
    """Processes by their parent, where the system shows them (Linux)."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in filter(str.isdecimal, os.listdir("/proc")):
            if (stat := _stat(int(name))) is not None:
                children.setdefault(int(stat[1]), []).append(int(name))
    return children


def _stat(pid: int) -> list[bytes] | None:
    """State, parent and group."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[:3]
    return None


def _children(pid: int) -> list[int]:
    """They may be incomplete while some are ending. Raises OSError: it is not told."""
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
            found += [int(child) for child in file.read().split()]
    return found


def _below(top: int, but: Iterable[int] = ()) -> dict[int, int]:
    """What lives below a process -> its group; it may be incomplete, see `_children`."""
    parents = None if os.path.exists(f"/proc/{top}/task/{top}/children") else _parents()
    found, looked = dict[int, int](), [top]
    while looked:
        pid = looked.pop()
        with contextlib.suppress(OSError):
            below = _children(pid) if parents is None else parents.get(pid, [])
            looked += [child for child in below if child not in but]
        if pid != top and (stat := _stat(pid)) is not None and stat[0] not in (b"Z", b"X"):
            found[pid] = int(stat[2])
    return found


def _memory_of(pids: Iterable[int]) -> int:
    """Bytes that are only theirs."""
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared, *_ = map(int, file.read().split())
            pages += resident - shared
    return pages * os.sysconf("SC_PAGE_SIZE")


def _kill_below(top: int, ended: dict[int, int], but: Iterable[int] = ()) -> None:
    """Kill all of it by its groups, so that what forks and ends meanwhile is met, too."""
    until = time.monotonic() + _CLEAR_S
    while (left := _below(top, but)) and time.monotonic() < until:
        for group in set(left.values()) - {os.getpgid(0)}:
            signalled(os.killpg, group, signal.SIGKILL)
        for pid in left:
            signalled(os.kill, pid, signal.SIGKILL)
        _reap(ended)


def _reap(ended: dict[int, int]) -> bool:
    """Note which children ended, and how; False: there is none any more."""
    try:
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            ended[child[0]] = os.waitstatus_to_exitcode(child[1])
    except ChildProcessError:
        return False
    return True


class _Waiting:
    """Waits for a socket, and for the end of children."""

    def __init__(self, channel: socket.socket) -> None:
        self._woken, writing = os.pipe()
        os.set_blocking(writing, False)
        os.set_blocking(self._woken, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._channel = channel
        self._poll = select.poll()
        self._poll.register(channel, select.POLLIN)
        self._poll.register(self._woken, select.POLLIN)

    def wait(self, seconds: float | None = None) -> bool:
        """True: the socket has something."""
        ready = self._poll.poll(None if seconds is None else max(0, seconds) * 1000)
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)
        return any(fd == self._channel.fileno() for fd, _ in ready)

    def deaf(self) -> None:
        """Duetto is gone: only children are waited for."""
        self._poll.unregister(self._channel)


class _Warden:
    """Looks after one command."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._waiting = _Waiting(channel)
        self._notes: list[tuple[str, str]] = []
        self._pid = 0
        self._left = True
        """The command itself has not ended."""
        self._whole = True
        self._grace_s = self._last_s = 0.5
        self._until = 0.0
        """When it is killed; 0: it is not being ended."""
        self._ended = dict[int, int]()
        self._told: set[int] = set()
        """Groups that got SIGTERM."""
        self._over = self._is_deaf = False
        self._written: _Written | None = None
        self._memory = 0
        """Bytes that all of it may have; 0: as many as there are."""

    def serve(self) -> None:
        """To the end of the command, and until duetto has cleared away."""
        self._say(READY)
        while not (self._over and self._is_deaf):
            ending = self._until and not self._over
            measures = _MEASURE_S if (self._written or self._memory) and self._left else None
            if self._waiting.wait(_LOOK_S if ending else measures):
                self._take()
            self._look()
            if measures and not ending:
                self._measure()
        for kind, path in reversed(self._notes):
            remove(kind, path)

    def _measure(self) -> None:
        """End it where it takes too much."""
        below, what = _below(os.getpid()), 0
        if self._written is not None and self._written.too_much():
            what = 1
        elif self._memory and _memory_of(below) > self._memory:
            what = 2
        elif self._written is not None and len(below) > MOST_PROCESSES:
            what = 3
        if what:
            self._say(FULL, what)
            self._whole = True
            self._end(0)

    def _take(self) -> None:
        what, fds = self._receive()
        if what is None:
            self._is_deaf = True
            self._waiting.deaf()
            self._whole = True
            self._over = self._over or not self._pid
            self._end(self._grace_s)
        elif "note" in what:
            self._notes.append(what["note"])
        elif "run" in what:
            self._run(what, fds)
        elif "stop" in what:
            self._whole = True
            self._end(self._grace_s)
        else:
            self._notes.clear()

    def _receive(self) -> tuple[dict[str, Any] | None, list[int]]:
        data, fds, size = b"", list[int](), _LENGTH.size
        with contextlib.suppress(OSError):
            while len(data) < size:
                more, received, _, _ = socket.recv_fds(
                    self._channel, min(size - len(data), 1 << 20), _MOST_FDS
                )
                if not more:
                    return None, fds
                fds += received
                data += more
                if size == _LENGTH.size:
                    size += _LENGTH.unpack(data)[0] if len(data) == size else 0
            return marshal.loads(data[_LENGTH.size :]), fds
        return None, fds

    def _run(self, what: dict[str, Any], fds: list[int]) -> None:
        self._whole, self._grace_s, self._last_s = what["whole"], what["grace_s"], what["last_s"]
        self._memory = what["memory"]
        if what["nice"]:
            os.nice(_NICE)
        for fd in fds:
            os.set_inheritable(fd, False)
        try:
            if what["room"]:
                self._written = _Written(what["written"], what["room"])
            self._pid = _started(what, fds)
            self._say(STARTED, self._pid)
        except OSError as error:
            self._over = True
            self._say(FAILED, error.errno or errno.EINVAL)
        for fd in fds:
            os.close(fd)

    def _look(self) -> None:
        """Who ended, and what is left."""
        some = _reap(self._ended)
        if self._over:
            return
        if self._left and self._pid in self._ended:
            self._exited()
            self._end(self._last_s)
        if self._until:
            there = self._there()
            for group in set(there.values()) - self._told:  # at once, so that none sees another end
                signalled(os.killpg, group, signal.SIGTERM)
                signalled(os.killpg, group, signal.SIGCONT)
            self._told |= set(there.values())
            if there and time.monotonic() >= self._until:
                self._kill()
                there, some = self._there(), _reap(self._ended)
            if not there and not self._left and not (self._whole and some):
                self._over = True
                self._say(ENDED)

    def _end(self, grace_s: float) -> None:
        until = time.monotonic() + grace_s
        self._until = min(until, self._until or until)

    def _there(self) -> dict[int, int]:
        """Whom it has to end."""
        there = _below(os.getpid())
        if not self._whole:
            there = {pid: group for pid, group in there.items() if group == self._pid}
        if not there and self._pid and not os.path.isdir("/proc/self"):
            # processes cannot be listed here: as long as the group can be signalled
            return {0: self._pid} if signalled(os.killpg, self._pid, 0) else {}
        return there

    def _kill(self) -> None:
        signalled(os.killpg, self._pid, signal.SIGKILL)
        if self._whole:
            _kill_below(os.getpid(), self._ended)
        if self._left:
            if self._pid not in self._ended:
                status = os.waitpid(self._pid, 0)[1]
                self._ended[self._pid] = os.waitstatus_to_exitcode(status)
            self._exited()

    def _exited(self) -> None:
        self._left = False
        self._say(EXITED, self._ended[self._pid])

    def _say(self, what: bytes, number: int = 0) -> None:
        with contextlib.suppress(OSError):
            self._channel.sendall(ANSWER.pack(what, number))


def _started(what: dict[str, Any], fds: list[int]) -> int:
    """The command's process. Raises OSError."""
    os.fchdir(fds[2])
    limited = what["pty"] or what["overlays"] or len(fds) > 3
    start = _start_limited if limited else _start_plainly
    try:
        return start(what["argv"], what, fds)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        argv = [b"/bin/sh", *what["argv"]]  # a script that does not say for whom
        return start(argv, what, fds)
    finally:
        os.chdir("/")


def _start_plainly(argv: list[bytes], what: dict[str, Any], fds: list[int]) -> int:
    """At once: this process, which is large, is not copied."""
    return os.posix_spawn(
        argv[0],
        argv,
        what["env"],
        file_actions=[(os.POSIX_SPAWN_DUP2, fds[fd > 0], fd) for fd in range(3)],
        setsid=True,
        setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
    )


def _start_limited(argv: list[bytes], what: dict[str, Any], fds: list[int]) -> int:
    """With a terminal, limits, or in a shadow."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.setsid()
            for fd in range(3):
                os.dup2(fds[fd > 0], fd)
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            if what["pty"]:
                import fcntl
                import termios

                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            if what["overlays"]:
                _enter(what["overlays"], mounts=what["confined"])
                os.chdir(what["folder"])
            if len(fds) > 3:
                confine(fds[3], what["filter"], what["open"])
            os.execve(argv[0], argv, what["env"])
        except OSError as error:
            os.write(writing, _LENGTH.pack(error.errno or errno.EINVAL))
        finally:
            os._exit(126)
    os.close(writing)
    with open(reading, "rb") as said:
        failed = said.read()
    if failed:
        os.waitpid(pid, 0)
        number = _LENGTH.unpack(failed)[0]
        raise OSError(number, os.strerror(number))
    return pid


class _Written:
    """What a command has written in a shadow."""

    def __init__(self, folders: list[bytes], room: int) -> None:
        self._folders, self._room = folders, room
        self._free = self._free_now()
        self._looked = 0.0

    def _free_now(self) -> int:
        disk = os.statvfs(self._folders[0])
        return disk.f_bavail * disk.f_frsize

    def too_much(self) -> bool:
        """Whether it is more than it may; only looked at where the disk got as much fuller."""
        now, fuller = time.monotonic(), self._free - self._free_now()
        if fuller < self._room / 2 or now < self._looked:
            return False
        size = 0
        for top in self._folders:
            for folder, _, files in os.walk(top):
                for name in files:
                    with contextlib.suppress(OSError):
                        size += os.lstat(os.path.join(folder, name)).st_blocks * 512
        self._looked = now + 10 * (time.monotonic() - now)  # it may be many files
        return size > self._room or fuller > 3 * self._room  # it may have no name any more


def _adopt_orphans() -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


class _Guard:
    """Forks wardens."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._waiting = _Waiting(control)
        self._wardens: set[int] = set()
        self._stay: set[int] = set()
        """What a command of the user's left running on purpose."""

    def serve(self) -> socket.socket | None:
        """Until duetto is gone; in a new warden: its socket."""
        while True:
            if self._waiting.wait():
                try:
                    said, fds, _, _ = socket.recv_fds(self._control, 1, _MOST_FDS)
                except OSError:
                    return None
                if not said:
                    return None
                for fd in fds:
                    os.set_inheritable(fd, False)
                    if not (pid := os.fork()):
                        self._control.close()
                        return socket.socket(fileno=fd)
                    self._wardens.add(pid)
                    os.close(fd)
            self._look()

    def _look(self) -> None:
        ended = dict[int, int]()
        _reap(ended)
        while ended:
            pid, status = ended.popitem()
            if pid not in self._wardens:
                self._stay.discard(pid)
                continue
            self._wardens.discard(pid)
            known = self._wardens | self._stay
            if status:
                _kill_below(os.getpid(), ended, known)
            else:
                self._stay |= _below(os.getpid(), known).keys()


def main() -> None:
    """Be the guard, or one of its wardens."""
    os.setpgid(0, 0)  # not of the group that a terminal's end, or a kill, is for
    os.chdir("/")
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # what it starts does not ignore them
    gc.disable()
    _adopt_orphans()
    control = socket.socket(fileno=os.dup(0))
    os.dup2(1, 0)
    channel = _Guard(control).serve()
    if channel is not None:
        os.setpgid(0, 0)
        _adopt_orphans()
        _Warden(channel).serve()
    os._exit(0)


if __name__ == "__main__":
    main()

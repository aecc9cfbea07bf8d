"""What runs on a worker: keeps the trees that it was sent, and runs commands in shadows of them.

Dask calls the functions here, by name, on the worker's event loop; bytes go in and out.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import re
import shutil
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

import tui
from tui.cli.verifiers.project import table
from tui.core.cluster import RemoteTask, SentTree, TaskEnd, WorkerFacts, moved_back, worker_argv
from tui.core.programs import Confinement, RunOptions, RunResult, is_below
from tui.core.typed_data import from_msgpack
from tui.effects.commands.runner import CommandRunner
from tui.effects.commands.sandbox import find_sandbox
from tui.effects.shadow.copying import ShadowSource
from tui.effects.shadow.making import ShadowMaker
from tui.effects.shadow.overlay import clear
from tui.errors import FileRefused

_PACKAGE = str(Path(tui.__file__).parents[1])
_MOST_OUTPUT = 2_000_000
_MOST_TREES, _KEEP_S = 3, 3600.0
_TELL_S = 0.1
_LOOK_S = 0.5
"""Seconds between two looks whether a command is still wanted."""
Tell = Callable[[int, bytes], None]
"""Told a piece of output, and how much came before it."""
_SHELL_LACKS = re.compile(
    r"(?:/bin/)?sh: (?:(?:line )?\d+: )?(?P<program>.+): "
    r"(?:(?:command )?not found|Permission denied)"
)
"""Last words of the shell that a command begins in, with its status 126 or 127."""
_UNENDED = re.compile(rb"\S{0,4096}\Z")


class _TreePlace:
    """A tree on the disk, and what runs in shadows of it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        root, own, environment = str(self.root), [str(folder / "state")], worker_environment()
        self.runner = CommandRunner(root, environment, lambda: find_sandbox(root, own, environment))
        source = ShadowSource(root, table()["caches"], self._listing)
        self.shadows = ShadowMaker(source, folder / "state", self.runner)
        self.folder, self.users = folder, 0

    def _listing(self) -> list[str]:
        return [str(path.relative_to(self.root)) for path in self.root.rglob("*")]


class TreeStore:
    """What this worker was sent; it goes with the worker."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="duetto-", dir=folder))
        self._blobs = self._folder / "blobs"
        self._blobs.mkdir()
        self._places: dict[str, _TreePlace] = {}
        self.running: dict[str, _WatchedCommand] = {}
        self._building = asyncio.Lock()
        weakref.finalize(self, clear, self._folder)

    def lacking(self, tree: SentTree) -> list[str]:
        """Which bytes of a tree are not here."""
        names = {name for name, _ in tree.files.values()}
        return sorted(name for name in names if not self._blob(name).exists())

    def put(self, blobs: Mapping[str, bytes]) -> None:
        """Keep these bytes."""
        for name, data in blobs.items():
            fresh = self._blobs / f".{os.urandom(6).hex()}"
            fresh.write_bytes(data)
            fresh.replace(self._blob(name))

    def _blob(self, name: str) -> Path:
        return self._blobs / name

    async def build(self, tree: SentTree) -> None:
        """Have the tree on the disk; older ones that nobody uses go."""
        async with self._building:
            if (name := tree.name) not in self._places:
                folder = self._folder / name
                await asyncio.to_thread(self._write, tree, folder / "tree")
                self._places[name] = _TreePlace(folder)
            await asyncio.to_thread(self._forget, {name for name, _ in tree.files.values()})
            unused = [one for one, place in self._places.items() if not place.users and one != name]
            for old in unused[: max(len(self._places) - _MOST_TREES, 0)]:
                place = self._places.pop(old)
                await place.shadows.close()
                await asyncio.to_thread(clear, place.folder)

    def _forget(self, used: set[str]) -> None:
        """Remove bytes of an hour ago."""
        for blob in os.scandir(self._blobs):
            if blob.name not in used and time.time() - blob.stat().st_mtime > _KEEP_S:
                os.unlink(blob.path)

    def _write(self, tree: SentTree, root: Path) -> None:
        clear(root)
        root.mkdir(parents=True)
        for path, (name, mode) in tree.files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self._blob(name).read_bytes())
            file.chmod(mode | 0o600)
        for path, leads_to in tree.links.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).symlink_to(leads_to)

    async def run(self, task: RemoteTask, tell: Tell, wanted: Callable[[], bool]) -> TaskEnd:
        """Run a command as the workspace was with these texts.

        ``tell`` gets its output while it runs, ``wanted`` says whether anybody waits for it.
        """
        place = self._places.get(task.tree)
        if place is None:
            return TaskEnd(task.number, lacks=("tree",))
        lacks = tuple(name for name in task.large.values() if not self._blob(name).exists())
        if lacks:
            return TaskEnd(task.number, lacks=lacks)
        place.users += 1
        try:
            large = {path: self._blob(name).read_bytes() for path, name in task.large.items()}
            texts = {**task.texts, **large}
            back = {str(place.root): task.root, _PACKAGE: task.package}
            command = _WatchedCommand(task, _Reports(task.brings), back, tell, wanted)
            self.running[command.key] = command
            return await self._run(command, place, texts)
        except (FileRefused, OSError) as error:
            return TaskEnd(task.number, error=str(error))
        finally:
            self.running.pop(f"{task.topic} {task.number}", None)
            place.users -= 1

    async def _run(
        self, command: _WatchedCommand, place: _TreePlace, texts: Mapping[str, bytes | None]
    ) -> TaskEnd:
        task, root = command.task, str(place.root)
        argv = _found(worker_argv(task, root, _PACKAGE, sys.executable), place.root)
        if not argv:
            return TaskEnd(task.number, unfit=f"{_program_of(task)} is not installed there")
        shadow = await place.shadows.make(texts)
        try:
            sandbox = await place.runner.sandbox()
            confined = Confinement(network=True) if sandbox.works else None
            how = RunOptions(keys=False, shadow=shadow, memory=task.memory, confined=confined)
            printing = command.reports.printed_by(argv)
            run = place.runner.run(printing, command.feed, task.deadline_s, how)
            result = await command.watched(run)
        finally:
            shadow.close()
        said, brought = command.ended()
        cut = max(len(said) - _MOST_OUTPUT, 0)
        return TaskEnd(
            task.number,
            unfit=_unfit(argv, task, place.root, result, said),
            status=result.status,
            seconds=result.seconds,
            timed_out=result.timed_out,
            error=result.error,
            strayed=result.strayed,
            output=said[cut:],
            start=command.dropped + cut,
            brought=brought,
        )


def _program_of(task: RemoteTask) -> str:
    """The name of what it runs."""
    return task.argv if isinstance(task.argv, str) else os.path.basename(task.argv[0])


def _found(argv: tuple[str, ...] | str, root: Path) -> tuple[str, ...] | str:
    """The command with a program that is there; empty: there is none.

    Tools of the project's own folders (``node_modules/.bin``) stay where it came from.
    """
    if isinstance(argv, str) or not argv:
        return argv
    name, path = argv[0], worker_environment()["PATH"]
    if "/" in name and shutil.which(root / name):
        return argv
    found = os.path.basename(name)
    return (found, *argv[1:]) if shutil.which(found, path=path) else ""


def _unfit(
    argv: tuple[str, ...] | str, task: RemoteTask, root: Path, run: RunResult, said: bytes
) -> str:
    """Why a command was not what ended here: a program or a module is missing, or confined away.

    By the words of who looked for it: any test may end with the status of a shell. What is the
    project's own, and an attempt may have removed, is no other on another worker.
    """
    last = said.strip().rpartition(b"\n")[2][:200].decode(errors="replace")
    if run.status in (126, 127) and (lacks := _SHELL_LACKS.fullmatch(last)):
        program = lacks["program"]
        own = is_below(program, task.root) if program.startswith("/") else "/" in program
        return "" if own else last
    module = argv[2] if not isinstance(argv, str) and argv[1:2] == ("-m",) else ""
    top = root / module.partition(".")[0]
    own = top.exists() or top.with_suffix(".py").exists()
    missing = module and not own and f"No module named {module}" in last
    if run.status == 1 and (missing or re.fullmatch(rb"bwrap: [^\n]*\n", said)):
        return last
    return run.error if run.error.startswith("cannot start") else ""


class _WatchedCommand:
    """One that runs."""

    def __init__(
        self,
        task: RemoteTask,
        reports: _Reports,
        back: Mapping[str, str],
        tell: Tell,
        wanted: Callable[[], bool],
    ) -> None:
        """``back``: folders of this machine -> what they are called where it was asked for."""
        self.task, self.reports, self._output = task, reports, bytearray()
        self._back, self._tell, self._wanted = back, tell, wanted
        self._told, self.dropped, self._unended = 0, 0, b""
        self._stopped = asyncio.Event()
        self.key = f"{task.topic} {task.number}"

    def feed(self, data: bytes) -> None:
        """Take a piece of its output; of much of it the beginning goes."""
        data = self._unended + data
        tail = _UNENDED.search(data)
        end = tail.start() if tail is not None and b"/" in tail[0] else len(data)
        self._take(data[:end])
        self._unended = data[end:]  # of the name of a folder the rest may follow

    def _take(self, data: bytes) -> None:
        self._output.extend(moved_back(data, self._back))
        if (more := len(self._output) - 2 * _MOST_OUTPUT) > 0:
            del self._output[: more + _MOST_OUTPUT]
            self.dropped += more + _MOST_OUTPUT

    def ended(self) -> tuple[bytes, dict[str, bytes]]:
        """The end of what it said, and its reports."""
        self._take(self._unended)
        self._unended = b""
        return self.reports.taken_from(bytes(self._output))

    def stop(self) -> None:
        """End it."""
        self._stopped.set()

    async def watched(self, run: Coroutine[Any, Any, RunResult]) -> RunResult:
        """Tell of the output now and again, and end what nobody wants any more."""
        running, looked = asyncio.ensure_future(run), time.monotonic()
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            while not running.done():
                either = asyncio.FIRST_COMPLETED
                await asyncio.wait([running, stopped], timeout=_TELL_S, return_when=either)
                said, _ = self.reports.taken_from(bytes(self._output))
                at = max(self._told, self.dropped)
                if self.dropped + len(said) > at and not running.done():
                    self._tell(at, said[at - self.dropped :])
                    self._told = self.dropped + len(said)
                if time.monotonic() - looked > _LOOK_S:
                    looked = time.monotonic()
                    if not self._wanted():
                        self.stop()
                if self._stopped.is_set():
                    return RunResult(None, 0.0, stopped=True)
            return running.result()
        finally:
            stopped.cancel()
            running.cancel()
            await asyncio.wait([running])


class _Reports:
    """The files that a command leaves: it writes them in its shadow, and prints them at its end.

    That way they come out of any sandbox.
    """

    def __init__(self, wanted: Sequence[str]) -> None:
        self._sign = f"duetto-{os.urandom(16).hex()}"
        self._files = {path: f".{self._sign}-{number}" for number, path in enumerate(wanted)}

    def printed_by(self, argv: tuple[str, ...] | str) -> tuple[str, ...] | str:
        """The command that does so."""
        if not self._files:
            return argv
        words = ("/bin/sh", "-c", argv) if isinstance(argv, str) else argv
        for path, file in self._files.items():
            words = tuple(word.replace(path, file) for word in words)
        prints = "".join(
            f"; printf '\\n%s\\n' {self._sign}; cat {file} 2>/dev/null"
            for file in self._files.values()
        )
        return ("/bin/sh", "-c", f'"$@"; status=$?{prints}; exit $status', "sh", *words)

    def taken_from(self, output: bytes) -> tuple[bytes, dict[str, bytes]]:
        """What the command said itself, and the files."""
        said, *printed = output.split(f"\n{self._sign}\n".encode())
        return said, dict(zip(self._files, printed, strict=False))


def worker_environment() -> dict[str, str]:
    """Programs beside the worker's Python come first."""
    beside = os.path.dirname(sys.executable)
    return {**os.environ, "PATH": os.pathsep.join(filter(None, (beside, os.environ.get("PATH"))))}


async def own_facts(name: str, folder: str) -> WorkerFacts:
    """What this machine is, and the file system of a folder."""
    with tempfile.TemporaryDirectory(prefix="duetto-probe-") as place:
        runner = CommandRunner(place, None, lambda: find_sandbox(place))
        sandbox = await runner.sandbox()
    return WorkerFacts(
        name,
        tui.__version__,
        platform.python_version(),
        f"{platform.system()} {platform.machine()}",
        time.time(),
        _folds_case(folder),
        sandbox.words if sandbox.works else "",
    )


def _folds_case(folder: str) -> bool:
    """Whether it can be had by a name that is its own but for the case of its letters."""
    above, name = os.path.split(os.path.realpath(folder))
    other = os.path.join(above, name.swapcase())
    with contextlib.suppress(OSError):  # there is nothing of that name
        return name != name.swapcase() and os.path.samefile(folder, other)
    return False


_stores: dict[str, TreeStore] = {}
"""Of the workers in this process; a Dask worker's address -> its store."""


def _worker() -> Any:
    from distributed import get_worker

    return get_worker()


def _store(worker: Any) -> TreeStore:
    if worker.address not in _stores:
        _stores[worker.address] = TreeStore(Path(worker.local_directory))
    return _stores[worker.address]


async def facts(dask_worker: Any) -> bytes:
    """`WorkerFacts`."""
    return msgspec.msgpack.encode(await own_facts(dask_worker.address, dask_worker.local_directory))


async def lacking(tree: bytes, dask_worker: Any) -> list[str]:
    """Which bytes of a `SentTree` are not here."""
    wanted = from_msgpack(tree, SentTree)
    return await asyncio.to_thread(_store(dask_worker).lacking, wanted)


async def put(blobs: dict[str, bytes], dask_worker: Any) -> None:
    """Keep these bytes."""
    await asyncio.to_thread(_store(dask_worker).put, blobs)


async def build(tree: bytes, dask_worker: Any) -> None:
    """Have the tree on the disk."""
    await _store(dask_worker).build(from_msgpack(tree, SentTree))


async def stop(topic: str, number: int, dask_worker: Any) -> None:
    """End a task that runs."""
    running = _store(dask_worker).running.get(f"{topic} {number}")
    if running is not None:
        running.stop()


async def run(task: bytes, key: str) -> bytes:
    """Run a `RemoteTask`; an `TaskEnd`."""
    wanted, worker, begun = from_msgpack(task, RemoteTask), _worker(), os.urandom(8).hex()

    def tell(at: int, output: bytes) -> None:
        whose = {"number": wanted.number, "run": begun, "worker": worker.address}
        worker.log_event(wanted.topic, {**whose, "at": at, "output": output})

    def is_wanted() -> bool:
        known = worker.state.tasks.get(key)
        return known is not None and known.state == "executing"

    ended = await _store(worker).run(wanted, tell, is_wanted)
    return msgspec.msgpack.encode(replace(ended, run=begun, worker=worker.address))

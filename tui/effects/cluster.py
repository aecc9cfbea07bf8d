"""Shadows on the machines of a Dask cluster; a process of ours asks it (`cli.cluster.client`).

What a shadow holds stays here until a command runs in it: that goes out with the command.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping, Sequence

import msgspec

import tui
from tui import own_process
from tui.core.cluster import ClusterNews, ClusterOrder, RemoteTask, TaskEnd
from tui.core.programs import CommandLine, Entry, Output, RunOptions, RunResult, Shadow, Written
from tui.core.typed_data import from_msgpack
from tui.errors import FileRefused

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(tui.__file__)))


class _RemoteRun:
    """A command that waits for its end."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.ended: asyncio.Future[TaskEnd] = asyncio.get_running_loop().create_future()


class ClusterShadow:
    """See `core.programs.Shadow`, and `RemoteShadow`."""

    def __init__(self, cluster: Cluster, texts: Mapping[str, bytes | None]) -> None:
        self._cluster, self._texts = cluster, dict(texts)

    async def hold(self, texts: Mapping[str, bytes | None]) -> None:
        """See `core.programs.Shadow`."""
        self._texts = dict(texts)

    def enter(self, *, confined: bool, written: Written | None = None) -> Entry:
        """See `core.programs.Shadow`."""
        raise OSError("this shadow is on another machine")

    def close(self) -> None:
        """See `core.programs.Shadow`."""
        self._texts = {}

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions
    ) -> RunResult:
        """See `engine.ports.Runner`."""
        argv = command if isinstance(command, str) else tuple(command)
        return await self._cluster.run(argv, self._texts, output, deadline_s, how)


class Cluster:
    """See `engine.ports.Ports.workers`."""

    def __init__(
        self,
        server: str,
        root: str,
        environment: Mapping[str, str],
        say: Callable[[str], None],
        sent: Sequence[str] = (),
    ) -> None:
        """``server`` in Dask's words; no key is in ``environment``; ``say`` tells the user.

        ``sent``: patterns of files that git ignores and workers get.
        """
        self._sent = sent
        self._server, self._root, self._environment = server, os.path.realpath(root), environment
        self._say = say
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._heard = asyncio.Event()
        self._refusal = ""
        self._runs: dict[int, _RemoteRun] = {}
        self._numbers = itertools.count(1)

    async def make(self, texts: Mapping[str, bytes | None]) -> Shadow:
        """See `engine.ports.Shadows`."""
        async with self._starting:
            if self._process is None:
                await self._start()
        await self._heard.wait()
        if self._refusal:
            raise FileRefused(self._refusal)
        return ClusterShadow(self, texts)

    async def _start(self) -> None:
        topic = f"duetto-{os.urandom(8).hex()}"
        self._refusal = ""
        self._heard.clear()
        try:
            self._process = await own_process.started(
                *("tui.cli.cluster.client", self._server, self._root, topic, *self._sent),
                environment=self._environment,
            )
        except OSError as error:
            raise FileRefused(f"the cluster cannot be asked: {error.strerror}") from None
        self._reading = asyncio.create_task(self._read(self._process))

    async def run(
        self,
        argv: tuple[str, ...] | str,
        texts: Mapping[str, bytes | None],
        output: Output,
        deadline_s: float,
        how: RunOptions,
    ) -> RunResult:
        """Run a command on a worker; cancelled, it ends there, too."""
        number, run = next(self._numbers), _RemoteRun(output)
        task = RemoteTask(
            number,
            argv,
            self._root,
            _PACKAGE,
            deadline_s,
            texts=dict(texts),
            memory=how.memory,
            brings=how.brings,
        )
        self._runs[number] = run
        try:
            if not await self._order(ClusterOrder(task)):
                return RunResult(None, 0.0, error=_GONE)
            ended = await run.ended
        except asyncio.CancelledError:
            await asyncio.shield(
                self._order(ClusterOrder(msgspec.structs.replace(task, texts={}), True))
            )
            raise
        finally:
            del self._runs[number]
        if ended.output and not ended.again:
            output(ended.output)
        await asyncio.to_thread(_write, ended.brought)
        error = ended.error and f"on the cluster: {ended.error}"
        return RunResult(
            ended.status,
            ended.seconds,
            ended.timed_out,
            error=error,
            strayed=ended.strayed,
            output=ended.output if ended.again else b"",
        )

    async def _order(self, order: ClusterOrder) -> bool:
        """False: nobody is there to hear it."""
        process = self._process
        if process is None or process.stdin is None:
            return False
        data = await asyncio.to_thread(msgspec.msgpack.encode, order)
        try:
            process.stdin.write(len(data).to_bytes(4, "big") + data)
            await process.stdin.drain()
        except OSError:
            return False
        return True

    async def _read(self, process: Process) -> None:
        """Hear what the process tells, until it ends."""
        assert process.stdout is not None
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                head = await process.stdout.readexactly(4)
                data = await process.stdout.readexactly(int.from_bytes(head, "big"))
                self._hear(from_msgpack(data, ClusterNews))
        await own_process.ended(process)
        self._process = None
        self._refusal = self._refusal or _GONE
        self._heard.set()
        for run in self._runs.values():
            if not run.ended.done():
                run.ended.set_result(TaskEnd(0, error=self._refusal))

    def _hear(self, told: ClusterNews) -> None:
        if told.ready:
            self._heard.set()
        if told.refused:
            self._refusal = told.refused
        if told.words:
            self._say(told.words)
        if told.output and told.number in self._runs:
            self._runs[told.number].output(told.output)
        if told.ended is not None and told.ended.number in self._runs:
            ended = self._runs[told.ended.number].ended
            if not ended.done():
                ended.set_result(told.ended)

    async def close(self) -> None:
        """End the process; what it has under way on workers ends, too."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        if self._reading is not None:
            await asyncio.wait([self._reading])


_GONE = "the process that asks the cluster has ended"


def _write(files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        with contextlib.suppress(OSError), open(path, "wb") as file:
            file.write(data)

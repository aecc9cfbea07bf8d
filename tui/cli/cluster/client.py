"""Asks a Dask cluster: sends the workspace once, then commands, and does again what was lost.

``python -m tui.cli.cluster.client SERVER ROOT TOPIC [SENT...]`` does it for the app. Orders come on
stdin, what is told goes to stdout (`core.cluster`), each with its length before it. It ends with
its stdin. Dask is loaded here and nowhere else in duetto: its import takes half a second, and what
it packs and unpacks would hold up the screen.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

import tui
from tui.cli.cluster import worker
from tui.cli.verifiers.project import table
from tui.core.cluster import (
    EXTRA,
    ClusterNews,
    ClusterOrder,
    RemoteTask,
    SentTree,
    TaskEnd,
    WorkerFacts,
    blob_name,
    differences,
)
from tui.core.inert_text import inert
from tui.core.typed_data import from_msgpack
from tui.effects.files import IGNORED, Files
from tui.effects.listing import Listing
from tui.effects.shadow.copying import ShadowSource

_CONNECT_S = 10.0
_WAIT_S = 60.0
"""For a scheduler that is gone, and for a first worker."""
_LOOK_S = 1.0
"""Seconds between two looks whether there are workers."""
_TRIES = 6
"""Of a task whose worker, or scheduler, is lost."""
_PACK_BYTES = 4 << 20
_INLINE_BYTES = 64 << 10
"""A file that is larger is sent once to each worker."""
_CERTIFICATES = "the certificates of DASK_DISTRIBUTED__COMM__TLS__... (docs/cluster.md)"
_NEAR = 200
"""Files in which the disk may differ from the tree that was sent, until another one is."""


class WorkspaceTree:
    """The workspace on the disk, as far as it may leave this machine."""

    def __init__(self, root: str, sent: Sequence[str]) -> None:
        """``sent``: patterns of ignored files that leave it all the same."""
        self._sent = sent
        self._listing = Listing(root, environment=os.environ)
        self._files = Files(root, self._listing)
        self._source = ShadowSource(root, table()["caches"], self._files.listing)
        self._known: dict[str, tuple[object, str, int]] = {}
        """Path -> what says that a file is as it was, the name of its bytes, its permissions."""
        self._places: dict[str, str] = {}
        """Name of bytes -> a file that had them."""
        self._seen: tuple[Mapping[str, object], Mapping[str, str]] = {}, {}
        """What the last look found."""
        self._tree = SentTree()
        """And what came of it: git is not asked again where all files are as they were."""
        self.left_out: list[str] = []

    def look(self) -> SentTree:
        """All files that are neither private nor ignored. Raises OSError."""
        found = self._source.look()
        if self._seen == (found.files, found.links):
            return self._tree
        self._seen = {}, {}
        private = self._private([*found.files, *found.links])
        self.left_out = [path for path in found.files if private[path]]
        files: dict[str, tuple[str, int]] = {}
        known = self._known
        self._known = {}
        for path, about in found.files.items():
            if private[path]:
                continue
            if path not in known or known[path][0] != about:
                with contextlib.suppress(OSError):
                    data = self._read(path)
                    mode = os.stat(os.path.join(self._files.root, path)).st_mode & 0o777
                    known[path] = about, blob_name(data), mode
            if path in known:
                self._known[path] = known[path]
                _, name, mode = known[path]
                files[path] = name, mode
                self._places[name] = path
        links = {
            path: leads_to
            for path, leads_to in found.links.items()
            if not private[path] and self._stays(path, leads_to, files)
        }
        self._seen, self._tree = (found.files, found.links), SentTree(files, links)
        return self._tree

    def _private(self, paths: Sequence[str]) -> dict[str, str]:
        """Why each does not leave this machine; empty: it may."""
        found = self._files.privacy_of(paths)
        for path, why in found.items():
            if why == IGNORED and any(fnmatch(path, glob) for glob in self._sent):
                found[path] = ""
        return found

    def _stays(self, path: str, leads_to: str, files: Mapping[str, object]) -> bool:
        """Whether a link leads to what is sent."""
        meant = os.path.normpath(os.path.join(os.path.dirname(path), leads_to))
        return meant in files or any(one.startswith(f"{meant}/") for one in files)

    def _read(self, path: str) -> bytes:
        return Path(self._files.root, path).read_bytes()

    def bytes_of(self, name: str) -> bytes:
        """Raises OSError: no file has them any more."""
        if (path := self._places.get(name)) is None or blob_name(data := self._read(path)) != name:
            raise FileNotFoundError("the file was changed meanwhile")
        return data

    def public(
        self, texts: Mapping[str, bytes | None]
    ) -> tuple[dict[str, bytes | None], list[str]]:
        """The texts that may leave this machine, and the paths of the others."""
        there = [path for path, data in texts.items() if data is not None]
        private = self._private(there)
        held = [path for path in there if private[path]]
        return {path: data for path, data in texts.items() if path not in held}, held


@dataclass
class _Told:
    """What was told of a task's output, of the last time that it was begun."""

    run: str = ""
    worker: str = ""
    again: bool = False
    """Something of an earlier time was told, too."""
    bytes: int = 0


class _Sent:
    """What a worker was sent."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.trees: set[str] = set()
        self.unfit: dict[tuple[str, ...] | str, str] = {}
        """Program -> why it cannot run it."""


class _ClusterGoneError(Exception):
    """Neither the scheduler nor a worker came back in time."""


class ClusterClient:
    """One cluster, for one workspace."""

    def __init__(
        self,
        server: str,
        root: str,
        topic: str,
        tell: Callable[[ClusterNews], None],
        sent: Sequence[str] = (),
    ) -> None:
        """``sent``: see `WorkspaceTree`."""
        self._server, self._root, self._topic, self._tell = server, root, topic, tell
        self._disk = WorkspaceTree(root, sent)
        self._trees: dict[str, SentTree] = {}
        """By their names, the last one is that of which tasks are."""
        self._blobs: dict[str, bytes] = {}
        """Large texts by their name, while a task needs them."""
        self._look: asyncio.Task[SentTree] | None = None
        self._next: asyncio.Task[SentTree] | None = None
        self._client: Any = None
        self._connecting = asyncio.Lock()
        self._sent: dict[str, _Sent] = {}
        self._runs: dict[int, asyncio.Task[None]] = {}
        self._told: dict[int, _Told] = {}
        """The tasks of whose output something was told."""
        self._said: set[str] = set()
        self._gone = asyncio.Event()
        self._why_gone = ""
        """Why nothing can be run any more."""
        self._pythons: dict[str, str] = {}

    async def serve(self, orders: asyncio.Queue[ClusterOrder]) -> None:
        """Obey until cancelled, or until there is no cluster any more."""
        try:
            await self._connected()
        except (OSError, ImportError) as error:
            self._tell(ClusterNews(refused=str(error)))
            return
        self._tell(ClusterNews(ready=True))
        obeying = asyncio.create_task(self._obey(orders))
        try:
            await self._gone.wait()
        finally:
            obeying.cancel()
        self._tell(ClusterNews(refused=self._why_gone))

    async def _obey(self, orders: asyncio.Queue[ClusterOrder]) -> None:
        while True:
            order = await orders.get()
            number = order.task.number
            if order.stop:
                if number in self._runs:
                    self._runs[number].cancel()
                continue
            run = asyncio.create_task(self._run(order.task))
            self._runs[number] = run

    async def close(self) -> None:
        """Leave the cluster; what still runs there ends."""
        for run in self._runs.values():
            run.cancel()
        if self._client is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._client.close(), 1.0)

    async def _connected(self) -> Any:
        """The client, once it is connected. Raises OSError: the scheduler is not there."""
        async with self._connecting:
            if self._client is not None and self._client.status == "running":
                return self._client
            again = self._client is not None
            try:
                from distributed import Client
            except ImportError as error:
                raise ImportError(f"Dask is not installed here ({error}): {EXTRA}") from None
            deadline = time.monotonic() + (_WAIT_S if again else _CONNECT_S)
            if again:
                self._say(f"Dask's scheduler at {self._server} is gone: duetto waits for it")
                with contextlib.suppress(Exception):
                    await asyncio.wait_for(self._client.close(), 1.0)
            while True:
                try:
                    left = max(min(deadline - time.monotonic(), _CONNECT_S), 0.1)
                    self._client = await Client(
                        self._server, asynchronous=True, set_as_default=False, timeout=left
                    )
                    break
                except TypeError as error:  # Dask has no context for TLS
                    raise ConnectionError(f"{self._server} needs {_CERTIFICATES}") from error
                except (OSError, TimeoutError) as error:
                    if time.monotonic() > deadline:
                        why = f"no Dask scheduler answers at {self._server}"
                        if self._server.startswith("tls:"):
                            why += f", or not with {_CERTIFICATES}"
                        raise (_ClusterGoneError if again else ConnectionError)(why) from error
                    await asyncio.sleep(0.2)
            self._sent.clear()
            self._client.subscribe_topic(self._topic, self._heard)
            return self._client

    def _heard(self, event: tuple[float, dict[str, Any]]) -> None:
        """A worker told of a task."""
        _, said = event
        number = said["number"]
        if number not in self._runs:
            return
        told = self._told_by(number, said["run"], said["worker"])
        told.bytes = said["at"] + len(said["output"])
        self._tell(ClusterNews(number=number, output=said["output"]))

    def _told_by(self, number: int, run: str, worker: str) -> _Told:
        """What was told of this run of a task; said, where another run had told something."""
        told = self._told.get(number)
        if told is None or told.run != run:
            if told is not None:
                words = f"[{told.worker} was lost: run again on {worker}]\n"
                self._tell(ClusterNews(number=number, output=words.encode()))
            told = self._told[number] = _Told(run, worker, again=told is not None)
        return told

    def _say(self, words: str) -> None:
        words = inert(words)  # names of files are any bytes
        if words not in self._said:
            self._said.add(words)
            self._tell(ClusterNews(words=words))

    async def _run(self, task: RemoteTask) -> None:
        """To the end, whatever happens on the way."""
        number = task.number
        try:
            ended = await _settled(self._ended(task))
        except asyncio.CancelledError:
            stop = self._client.run(worker.stop, self._topic, number)
            await asyncio.wait([asyncio.ensure_future(stop)], timeout=2.0)
            ended = TaskEnd(number, error="stopped")
        if isinstance(ended, _ClusterGoneError):
            self._why_gone = str(ended)
            self._gone.set()
        if not isinstance(ended, TaskEnd):
            ended = TaskEnd(number, error=_words(ended))
        self._runs.pop(number, None)
        if not self._runs:
            self._blobs.clear()
        if ended.run and number in self._told:
            self._told_by(number, ended.run, ended.worker)
        told = self._told.pop(number, _Told())
        said = ended.output[0 if told.again else max(told.bytes - ended.start, 0) :]
        self._tell(ClusterNews(ended=replace(ended, output=said, again=told.again)))

    async def _ended(self, task: RemoteTask) -> TaskEnd:
        """Run it again where a worker, the scheduler or a file got lost."""
        from distributed.client import FutureCancelledError

        lost: BaseException | None = None
        for _ in range(_TRIES):
            client = await self._connected()
            ended = await _settled(self._prepared_once(client, task))
            if isinstance(ended, TaskEnd):
                return ended
            gone = client is not self._client or client.status != "running"
            if isinstance(ended, FileNotFoundError):  # it was changed since the look
                self._trees.clear()
            elif not gone and not isinstance(ended, (FutureCancelledError, OSError)):
                raise ended
            lost = ended
        why = "" if lost is None else f", at last: {_words(lost)}"
        raise OSError(f"it was lost {_TRIES} times{why}") from lost

    async def _prepared_once(self, client: Any, task: RemoteTask) -> TaskEnd:
        return await self._once(client, await self._prepared(task, await self._now()))

    async def _once(self, client: Any, task: RemoteTask) -> TaskEnd:
        """Have a worker run it; one that lacks something is sent it. Raises what Dask raises."""
        tree = self._trees[task.tree]
        program = _program(task.argv)
        at: list[str] | None = None
        unfit = ""
        for turn in range(_TRIES):
            fit, unfit = await self._fit(client, tree, program)
            if not fit:
                break
            at = at or (fit if unfit else None)
            key = f"duetto-{self._topic}-{task.number}-{time.monotonic_ns()}-{turn}"
            future = client.submit(
                worker.run,
                msgspec.msgpack.encode(task),
                key,
                key=key,
                pure=False,
                workers=at,
                allow_other_workers=at is not None,
            )
            try:
                ended = from_msgpack(await self._result(client, future), TaskEnd)
            finally:
                future.release()
            if not ended.lacks and not ended.unfit:
                return ended
            if ended.unfit:
                at = None
                self._sent.setdefault(ended.worker, _Sent()).unfit[program] = ended.unfit
                self._say(f"{ended.worker}: {ended.unfit}")
            else:
                await self._provide(client, ended.worker, tree, ended.lacks)
                at = [ended.worker]
        if unfit:
            return TaskEnd(task.number, error=f"no worker can run it: {unfit}")
        raise OSError("the workers lose what they are sent")

    async def _result(self, client: Any, future: Any) -> bytes:
        """What Dask gives; not where all workers are gone and none comes."""

        async def waits() -> bytes:
            return bytes(await future)

        waiting, since_s = asyncio.ensure_future(waits()), time.monotonic()
        try:
            while not (await asyncio.wait([waiting], timeout=_LOOK_S))[0]:
                if client.scheduler_info(n_workers=-1)["workers"]:
                    since_s = time.monotonic()
                elif time.monotonic() - since_s > _WAIT_S:
                    raise _ClusterGoneError(self._no_worker)
            return waiting.result()
        finally:
            waiting.cancel()

    @property
    def _no_worker(self) -> str:
        return f"no worker came to {self._server} in {_WAIT_S:.0f} s"

    async def _fit(
        self, client: Any, tree: SentTree, program: tuple[str, ...] | str
    ) -> tuple[list[str], str]:
        """The workers that can run it, and why others cannot; empty: all can.

        Waits for a first one. Each is sent the tree, and says what it is.
        """
        try:
            await client.wait_for_workers(1, timeout=_WAIT_S)
        except TimeoutError:
            raise _ClusterGoneError(self._no_worker) from None
        there = list(client.scheduler_info(n_workers=-1)["workers"])
        works = (self._provide(client, one, tree) for one in there)
        unfit: dict[str, str] = {}
        errors = zip(there, await asyncio.gather(*works, return_exceptions=True), strict=True)
        for address, error in errors:
            if isinstance(error, BaseException):
                if isinstance(error, FileNotFoundError) or len(unfit) + 1 == len(there):
                    raise error
                unfit[address] = _words(error)
                self._say(f"{address} judges nothing: {unfit[address]}")
            elif (sent := self._sent.get(address)) is not None and program in sent.unfit:
                unfit[address] = sent.unfit[program]
        return [one for one in there if one not in unfit], next(iter(unfit.values()), "")

    async def _provide(
        self, client: Any, address: str, tree: SentTree, lacks: Collection[str] = ()
    ) -> None:
        """Send what a worker lacks, and nothing else."""
        sent = self._sent.setdefault(address, _Sent())
        with contextlib.suppress(KeyError):  # it left meanwhile
            async with sent.lock:
                if not sent.trees:
                    await self._look_at(client, address)
                if "tree" in lacks or tree.name not in sent.trees:
                    data, at = msgspec.msgpack.encode(tree), {"workers": [address]}
                    names = (await client.run(worker.lacking, data, **at))[address]
                    async for pack in self._packs(names):
                        await client.run(worker.put, pack, **at)
                    await client.run(worker.build, data, **at)
                    sent.trees.add(tree.name)
                others = {one: self._blobs[one] for one in lacks if one in self._blobs}
                if others:
                    await client.run(worker.put, others, workers=[address])

    async def _packs(self, names: Iterable[str]) -> Any:
        """The bytes of these names, some MB at a time."""
        pack: dict[str, bytes] = {}
        for name in names:
            pack[name] = await asyncio.to_thread(self._disk.bytes_of, name)
            if sum(map(len, pack.values())) > _PACK_BYTES or len(pack) > 500:
                yield pack
                pack = {}
        if pack:
            yield pack

    async def _look_at(self, client: Any, address: str) -> None:
        """Say in what a worker differs."""
        try:
            said = (await client.run(worker.facts, workers=[address]))[address]
        except ModuleNotFoundError:
            why = f"{address} has no duetto {tui.__version__}: {EXTRA} there"
            raise RuntimeError(why) from None
        ours = await worker.own_facts("here", self._root)
        python = next(iter(self._pythons.values()), platform.python_version())
        theirs = from_msgpack(said, WorkerFacts)
        for words in differences([theirs], replace(ours, python=python)):
            self._say(words)

    async def _now(self) -> SentTree:
        """The workspace on the disk, looked at after this was called; one look serves many."""
        if self._next is None:
            self._next = asyncio.create_task(self._look_behind(self._look))
        return await asyncio.shield(self._next)

    async def _look_behind(self, before: asyncio.Task[SentTree] | None) -> SentTree:
        if before is not None:
            await asyncio.wait([before])
        self._look, self._next = self._next, None
        return await asyncio.to_thread(self._disk.look)

    async def _prepared(self, task: RemoteTask, disk: SentTree) -> RemoteTask:
        """The task over a tree that is sent already, where the disk has not become another one."""
        base = next(reversed(self._trees.values()), SentTree())
        changed = _changed(base, disk)
        if len(changed) > _NEAR or not base.files or base.links != disk.links:
            base, changed = disk, []
            while len(self._trees) > 1:  # tasks of the last one may be under way
                del self._trees[next(iter(self._trees))]
            self._trees[base.name] = base
        on_disk: dict[str, bytes | None] = {}
        for path in changed:
            there = disk.files.get(path)
            on_disk[path] = None if there is None else self._disk.bytes_of(there[0])
        texts, held = await asyncio.to_thread(self._disk.public, task.texts)
        for path in held:
            self._say(f"{path} stays on this machine: it is private or ignored")
        if left := self._disk.left_out:
            more = f" and {len(left) - 3} more" if len(left) > 3 else ""
            names = f"{', '.join(left[:3])}{more}"
            verb = "stays" if len(left) == 1 else "stay"
            why = "private or ignored: tests there run without ([attempts] send names ignored ones)"
            self._say(f"{names} {verb} on this machine, {why}")
        if not isinstance(task.argv, str):
            await asyncio.to_thread(self._learn_python, task.argv[0])
        given = {**on_disk, **texts}
        large = {
            path: blob_name(data)
            for path, data in given.items()
            if data is not None and len(data) > _INLINE_BYTES
        }
        self._blobs.update({name: given[path] or b"" for path, name in large.items()})
        small = {path: data for path, data in given.items() if path not in large}
        return replace(task, tree=base.name, texts=small, large=large, topic=self._topic)

    def _learn_python(self, program: str) -> None:
        """The version of a Python that tests run with here."""
        name = os.path.basename(program)
        if not name.startswith("python") or program in self._pythons:
            return
        self._pythons[program] = platform.python_version()
        if program != sys.executable:
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                argv = [os.path.join(self._root, program), "-I", "-S", "-V"]
                ran = subprocess.run(argv, capture_output=True, text=True, timeout=5, check=True)
                self._pythons[program] = ran.stdout.split()[-1]


async def _settled(work: Coroutine[Any, Any, TaskEnd]) -> TaskEnd | BaseException:
    """What it gives, or why it gives nothing: Dask raises whatever was raised on a worker."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task])
    finally:
        task.cancel()
    return task.exception() or task.result()


def _program(argv: tuple[str, ...] | str) -> tuple[str, ...] | str:
    """What of a command a worker may lack: ``python -m ruff`` says nothing of ``python``."""
    return argv if isinstance(argv, str) else argv[: 3 if argv[1:2] in (("-m",), ("-c",)) else 1]


def _changed(before: SentTree, now: SentTree) -> list[str]:
    """Files of which one has another text than the other."""
    paths = {**before.files, **now.files}
    return [path for path in paths if before.files.get(path) != now.files.get(path)]


def _words(error: BaseException) -> str:
    """Why there is no result."""
    if type(error).__name__ == "KilledWorker":
        return "the workers that ran it died one after the other: it may need more memory there"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, ModuleNotFoundError):
        return f"a worker lacks {error.name}: {EXTRA} there"
    return str(error) or type(error).__name__


def main() -> None:
    """Until stdin ends."""
    server, root, topic, *sent = sys.argv[1:]
    asyncio.run(_serve(ClusterClient(server, root, topic, _tell, sent)))


def _tell(told: ClusterNews) -> None:
    data = msgspec.msgpack.encode(told)
    sys.stdout.buffer.write(len(data).to_bytes(4, "big") + data)
    sys.stdout.buffer.flush()


async def _serve(client: ClusterClient) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    orders: asyncio.Queue[ClusterOrder] = asyncio.Queue()

    def read() -> None:
        stdin = sys.stdin.buffer
        try:
            while head := stdin.read(4):
                order = from_msgpack(stdin.read(int.from_bytes(head, "big")), ClusterOrder)
                loop.call_soon_threadsafe(orders.put_nowait, order)
        finally:
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read, daemon=True).start()
    serving = asyncio.create_task(client.serve(orders))
    ending = asyncio.create_task(ended.wait())
    await asyncio.wait([serving, ending], return_when=asyncio.FIRST_COMPLETED)
    serving.cancel()
    await asyncio.wait([serving], timeout=1.0)
    await client.close()


if __name__ == "__main__":
    main()

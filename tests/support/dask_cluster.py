"""A real Dask cluster of processes on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.support.sockets import own_port

ROOT = Path(__file__).parents[2]
_DEATH_SIGNAL = 1
_LIBC = ctypes.CDLL(None)


def _ends_with_us() -> None:
    """Nothing of it outlives a test run that is killed (Linux)."""
    with contextlib.suppress(AttributeError):
        _LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL)


class DaskCluster:
    """A scheduler, and workers of one thread each, which have no nanny that starts them again."""

    def __init__(self, folder: Path, protocol: str = "tcp", **variables: str) -> None:
        """``variables`` are in the environment of all of it."""
        self.folder, self._protocol, self._variables = folder, protocol, variables
        folder.mkdir()
        self.port = own_port()
        self.server = f"{protocol}://127.0.0.1:{self.port}"
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.scheduler = self._scheduler()
        self._await_scheduler()

    def _await_scheduler(self) -> None:
        """Until it listens: on a busy machine that takes longer than duetto waits for one."""
        while True:
            assert self.scheduler.poll() is None, (self.folder / "scheduler.log").read_text()
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            time.sleep(0.05)

    def _start(
        self, name: str, module: str, *arguments: str, **variables: str
    ) -> subprocess.Popen[bytes]:
        own = {"PYTHONPATH": str(ROOT), "WORKER": name}
        own |= {"DASK_TEMPORARY_DIRECTORY": str(self.folder / "scratch")}
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"],
                env={**os.environ, **own, **self._variables, **variables},
                cwd=self.folder,
                preexec_fn=_ends_with_us,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _scheduler(self) -> subprocess.Popen[bytes]:
        place = ("--host", "127.0.0.1", "--port", str(self.port), "--protocol", self._protocol)
        return self._start("scheduler", "dask_scheduler", *place, "--no-show")

    def add(self, name: str, **variables: str) -> None:
        """Another worker, with these variables in its environment."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        threads = ("--nthreads", "1", "--nworkers", "1", "--no-nanny")
        place = ("--host", "127.0.0.1", "--local-directory", str(folder), "--name", name)
        place += ("--protocol", self._protocol)
        self.workers[name] = self._start(
            name, "dask_worker", self.server, *threads, *place, "--death-timeout", "60", **variables
        )

    def wait(self) -> None:
        """Until the scheduler knows all workers."""
        for name in self.workers:
            while b"Registered to" not in (self.folder / f"{name}.log").read_bytes():
                time.sleep(0.05)

    def kill(self, name: str) -> None:
        """As a power cut does."""
        self.workers[name].kill()
        self.workers.pop(name).wait()

    async def restart_scheduler(self) -> None:
        """It forgets everything; the workers leave, as Dask's do, and are started again."""
        self.scheduler.kill()
        self.scheduler.wait()
        names = list(self.workers)
        for name in names:
            worker = self.workers.pop(name)
            try:
                await asyncio.to_thread(worker.wait, 20)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self.scheduler = self._scheduler()
        for name in names:
            self.add(name)

    def close(self) -> None:
        """End all of it."""
        for process in (*self.workers.values(), self.scheduler):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()

"""One connection of a client: reads frames, has runs played, writes frames."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Protocol

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import Run

KEEP_ALIVE_S = 15.0
"""A run that says nothing for so long (at most twice as long) repeats that it is in progress: some
clients count only text frames as life (PROTOCOL section 10)."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Part:
    """One run to be played."""

    run: Run
    flush: Callable[[], Awaitable[None]]
    """Writes what was said; waits while the client does not read."""
    told: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the run was steered or interrupted."""


class Performer(Protocol):
    """Who answers on a connection."""

    @property
    def steers(self) -> bool:
        """Whether it ends a steered run at the next item boundary."""

    async def perform(self, part: Part) -> None:
        """Play a run to its end, whatever happens; cancelled when the client is gone."""


class Stage:
    """One connection."""

    def __init__(self, socket: ServerConnection, performer: Performer, prefix: str) -> None:
        """``prefix`` makes the response ids unique over connections."""
        self._socket = socket
        self._performer = performer
        self._protocol = ServerProtocol(prefix, steering=performer.steers)
        self._parts: dict[str, Part] = {}
        """By response id."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._writing = asyncio.Lock()
        self._unsent: deque[str] = deque()

    async def run(self, max_age_s: float | None = None) -> None:
        """Serve until the client is gone or the time is up; then all work for it stops."""
        try:
            with contextlib.suppress(ConnectionClosed):
                try:
                    async with asyncio.timeout(max_age_s):
                        await self._read()
                except TimeoutError:
                    self._protocol.limit_reached()
                    await self._write()
                    await self._socket.close(1000, "Session duration limit reached")
        finally:
            self._protocol.connection_lost()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self) -> None:
        async for message in self._socket:
            if isinstance(message, str):
                self._protocol.receive_text(message, int(time.time()))
            else:
                self._protocol.receive_binary()
            self._wake()
            await self._write()

    def _wake(self) -> None:
        """Start what may start, and tell the runs that were steered or interrupted."""
        for run in self._protocol.accept():
            part = self._parts[run.response_id] = Part(run, self._write)
            self._spawn(self._play(part), run)
        told = [run for run in self._protocol.running() if run.steered]
        for run in [*told, *self._protocol.interrupted_runs()]:
            if run.response_id in self._parts:
                self._parts[run.response_id].told.set()

    def _spawn(self, work: Coroutine[None, None, None], run: Run) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(functools.partial(self._reap, run))

    def _reap(self, run: Run, task: asyncio.Task[None]) -> None:
        """A run's task is over: if it broke, the client hears of it."""
        self._tasks.discard(task)
        self._parts.pop(run.response_id, None)
        if task.cancelled() or task.exception() is None:
            return
        _log.error("a run of the bridge broke", exc_info=task.exception())
        if not run.done:
            run.fail("server_error", "The bridge broke while it answered; see the log.")
            self._wake()
            self._spawn(self._write(), run)

    async def _play(self, part: Part) -> None:
        """Play one run to its end, then start what waited for it."""
        reminding = asyncio.create_task(self._remind(part.run))
        try:
            await self._performer.perform(part)
        finally:
            reminding.cancel()
        self._wake()
        await self._write()

    async def _remind(self, run: Run) -> None:
        """Repeat that a run is in progress whenever it was silent for long."""
        said = run.said
        while True:
            await asyncio.sleep(KEEP_ALIVE_S)
            if run.said == said:
                run.keep_alive()
                await self._write()
            said = run.said

    async def _write(self) -> None:
        """Write what waits, in order; a client that does not read makes its runs wait here.

        Of a client that is gone nobody is told here: the reader ends everything then. Cancelled,
        it loses nothing: a frame is with the socket before the first await, the rest stays.
        """
        self._unsent.extend(self._protocol.data_to_send())
        async with self._writing:
            with contextlib.suppress(ConnectionClosed):
                while self._unsent:
                    await self._socket.send(self._unsent.popleft())

"""One connection of a client: reads what it says, has its runs answered, writes events."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field
from websockets.exceptions import ConnectionClosed

from tui.bridge.client_transport import ClientTransport
from tui.bridge.time_slices import in_turns
from tui.core.wire.client_events import client_in_steps
from tui.core.wire.json_reading import read_in_steps
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.responses import StoredResponses
from tui.core.wire.server.run import Run

KEEP_ALIVE_S = 15.0
"""A run that says nothing for so long (at most twice as long) repeats that it is in progress: some
clients count only text frames as life (PROTOCOL section 10)."""
MOST_UNREAD_BYTES = 512 * 1024
"""So much of our answers may wait for a client before it is listened to no more; its interrupts
are heard till then."""
_log = logging.getLogger(__name__)


class RunChanges:
    """A word to who plays a run: it was steered, throttled or interrupted.

    It is heard at once: a task that waited for it would stand behind those of all streams, and so
    would each task that it wakes.
    """

    def __init__(self) -> None:
        self.notify: Callable[[], None] = lambda: None
        """Set by who plays it."""


class RunJob(Struct, frozen=True):
    """One run to be played."""

    run: Run
    flush: Callable[[], Awaitable[None]]
    """Writes what was said, at once; what it returns waits while the client does not read."""
    changes: RunChanges = field(default_factory=RunChanges)


class Responder(Protocol):
    """Who answers on a connection."""

    async def respond(self, job: RunJob) -> None:
        """Play a run to its end, whatever happens; cancelled when the client is gone.

        A steered one is ended at the next item boundary.
        """

    async def warm(self, request: Mapping[str, Any]) -> None:
        """A client has announced requests like this one."""


class ClientConnection:
    """One connection."""

    def __init__(
        self,
        connection: ClientTransport,
        responder: Responder,
        prefix: str,
        stored: StoredResponses,
    ) -> None:
        """``prefix`` makes the response ids unique over connections.

        ``stored`` holds what the user's other connections have stored.
        """
        self._connection = connection
        self._responder = responder
        self._protocol = ServerProtocol(prefix, steering=True, shelf=stored)
        self._jobs: dict[str, RunJob] = {}
        """By response id."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._reminding: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._leaving = False
        self._left: asyncio.Task[None] | None = None

    def leave(self) -> None:
        """Close as soon as nothing runs any more: another bridge will serve this client."""
        self._leaving = True
        self._leave_if_idle()

    async def run(self, max_age_s: float | None = None) -> None:
        """Serve until the client is gone or the time is up; then all work for it stops."""
        try:
            with contextlib.suppress(ConnectionClosed):
                try:
                    async with asyncio.timeout(max_age_s):
                        await self._read()
                except TimeoutError:
                    self._protocol.limit_reached()
                    await self._stop_work()
                    self._connection.write(self._protocol.data_to_send())
                    await self._connection.close(1000, "Session duration limit reached")
        finally:
            self._protocol.connection_lost()
            await self._stop_work()

    async def _stop_work(self) -> None:
        work = [*self._tasks, self._reminding, self._warming]
        tasks = [task for task in work if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self) -> None:
        async for message in self._connection.messages():
            try:
                if message is None:
                    self._protocol.receive_binary()
                elif isinstance(message, str | bytes):
                    event = await in_turns(client_in_steps(message))
                    size_bytes = await in_turns(read_in_steps(message))
                    self._protocol.receive(event, size_bytes, int(time.time()))
                else:
                    self._protocol.receive(*message, int(time.time()))
                    self._leaving = True  # it is the one request of its connection
                self._wake()
            except RecursionError:
                self._protocol.misread()
            self._connection.write(self._protocol.data_to_send())
            if self._connection.unread_bytes > MOST_UNREAD_BYTES:
                await self._connection.drained()
            self._leave_if_idle()

    def _leave_if_idle(self) -> None:
        # A response that has ended may not have been written yet, and others may wait for its lane.
        if self._leaving and not self._tasks and self._left is None:
            leaving = self._connection.close(1012, "The bridge is restarting")
            self._left = asyncio.create_task(leaving)

    def _wake(self) -> None:
        """Start what may start, and tell the runs that were steered or interrupted."""
        for run in self._protocol.accept():
            job = self._jobs[run.response_id] = RunJob(run, self._write)
            task = asyncio.create_task(self._play(job))
            self._tasks.add(task)
            task.add_done_callback(functools.partial(self._reap, run))
            if self._reminding is None or self._reminding.done():
                self._reminding = asyncio.create_task(self._remind())
        for request in self._protocol.prewarmed()[-1:]:
            if self._warming is None or self._warming.done():
                self._warming = asyncio.create_task(self._responder.warm(request))
                self._warming.add_done_callback(_warmed)
        told = [run for run in self._protocol.running() if run.steered]
        for run in told + self._protocol.interrupted_runs() + self._protocol.throttled_runs():
            if run.response_id in self._jobs:
                self._jobs[run.response_id].changes.notify()

    def _reap(self, run: Run, task: asyncio.Task[None]) -> None:
        """A run's task is over: if it broke, the client hears of it."""
        self._tasks.discard(task)
        self._jobs.pop(run.response_id, None)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._tell_of(error, run)
        self._leave_if_idle()

    def _tell_of(self, error: BaseException, run: Run) -> None:
        log_without_words("a run of the bridge broke", error)
        if isinstance(error, RecursionError):
            run.refuse(400, "invalid_request", "The request is nested too deeply.", "input")
        else:
            run.fail("server_error", "The bridge broke while it answered; see the log.")
        self._wake()
        self._connection.write(self._protocol.data_to_send())

    async def _play(self, job: RunJob) -> None:
        """Play one run to its end, then start what waited for it."""
        await self._responder.respond(job)
        self._wake()
        await self._write()

    async def _remind(self) -> None:
        """Repeat that a run is in progress whenever it was silent for long."""
        said: dict[str, int] = {}
        while runs := self._protocol.running():
            await asyncio.sleep(KEEP_ALIVE_S)
            for run in runs:
                # One that is not read is not silent: it waits.
                if run.said == said.get(run.response_id) and not self._connection.needed:
                    run.keep_alive()
            self._connection.write(self._protocol.data_to_send())
            said = {run.response_id: run.said for run in runs}

    def _write(self) -> ClientTransport:
        """Write what waits, in order; a client that does not read makes its runs wait for it.

        Of a client that is gone nobody is told here: the reader ends everything then.
        """
        self._connection.write(self._protocol.data_to_send())
        return self._connection


def _warmed(task: asyncio.Task[None]) -> None:
    """A connection could not be made ahead: the request itself will say what is wrong."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        log_without_words("a connection could not be made ahead", error)


def log_without_words(what: str, error: BaseException) -> None:
    """Log where an error came from, without its words: they may quote a prompt or a key."""
    frames = traceback.extract_tb(error.__traceback__)
    places, kind = "".join(traceback.format_list(frames)), type(error).__name__
    last = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    _log.error("%s: %s\n%s", what, kind, places, extra={"what": what, "kind": kind, "place": last})

"""One connection of a client: reads what it says, has its runs answered, writes events.

Answers the runs of a connection by asking endpoints, with the powers that they have not. An
interrupt ends the one request and is answered the protocol's way; steering cuts at the next item
boundary; words come as slowly as the client wants; where an endpoint does not begin to answer the
model's fallbacks do. Whoever answers is the same to the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field
from websockets.exceptions import ConnectionClosed

from tui.bridge.client_transport import ClientTransport
from tui.bridge.endpoints.base import Broken, Refused, ResponseFailed, Steered
from tui.bridge.endpoints.response_writer import ResponseWriter, TokenRate
from tui.bridge.routing import Candidate, Route
from tui.bridge.time_slices import in_turns
from tui.core.wire.client_events import client_in_steps
from tui.core.wire.json_reading import read_in_steps
from tui.core.wire.rate_limits import pause_header
from tui.core.wire.refusals import UNREACHED
from tui.core.wire.server.protocol import ServerProtocol, StoredResponses
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


SHORT_PAUSE_S = 2.0
"""A provider that asks to be left alone for no longer is asked again here, once; after that, and
of longer pauses, the client is told: it waits and asks again by itself."""
_BUSY = (429, 503, 529)
_OF_THE_ENDPOINT = frozenset(
    {"not_an_endpoint", "endpoint_redirects", "proxy_not_supported", "unknown_endpoint_kind"}
)
"""Codes of refusals that are not about the request, whatever their status."""
_OVERLOADED = ("overloaded_error", "server_is_overloaded")
"""Codes that clients know, as they do ``server_error``."""
_OF_THE_MODEL = frozenset(
    {
        "context_length_exceeded",
        "model_not_found",
        "image_not_supported",
        "file_not_supported",
    }
)
"""Codes of refusals that are about this model: one with a larger window, or with eyes, may take
the same request."""
_TOO_BIG_STATUS = 413


class EndpointResponder:
    """Endpoints as who answers (`client.Responder`)."""

    def __init__(self, route: Route) -> None:
        self._route = route

    async def warm(self, request: Mapping[str, Any]) -> None:
        """Open the connection that the next request like this one will take."""
        try:
            candidates = await self._route(request, [])
            await candidates[0].endpoint.warm()
        except (Refused, Broken):
            return  # the request itself will say it

    async def respond(self, job: RunJob) -> None:
        """Have one run answered; an interrupt closes the request."""
        run, answering_run = job.run, _Answering(job)
        answering = asyncio.ensure_future(answering_run.play(self._route))

        def cut() -> None:
            if _ends(run) and not answering.cancelling():
                answering.cancel()

        job.changes.notify = cut
        cut()
        try:
            await asyncio.wait({answering})
        finally:
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)
        if not _ends(run):
            await answering
        answering_run.end()


class _Answering:
    """One run, and who has been asked to answer it."""

    def __init__(self, job: RunJob) -> None:
        self._job = job
        self._run = job.run
        self._writer = ResponseWriter(job.run, job.flush)
        self._failed: list[tuple[Candidate, Refused | Broken]] = []

    async def play(self, route: Route) -> None:
        """Ask until somebody answers, and tell the run how it ended."""
        try:
            candidates = await route(self._run.request, self._run.full_input)
        except Refused as error:
            self._refuse(error, None)
            return
        for candidate in candidates:
            self._begin(candidate)
            try:
                await self._ask(candidate)
                return
            except Steered:
                self._writer.drop()
                self._writer.finish_steered()
                return
            except (Refused, Broken) as error:
                self._failed.append((candidate, error))
                if self._writer.began or not _elsewhere(error, candidates):
                    break
        self._give_up()

    def end(self) -> None:
        """End a run that was cut: as it was interrupted, or for the client's new input."""
        self._writer.drop()
        if self._run.interrupted:
            self._run.finish_interrupted(self._writer.usage)
        elif self._run.steered and not self._run.done:
            self._writer.finish_steered()

    async def _ask(self, candidate: Candidate) -> None:
        """Have one endpoint answer; once more if it only wants a moment.

        Raises Refused, Broken, Steered.
        """
        try:
            await self._answered(candidate)
        except Refused as error:
            pause_s = error.retry_after_s
            again = error.status in _BUSY and pause_s is not None and pause_s <= SHORT_PAUSE_S
            if not again or self._writer.began:
                raise
            await asyncio.sleep(pause_s or 0.0)
            await self._answered(candidate)

    async def _answered(self, candidate: Candidate) -> None:
        await candidate.endpoint.answer(candidate.asked, self._writer)
        await self._writer.flush()  # what is held still
        if not self._run.done:
            raise Broken("The answer ended before the response did.")

    def _begin(self, candidate: Candidate) -> None:
        """Say who is asked now; the first one's word of himself is not the second one's."""
        self._run.served.clear()
        pace = TokenRate(self._run, candidate.tokens_s)
        self._writer = ResponseWriter(self._run, self._job.flush, pace, candidate.mask)
        if not candidate.name:
            return
        self._writer.note(duetto_endpoint=candidate.name, duetto_model=candidate.asked.model)
        if self._failed:
            failed, error = self._failed[0]
            self._writer.served = candidate.asked.model
            self._writer.note(duetto_fallback_reason=failed.mask.text(str(error)))
            self._run.keep_alive()  # the client sees it before the words

    def _give_up(self) -> None:
        """Nobody answered: what the first choice said counts, and who else was asked is named."""
        candidate, error = self._failed[0]
        if self._writer.began:
            candidate, error = self._failed[-1]
        words = candidate.mask.text(str(error))
        if not self._writer.began and len(self._failed) > 1:
            others = "; ".join(
                f"{other.name}: {other.mask.text(str(why))}" for other, why in self._failed[1:]
            )
            words = f"{words} Nor did its fallbacks answer: {others}"
        if self._writer.began:
            self._writer.drop()
            self._run.fail(candidate.mask.text(_late_code(error)), words, self._writer.usage)
        elif isinstance(error, ResponseFailed):
            told = {"code": candidate.mask.text(error.code), "message": words}
            self._run.conclude("failed", {**error.response, "error": told})
        elif isinstance(error, Refused):
            self._refuse(error, candidate, words)
        else:
            unreached = isinstance(error, Broken) and error.unreached
            self._run.refuse(502, UNREACHED if unreached else error.code, words)

    def _refuse(self, error: Refused, candidate: Candidate | None, words: str = "") -> None:
        code, param = error.code, error.param
        if candidate is not None:
            code, param = candidate.mask.text(code), candidate.mask.text(param)
        headers = pause_header(error.retry_after_s)
        self._run.refuse(error.status, code, words or str(error), param or None, headers)


def _elsewhere(error: Refused | Broken, candidates: Sequence[Candidate]) -> bool:
    """Whether another endpoint may answer what this one has not."""
    if len(candidates) < 2 or isinstance(error, Broken):
        return True
    if error.code in _OF_THE_ENDPOINT or error.code in _OF_THE_MODEL:
        return True
    return error.elsewhere or error.status == _TOO_BIG_STATUS


def _late_code(error: Refused | Broken) -> str:
    """The code for a response that fails in the midst, where no status tells what it means."""
    if isinstance(error, Broken):
        return error.code
    if error.status >= 500:
        return error.code if error.code in _OVERLOADED else "server_error"
    owes = any(word in error.code for word in ("quota", "credit", "billing", "payment"))
    return "rate_limit_exceeded" if error.status == 429 and not owes else error.code


def _ends(run: Run) -> bool:
    """Whether a run is to stop now: interrupted, or steered while no item is open.

    Steered in the midst of an item it stops at that one's end.
    """
    return run.interrupted or (run.steered and not run.unfinished)

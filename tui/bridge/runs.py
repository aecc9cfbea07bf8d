"""Answers the runs of a connection by asking endpoints, with the powers that they have not.

An interrupt ends the one request and is answered the protocol's way; steering cuts at the next
item boundary; words come as slowly as the client wants; where an endpoint does not begin to answer
the model's fallbacks do. Whoever answers is the same to the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from tui.bridge.client_connection import RunJob
from tui.bridge.endpoints.base import Broken, Refused, ResponseFailed, Steered
from tui.bridge.endpoints.response_writer import ResponseWriter, TokenRate
from tui.bridge.routing import Candidate, Route
from tui.core.wire.rate_limits import pause_header
from tui.core.wire.refusals import UNREACHED
from tui.core.wire.server.run import Run

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
            candidates = await self._route.candidates(request, [])
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
            candidates = await route.candidates(self._run.request, self._run.full_input)
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

"""One connection of a user, and what is asked and noted around each of its responses."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tui.bridge.connection import Connection
from tui.bridge.endpoints.telling import CHARS_PER_TOKEN, estimated_input
from tui.bridge.stage import Part, Performer, Stage
from tui.bridge.team.limits import Limits, Window, whole_seconds
from tui.bridge.team.metrics import Account, tokens_of
from tui.bridge.team.roster import Guest
from tui.core.wire.rate_limits import pause_header
from tui.core.wire.server.responses import StoredResponses
from tui.core.wire.server.run import Run

if TYPE_CHECKING:
    from tui.bridge.team.gate import Gate

ANSWER_CLOSE_S = 0.3
"""A client is given so long to say goodbye before its socket is cut."""

_RATE = re.compile(r"@\d+(\.\d+)?$")
"""Behind a model's name: the tokens a second that its user wants to see."""
_NAME = re.compile(r"[\w.:/@+-]{0,128}")


class Refusal(NamedTuple):
    """Why a response may not begin now."""

    status: int
    code: str
    words: str
    pause_s: int | None = None


class Quota:
    """What one user has taken, over all connections."""

    def __init__(self) -> None:
        self.limits = Limits()
        self.shelf = StoredResponses()
        self.visits: set[Visit] = set()
        self.in_flight = 0
        self._requests = Window()
        self._tokens = Window()

    def refusal(self, now_s: float) -> Refusal | None:
        """Why nothing more may begin; None: it may, and is counted."""
        limits = self.limits
        if limits.in_flight is not None and self.in_flight >= limits.in_flight:
            words = f"{limits.in_flight} of your responses are in flight: wait for one to end."
            return _too_much(words, 1)
        pause_s = self._requests.pause_s(limits.requests_minute, now_s)
        if pause_s:
            words = f"You may ask for {limits.requests_minute} responses a minute"
            return _too_much(words, whole_seconds(pause_s))
        pause_s = self._tokens.pause_s(limits.tokens_minute, now_s)
        if pause_s:
            words = f"You may use {limits.tokens_minute} tokens a minute"
            return _too_much(words, whole_seconds(pause_s))
        self._requests.take(1, now_s)
        return None

    def used(self, tokens: int, now_s: float) -> None:
        """Count the tokens of a response that has ended."""
        if tokens:
            self._tokens.take(tokens, now_s)


class Visit:
    """See `admission.Visit`."""

    def __init__(self, gate: Gate, guest: Guest, quota: Quota, connection: Connection) -> None:
        self.guest = guest
        self.quota = quota
        self.responses = 0
        self._gate = gate
        self._connection = connection
        self._stage: Stage | None = None
        self._ending: asyncio.Task[None] | None = None

    @property
    def shelf(self) -> StoredResponses:
        """See `admission.Visit`."""
        return self.quota.shelf

    def attended(self, performer: Performer) -> Performer:
        """See `admission.Visit`."""
        return _Attended(performer, self)

    def staged(self, stage: Stage) -> None:
        """See `admission.Visit`."""
        self._stage = stage
        if self._gate.draining:
            stage.leave()

    def leave(self) -> None:
        """End when nothing runs any more.

        What is asked meanwhile beside a running response is answered: any word that sends the
        client elsewhere would cost it that response.
        """
        if self._stage is not None:
            self._stage.leave()

    def end(self, code: int, reason: str) -> None:
        """End now, whatever runs, and whether the client answers or not."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(code, reason))

    async def _end(self, code: int, reason: str) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_CLOSE_S):
                await self._connection.close(code, reason)
        self._connection.abort()

    def begin(self, run: Run) -> Refusal | None:
        """Whether a response may begin; None: it may."""
        refusal = self.quota.refusal(time.monotonic())
        if refusal is not None:
            self._gate.turned_away(refusal.code, user=self.guest.name, status=refusal.status)
        return refusal

    def ended(self, run: Run, began_s: float, worded_s: float | None) -> None:
        """Keep account of a response that is over."""
        now_s = time.monotonic()
        account = self._gate.account_of(run, now_s - began_s, worded_s)
        self.quota.used(account.tokens.get("input", 0) + account.tokens.get("output", 0), now_s)
        self._gate.count(self.guest.name, account)


class _Attended:
    """A performer with the user's limits before it and the account behind it."""

    def __init__(self, performer: Performer, visit: Visit) -> None:
        self._performer = performer
        self._visit = visit

    async def warm(self, request: Mapping[str, Any]) -> None:
        """See `stage.Performer`."""
        await self._performer.warm(request)

    async def perform(self, part: Part) -> None:
        """See `stage.Performer`."""
        run, quota = part.run, self._visit.quota
        refusal = self._visit.begin(run)
        if refusal is not None:
            headers = pause_header(refusal.pause_s)
            run.refuse(refusal.status, refusal.code, refusal.words, None, headers)
            return
        watch = _Watch(run, part.flush)
        quota.in_flight += 1
        self._visit.responses += 1
        try:
            await self._performer.perform(dataclasses.replace(part, flush=watch.flush))
        finally:
            quota.in_flight -= 1
            watch.look()
            self._visit.ended(run, watch.began_s, watch.worded_s)


class _Watch:
    """Sees when the first text of an answer goes out."""

    def __init__(self, run: Run, flush: Callable[[], Awaitable[None]]) -> None:
        self.began_s = time.monotonic()
        self.worded_s: float | None = None
        self._run = run
        self._flush = flush

    def look(self) -> None:
        """Note the time if there is text now."""
        if self.worded_s is None and self._run.chars:
            self.worded_s = time.monotonic() - self.began_s

    def flush(self) -> Awaitable[None]:
        """Write what was said."""
        self.look()
        return self._flush()


def _too_much(words: str, pause_s: int) -> Refusal:
    if not words.endswith("."):
        words += f": wait {pause_s} s."
    return Refusal(429, "rate_limit_exceeded", words, pause_s)


def account_of(run: Run, where: tuple[str, str, str], times: tuple[float, float | None]) -> Account:
    """A run that is over; ``where``: endpoint, kind, provider; ``times``: whole, and TTFT.

    Of one whose client left nobody told the tokens, and leaving must not make them free.
    """
    ending = run.ending or {"status": "abandoned", "usage": _estimated(run)}
    model = run.served.get("model") or _RATE.sub("", str(run.request.get("model") or ""))
    return Account(
        *where,
        _name(str(model)),
        ending["status"],
        _name(ending.get("code") or ending.get("reason") or ""),
        tokens_of(ending.get("usage")),
        *times,
    )


def _name(text: str) -> str:
    """A model or a code; whoever says a sentence instead is not repeated in a log."""
    return text if _NAME.fullmatch(text) else "other"


def _estimated(run: Run) -> dict[str, int]:
    output = -(-run.chars // CHARS_PER_TOKEN)
    return {"input_tokens": estimated_input(run), "output_tokens": output}

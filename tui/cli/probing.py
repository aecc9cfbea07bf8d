"""A model that is tried: what it can do, and how fast one short answer of it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tui.cli.network import STEP_S
from tui.core.conversation import user_item
from tui.core.meter import CHARS_PER_TOKEN
from tui.core.wire.events import (
    Completed,
    Delta,
    ErrorEvent,
    Event,
    Failed,
    Incomplete,
    ItemAdded,
    ReasoningDelta,
    SteerNews,
    SummaryDelta,
    Usage,
    usage_of,
)
from tui.effects.system import MonotonicClock
from tui.engine.connecting import Measured
from tui.engine.ports import Wire, WireState
from tui.errors import DuettoError

SETTLE_S = 4.0
"""So long to answer a steering text or an interrupt: the wire gives up before that."""
ANSWER_S = 60.0
"""A model that has not ended such an answer by then is slow, and what came is what is told."""
TASK = "Count from 1 to 60, one number a line, and nothing else."
SPEED_TASK = "Count from 1 to 40, one number a line, and nothing else."
REDIRECT = "Stop counting now: say only the word done."


class Probing:
    """Tries one endpoint over a wire of its own."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._clock = MonotonicClock()
        self._changed = asyncio.Event()
        wire.on_event, wire.on_state = self._event, self._state
        self._forget()

    def _forget(self) -> None:
        """Nothing was heard yet."""
        self.streams = False
        """The last answer began."""
        self.refusal = ""
        """Why it ended, where it did not end well, in the server's words."""
        self._news = ""
        self._asked_s = self._first_s = self._last_s = 0.0
        self._chars = 0
        self._usage: Usage | None = None
        self._thinks = False

    async def prewarm(self, model: str) -> None:
        """Ask for nothing: lanes and prewarm. Raises EndpointError or KeyRefused."""
        await self._wire.open()
        self._wire.create({**_request(model, []), "generate": False})
        if not await self._until(self._is_free, STEP_S):
            self._wire.drop()

    async def answer(self, model: str) -> None:
        """Ask for a short answer, steer it, stop it. `streams` and `refusal` say what came of it.

        Raises EndpointError or KeyRefused.
        """
        await self._ask(model, TASK)
        await self._until(lambda: self.streams or self._is_free(), STEP_S)
        if self._wire.busy and self._wire.steer(REDIRECT) is not None:
            await self._until(lambda: bool(self._news) or self._is_free(), SETTLE_S)
        if self._wire.busy:
            self._wire.interrupt()
            if not await self._until(self._is_free, SETTLE_S):
                self._wire.drop()

    async def speed(self, model: str) -> Measured:
        """Have a model give a short answer; how fast, or why it gave none. Never raises."""
        try:
            await self.prewarm(model)  # as a session does while its user types
            await self._ask(model, SPEED_TASK)
        except DuettoError as error:
            return Measured(model, wrong=str(error))
        if await self._until(lambda: bool(self._first_s) or self._is_free(), STEP_S):
            await self._until(self._is_free, ANSWER_S)
        elif not self._first_s:
            self.refusal = self.refusal or f"No answer within {STEP_S:.0f} s."
        if not self._is_free():
            self._wire.interrupt()
        if not self._first_s:
            return Measured(model, wrong=self.refusal or "No answer.")
        usage, span_s = self._usage, self._last_s - self._first_s
        tokens = round(self._chars / CHARS_PER_TOKEN)
        if usage is not None:  # what it thought unseen came before the first piece
            tokens = usage.output_tokens - (0 if self._thinks else usage.reasoning_tokens or 0)
        rate = tokens / span_s if span_s > 0 and tokens > 1 else None
        counted = usage is not None
        return Measured(model, self._first_s - self._asked_s, rate, tokens, is_counted=counted)

    async def _ask(self, model: str, task: str) -> None:
        await self._wire.open()
        self._forget()
        self._asked_s = self._clock.now()
        self._wire.create(_request(model, [user_item(task)]))

    def _is_free(self) -> bool:
        return self._wire.state == "closed" or not self._wire.busy

    async def _until(self, done: Callable[[], bool], limit_s: float) -> bool:
        try:
            async with asyncio.timeout(limit_s):
                while not done():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _event(self, event: Event, now: float) -> None:
        self.streams |= isinstance(event, Delta | ItemAdded)
        if isinstance(event, Delta) and event.delta:
            self._first_s, self._last_s = self._first_s or now, now
            self._chars += len(event.delta)
            self._thinks |= isinstance(event, ReasoningDelta | SummaryDelta)
        elif isinstance(event, ErrorEvent | Failed):
            self.refusal = event.message or event.code or "the server did not say why"
        elif isinstance(event, Completed | Incomplete):
            self._usage = usage_of(event.response)
        elif isinstance(event, SteerNews):
            self._news = event.fate
        self._changed.set()

    def _state(self, state: WireState, reason: str) -> None:
        if state == "closed":
            self.refusal = self.refusal or reason
        self._changed.set()


def _request(model: str, items: list[dict[str, object]]) -> dict[str, Any]:
    """What is asked of a model that is tried."""
    return {"model": model, "input": items, "store": False}

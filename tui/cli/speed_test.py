"""One short answer of a model, and how fast it was."""

from __future__ import annotations

import asyncio
import contextlib

from tui.cli.network import STEP_S, Probing, probe_request
from tui.core.conversation import user_item
from tui.core.meter import CHARS_PER_TOKEN
from tui.core.wire.events import (
    Completed,
    Delta,
    ErrorEvent,
    Event,
    Failed,
    Incomplete,
    ReasoningDelta,
    SummaryDelta,
    Usage,
    usage_of,
)
from tui.effects.system import MonotonicClock
from tui.engine.connecting import Measured
from tui.engine.ports import Wire, WireState
from tui.errors import DuettoError

SPEED_TASK = "Count from 1 to 40, one number a line, and nothing else."
ANSWER_S = 60.0
"""A model that has not ended such an answer by then is slow, and what came is what is told."""


async def answer_speed(wire: Wire, model: str) -> Measured:
    """Have a model give a short answer; how fast, or why it gave none. Never raises."""
    try:
        await Probing(wire).prewarm(model)  # as a session does while its user types
        await wire.open()
    except DuettoError as error:
        return Measured(model, wrong=str(error))
    heard = _Answer(wire)
    wire.create(probe_request(model, [user_item(SPEED_TASK)]))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(STEP_S):
            await heard.begun.wait()
        async with asyncio.timeout(ANSWER_S):
            await heard.over.wait()
    if not heard.over.is_set():
        wire.interrupt()
    return heard.measured(model)


class _Answer:
    """What is heard of one answer, and when."""

    def __init__(self, wire: Wire) -> None:
        self._clock = MonotonicClock()
        self._asked_s = self._clock.now()
        self._first_s = self._last_s = 0.0
        self._chars = 0
        self._usage: Usage | None = None
        self._thinks = False
        self._refusal = ""
        self.begun, self.over = asyncio.Event(), asyncio.Event()
        wire.on_event, wire.on_state = self._event, self._state

    def measured(self, model: str) -> Measured:
        """The figures, by the server's count of tokens where it gave one."""
        if not self._first_s:
            late = f"No answer within {STEP_S:.0f} s." if not self.over.is_set() else "No answer."
            return Measured(model, wrong=self._refusal or late)
        usage, span_s = self._usage, self._last_s - self._first_s
        tokens = round(self._chars / CHARS_PER_TOKEN)
        if usage is not None:  # what it thought unseen came before the first piece
            tokens = usage.output_tokens - (0 if self._thinks else usage.reasoning_tokens or 0)
        rate = tokens / span_s if span_s > 0 and tokens > 1 else None
        counted = usage is not None
        return Measured(model, self._first_s - self._asked_s, rate, tokens, is_counted=counted)

    def _event(self, event: Event, now: float) -> None:
        if isinstance(event, Delta) and event.delta:
            self._first_s, self._last_s = self._first_s or now, now
            self._chars += len(event.delta)
            self._thinks |= isinstance(event, ReasoningDelta | SummaryDelta)
            self.begun.set()
        elif isinstance(event, ErrorEvent | Failed):
            self._refusal = event.message or event.code or "the server did not say why"
            self._end()
        elif isinstance(event, Completed | Incomplete):
            self._usage = usage_of(event.response)
            self._end()

    def _state(self, state: WireState, reason: str) -> None:
        if state == "closed":
            self._refusal = self._refusal or reason
            self._end()

    def _end(self) -> None:
        self.begun.set()
        self.over.set()

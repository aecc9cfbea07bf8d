"""Learning what an endpoint can do by trying it: ``duetto doctor --probe``.

A prewarm (no tokens) tells whether lanes and prewarm work; one short answer a model, steered and
then interrupted, tells the rest. The wire itself notes what it learns (``Capabilities``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tui.core.history import user_item
from tui.core.wire.events import Delta, ErrorEvent, Event, Failed, ItemAdded, SteerNews
from tui.engine.ports import Wire, WireState

STEP_S = 20.0
"""An endpoint has so long to begin an answer."""
SETTLE_S = 4.0
"""And so long to answer a steering text or an interrupt: the wire gives up before that."""
TASK = "Count from 1 to 60, one number a line, and nothing else."
REDIRECT = "Stop counting now: say only the word done."


class Probing:
    """Tries one endpoint over one wire, which nobody else uses."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._changed = asyncio.Event()
        self.streams = False
        """The last answer began."""
        self.refusal = ""
        """Why it did not, in the server's words."""
        self._news = ""
        wire.on_event = self._event
        wire.on_state = self._state

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
        await self._wire.open()
        self.streams, self.refusal, self._news = False, "", ""
        self._wire.create(_request(model, [user_item(TASK)]))
        await self._until(lambda: self.streams or self._is_free(), STEP_S)
        if self._wire.busy and self._wire.steer(REDIRECT) is not None:
            await self._until(lambda: bool(self._news) or self._is_free(), SETTLE_S)
        if self._wire.busy:
            self._wire.interrupt()
            if not await self._until(self._is_free, SETTLE_S):
                self._wire.drop()

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
        if isinstance(event, ErrorEvent | Failed) and not self.streams:
            self.refusal = event.message or event.code or "the server did not say why"
        if isinstance(event, SteerNews):
            self._news = event.fate
        self._changed.set()

    def _state(self, state: WireState, reason: str) -> None:
        self._changed.set()


def _request(model: str, items: list[dict[str, object]]) -> dict[str, Any]:
    return {"model": model, "input": items, "store": False}

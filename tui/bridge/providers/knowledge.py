"""What an endpoint knows of its models: before each request, and for lists of them."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from tui.bridge.endpoints.base import Asked, Broken, ModelFacts, Refused, Target
from tui.bridge.endpoints.telling import Telling

if TYPE_CHECKING:
    from tui.bridge.providers.asking import Fetcher
    from tui.bridge.providers.discovery import Discovery

WINDOW = "duetto_context_window"
"""In a response's ``metadata``: tokens, as text."""

_CODES = ("model_not_found", "unknown_model", "model_not_available")
_NO_MODEL = re.compile(
    r"\b(?:invalid|unknown|no such|not a valid) model\b"
    r"|\bmodel\b.{0,120}\b(?:not found|not exist|doesn't exist|not supported|not available)",
    re.I | re.S,
)


class Knowledge:
    """Of one endpoint. Its server is asked when that is needed, never to warm a connection."""

    def __init__(self, target: Target, fetcher: Fetcher) -> None:
        self._target = target
        self._fetcher = fetcher
        self._made: Discovery | None = None
        self._looking: asyncio.Task[None] | None = None

    async def all(self) -> dict[str, ModelFacts]:
        """The models that it serves. Raises Refused, Broken: it gives no list."""
        return await self._discovery().models()

    async def prepared(self, asked: Asked, telling: Telling) -> Asked:
        """The request as it is sent; the model's window is told to the client.

        Raises Refused: it does not fit.
        """
        from tui.bridge.providers.windows import prepared

        ready = await prepared(asked, self._discovery())
        if ready.facts.context_window is not None:
            telling.note(**{WINDOW: str(ready.facts.context_window)})
        elif self._target.spec.provider and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._look(asked.model, telling))
        return ready

    async def explained(self, error: Refused, model: str) -> Refused:
        """A refusal; if it is that there is no such model, with the names that are near to it."""
        words = str(error)
        if error.code not in _CODES and not (error.status < 500 and _NO_MODEL.search(words)):
            return error
        from tui.bridge.providers.catalogue import LISTING_S, near

        try:
            async with asyncio.timeout(LISTING_S):
                known = await self.all()
        except (Refused, Broken, TimeoutError):
            return error
        advice = "" if model in known else near(model, list(known))
        if not advice or "did you mean" in words:
            return error
        told = Refused(error.status, error.code, words.rstrip(".") + advice, param=error.param)
        told.retry_after_s = error.retry_after_s
        return told

    async def close(self) -> None:
        """Stop asking."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look(self, model: str, telling: Telling) -> None:
        """Of a known provider: ask, beside the answer, how large the window is."""
        try:
            await self._discovery().loaded(model)
        except (Refused, Broken):
            return
        window = self._target.facts(model).context_window
        if window is not None and not telling.done:
            telling.note(**{WINDOW: str(window)})

    def _discovery(self) -> Discovery:
        """Who asks. Raises Refused: its address is none."""
        if self._made is None:
            from tui.bridge.providers.discovery import Discovery

            self._made = Discovery(self._target, self._fetcher)
        return self._made

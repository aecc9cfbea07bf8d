"""Somebody who sits before a session: sees its transcript, is told its troubles, waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tui.core.conversation import BlockKind
from tui.engine import intents
from tui.engine.notices import Trouble
from tui.engine.session import Session


class Seat:
    """Somebody who watches a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.troubles: list[Trouble] = []
        self._woken = asyncio.Event()
        session.on_wake = self._woken.set

    async def until(self, seen: Callable[[], object], limit_s: float = 120.0) -> None:
        """Drain until it is so."""
        async with asyncio.timeout(limit_s):
            while not seen():
                await self._woken.wait()
                self._woken.clear()
                self.troubles += self.session.drain().troubles

    async def rests(self, wanted: intents.Intent | None = None, limit_s: float = 60.0) -> None:
        """Ask for something, if there is something, and wait until nothing runs any more."""
        if wanted is not None:
            self.session.submit(wanted)
        async with asyncio.timeout(limit_s):
            while not self.session.at_rest:
                self.troubles += self.session.drain().troubles
                await asyncio.sleep(0.01)

    async def idle(self) -> str:
        """Wait for the end of the turn; returns all that the model said."""
        await self.until(lambda: not self.session.status.busy)
        return self.said()

    async def ask(self, text: str) -> str:
        """Prompt, wait for the end of the turn; returns all that the model said."""
        self.session.submit(intents.Prompt(text))
        return await self.idle()

    def said(self) -> str:
        """All prose of the model, whole or not."""
        return "\n".join(self.texts(BlockKind.TEXT))

    def texts(self, kind: BlockKind, state: str = "") -> list[str]:
        """The texts of the blocks of that kind (and in that state)."""
        blocks = self.session.transcript.blocks
        return [b.text for b in blocks if b.kind is kind and state in ("", b.state)]

"""Readies an endpoint while the user still types, so that the first token pays no handshake.

The request is a `response.create` with ``generate: false`` and an empty input (PROTOCOL.md
section 2.2); the first turn continues from it. It is sent once a connection, only before the
first prompt of a conversation, and never where it was refused.
"""

from __future__ import annotations

import asyncio

from tui.core.history import History
from tui.core.wire.events import Completed, ErrorEvent, Event, Failed, Incomplete
from tui.engine.intents import Effort
from tui.engine.kit import Kit
from tui.engine.ports import RoleSpec, Wire
from tui.engine.requests import Request
from tui.errors import DuettoError

PREWARM_S = 2.0
"""A prompt waits so long for the end of a prewarm; then the socket goes, and it with it."""


class Prewarm:
    """Of one wire."""

    def __init__(self, kit: Kit, wire: Wire) -> None:
        self._kit = kit
        self._wire = wire
        self._task: asyncio.Task[None] | None = None
        self._over: asyncio.Future[None] | None = None
        self._history: History | None = None
        self._asked: tuple[RoleSpec, Request] | None = None
        self._used = False
        """A request went over this connection: there is nothing left to warm."""
        self.running = False
        """What comes is about the prewarm: the short cut of every other event."""

    def begin(self, spec: RoleSpec, effort: Effort | None, tier: str) -> None:
        """Dial if need be, and prewarm if that helps; what fails will be told to a prompt."""
        if self._over is not None or (self._task is not None and not self._task.done()):
            return
        if self._wire.state != "open" or self._helps(spec):
            work = self._warm(spec, effort, tier)
            self._task = self._kit.supervisor.start(work, "the prewarm")

    def used(self) -> None:
        """A turn begins on this connection."""
        self._used = True

    def lost(self) -> None:
        """The connection is gone, and what was warm with it."""
        self._used = False
        self._end()

    def event(self, event: Event) -> bool:
        """Take an event if it is about the prewarm: nothing of it is ever shown."""
        if self._over is None:
            return False
        if isinstance(event, Completed) and self._history is self._kit.requests.history:
            self._kit.requests.history.warmed(event.response_id)
        if isinstance(event, Failed | ErrorEvent) and self._asked is not None:
            self._kit.requests.learns(*self._asked, event)
        if isinstance(event, Completed | Incomplete | Failed | ErrorEvent):
            self._end()
        return True

    async def over(self) -> None:
        """Wait until the lane is free for a turn."""
        if self._over is None:
            return
        try:
            await asyncio.wait_for(asyncio.shield(self._over), PREWARM_S)
        except TimeoutError:
            self._wire.drop()
            self._end()

    async def _warm(self, spec: RoleSpec, effort: Effort | None, tier: str) -> None:
        kit = self._kit
        try:
            await self._wire.open()
            await kit.desk.prepare()
            if kit.board.status.role != spec.role or not self._helps(spec):
                return
            self._asked = (spec, kit.requests.head(spec, effort, tier))
            request = kit.requests.warm(*self._asked)
            self._used = True
            self._history = kit.requests.history
            self._over = asyncio.get_running_loop().create_future()
            self.running = True
            self._wire.create(request)
        except DuettoError:
            self._end()

    def _helps(self, spec: RoleSpec) -> bool:
        """True if nothing runs, nothing was said, and the endpoint is not known to refuse."""
        kit, wire = self._kit, self._wire
        return (
            not self._used
            and not kit.board.status.busy
            and not kit.requests.history.entries
            and kit.requests.chains(spec)
            and wire.state == "open"
            and not wire.busy
            and wire.abilities(spec.model).prewarm is not False
        )

    def _end(self) -> None:
        over, self._over, self.running = self._over, None, False
        if over is not None and not over.done():
            over.set_result(None)

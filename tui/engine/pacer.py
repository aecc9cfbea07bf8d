"""The throttle: holds back what a model says, so that it comes at so many tokens a second.

Our bridge slows down whoever answers through it, so that nothing is said that nobody sees. What
comes from any other server is held here, between the wire and the turn, also in the middle of an
answer; what is held and then dropped was said as far as that server is concerned.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from tui.core.wire.events import Completed, Delta, ErrorEvent, Event, Failed, Incomplete
from tui.engine.kit import Kit
from tui.engine.ports import Wire

STEP_S = 0.04
"""Between two pieces: as smooth as the screen paints."""
MOST_LAG_S = 0.5
"""What a machine that slept, or was busy, would have said meanwhile is owed for so long at most."""
MOST_CHARS = 4 * 2**20
"""More than so much text is not held: what is over that comes at once."""
Terminal = Completed | Incomplete | Failed | ErrorEvent
Act = partial[None]
Held = Event | Act
_ENDS = (Completed, Incomplete, Failed, ErrorEvent)


class Pacer:
    """Of one turn; what passes it is in order, whatever it is."""

    def __init__(
        self, kit: Kit, wire: Wire, tokens_s: float | None, deliver: Callable[[Event, float], None]
    ) -> None:
        """``deliver`` takes an event and its time, in the clock's seconds."""
        self.unheard = False
        """Of what the server said something was dropped here."""
        self.end: Terminal | None = None
        """How the response ended of which the rest was dropped; None: it has not, or not here."""
        self.tokens_s = tokens_s
        """At which rate text passes here; None: as it comes."""
        self._wanted = tokens_s
        self._wire = wire
        self._kit = kit
        self._deliver = deliver
        self._held: deque[Held] = deque()
        self._chars = 0
        """Of the text that is held."""
        self._credit = 0.0
        """Characters that may pass now."""
        self._task: asyncio.Task[None] | None = None

    def take(self, event: Event, now: float) -> None:
        """An event came."""
        if not self._held and (self.tokens_s is None or not isinstance(event, Delta)):
            self._deliver(event, now)
            return
        if isinstance(event, Delta):
            self._chars += len(event.delta)
        self._hold(event)

    def after(self, act: Act) -> None:
        """Do this behind all that came before: at once, where nothing is held."""
        if self._held:
            self._hold(act)
        else:
            act()

    def begun(self) -> None:
        """A response begins."""
        if self._wanted is not None:
            self.tokens_s = None if self._wire.throttle(self._wanted) else self._wanted

    def pace(self, tokens_s: float | None) -> None:
        """At so many tokens a second from now on; None: as they come, what is held at once."""
        self._wanted = tokens_s
        self.tokens_s = tokens_s = None if self._wire.throttle(tokens_s) else tokens_s
        self._credit = 0.0
        if tokens_s is None:
            self._release(float("inf"))
            self._rest()

    def drop(self) -> None:
        """Forget what is held, and hold nothing any more; see `unheard` and `end`."""
        held, self._held = self._held, deque()
        self._chars = 0
        self.tokens_s = self._wanted = None
        self._rest()
        self.unheard |= bool(held)
        self.end = next((one for one in held if isinstance(one, _ENDS)), self.end)

    def _hold(self, one: Held) -> None:
        self._held.append(one)
        if self._chars > MOST_CHARS:
            self._release(self._chars - MOST_CHARS)
        if self._held and self._task is None:
            self._task = self._kit.supervisor.start(self._run(), "the throttle", self._broken)

    async def _run(self) -> None:
        """Let pieces pass until nothing is held."""
        ports = self._kit.ports
        last = ports.clock.now()
        while self._held and self.tokens_s is not None:
            await ports.sleep(STEP_S)
            now = ports.clock.now()
            rate = (self.tokens_s or 0.0) * self._kit.board.meter.chars_per_token
            self._credit += rate * min(max(now - last, STEP_S), MOST_LAG_S)
            last = now
            self._credit = self._release(self._credit)
        if self._task is asyncio.current_task():
            self._task = None

    def _release(self, chars: float) -> float:
        """Let so much text pass, and what stands between; returns what of it was not needed."""
        now = self._kit.ports.clock.now()
        held = self._held
        while held:
            first = held[0]
            if isinstance(first, Delta) and chars < len(first.delta):
                part = int(chars)
                if part <= 0:
                    return chars
                held[0] = replace(first, delta=first.delta[part:])
                self._chars -= part
                self._deliver(replace(first, delta=first.delta[:part]), now)
                return chars - part
            if isinstance(first, Delta):
                chars -= len(first.delta)
            held.popleft()
            self._pass(first, now)
            held = self._held  # dropped meanwhile, perhaps
        return 0.0

    def _pass(self, one: Held, now: float) -> None:
        if isinstance(one, partial):
            one()
            return
        if isinstance(one, Delta):
            self._chars -= len(one.delta)
        self._deliver(one, now)

    def _rest(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()

    def _broken(self) -> None:
        """A bug, which was told: what is held must not be lost."""
        self._task = None
        self.tokens_s = None
        self._release(float("inf"))

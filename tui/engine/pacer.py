"""The throttle: holds back what a model says, so that it comes at so many tokens a second.

What comes at once and is long passes in parts, so that keys and Esc are answered between them;
and while a key is on its way to the screen nothing passes.

Our bridge slows down whoever answers through it, so that nothing is said that nobody sees. What
comes from any other server is held here, between the wire and the turn, also in the middle of an
answer; what is held and then dropped was said as far as that server is concerned.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

from msgspec.structs import replace

from tui.core.wire.events import Completed, Delta, ErrorEvent, Event, Failed, Incomplete, ItemDone
from tui.engine.ports import Wire
from tui.engine.response_items import characters_in
from tui.engine.services import Services
from tui.engine.session_state import REST_S, SLICE_S

STEP_S = 0.04
"""Between two pieces: as smooth as the screen paints."""
MOST_LAG_S = 0.5
"""What a machine that slept, or was busy, would have said meanwhile is owed for so long at most."""
MOST_CHARS = 4 * 2**20
"""More than so much text is not held: what is over that comes at once."""
FULL = 1_000
"""So many pieces are held: no more are read from the network, where the rate is the server's."""
LONG_CHARS = 4_000
"""A piece of so much text, if it were a patch of many hunks, would hold keys and Esc up."""
_PART_CHARS = 500
"""So it passes in parts."""
Terminal = Completed | Incomplete | Failed | ErrorEvent
Act = partial[None]
Held = Event | Act
_ENDS = (Completed, Incomplete, Failed, ErrorEvent)


class Pacer:
    """Of one turn; what passes it is in order, whatever it is."""

    def __init__(
        self,
        services: Services,
        wire: Wire,
        tokens_s: float | None,
        deliver: Callable[[Event, float], None],
    ) -> None:
        """``deliver`` takes an event and its time, in the clock's seconds."""
        self.unheard = False
        """Of what the server said something was dropped here."""
        self.end: Terminal | None = None
        """How the response ended of which the rest was dropped; None: it has not, or not here."""
        self.tokens_s = tokens_s
        """At which rate text passes here; None: as it comes."""
        self._wanted = tokens_s
        self._slowed = False
        """Another rate was told of in this turn: its next response may begin with that."""
        self._wire = wire
        self._services = services
        self._deliver = deliver
        self.on_held: Callable[[int], None] = lambda characters: None
        """Called with all characters that are held, when there are more of them."""
        self._size = 0
        self._held: deque[Held] = deque()
        self._chars = 0
        """Of the text that is held."""
        self._credit = 0.0
        """Characters that may pass now."""
        self._task: asyncio.Task[None] | None = None

    def take(self, event: Event, now: float) -> None:
        """An event came."""
        held = isinstance(event, Delta) and self._holds(event)
        if not self._held and not held:
            self._deliver(event, now)
            return
        self._hold([event])

    def after(self, act: Act) -> None:
        """Do this behind all that came before: at once, where nothing is held."""
        if self._held:
            self._hold([act])
        else:
            act()

    def first(self, acts: Iterable[Held]) -> None:
        """Do these before all that is held, a few in each turn of the event loop."""
        later, self._held = self._held, deque()
        self._hold(acts)
        if self._held:  # not dropped, as it was too much
            self._held.extend(later)

    def begun(self) -> None:
        """A response is asked for, or begins."""
        if self._wanted is not None or self._slowed:
            self.tokens_s = None if self._wire.throttle(self._wanted) else self._wanted

    def pace(self, tokens_s: float | None) -> None:
        """At so many tokens a second from now on; None: as they come, what is held at once."""
        self._wanted, self._slowed = tokens_s, True
        self.tokens_s = tokens_s = None if self._wire.throttle(tokens_s) else tokens_s
        self._credit = 0.0
        if tokens_s is None and self._chars <= LONG_CHARS:
            self._release(float("inf"))
            self._rest()
        self._weigh()

    def drop(self) -> None:
        """Forget what is held, and hold nothing any more; see `unheard` and `end`."""
        held, self._held = self._held, deque()
        self._chars = self._size = 0
        self.tokens_s = self._wanted = None
        self._weigh()
        self._rest()
        self.unheard |= bool(held)
        self.end = next((one for one in held if isinstance(one, _ENDS)), self.end)

    def _holds(self, event: Delta) -> bool:
        paced = self.tokens_s is not None or len(event.delta) > LONG_CHARS
        return paced or self._services.state.input_first.unshown

    def _hold(self, acts: Iterable[Held]) -> None:
        for one in acts:
            self._size += _size_of(one)
            if not isinstance(one, Delta):
                self._held.append(one)
                continue
            self._chars += len(one.delta)
            if len(one.delta) <= _PART_CHARS:
                self._held.append(one)
                continue
            for at in range(0, len(one.delta), _PART_CHARS):
                self._held.append(replace(one, delta=one.delta[at : at + _PART_CHARS]))
        if self._chars > MOST_CHARS and self.tokens_s is not None:
            self._release(self._chars - MOST_CHARS)
        self._weigh()
        self.on_held(self._size)
        if self._held and self._task is None:
            self._task = self._services.supervisor.start(self._run(), "the throttle", self._broken)

    async def _run(self) -> None:
        """Let pieces pass until nothing is held."""
        ports = self._services.ports
        last = ports.clock.now()
        while self._held:
            if self.tokens_s is None:
                await self._services.state.input_first.pass_by()
                self._release_for(SLICE_S)
                self._weigh()
                await asyncio.sleep(REST_S)
                continue
            await ports.sleep(STEP_S)
            now = ports.clock.now()
            rate = (self.tokens_s or 0.0) * self._services.state.meter.chars_per_token
            self._credit += rate * min(max(now - last, STEP_S), MOST_LAG_S)
            last = now
            self._credit = self._release(self._credit)
        if self._task is asyncio.current_task():
            self._task = None

    def _release(self, chars: float) -> float:
        """Let so much text pass, and what stands between; returns what of it was not needed."""
        now = self._services.ports.clock.now()
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

    def _weigh(self) -> None:
        """Have no more read while enough is held."""
        full = self._services.state.input_first.full
        if self.tokens_s is None and len(self._held) > FULL:
            full.add(self)
        else:
            full.discard(self)

    def _release_for(self, seconds: float) -> None:
        """Let text pass for so long."""
        clock = self._services.ports.clock
        until = clock.now() + seconds
        while self._held and (now := clock.now()) <= until:
            self._pass(self._held.popleft(), now)

    def _pass(self, one: Held, now: float) -> None:
        self._size = max(self._size - _size_of(one), 0)
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
        self._weigh()


def _size_of(one: Held) -> int:
    """About how many characters are held with it."""
    if isinstance(one, Delta):
        return len(one.delta)
    return characters_in(one.item) if isinstance(one, ItemDone) else 0

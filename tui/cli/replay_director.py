"""Plays the exchanges of a recording into a session: prompts, frames, interrupts at their times."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from tui.cli.replay_wire import ReplayWire
from tui.core.wire.recording import RecordedAct, RecordedExchange, prompt_of
from tui.engine.intents import Interrupt, Prompt, Role, Steer, Switch
from tui.engine.ports import Clock
from tui.engine.session import Session

STRANGER = "(This is a replay: nothing is sent, and the recording has no answer to this.)"
ENDED = "(The recording ends here.)"
GO_ON = "(the recorded client went on)"
BREATH = 200
"""Frames that are fed in one go at most: the screen has to be painted too."""
LOOK_S = 0.05
"""Between two looks at whether the engine still means to ask."""


class Pace:
    """Recorded time, divided by a speed."""

    def __init__(self, speed: float, clock: Clock) -> None:
        """``speed`` 0: as fast as possible."""
        self._speed = speed
        self._clock = clock
        self._anchor: tuple[float, float] | None = None
        self._fed = 0

    async def until(self, recorded_s: float) -> None:
        """Return when the recording is at this time."""
        if not self._speed:
            self._fed += 1
            if self._fed % BREATH == 0:
                await asyncio.sleep(0)
            return
        if self._anchor is None:
            self.resume(recorded_s)
            return
        then_s, at_s = self._anchor
        delay_s = at_s + (recorded_s - then_s) / self._speed - self._clock.now()
        if delay_s > 0:
            await asyncio.sleep(delay_s)

    def resume(self, recorded_s: float) -> None:
        """Whatever was waited for has come: the recording is at this time now."""
        self._anchor = (recorded_s, self._clock.now())


class Director:
    """Tells the session what the recorded user did, and the wire what the server said."""

    def __init__(
        self,
        session: Session,
        wire: ReplayWire,
        pace: Pace,
        prepare: Callable[[RecordedExchange], None],
    ) -> None:
        """``prepare`` is called before each request: the workspace as it was then."""
        self.played = 0
        """Exchanges that are over."""
        self._session = session
        self._wire = wire
        self._pace = pace
        self._prepare = prepare
        self._said: list[str] = []
        self._over = False
        wire.on_request = self._requested

    async def play(self, exchanges: Sequence[RecordedExchange]) -> None:
        """Play all of them; the session stays as it is then, and may be looked at."""
        try:
            for index, exchange in enumerate(exchanges):
                following = exchanges[index + 1] if index + 1 < len(exchanges) else None
                await self._exchange(exchange, following)
                self.played += 1
        finally:
            self._over = True
        self._wire.answers_control = False
        if self._wire.request is not None:
            self._wire.reply(ENDED)

    async def _exchange(
        self, exchange: RecordedExchange, following: RecordedExchange | None
    ) -> None:
        await self._pace.until(exchange.t)
        self._prepare(exchange)
        self._switch(exchange.model)
        self._prompt(exchange)
        if not await self._is_asked():
            return
        wire = self._wire
        wire.taken()
        wire.recorded_s = exchange.t
        self._pace.resume(exchange.t)
        for act in exchange.acts:
            await self._pace.until(act.t)
            if wire.stopped or wire.state != "open":
                break  # the viewer pressed Esc, or the socket was given up
            wire.recorded_s = act.t
            self._act(act, exchange, following)
        wire.answers_control = False
        if wire.state == "open" and wire.busy and not wire.stopped and wire.request is None:
            self._leave(exchange, following)
        await asyncio.sleep(0)

    def _prompt(self, exchange: RecordedExchange) -> None:
        """Say what the user said, unless the engine sends this request by itself."""
        status, text = self._session.status, exchange.prompt
        going_on = status.busy and (not text or text in self._said[-1:])
        if not going_on:
            text = text or GO_ON
            self._said.append(text)
            self._session.submit(Prompt(text))

    def _switch(self, model: str) -> None:
        status = self._session.status
        roles: list[Role] = [role for role, name in status.models.items() if name == model]
        if roles and status.role not in roles and not status.busy:
            self._session.submit(Switch(roles[0]))

    async def _is_asked(self) -> bool:
        """Wait for the engine's request; False if it does not mean to send one."""
        while not self._wire.asked.is_set():
            if not self._session.status.busy:
                return False
            try:
                async with asyncio.timeout(LOOK_S):
                    await self._wire.asked.wait()
            except TimeoutError:
                continue
        return True

    def _act(
        self, act: RecordedAct, exchange: RecordedExchange, following: RecordedExchange | None
    ) -> None:
        wire = self._wire
        if act.kind == "frame":
            wire.feed(act.text)
        elif act.kind == "interrupt":
            wire.answers_control = True
            self._session.submit(Interrupt())
        elif act.kind == "steer":
            wire.answers_control = True
            self._session.submit(Steer(act.text))
        elif act.by_user:
            self._leave(exchange, following)
        else:
            wire.lose(act.text, act.code)

    def _leave(self, exchange: RecordedExchange, following: RecordedExchange | None) -> None:
        """The recorded client left before the end: its user stopped it, or it tries again."""
        wire = self._wire
        wire.answers_control = False
        again = following is not None and following.prompt in ("", exchange.prompt)
        if again and not self._session.status.stopping:
            wire.lose("the connection broke")
            return
        if not self._session.status.stopping:
            self._session.submit(Interrupt())
        wire.finish()

    def _requested(self, request: dict[str, Any]) -> None:
        """The engine asks; what the viewer typed is answered at once."""
        text = prompt_of(request)
        strange = bool(text) and not any(said in text for said in self._said)
        if strange or self._over:
            asyncio.get_running_loop().call_soon(self._decline, request)

    def _decline(self, request: dict[str, Any]) -> None:
        if self._wire.request == request:
            known = prompt_of(request) in ("", *self._said)
            self._wire.reply(ENDED if known else STRANGER)

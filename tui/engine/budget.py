"""Caps of money: a request that would go beyond one is not sent, an answer that reaches one stops.

The least price of a request is that of its surely counted input, at the rate of cached input as
far as the same model has read it in this conversation. While an answer streams, what came of it
counts at the model's price. What is not priced yet is waited for before the next request.
"""

from __future__ import annotations

import asyncio

from msgspec import Struct
from msgspec.structs import replace

from tui.core.meter import dollars
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.core.wire.events import Usage
from tui.engine.intents import Span
from tui.engine.model_window import ModelWindow
from tui.engine.notices import Trouble
from tui.engine.ports import Caps, Ports, RoleSpec
from tui.engine.requests import Request
from tui.engine.session_state import SessionState
from tui.engine.supervisor import Supervisor

_SAMPLE = 1000
"""Tokens whose price is asked for: few, since a price may be higher above a limit."""
RAISE = "/budget raises the limit, /model chooses a cheaper model"


_OTHER = "/model chooses another model, switch_usd under [limits] raises the limit"
_PRICED_S = 2.0
"""So long a price is waited for at the end."""
_HOW = "; /budget session 2 or /budget day 5 sets a limit, off as the number takes it away"


class Rates(Struct, frozen=True):
    """US dollars a token."""

    input: float
    cached: float
    output: float


class Budget:
    """What may be spent, and what was."""

    def __init__(
        self,
        ports: Ports,
        state: SessionState,
        window: ModelWindow,
        supervisor: Supervisor,
        whole: Budget | None = None,
    ) -> None:
        """``whole``: that of which this one is a part; its caps count, and all that it spent."""
        self._caps = Caps()
        self._whole = whole
        self._parts: list[Budget] = []
        if whole is not None:
            whole._parts.append(self)
        self._ports, self._state, self._window = ports, state, window
        self._supervisor = supervisor
        self._rates: dict[tuple[str, str, str], Rates | None] = {}
        self._read: dict[tuple[str, str], int] = {}
        """Tokens of this conversation that a model has read, by endpoint and name."""
        self.reader: tuple[str, str] | None = None
        """Who read it in an earlier run, until the next request; None: nobody."""
        self._unpaid: set[asyncio.Task[None]] = set()
        self._day = ""
        """The day of the next ones; empty: it is not known."""
        self._own_usd = self._mark_usd = 0.0
        """What this session had spent that day, when it had spent so much in all."""
        self._others_usd = 0.0
        """What other sessions spent today."""
        self.least_usd = 0.0
        """The least price of the request that is answered now, where it is watched."""
        self._streams_usd = 0.0
        """What the one that is answered, or not priced yet, has cost so far, at least."""
        self._is_priced = True
        """That one's price is known, or being looked up."""
        self._stopped_usd = 0.0
        """What answers had cost, at least, that ended before their price was told."""
        state.after_turn.append(lambda *told: self._over())
        self._told: set[str] = set()

    @property
    def caps(self) -> Caps:
        """What may be spent at most."""
        return self._caps if self._whole is None else self._whole.caps

    @caps.setter
    def caps(self, caps: Caps) -> None:
        self._caps = caps

    async def settled(self) -> None:
        """Return when all that was answered is priced, and count no more here."""
        if self._unpaid:
            await asyncio.wait(self._unpaid, timeout=_PRICED_S)
        self._leave()
        if self._whole is not None and self in self._whole._parts:
            self._whole._parts.remove(self)

    def forget(self) -> None:
        """A new conversation: no model has read anything of it."""
        self._read.clear()

    def set(self, span: Span | None, usd: float | None) -> asyncio.Task[None]:
        """Another cap from now on, if a span is named; the task says what was spent and may be."""
        if span is not None:
            self.caps = replace(self.caps, **{span: usd})
        return self._supervisor.start(self._tell("" if span else _HOW), "what was spent")

    async def _tell(self, how: str) -> None:
        await self._today()
        self._state.note(0, "; ".join(self._words()) + how)

    def _words(self) -> list[str]:
        spent = {"session": self._session_usd, "day": self._day_usd}
        least = "at least " if self._stopped_usd else ""
        return [
            f"{'today' if span == 'day' else 'this session'}: {least}{dollars(spent[span])}"
            + (f" of {dollars(cap)}" if cap is not None else ", no limit")
            for span, cap in (("session", self.caps.session), ("day", self.caps.day))
        ]

    def counted(self, spec: RoleSpec, usage: Usage) -> None:
        """A model has read so much, and written the rest of it."""
        self._read[spec.endpoint, spec.model] = usage.input_tokens + usage.output_tokens

    def pays(self, task: asyncio.Task[None]) -> None:
        """A price is being looked up: what comes next waits for it where there is a cap."""
        self._is_priced = True
        self._unpaid.add(task)
        task.add_done_callback(self._paid)

    def _paid(self, task: asyncio.Task[None]) -> None:
        self._unpaid.discard(task)
        self._over()

    def _over(self) -> None:
        """Nothing is answered; what was is not counted twice, when it is priced."""
        self._leave()
        if not self._unpaid:
            self._streams_usd = 0.0

    def _leave(self) -> None:
        """What began to come and has no price was stopped, or broke off: it is paid for, too."""
        if not self._is_priced:
            self._is_priced = True
            if self._streams_usd > self.least_usd:
                (self._whole or self)._stopped_usd += self._streams_usd
                self._streams_usd = 0.0

    def unsettled(self, spec: RoleSpec, tier: str, turn_usd: float | None) -> bool:
        """`look_up` is due before the next request."""
        if not self._watches(turn_usd):
            return False
        return bool(self._unpaid) or (spec.endpoint, spec.model, tier) not in self._rates

    async def look_up(self, spec: RoleSpec, tier: str, turn_usd: float | None) -> None:
        """Find out what this model costs and what was spent today."""
        if not self._watches(turn_usd):
            return
        if self._unpaid:
            await asyncio.wait(self._unpaid)
        await self.rates(spec, tier)
        if self.caps.day is not None:
            await self._today()

    async def rates(self, spec: RoleSpec, tier: str) -> Rates | None:
        """What a model's tokens cost; None: that is not known."""
        place, ask = (spec.endpoint, spec.model, tier), self._ports.quote
        if spec.endpoint == REHEARSAL or ask is None:
            return self._rates.setdefault(place, None)
        if place not in self._rates:
            asked = (Usage(_SAMPLE, 0), Usage(_SAMPLE, 0, _SAMPLE), Usage(0, _SAMPLE))
            found = [await ask(spec.endpoint, (spec.model,), one, tier) for one in asked]
            prices = [one.usd / _SAMPLE for one in found if one.usd is not None]
            self._rates[place] = Rates(*prices) if len(prices) == len(asked) else None
        return self._rates[place]

    def refusal(
        self, head: Request, spec: RoleSpec, tier: str, turn_usd: float | None
    ) -> Trouble | None:
        """Why the request that was just made is not sent: it costs more than is left."""
        self._leave()
        self.least_usd = self._streams_usd = 0.0
        if not self._watches(turn_usd) or spec.endpoint == REHEARSAL:
            return None
        left, cap = self._left(turn_usd)
        rates = self._rates.get((spec.endpoint, spec.model, tier))
        if rates is None and left > 0:
            self._tell_unpriced(spec)
            return None
        least = self._least(spec, head, rates)
        if left > 0 and least <= left:
            self._streams_usd, self._is_priced = least, False
            return None
        costs, there = dollars(least), dollars(max(left, 0.0))
        if costs == there:
            costs, there = f"${least:.6f}", f"${left:.6f}"
        rest = f"{there} of {cap} are left"
        why = f"it costs at least {costs}, and {rest}" if least else rest
        return Trouble("The request was not sent", why, RAISE, over_budget=True)

    def reached(self, spec: RoleSpec, tier: str, turn_usd: float | None) -> Trouble | None:
        """Why an answer that streams is stopped: it has come to a cap."""
        rates = self._rates.get((spec.endpoint, spec.model, tier))
        if rates is None or not self._watches(turn_usd):
            return None
        left, cap = self._left(turn_usd)
        self._streams_usd = self.least_usd + self._state.meter.streamed_tokens * rates.output
        if self._streams_usd < left:
            return None
        why = f"{cap} are spent"
        return Trouble("The answer was stopped", why, RAISE, severity="warning", over_budget=True)

    async def of_switch(self, spec: RoleSpec, tier: str) -> tuple[str, str] | None:
        """What is to be asked before this model reads the conversation; None: nothing.

        That it reads, with the price, and the tokens that it has not read.
        """
        known = self._read.get((spec.endpoint, spec.model), 0)
        tokens = max(self._window.scale(spec).tokens(self._window.history_tokens()) - known, 0)
        ask, cap = self._ports.quote, self.caps.switch
        if not tokens or cap is None or ask is None or spec.endpoint == REHEARSAL:
            return None
        usd = (await ask(spec.endpoint, (spec.model,), Usage(tokens, 0), tier)).usd or 0.0
        if usd <= cap:
            return None
        return (
            f"{spec.model} reads the conversation anew, for about {dollars(usd)}",
            f"About {tokens:,} tokens that it has not read; your limit: {dollars(cap)}.",
        )

    async def anew(self, spec: RoleSpec, tier: str) -> Trouble | None:
        """Why a session that goes on with another model stays unsent: the user does not want it."""
        before, self.reader = self.reader, None
        if before is None or before == (spec.endpoint, spec.model):
            return None
        question = await self.of_switch(spec, tier)
        choices = (f"Send it to {spec.model}", "Do not send it")
        if question is None:
            return None
        words, detail = question
        if await self._state.questions.ask(f"{words}: send it?", detail, choices) == choices[0]:
            return None
        self.reader = before
        what = "The prompt was not sent"
        return Trouble(what, words, _OTHER, severity="warning", over_budget=True)

    def _least(self, spec: RoleSpec, head: Request, rates: Rates | None) -> float:
        tokens = self._window.surely(spec, head)
        known = min(tokens, self._read.get((spec.endpoint, spec.model), 0))
        if rates is None:
            return 0.0
        cheapest = min(rates.cached, rates.input)
        self.least_usd = known * cheapest + (tokens - known) * rates.input
        return self.least_usd

    def _watches(self, turn_usd: float | None) -> bool:
        return not (turn_usd is None and self.caps.session is None and self.caps.day is None)

    def _left(self, turn_usd: float | None) -> tuple[float, str]:
        """The least that is left of a cap, and which one that is, in words."""
        whole = self._whole or self
        beside = sum(one._streams_usd for one in (whole, *whole._parts) if one is not self)
        spent = {
            "the day": (self.caps.day, self._day_usd + beside),
            "the session": (self.caps.session, self._session_usd + beside),
            "the turn": (turn_usd, self._state.meter.spent()[0]),
        }
        left = [
            (cap - so_far, f"the {dollars(cap)} for {name}")
            for name, (cap, so_far) in spent.items()
            if cap is not None
        ]
        return min(left)

    @property
    def _session_usd(self) -> float:
        if self._whole is not None:
            return self._whole._session_usd
        return self._state.meter.session_usd + self._stopped_usd

    @property
    def _day_usd(self) -> float:
        if self._whole is not None:
            return self._whole._day_usd
        return self._others_usd + self._own_usd + self._session_usd - self._mark_usd

    async def _today(self) -> None:
        """Have today's total: what other sessions spent is asked again each time."""
        if self._whole is not None:
            await self._whole._today()
            return
        ask = self._ports.spent_today
        if ask is None:
            return
        spent = await ask()
        if self._day != spent.day:
            self._own_usd = 0.0 if self._day else spent.own_usd
            self._mark_usd, self._day = self._session_usd, spent.day
        self._others_usd = spent.others_usd

    def _tell_unpriced(self, spec: RoleSpec) -> None:
        lasting = self.caps.session is not None or self.caps.day is not None
        if lasting and spec.model not in self._told:
            self._told.add(spec.model)
            what = f"A limit of money cannot stop {spec.model}"
            self._state.warn(what, "its price is not known")

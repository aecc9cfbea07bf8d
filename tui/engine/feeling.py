"""Asks once a day how much faster the work felt, if the user allows it, and keeps the answer.

The question is a line in the conversation: it takes no keys, and nothing waits for its answer.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from tui.core.session_record import Happened
from tui.engine import intents
from tui.engine.intents import Intent
from tui.engine.notices import Trouble
from tui.engine.services import Services
from tui.engine.stats_words import times
from tui.errors import DuettoError

_TURNS = 5
"""A session with fewer does not say how it felt."""
QUESTION = (
    "How much faster does today's work feel than without duetto? /stats felt 2 says twice as fast,"
    " 1 as fast, 0.5 half as fast. You are asked once a day; /stats ask off ends that."
)
CONSENT = (
    "/stats ask on has duetto ask once a day how much faster it felt, in a line of the"
    " conversation; /stats ask off never."
)


class Feeling:
    """Of one session."""

    def __init__(
        self, services: Services, submit: Callable[[Intent], None], *, asks: bool | None
    ) -> None:
        """``asks`` is what the user's settings say; None: nothing yet."""
        self._services, self._submit, self.asks = services, submit, asks
        self._turns = 0

    def handle(self, intent: intents.Felt | intents.SetAsking) -> None:
        """What the user says of it."""
        state, store = self._services.state, self._services.ports.store
        if isinstance(intent, intents.SetAsking):
            self._services.supervisor.start(self._keep(intent.on), "keeping the setting")
        elif store is None or not store().keeps:
            why, step = "sessions are not kept", "[store] on = true keeps them"
            state.warn("The answer is not kept", why, step)
        else:
            store().commit(Happened(0, "felt", intent.times))
            said = f"kept: {times(float(intent.times or 1))} as fast; /stats has what was measured"
            state.note(0, said if intent.times else QUESTION)

    async def _keep(self, on: bool) -> None:
        """Say it in the user's own settings."""
        state, keep = self._services.state, self._services.ports.keep_asking
        self.asks = on
        try:
            await keep(on)
        except DuettoError as error:
            step = f"[stats] ask = {str(on).lower()} says it there"
            state.trouble(Trouble("The setting holds for this session only", str(error), step))
            return
        state.note(0, "you are asked once a day" if on else "you are not asked how it felt")

    def turn_ended(self, number: int, text: str, outcome: str) -> None:
        """When some are over it is a good moment, once a day."""
        self._turns += outcome == "completed"
        archive = self._services.ports.archive
        store = self._services.ports.store
        kept = store is not None and store().keeps and archive is not None
        if self.asks and kept and outcome == "completed" and self._turns == _TURNS:
            self._services.supervisor.start(self._ask(), "asking how it felt")

    async def _ask(self) -> None:
        archive = self._services.ports.archive
        if archive is None:
            return
        try:
            asked_ms = await archive().asked_ms()
        except DuettoError:
            return
        if datetime.fromtimestamp(asked_ms / 1000).date() != datetime.now().date():
            self._submit(intents.Felt())

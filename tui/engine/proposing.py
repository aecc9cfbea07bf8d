"""Proposes the other model for a draft, from the user's own statistics (`core.proposals`).

They are read in a thread when a draft begins, and anew behind each turn. What was proposed and what
became of it is kept in the store, so that it can be said how often it was right.
"""

from __future__ import annotations

import asyncio

from tui.core.proposals import Proposal, Proposals, kind_of
from tui.engine.services import Services
from tui.errors import DuettoError


class Proposing:
    """Of one session with a fast and a deep model."""

    def __init__(self, services: Services) -> None:
        self._services, self._status = services, services.state.status
        self._known: Proposals | None = None
        self._reading: asyncio.Task[None] | None = None
        self._is_stale = True
        """A turn has ended since it was read."""
        self._draft: tuple[object, ...] = ()
        self._proposal: Proposal | None = None
        """For that draft."""
        self._shown: Proposal | None = None
        """The last one that the user saw, until a turn begins."""
        self._stood: Proposal | None = None
        """The one that was seen before the turn that runs."""
        services.state.before_turn.append(self._turn_begins)
        services.state.after_turn.append(self._turn_over)

    def of(self, draft: str) -> Proposal | None:
        """Who should answer this; None: nothing is to be said, or it is not known yet."""
        status = self._status
        if status.busy or len(status.models) < 2 or not draft.strip() or draft[0] in "/!":
            return None
        self.look()
        asked = (draft, status.role, id(self._known))
        if asked != self._draft:
            self._draft = asked
            known, models = self._known, {str(role): name for role, name in status.models.items()}
            self._proposal = None if known is None else known.of(draft, status.role, models)
        self._shown = self._proposal or self._shown
        return self._proposal

    def look(self) -> None:
        """Have the statistics read, if a turn has ended since they were."""
        if self._is_stale and self._reading is None:
            self._is_stale = False
            self._reading = self._services.supervisor.start(self._read(), "your own statistics")

    async def _read(self) -> None:
        archive = self._services.ports.archive
        try:
            if archive is not None:
                self._known = Proposals(await archive().past_turns())
                self._status.advice = self._known.advice
                self._services.state.restated()
        except DuettoError:
            pass  # nothing is proposed; what is wrong with the store is said where it is kept
        finally:
            self._reading = None

    def _turn_begins(self, number: int) -> None:
        self._stood, self._shown = self._shown, None

    def _turn_over(self, number: int, text: str, outcome: str) -> None:
        stood, self._is_stale = self._stood, True
        if stood is not None and kind_of(text) == stood.kind:
            self._services.state.witness.happens(number, "proposed", stood.role)
            if outcome == "interrupted":  # perhaps to be handed over, as proposed
                self._shown = self._shown or stood

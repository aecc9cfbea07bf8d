"""Giving memory back once very many hunks have been decided on."""

from __future__ import annotations

import asyncio

from tui.engine.kit import Kit

MANY = 1000
"""So many hunks since the last time take memory worth a look."""
IDLE_S = 2.0
"""After the last decision; who decides on more, or lets a patch come, is not waited on."""


class Memory:
    """Waits until no hunk is open, then lets go of what placing and deciding have left."""

    def __init__(self, kit: Kit) -> None:
        self._workspace = kit.board.workspace
        self._ports = kit.ports
        self._supervisor = kit.supervisor
        self._input_first = kit.board.input_first
        self._seen = 0
        """How many hunks there were when memory was last given back."""
        self._waits = False

    def decided(self) -> None:
        """The user decided; cheap."""
        if not self._waits and self._is_worth_it():
            self._waits = True
            self._supervisor.start(self._give_back(), "giving memory back", self._wait_no_more)

    def _is_worth_it(self) -> bool:
        many = len(self._workspace.hunks) - self._seen > MANY
        return many and not self._workspace.roster.tally.waiting

    def _wait_no_more(self) -> None:
        self._waits = False

    async def _give_back(self) -> None:
        await self._ports.sleep(IDLE_S)
        self._waits = False
        if self._is_worth_it():
            self._seen = len(self._workspace.hunks)
            await self._input_first.do(self._workspace.letting_go(), self._ports.clock.now)
            await asyncio.to_thread(self._ports.give_memory_back)

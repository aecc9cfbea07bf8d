"""Turns that a scripted session can be rewound to."""

from __future__ import annotations

from typing import TypeVar

from tests.support.scripted_session import ScriptedSession
from tui.engine.intents import Part
from tui.engine.rewound_files import PastTurn, RewindPlan, RewoundFile

S = TypeVar("S", bound=ScriptedSession)


class ScriptedTurns:
    """As `Rewinding`, for who shows what it would do."""

    def turns(self) -> list[PastTurn]:
        """Two turns, oldest first."""
        return [PastTurn(1, "make it safe", 2, 1), PastTurn(2, "now fast", 1, 1)]

    async def plan(self, turn: int, hunk: int = 0, part: Part = "both") -> RewindPlan | str:
        """A file changes, another one comes back."""
        if turn > 2:
            return f"There is no turn {turn}: there are 1 to 2."
        files = [
            RewoundFile("cache.py", "x = 1\nnew = 2\n", "x = 1\nold = 2\n"),
            RewoundFile("gone.py", None, "y = 1\n", others=True),
        ]
        return RewindPlan(turn, hunk, 2, part, [] if part == "talk" else files, ["now fast"])


def rewindable(session: S) -> S:
    """The session, with these."""
    vars(session)["rewinding"] = ScriptedTurns()
    return session

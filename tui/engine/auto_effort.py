"""Effort `auto`: how much a model thinks follows from what became of its answers.

One level more when the verifiers fail what an answer changed, at least one above the start when an
answer changed several files, one less when three changes in a row passed; never beyond what the
model has, and only between two turns. Each change is a note that says why.
"""

from __future__ import annotations

from tui.core.wire.efforts import Effort, auto_levels, auto_start
from tui.engine.intents import Role
from tui.engine.session_state import SessionState

GREENS = 3
"""So many changes in a row pass before a level is given up."""


class AutoEffort:
    """Of all roles of a session that are on `auto`."""

    def __init__(self, state: SessionState) -> None:
        self._state, self._status = state, state.status
        self._answers: Role = state.status.role
        """Who answers in the turn that runs."""
        self._changed_by: Role | None = None
        """Whose change waits for its verdict."""
        self._greens: dict[Role, int] = {}
        self._late: str = ""
        """The verdict on that change, where it came while the next answer streams."""
        state.before_turn.append(self._turn_begins)
        state.after_turn.append(self._turn_over)
        state.after_verdict.append(self._judged)

    def _turn_begins(self, number: int) -> None:
        self._answers = self._status.role

    def _turn_over(self, number: int, text: str, outcome: str) -> None:
        if self._late:
            self._follow(self._late)
        self._late, self._changed_by = "", None
        files = set()
        for hunk in reversed(self._state.workspace.hunks):
            if hunk.turn < number:
                break
            files |= {hunk.path} if hunk.turn == number else set()
        if outcome != "completed" or not files:
            return
        self._changed_by = role = self._answers
        levels = self._levels(role)
        start = auto_start(self._status.levels.get(role))
        if len(files) > 1 and start is not None and levels:
            above = levels[min(levels.index(start) + 1, len(levels) - 1)]
            if self._at(role) < levels.index(above):
                self._set(role, above, f"the last change spans {len(files)} files")

    def _judged(self, verdict: str) -> None:
        """The verifiers say something of what the screen shows."""
        if self._status.busy:
            self._late = verdict
        else:
            self._follow(verdict)

    def _follow(self, verdict: str) -> None:
        role, bad = self._changed_by, verdict in ("failed", "timeout")
        if role is None or not (bad or verdict == "passed"):
            return
        self._changed_by = None
        self._greens[role] = 0 if bad else self._greens.get(role, 0) + 1
        levels, at = self._levels(role), self._at(role)
        what = "the tests" if self._status.judged == "tests" else "the checks"
        if bad and at + 1 < len(levels):
            how = "ran into their deadline" if verdict == "timeout" else "failed"
            self._set(role, levels[at + 1], f"{what} {how}")
        elif self._greens[role] >= GREENS:
            self._greens[role] = 0
            if at > 0 and levels:
                self._set(role, levels[at - 1], f"{GREENS} changes in a row passed {what}")

    def _levels(self, role: Role) -> list[Effort]:
        """What this role chooses from; empty: it is not on `auto`."""
        return auto_levels(self._status.levels.get(role)) if role in self._status.auto else []

    def _at(self, role: Role) -> int:
        """Where it is among its levels; below the first where a server chose another."""
        levels, now = self._levels(role), self._status.efforts.get(role)
        return levels.index(now) if now in levels else -1

    def _set(self, role: Role, effort: Effort, why: str) -> None:
        self._status.efforts[role], self._status.auto[role] = effort, why
        self._state.note(0, f"{role} thinks with effort {effort} from now on: {why}")
        self._state.restated()

"""All hunks of a session, found without a walk over them all."""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.edits.hunk import OPEN, PLACED, Decision, Hunk, Stage

_UNSETTLED = OPEN | PLACED | {Stage.CONFLICT}


class Roster:
    """The hunks in the order in which they came, by id, by call, and those not settled."""

    def __init__(self) -> None:
        self.hunks: list[Hunk] = []
        self.reviews = 0
        """Grows when the user decides, places or takes back: older hunks may have changed."""
        self._by_id: dict[int, Hunk] = {}
        self._by_call: dict[str, list[Hunk]] = {}
        self._unsettled: dict[int, Hunk] = {}

    def __contains__(self, hunk_id: int) -> bool:
        return hunk_id in self._by_id

    def add(self, hunk: Hunk) -> None:
        """Take a new hunk in; it has the highest id so far."""
        self.hunks.append(hunk)
        self._by_id[hunk.id] = hunk
        self._by_call.setdefault(hunk.call_id, []).append(hunk)
        self._unsettled[hunk.id] = hunk

    def forget(self, hunk: Hunk) -> None:
        """Take a hunk out that came to nothing."""
        if self._by_id.pop(hunk.id, None) is None:
            return
        self._unsettled.pop(hunk.id, None)
        for hunks in (self.hunks, self._by_call[hunk.call_id]):
            at = len(hunks) - 1  # it is nearly always among the last
            while hunks[at] is not hunk:
                at -= 1
            del hunks[at]

    def reviewed(self, *reopened: Hunk) -> None:
        """The user decided; ``reopened`` hunks are to be decided again."""
        self.reviews += 1
        if reopened:
            self._unsettled.update({hunk.id: hunk for hunk in reopened})
            self._unsettled = dict(sorted(self._unsettled.items()))

    def by_id(self, hunk_id: int) -> Hunk:
        """The hunk of that id. Raises KeyError."""
        return self._by_id[hunk_id]

    def of_call(self, call_id: str) -> Sequence[Hunk]:
        """The hunks of one tool call, in order."""
        return self._by_call.get(call_id, ())

    def unsettled(self) -> list[Hunk]:
        """Hunks that still come in or wait for the user, in order."""
        over = [number for number, hunk in self._unsettled.items() if not _is_unsettled(hunk)]
        for number in over:
            del self._unsettled[number]
        return list(self._unsettled.values())

    def has_decidable(self) -> bool:
        """True if a hunk can be accepted or rejected now; what is over is not looked at again."""
        over: list[int] = []
        found, landing = False, Stage.LANDING
        for number, hunk in self._unsettled.items():
            if hunk.stage is landing and hunk.decision is Decision.PENDING:
                continue  # as do thousands at once, each frame: a whole file's end together
            if found := hunk.decidable:
                break
            if not _is_unsettled(hunk):
                over.append(number)
        for number in over:
            del self._unsettled[number]
        return found

    def has_waiting(self) -> bool:
        """True if a hunk waits for the user: to be decided on, to be placed, or in conflict."""
        landing = Stage.LANDING
        return any(hunk.stage is not landing and waits(hunk) for hunk in self._unsettled.values())


def waits(hunk: Hunk) -> bool:
    """True if a hunk has come and waits for the user."""
    conflict = hunk.stage is Stage.CONFLICT and hunk.decision is Decision.PENDING
    return conflict or hunk.decidable or hunk.placeable


def _is_unsettled(hunk: Hunk) -> bool:
    alive = hunk.stage in _UNSETTLED or bool(hunk.candidates)
    return alive and hunk.decision is Decision.PENDING

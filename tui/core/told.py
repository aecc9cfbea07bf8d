"""What a model was told of each hunk, so that nothing is told twice and nothing is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tui.core.edits.hunk import OPEN, Decision, Hunk, Stage
from tui.core.edits.telling.presence import Presence

State = tuple[Stage, Decision, str, Presence]


class Told:
    """The state of every hunk as the model of this conversation knows it."""

    def __init__(self, presence: Callable[[Hunk], Presence] = lambda hunk: Presence.WHOLE) -> None:
        """``presence`` says if a hunk's text still is in its file."""
        self._presence = presence
        self._states: dict[int, State] = {}
        self._alike: dict[State, State] = {}
        """One object for all hunks of which the same is known."""
        self._revision = -1

    def mark(self, hunks: Iterable[Hunk]) -> None:
        """The model is told of these as they are now."""
        for hunk in hunks:
            state = self._state(hunk)
            self._states[hunk.id] = self._alike.setdefault(state, state)

    def news(self, hunks: Iterable[Hunk], revision: int) -> list[Hunk]:
        """The hunks that are not as the model knows them, in order; one that lands is none yet.

        ``revision`` grows with stages, decisions and what others write in hunks: while it is the
        same there is nothing new.
        """
        if revision == self._revision:
            return []
        self._revision = revision
        return [
            hunk
            for hunk in hunks
            if _is_settled(hunk) and self._states.get(hunk.id) != self._state(hunk)
        ]

    def taken_back(self, hunks: Iterable[Hunk]) -> frozenset[int]:
        """Ids of those that are pending, and of which the model knows a decision."""
        return frozenset(
            hunk.id
            for hunk in hunks
            if hunk.decision is Decision.PENDING
            and self._states.get(hunk.id, _FRESH)[1] is not Decision.PENDING
        )

    def _state(self, hunk: Hunk) -> State:
        """What is said of it; of one that was rejected only whether its text is in the file."""
        out = hunk.decision is Decision.REJECTED and not hunk.stands_edited
        stage = Stage.DROPPED if out else hunk.stage
        return (stage, hunk.decision, hunk.words, self._presence(hunk))


_FRESH: State = (Stage.READING, Decision.PENDING, "", Presence.WHOLE)


def _is_settled(hunk: Hunk) -> bool:
    """True if there is something to say of it: it waits for the user, or nothing more comes."""
    return hunk.stage not in OPEN or hunk.placeable

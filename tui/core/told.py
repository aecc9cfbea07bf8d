"""What a model was told of each hunk, so that nothing is told twice and nothing is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from tui.core.edits.hunk import OPEN, Decision, Hunk, Stage
from tui.core.edits.telling.presence import Presence
from tui.core.steps import Work, finished, in_parts

State = tuple[Stage, Decision, str, Presence]
States = dict[int, State]
"""By the hunks' ids."""
NOTHING: Mapping[int, State] = MappingProxyType({})


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
        self.know(finished(self.states(hunks)), self._revision)

    def states(self, hunks: Iterable[Hunk]) -> Work[States]:
        """What `mark` notes, and changes nothing."""
        states: States = {}
        for part in in_parts(hunks):
            for hunk in part:
                state = self._state(hunk)
                states[hunk.id] = self._alike.setdefault(state, state)
            yield len(part)
        return states

    def know(self, states: Mapping[int, State], revision: int) -> None:
        """The model is told this, and of all that was new at ``revision``."""
        self._states.update(states)
        self._revision = revision

    def news(
        self, hunks: Iterable[Hunk], revision: int, told: Mapping[int, State] = NOTHING
    ) -> Work[list[Hunk]]:
        """The hunks that are not as the model knows them, in order; one that lands is none yet.

        ``revision`` grows with stages, decisions and what others write in hunks: while it is the
        same there is nothing new. ``told``: what the model is told before.
        """
        news: list[Hunk] = []
        for part in in_parts(hunks if revision != self._revision else ()):
            news += [
                hunk
                for hunk in part
                if _is_settled(hunk)
                and told.get(hunk.id, self._states.get(hunk.id)) != self._state(hunk)
            ]
            yield len(part)
        return news

    def taken_back(
        self, hunks: Iterable[Hunk], told: Mapping[int, State] = NOTHING
    ) -> Work[frozenset[int]]:
        """Ids of those that are pending, and of which the model knows a decision."""
        ids: list[int] = []
        for part in in_parts(hunks):
            for hunk in part:
                known = told.get(hunk.id, self._states.get(hunk.id, _FRESH))
                back = known[1] is not Decision.PENDING
                ids += [hunk.id] if back and hunk.decision is Decision.PENDING else []
            yield len(part)
        return frozenset(ids)

    def _state(self, hunk: Hunk) -> State:
        """What is said of it; of one that was rejected only whether its text is in the file."""
        out = hunk.decision is Decision.REJECTED and not hunk.stands_edited
        stage = Stage.DROPPED if out else hunk.stage
        return (stage, hunk.decision, hunk.words, self._presence(hunk))


_FRESH: State = (Stage.READING, Decision.PENDING, "", Presence.WHOLE)


def _is_settled(hunk: Hunk) -> bool:
    """True if there is something to say of it: it waits for the user, or nothing more comes."""
    return hunk.stage not in OPEN or hunk.placeable

"""Responses that a server begins by itself for steering texts that were given back already."""

from __future__ import annotations

from tui.core.wire.events import Completed, Created, Event, Failed, Incomplete


class Ghosts:
    """Of one lane: how many may still come, and the one that streams unseen ahead of ours."""

    def __init__(self) -> None:
        self.expected = 0
        self._name = ""

    @property
    def present(self) -> bool:
        """One streams now, and our own response has not begun."""
        return bool(self._name)

    def expect(self) -> None:
        """A text that was given back will be answered all the same."""
        self.expected += 1

    def gone(self) -> None:
        """One will not come."""
        self.expected = max(0, self.expected - 1)

    def appears(self, response_id: str) -> None:
        """One began ahead of a response of ours."""
        self.gone()
        self._name = response_id or "?"

    def hides(self, event: Event) -> bool:
        """Whether this event is the ghost's; its terminal, or another response, ends it."""
        if isinstance(event, Created) and event.response_id != self._name:
            self._name = ""
            return False
        if isinstance(event, Completed | Incomplete | Failed):
            self._name = ""
        return True

    def clear(self) -> None:
        """Nothing comes any more."""
        self.expected, self._name = 0, ""

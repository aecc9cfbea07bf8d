"""Prompts that wait: the one that was not sent, and the last one, to be sent again."""

from __future__ import annotations


class Drafts:
    """Nothing that was written gets lost."""

    def __init__(self) -> None:
        self.unsent = ""
        """Written and not sent, or given back; it waits for ``/again``."""
        self.typing = ""
        """What stood in the line when it was looked at last."""
        self._last = ""

    def sent(self, text: str) -> None:
        """This is on its way."""
        self.unsent, self._last = "", text

    def keep(self, text: str) -> None:
        """This waits."""
        self.unsent = text

    def to_repeat(self) -> str:
        """What ``/again`` sends; empty: nothing."""
        return self.unsent or self._last

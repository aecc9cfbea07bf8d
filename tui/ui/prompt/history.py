"""What was sent or cleared before, and the draft that waits meanwhile."""

from __future__ import annotations

_LONGEST = 500
_MOST_CHARS = 20_000_000
"""Of all entries together, unless the newest alone is longer."""


class History:
    """Prompts of this run, oldest first; walking in it never loses the draft."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self._at: int | None = None
        """Where the user is; None: at the draft."""
        self._draft = ""

    def add(self, text: str) -> None:
        """Remember a text that was sent or cleared; the same one twice in a row counts once."""
        if text.strip() and (not self.entries or self.entries[-1] != text):
            self.entries.append(text)
            del self.entries[:-_LONGEST]
            spare = sum(map(len, self.entries)) - _MOST_CHARS
            while spare > 0 and len(self.entries) > 1:
                spare -= len(self.entries.pop(0))
        self._at = None

    def older(self, shown: str) -> str | None:
        """The entry before; ``shown`` is what stands in the prompt now. None: no older one."""
        if self._at is None:
            if not self.entries:
                return None
            self._draft, self._at = shown, len(self.entries)
        if self._at == 0:
            return None
        self._at -= 1
        return self.entries[self._at]

    def newer(self) -> str | None:
        """The entry behind, at last the draft; None at the draft."""
        if self._at is None:
            return None
        self._at += 1
        if self._at < len(self.entries):
            return self.entries[self._at]
        self._at = None
        return self._draft

"""Lines that are typed become prompts: one line each, unless it says that it goes on."""

from __future__ import annotations

BLOCK = '"""'
"""On a line of its own: what stands between two of them is one prompt."""


class Entry:
    """Keeps the lines of a prompt that is not whole yet."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._in_block = False

    @property
    def draft(self) -> str:
        """What was typed and is not whole."""
        return "\n".join(self._lines)

    @property
    def goes_on(self) -> bool:
        """True if the next line belongs to what was typed."""
        return bool(self._lines) or self._in_block

    def feed(self, line: str) -> str | None:
        """Take a line; returns the whole text when it is whole."""
        if line.strip() == BLOCK:
            self._in_block = not self._in_block
            return None if self._in_block else self.take()
        if self._in_block:
            self._lines.append(line)
            return None
        if line.endswith("\\") and not line.endswith("\\\\"):
            self._lines.append(line[:-1])
            return None
        self._lines.append(line)
        return self.take()

    def take(self) -> str:
        """What there is, whole or not; nothing is kept."""
        text = self.draft
        self._lines, self._in_block = [], False
        return text

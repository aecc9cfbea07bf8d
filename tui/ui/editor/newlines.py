"""The line endings of a buffer: which one most lines have, and whether all have the same."""

from __future__ import annotations

from collections.abc import Iterable

from tui.core.text.buffer import Buffer, LineChange

LF, CRLF, MIXED = "LF", "CRLF", "mixed"

_PICTURES = {"\n": "␊", "\r\n": "␍␊"}
_IS_CRLF = bytes(int(length == 2) for length in range(256))


class Newlines:
    """Kept up with the buffer by what changed: a line costs the same in every file."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._revision = buffer.revision
        self._crlf = _flags(buffer.endings)
        """A byte a line: 1 if it ends in CRLF."""
        self._many = self._crlf.count(1)

    @property
    def word(self) -> str:
        """``LF``, ``CRLF`` or ``mixed``."""
        self._catch_up()
        if not self._many:
            return LF
        return CRLF if self._many == len(self._crlf) - 1 else MIXED

    def picture(self, line: int) -> str:
        """The line's ending as something to look at, if it is not the one that most have."""
        self._catch_up()
        ended = len(self._crlf) - 1
        if not self._many or self._many == ended:
            return ""
        ending = self._buffer.endings[line]
        usual = "\r\n" if self._many * 2 > ended else "\n"
        return _PICTURES.get(ending, "") if ending != usual else ""

    def _catch_up(self) -> None:
        buffer = self._buffer
        if buffer.revision == self._revision:
            return
        changes = buffer.changes_since(self._revision)
        self._revision = buffer.revision
        if changes is None:
            self._crlf = _flags(buffer.endings)
        else:
            # A change within one line changes no ending.
            changes = [change for change in changes if (change.n_old, change.n_new) != (1, 1)]
            if not changes:
                return
            self._take(changes)
        self._many = self._crlf.count(1)

    def _take(self, changes: list[LineChange]) -> None:
        """Look again at the lines between the first and the last one that came or went."""
        crlf, endings = self._crlf, self._buffer.endings
        first = min(change.row for change in changes)
        count = below = len(crlf)
        for row, n_old, n_new in changes:
            below = min(below, count - row - n_old)
            count += n_new - n_old
        below = min(below, len(crlf) - first, len(endings) - first)
        crlf[first : len(crlf) - below] = _flags(endings[first : len(endings) - below])


def _flags(endings: Iterable[str]) -> bytearray:
    return bytearray(map(len, endings)).translate(_IS_CRLF)

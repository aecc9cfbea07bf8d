"""What the files were before a turn: only a hash that is equal proves that one is as before."""

from __future__ import annotations

from tui.core.edits.ledger import FileRecord, Ledger
from tui.core.edits.telling.report import file_sha, sha_of
from tui.core.file_read import FileRead

Version = tuple[int, int]
"""Identity and revision of a buffer."""


class Origins:
    """The hash of every file at the beginning of the last turn."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._read = ledger.read
        ledger.read = self._reading
        self._shas: dict[str, tuple[Version, str]] = {}
        self._first: dict[str, bytes | None] = {}
        """What was read since then of files that nobody had opened before."""

    def begin(self) -> None:
        """A turn begins: what the files are now is what they may be brought back to."""
        self._first = {}
        records = self._ledger.records
        self._shas = {path: self._kept(path, record) for path, record in records.items()}

    def sha(self, path: str) -> str | None:
        """The hash of a file then; empty: there was none, None: not known."""
        if path in self._shas:
            return self._shas[path][1]
        return sha_of(self._first[path]) if path in self._first else None

    def _kept(self, path: str, record: FileRecord) -> tuple[Version, str]:
        """Worked out anew only for a text that changed."""
        version = (id(record.buffer), record.buffer.revision)
        known = self._shas.get(path)
        if known is not None and known[0] == version and not record.gone:
            return known
        return version, "" if record.gone or record.view else file_sha(record)

    def _reading(self, path: str) -> FileRead:
        found = self._read(path)
        self._first.setdefault(path, found.data)
        return found

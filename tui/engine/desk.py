"""The user's desk: open files, the active one, the cursor, and what is private."""

from __future__ import annotations

from tui.core.context import OpenFile
from tui.core.text.buffer import Buffer, Position
from tui.engine.board import Board
from tui.engine.catalogue import Catalogue
from tui.engine.file_consent import SEND, FileConsent
from tui.engine.notices import Trouble
from tui.engine.ports import Ports
from tui.errors import EditRefused

Selection = tuple[Position, Position]
AGENTS_FILE = "AGENTS.md"
"""The project's own instructions for a model."""


class Desk:
    """Tabs and cursors."""

    def __init__(self, board: Board, ports: Ports) -> None:
        self.catalogue = Catalogue(ports.files, lambda: board.folders_changed(listing=True))
        self.consents = FileConsent(board, ports)
        self.workspace = board.workspace
        self.status = board.status
        self._board = board
        self._cursors: dict[str, tuple[Position, Selection | None]] = {}
        self._said: set[str] = set()
        """Read-only and new files that the user was told of."""

    def open(
        self, path: str, line: int | None, col: int, *, aside: bool = False, new: bool = False
    ) -> None:
        """Open a file in a tab; a refusal is told.

        It becomes the active one, unless it is opened ``aside`` of another one. ``new``: one that
        is not there yet may be opened too.
        """
        try:
            buffer = self._new(path) if new else self.workspace.open(path)
        except EditRefused as error:
            self._board.trouble(Trouble(f"{path} was not opened", str(error)))
            return
        name = buffer.path  # one file has one name, however it was asked for
        if name not in self.status.open_paths:
            self.status.open_paths.append(name)
        if not aside or not self.status.active_path:
            self.status.active_path = name
            self._introduce(name)
        self._board.retabbed()
        if line is not None:
            target = buffer.clamp((line, col))
            self._cursors[name] = (target, None)
            self._board.goto((name, *target), aside=aside)

    def _introduce(self, path: str) -> None:
        """Say once, when it comes into sight, what is unusual about a file."""
        why, record = self.workspace.read_only(path), self.workspace.ledger.records[path]
        if path in self._said or not (why or record.blank):
            return
        self._said.add(path)
        what, step = ("Read-only", "") if why else (f"{path} is a new file", "saving makes it")
        words = why and f"{why}."
        self._board.trouble(Trouble(what, words, step, severity="information"))

    def _new(self, path: str) -> Buffer:
        """The buffer of a file that may be missing. Raises EditRefused."""
        try:
            return self.workspace.create(path)
        except EditRefused:
            return self.workspace.open(path)

    def close(self, path: str) -> None:
        """Close a tab; its neighbour becomes the active one."""
        paths = self.status.open_paths
        if path not in paths:
            return
        at = paths.index(path)
        paths.remove(path)
        if self.status.active_path == path:
            self.status.active_path = paths[min(at, len(paths) - 1)] if paths else ""
        self._board.retabbed()

    def renamed(self, path: str, name: str) -> None:
        """An open file has another name now: its tab and its cursor stay."""
        self.catalogue.moved(path, name)
        paths = self.status.open_paths
        if name in paths:
            self.close(path)
        elif path in paths:
            paths[paths.index(path)] = name
        if self.status.active_path == path:
            self.status.active_path = name
        if path in self._cursors:
            self._cursors[name] = self._cursors.pop(path)
            self._board.goto((name, *self._cursors[name][0]), aside=name != self.status.active_path)
        self._board.retabbed()

    def cursor(self, path: str, position: Position, selection: Selection | None) -> None:
        """The cursor moved; where it is, is the active file."""
        self._cursors[path] = (position, selection)
        if path != self.status.active_path and path in self.status.open_paths:
            self.status.active_path = path
            self._board.retabbed()

    def open_file(self, path: str) -> OpenFile:
        """A buffer as the model is told of it."""
        cursor, selection = self._cursors.get(path, (None, None))
        active = path == self.status.active_path
        return OpenFile(
            self.workspace.buffers[path],
            active=active,
            cursor=cursor if active else None,
            selection=selection if active else None,
            private=self.privacy(path),
            read_only=self.workspace.read_only(path),
            view=self.workspace.ledger.quotable(path) is None,
        )

    @property
    def ready(self) -> bool:
        """True if a request can be composed without looking at the disk."""
        return self.catalogue.ready([AGENTS_FILE, *self.workspace.buffers])

    async def prepare(self) -> None:
        """List the files if need be, and look up which of the open ones are private."""
        await self.catalogue.prepare([AGENTS_FILE, *self.workspace.buffers])

    def privacy(self, path: str) -> str:
        """Why a file's text is not sent; empty if it may be."""
        reason = self.catalogue.privacy(path)
        return "" if self.consents.allows(SEND, path, reason) else reason

    def private_paths(self) -> dict[str, str]:
        """Buffers of which nothing may be quoted, and why."""
        reasons = {path: self.privacy(path) for path in self.workspace.buffers}
        return {path: reason for path, reason in reasons.items() if reason}

    def is_sent(self, path: str) -> bool:
        """True if a file's text may be sent; else it is said in the conversation."""
        if reason := self.privacy(path):
            self._board.note(0, f"{path} is not sent to the model: {reason}")
        return not reason

"""A session over a real workspace: a test's user types, and models stream patches into it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from tests.support.scripted_session import ScriptedSession
from tui.core.document.workspace import Workspace
from tui.core.edit_stream import Format
from tui.core.files import FileRead
from tui.core.patches.landing import Landing
from tui.engine.intents import Accept, CloseFile, Intent, Reject, SaveFile
from tui.engine.session_state import SessionState


@dataclass
class Stream:
    """A patch on its way."""

    landing: Landing
    rest: str
    place: tuple[str, int] | None = None


class PairSession(ScriptedSession):
    """Files in memory, hunks that really land, decisions that really count."""

    def __init__(self, files: dict[str, str], locked: Collection[str] = ()) -> None:
        """``locked``: files that nobody may write."""
        super().__init__(files)
        self.locked = locked
        status = self.state.status
        self.state = SessionState(Workspace(self._read, root="/root", ask=True))
        self.state.status = status
        self.streams: list[Stream] = []
        self.turn = 0

    def submit(self, intent: Intent) -> None:
        """Decide and save for good; all else as scripted."""
        if isinstance(intent, Accept):
            self.write(self.workspace.accept(intent.hunk_ids))
        elif isinstance(intent, Reject):
            self.write(self.workspace.reject(intent.hunk_ids))
        elif isinstance(intent, SaveFile):
            self.write([intent.path])
        elif isinstance(intent, CloseFile):
            self.close_file(intent.path)
        else:
            super().submit(intent)
            return
        self.changed()

    def close_file(self, path: str) -> None:
        """As `engine.open_files` does."""
        paths, status = self.status.open_paths, self.status
        at = paths.index(path)
        paths.remove(path)
        if status.active_path == path:
            status.active_path = paths[min(at, len(paths) - 1)] if paths else ""

    def write(self, paths: Iterable[str]) -> None:
        """Bring the files to what the workspace plans."""
        for path in paths:
            data = self.workspace.disk_plan(path).data
            if data is None:
                self.files.pop(path, None)
            else:
                self.files[path] = data.decode()
            self.workspace.written(path, data)

    def take_back(self) -> None:
        """The last turn of a model is taken back."""
        self.write(self.workspace.undo_turn())

    def start(self, patch: str, fmt: Format = "apply_patch") -> None:
        """A model begins to write a patch; in another format than apply_patch it is prose."""
        self.turn += 1
        landing = Landing(
            self.workspace,
            turn=self.turn,
            call_id=f"call_{self.turn}",
            channel="custom" if fmt == "apply_patch" else "text",
            fmt=fmt,
        )
        self.streams.append(Stream(landing, patch))
        self.status.busy = True

    def feed(self, count: int) -> None:
        """So many characters of every patch, and what a frame does (`engine.reply`)."""
        for stream in list(self.streams):
            stream.landing.feed(stream.rest[:count])
            stream.rest = stream.rest[count:]
            if stream.rest:
                stream.landing.tail()
            else:
                stream.landing.finish(cut=False)
                self.streams.remove(stream)
            place = stream.landing.last_line
            if place is not None and place != stream.place:
                stream.place = place
                self.state.landed(*place)
            self.state.hunks_changed()
        self.status.busy = bool(self.streams)

    def _read(self, path: str) -> FileRead:
        text = self.files.get(path)
        why = "no write permission" if path in self.locked else ""
        return FileRead(None if text is None else text.encode(), unwritable=why)

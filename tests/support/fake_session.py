"""A session with files in memory and a pen: tests write into buffers as a model would."""

from __future__ import annotations

from tests.support.fake_folders import FakeFolders
from tests.support.typist import Typist
from tui.core.document.workspace import Workspace
from tui.core.files import FileRead
from tui.core.meter import Meter
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Change, Position
from tui.engine.intents import CloseFile, Intent, OpenFile
from tui.engine.notices import Notices, Status
from tui.errors import EditRefused
from tui.ui.editor.editing import Editing

Selection = tuple[Position, Position]


class FakeWorkspace(Workspace):
    """Buffers, the user's undo, and decorations that a test sets."""

    def __init__(self, files: dict[str, str]) -> None:
        super().__init__(lambda path: FileRead(None))
        self.files = files
        self.buffers: dict[str, Buffer] = {}
        self.lines_kind: dict[str, dict[int, str]] = {}
        self.ghosts: dict[str, tuple[int, list[str]]] = {}
        self.dirty: set[str] = set()
        self.typists: dict[str, Typist] = {}

    def open(self, path: str) -> Buffer:
        if path not in self.buffers:
            if path not in self.files:
                raise EditRefused(f"{path} is a binary file; duetto shows text files only.")
            self.typists[path] = Typist(self.files[path], path)
            self.buffers[path] = self.typists[path].buffer
        return self.buffers[path]

    def edit(self, path: str, start: Position, end: Position, text: str, group: str = "") -> Change:
        self.dirty.add(path)
        return self.typists[path].replaces(start, end, text, group)

    def write(self, path: str, start: Position, end: Position, text: str) -> None:
        """As a model does."""
        self.open(path)
        self.typists[path].other(start, end, text)

    def undo(self, path: str) -> Position | None:
        return self.typists[path].undo()

    def redo(self, path: str) -> Position | None:
        return self.typists[path].redo()

    def is_dirty(self, path: str) -> bool:
        return path in self.dirty

    def decorations(
        self, path: str, first: int, last: int, *, removed: bool = False
    ) -> dict[int, str]:
        kinds = self.lines_kind.get(path, {})
        return {line: kind for line, kind in kinds.items() if first <= line < last}

    def ghost(self, path: str) -> tuple[int, list[str]] | None:
        return self.ghosts.get(path)


class FakeSession:
    """What the editor needs of a session."""

    def __init__(self, files: dict[str, str]) -> None:
        self._workspace = FakeWorkspace(files)
        self._status = Status()
        self.folders = FakeFolders(self._workspace.files)
        self.meter = Meter()
        self.now_s = 100.0
        self.intents: list[Intent] = []
        self.touches: list[str] = []
        self.where: tuple[str, Position, Selection | None] | None = None

    @property
    def workspace(self) -> FakeWorkspace:
        return self._workspace

    @property
    def status(self) -> Status:
        return self._status

    def now(self) -> float:
        return self.now_s

    def submit(self, intent: Intent) -> None:
        self.intents.append(intent)
        paths = self.status.open_paths
        if isinstance(intent, OpenFile):
            if intent.path not in paths:
                paths.append(intent.path)
            if not intent.aside or not self.status.active_path:
                self.status.active_path = intent.path
        elif isinstance(intent, CloseFile) and intent.path in paths:
            paths.remove(intent.path)
            self.status.active_path = paths[-1] if paths else ""

    def touched(self, path: str) -> None:
        self.touches.append(path)

    def cursor(self, path: str, position: Position, selection: Selection | None = None) -> None:
        self.where = (path, position, selection)
        if path in self.status.open_paths:
            self.status.active_path = path

    def listing(self) -> list[str]:
        return sorted(self.workspace.files)

    def land(self, path: str, line: int, text: str) -> Notices:
        """The model inserts whole lines; returns the frame's notices."""
        self.workspace.open(path)
        self.workspace.write(path, (line, 0), (line, 0), text)
        kinds = self.workspace.lines_kind.setdefault(path, {})
        count = text.count("\n")
        moved = {at + count if at >= line else at: kind for at, kind in kinds.items()}
        moved |= dict.fromkeys(range(line, line + count), "landing")
        self.workspace.lines_kind[path] = moved
        return Notices(buffers={path}, hunks=True, landing=(path, line + count - 1))


def editing_of(workspace: FakeWorkspace) -> Editing:
    """What makes an editor's changes in this workspace."""
    session = FakeSession({})
    session._workspace = workspace
    return Editing(session, lambda words, warning: None)

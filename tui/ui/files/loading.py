"""The file tree's folders are listed when they are opened, a thread doing the work."""

from __future__ import annotations

from collections.abc import Collection

from tui.core.folder_entry import FolderEntry
from tui.errors import FileRefused
from tui.ui.editor.session import EditorSession
from tui.ui.files.view import TreeView


class ListedTree(TreeView, can_focus=True):
    """The rows and where they come from; `FileTree` adds keys and the filter."""

    def __init__(self, session: EditorSession, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self._loading = False
        self._wished = ""
        """The path to light when it is listed."""

    def reveal(self, path: str) -> None:
        """Open the folders above a file, and light it as soon as they are listed."""
        self._wished = path
        above = path.split("/")[:-1]
        for count in range(1, len(above) + 1):
            self.tree_rows.open("/".join(above[:count]))
        self.load()
        self._light_wished()

    def forget_wish(self) -> None:
        """What is listed next is not lit any more."""
        self._wished = ""

    def _light_wished(self) -> None:
        if self._wished and not self.words:
            at = self.tree_rows.index(self._wished)
            if at is not None:
                self.go(at)
            if at is not None or not self.tree_rows.wanted():
                self._wished = ""
        self.refresh()

    def load(self) -> None:
        """List what is open and was not listed."""
        if not self._loading and self.tree_rows.wanted():
            self._loading = True
            self.run_worker(self._load_wanted())

    async def _load_wanted(self) -> None:
        try:
            while wanted := self.tree_rows.wanted():
                await self._list(wanted)
        finally:
            self._loading = False

    async def _list(self, folders: Collection[str]) -> None:
        listed: dict[str, list[FolderEntry] | str] = {}
        self.tree_rows.asking(folders)
        for folder in folders:
            try:
                listed[folder] = list(await self.session.folders.entries(folder))
            except FileRefused as error:
                listed[folder] = str(error)
        self.keeping(lambda: self.tree_rows.loaded(listed))
        self._light_wished()

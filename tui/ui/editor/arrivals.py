"""Files that models write in: which of them come into a tab, and which one is followed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tui.core.edits.hunk import Stage
from tui.core.edits.telling.progress import written_paths
from tui.core.edits.workspace import Workspace
from tui.engine.notices import Status

_MOST_TABS = 30
"""With more open files others do not open by themselves, unless they are followed."""


class Arrivals:
    """What landed where, this turn."""

    def __init__(self) -> None:
        self.landed = ""
        """The file in which a model wrote last."""
        self._seen = 0
        """The newest hunk whose file was looked at."""
        self._closed: set[str] = set()
        """Files that the user closed while a model was at work: they stay closed."""

    def begin(self) -> None:
        """A turn begins."""
        self._closed.clear()

    def closed(self, path: str) -> None:
        """The user closed a file's tab."""
        self._closed.add(path)

    def come(self, workspace: Workspace, status: Status) -> list[str]:
        """Files in which new hunks stand, and that have no tab yet."""
        self._closed.difference_update(status.open_paths)  # opened again
        found: dict[str, None] = {}
        for path in self._news(workspace):
            here = path in workspace.buffers and path not in self._closed
            if here and path not in status.open_paths:
                found[path] = None
        return list(found)[: max(_MOST_TABS - len(status.open_paths), 0)]

    def writing(self, workspace: Workspace, status: Status) -> Collection[str]:
        """Files that a model is writing in now."""
        if not status.busy:
            self.landed = ""
        return written_paths(workspace) or (self.landed,)

    def leads(self, path: str, shown: str, written: Collection[str]) -> bool:
        """True if a view that shows ``shown`` shall go to this file."""
        return path != shown and shown not in written and path not in self._closed

    def _news(self, workspace: Workspace) -> Iterator[str]:
        """Paths of hunks that came since this was asked last, oldest first."""
        fresh = []
        for hunk in reversed(workspace.hunks):
            if hunk.id <= self._seen:
                break
            fresh.append(hunk)
        for hunk in reversed(fresh):
            self._seen = hunk.id
            if hunk.stage not in (Stage.REFUSED, Stage.DROPPED):
                yield hunk.path

"""A session with a turn to review: several files, every kind of hunk; decisions that count."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from tests.support.pair_session import PairSession
from tui.core.files import FileRead
from tui.engine.diffs import Diffs
from tui.engine.intents import Intent, PlaceHunk, RedoDecision, Reject, UndoDecision
from tui.engine.services import Services
from tui.errors import EditRefused

CACHE = '''"""A small cache."""

from __future__ import annotations

import time


class Cache:
    """Keeps the newest values."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self._items.get(key)

    def put(self, key: str, value: bytes) -> None:
        self._items[key] = value
        if len(self._items) > self._size:
            self._items.pop(next(iter(self._items)))

    def clear(self) -> None:
        self._items.clear()

    def __len__(self) -> int:
        return len(self._items)

    def keys(self) -> list[str]:
        return list(self._items)

    def values(self) -> list[bytes]:
        return list(self._items.values())

    def report(self) -> str:
        """How full it is."""
        return f"{len(self)} of {self._size}"


def now() -> float:
    return time.monotonic()
'''
FILES = {
    "ledger/cache.py": CACHE,
    "tests/test_cache.py": "def test_put() -> None:\n    cache = Cache(2)\n    assert cache\n",
    "ledger/old.py": "x = 1\ny = 2\n",
}
PATCH = """*** Begin Patch
*** Update File: ledger/cache.py
@@
-import time
+import threading
+import time
 
@@
     def __init__(self, size: int) -> None:
+        self._lock = threading.RLock()
         self._size = size
@@
     def put(self, key: str, value: bytes) -> None:
-        self._items[key] = value
-        if len(self._items) > self._size:
-            self._items.pop(next(iter(self._items)))
+        with self._lock:
+            self._items[key] = value
+            if len(self._items) > self._size:
+                self._items.pop(next(iter(self._items)))
 
@@
-        return f"{len(self)} of {self._size}"
+        return f"{len(self)} values of {self._size}"
@@
-    return nowhere
+    return somewhere
*** Add File: ledger/lock.py
+import threading
+
+LOCK = threading.RLock()
*** Update File: tests/test_cache.py
@@
-    cache = Cache(2)
+    cache = Cache(size=2)
*** Delete File: ledger/old.py
*** End Patch
"""
"""Hunks 1 to 4 land, 5 is refused; 6 is a new file, 7 is in a file that is not open, 8 deletes."""


class ReviewSession(PairSession):
    """What the review asks for is done."""

    def __init__(self, files: dict[str, str] | None = None) -> None:
        super().__init__(dict(FILES if files is None else files))
        self.head: dict[str, str] = {}
        """What git has of a file."""
        self.no_head = ""
        """Why git has nothing, if that is so."""
        self.asked: list[Intent] = []
        ports = SimpleNamespace(
            files=SimpleNamespace(read=self._read), git_status=None, git_head=self._head
        )
        self.diffs = Diffs(cast(Services, SimpleNamespace(state=self.state, ports=ports)))

    def submit(self, intent: Intent) -> None:
        """Do it at once."""
        self.asked.append(intent)
        if isinstance(intent, Reject):
            self.write(self.workspace.reject(intent.hunk_ids, intent.words))
        elif isinstance(intent, PlaceHunk):
            self.workspace.place(intent.hunk_id, intent.line)
        elif isinstance(intent, UndoDecision | RedoDecision):
            self._again(intent)
        else:
            super().submit(intent)
            return
        self.changed()

    def turn_of(self, patch: str = PATCH) -> None:
        """A turn of a model, whole."""
        self.begin(patch)
        while self.streams:
            self.feed(400)

    def begin(self, patch: str = PATCH) -> None:
        """A turn begins; `feed` goes on with it."""
        self.diffs.turn_begins(self.turn + 1)
        self.start(patch)

    def states(self) -> list[str]:
        """Each hunk's decision where there is one, else its stage."""
        hunks = self.workspace.hunks
        return [
            (one.decision if one.decision.value != "pending" else one.stage).value for one in hunks
        ]

    def _again(self, intent: Intent) -> None:
        undo = isinstance(intent, UndoDecision)
        workspace = self.workspace
        try:
            self.write(workspace.undo_decision() if undo else workspace.redo_decision())
        except EditRefused:
            return

    async def _head(self, path: str) -> FileRead:
        text = None if self.no_head else self.head.get(path)
        return FileRead(None if text is None else text.encode(), self.no_head)

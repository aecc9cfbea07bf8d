"""The linear mode without a terminal: a test enters lines, and reads what was said."""

from __future__ import annotations

from tests.support.pair_session import PairSession
from tui.core.conversation import Block, BlockKind
from tui.linear.app import BATCH_S, LinearApp, Mode

FILES = {"slug.py": "import re\n\n\ndef slug(text):\n    return text.lower()\n"}
PATCH = """*** Begin Patch
*** Update File: slug.py
@@
-def slug(text):
-    return text.lower()
+def slug(text, most=40):
+    return text.lower()[:most]
*** Add File: new.py
+VALUE = 1
*** End Patch
"""


class Heard:
    """Keeps what is said."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.now: Mode = "busy"
        self.holding = False
        self.width: int | None = None

    def say(self, text: str) -> None:
        assert text.endswith("\n"), "whole lines only"
        self.pieces.append(text)

    def look(self) -> bool:
        """Nobody types here."""
        return True

    def hush(self, on: bool) -> None:
        self.hushed = on

    def mode(self, mode: Mode, stoppable: bool) -> None:
        self.now = mode


class LinearStage:
    """A session whose model is the test, in the linear mode."""

    def __init__(self, *, live: bool = True, files: dict[str, str] | None = None) -> None:
        self.session = PairSession(FILES.copy() if files is None else files)
        self.heard = Heard()
        self.app = LinearApp(self.session.as_session(), self.heard, live=live)

    def enter(self, *lines: str) -> str:
        """Enter lines; returns what was said to them."""
        before = len(self.heard.pieces)
        for line in lines:
            self.app.line(line)
        return "".join(self.heard.pieces[before:])

    def look(self, seconds: float = BATCH_S) -> str:
        """Time goes by; returns what was said."""
        before = len(self.heard.pieces)
        self.session.now_s += seconds
        self.app.frame()
        return "".join(self.heard.pieces[before:])

    def patched(self, patch: str = PATCH) -> str:
        """A model's patch lands; returns what was said."""
        session = self.session
        session.start(patch)
        turn = session.turn
        session.state.add(Block(BlockKind.USER, turn, state="done"), "shorten it")
        block = session.state.add(Block(BlockKind.PATCH, turn, "", "fast", f"call_{turn}"))
        session.feed(len(patch))
        session.state.close(block)
        session.status.outcome = "completed"
        return self.look()

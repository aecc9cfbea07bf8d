"""The editor: files, finding, two sides, and the ghost in the gutter."""

from __future__ import annotations

from tests.snapshots.sessions import whole
from tests.support.gallery import LOW, WIDE, Scene
from tests.support.review_session import CACHE
from tests.support.scripted_session import ScriptedSession
from tui.core.document.hunk import Stage
from tui.core.text.buffer import Mark


def ghost() -> ScriptedSession:
    """A model that writes thirty lines a second; the ghost is at the sixth."""
    session = ScriptedSession({"ledger/cache.py": CACHE})
    session.say("user", "make the cache safe for threads")
    session.say("patch", speaker="fast", state="open")
    session.open("ledger/cache.py")
    hunk = session.hunk(Stage.LANDING, 8, added=30)
    hunk.end = Mark(38)
    session.meter.start(99.9, "rehearsal-fast")
    for number in range(30):
        session.now_s = 100.0 + number / 25
        session.meter.delta(session.now_s, 40)
        session.meter.wrote(hunk, 8 + number)
    session.status.busy = True
    return session


def unsaved() -> ScriptedSession:
    """Three tabs; one file was edited and not saved."""
    session = whole()
    session.open("tests/test_cache.py")
    session.open("README.md")
    session.status.active_path = "ledger/cache.py"
    session.scripted.dirty.add("ledger/cache.py")
    return session


SCENES = (
    Scene("tabs", unsaved, ("alt+2", "down", "end")),
    Scene("ghost", ghost),
    Scene("finder", whole, ("ctrl+o", *"cac")),
    Scene("find", whole, ("alt+2", "ctrl+f", *"self")),
    Scene("replace", whole, ("alt+2", "ctrl+r", *"self", "tab", *"this")),
    Scene("go-to-line", whole, ("alt+2", "alt+g", *"12"), LOW),
    Scene("outline", whole, ("alt+2", "ctrl+t")),
    Scene("tree", whole, ("f4",), WIDE),
    Scene("tree-over-the-editor", whole, ("f4",), LOW),
    Scene("split", whole, ("alt+p",)),
    Scene("selected", whole, ("alt+2", "shift+down", "shift+down", "shift+end"), LOW),
)

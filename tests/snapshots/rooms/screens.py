"""What lies over the workbench: help, palette, lists of keys, the way out."""

from __future__ import annotations

from tests.snapshots.sessions import turn, whole
from tests.support.gallery import LOW, Scene, Show
from tests.support.scripted_session import ScriptedSession
from tui.core.document.hunk import Stage


def undecided() -> ScriptedSession:
    """A hunk that nobody decided on."""
    session = ScriptedSession()
    session.hunk(Stage.LANDED, 7)
    return session


async def themes(show: Show) -> None:
    """The list of themes, over a turn."""
    show.app.bench.slash.run("/theme")
    await show.settle()
    await show.pilot.pause(0.1)


SCENES = (
    Scene("help", whole, ("f1",)),
    Scene("help-searched", whole, ("f1", *"hunk"), LOW),
    Scene("palette", whole, ("ctrl+p",)),
    Scene("palette-searched", whole, ("ctrl+p", *"theme"), LOW),
    Scene("which-key", whole, ("ctrl+n",)),
    Scene("which-key-in-the-review", turn, ("f7", "ctrl+n"), LOW),
    Scene("themes", whole, begin=themes),
    Scene("leaving", undecided, ("ctrl+q",)),
    Scene("too-small", ScriptedSession, size=(38, 10)),
)

"""What lies over the workbench: help, palette, lists of keys, the way out."""

from __future__ import annotations

from tests.snapshots.sessions import turn, whole
from tests.support.gallery import LOW, MIDDLE, NARROW, PAIR, PLAIN, Scene, Show
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage


def undecided() -> ScriptedSession:
    """A hunk that nobody decided on."""
    session = ScriptedSession()
    session.hunk(Stage.LANDED, 7)
    return session


async def themes(show: Show) -> None:
    """The list of themes, over a turn."""
    show.app.bench.run_slash("/theme")
    await show.settle()
    await show.pilot.pause(0.1)


async def in_paper(show: Show) -> None:
    """The light theme is worn from the start."""
    show.app.theme = "paper"
    await show.settle()


SCENES = (
    Scene("help", whole, ("f1",)),
    Scene("help-searched", whole, ("f1", *"hunk"), PLAIN, PAIR),
    Scene("help-in-the-editor", whole, ("alt+2", "f1"), LOW, PAIR),
    Scene("help-narrow", whole, ("f1",), NARROW),
    # its rows are coloured when it opens
    Scene("palette", whole, ("ctrl+p",), themes=PAIR[:1]),
    Scene("palette-in-paper", whole, ("ctrl+p",), PLAIN, PAIR[1:], in_paper),
    Scene("palette-searched", whole, ("ctrl+p", *"theme"), PLAIN, PAIR[:1]),
    Scene("palette-narrow", whole, ("ctrl+p",), NARROW[1:], PAIR[:1]),
    Scene("which-key", whole, ("ctrl+n",)),
    Scene("which-key-narrow", whole, ("ctrl+n",), NARROW, PAIR),
    Scene("which-key-in-the-editor", whole, ("alt+2", "ctrl+n"), MIDDLE, PAIR),
    Scene("which-key-in-the-review", turn, ("f7", "ctrl+n"), LOW, PAIR),
    Scene("which-key-unknown", whole, ("ctrl+n", "ß"), LOW, PAIR),
    Scene("themes", whole, begin=themes),
    Scene("themes-searched", whole, tuple("light"), PLAIN, PAIR, themes),
    Scene("themes-narrow", whole, sizes=NARROW, themes=PAIR, begin=themes),
    Scene("leaving", undecided, ("ctrl+q",), PLAIN),
    Scene("leaving-narrow", undecided, ("ctrl+q",), NARROW[:1], PAIR),
    Scene("too-small", ScriptedSession, sizes=((38, 10),)),
)

"""The same on poorer terminals: without colours, with sixteen, in ASCII."""

from __future__ import annotations

from tests.snapshots.rooms.conversation import formatted, stages
from tests.snapshots.sessions import streaming, turn, whole
from tests.support.gallery import LOW, Scene
from tui.ui.terminal.facts import TerminalFacts

PALE = TerminalFacts(colours="none")
SIXTEEN = TerminalFacts(colours="16")
ASCII = TerminalFacts(glyphs="ascii")
BARE = TerminalFacts(colours="none", glyphs="ascii")

SCENES = (
    Scene("pale-turn", whole, facts=PALE),
    Scene("pale-selection", whole, ("alt+2", "shift+down", "shift+end"), LOW, facts=PALE),
    Scene("sixteen-review", turn, ("f7", "a"), facts=SIXTEEN),
    Scene("sixteen-queue", streaming, ("alt+q", "up"), LOW, facts=SIXTEEN),
    Scene("ascii-markdown", formatted, size=LOW, facts=ASCII),
    Scene("ascii-stages", stages, ("alt+1", "alt+1"), LOW, facts=ASCII),
    Scene("bare-turn", whole, facts=BARE),
)

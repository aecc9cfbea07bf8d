"""The same on poorer terminals: without colours, with sixteen, in ASCII."""

from __future__ import annotations

from tests.snapshots.rooms.conversation import formatted, stages
from tests.snapshots.rooms.editor import ghost
from tests.snapshots.sessions import streaming, turn, whole
from tests.support.gallery import LOW, MIDDLE, PAIR, Scene
from tui.ui.terminal.facts import TerminalFacts

PALE = TerminalFacts(colours="none")
SIXTEEN = TerminalFacts(colours="16")
ASCII = TerminalFacts(glyphs="ascii")
BARE = TerminalFacts(colours="none", glyphs="ascii")
DUSK = PAIR[:1]
BOTH = (*LOW, *MIDDLE)

SCENES = (
    Scene("pale-turn", whole, sizes=BOTH, themes=PAIR, facts=PALE),
    Scene("pale-review", turn, ("f7", "a"), BOTH, PAIR, facts=PALE),
    Scene("pale-stages", stages, ("shift+tab",), LOW, DUSK, facts=PALE),
    Scene("pale-selection", whole, ("alt+2", "shift+down", "shift+end"), LOW, PAIR, facts=PALE),
    Scene("sixteen-turn", whole, sizes=BOTH, themes=PAIR, facts=SIXTEEN),
    Scene("sixteen-review", turn, ("f7", "a"), BOTH, PAIR, facts=SIXTEEN),
    Scene("sixteen-queue", streaming, ("alt+q", "up"), LOW, PAIR, facts=SIXTEEN),
    Scene("ascii-turn", whole, sizes=BOTH, themes=DUSK, facts=ASCII),
    Scene("ascii-review", turn, ("f7", "a"), BOTH, DUSK, facts=ASCII),
    Scene("ascii-markdown", formatted, sizes=LOW, themes=DUSK, facts=ASCII),
    Scene("ascii-stages", stages, ("shift+tab",), LOW, DUSK, facts=ASCII),
    Scene("ascii-ghost", ghost, sizes=MIDDLE, themes=DUSK, facts=ASCII),
    Scene("ascii-tree", whole, ("f4",), LOW, DUSK, facts=ASCII),
    Scene("ascii-which-key", whole, ("ctrl+n",), LOW, DUSK, facts=ASCII),
    Scene("bare-turn", whole, sizes=BOTH, themes=DUSK, facts=BARE),
)

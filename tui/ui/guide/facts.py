"""What the session shows of the steps; each look costs what is new, not what there is."""

from __future__ import annotations

from tui.core.edits.hunk import PLACED, Decision, Stage
from tui.core.turn import BlockKind
from tui.engine.session import Session
from tui.ui.guide.lesson import Sight

_IN_SIGHT = PLACED | {Stage.LANDING}


class Facts:
    """Counts prompts, stops and hunks since it was made."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._next = len(session.transcript.blocks)
        """The first block that was not looked at."""
        self._hunks = len(session.workspace.roster.hunks)
        """Those that were there before."""
        self._reviews = session.workspace.roster.reviews
        self._prompts = self._stops = self._landed = 0
        self._accepted = self._rejected = False

    def look(self) -> Sight:
        """What is so now."""
        session = self._session
        self._read_blocks()
        self._read_hunks()
        now_s, status = session.now(), session.status
        view = session.meter.view(now_s)
        return Sight(
            now_s,
            busy=status.busy,
            outcome=status.outcome,
            prompts=self._prompts,
            stops=self._stops,
            landed=self._landed,
            pending=session.workspace.roster.has_decidable(),
            accepted=self._accepted,
            rejected=self._rejected,
            role=status.role,
            tokens_s=view.tokens_s,
            ttft_s=view.ttft_s,
            stopped=status.stopped,
        )

    def _read_blocks(self) -> None:
        blocks = self._session.transcript.blocks
        if len(blocks) < self._next:  # another conversation
            self._next = 0
        for block in blocks[self._next :]:
            if block.kind is BlockKind.USER:
                self._prompts += 1
            elif block.kind is BlockKind.NOTE and block.state in ("open", "cut"):
                self._stops += 1  # other notes are done as soon as they are said
        self._next = len(blocks)

    def _read_hunks(self) -> None:
        roster = self._session.workspace.roster
        if not self._landed:
            self._landed = sum(hunk.stage in _IN_SIGHT for hunk in roster.hunks[self._hunks :])
        if roster.reviews == self._reviews:
            return
        self._reviews = roster.reviews
        decisions = {hunk.decision for hunk in roster.hunks[self._hunks :]}
        self._accepted = self._accepted or Decision.ACCEPTED in decisions
        self._rejected = self._rejected or Decision.REJECTED in decisions

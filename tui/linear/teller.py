"""What happened in the session since the last look, as lines of text."""

from __future__ import annotations

from tui.core.edits.hunk import Hunk
from tui.core.turn import Block, BlockKind
from tui.engine.notices import Notices, Status
from tui.engine.session import Session
from tui.linear.block_tellers import BlockTeller, Pace, teller_of
from tui.linear.words import (
    ask_lines,
    kept_words,
    span,
    state_words,
    trouble_line,
    turn_words,
    waiting_words,
)

_OF_MODEL = (BlockKind.TEXT, BlockKind.REASONING, BlockKind.TOOL, BlockKind.PATCH)
_TIP = "What you type now redirects it; /queue TEXT waits; Ctrl+C stops it."
STILL_S = (10.0, 30.0, 60.0)
"""After so much silence it is said that something still runs; then every minute."""


class Teller:
    """Reads the session as a screen does, and says each thing once."""

    def __init__(self, session: Session, pace: Pace) -> None:
        self._session = session
        self._pace = pace
        self._told = 0
        """Blocks that were begun to be told."""
        self._live: list[tuple[Block, BlockTeller]] = []
        self._echoed: list[str] = []
        self._asked: set[int] = set()
        self._answering = (0, "")
        self._tipped = pace.outputs  # nobody listens, and types into it
        self._running = False
        """A turn began whose end was not told yet."""
        self._retrying = self._failed = False
        self._turn = 0
        self._said_s = session.now()
        self._stills = 0

    def echoed(self, text: str) -> None:
        """These words were typed, and stand there: they are not told again."""
        self._echoed.append(text)

    def news(self, notices: Notices) -> list[str]:
        """All that is to be said now."""
        lines = self._blocks()
        lines += [trouble_line(one) for one in notices.troubles if not one.noted]
        lines += self._states()
        lines += self._questions()
        if lines:
            self._said_s, self._stills = self._session.now(), 0
        return lines

    def still(self) -> list[str]:
        """That something goes on, if nothing was said for a while."""
        session, status = self._session, self._session.status
        if session.at_rest or status.asks:
            self._said_s, self._stills = session.now(), 0
            return []
        quiet_s = session.now() - self._said_s
        last = STILL_S[-1]
        due_s = STILL_S[self._stills] if self._stills < len(STILL_S) else last
        if quiet_s < due_s:
            return []
        self._stills += 1
        if self._stills >= len(STILL_S):
            self._said_s = session.now()
        if status.busy or status.retry_s is not None:
            return [state_words(status, session.meter.view(session.now()))]
        return [f"Still running after {span(quiet_s)}: {status.running or 'a command'}."]

    def ask_again(self) -> None:
        """The open question is said once more."""
        self._asked.clear()

    def turn_hunks(self) -> list[Hunk]:
        """The hunks of the turn that was begun last."""
        found: list[Hunk] = []
        for hunk in reversed(self._session.workspace.hunks):
            if hunk.turn < self._turn:
                break
            found.append(hunk)
        return found[::-1]

    def _blocks(self) -> list[str]:
        lines: list[str] = []
        blocks = self._session.transcript.blocks
        live = []
        for block, teller in self._live:
            lines += teller.news()
            if block.state == "open":
                live.append((block, teller))
        self._live = live
        while self._told < len(blocks):
            block = blocks[self._told]
            self._told += 1
            lines += self._head(block)
            teller = teller_of(
                block, self._session.workspace, self._pace, echoed=self._is_echoed(block)
            )
            lines += teller.news()
            if block.state == "open":
                self._live.append((block, teller))
        return lines

    def _head(self, block: Block) -> list[str]:
        """Who speaks, when that is somebody else than before."""
        if block.kind is BlockKind.USER:
            self._running |= block.turn > self._turn
            self._turn = block.turn
        voice = block.turn, block.speaker
        if block.kind not in _OF_MODEL or voice == self._answering or not block.speaker:
            return []
        self._answering = voice
        doing = "thinking" if block.kind is BlockKind.REASONING else "answering"
        lines = [f"{block.speaker} is {doing}."]
        if not self._tipped:
            self._tipped = True
            lines.append(_TIP)
        return lines

    def _is_echoed(self, block: Block) -> bool:
        if block.kind is not BlockKind.USER or block.text not in self._echoed:
            return False
        self._echoed.remove(block.text)
        return True

    def _states(self) -> list[str]:
        """What began or ended, in words."""
        status = self._session.status
        lines: list[str] = []
        if status.retry_s is not None and not self._retrying:
            lines.append(state_words(status, self._session.meter.view(self._session.now())))
        self._retrying = status.retry_s is not None
        if self._running and not status.busy:
            lines += self._ended(status)
        self._running = status.busy
        if status.can_send_failure and not self._failed and not self._pace.outputs:
            lines.append("/fix sends the output to the model.")
        self._failed = status.can_send_failure
        return lines

    def _ended(self, status: Status) -> list[str]:
        """How the turn ended, and what waits for the user."""
        session, hunks = self._session, self.turn_hunks()
        lines = []
        if status.outcome == "completed":
            view = session.meter.view(session.now())
            lines.append(f"{status.role} is done: {turn_words(view)}.")
        elif status.outcome == "interrupted":
            kept = kept_words(hunks)
            lines.append(f"{kept}." if kept else "No hunk had landed.")
        elif status.outcome == "failed":
            lines.append("The turn failed.")
        waiting = waiting_words(session.workspace.roster.unsettled())
        return [*lines, waiting] if waiting else lines

    def _questions(self) -> list[str]:
        asks = self._session.status.asks
        lines: list[str] = []
        known = {ask.id for ask in asks}
        self._asked &= known
        for ask in asks[:1]:
            if ask.id not in self._asked:
                self._asked.add(ask.id)
                lines += ask_lines(ask)
        return lines

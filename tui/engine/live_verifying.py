"""Verifies unasked, as ``[verify] when`` says: at a turn's end, or each file that is whole.

What is asked for goes first, and what is out of date is cancelled: a run whose files were changed
again. Other files that are whole meanwhile wait for its end, or a fast model would have none end.
"""

from __future__ import annotations

from collections.abc import Callable

from tui.engine.intents import Verify
from tui.engine.ports import VerifyWhen
from tui.engine.session_state import SessionState


class LiveVerifying:
    """Of one session."""

    def __init__(
        self,
        state: SessionState,
        when: VerifyWhen,
        verify: Callable[[Verify], bool],
        runs: Callable[[], bool],
    ) -> None:
        """``verify`` says whether it has begun, ``runs`` whether one still goes on."""
        self._state, self._verify, self._runs = state, verify, runs
        self._was_busy = False
        self._seen: dict[str, tuple[int, int]] = {}
        """The files, and the version of each that was judged, or was there before the turn."""
        self._judging: dict[str, tuple[int, int]] = {}
        """The files of the last run, and the version of each."""
        self._hunks = 0
        if when == "live":
            state.before_drain.append(self._frame)
        if when != "ask":
            state.after_turn.append(self._turn_ended)

    def _turn_ended(self, turn: int, prompt: str, outcome: str) -> None:
        """All of a turn's hunks are whole."""
        hunks = self._state.workspace.hunks
        if outcome == "completed" and any(hunk.turn == turn for hunk in hunks):
            self._verify(Verify(unasked=True))

    def _frame(self) -> None:
        """While a turn goes on, judge the files in which its hunks are whole."""
        documents, busy = self._state.workspace.documents, self._state.status.busy
        if busy and not self._was_busy:
            self._seen = {path: record.version for path, record in documents.records.items()}
            self._hunks = len(self._state.workspace.hunks)
        self._was_busy = busy
        if not busy or len(self._state.workspace.hunks) == self._hunks:
            return
        whole = {
            path: record.version
            for path, record in documents.records.items()
            if record.version != self._seen.get(path)
            and record.live
            and not record.sections
            and path not in documents.busy
        }
        if not whole or (self._runs() and not whole.keys() & self._judging.keys()):
            return
        if self._verify(Verify(unasked=True, files=tuple(whole))):
            self._seen |= whole
            self._judging = whole

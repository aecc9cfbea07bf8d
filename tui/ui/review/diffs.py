"""Diffs that are only looked at, worked out beside the event loop."""

from __future__ import annotations

import asyncio
from functools import partial

from tui.engine.intents import Against
from tui.engine.session import Session
from tui.ui.review.changes import FileChanges, of_texts, without_end

_CYCLE: tuple[Against, ...] = ("disk", "head", "turn")
_FEW_LINES = 400
"""Files of fewer lines are compared at once."""


def against_words(against: Against) -> str:
    """What a file is compared with, in words."""
    return {"disk": "the disk", "head": "git's HEAD", "turn": "the turn's start"}[against]


def following(against: Against | None, from_review: bool) -> Against | None:
    """What is shown after this; None: the review."""
    if against is None:
        return _CYCLE[0]
    index = _CYCLE.index(against) + 1
    if index < len(_CYCLE):
        return _CYCLE[index]
    return None if from_review else _CYCLE[0]


def next_words(against: Against | None, from_review: bool) -> str:
    """Where the key leads that goes round."""
    words = {"disk": "vs disk", "head": "vs HEAD", "turn": "vs turn's start"}
    wanted = following(against, from_review)
    return "review" if wanted is None else words[wanted]


class DiffLoad:
    """Makes the diffs of a session's files."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.why = ""
        """Why nothing was compared, where that is so."""

    async def files(self, against: Against, path: str) -> list[FileChanges]:
        """The diff of a file, or of all that differ (empty path); never raises."""
        found: list[FileChanges] = []
        self.why = ""
        for old in await self._session.diffs.olds(against, path):
            lines, new = without_end(list(old.lines)), without_end(list(old.new))
            work = partial(of_texts, old.path, lines, new, old.buffer)
            if len(new) + len(lines) > _FEW_LINES:
                file = await asyncio.to_thread(work)
            else:
                file = work()
            file.words, file.note = old.words, old.note
            if (
                not file.changes
                and not file.note
                and len(lines) - len(old.lines) != (len(new) - len(old.new))
            ):
                file.note = "Only the newline at the end differs."
            if file.changes or (file.note and (path or old.lines or old.new)):
                found.append(file)
            elif file.note:
                self.why = file.note
        return found

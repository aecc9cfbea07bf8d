"""Decisions on hunks: accept, reject, place, taking a turn or a decision back."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from tui.core.edits.decisions import Entry, Work
from tui.core.edits.hunk import OPEN, Decision, Hunk, Kind, Need, Stage
from tui.core.edits.workspace import Workspace
from tui.engine import intents
from tui.engine.board import Board
from tui.engine.intents import Intent
from tui.engine.notices import Trouble
from tui.engine.pacer import REST_S, SLICE_S
from tui.engine.saving import Saving
from tui.errors import EditRefused

SaveMode = Literal["on-accept", "manual"]
_LEAST = 100
"""Hunks that are decided on at once, however long that takes."""
_DONE = object()
KEEP_LINES = "Keep what I typed only"
REMOVE_FILE = "Remove the file: undoing the decision brings it back"
LEAVE_FILE = "Leave it as it is: the hunk stays pending"
KEEP_TEXT = "Keep the text as it is now"
PUT_BACK = "Put the old lines back: undoing the decision brings mine back"
LATER = "Decide later: the hunk stays pending"


class Deciding:
    """What the user says of hunks, done in the workspace, and written by `Saving`."""

    def __init__(
        self,
        board: Board,
        saving: Saving,
        mode: SaveMode,
        *,
        can_ask: bool = False,
        in_slices: bool = False,
    ) -> None:
        """``mode``: whether a decision is written at once, or when the user saves.

        ``can_ask``: somebody is there to answer. ``in_slices``: keys are to be answered while very
        many hunks are decided on; else each decision is made when `handle` returns.
        """
        self._in_slices = in_slices
        self._works: deque[Work[None]] = deque()
        """Decisions that are being made, in order."""
        self._clock = saving.clock
        self._board = board
        self._saving = saving
        self._catalogue = saving.catalogue
        self._workspace: Workspace = board.workspace
        self._workspace.on_landed = self._landed
        self._mode = mode
        self._can_ask = can_ask
        self._asked: set[Hunk] = set()
        """Hunks that a question is about."""

    def handle(self, intent: Intent) -> bool:
        """Do it, if it is about hunks."""
        match intent:
            case intents.Accept(hunk_ids):
                self._do(self._accept(hunk_ids))
            case intents.Reject(hunk_ids, words):
                self._do(self._reject(hunk_ids, words))
            case intents.Place(hunk_id, line):
                self._do(self._place(hunk_id, line))
            case intents.UndoTurn():
                self._do(self._undo_turn())
            case intents.UndoDecision():
                self._do(self._undo_decision())
            case intents.RedoDecision():
                self._do(self._redo_decision())
            case intents.SetAutoAccept(on):
                self._board.status.auto_accept = on
                self._board.restated()
                self._decided()
            case intents.ShowDiff(path, against):
                self._board.show_diff(path, against)
                self._decided()
            case _:
                return False
        return True

    @property
    def at_work(self) -> bool:
        """True while a decision on very many hunks is being made."""
        return bool(self._works)

    def _do(self, work: Work[None]) -> None:
        """Make a decision, after those that are being made."""
        self._works.append(work)
        if len(self._works) == 1:
            self._go_on()

    def _go_on(self) -> None:
        """Make decisions; of those on very many hunks a part in each turn of the event loop."""
        until = self._clock.now() + SLICE_S
        while self._works:
            work, left = self._works[0], _LEAST
            try:
                while next(work, _DONE) is not _DONE:
                    left -= 1
                    if left <= 0 and self._in_slices and self._clock.now() > until:
                        asyncio.get_running_loop().call_later(REST_S, self._go_on)
                        self._decided()
                        return
            except BaseException:
                self._works.popleft()
                raise
            self._works.popleft()
        self._decided()

    def _decided(self) -> None:
        self._board.hunks_changed()
        self._board.retabbed()

    def _accept(self, hunk_ids: tuple[int, ...] | None) -> Work[None]:
        try:
            paths = yield from self._workspace.accepting(hunk_ids)
        except (EditRefused, KeyError) as error:
            self._board.trouble(Trouble("That hunk was not accepted", str(error)))
            return
        if self._mode == "on-accept":
            self._saving.write(*paths)
        self._tell_of_open(hunk_ids)

    def _reject(self, hunk_ids: tuple[int, ...] | None, words: str) -> Work[None]:
        """Reject what can be; where the user typed, ask what is to stay (I02)."""
        chosen = self._chosen(hunk_ids)
        typed = self._workspace.typed_in(chosen) if self._can_ask else []
        for hunk in typed:
            self._ask_of_file(hunk, words)
        if typed:
            chosen = [hunk for hunk in chosen if hunk not in typed]
        able = [hunk for hunk in chosen if hunk.need is Need.DECISION]
        ids = [hunk.id for hunk in chosen] if typed or hunk_ids is not None else None
        self._saving.write(*(yield from self._workspace.rejecting(ids, words)))
        stuck = [hunk for hunk in able if _is_stuck(hunk)]
        if stuck:
            self._ask_of_edited(stuck, words)
        self._tell_of_open(hunk_ids)

    def _chosen(self, hunk_ids: Sequence[int] | None) -> list[Hunk]:
        roster = self._workspace.roster
        if hunk_ids is None:
            return roster.decidable()
        return [roster.by_id(number) for number in hunk_ids if number in roster]

    def _tell_of_open(self, hunk_ids: Sequence[int] | None) -> None:
        """Hunks that were named and are still coming in cannot be decided on."""
        landing = [
            hunk
            for hunk in (self._chosen(hunk_ids) if hunk_ids else ())
            if hunk.stage in OPEN and not hunk.placeable and hunk.decision is Decision.PENDING
        ]
        if landing:
            what = "A hunk is still landing" if len(landing) == 1 else "Hunks are still landing"
            step = "decide when it has landed, or stop the model"
            self._board.trouble(Trouble(what, "", step, severity="information"))

    def _ask_of_file(self, hunk: Hunk, words: str) -> None:
        """A new file of the model's, in which the user typed, is to be rejected."""
        if hunk in self._asked:
            return
        answer = self._board.questions.ask(
            f"{hunk.path} holds what you typed: what is to stay?",
            "The model made this file; its lines are to be rejected.",
            (KEEP_LINES, REMOVE_FILE, LEAVE_FILE),
        )
        self._wait_for(answer, [hunk], words)

    def _ask_of_edited(self, hunks: list[Hunk], words: str) -> None:
        """Lines of these hunks were changed since, so their old lines do not fit."""
        if not self._can_ask:
            for hunk in hunks:
                what = f"Hunk {hunk.id} of {hunk.path} was not rejected"
                self._board.trouble(Trouble(what, hunk.reason, severity="warning"))
            return
        asked = [hunk for hunk in hunks if hunk not in self._asked]
        if not asked:
            return
        which = f"hunk {asked[0].id} of {asked[0].path}"
        if len(asked) > 1:
            which = f"{len(asked)} hunks ({which} is the first)"
        answer = self._board.questions.ask(
            f"You changed the lines of {which}: what is to stay?",
            "The old lines do not fit into what you made of the model's.",
            (KEEP_TEXT, PUT_BACK, LATER),
        )
        self._wait_for(answer, asked, words)

    def _wait_for(self, answer: Future[str], hunks: list[Hunk], words: str) -> None:
        self._asked.update(hunks)
        answer.add_done_callback(partial(self._answered, hunks, words))

    def _answered(self, hunks: list[Hunk], words: str, answer: Future[str]) -> None:
        self._asked.difference_update(hunks)
        if answer.cancelled():
            return
        ids = [hunk.id for hunk in hunks if hunk.decision is Decision.PENDING]
        if answer.result() in (KEEP_LINES, KEEP_TEXT):
            self._saving.write(*self._workspace.reject(ids, words))
            stuck = [hunk for hunk in hunks if _is_stuck(hunk)]
            if stuck:  # the user's lines and the model's do not come apart
                self._ask_of_edited(stuck, words)
        elif answer.result() in (REMOVE_FILE, PUT_BACK):
            self._saving.write(*self._workspace.reject(ids, words, whole=True))
        self._decided()

    def _place(self, hunk_id: int, line: int) -> Work[None]:
        yield
        try:
            self._workspace.place(hunk_id, line)
        except (EditRefused, KeyError) as error:
            self._board.trouble(Trouble("That hunk was not placed", str(error)))

    def _undo_turn(self) -> Work[None]:
        turn = self._workspace.last_turn
        if not turn:
            self._board.trouble(
                Trouble("Nothing to take back", "the model has changed nothing", severity="warning")
            )
            return
        unsaved = self._unsaved()
        try:
            paths = yield from self._workspace.undoing_turn(turn)
        except EditRefused as error:
            self._board.trouble(Trouble("The turn was not taken back", str(error)))
            return
        self._write_turn(paths, unsaved)
        self._board.note(turn, "the model's last turn was taken back")

    def _undo_decision(self) -> Work[None]:
        entry = self._workspace.last_decision()
        summary = entry.summary if entry else ""
        yield from self._again(
            "Taken back", summary, self._workspace.undoing_decision, _is_turn(entry)
        )

    def _redo_decision(self) -> Work[None]:
        again = self._workspace.ledger.decisions.undone
        entry = self._workspace.last_decision(again=True)
        what = "Decided again" if again else "Brought back"
        summary = entry.summary if again and entry else f"turn {entry.turn}" if entry else ""
        yield from self._again(what, summary, self._workspace.redoing_decision, _is_turn(entry))

    def _again(
        self, what: str, summary: str, step: Callable[[], Work[list[str]]], of_turn: bool
    ) -> Work[None]:
        """Undo or redo one decision, write what it changes, and say so."""
        unsaved = self._unsaved()
        try:
            paths = yield from step()
        except EditRefused as error:
            nothing = f"Not {what[0].lower()}{what[1:]}"
            self._board.trouble(Trouble(nothing, str(error), severity="warning"))
            return
        if of_turn:
            self._write_turn(paths, unsaved)
        elif self._mode == "on-accept":
            self._saving.write(*paths)
        stays = self._workspace.ledger.decisions.stays
        why = f"{len(stays)} stay as they are: {stays[0]}" if stays else ""
        severity: Literal["information", "warning"] = "warning" if stays else "information"
        self._board.trouble(Trouble(f"{what}: {summary}", why, severity=severity))

    def _landed(self, hunks: list[Hunk], whole: bool) -> None:
        """A patch has ended: accept what nobody need look at, if the user wants that (I07)."""
        moves = [hunk for hunk in hunks if hunk.kind is Kind.MOVE]
        for hunk in moves:
            self._catalogue.moved(hunk.path, hunk.target)
        if not self._board.status.auto_accept or not whole:
            return
        self._do(self._take_as_read(hunks, moves))

    def _take_as_read(self, hunks: list[Hunk], moves: list[Hunk]) -> Work[None]:
        private = [hunk for hunk in moves if self._catalogue.privacy(hunk.path)]
        able = [
            hunk
            for hunk in hunks
            if hunk not in private and self._workspace.may_be_taken_as_read(hunk)
        ]
        if able:
            yield from self._accept(tuple(hunk.id for hunk in able))
        waiting = [hunk for hunk in hunks if hunk.decidable or hunk.placeable]
        if waiting:
            count = f"{len(waiting)} hunks wait" if len(waiting) > 1 else "1 hunk waits"
            hunk = waiting[0]
            why = f"hunk {hunk.id} of {hunk.path}: {', '.join(hunk.flags) or hunk.reason}"
            self._board.trouble(Trouble(f"{count} for a look", why, severity="information"))

    def _write_turn(self, paths: list[str], unsaved: set[str]) -> None:
        """Write a turn that was taken back, or brought back.

        Where saving is the user's, nothing of theirs goes to the disk with it.
        """
        if self._mode == "on-accept" or unsaved.isdisjoint(paths):
            self._saving.write(*paths)

    def _unsaved(self) -> set[str]:
        """Of the files that a model worked on, those that are not on the disk as they are."""
        ledger = self._workspace.ledger
        paths = {*ledger.roster.paths(), *(hunk.target for hunk in ledger.removals)}
        return {path for path in paths if self._workspace.is_dirty(path)}


def _is_turn(entry: Entry | None) -> bool:
    return entry is not None and entry.verb == "turn"


def _is_stuck(hunk: Hunk) -> bool:
    """True if a hunk could not be taken out, and is in conflict now."""
    return hunk.stage is Stage.CONFLICT and hunk.decision is Decision.PENDING

"""Decisions on hunks: accept, reject, place, taking a turn or a decision back."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, NamedTuple

from tui.core.document.decision_log import DecisionEntry
from tui.core.document.hunk import CUT_WAYS, Decision, Hunk, Kind, Need, Stage
from tui.core.document.review import is_undoable, take_back_cut
from tui.core.document.workspace import Workspace
from tui.core.steps import Work, picked
from tui.engine import intents
from tui.engine.intents import Intent
from tui.engine.notices import Trouble
from tui.engine.saving import Saving
from tui.engine.services import Services
from tui.engine.session_state import REST_S, SLICE_S, SessionState
from tui.errors import EditRefused

SaveMode = Literal["on-accept", "manual"]
_LEAST = 20
"""Hunks that are decided on at once, however long that takes."""
_SAY_S = 0.2
"""So often it is said how far a decision is."""
_DONE = object()
_NAMED = 3
"""More hunks are only counted."""
TAKEN_BACK = "the model's last turn was taken back"
BROUGHT_BACK = "the model's last turn was brought back"
KEEP_LINES = "Keep what I typed only"
REMOVE_FILE = "Remove the file: undoing the decision brings it back"
LEAVE_FILE = "Leave it as it is: the hunk stays pending"
KEEP_TEXT = "Keep the text as it is now"
PUT_BACK = "Put the old lines back: undoing the decision brings mine back"
LATER = "Decide later: the hunk stays pending"


class _Making(NamedTuple):
    """A decision that is being made."""

    work: Work[None]
    what: str = "deciding on"
    total: int = 0

    def said(self, made: int) -> str:
        """How far it is, in words."""
        if not self.total:
            return f"{self.what} {made:,} hunks"
        return f"{self.what} {min(made, self.total):,} of {self.total:,} hunks"


class HunkDecisions:
    """What the user says of hunks, done in the workspace, and written by `Saving`."""

    def __init__(
        self,
        state: SessionState,
        saving: Saving,
        mode: SaveMode,
        can_ask: bool = False,
        in_slices: bool = False,
    ) -> None:
        """``mode``: whether a decision is written at once, or when the user saves.

        ``can_ask``: somebody is there to answer. ``in_slices``: keys are to be answered while very
        many hunks are decided on; else each decision is made when `handle` returns.
        """
        self._in_slices = in_slices
        self._works: deque[_Making] = deque()
        """Decisions that are being made, in order."""
        self._say_again_s = 0.0
        self._clock = saving.clock
        self._state = state
        self._saving = saving
        self._catalogue = saving.catalogue
        self._workspace: Workspace = state.workspace
        self._workspace.on_landed = self._landed
        state.before_request.append(self.take_back_cut)
        self._made = self._workspace.documents.decisions
        self._mode = mode
        self._can_ask = can_ask
        self.earlier_turns = 0
        """So many turns were there before this start."""
        self.on_past: Callable[[int], None] = lambda turn: None
        """Takes back a turn of which an earlier start wrote something."""
        self._asked: set[Hunk] = set()
        """Hunks that a question is about."""
        self.on_decided: Callable[[], None] = lambda: None
        """Called after each decision."""

    def _begun(self, intent: Intent) -> _Making | None:
        """The decision to make; None: it is done already."""
        match intent:
            case intents.Accept(hunk_ids):
                return _Making(self._accept(hunk_ids), "accepting", self._count(hunk_ids))
            case intents.Reject(hunk_ids, words):
                return _Making(self._reject(hunk_ids, words), "rejecting", self._count(hunk_ids))
            case intents.PlaceHunk(hunk_id, line):
                return _Making(self._place(hunk_id, line))
            case intents.UndoTurn():
                return _Making(self._undo_turn(), "taking back")
            case intents.UndoDecision(hunk_id):
                self._made.bring_up(hunk_id)
                return _Making(self._undo_decision(), "taking back", self._size())
            case intents.RedoDecision():
                work = self._redo_decision()
                return _Making(work, "deciding again on", self._size(again=True))
            case intents.StopDeciding():
                self._stop()
                return None
            case intents.SetAutoAccept(on):
                self._state.status.auto_accept = on
                self._state.restated()
            case intents.ShowDiff(path, against):
                self._state.show_diff(path, against)
        self._decided()
        return None

    @property
    def at_work(self) -> bool:
        """True while a decision on very many hunks is being made."""
        return bool(self._works)

    def _count(self, hunk_ids: Sequence[int] | None) -> int:
        """How many hunks these are (None: all that can be decided on)."""
        if hunk_ids is None:
            return self._workspace.hunk_list.tally.needs[Need.DECISION]
        return len(hunk_ids)

    def _size(self, *, again: bool = False) -> int:
        """How many hunks the last decision was about, or the one that was undone last."""
        entry = self._workspace.last_decision(again=again)
        return entry.size if entry is not None else 0

    def _stop(self) -> None:
        """Decide on no more: what is decided is written, what waits behind it is not done."""
        if self._works and not self._made.enough:
            self._made.enough = True
            while len(self._works) > 1:
                self._works.pop()
            what = f"Stopped {self._works[0].said(self._made.made)}"
            why = "the others are unchanged"
            self._state.status.deciding = ""
            self._state.trouble(Trouble(what, why, severity="information"))
            self._state.restated()

    def handle(self, intent: Intent | None = None) -> None:
        """Do what is asked of hunks, after the decisions that are being made; None: go on.

        Of those on very many hunks a part is made in each turn of the event loop.
        """
        if intent is not None:
            making = self._begun(intent)
            if making is not None:
                self._works.append(making)
            if making is None or len(self._works) > 1:
                return
        until = self._clock.now() + SLICE_S
        while self._works:
            work, left = self._works[0].work, _LEAST
            try:
                while (hunks := next(work, _DONE)) is not _DONE:
                    left -= hunks if isinstance(hunks, int) else 1
                    if left <= 0 and self._in_slices and self._clock.now() > until:
                        asyncio.get_running_loop().call_later(REST_S, self.handle)
                        self._decided()
                        self._say_how_far()
                        return
            except BaseException:
                self._ended()
                raise
            self._ended()
        self._saving.changes.settle()
        self._decided()
        self.on_decided()

    def _say_how_far(self) -> None:
        """Words for the screen, a few times a second."""
        if self._clock.now() >= self._say_again_s and not self._made.enough:
            self._say_again_s = self._clock.now() + _SAY_S
            self._state.status.deciding = self._works[0].said(self._made.made)
            self._state.restated()

    def _ended(self) -> None:
        """A decision was made, or not."""
        self._works.popleft()
        self._made.enough, self._made.made = False, 0
        if self._state.status.deciding:
            self._state.status.deciding, self._say_again_s = "", 0.0
            self._state.restated()

    def _decided(self) -> None:
        self._state.witness.decided()
        self._state.hunks_changed()
        self._state.retabbed()

    def _without_put_off(self) -> Work[list[Hunk] | None]:
        """All hunks to accept but those of files of which the user decides later.

        None: there are none of these, or no others, so that he is asked again.
        """
        put_off = self._saving.changes.put_off
        if not put_off:
            return None
        able = yield from self._workspace.hunk_list.decidable()
        left = yield from picked(able, lambda one: not put_off.isdisjoint((one.path, one.target)))
        if not left or len(left) == len(able):
            return None
        what = f"{_named(left)} left out: you decide later whose text stays"
        step = f"save {left[0].path} to be asked again"
        self._state.trouble(Trouble(what, "", step, severity="information"))
        left_out = frozenset(left)
        return (yield from picked(able, lambda one: one not in left_out))

    def _accept(self, hunk_ids: tuple[int, ...] | None) -> Work[None]:
        others = (yield from self._without_put_off()) if hunk_ids is None else None
        chosen = hunk_ids if others is None else [one.id for one in others]
        try:
            paths = yield from self._workspace.accepting(chosen)
        except (EditRefused, KeyError) as error:
            self._state.trouble(Trouble("That hunk was not accepted", str(error)))
            return
        if self._mode == "on-accept":
            yield from self._saving.writing(dict.fromkeys(paths, False))
        yield from self._tell_of_open(hunk_ids)
        if hunk_ids is None and (cut := self._workspace.hunk_list.cut()):
            what = f"{_named(cut)} left out, as the answer ended inside"
            self._state.trouble(Trouble(what, "", CUT_WAYS, severity="information"))

    def take_back_cut(self, turn: int) -> None:
        """The next instruction leaves: what was cut and not decided on goes, and that is said."""
        if self._state.keeps_cut:
            return
        if not self._works and (taken := take_back_cut(self._workspace.documents)):
            were = "was" if len(taken) == 1 else "were"
            self._state.note(turn, f"{_named(taken)} {were} cut and undecided: taken back")
            self._decided()

    def _reject(self, hunk_ids: tuple[int, ...] | None, words: str) -> Work[None]:
        """Reject what can be; where the user typed, ask what is to stay (I02)."""
        chosen = yield from self._workspace.hunk_list.chosen(hunk_ids, cut=True)
        made = (
            (yield from picked(chosen, lambda one: one.kind is Kind.ADD)) if self._can_ask else []
        )
        typed = self._workspace.typed_in(made)
        for hunk in typed:
            self._ask_of_file(hunk, words)
        if typed:
            chosen = [hunk for hunk in chosen if hunk not in typed]
        able = yield from picked(chosen, lambda one: one.decidable)
        ids = [hunk.id for hunk in chosen] if typed or hunk_ids is not None else None
        paths = yield from self._workspace.rejecting(ids, words)
        yield from self._saving.writing(dict.fromkeys(paths, False))
        stuck = yield from picked(able, _is_stuck)
        if stuck:
            self._ask_of_edited(stuck, words)
        yield from self._tell_of_open(hunk_ids)

    def _tell_of_open(self, hunk_ids: Sequence[int] | None) -> Work[None]:
        """Hunks that were named and are still coming in cannot be decided on."""
        hunks = self._workspace.hunk_list
        if not hunk_ids or not hunks.tally.needs[Need.END]:
            return
        if landing := (yield from picked((yield from hunks.chosen(hunk_ids)), _is_landing)):
            what = "A hunk is still landing" if len(landing) == 1 else "Hunks are still landing"
            step = "decide when it has landed, or stop the model"
            self._state.trouble(Trouble(what, "", step, severity="information"))

    def _ask_of_file(self, hunk: Hunk, words: str) -> None:
        """A new file of the model's, in which the user typed, is to be rejected."""
        if hunk in self._asked:
            return
        answer = self._state.questions.ask(
            f"{hunk.path} has lines that you typed: what should stay?",
            "The model made this file, and you reject its lines.",
            (KEEP_LINES, REMOVE_FILE, LEAVE_FILE),
        )
        self._wait_for(answer, [hunk], words)

    def _ask_of_edited(self, hunks: list[Hunk], words: str) -> None:
        """Lines of these hunks were changed since, so their old lines do not fit."""
        if not self._can_ask:
            for hunk in hunks:
                what = f"Hunk {hunk.id} of {hunk.path} was not rejected"
                self._state.warn(what, hunk.reason)
            return
        asked = [hunk for hunk in hunks if hunk not in self._asked]
        if not asked:
            return
        which = f"hunk {asked[0].id} of {asked[0].path}"
        if len(asked) > 1:
            which = f"{len(asked)} hunks ({which} is the first)"
        answer = self._state.questions.ask(
            f"You changed lines of {which}: what should stay?",
            "The old lines conflict with your changes to the model's.",
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
        self._saving.changes.settle()
        self._decided()

    def _place(self, hunk_id: int, line: int) -> Work[None]:
        yield
        try:
            self._workspace.place(hunk_id, line)
        except (EditRefused, KeyError) as error:
            self._state.trouble(Trouble("That hunk was not placed", str(error)))

    def _undo_turn(self) -> Work[None]:
        turn, past = self._workspace.last_turn, self._past_reach()
        if past and past[0].turn >= turn:
            self.on_past(past[0].turn)
            return
        if not turn:
            self._state.warn("Nothing to take back", "the model has changed nothing")
            return
        unsaved = self._unsaved()
        try:
            paths = yield from self._workspace.undoing_turn(turn)
        except EditRefused as error:
            self._state.trouble(Trouble("The turn was not taken back", str(error)))
            return
        yield from self.write_turn(paths, unsaved)
        self._state.note(turn, TAKEN_BACK)

    def _past_reach(self) -> list[Hunk]:
        """Of the last turn of an earlier run that changed files: hunks that have no marks."""
        hunks = [
            one
            for one in self._workspace.hunks
            if one.turn <= self.earlier_turns
            and one.decision is Decision.ACCEPTED
            and not is_undoable(self._workspace.documents, one)
        ]
        return [one for one in hunks if one.turn == hunks[-1].turn]

    def _undo_decision(self) -> Work[None]:
        entry = self._workspace.last_decision()
        summary = entry.summary if entry else ""
        step = self._workspace.undoing_decision
        yield from self._again("Undone", summary, step, _turn_note(entry, BROUGHT_BACK))

    def _redo_decision(self) -> Work[None]:
        again = self._workspace.documents.decisions.undone
        entry = self._workspace.last_decision(again=True)
        what = "Decided again" if again else "Brought back"
        summary = entry.summary if again and entry else f"turn {entry.turn}" if entry else ""
        note = _turn_note(entry, TAKEN_BACK if again else BROUGHT_BACK)
        yield from self._again(what, summary, self._workspace.redoing_decision, note)

    def _again(
        self, what: str, summary: str, step: Callable[[], Work[list[str]]], note: tuple[int, str]
    ) -> Work[None]:
        """Undo or redo one decision, write what it changes, and say so.

        ``note``: of a whole turn its number and what the conversation says of it; else 0.
        """
        unsaved = self._unsaved()
        try:
            paths = yield from step()
        except EditRefused as error:
            nothing = f"Not {what[0].lower()}{what[1:]}"
            self._state.warn(nothing, str(error))
            return
        if note[0]:
            yield from self.write_turn(paths, unsaved)
            self._state.note(*note)
        elif self._mode == "on-accept":
            yield from self._saving.writing(dict.fromkeys(paths, False))
        stays = self._workspace.documents.decisions.stays
        why = f"{len(stays)} stay as they are: {stays[0]}" if stays else ""
        severity: Literal["information", "warning"] = "warning" if stays else "information"
        self._state.trouble(Trouble(f"{what}: {summary}", why, severity=severity))

    def _landed(self, hunks: Sequence[Hunk], whole: bool) -> None:
        """A patch has ended: accept what nobody need look at, if the user wants that (I07)."""
        removals = self._workspace.documents.removals if hunks else ()
        own = (hunk for hunk in removals if hunk.call_id == hunks[0].call_id)
        moves = [hunk for hunk in own if hunk.kind is Kind.MOVE]
        for hunk in moves:
            self._catalogue.moved(hunk.path, hunk.target)
        if not self._state.status.auto_accept or not whole:
            return
        self._works.append(_Making(self._take_as_read(hunks, moves)))
        if len(self._works) == 1:
            self.handle()

    def _take_as_read(self, hunks: Sequence[Hunk], moves: list[Hunk]) -> Work[None]:
        private = [hunk for hunk in moves if self._catalogue.privacy(hunk.path)]
        able = [
            hunk
            for hunk in hunks
            if hunk not in private and self._workspace.may_be_taken_as_read(hunk)
        ]
        if able:
            self._state.witness.decided()
            self._state.deciding_alone = True
            try:
                yield from self._accept(tuple(hunk.id for hunk in able))
            finally:
                self._state.witness.decided()
                self._state.deciding_alone = False
        waiting = [hunk for hunk in hunks if hunk.decidable or hunk.placeable]
        if waiting:
            count = f"{len(waiting)} hunks wait" if len(waiting) > 1 else "1 hunk waits"
            hunk = waiting[0]
            why = f"hunk {hunk.id} of {hunk.path}: {', '.join(hunk.flags) or hunk.reason}"
            self._state.trouble(Trouble(f"{count} for a look", why, severity="information"))

    def write_turn(self, paths: list[str], unsaved: set[str]) -> Work[None]:
        """Write a turn that was taken back, or brought back.

        Where saving is the user's, nothing of theirs goes to the disk with it.
        """
        if self._mode == "on-accept" or unsaved.isdisjoint(paths):
            yield from self._saving.writing(dict.fromkeys(paths, False))

    def _unsaved(self) -> set[str]:
        """Of the files that a model worked on, those that are not on the disk as they are."""
        documents = self._workspace.documents
        paths = {*documents.hunk_list.paths(), *(hunk.target for hunk in documents.removals)}
        return {path for path in paths if self._workspace.is_dirty(path)}


def _named(hunks: Sequence[Hunk]) -> str:
    """Hunks in words: ``Hunk 3 of a.py``, ``Hunks 3 and 4 of a.py``, ``3 hunks in 2 files``."""
    paths = {hunk.path for hunk in hunks}
    if len(paths) > 1 or len(hunks) > _NAMED:
        return f"{len(hunks)} hunks in {len(paths)} file{'s' * (len(paths) > 1)}"
    *some, last = [str(hunk.id) for hunk in hunks]
    numbers = f"{', '.join(some)} and {last}" if some else last
    return f"Hunk{'s' * bool(some)} {numbers} of {hunks[0].path}"


def _turn_note(entry: DecisionEntry | None, words: str) -> tuple[int, str]:
    return (entry.turn, words) if entry is not None and entry.verb == "turn" else (0, "")


def _is_landing(hunk: Hunk) -> bool:
    return hunk.comes_in and hunk.decision is Decision.PENDING


def _is_stuck(hunk: Hunk) -> bool:
    """True if a hunk could not be taken out, and is in conflict now."""
    return hunk.stage is Stage.CONFLICT and hunk.decision is Decision.PENDING


MANY = 1000
"""So many hunks since the last time take memory worth a look."""
IDLE_S = 2.0
"""After the last decision; who decides on more, or lets a patch come, is not waited on."""


class Memory:
    """Waits until no hunk is open, then lets go of what placing and deciding have left."""

    def __init__(self, services: Services) -> None:
        self._workspace = services.state.workspace
        self._ports = services.ports
        self._supervisor = services.supervisor
        self._input_first = services.state.input_first
        self._seen = 0
        """How many hunks there were when memory was last given back."""
        self._waits = False

    def decided(self) -> None:
        """The user decided; cheap."""
        if not self._waits and self._is_worth_it():
            self._waits = True
            self._supervisor.start(self._give_back(), "giving memory back", self._wait_no_more)

    def _is_worth_it(self) -> bool:
        many = len(self._workspace.hunks) - self._seen > MANY
        return many and not self._workspace.hunk_list.tally.waiting

    def _wait_no_more(self) -> None:
        self._waits = False

    async def _give_back(self) -> None:
        await self._ports.sleep(IDLE_S)
        self._waits = False
        if self._is_worth_it():
            self._seen = len(self._workspace.hunks)
            await self._input_first.do(self._workspace.letting_go(), self._ports.clock.now)
            await asyncio.to_thread(self._ports.give_memory_back)

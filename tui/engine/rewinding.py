"""Rewind: to before a turn or a hunk, and forward again; files, the conversation, or both.

Hunks that are in the texts are taken back as one decision; of turns of an earlier start there are
the texts that the store keeps (`core.document.past_texts`). What the user did since stays. The
store has what is about to be done before it is done: who is killed in the midst of it finds it done
at the next start, or not begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from tui.core.conversation import BlockKind, History, HistoryEntry
from tui.core.document.decision_log import DecisionEntry
from tui.core.document.decision_undo import undo_entry
from tui.core.document.hunk import EDITED, UNDONE, Decision, Hunk, Stage
from tui.core.document.line_notes import Note
from tui.core.document.past_texts import Swap, swapped
from tui.core.document.report import shown
from tui.core.document.review import is_undoable
from tui.core.files import counted, first_of
from tui.core.inert_text import inert
from tui.core.patches.past_hunks import bringing_back
from tui.core.session_record import FileSwap, HunkMade, HunkWas, Rewound
from tui.engine.decisions import HunkDecisions
from tui.engine.intents import Forward, Part, RedoDecision, Rewind, UndoDecision
from tui.engine.rewound_files import (
    NAMED,
    PastTurn,
    RewindPlan,
    RewoundFile,
    RewoundFiles,
    preview_words,
)
from tui.engine.services import Services
from tui.errors import EditRefused, StoreRefused

if TYPE_CHECKING:
    from tui.engine.resuming import Resuming

REWIND = "Rewind"
TOO = "Rewind them, too: what others changed stays in them"
LEAVE = "Leave these as they are"
CANCEL = "Do nothing"


class _Done(Struct):
    """A rewind that can be taken back."""

    told: Rewound
    swaps: list[Swap]
    """What was done to texts of an earlier start."""
    cut: list[HistoryEntry]
    history: History
    """The conversation that it is of."""
    disk: list[Swap] = field(default_factory=list)
    """What changed on the disk of files that were saved, with nothing undecided in them."""
    decision: DecisionEntry | None = None
    """What it did to hunks that were in the texts; None: it is of an earlier start."""
    note: HistoryEntry | None = None
    notes: list[tuple[Note, int]] = field(default_factory=list)
    """Notes on lines that wait to be sent again, and the turns that they went with."""
    decided: int = 0
    """So many decisions could be undone behind it."""


class Rewinding:
    """Takes turns back, and brings them again."""

    def __init__(
        self, services: Services, deciding: HunkDecisions, on_talk: Callable[[int], None]
    ) -> None:
        """``on_talk`` is told when the conversation is another one, with the first turn that went.

        0: turns came back.
        """
        self._services, self._deciding, self._on_talk = services, deciding, on_talk
        self._documents = services.state.workspace.documents
        self._files = RewoundFiles(services.state.workspace, services.ports.files)
        self._done: list[_Done] = []
        self._count = 0
        self.busy = False
        """One is being done, or asked about."""

    def handle(self, intent: Rewind | Forward | UndoDecision | RedoDecision) -> None:
        """Do it, when what is to be asked is answered.

        Undo and redo are about what was decided last; a rewind that was is taken back.
        """
        match intent:
            case Rewind():
                self._start(self._rewind(intent))
            case Forward(turn):
                self._start(self._forward(turn))
            case _ if self._is_last:
                self._start(self._forward(0))
            case _:
                self._deciding.handle(intent)

    def _why_not(self) -> str:
        """What is in the way just now."""
        status = self._services.state.status
        if status.busy or status.retry_s is not None:
            return "An answer streams: stop it first, then rewind."
        return "Hunks are being decided on: wait a moment." if self._deciding.at_work else ""

    # -- what there is

    def turns(self) -> list[PastTurn]:
        """All turns, oldest first."""
        hunks: dict[int, list[Hunk]] = {}
        for hunk in self._services.state.workspace.hunks:
            if hunk.decision is not Decision.REJECTED:
                hunks.setdefault(hunk.turn, []).append(hunk)
        gone = self.gone()
        said = dict[int, str]()
        for block in self._services.state.transcript.blocks:
            if block.kind is BlockKind.USER:
                said.setdefault(block.turn, block.title or block.text)
        return [
            PastTurn(
                number,
                text,
                len(hunks.get(number, ())),
                len({hunk.path for hunk in hunks.get(number, ())}),
                number in gone,
            )
            for number, text in sorted(said.items())
        ]

    def gone(self) -> set[int]:
        """Turns that are out of the conversation."""
        return {
            number
            for one in self._done
            if one.told.talk
            for number in range(one.told.turn + bool(one.told.hunk), one.told.last + 1)
        }

    async def plan(self, turn: int, hunk: int = 0, part: Part = "both") -> RewindPlan | str:
        """What a rewind to before a turn, or a hunk, would do; a str says why it cannot be."""
        if self._files.resuming is not None:
            await self._files.resuming.read()
        if why := self._why_not():
            return why
        hunks = self._services.state.workspace.hunk_list
        if hunk:
            if hunk not in hunks:
                return f"There is no hunk {hunk}."
            turn = hunks.by_id(hunk).turn
        turns = {one.number: one for one in self.turns()}
        last = max(turns, default=0)
        if turn not in turns:
            return f"There is no turn {turn}: there are 1 to {last}." if last else "No turn yet."
        if part != "files" and turns[turn].rewound:
            return f"Turn {turn} is rewound already: /rewind forward brings it back."
        if part != "files" and not await self._has_begin_of(turn):
            return (
                f"What was said before turn {turn} is kept as a summary only, so the conversation"
                f" cannot go back there: /rewind {turn} files rewinds the files."
            )
        plan = RewindPlan(turn, hunk, last, part)
        if part != "talk":
            plan.files = [*(await self._files.files(self._files.chosen(turn, hunk))).values()]
        if part != "files":
            gone = [turns[n] for n in sorted(turns) if n >= turn + bool(hunk)]
            plan.prompts = [one.text for one in gone if not one.rewound]
        if part == "files" and plan.files and all(one.now == one.then for one in plan.files):
            file = plan.files[0]
            return f"{inert(file.path)}: {file.stays or 'it is as it was'}."
        blocks = self._services.state.transcript.blocks
        plan.commands = sum(one.kind is BlockKind.RUN and one.turn >= turn for one in blocks)
        if not plan.files and not plan.prompts and part != "talk":
            return f"Nothing to rewind: no file is changed since {plan.place.split(' ', 1)[1]}."
        return plan

    async def _has_begin_of(self, turn: int) -> bool:
        """What was compacted in an earlier start is read from the store."""
        history, resuming = self._services.requests.history, self._files.resuming
        if resuming is not None and not history.has_begin_of(turn):
            try:
                await resuming.read_behind(turn)
            except (StoreRefused, ValueError):
                return False
        return history.has_begin_of(turn)

    # -- doing it

    def _start(self, work: Coroutine[object, object, None]) -> None:
        """One at a time."""
        if self.busy:
            work.close()
            self._refuse("another rewind is under way, or waits for your answer")
            return
        self.busy = True
        task = self._services.supervisor.start(work, "rewinding")
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.busy = False

    def _refuse(self, why: str, what: str = "Not rewound") -> None:
        self._services.state.warn(what, why)

    async def _rewind(self, wanted: Rewind) -> None:
        plan = await self._planned(wanted)
        if plan is not None and wanted.ask:
            question, words = f"Rewind {preview_words(plan)[0]}?", preview_words(plan)[1:]
            answer = await self._services.state.questions.ask(
                question, f"{', '.join(words)}.", (REWIND, CANCEL)
            )
            if answer != REWIND:
                return
            plan = await self._planned(wanted)  # files may be other ones by now
        if plan is None:
            return
        hunks = self._files.chosen(plan.turn, plan.hunk) if plan.part != "talk" else []
        left = await self._ask_of_others(plan, hunks)
        if left is None:
            return
        if why := self._why_not():
            self._refuse(why[:1].lower() + why[1:].rstrip("."))
            return
        await self._do(plan, [one for one in hunks if one not in left])

    async def _planned(self, wanted: Rewind) -> RewindPlan | None:
        """The plan; None: it cannot be carried out, and the user was told why."""
        plan = await self.plan(wanted.turn, wanted.hunk, wanted.part)
        if isinstance(plan, str):
            self._refuse(plan[:1].lower() + plan[1:].rstrip("."))
            return None
        return plan

    async def _ask_of_others(self, plan: RewindPlan, hunks: Iterable[Hunk]) -> set[Hunk] | None:
        """Those of the hunks that are left as they are; None: nothing is to be done."""
        others = [file.path for file in plan.files if file.others]
        if not others:
            return set()
        which = first_of(others, NAMED)
        plural = "them" if others[1:] else "it"
        theirs = {one for one in hunks if not {one.path, one.target}.isdisjoint(others)}
        answer = await self._services.state.questions.ask(
            f"Another program changed {which} since: rewind {plural}, too?",
            "What it changed stays where it does not touch the lines that go back.",
            (TOO, LEAVE, CANCEL),
        )
        return None if answer == CANCEL else theirs if answer == LEAVE else set()

    async def _do(self, plan: RewindPlan, chosen: list[Hunk]) -> None:
        services, state = self._services, self._services.state
        past, files = self._files.past(chosen), await self._files.files(chosen)
        stuck_ids = set[int]().union(*(file.stuck for file in files.values())) - past.keys()
        standing = [one for one in self._files.standing(chosen) if one.id not in stuck_ids]
        saved = [path for path in files if state.workspace.is_dirty(path)]
        await services.open_files.catalogue.prepare([*files])
        public = {path for path in files if not services.open_files.privacy(path)}
        self._count += 1
        talk = plan.part != "files"
        call = state.workspace.hunk_list.by_id(plan.hunk).call_id if plan.hunk else ""
        history = services.requests.history
        swaps = self._swaps(files, chosen, past)
        before = history.entries[0] if talk and history.is_compacted else None
        cut = history.rewind(plan.turn, call) if talk else []
        summary = before if before is not None and before not in history.entries else None
        first = plan.turn + bool(plan.hunk)
        notes = [
            (note, note.turn)
            for note in state.workspace.notes
            if talk and note.turn >= first and not note.by_model
        ]
        told = Rewound(
            self._count,
            plan.turn,
            plan.last,
            plan.hunk,
            talk,
            hunks=tuple(HunkWas(one.id, one.stage, one.decision) for one in chosen),
            notes=tuple((note.id, turn) for note, turn in notes),
        )
        clean = [one for one in swaps if self._is_clean(one.path)]
        told = state.witness.rewinds(told, cut, swaps, summary)
        done = _Done(told, [], cut, history, clean)
        await state.witness.kept()
        done.decision = DecisionEntry("rewind", turn=plan.turn)
        paths = await state.input_first.do(
            state.workspace.taking_back(standing, done.decision), services.ports.clock.now
        )
        stays = [one for one in standing if is_undoable(self._documents, one)]
        words = [f"hunk {one.id} of {inert(one.path)}: {one.reason}" for one in stays]
        words += [
            f"{inert(path)}: {file.stays}"
            for path, file in files.items()
            if not file.stuck.isdisjoint(stuck_ids)
        ]
        more, why = self._take_past(done, past, files)
        words += why
        stuck = {one.path for one in stays} | {path for path in files if files[path].stays}
        self._make_exact(one for one in clean if one.path not in stuck)
        await self._written([*paths, *more], set(saved))
        back = [path for path, one in files.items() if one.now != one.then and path not in stuck]
        done.note = self._talk_changed(plan, talk, [shown(one) for one in back if one in public])
        if talk:
            done.notes = notes
            self._notes_go([(note, 0) for note, _ in notes])
        done.decided = len(self._documents.decisions.done)
        self._done.append(done)
        state.witness.rewound(self._count, done=True)
        self._say(plan, back, words)

    def _swaps(
        self, files: Mapping[str, RewoundFile], chosen: list[Hunk], past: Mapping[int, HunkMade]
    ) -> list[Swap]:
        """What will have changed on the disk."""
        found = []
        for path, file in files.items():
            record = self._documents.records.get(path)
            if record is not None and record.view:
                continue
            was = record.disk if record is not None else self._services.ports.files.read(path).data
            there = any(path in (one.path, one.target) for one in past.values())
            whole = record is None or record.gone or there or file.then is None
            then = file.then if whole else self._files.without(path, chosen, saved=True)
            if record is None:
                data = None if then is None else then.encode("utf-8", "surrogatepass")
            else:
                data = None if then is None else record.buffer.form.encode(then)
            if was != data:
                found.append(Swap(path, was, data))
        return found

    def _is_clean(self, path: str) -> bool:
        """True if all of an open file is on the disk."""
        record = self._documents.records.get(path)
        if record is None or record.view or self._services.state.workspace.is_dirty(path):
            return False
        return not any(one.undecided for one in record.live)

    def _make_exact(self, swaps: Iterable[Swap]) -> None:
        """What belongs on the disk is what was shown, where lines of several authors mingle."""
        workspace = self._services.state.workspace
        for swap in swaps:
            try:
                planned = workspace.disk_plan(swap.path).data
                if planned != swap.then and None not in (planned, swap.then):
                    swapped(self._documents, Swap(swap.path, planned, swap.then))
            except EditRefused:
                continue  # it is not open

    def _take_past(
        self, done: _Done, past: Mapping[int, HunkMade], files: Mapping[str, RewoundFile]
    ) -> tuple[list[str], list[str]]:
        """Bring files that an earlier start wrote to their texts; what to write, what stays."""
        words, paths = list[str](), list[str]()
        hunks = self._services.state.workspace.hunk_list
        touched = dict.fromkeys(
            path for one in past.values() for path in (one.path, one.target) if path in files
        )
        stuck: set[int] = set()
        for path in touched:
            file, now = files[path], self._files.without(path, ())
            record = self._documents.records.get(path)
            form = None if record is None else record.buffer.form
            bytes_of = _plain if form is None else form.encode
            swap = Swap(
                path,
                None if now is None else bytes_of(now),
                None if file.then is None else bytes_of(file.then),
            )
            try:
                why = swapped(self._documents, swap)
            except EditRefused as refused:
                words.append(f"{inert(path)}: {refused}")
                stuck.update(n for n, one in past.items() if path in (one.path, one.target))
                continue
            stuck |= file.stuck
            done.swaps.append(swap)
            paths.append(path)
            if why or file.stays:
                words.append(f"{inert(path)}: {why or file.stays}")
        for number, one in past.items():
            hunk = hunks.by_id(number)
            if number not in stuck:
                hunk.decision, hunk.words = Decision.REJECTED, UNDONE
            elif one.path in files and files[one.path].known:
                hunk.stage, hunk.reason = Stage.CONFLICT, EDITED
        if past:
            hunks.reviewed()
            self._documents.bump()
        return paths, words

    async def _written(self, paths: Iterable[str], unsaved: set[str]) -> None:
        services = self._services
        services.state.witness.decided()
        work = self._deciding.write_turn(list(dict.fromkeys(paths)), unsaved)
        await services.state.input_first.do(work, services.ports.clock.now)
        services.state.hunks_changed()
        services.state.retabbed()

    def _talk_changed(
        self, plan: RewindPlan, talk: bool, named: Sequence[str]
    ) -> HistoryEntry | None:
        """The model is told in a sentence; the chain begins anew."""
        services, history = self._services, self._services.requests.history
        how = "are as they are in the editor now"
        if plan.part != "talk" and named:
            point = f"hunk {plan.hunk}" if plan.hunk else "that"
            how = f"{first_of(named, NAMED)} {'are' if named[1:] else 'is'} as before {point}"
            how += ", with what the user typed since"
        elif plan.part != "talk":
            how = "are as they were"
        what = "this conversation to this point" if talk else f"the files to {plan.place}"
        subject = "" if named and plan.part != "talk" else "the files "
        if not talk and not named:
            return None
        history.note(f"The user rewound {what}: {subject}{how}.")
        note = history.entries[-1]
        history.break_chain()
        if talk:
            self._forget_told(plan.turn + bool(plan.hunk))
            self._on_talk(plan.turn + bool(plan.hunk))
            prompt = plan.prompts[:1] if not plan.hunk else []
            services.state.status.unsent = "".join(prompt)
            services.state.restated()
        return note

    def _notes_go(self, notes: Iterable[tuple[Note, int]]) -> None:
        """These notes on lines go with these turns; 0: with the next request."""
        state = self._services.state
        for note, turn in notes:
            state.workspace.notes.sent([note], turn)
        state.status.notes = len(state.workspace.notes.waiting)
        state.witness.noted()

    def _forget_told(self, turn: int) -> None:
        """What was said of hunks later is not known any more; those that went are not told of."""
        told, hunks = self._services.requests.told, self._services.state.workspace.hunks
        told.mark(one for one in hunks if one.turn >= turn)
        told.forget(
            one for one in hunks if one.turn < turn and one.decision is not Decision.PENDING
        )

    def _say(self, plan: RewindPlan, files: Sequence[str], stays: list[str]) -> None:
        what = {"both": "", "files": "the files ", "talk": "the conversation "}[plan.part]
        lines = [f"rewound {what}to {plan.place}: /rewind forward takes that back"]
        if files:
            count = counted(len(files), "file")
            lines.append(f"{count} as before: {first_of([*map(inert, files)], NAMED)}")
        lines += [f"stays as it is: {one}" for one in stays[:NAMED]]
        if len(stays) > NAMED:
            lines.append(f"and {len(stays) - NAMED} more stay as they are")
        if plan.commands and plan.part != "talk":
            lines.append("what commands did is not taken back")
        self._services.state.note(plan.last, "\n".join(lines))

    # -- forward

    @property
    def _is_last(self) -> bool:
        """True if the last thing that was decided is a rewind: undo and redo bring it back."""
        done = self._documents.decisions.done
        if not self._done or self._documents.decisions.undone:
            return False
        last = self._done[-1]
        return last.decided == len(done) and last.decision is not None

    def _why_no_way(self, turn: int) -> tuple[_Done | None, str]:
        """Which rewind is taken back; None: why there is none."""
        found = [one for one in self._done if not turn or one.told.turn <= turn <= one.told.last]
        if not found:
            return None, f"turn {turn} is not rewound" if turn else "nothing was rewound"
        last = max((one.number for one in self.turns()), default=0)
        newer = set(range(found[-1].told.last + 1, last + 1)) - self.gone()
        if newer and found[-1].told.talk:
            first = min(newer)
            return None, f"turn {first} came since: /rewind {first} first, then forward"
        return found[-1], ""

    async def _forward(self, turn: int) -> None:
        if self._files.resuming is not None:
            await self._files.resuming.read()
        what = "Not brought back"
        one, why = self._why_no_way(turn)
        why = why or self._why_not()
        if one is None or why:
            self._refuse(why[:1].lower() + why[1:].rstrip("."), what)
            return
        state, services = self._services.state, self._services
        unsaved = {path for path in state.workspace.buffers if state.workspace.is_dirty(path)}
        same = [swap.back for swap in one.disk if self._is_planned(swap)]
        paths, words = list[str](), list[str]()
        for swap in reversed(one.swaps):
            try:
                why = swapped(self._documents, swap.back)
            except EditRefused as refused:
                words.append(f"{inert(swap.path)}: {refused}")
                continue
            paths.append(swap.path)
            words += [f"{inert(swap.path)}: {why}"] * bool(why)
        apart = set(one.decision.hunks) if one.decision is not None else set()
        if one.decision is not None and apart:
            try:
                more, stays = await state.input_first.do(
                    undo_entry(self._documents, one.decision), services.ports.clock.now
                )
            except EditRefused as refused:
                more, stays = [], [str(refused)]
            paths, words = [*paths, *more], [*words, *stays]
        self._make_exact(same)
        await self._hunks_again(one, {hunk.id for hunk in apart})
        if one.told.talk:
            if one.history is services.requests.history:
                one.history.go_forward(one.cut, one.note)
            services.requests.told.mark(
                hunk for hunk in state.workspace.hunks if hunk.turn >= one.told.turn
            )
            self._notes_go((note, turn) for note, turn in one.notes if note.waits)
            self._on_talk(0)
            state.status.unsent = ""
        await self._written(paths, unsaved)
        self._done.remove(one)
        state.witness.rewound(one.told.number, done=False)
        turns = RewindPlan(one.told.turn, one.told.hunk, one.told.last, "both").turns
        lines = [f"forward again: {turns} as before the rewind"]
        if one.told.talk and one.history is not services.requests.history:
            lines = [f"forward again: the files of {turns}; what was said was cleared since"]
        lines += [f"stays as it is: {why}" for why in words]
        state.note(one.told.last, "\n".join(lines))

    def _is_planned(self, swap: Swap) -> bool:
        """True if nobody changed a file since it was rewound."""
        try:
            return self._services.state.workspace.disk_plan(swap.path).data == swap.then
        except EditRefused:
            return False

    async def _hunks_again(self, one: _Done, apart: set[int]) -> None:
        """Hunks that had no marks are what they were: decided, or waiting again."""
        hunks = self._services.state.workspace.hunk_list
        resuming = self._files.resuming
        known = {it.id: it for it in resuming.stored.hunks} if resuming is not None else {}
        waiting: list[HunkMade] = []
        for was in one.told.hunks:
            if was.id in apart or was.id not in hunks:
                continue
            hunk = hunks.by_id(was.id)
            if hunk.decision is not Decision.REJECTED or hunk.words != UNDONE:
                continue
            if was.decision is Decision.PENDING and was.id in known:
                made = replace(known[was.id], stage=was.stage, decision=was.decision, words="")
                waiting.append(made)
                hunks.forget(hunk)
            else:
                hunk.stage, hunk.decision, hunk.words = was.stage, was.decision, ""
        await self._services.state.input_first.do(
            bringing_back(self._documents, waiting), self._services.ports.clock.now
        )
        hunks.reviewed()
        self._documents.bump()

    # -- an earlier start

    def take_up(self, resuming: Resuming) -> None:
        """Rewinds of an earlier start can be taken back, too; its turns can be rewound."""
        self._files.resuming, resuming.settle = resuming, self._settle
        by_id = self._services.state.workspace.notes.by_id
        for one in resuming.stored.rewinds:
            cut = [entry.entry(resuming.data) for entry in one.entries]
            self._count = max(self._count, one.told.number)
            done = _Done(one.told, [], cut, self._services.requests.history)
            found = ((by_id(number), turn) for number, turn in one.told.notes)
            done.notes = [(note, turn) for note, turn in found if note is not None]
            self._done.append(done)

    async def _settle(self) -> None:
        """Read what these did to files; finish the last one."""
        resuming = self._files.resuming
        if resuming is None:
            return
        for one, stored in zip(self._done, resuming.stored.rewinds, strict=False):
            one.swaps = await asyncio.to_thread(_swaps_of, resuming, one.told.files)
            if not stored.done:
                await self._finish(one)

    async def _finish(self, one: _Done) -> None:
        """Files that were not written when duetto was killed are now."""
        paths = []
        for swap in one.swaps:
            if self._services.ports.files.read(swap.path).data != swap.was:
                continue
            try:
                swapped(self._documents, swap)
            except EditRefused as refused:
                self._refuse(str(refused), f"{swap.path} was not rewound")
                continue
            paths.append(swap.path)
        await self._written(paths, set())
        self._services.state.witness.rewound(one.told.number, done=True)


def _plain(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _swaps_of(resuming: Resuming, files: Iterable[FileSwap]) -> list[Swap]:
    """In a thread."""
    found = []
    for file in files:
        was, then = (resuming.data(blob) if blob else None for blob in (file.was, file.then))
        lost = (file.was and was is None) or (file.then and then is None)
        found += [] if lost else [Swap(file.path, was, then)]
    return found

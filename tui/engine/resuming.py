"""A session goes on where it ended: its conversation, its hunks, what changed on the disk since.

What was said is there at once; hunks that wait are placed again in the files as they are now.
Before the first request the known files are read once more: the model is told what changed, and
one note tells the user all of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from tui.core.context import CutAnswer, user_edit
from tui.core.conversation import (
    CALL_OUTPUTS,
    UNREAD,
    Block,
    BlockKind,
    HistoryEntry,
    Item,
    answer_item,
)
from tui.core.document.file_record import UserChange, changes_of
from tui.core.document.hunk import Hunk, Stage
from tui.core.document.report import QuoteQuota, landing_report, not_kept, shown
from tui.core.document.workspace import Workspace
from tui.core.edit_stream import Channel, Format
from tui.core.files import counted, file_blocks, first_of
from tui.core.inert_text import inert
from tui.core.instructions import STOPPED_BY_ACCIDENT
from tui.core.meter import Cost, MeterView
from tui.core.patches.landing import Landing
from tui.core.patches.past_hunks import BroughtBack, bringing_back, settled
from tui.core.session_record import (
    BlockSaid,
    EntryMade,
    FileKept,
    KeptEntry,
    StoredSession,
    StoredTurn,
    TurnFigures,
    sha_of,
)
from tui.core.steps import Work, finished, in_parts
from tui.core.text.diff import same_start
from tui.core.text.rows import rows_text
from tui.core.wire.efforts import AUTO_EFFORT, EFFORTS
from tui.engine.model_commands import gone
from tui.engine.notices import Status, Trouble
from tui.engine.ports import RoleSpec
from tui.engine.requests import PatchReport
from tui.engine.response_items import (
    Call,
    CutReply,
    OpenMessage,
    Page,
    call_text,
    is_message,
    is_shell,
    message_text,
)
from tui.engine.results import format_of
from tui.engine.services import Services
from tui.errors import StoreRefused

BROKEN_OFF = "duetto ended while it ran: what it did by then is not known"
_DIED = "broke off, as duetto ended,"
_CUT = {"interrupted": "was interrupted by the user", "failed": "broke off"}
"""How a turn ended whose answer is cut -> in words."""
_JOINED = ("custom_tool_call", "function_call")
"""Calls of a patch that another one can go on with."""
_NAMED = 6
_SAID = (BlockKind.TEXT, BlockKind.REASONING, BlockKind.TOOL, BlockKind.PATCH, BlockKind.RUN)
"""Blocks that show that a model has answered."""


class Resumption(Struct, frozen=True):
    """What to go on with."""

    stored: StoredSession
    data: Callable[[str], bytes | None]
    """The bytes of a blob, for a thread; None: they are not there."""
    is_fork: bool = False
    """It is the beginning of a new session."""
    rest: Callable[[], StoredSession] | None = None
    """Reads all of it, for a thread; None: ``stored`` is all. Raises StoreRefused."""
    until: Callable[[int], tuple[EntryMade, ...]] = lambda turn: ()
    """Reads what was said up to a turn as it stood then, for a thread. Raises StoreRefused."""


def up_to(stored: StoredSession, turn: int) -> StoredSession:
    """The session as it was when that turn had ended, with what was decided since."""
    turns = tuple(one for one in stored.turns if one.began.number <= turn)
    first = next((n for n, one in enumerate(stored.blocks) if one.turn > turn), None)
    return replace(
        stored,
        turns=turns,
        entries=stored.entries[: _entries_of(stored, turn)],
        blocks=stored.blocks[:first],
        hunks=tuple(hunk for hunk in stored.hunks if hunk.turn <= turn),
        notes=tuple(one for one in stored.notes if one.turn <= turn),
        rewinds=tuple(one for one in stored.rewinds if one.told.last <= turn),
        usd=sum((one.ended.figures.usd or 0.0) for one in turns if one.ended is not None),
    )


def _entries_of(stored: StoredSession, turn: int) -> int:
    """How many of the entries were there when that turn had ended.

    What is said for a later one counts: answers of an earlier one may be told anew with it.
    """
    ours = ("prompt", "context", "note")
    later = (n for n, one in enumerate(stored.entries) if one.turn > turn and one.kind in ours)
    return next(later, len(stored.entries))


class _Earlier:
    """What was said, decided and sent before that which is shown at once; made in any thread."""

    def __init__(
        self,
        stored: StoredSession,
        head: StoredSession,
        data: Callable[[str], bytes | None],
    ) -> None:
        """``head`` is a part of it; it may be all. ``data`` gives the bytes of a blob."""
        self.stored = stored
        self.lost = stored.lost
        """So much cannot be read any more."""
        self.kept: list[KeptEntry] = []
        for one in stored.entries:
            try:
                entry = one.entry(data)
            except ValueError:  # the store was damaged there
                self.lost += 1
                continue
            self.kept.append(KeptEntry(entry, entry.item, one.id, one.place, one.turn))
        if self.lost:
            self.kept = _answered(self.kept)
        entries = [one.entry for one in self.kept]
        self.blocks = [_block(said) for said in stored.blocks[: head.first]]
        known = {hunk.id for hunk in head.hunks}
        self.past = [hunk for hunk in stored.hunks if hunk.id not in known]
        self.hunks = [settled(hunk) for hunk in self.past]
        calls = _calls(entries)
        answered = {entry.item.get("call_id") for entry in entries if entry.kind == "answer"}
        self.broken = [call for name, call in calls.items() if name in stored.running - answered]
        """Calls of commands that ran when duetto was killed."""
        self.owed = [
            (entry, calls[str(entry.item.get("call_id"))])
            for entry in entries
            if entry.kind in ("answer", "cut")
            and entry.item.get("output") == ""
            and str(entry.item.get("call_id")) in calls
        ]
        """Answers of patches that were never sent, and the calls."""
        lines = {one.call_id: one.title for one in stored.blocks if one.kind is BlockKind.RUN}
        self.gone = gone(entries, lines)
        """What the model is to hear of commands that ran on."""


def _same_effort(status: Status, role: str, model: str, effort: str, *, said: bool = False) -> None:
    """The conversation goes on with the effort that it had, if the same model answers.

    ``said``: it says whether that was ``auto``, too.
    """
    level = effort.removeprefix(AUTO_EFFORT).strip()
    for asked, name in status.models.items():
        if (asked, name) == (role, model):
            known = status.levels.get(asked)
            fits = [one for one in EFFORTS if known is None or one in known]
            status.efforts[asked] = next((one for one in fits if one == level), None)
            if said:
                status.auto.pop(asked, None)
                status.auto.update({asked: ""} if effort.startswith(AUTO_EFFORT) else {})


def _figures(took: TurnFigures) -> MeterView:
    """What the meter showed of a turn when it had ended."""
    return MeterView(
        "done" if took.tokens_out else "idle",
        took.tokens_s,
        took.estimated,
        took.ttft_s,
        took.tokens_out,
        took.estimated,
        took.seconds,
        context_tokens=took.context,
        cached=took.cached / took.tokens_in if took.cached and took.tokens_in else None,
        cost=Cost(took.usd),
        tool_s=took.tool_s,
        last_s=took.last_s,
    )


class Resuming:
    """Brings a stored session into one that has only begun."""

    def __init__(
        self,
        services: Services,
        resumption: Resumption,
        accept: Callable[[tuple[int, ...]], None],
    ) -> None:
        """``accept`` writes hunks that the user had accepted."""
        self._services = services
        self._head = self.stored = resumption.stored
        """What was read of it so far."""
        self._resumption, self.data = resumption, resumption.data
        self._is_fork = resumption.is_fork
        self._rest = resumption.rest
        self._reading = asyncio.Lock()
        self.kept: list[KeptEntry] = []
        """The history as it was stored, as far as it is read."""
        self.on_read: Callable[[], None] = lambda: None
        """Called when all of it is."""
        self.on_cut: Callable[[Callable[[RoleSpec], CutReply]], None] = lambda again: None
        """Told how the last answer can go on, if it was cut."""
        self._lost = 0
        self.changed: frozenset[str] = frozenset()
        """Files that others have changed while the session was closed."""
        self.settle: Callable[[], Awaitable[None]] | None = None
        """Looks at the rewinds of an earlier start, when all is read."""
        self._history = services.requests.history
        self._accept = accept
        self._found = BroughtBack()
        services.open_files.first = self._look

    def begin(self) -> int:
        """Have all of it there; returns the number of the last turn."""
        stored, services = self.stored, self._services
        state, requests = services.state, services.requests
        state.transcript.blocks.extend([UNREAD] * stored.first)
        for said in stored.blocks:
            state.add(_block(said))
        self._found = finished(
            bringing_back(state.workspace.documents, stored.hunks, stored.unwritten)
        )
        for hunk, text in self._found.typed:
            _type_again(state.workspace, hunk, text)
        news = {hunk.id for hunk in (*self._found.on_disk, *self._found.lost)} | stored.untold
        known = (h for h in state.workspace.hunks if h.id not in news)
        requests.told.mark(known)
        services.commands.go_on_behind(stored.commands)
        ended = stored.turns[-1].ended if stored.turns and not stored.is_empty else None
        state.meter.resume(stored.usd, MeterView() if ended is None else _figures(ended.figures))
        for turn in (one.began for one in stored.turns):
            _same_effort(state.status, turn.role, turn.model, turn.effort)
        for role, model, effort in stored.efforts.of:
            _same_effort(state.status, role, model, effort, said=True)
        services.open_files.reopen(stored.tabs)
        requests.attachments.bring_back(stored.attached)
        requests.was_changed(stored.changes, stored.said)
        state.workspace.notes.bring_back(stored.notes)
        state.status.notes = len(state.workspace.notes.waiting)
        if self._rest is None:
            self._take(_Earlier(stored, stored, self.data))
        for path in dict.fromkeys(hunk.path for hunk in self._found.placed):
            if path in state.workspace.buffers and path not in state.status.open_paths:
                services.open_files.open(path, None, 0, aside=True)
        return self._last_turn

    @property
    def _last_turn(self) -> int:
        return max((one.turn for one in self._head.blocks), default=0)

    @property
    def is_read(self) -> bool:
        """All of it is there."""
        return self._rest is None

    async def read_behind(self, turn: int) -> None:
        """Have at hand what a summary stands for, back to before this turn, as far as it is kept.

        It was written in an earlier start. Raises StoreRefused.
        """
        history = self._services.requests.history

        def said(until: int) -> list[HistoryEntry]:
            return [one.entry(self.data) for one in self._resumption.until(until)]

        while not history.has_begin_of(turn):
            last = (history.past or history.entries)[0].turn
            found = await asyncio.to_thread(said, last)
            if not found or (found[0].kind == "summary" and found[0].turn >= last):
                return  # it is not kept, or not as it was said
            history.remember(found)

    async def read(self) -> None:
        """Have what is not read yet; nothing of it holds a key up."""
        async with self._reading:
            if self._rest is None:
                return
            services, rest = self._services, self._rest
            try:
                earlier = await asyncio.to_thread(lambda: _Earlier(rest(), self._head, self.data))
            except StoreRefused as error:
                self._rest = None
                what = "What was said earlier cannot be read: the model does not know it"
                services.state.trouble(Trouble(what, str(error), noted=True))
                return
            now = services.ports.clock.now
            await services.state.input_first.do(self._hunks(earlier), now)
            self._take(earlier)
            self._rest = None
            self.on_read()

    def _hunks(self, earlier: _Earlier) -> Work[None]:
        hunk_list, told = self._services.state.workspace.hunk_list, self._services.requests.told
        yield from hunk_list.add_before(earlier.hunks)
        for part in in_parts(one for one in earlier.hunks if one.id not in earlier.stored.untold):
            told.mark(part)
            yield len(part)
        self._services.state.workspace.documents.bump()

    def _take(self, earlier: _Earlier) -> None:
        """All of it is read: the history is there, and what was said."""
        services, requests = self._services, self._services.requests
        self.stored, self.kept, self._lost = earlier.stored, earlier.kept, earlier.lost
        if earlier.blocks:
            services.state.read_earlier(earlier.blocks)
        if requests.history is not self._history:  # a new conversation was begun
            return
        history = self._history
        later, history.entries = history.entries, []
        history.begin_with([one.entry for one in self.kept])
        hunks = services.state.workspace.hunk_list
        for entry, call in earlier.owed:
            if of_call := hunks.of_call(str(call.get("call_id"))):
                requests.owed.append(partial(self._report, entry, call, of_call))
        for call in earlier.broken:
            history.answer(call, BROKEN_OFF, failed=True)
        history.note(earlier.gone)
        if self.stored.turns:
            self._look_for_cut(self.stored.turns[-1])
        history.entries += later

    def _report(self, entry: HistoryEntry, call: Item, hunks: Sequence[Hunk]) -> Work[PatchReport]:
        services, documents = self._services, self._services.state.workspace.documents
        output = yield from landing_report(
            documents, hunks, "", entry.kind == "cut", services.open_files.privacy
        )
        lost = yield from not_kept(documents, hunks)
        states = yield from services.requests.told.states(hunks)
        item = answer_item(call, output, failed=bool(lost) or entry.kind == "cut")
        return PatchReport(entry, item, states)

    def _look_for_cut(self, turn: StoredTurn) -> None:
        """The last answer may have been cut: the model is told, and it can go on.

        If duetto was killed in the turn, a prompt that nobody answered is given back.
        """
        requests, last = self._services.requests, turn.began
        of_turn = [one for one in self.stored.blocks if one.turn == last.number]
        went_on = last.text.startswith(STOPPED_BY_ACCIDENT)
        if turn.ended is None and not any(one.kind in _SAID for one in of_turn):
            withdrawn = requests.history.withdraw()
            if not went_on:
                text = "\n\n".join(withdrawn) or last.text
                self._services.state.status.unsent = "/ask " * (last.mode == "ask") + text
                return
        elif turn.ended is not None and turn.ended.outcome not in _CUT:
            return
        elif any(one.entry.kind == "prompt" and one.turn == last.number for one in self.kept):
            chars = sum(len(one.text) for one in of_turn if one.kind is BlockKind.TEXT)
            how = _DIED if turn.ended is None else _CUT[turn.ended.outcome]
            requests.cut = CutAnswer(last.number, chars, how)
        else:
            return
        self.on_cut(self._cut_reply)

    def _cut_reply(self, spec: RoleSpec) -> CutReply:
        """What the last answer left half-said, as far as it can be joined with what comes."""
        blocks = self._services.state.transcript.blocks
        last = next((one for one in reversed(blocks) if one.kind in _SAID), None)
        number = self.stored.turns[-1].began.number
        said = [one.entry.item for one in self.kept if one.turn == number and _is_said(one)]
        left = CutReply(whole=[message_text(item) for item in said])
        if last is None or last.state != "cut":
            return left
        if last.kind is BlockKind.PATCH:
            left.call = self._cut_call(last, spec)
            left.apart = left.call is None
        elif last.kind is BlockKind.TEXT:
            left.message = self._cut_message(last, spec)
        if (half := left.call or left.message) is not None:
            left.stands = half.stands
        return left

    def _cut_call(self, block: Block, spec: RoleSpec) -> Call | None:
        """The call of a patch that was cut, if nobody typed or decided in what it wrote."""
        cut = (one.entry.item for one in reversed(self.kept) if one.entry.kind == "cut")
        ours = (one for one in cut if one.get("call_id") == block.call_id)
        item = next((one for one in ours if one.get("type") in _JOINED), None)
        if item is None or is_shell(item):
            return None
        landing = self._landing(block, spec, "custom", block.call_id)
        call = Call(item, block, landing)
        call.parts.append(call_text(item))
        hunks = self._services.state.workspace.hunks_of(block.call_id)
        return call if landing.land_again(hunks, call.stands) else None

    def _cut_message(self, block: Block, spec: RoleSpec) -> OpenMessage | None:
        """A message that was cut; None: the server had ended it all the same."""
        said = (one.entry.item for one in self.kept if _is_said(one))
        if any(message_text(item).endswith(block.text) for item in said):
            return None
        name = Page(self._services.state, block.turn, block.speaker).unused("continued")
        landing = self._landing(block, spec, "text", name)
        landing.feed(block.text)
        landing.finish(cut=True, withdrawn=True)
        landing.prose = []
        message = OpenMessage(landing, block, told=block.length)
        message.said.append(block.text)
        return None if landing.hunks else message

    def _landing(self, block: Block, spec: RoleSpec, channel: Channel, call_id: str) -> Landing:
        wanted = format_of(spec.patch_format, channel, in_prose=spec.patch_tool == "text")
        workspace, plans = self._services.state.workspace, self._services.state.status.only_reads
        fmt: Format = "none" if plans else wanted
        return Landing(workspace, turn=block.turn, call_id=call_id, channel=channel, fmt=fmt)

    async def _look(self) -> None:
        """What is to be said before anything is asked."""
        await self.read()
        services, stored = self._services, self.stored
        if self.settle is not None:
            await self.settle()
        changed = await asyncio.to_thread(self._changed, stored.files.values())
        self.changed = frozenset(path for path, *_ in changed)
        if changed:
            await services.open_files.catalogue.prepare([path for path, *_ in changed])
            services.requests.history.note(self._for_model(changed))
        await self._know_what_was_read()
        away = await services.requests.attachments.open_all()
        died = stored.turns and stored.turns[-1].ended is None
        words = [self._opening(), *_hunk_words(self._found)]
        words += [f"what cannot be read any more is left out: {self._lost:,}"] * bool(self._lost)
        words += ["duetto ended in the last turn: its answer is cut"] * bool(died)
        which = first_of([inert(path) for path, *_ in changed], _NAMED)
        words += [f"changed on the disk since: {which}"] * bool(changed)
        named = first_of([*map(inert, away)], _NAMED)
        words += [f"attached before, cannot be read now: {named}"] * bool(away)
        blocks = services.state.transcript.blocks
        if words != [blocks[-1].text if blocks else ""]:  # nothing was done since it was said
            services.state.note(0, "\n".join(words))
        if self._found.unwritten:
            self._accept(tuple(hunk.id for hunk in self._found.unwritten))
        services.state.hunks_changed()

    async def _know_what_was_read(self) -> None:
        """Have looked at files that the model has read and nobody opened: it is told of changes."""
        services, known, turns = self._services, dict[str, str](), dict[str, int]()
        for part in in_parts(self.kept):
            answers = (one for one in part if one.entry.kind == "answer")
            outputs = ((one.turn, str(one.item.get("output"))) for one in answers)
            for turn, text in outputs:
                for block in file_blocks(text) if "<file" in text else ():
                    if "from" not in block.attributes:
                        known[block.path], turns[block.path] = block.text, turn
            await asyncio.sleep(0)
        for said in self.stored.said.of:
            for one in said.others:
                if said.turn >= turns.get(one.path, said.turn + 1):
                    known[one.path] = _as_told(known[one.path], one)
        workspace = services.state.workspace
        ours = {*self.stored.files, *workspace.buffers, *workspace.hunk_list.paths()}
        for path in known.keys() - ours:
            services.open_files.outside.sent(path, known[path])
        if known:
            services.open_files.outside.changed(known)

    def _opening(self) -> str:
        line, count = self.stored.line, self._last_turn
        turns = counted(count, "turn")
        if self._is_fork:
            return f"a new session, from {turns} of {line.id}"
        return f"session {line.id} goes on: {turns}"

    def _changed(self, files: Iterable[FileKept]) -> list[tuple[str, bytes | None, bytes | None]]:
        """In a thread: path, bytes then and now of the files that are not as they were."""
        read, found = self._services.ports.files.read, []
        for kept in files:
            seen = read(kept.path)
            if seen.refusal:
                continue
            now = "" if seen.data is None else sha_of(seen.data)
            if now != kept.blob:
                found.append((kept.path, self.data(kept.blob) if kept.blob else None, seen.data))
        return found

    def _for_model(self, changed: Iterable[tuple[str, bytes | None, bytes | None]]) -> str:
        """Which files changed, and how, as far as it may be told and there is room."""
        privacy, quota, parts = self._services.open_files.privacy, QuoteQuota(), list[str]()
        for path, before, now in changed:
            if privacy(path):
                continue
            if now is None:
                parts.append(f"{shown(path)} is gone")
            elif before is None:
                parts.append(f"{shown(path)} is new, or another one; read_file has it")
            else:
                parts += [user_edit(edit, quota) for edit in _edits(path, before, now)]
        head = "While this session was closed, others changed these files on the disk:"
        return "\n".join([head, *parts]) if parts else ""


def _as_told(text: str, change: UserChange) -> str:
    """A text with a change that the model was told of; as it is, if it is another text."""
    rows = text.split("\n")
    at = sum(len(row) + 1 for row in rows[: change.first_line])
    if change.first_line >= len(rows) or not text.startswith(change.old_text, at):
        return text
    return text[:at] + change.new_text + text[at + len(change.old_text) :]


def _is_said(one: KeptEntry) -> bool:
    """A message that a model finished."""
    return one.entry.kind == "output" and is_message(one.entry.item)


def _edits(path: str, before: bytes, now: bytes) -> list[UserChange]:
    """The regions that differ; none, if one of the texts is none."""
    try:
        return changes_of(path, before.decode(), now.decode())
    except UnicodeDecodeError:
        return []


def _type_again(workspace: Workspace, hunk: Hunk, text: str) -> None:
    """Have in a hunk's lines what the user had made of them."""
    start, end = hunk.start, hunk.end
    if start is None or end is None:
        return
    now = rows_text(workspace.buffers[hunk.path], start.line, end.line)
    same = same_start(now, text)
    behind = same_start(now[same:][::-1], text[same:][::-1])
    first, last = (
        (start.line + now.count("\n", 0, at), at - now.rfind("\n", 0, at) - 1)
        for at in (same, len(now) - behind)
    )
    workspace.edit(hunk.path, first, last, text[same : len(text) - behind])


def _block(said: BlockSaid) -> Block:
    block = Block(
        said.kind,
        said.turn,
        title=said.title,
        speaker=said.speaker,
        call_id=said.call_id,
        state="cut" if said.state == "open" else said.state,
        report=said.report,
        outdated=said.report is not None,  # files may have changed since then
    )
    if said.text:
        block.append(said.text)
    return block


def _calls(entries: Iterable[HistoryEntry]) -> dict[str, Item]:
    """The calls of a conversation by their ids."""
    return {
        str(entry.item.get("call_id")): entry.item
        for entry in entries
        if str(entry.item.get("type")) in CALL_OUTPUTS
    }


def _answered(kept: Iterable[KeptEntry]) -> list[KeptEntry]:
    """Without answers to calls that are not there: a server would refuse them."""
    calls, found = set[object](), list[KeptEntry]()
    for one in kept:
        kind, call_id = str(one.item.get("type")), one.item.get("call_id")
        if kind in CALL_OUTPUTS:
            calls.add((CALL_OUTPUTS[kind], call_id))
        if kind not in CALL_OUTPUTS.values() or (kind, call_id) in calls:
            found.append(one)
    return found


def _hunk_words(found: BroughtBack) -> list[str]:
    """What became of the hunks, a line for each way."""
    words: list[str] = []
    cut = [hunk for hunk in found.placed if hunk.stage is Stage.CUT]
    waiting = len(found.placed)
    if waiting:
        behind = f", {len(cut)} of them cut" if cut else ""
        words.append(f"{counted(waiting, 'hunk')} wait{'s' * (waiting == 1)} for you again{behind}")
    if found.unwritten:
        words.append(f"accepted, and not on the disk yet: {_numbered(found.unwritten)}")
    if found.on_disk:
        words.append(f"on the disk already, so accepted: {_numbered(found.on_disk)}")
    if found.lost:
        words.append(f"fits nowhere any more: {_numbered(found.lost)}")
    return words


def _numbered(hunks: Sequence[Hunk]) -> str:
    """``hunk 3 (a.py), hunk 5 (b.py) and 2 more``."""
    return first_of([f"hunk {hunk.id} ({inert(hunk.path)})" for hunk in hunks], _NAMED)

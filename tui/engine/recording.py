"""Keeps a session as it goes: what happens becomes records for the store.

Little is told to it; it looks. What the user wants or decides, and what leaves, is committed before
it takes effect. All else is looked at twice a second while something stirs: blocks that have
changed, and of their texts only what is new; hunks of which something is new, a few at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter, is_

from msgspec import Struct, json
from msgspec.structs import replace

import tui
from tui.core.conversation import Block, HistoryEntry
from tui.core.document.file_record import UserChange
from tui.core.document.hunk import BREAKS, PLACED, TAKEN_BACK, Decision, Hunk, Stage
from tui.core.document.past_texts import Swap
from tui.core.price import Quote
from tui.core.programs import RunResult
from tui.core.run_report import RunReport
from tui.core.session_record import (
    AllAttached,
    AllChanges,
    AllEfforts,
    AllNotes,
    AllSaid,
    Author,
    Began,
    BlockSaid,
    CommandBegan,
    CommandEnded,
    EntryGone,
    EntryMade,
    FileKept,
    FileSwap,
    Happened,
    HunkGone,
    HunkMade,
    HunksAre,
    Judged,
    KeptEntry,
    Moment,
    Named,
    OpenTabs,
    Record,
    RequestSent,
    Resumed,
    Rewound,
    SessionKind,
    StoredSession,
    TurnBegan,
    TurnEnded,
    TurnFigures,
    item_as_json,
    item_as_kept,
    sha_of,
)
from tui.core.text.rows import rows_text
from tui.engine import intents
from tui.engine.intents import Intent
from tui.engine.notices import Ask, Status
from tui.engine.ports import Ports, RoleSpec, SessionStore
from tui.engine.requests import Requests
from tui.engine.session_state import SessionState, Witness

_LOOK_S = 0.5
_SOON_S = 0.01
_MOST_HUNKS = 100
"""So many in one look."""
_AROUND = 3
"""Lines above and below a hunk by which it is found again."""
_MOST_CHANGED = 100_000
"""Characters that were saved and not told."""
_KEPT: Mapping[type[Intent], str] = {
    intents.Prompt: "prompt",
    intents.Queue: "queue",
    intents.Steer: "steer",
    intents.Interrupt: "interrupt",
    intents.Switch: "switch",
    intents.UseModel: "model",
    intents.ChooseModel: "model",
    intents.SetEffort: "effort",
    intents.SetMode: "mode",
    intents.SetAutoAccept: "auto",
    intents.Throttle: "throttle",
    intents.Accept: "accept",
    intents.Reject: "reject",
    intents.UndoTurn: "undo turn",
    intents.UndoDecision: "undo",
    intents.RedoDecision: "redo",
    intents.Rewind: "rewind",
    intents.Forward: "come forward",
    intents.Verify: "verify",
    intents.FindBlame: "blame",
    intents.NewConversation: "clear",
    intents.Compact: "compact",
}
"""What is kept of what the user wants, and its name."""
_BINDING = ("redirect", "queue", "steer")
"""These say what is sent later: it is kept before anything else happens."""
_OF_HUNK = (Hunk.__dataclass_fields__.keys() & HunkMade.__struct_fields__) - {"candidates"}
"""What is kept of a hunk as it stands."""
_BlockState = tuple[int, int, str, str, str, str, bool]


def _state_of(block: Block) -> _BlockState:
    """What there is to say of a block, but for its words."""
    return (
        block.rewritten,
        block.length,
        block.state,
        block.title,
        block.speaker,
        block.call_id,
        block.report is not None,
    )


_HunkState = tuple[Stage, Decision, str, str, str, tuple[str, ...], str]


class SessionRecording(Witness):
    """Of one session, in a store."""

    def __init__(
        self,
        state: SessionState,
        requests: Requests,
        ports: Ports,
        store: SessionStore,
        kind: SessionKind,
    ) -> None:
        self._state, self._requests, self._ports = state, requests, ports
        self._store = store
        self._kind = kind
        self._parent: tuple[str, int] = ("", 0)
        self._turn = 0
        self.tabs: Callable[[], OpenTabs] = OpenTabs
        """Which files are open."""
        self._as_kept: dict[str, Struct] = {}
        """What was kept last of what is kept whole each time, by the moment's name."""
        self._commands = self._sent = 0
        self._name = ""
        self._timer: asyncio.TimerHandle | None = None
        self._entries: list[KeptEntry] = []
        self._blocks: dict[int, _BlockState] = {}
        self._hunks: dict[int, _HunkState] = {}
        self._typed: dict[int, str] = {}
        self._turns: list[Record] = []
        """The beginnings and ends of all."""
        self._gone: list[int] = []
        """Ids of entries that went with a rewind which is under way."""
        self._last_entry = 0
        self._unread = self._renews = False
        """Not all of the session is read; and what is kept is to be said again then."""
        self._take_as_new()
        self._as_kept["efforts"] = _efforts_in(self._state.status)  # the settings say so, too

    def begin(self) -> None:
        """A new session."""
        root = self._ports.files.named_root
        self._store.put(Began(root, self._kind, tui.__version__, *self._parent))
        if self._name:
            self._store.put(Named(self._name))
        for one in self._entries:
            if one.entry.image is not None:  # perhaps it was lost with the store
                from tui.core.images import data_of

                self._store.blob(data_of(one.entry.item))
        for record in (*self._turns, *map(made, self._entries)):
            self._store.put(record)

    def fork(self, stored: StoredSession, kept: list[KeptEntry]) -> None:
        """A new session goes on from a stored one; ``kept``: its entries."""
        del self._as_kept["efforts"]
        self._take_turns(stored, kept)
        self._turn = _last_of(stored)
        self._last_entry = max((one.id for one in self._entries), default=0)
        self._parent = stored.line.id, self._turn
        self.begin()

    def _take_turns(self, stored: StoredSession, kept: list[KeptEntry]) -> None:
        self._entries = [*kept, *self._entries]
        self._turns[:0] = [
            one for turn in stored.turns for one in (turn.began, turn.ended) if one is not None
        ]

    def go_on(self, stored: StoredSession, kept: list[KeptEntry]) -> None:
        """The stored session goes on; ``kept``: its entries.

        What of it is not read comes with `read` later.
        """
        self._unread = stored.first > 0
        self._turn = _last_of(stored)
        if self._unread:
            self._state.unkept.difference_update(range(stored.first))
        else:
            self._take_turns(stored, kept)
        self._last_entry = stored.entry_count
        for at, block in enumerate(stored.blocks, stored.first):
            self._blocks[at] = (
                0,
                len(block.text),
                block.state,
                block.title,
                block.speaker,
                block.call_id,
                block.report is not None,
            )
        self._hunks = _states_of(stored.hunks)
        self._typed = {one.id: one.typed for one in stored.hunks if one.typed is not None}
        self._commands, self._sent = stored.commands, stored.requests
        self._as_kept |= {
            "tabs": stored.tabs,
            "notes": AllNotes(stored.notes),
            "attached": stored.attached,
            "changes": stored.changes,
        }
        self._name = stored.line.name
        self._store.commit(Resumed(self._ports.files.named_root, tui.__version__))

    def read(self, stored: StoredSession, kept: list[KeptEntry]) -> None:
        """All of it is read."""
        if not self._unread:
            return
        self._unread = False
        self._take_turns(stored, kept)
        for number, state in _states_of(stored.hunks).items():
            self._hunks.setdefault(number, state)
        if self._renews:
            self.renew()

    def _take_as_new(self) -> None:
        """Nothing is kept so far."""
        workspace = self._state.workspace
        self._as_kept = {
            "tabs": OpenTabs(),
            "notes": AllNotes(),
            "attached": AllAttached(),
            "changes": AllChanges(),
            "said": AllSaid(),
        }
        self._blocks.clear()
        self._state.unkept.update(range(len(self._state.transcript.blocks)))
        self._hunks.clear()
        self._news = workspace.hunk_list.watched()
        self._forgotten = len(workspace.documents.forgotten)
        self._files: dict[str, tuple[bytes | None, str]] = {}
        """Path -> what lay there when that was kept last, and its sum."""
        self._before: set[tuple[int, str]] = set()
        """Turns and the files of which the text before them is kept."""

    def renew(self) -> None:
        """What was kept is lost: say all of it again."""
        self._renews = self._unread
        if self._unread:
            return
        self._take_as_new()
        self.begin()
        self._look(all_hunks=True)
        self._look_at_entries()
        self._commit(Happened(self._turn, "renewed"))

    def close(self) -> None:
        """The session ends."""
        if self._timer is not None:
            self._timer.cancel()
        self._look(all_hunks=True)
        self._look_at_typing()
        self._look_at_tabs()
        self._look_at_entries()

    def name(self, words: str) -> None:
        """The user names the session."""
        self._name = words
        self._commit(Named(words))

    def stirs(self) -> None:
        """Look soon."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_LOOK_S, self._due)

    def _due(self) -> None:
        self._timer = None
        if self._look():
            self._timer = asyncio.get_running_loop().call_later(_SOON_S, self._due)

    def _look(self, *, all_hunks: bool = False) -> bool:
        """Put what is new; True: of hunks there is more."""
        for record in self._new_blocks():
            self._store.put(record)
        for record in self._new_hunks(None if all_hunks else _MOST_HUNKS):
            self._store.put(record)
        status, known = self._state.status, self._as_kept["tabs"]
        tabs = (status.active_path, len(status.open_paths))
        if not isinstance(known, OpenTabs) or tabs != (known.active, len(known.places)):
            self._look_at_tabs()
        for record in self._new_wishes():
            self._store.put(record)
        return not all_hunks and not all(hunk.comes_in for hunk in self._news.values())

    def _look_at_typing(self) -> None:
        """Put the hunks again in whose lines the user has typed."""
        for hunk in self._state.workspace.hunk_list.unsettled():
            if hunk.decidable and self._typed_in(hunk) != self._typed.get(hunk.id):
                for record in self._whole(hunk):
                    self._store.put(record)

    def _typed_in(self, hunk: Hunk) -> str | None:
        """What stands in a hunk's lines, if somebody typed there."""
        record = self._state.workspace.documents.records.get(hunk.path)
        if record is None or not record.undo_log.state or hunk.start is None or hunk.end is None:
            return None
        text = rows_text(record.buffer, hunk.start.line, hunk.end.line)
        return None if text == hunk.agent else text

    def _look_at_tabs(self) -> None:
        """Put which files are open, and where their cursors are."""
        for record in self._new_of("tabs", self.tabs()):
            self._store.put(record)

    def noted(self) -> None:
        """A note is kept at once, as a prompt is: nobody types it again."""
        for record in self._new_of("notes", AllNotes(self._state.workspace.notes.kept())):
            self._store.commit(record)

    def _new_wishes(self) -> list[Record]:
        """Notes on lines, what is attached, efforts and told changes, if they are others now."""
        return [
            *self._new_of("notes", AllNotes(self._state.workspace.notes.kept())),
            *self._new_of("attached", self._requests.attachments.kept()),
            *self._new_of("efforts", _efforts_in(self._state.status)),
            *self._new_of("said", self._requests.said_changes),
        ]

    def _new_of(self, what: str, now: Struct) -> list[Record]:
        """What is to be kept of this; nothing, if it is as it was kept."""
        if now == self._as_kept.get(what):
            return []
        self._as_kept[what] = now
        return [Happened(self._turn, what, json.encode(now).decode())]

    def wanted(self, intent: Intent) -> None:
        """The user wants something."""
        what, status = _KEPT.get(type(intent)), self._state.status
        if what is None or (what == "interrupt" and (status.stopping or not status.busy)):
            return  # there is nothing to interrupt
        if what == "prompt" and status.busy:
            what = "redirect"
        detail = "" if what == "prompt" else _detail(intent)
        happened = Happened(self._turn, what, detail)
        keep = self._commit if what in _BINDING else self._store.put
        keep(happened)

    def _commit(self, record: Record) -> None:
        """Commit, once there is something that is worth a session."""
        if self._turn or self._commands:
            self._store.commit(record)
        else:
            self._store.put(record)

    def answers(self, ask: Ask, choice: str) -> None:
        """The user consents, or does not."""
        self._commit(Happened(self._turn, "answer", f"{ask.question}\n{choice}"))

    def turn_begins(self, number: int, text: str, spec: RoleSpec, effort: str, tier: str) -> None:
        """The prompt is kept before it is sent."""
        self._turn = number
        self._look(all_hunks=True)
        for path in self._state.workspace.documents.records:
            self._keep_file(path, "before", data=False)
        status = self._state.status
        mode = "ask" if status.asking else status.mode
        began = TurnBegan(number, text, spec.role, spec.model, spec.endpoint, effort, tier, mode)
        self._turns.append(began)
        self._store.commit(began)

    async def kept(self) -> None:
        """The disk has it."""
        await self._store.durable()

    def paid(self, turn: int, quote: Quote) -> None:
        """The day's total has it at once: this duetto may be killed."""
        self._commit(Happened(turn, "cost", repr(quote.usd or 0.0)))

    def request_leaves(self, turn: int, body: Mapping[str, object], usd: float = 0.0) -> None:
        """All of its items are kept before it is sent."""
        self._look(all_hunks=True)
        self._look_at_entries()
        for record in self._new_of("changes", AllChanges()):  # the request tells them
            self._store.put(record)
        self._sent += 1
        head = {name: value for name, value in body.items() if name != "input"}
        chained = head.pop("previous_response_id", None) is not None
        blob = self._store.blob(item_as_json(head))
        if usd:
            self._store.put(Happened(turn, "reserved", repr(usd)))
        self._store.commit(RequestSent(self._sent, turn, chained, blob))

    def keeps_image(self, data: bytes) -> None:
        """Kept once, beside the message that brings it; written here, where it holds nobody up."""
        self._commit(Happened(self._turn, "image", self._store.blob(data)))

    def happens(self, turn: int, what: str, detail: str = "") -> None:
        """A moment that may be lost with a power cut."""
        self._store.put(Happened(turn, what, detail))

    def turn_ends(self, turn: int, outcome: str, *, beside: bool = False) -> None:
        """What was received, and what it took."""
        self._look(all_hunks=True)
        self._look_at_entries()
        status, meter, now = self._state.status, self._state.meter, self._ports.clock.now()
        view, total = meter.view(now), meter.total()
        figures = TurnFigures(
            total.input_tokens if total else 0,
            view.tokens,
            (total.cached_tokens or 0) if total else 0,
            view.tokens_estimated,
            view.cost.turn_usd,
            view.ttft_s,
            view.tokens_s,
            view.seconds,
            view.tool_s,
            view.last_s,
            view.context_tokens,
            *meter.clocks().since_prompt(),
        )
        served = ("", "") if beside else (status.served_model, status.served_tier)
        ended = TurnEnded(turn, outcome, *served, figures, beside)
        self._turns.append(ended)
        self._store.commit(ended)

    def forgets(self) -> None:
        """What is not to be said again is not, should duetto be killed now."""
        self._look_at_entries()
        for record in (*self._new_wishes(), *self._new_of("changes", AllChanges())):
            self._store.put(record)
        self._commit(Happened(self._turn, "cleared"))

    def rewinds(
        self,
        told: Rewound,
        cut: Sequence[HistoryEntry],
        swaps: Sequence[Swap],
        summary: HistoryEntry | None,
    ) -> Rewound:
        """What is to be done is kept before it is begun, with all that it takes to undo it."""
        self._look(all_hunks=True)
        known = {id(one.entry): one.id for one in self._entries}
        ids = (known.get(id(entry)) or self._aside(entry, 0.0).id for entry in cut)
        told = replace(told, entries=tuple(ids))
        for swap in swaps:
            was = "" if swap.was is None else self._store.blob(swap.was)
            then = "" if swap.then is None else self._store.blob(swap.then)
            told = replace(told, files=(*told.files, FileSwap(swap.path, was, then)))
            self._store.put(FileKept(self._turn, swap.path, "before", was))
        if summary is not None:
            stays = enumerate(self._requests.history.entries, 1)
            restored = [self._aside(entry, float(place)) for place, entry in stays]
            told = replace(told, restored=tuple(one.id for one in restored))
        self._commit(Happened(self._turn, "rewound", json.encode(told).decode()))
        if summary is not None:
            self._gone, self._entries = [one.id for one in self._entries], restored
        return told

    def _aside(self, entry: HistoryEntry, place: float) -> KeptEntry:
        """Keep an item that does not stand in the conversation yet."""
        self._last_entry += 1
        one = KeptEntry(entry, entry.item, self._last_entry, place, entry.turn or self._turn)
        self._store.put(replace(made(one), aside=True))
        return one

    def rewound(self, number: int, *, done: bool) -> None:
        """It is on the disk, or was taken back: what is said from now on follows."""
        self._look(all_hunks=True)
        self._look_at_entries()
        self._commit(Happened(self._turn, "rewind done" if done else "forward", str(number)))

    def decided(self, *, writing: bool = False) -> None:
        """Decisions are kept before the disk says what they were."""
        if not self._news:
            return
        found = [*self._new_blocks(), *self._new_hunks(None)]
        for record in found[:-1]:
            self._store.put(record)
        if found:
            self._commit(found[-1])

    def written(self, paths: Iterable[str]) -> None:
        """What lies there now."""
        found = self._as_kept["changes"]
        edits, formatted = list[UserChange](), list[UserChange]()
        paths = [*paths]
        if isinstance(found, AllChanges):
            edits += (one for one in found.edits if one.path not in paths)
            formatted += (one for one in found.formatted if one.path not in paths)
        for path in paths:
            self._keep_file(path, "after")
            if path in self._state.workspace.documents.records:
                by_user, by_tool, _ = self._state.workspace.untold_changes(path)
                edits, formatted = [*edits, *by_user], [*formatted, *by_tool]
        now = AllChanges(tuple(_some(edits)), tuple(_some(formatted)))
        for record in self._new_of("changes", now):
            self._store.put(record)

    def command_begins(self, line: str, call_id: str, confined: str, consent: str) -> int:
        """It is kept before it runs."""
        self._look()
        self._commands += 1
        number, status = self._commands, self._state.status
        turn = self._turn if call_id else 0
        began = CommandBegan(number, turn, call_id, line, "", status.mode, confined, consent)
        self._store.commit(began)
        return number

    def command_ends(self, number: int, result: RunResult) -> None:
        """How it ended."""
        ended = CommandEnded(
            number,
            result.status,
            result.seconds,
            "timeout" if result.timed_out else "stopped" if result.stopped else "",
        )
        self._store.commit(ended)

    def judged(self, command: str, verdict: str, seconds: float, report: RunReport) -> None:
        """The tests ran."""
        self._look()
        self._store.commit(Judged(self._turn, command, verdict, seconds, report))

    def _keep_file(self, path: str, moment: Moment, *, data: bool = True) -> None:
        """What lies on the disk as far as we know, unless that was kept already."""
        record = self._state.workspace.documents.records.get(path)
        if record is None:
            return
        known = self._files.get(path)
        same = known is not None and known[0] is record.disk
        if same and moment == "before" and not data:
            return
        sha = known[1] if known is not None and same else ""
        if record.disk is not None and (data or not sha):
            sha = self._store.blob(record.disk) if data else sha_of(record.disk)
        self._files[path] = record.disk, sha
        self._store.put(FileKept(self._turn, path, moment, sha))

    def _new_blocks(self) -> list[Record]:
        """What has changed of the conversation, in its order."""
        unkept, blocks = self._state.unkept, self._state.transcript.blocks
        found: list[Record] = []
        for at in sorted(unkept):
            block, known = blocks[at], self._blocks.get(at)
            now = _state_of(block)
            if now == known:
                continue
            self._blocks[at] = now
            start = known[1] if known is not None and known[0] == block.rewritten else 0
            found.append(
                BlockSaid(
                    at,
                    block.turn,
                    block.kind,
                    block.title,
                    block.speaker,
                    block.call_id,
                    block.state,
                    start,
                    block.text_since(start),
                    block.report,
                )
            )
        unkept.clear()
        return found

    def _new_hunks(self, most: int | None) -> list[Record]:
        """Hunks that are whole now, and what was decided of others."""
        found: list[Record] = []
        documents = self._state.workspace.documents
        forgotten = documents.forgotten
        for number in forgotten[self._forgotten :]:
            if number not in documents.hunk_list:  # else another came, under the same number
                self._news.pop(number, None)
            if self._hunks.pop(number, None) is not None:
                found.append(HunkGone(number))
        self._forgotten = len(forgotten)
        grouped: dict[tuple[_HunkState, Author], list[int]] = {}
        alike: dict[_HunkState, _HunkState] = {}  # one object for all that are in one state
        for number, hunk in list(islice(self._news.items(), most)):
            del self._news[number]
            if hunk.comes_in:
                continue  # it comes again when it is
            lasting = (hunk.path, _lasting(hunk), hunk.redone_from)
            now = (hunk.stage, hunk.decision, hunk.reason, hunk.words, *lasting)
            now = alike.setdefault(now, now)
            known = self._hunks.get(number)
            if known == now:
                continue
            self._hunks[number] = now
            placed = hunk.stage in PLACED and (known is None or known[0] not in PLACED)
            if known is None or known[4:] != now[4:] or placed:
                found += self._whole(hunk)
            else:
                grouped.setdefault((now, self._author(hunk)), []).append(number)
        for (now, author), numbers in grouped.items():
            stage, decision, reason, words, *_ = now
            found.append(HunksAre(tuple(numbers), stage, decision, reason, words, author))
        return found

    def _author(self, hunk: Hunk) -> Author:
        if hunk.decision is Decision.PENDING or hunk.reason == TAKEN_BACK:
            return ""
        return "auto" if self._state.deciding_alone else "user"

    def _whole(self, hunk: Hunk) -> list[Record]:
        """All of a hunk, behind what its file was before it."""
        path, before = hunk.path, list[Record]()
        if (hunk.turn, path) not in self._before and hunk.decision is Decision.PENDING:
            self._before.add((hunk.turn, path))
            self._keep_file(path, "before")
        above, below = self._around(hunk)
        said = {name: getattr(hunk, name) for name in _OF_HUNK}
        said |= {"flags": _lasting(hunk), "redone": hunk.redone_from}
        made = HunkMade(
            **said,
            line=None if hunk.start is None else hunk.start.line,
            candidates=tuple(hunk.candidates),
            author=self._author(hunk),
            above=above,
            below=below,
            typed=self._typed_in(hunk),
        )
        if made.typed is None:
            self._typed.pop(hunk.id, None)
        else:
            self._typed[hunk.id] = made.typed
        return [*before, made]

    def _around(self, hunk: Hunk) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The lines above and below it."""
        buffer = self._state.workspace.buffers.get(hunk.path)
        if buffer is None or hunk.start is None or hunk.end is None:
            return (), ()
        first, last = hunk.start.line, hunk.end.line
        lines = buffer.lines
        return (
            tuple(lines[max(first - _AROUND, 0) : first]),
            tuple(lines[last : last + _AROUND]),
        )

    def _look_at_entries(self) -> None:
        """Put what is new in the history, and what was withdrawn of it."""
        entries = self._requests.history.entries
        same = _same(self._entries, entries)
        tail, fresh = self._entries[same:], entries[same:]
        known = {id(one.entry): one for one in tail}
        here = {id(entry) for entry in fresh}
        gone = [one.id for one in tail if id(one.entry) not in here]
        del self._entries[same:]
        after = _places_behind(fresh, known)
        last = self._entries[-1].place if self._entries else 0.0
        for entry, following in zip(fresh, after, strict=True):
            kept = known.get(id(entry))
            if kept is not None and kept.place > last:
                place = kept.place
            elif last < (last + following) / 2 < following:
                place = (last + following) / 2
            else:
                place = last + 1.0
            if kept is None or kept.place != place or kept.item is not entry.item:
                self._last_entry += kept is None
                number = self._last_entry if kept is None else kept.id
                since = kept is not None or entry.kind == "summary"  # it knows of turns till now
                turn = self._turn if since else entry.turn or self._turn
                kept = KeptEntry(entry, entry.item, number, place, turn)
                self._store.put(made(kept))
            self._entries.append(kept)
            last = place
        gone, self._gone = [*self._gone, *gone], []
        for number in gone:  # behind what stands for them: a kill in between loses nothing
            self._store.put(EntryGone(number))


def _efforts_in(status: Status) -> AllEfforts:
    models = status.models.items()
    return AllEfforts(tuple((*one, status.effort_words(one[0])) for one in models))


def _some(changes: Iterable[UserChange]) -> Iterable[UserChange]:
    """As many as may be told."""
    left = _MOST_CHANGED
    for one in changes:
        left -= len(one.old_text) + len(one.new_text)
        if left > 0:
            yield one


def _last_of(stored: StoredSession) -> int:
    return max((turn.began.number for turn in stored.turns), default=0)


def _states_of(hunks: Iterable[HunkMade]) -> dict[int, _HunkState]:
    return {
        one.id: (one.stage, one.decision, one.reason, one.words, one.path, one.flags, one.redone)
        for one in hunks
    }


def _lasting(hunk: Hunk) -> tuple[str, ...]:
    """Its flags, but for what a run of the tests found: another start has no such run."""
    return tuple(flag for flag in hunk.flags if not flag.startswith(BREAKS))


def made(one: KeptEntry) -> EntryMade:
    """An item of the history as a record; the bytes of an image are a blob beside it."""
    kind, origin, image = one.entry.kind, one.entry.origin, one.entry.image
    if image is None:
        return EntryMade(one.id, one.place, kind, origin, item_as_kept(one.item), one.turn)
    from tui.core.images import without_data  # where there is one

    item = item_as_kept(without_data(image))
    return EntryMade(one.id, one.place, kind, origin, item, one.turn, image.sha)


def _same(known: list[KeptEntry], entries: Sequence[HistoryEntry]) -> int:
    """How many entries from the first one on say what was kept."""
    item = attrgetter("item")
    same = zip(
        map(is_, map(attrgetter("entry"), known), entries),
        map(is_, map(item, known), map(item, entries)),
        strict=True,
    )
    found = [*map(all, same)]
    return found.index(False) if False in found else len(found)


def _places_behind(fresh: Sequence[HistoryEntry], known: Mapping[int, KeptEntry]) -> list[float]:
    """For each entry the place of the next one that has a place, or 0."""
    found, following = list[float](), 0.0
    for entry in reversed(fresh):
        found.append(following)
        if (one := known.get(id(entry))) is not None:
            following = one.place
    return found[::-1]


def _detail(intent: Intent) -> str:
    """What an intent says first."""
    fields = type(intent).__struct_fields__
    said = getattr(intent, fields[-1]) if fields else ""
    return said if isinstance(said, str) else "" if said is None else str(said)

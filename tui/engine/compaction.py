"""Compaction: before the window is full, something shorter stands for what was said first.

What is known for certain comes from the session's own records. A model with room summarises the
prose between, ahead of need, on a lane of its own; where it fails, what is certain goes alone.
The whole transcript stays in the store, where the model's tool `recall` finds it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter

from tui.core.compaction import (
    ASKED,
    KnownFacts,
    PastItem,
    Recollection,
    Summary,
    added,
    compacted,
    cutting,
    fault_of,
    prose_in,
    prose_of,
    recalled,
    request_text,
)
from tui.core.conversation import Block, BlockKind, HistoryEntry, user_item
from tui.core.document.hunk import Decision, Hunk
from tui.core.document.line_notes import Note
from tui.core.document.report import HunkAccount, hunk_words, row_words, shown
from tui.core.files import first_of
from tui.core.inert_text import PROSE, inert
from tui.core.instructions import MAP_TITLE
from tui.core.run_report import FailedTest
from tui.core.steps import Work, finished
from tui.core.tokens import is_too_long, tokens, window_told
from tui.core.wire import events
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.core.wire.events import Event
from tui.engine import intents
from tui.engine.model_window import ModelWindow, tokens_in
from tui.engine.notices import FORGOTTEN, Trouble
from tui.engine.open_files import OpenFiles
from tui.engine.ports import Ports, RoleSpec, WireState
from tui.engine.requests import Requests
from tui.engine.response_items import message_text
from tui.engine.session_state import SessionState
from tui.engine.supervisor import Supervisor
from tui.errors import DuettoError

LANE = "summary"
BEGINS, SAYS, DUE = 0.6, 0.75, 0.85
"""Shares of the window's room: the summary is begun, the user is told, it takes effect."""
_KEPT, _WRITTEN = 0.3, 0.25
"""Shares that the last turns take behind it, and that it takes itself, at most."""
_GROWN = 0.6
"""What the last turns may have grown to, behind a summary that was begun ahead."""
_UNKNOWN_ROOM = 64_000
"""Tokens, where nobody knows the window and the user asks for it."""
_MAP = 0.1
"""What the map of the project may take of it, to stay."""
_CHARS = 3.5
"""Of a token, where a text is not written yet."""
_PROSE = 0.2
"""Of a summarising model's room, what it may write; and of what it is sent, the rest."""
_MOST_WORDS = 900
WAIT_S = 60.0
"""So long a request waits for a summary that is being written."""
SOON_S = 1.0
"""A wait that is longer is explained."""
GRACE_S = 1.0
"""So long after that, for what there is of it."""
_LATE = "no answer came in time"
_TRIES = 3
"""Of a summary whose model takes less than it is known to."""
MOST_LINES = 2000


class Compaction:
    """Of one session's conversation."""

    def __init__(
        self,
        ports: Ports,
        state: SessionState,
        open_files: OpenFiles,
        window: ModelWindow,
        supervisor: Supervisor,
    ) -> None:
        self.more: list[Callable[[], Iterable[KnownFacts]]] = []
        """What else is known for certain."""
        self.rewound: Callable[[], set[int]] = set
        """The turns that were taken out of the conversation."""
        self._ports, self._state, self._open_files = ports, state, open_files
        self._window, self._supervisor = window, supervisor
        self._requests: Requests = window.requests
        self._job: asyncio.Task[None] | None = None
        self._alone = asyncio.Lock()
        self._prose = self._fault = ""
        """What was summarised ahead, and why that is not all."""
        self._enough: Callable[[], None] = lambda: None
        """Ends what is being written: what there is of it is taken."""
        self._covers: HistoryEntry | None = None
        """The last item that it stands for; None: nothing was begun."""
        self._asked, self._wish = False, ""
        """The user asked: it takes effect as soon as it can; and the words."""
        self._last: HistoryEntry | None = None
        """The last item that there was when it took effect last."""
        self._told = False
        self._settling: asyncio.Task[None] | None = None
        state.after_turn.append(self._turn_over)

    @property
    def text(self) -> str:
        """What stands for the beginning of the conversation; empty: nothing does."""
        entries = self._requests.history.entries
        return entries[0].text if self._requests.history.is_compacted else ""

    def handle(
        self, intent: intents.Compact | intents.StopCompacting | intents.EditSummary
    ) -> None:
        """Do what the user asks."""
        match intent:
            case intents.Compact(words):
                self.ask(words)
            case intents.StopCompacting():
                self._stop()
            case intents.EditSummary(text, of):
                self.edit(text, of or self.text)

    def edit(self, text: str, of: str) -> None:
        """The user writes it anew; an empty text changes nothing, nor does one of an older one."""
        if text == of or not self.text:
            return
        if not text.strip():
            self._state.warn("The summary stays as it is", "nothing was left in your editor")
        elif of != self.text:
            why = "a newer one, of more turns, took its place meanwhile"
            self._state.warn("Your words are not sent", why, "edit that one: /compact show")
        else:
            history = self._requests.history
            turn = history.entries[0].turn
            history.compact(1, [HistoryEntry("summary", user_item(text), turn=turn)])
            self._state.note(0, "the summary was edited; the next request says it so")

    def ask(self, words: str) -> None:
        """The user wants it now: at once, or when the turn is over."""
        self._is_stale()
        if not self._may() and self._state.status.busy:
            self._asked, self._wish, self._covers = True, words, None
            return
        if self._job is not None and words:
            self._job.cancel()
            self._job = None
        if self._job is None:
            self._covers = None
        if not (self._may() and self._begin(self._last_turn(), words)):
            self._asked, why = False, "the last turn is always sent as it was said"
            if not self._may():
                when = "since the last time" if self._requests.history.is_compacted else "yet"
                why = f"no answer has come to its end {when}"
            self._state.trouble(Trouble("Nothing to compact", why, severity="information"))
            return
        self._asked = self._state.status.compacting = True
        self._state.note(0, "a summary of what was said is being written")
        self._settling = self._supervisor.start(self._settle(), "compacting")

    def _stop(self) -> None:
        """The user wants it no more: what was said stays as it is."""
        if not self._state.status.compacting:
            return
        for task in (self._settling, self._job):
            if task is not None:
                task.cancel()
        self._job = None
        self._let_go()
        self._state.note(0, "nothing was compacted: you stopped it")

    async def over(self) -> None:
        """Return when what the user asked for has taken effect, or cannot."""
        if self._settling is not None:
            await asyncio.wait([self._settling])

    def is_due(self, spec: RoleSpec, prompt: str = "") -> bool:
        """The next request would fill the window so far that something has to go before."""
        room = self._window.room(spec)
        if room is None or self._share(spec, room, prompt) < DUE or not self._may():
            return False
        return self._window.head_tokens + tokens(prompt) < self._writes(spec)

    async def make_room(self, spec: RoleSpec, prompt: str = "") -> None:
        """Have it take effect if it is due; ``prompt`` is what the user said last."""
        await self._state.input_first.do(self._window.measuring(), self._ports.clock.now)
        if not self.is_due(spec, prompt):
            return
        self._is_stale()
        await self._written(says=True)
        await self._begin_ahead()  # what came since the last summary, if there is so much
        await self._written(says=True)
        await self._take_effect(spec, prompt)

    async def recall(self, asked: Recollection) -> str:
        """What was said, from the store, or from memory where nothing is kept."""
        store = self._ports.store() if self._ports.store is not None else None
        if store is not None and store.kept and self._ports.archive is not None:
            return await self._ports.archive().recall(store.id, asked)
        history = self._requests.history
        items, turn = list[PastItem](), 0
        said = sorted([*history.left_out, *history.whole()], key=attrgetter("turn"))
        for number, entry in enumerate(said, 1):
            turn += entry.kind == "prompt"
            items.append(PastItem(str(number), entry.turn or turn, entry.kind, entry.item))
        work = recalled(items, asked)
        return await self._state.input_first.do(work, self._ports.clock.now)

    # -- when

    def _turn_over(self, turn: int, prompt: str, outcome: str) -> None:
        """Look how full the window is, and do what has to be done ahead."""
        self._is_stale()
        if self._asked and self._covers is None:
            self.ask(self._wish)
        elif self._asked:
            self._supervisor.start(self._settle(), "compacting")
        spec = self._state.roles.get(self._state.status.role)
        room = None if spec is None else self._window.room(spec)
        if spec is None or room is None:
            return
        share = self._share(spec, room)
        if share < SAYS:
            self._told = False
        elif share < DUE and not self._told and self._may():
            self._told = True
            self._state.note(0, self._warning(spec, share))
        if share >= BEGINS and self._may():
            self._supervisor.start(self._begin_ahead(), "the summary")
        if share >= DUE:
            self._supervisor.start(self._settle(), "compacting")

    def _warning(self, spec: RoleSpec, share: float) -> str:
        what = "what was said first is sent as a summary, with all that is certain"
        return (
            f"the window of {spec.model} is {share:.0%} full; from {DUE:.0%} on {what}"
            "\n/compact [WORDS] does it now, /compact show shows it"
        )

    def _share(self, spec: RoleSpec, room: int, prompt: str = "") -> float:
        wanted = self._window.wanted(spec, self._requests.last_head)
        return (wanted + self._window.scale(spec).tokens(tokens(prompt))) / max(room, 1)

    def _may(self) -> bool:
        """Never twice in a row: a model has answered since it took effect last."""
        entries = self._requests.history.entries
        for entry in reversed(entries):
            if entry is self._last or entry.kind == "summary":
                return False
            if entry.kind == "output":
                return True
        return False

    async def _settle(self) -> None:
        """Have it take effect between two turns, when the summary is there."""
        asked = self._asked
        await self._written()
        if self._is_stale() or (asked and not self._asked):  # it took effect, or was stopped
            return
        if not self._asked:
            await self._begin_ahead()
            await self._written()
        spec = self._state.roles.get(self._state.status.role)
        if spec is not None and not self._state.status.busy:
            await self._take_effect(spec, "", idle=True)

    def _is_stale(self) -> bool:
        """What was begun is of a conversation that was cleared or rewound since: it is let go."""
        if self._covers is None or _behind(self._requests.history.entries, self._covers):
            return False
        if self._job is not None:
            self._job.cancel()
        self._job = None
        self._let_go()
        return True

    def _let_go(self) -> None:
        """What was written for it is not needed any more."""
        self._prose = self._fault = self._wish = ""
        self._covers, self._asked, self._state.status.compacting = None, False, False

    # -- what

    def _room(self, spec: RoleSpec) -> int:
        """Tokens, as they are estimated, that the conversation has beside the instructions."""
        room = self._writes(spec)
        return max(room - self._window.head_tokens, room // 4)

    def _writes(self, spec: RoleSpec) -> int:
        """Tokens, as they are estimated, of a request to this model."""
        return int((self._window.room(spec) or _UNKNOWN_ROOM) / self._window.scale(spec).factor)

    async def _cut(self, spec: RoleSpec) -> int:
        """How many items go, what was summarised first; 0 also where they changed meanwhile."""
        history, room = self._requests.history, self._room(spec)
        entries, rewritten = [*history.entries], history.rewritten
        ahead = self._ahead(entries)
        if ahead and (self._asked or sum(map(tokens_in, entries[ahead:])) <= room * _GROWN):
            return ahead
        work = cutting(entries, int(room * _KEPT), tokens_in)
        at = await self._state.input_first.do(work, self._ports.clock.now)
        same = history is self._requests.history and rewritten == history.rewritten
        return at if same else 0

    def _ahead(self, entries: Sequence[HistoryEntry]) -> int:
        """How many items were summarised ahead."""
        return 0 if self._covers is None else _behind(entries, self._covers)

    async def _take_effect(self, spec: RoleSpec, prompt: str, *, idle: bool = False) -> None:
        async with self._alone:
            history = self._requests.history
            entries = history.entries
            if not self._may():
                return
            at = await self._cut(spec)
            if at <= history.is_compacted:
                return
            prose = self._prose or prose_in(self.text)
            last = entries[at - 1]
            before = self._window.wanted(spec, self._requests.last_head)
            facts = self._facts()
            now = self._ports.clock.now
            certain = await self._state.input_first.do(facts, now)
            turn = self._turn_before(entries, at)
            text = compacted(certain, prose, turn, int(self._room(spec) * _WRITTEN * _CHARS))
            stands = [one is last for one in history.entries[at - 1 : at]] == [True]
            stale = history is not self._requests.history or not stands
            if stale or (idle and self._state.status.busy):
                return
            summary = HistoryEntry("summary", user_item(text), turn=turn)
            stays = _map_in(entries[:at], self._room(spec))
            anew = [summary, *stays, *_asked_in(entries, at, prompt)]
            was, is_now = (sum(map(tokens_in, some)) for some in (entries[:at], anew))
            if self._asked and is_now >= was:
                self._let_go()
                how = f"the summary would have {is_now:,} tokens, what it stands for has {was:,}"
                self._state.note(0, f"nothing was compacted: {how}")
                return
            history.compact(at, anew)
            self._requests.begin_anew()
            self._last = history.entries[-1]
            self._say(turn, before, self._window.wanted(spec, self._requests.last_head))
            self._told = False
            self._let_go()

    def _say(self, turn: int, before: int, after: int) -> None:
        words = f"up to turn {turn} a summary is sent from now on, with all that is certain"
        words += f": about {before:,} tokens became {after:,}; /compact show shows it"
        if self._fault:
            lacks = "not all of" if self._prose else "without"
            words += f"\n{lacks} what was said in prose: {self._fault}"
        self._state.meter.estimate_context(after)
        self._state.metered()
        self._state.note(0, words)

    def _turn_before(self, entries: Sequence[HistoryEntry], at: int) -> int:
        """The number of the last turn of which something goes."""
        if known := max((one.turn for one in entries[:at] if one.kind != "summary"), default=0):
            return known
        behind = sum(entry.kind == "prompt" for entry in entries[at:])
        numbers = [one.turn for one in self._blocks() if one.kind is BlockKind.USER]
        return numbers[-1 - min(behind, len(numbers) - 1)] if numbers else 0

    def _blocks(self) -> list[Block]:
        """Of this conversation, from the last /clear on."""
        blocks = self._state.transcript.blocks
        for at in range(len(blocks) - 1, -1, -1):
            if blocks[at].kind is BlockKind.NOTE and blocks[at].text == FORGOTTEN:
                return blocks[at + 1 :]
        return blocks

    def _facts(self) -> Work[list[KnownFacts]]:
        """All that is known for certain, each kind with its oldest thing first."""
        out, workspace = self.rewound(), self._state.workspace
        blocks = [one for one in self._blocks() if one.turn not in out]
        prompts = [b for b in blocks if b.kind is BlockKind.USER]
        runs = [b for b in blocks if b.kind is BlockKind.RUN and b.state != "open"]
        first = prompts[0].turn if prompts else 0
        open_ones, accepted, rejected = list[str](), list[str](), list[str]()
        paths = dict[str, list[Hunk]]()
        for hunk in islice(reversed(workspace.hunks), MOST_LINES):
            if hunk.turn < first and hunk.decision is not Decision.PENDING:
                break
            if hunk.decision is Decision.REJECTED and hunk.turn in out:
                continue
            line = self._hunk_line(hunk)
            if hunk.decision is Decision.REJECTED:
                rejected.append(line)
            elif hunk.decision is Decision.ACCEPTED:
                accepted.append(line)
            elif hunk.undecided or hunk.placeable:
                open_ones.append(line)
            paths.setdefault(hunk.path, []).append(hunk)
            yield 1
        account = HunkAccount(workspace.documents, self._open_files.privacy)
        files = []
        for path, hunks in paths.items():
            files.append((yield from account.file(path, hunks)))
            yield 50
        more = [one for give in self.more for one in give()]
        notes = [_note_line(note) for note in workspace.notes if not note.by_model]
        return [
            KnownFacts("What the user asked", [f"turn {b.turn}: {b.text}" for b in prompts]),
            KnownFacts("Notes of the user on lines", notes),
            *more,
            KnownFacts("Hunks that the user rejected", rejected[::-1]),
            KnownFacts("Hunks that the user accepted", accepted[::-1]),
            KnownFacts("Files that were changed, as they are now", files[::-1]),
            KnownFacts("Commands that ran", [_run_line(b) for b in runs if b.report is None]),
            KnownFacts("Verdicts of tests", [_verdict(b) for b in runs if b.report is not None]),
            KnownFacts("Hunks that wait for the user", open_ones[::-1]),
        ]

    def _hunk_line(self, hunk: Hunk) -> str:
        documents = self._state.workspace.documents
        private = bool(self._open_files.privacy(hunk.path))
        words = hunk_words(documents, hunk, private=private)
        if hunk.decision is Decision.REJECTED and hunk.start is not None:
            words = f"was at {row_words(hunk.start.line, hunk.start.line + 1)}; {words}"
        line = f"turn {hunk.turn}, hunk {hunk.id}, {shown(hunk.path)}: {words}"
        if private or hunk.decision is not Decision.REJECTED:
            return line
        wanted = hunk.agent.strip("\n")
        return f"{line}\nit was to be:\n{wanted[:300]}" if wanted else line

    # -- the summary

    def _last_turn(self) -> int:
        """How many items there are before the last turn."""
        return finished(cutting(self._requests.history.entries, -1, tokens_in, whole=True))

    async def _begin_ahead(self) -> None:
        """Begin with what would go now, if there is so much."""
        spec = self._state.roles.get(self._state.status.role)
        if spec is not None:
            self._begin(await self._cut(spec))

    def _begin(self, at: int, wish: str = "") -> bool:
        """Have the first items summarised in the background; False: nothing would go."""
        if self._job is not None and not self._job.done():
            return True
        entries = self._requests.history.entries
        ahead = self._ahead(entries)
        first = ahead or int(self._requests.history.is_compacted)
        if at <= first:
            return ahead > 0
        earlier = self._prose if ahead else prose_in(self.text)
        self._covers, said = entries[at - 1], entries[first:at]
        self._job = self._supervisor.start(self._write(said, earlier, wish), "the summary")
        return True

    async def _written(self, *, says: bool = False) -> None:
        """Wait for the summary that is being written, but not for ever.

        ``says``: a request waits for it, and so does the user, who is told why.
        """
        if (job := self._job) is None:
            return
        if says and (await asyncio.wait([job], timeout=SOON_S))[1]:
            what = "the request waits for a summary of what was said first"
            self._state.note(self._requests.history.turn, f"{what}, at most {WAIT_S:.0f} s")
        _, late = await asyncio.wait([job], timeout=WAIT_S)
        if late:
            self._enough()
            _, late = await asyncio.wait([job], timeout=GRACE_S)
        if late:
            job.cancel()
            self._fault = _LATE
        if self._job is job:
            self._job = None

    async def _write(self, entries: list[HistoryEntry], earlier: str, wish: str) -> None:
        self._prose, self._fault = earlier, ""
        now = self._ports.clock.now
        pieces = await self._state.input_first.do(prose_of(entries), now)
        spec = self._writer(sum(map(len, pieces)))
        if spec is None:
            self._fault = "the rehearsal writes no summaries"
            return
        room = self._writes(spec)
        for tries_left in reversed(range(_TRIES)):
            self._prose, self._fault = earlier, ""
            await self._write_in_parts(spec, room, pieces, wish)
            if not (tries_left and is_too_long(self._fault, self._fault)):
                return
            room = min(window_told(self._fault) or room, room // 2)

    async def _write_in_parts(
        self, spec: RoleSpec, room: int, pieces: Sequence[str], wish: str
    ) -> None:
        """Have it written by a model that has so much room, on top of the earlier one."""
        chars = int(room * _CHARS * (1 - 2 * _PROSE))
        words = min(_MOST_WORDS, int(room * _PROSE / 2))
        for part in _parts(pieces, max(chars - len(self._prose), chars // 2)):
            said, fault = await self._answer(spec, request_text(part, self._prose, wish), words)
            refused = fault_of(said)
            self._fault = self._fault or fault or refused
            if refused:
                return
            whole = added(self._prose, said) if fault else said
            self._prose = whole.strip()[: int(chars * _PROSE)]
            if fault == _LATE:
                return

    def _writer(self, chars: int) -> RoleSpec | None:
        """A model that has room for so much, else the one with the most."""
        found = [one for one in self._state.roles.values() if one.endpoint != REHEARSAL]
        rooms = {one.role: self._writes(one) for one in found}
        for one in found:
            if chars / _CHARS < rooms[one.role] * (1 - 2 * _PROSE):
                return one
        return max(found, key=lambda one: rooms[one.role], default=None)

    async def _answer(self, spec: RoleSpec, text: str, words: int) -> tuple[str, str]:
        """What a model says to one message; and why that is not whole, if it is not."""
        wire = self._ports.wires(spec.endpoint, LANE)
        left, answer = (
            _WrittenSummary(words, lambda response: self._pay(spec, response)) for _ in range(2)
        )
        self._enough = lambda: answer.end(_LATE)
        asked = ASKED.format(words=words)
        body = {"model": spec.model, "instructions": asked, "input": [user_item(text)]}
        try:
            async with asyncio.timeout(WAIT_S):
                if wire.busy:  # one that was let go: its end is not the end of this one
                    wire.on_event, wire.on_state = left.heard, left.stated
                    await left.over
                wire.on_event, wire.on_state = answer.heard, answer.stated
                await wire.open()
                wire.create({**body, "store": False})
                fault = await answer.over
        except (DuettoError, TimeoutError) as error:
            fault = str(error) or _LATE
        finally:
            if wire.busy:
                wire.interrupt()
        said = answer.written.whole() if fault else "".join(answer.said)
        return inert(said, PROSE), fault  # the user's editor shows it, too

    def _pay(self, spec: RoleSpec, response: Mapping[str, object]) -> None:
        """It costs what any answer does: the session's, not the turn's."""
        usage, ask = events.usage_of(dict(response)), self._ports.quote
        if usage is None or ask is None:
            return

        async def pay() -> None:
            quote = await ask(spec.endpoint, (spec.model,), usage, "")
            self._state.meter.paid(0, quote.usd, unknown=quote.unknown)
            self._state.witness.paid(self._requests.history.turn, quote)
            self._state.metered()

        self._supervisor.start(pay(), "the price")


class _WrittenSummary:
    """A model's answer to one message, while it comes."""

    def __init__(self, words: int, pays: Callable[[Mapping[str, object]], None]) -> None:
        self.over: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Why it is not whole; empty: it is."""
        self.said: list[str] = []
        self.written = Summary(words)
        self._pays = pays

    def end(self, why: str) -> None:
        """Nothing more of it is wanted, or comes."""
        if not self.over.done():
            self.over.set_result(why)

    def heard(self, event: Event, now: float) -> None:
        """Take in what the server says."""
        match event:
            case events.TextDelta(delta=delta):
                if enough := self.written.take(delta):
                    self.end(enough)
            case events.ItemDone(item=item) if item.get("type") == "message":
                self.said.append(message_text(item))
            case events.Completed(response=response):
                output = response.get("output")
                items = output if isinstance(output, list) and not self.said else []
                self.said += [message_text(one) for one in items if isinstance(one, dict)]
                self._pays(response)
                self.end("")
            case events.Incomplete(response=response):
                self._pays(response)
                self.end("it was cut")
            case events.Failed() | events.ErrorEvent():
                self.end(event.message or event.code or "the server did not say why")

    def stated(self, state: WireState, why: str) -> None:
        """The connection is another one."""
        if state == "closed":
            self.end(why or "the connection was lost")


def _behind(entries: Sequence[HistoryEntry], covers: HistoryEntry) -> int:
    """How many entries there are up to this one; 0: it is gone."""
    return next((at for at, one in enumerate(entries, 1) if one is covers), 0)


def _map_in(entries: Sequence[HistoryEntry], room: int) -> list[HistoryEntry]:
    """The map of the project, which is told once, where there is room for it."""
    found = [one for one in entries if one.kind == "note" and one.text.startswith(MAP_TITLE)]
    return [one for one in found[-1:] if tokens_in(one) < room * _MAP]


def _asked_in(entries: Sequence[HistoryEntry], at: int, prompt: str) -> list[HistoryEntry]:
    """Of a turn that is cut in two, what the user said in it before."""
    if at < len(entries) and entries[at].kind not in ("output", "answer", "cut"):
        return []
    asked: list[HistoryEntry] = []
    for entry in reversed(entries[:at]):
        if entry.kind == "prompt":
            asked.insert(0, entry)
            if entry.text == prompt or not prompt:
                return asked
    return asked[-1:]


def _parts(pieces: Iterable[str], chars: int) -> Iterable[list[str]]:
    """The pieces, as many at a time as fit."""
    part, size = list[str](), 0
    for piece in (one[at : at + chars] for one in pieces for at in range(0, len(one), chars)):
        if part and size + len(piece) > chars:
            yield part
            part, size = [], 0
        part.append(piece)
        size += len(piece) + 1
    if part:
        yield part


def _note_line(note: Note) -> str:
    where = shown(note.path) if note.row is None else f"{shown(note.path)}, line {note.row + 1}"
    return f"{where}: {note.text}"


def _run_line(block: Block) -> str:
    how = {"done": "ended well", "failed": "failed", "cut": "was stopped"}[block.state]
    turn = f"turn {block.turn}: " if block.turn else ""
    return f"{turn}{block.title}: {how}"


def _verdict(block: Block) -> str:
    report = block.report
    known = "" if report is None else _failed("failed before, too", report.known)
    if report is None or block.state == "done":
        return f"{block.title}: {known or 'passed'}"
    if report.fault:
        return f"{block.title}: could not judge: {report.fault}"
    failed = _failed("failed", report.failed) or "failed"
    return f"{block.title}: {failed}" + f"; {known}" * bool(known)


def _failed(how: str, failed: Sequence[FailedTest]) -> str:
    """What failed in this way, by name; empty: nothing."""
    names = first_of([one.name for one in failed], 10)
    return f"{how}: {names}" if names else ""

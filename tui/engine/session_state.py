"""What the front end sees: transcript, status, meter, questions, and notices of what changed.

Everything here is synchronous and cheap: a delta marks a block, and `on_wake` is called once
when the notices go from empty to non-empty. A key goes first: until it shows, what streams and
decisions on very many hunks stand aside (`InputFirst`). What streams is not even read from the
network then, nor while what was read before still waits.
"""

from __future__ import annotations

import asyncio
from asyncio import Future, get_running_loop
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from tui.core.conversation import Block, BlockKind, BlockState, Transcript
from tui.core.document.hunk import Hunk
from tui.core.document.workspace import Workspace
from tui.core.meter import Meter
from tui.core.price import Quote
from tui.core.run_report import RunReport
from tui.engine.intents import Against, Intent, Role
from tui.engine.notices import Ask, Notices, Status, Trouble

if TYPE_CHECKING:
    from tui.core.conversation import HistoryEntry
    from tui.core.document.past_texts import Swap
    from tui.core.programs import RunResult
    from tui.core.session_record import Rewound
    from tui.core.steps import Work
    from tui.engine.ports import RoleSpec


class Questions:
    """The questions that are open; `Status.asks` shows them."""

    def __init__(
        self, status: Status, changed: Callable[[], None], state: SessionState | None = None
    ) -> None:
        """``changed`` is called whenever there is one more or one less."""
        self._status = status
        self._state = state
        self._changed = changed
        self._answers: dict[int, Future[str]] = {}
        self._count = 0
        self.nobody: Callable[[Ask], None] | None = None
        """Nobody is there: each is refused at once, and told here."""

    def ask(
        self,
        question: str,
        detail: str,
        choices: tuple[str, ...],
        *,
        command: str = "",
        letters: str = "",
    ) -> Future[str]:
        """Ask the user; the future's result is one of the choices. Cancelled: taken back.

        ``letters``: a key for each choice, instead of numbers.
        Behind the refusal of a ``command`` stand, below a newline, what the user said with it.
        """
        self._count += 1
        answer: Future[str] = get_running_loop().create_future()
        ask = Ask(self._count, question, detail, choices, command, bool(command), letters)
        if self.nobody is not None:
            self.nobody(ask)
            answer.set_result(choices[-1])
            return answer
        self._answers[self._count] = answer
        self._status.asks.append(ask)
        answer.add_done_callback(partial(self._gone, self._count))
        self._changed()
        return answer

    def answer(self, ask_id: int, choice: str, words: str = "") -> None:
        """The user answered; an answer that is not among the choices is the refusal."""
        answer = self._answers.get(ask_id)
        ask = next((a for a in self._status.asks if a.id == ask_id), None)
        if answer is None or ask is None or answer.done():
            return
        refusal = ask.choices[-1]
        choice = choice if choice in ask.choices else refusal
        said = words.strip() if ask.takes_words and choice == refusal else ""
        if self._state is not None:
            self._state.witness.answers(ask, f"{choice}: {said}" if said else choice)
        answer.set_result(f"{choice}\n{said}" if said else choice)
        self._retract(ask_id)

    def _gone(self, ask_id: int, answer: Future[str]) -> None:
        self._retract(ask_id)

    def _retract(self, ask_id: int) -> None:
        if self._answers.pop(ask_id, None) is not None:
            self._status.asks = [ask for ask in self._status.asks if ask.id != ask_id]
            self._changed()


T = TypeVar("T")
SLICE_S = 0.004
REST_S = 0.002
"""Long work goes on for so long, then rests for so long, as a key takes several turns of the event
loop until it is painted."""
MOST_S = 0.05
"""A key that changes nothing on the screen holds nothing up for longer."""
_STOPPING = ("escape", "ctrl+c", "enter")
"""These may stop the answer: what has come till then lands before, so that nothing is lost."""


class InputFirst:
    """Whether a key is on its way to the screen; the front end says so, work in slices asks."""

    def __init__(self) -> None:
        self.untaken = False
        """No widget has taken it yet: frames wait."""
        self.unshown = False
        """It is not painted yet: all that is done in slices waits."""
        self.full: set[object] = set()
        """Those who hold enough of what was read."""
        self.on_taken: Callable[[], None] = lambda: None
        """Called when it was taken: what it changed can be painted."""
        self._shown = asyncio.Event()
        self._until: asyncio.TimerHandle | None = None

    def holds_reading(self) -> bool:
        """Whether what streams is better left where it is."""
        return self.untaken or self.unshown or bool(self.full)

    def came(self, key: str, loop: asyncio.AbstractEventLoop) -> None:
        """A key was read."""
        self.untaken = True
        self.unshown |= key not in _STOPPING
        self._shown.clear()
        if self._until is None:
            self._until = loop.call_later(MOST_S, self._over)

    def taken(self) -> None:
        """A widget, or a binding, did what it means."""
        self.untaken = False
        self.on_taken()

    def shown(self) -> None:
        """What had the focus was painted; a key that was not taken by then is not on it."""
        if not self.untaken:
            self._over()

    def _over(self) -> None:
        """It is shown, or takes too long."""
        self.untaken = self.unshown = False
        self._shown.set()
        if self._until is not None:
            self._until.cancel()
            self._until = None

    async def do(self, work: Work[T], now: Callable[[], float]) -> T:
        """Work in slices between which keys are taken; ``now`` gives seconds."""
        until = now() + SLICE_S
        while True:
            try:
                next(work)
            except StopIteration as end:
                found: T = end.value
                return found
            if now() > until:
                await asyncio.sleep(REST_S)
                await self.pass_by()
                until = now() + SLICE_S

    async def pass_by(self) -> None:
        """Return when a key that is on its way is painted, after `MOST_S` at the latest."""
        if self.unshown:
            await self._shown.wait()


class Witness:
    """Who is told what happens, before it takes effect; this one keeps nothing."""

    def stirs(self) -> None:
        """Something has changed, in the conversation or of hunks."""

    def wanted(self, intent: Intent) -> None:
        """The user wants something; it has not begun."""

    def answers(self, ask: Ask, choice: str) -> None:
        """The user answers a question."""

    def turn_begins(self, number: int, text: str, spec: RoleSpec, effort: str, tier: str) -> None:
        """A prompt is shown, and about to be sent."""

    async def kept(self) -> None:
        """Return when what was told before outlives a power cut, as far as it is kept at all."""

    def request_leaves(self, turn: int, body: Mapping[str, object], usd: float = 0.0) -> None:
        """A request is about to be sent, which costs at least so many US dollars."""

    def paid(self, turn: int, quote: Quote) -> None:
        """What a response of a turn cost; it may come when the turn is over."""

    def keeps_image(self, data: bytes) -> None:
        """These bytes go with the next request; may be called in a thread."""

    def happens(self, turn: int, what: str, detail: str = "") -> None:
        """Something of a turn that is worth knowing later (see `Happened`)."""

    def turn_ends(self, turn: int, outcome: str, *, beside: bool = False) -> None:
        """A turn is over; ``beside``: a lane did it, and the meter knows nothing of it."""

    def forgets(self) -> None:
        """A new conversation begins: the model is told nothing of what was said."""

    def rewinds(
        self,
        told: Rewound,
        cut: Sequence[HistoryEntry],
        swaps: Sequence[Swap],
        summary: HistoryEntry | None,
    ) -> Rewound:
        """Turns are about to be taken back; returns that with what is stored of these.

        ``summary`` goes: what it stood for stands itself now.
        """
        return told

    def rewound(self, number: int, *, done: bool) -> None:
        """A rewind is on the disk; not ``done``: it was taken back."""

    def decided(self, *, writing: bool = False) -> None:
        """Hunks were decided on; ``writing``: and the disk is about to follow."""

    def written(self, paths: Iterable[str]) -> None:
        """These files lie on the disk as they should."""

    def noted(self) -> None:
        """The notes on lines are others now."""

    def command_begins(self, line: str, call_id: str, confined: str, consent: str) -> int:
        """A command is about to run; its number."""
        return 0

    def command_ends(self, number: int, result: RunResult) -> None:
        """It has ended."""

    def judged(self, command: str, verdict: str, seconds: float, report: RunReport) -> None:
        """The tests ran; no ``command``: all that judges the project has."""


Place = tuple[str, int, int]
"""Path, line and column, 0-based."""


def _nothing() -> None:
    """Before a front end is there, nobody is woken."""


class SessionState:
    """The engine's side of the notice board."""

    def __init__(self, workspace: Workspace, input_first: InputFirst | None = None) -> None:
        self.workspace = workspace
        self.transcript = Transcript()
        self.status = Status()
        self.meter = Meter()
        self.roles: Mapping[Role, RoleSpec] = {}
        """Which model answers for each."""
        self.on_wake: Callable[[], None] = _nothing
        self.before_drain: list[Callable[[], None]] = []
        """Called once a drain: work that is due once a frame, not once a delta."""
        self.before_request: list[Callable[[int], None]] = []
        """Called with the turn's number in the moment in which a request of it leaves."""
        self.after_turn: list[Callable[[int, str, str], None]] = []
        """Told a turn's number, its prompt and how it ended."""
        self.keeps_cut = False
        """What was cut stays, though a request leaves: the answer to it goes on with it."""
        self.before_turn: list[Callable[[int], None]] = []
        """Called with its number before a turn begins."""
        self.after_verdict: list[Callable[[str], None]] = []
        """Told what the verifiers said of the screen; of a part of them only that it failed."""
        self.inspected: Callable[[int], None] = lambda turn: None
        """Told of a turn that is over, and was to find something in a difference."""
        self.input_first = input_first or InputFirst()
        self.questions = Questions(self.status, self.restated, self)
        self.witness = Witness()
        self.unkept: set[int] = set()
        """Indexes of the blocks that have changed since somebody kept them."""
        self.deciding_alone = False
        """The decisions that are being made are duetto's own: nobody looked."""
        self._landing_turn = 0
        self._notices = Notices()
        self._awake = False
        self._hunks_revision = workspace.hunks_revision

    def drain(self) -> Notices:
        """What changed since the last drain."""
        for due in self.before_drain:
            due()
        notices, self._notices = self._notices, Notices()
        if self._awake:
            self.witness.stirs()
        self._awake = False
        notices.buffers |= self.workspace.touched()
        if self.workspace.hunks_revision != self._hunks_revision:
            self._hunks_revision = self.workspace.hunks_revision
            notices.hunks = notices.tabs = True
        notices.tabs |= bool(notices.buffers)
        return notices

    def wake(self) -> None:
        """Something changed: have the front end drain, once."""
        if not self._awake:
            self._awake = True
            self.on_wake()

    def wake_again(self) -> None:
        """A front end came: it has not heard of what waits."""
        if self._awake:
            self.on_wake()

    def add(self, block: Block, text: str = "") -> Block:
        """Append a block to the conversation."""
        if text:
            block.append(text)
        self._changed_from(self.transcript.add(block))
        return block

    def read_earlier(self, blocks: list[Block]) -> None:
        """Blocks that were not read yet are there now: the first ones."""
        self.transcript.blocks[: len(blocks)] = blocks
        self._notices.transcript_from = 0
        self.wake()

    def note(self, turn: int, text: str, state: BlockState = "done") -> Block:
        """Say in the conversation what happened."""
        return self.add(Block(BlockKind.NOTE, turn, state=state), text)

    def append(self, block: Block, text: str) -> None:
        """Add text to a block; O(1) for the newest blocks."""
        block.append(text)
        self.changed(block)

    def close(self, block: Block, state: BlockState = "done") -> None:
        """A block is finished."""
        if block.state == "open":
            block.state = state
            self.changed(block)

    def half_written(self, turn: int) -> list[Block]:
        """What the turn's newest answer left half-written; what was whole stands."""
        found: list[Block] = []
        for block in reversed(self.transcript.blocks):
            if block.turn != turn or block.kind in (BlockKind.USER, BlockKind.NOTE):
                break
            if block.kind is BlockKind.TEXT and block.state == "cut":
                found.append(block)
        return found

    def supersede(self, blocks: list[Block]) -> None:
        """These broke off, and the same is said again."""
        for block in blocks:
            block.state = "failed"
            self.changed(block)

    def changed(self, block: Block) -> None:
        """A block of the conversation changed."""
        blocks = self.transcript.blocks
        index = len(blocks) - 1
        while index > 0 and blocks[index] is not block:
            index -= 1
        self._changed_from(index)

    @contextmanager
    def tool_time(self, now: Callable[[], float]) -> Iterator[None]:
        """A tool is at work, which the meter counts apart."""
        self.meter.tool(now(), begins=True)
        try:
            yield
        finally:
            self.meter.tool(now(), begins=False)

    def metered(self) -> None:
        """The meter moved."""
        self._notices.meter = True
        self.wake()

    def landed(self, path: str, line: int, hunk: Hunk | None = None) -> None:
        """The model wrote here, in this hunk."""
        self._notices.landing = (path, line)
        if hunk is not None and hunk.path == path:
            self.meter.wrote(hunk, line)
        if hunk is not None and hunk.turn != self._landing_turn:
            self._landing_turn = hunk.turn
            self.witness.happens(hunk.turn, "hunk", hunk.path)
        self.wake()

    def hunks_changed(self) -> None:
        """Stages, decisions or texts changed in the workspace."""
        self._notices.hunks = True
        self.wake()

    def restated(self) -> None:
        """The status changed."""
        self._notices.status = True
        self.wake()

    def retabbed(self) -> None:
        """Open files, the active one or their saved state changed."""
        self._notices.tabs = self._notices.status = True
        self.wake()

    def touched(self, path: str) -> None:
        """The text of a file changed."""
        self._notices.buffers.add(path)
        self._notices.tabs = True
        self.wake()

    def goto(self, place: Place, *, aside: bool = False) -> None:
        """Show this place: the user asked for it.

        ``aside``: once its file is shown; another one is the active one.
        """
        if aside:
            self._notices.gotos_before.append(place)
        else:
            self._notices.goto = place
        self.wake()

    def show_diff(self, path: str, against: Against) -> None:
        """Show a file (empty: the active one) in a diff view: the user asked for it."""
        self._notices.diff = (path or self.status.active_path, against)
        self.wake()

    def folders_changed(
        self, folders: Collection[str] = (), *, git: bool = False, listing: bool = False
    ) -> None:
        """Files came or went in these folders, or what git says or the list of all is new."""
        self._notices.folders.update(folders)
        self._notices.git |= git
        self._notices.listing |= listing
        self.wake()

    def trouble(self, trouble: Trouble) -> None:
        """Tell the user that something went wrong."""
        self._notices.troubles.append(trouble)
        self.wake()

    def spec_now(self, role: Role) -> RoleSpec:
        """Which model answers for a role, with the effort and the tier that the user wants now."""
        spec, status = self.roles[role], self.status
        effort, tier = status.efforts.get(role, spec.effort), status.tiers.get(role, spec.tier)
        return replace(spec, effort=effort, tier=tier)

    def warn(self, what: str, why: str = "", next_step: str = "") -> None:
        """Tell the user why something that was asked for is not done."""
        self.trouble(Trouble(what, why, next_step, severity="warning"))

    def _changed_from(self, index: int) -> None:
        self.unkept.add(index)
        first = self._notices.transcript_from
        if first is None or index < first:
            self._notices.transcript_from = index
        self.wake()

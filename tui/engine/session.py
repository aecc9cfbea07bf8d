"""The facade of the engine: intents in, notices out.

`Session.submit` is synchronous: when it returns from an `Interrupt` the buffers stand still.
A front end sets `on_wake`, and drains once a frame; it reads transcript, workspace, meter and
status directly and never writes them, except for the user's typing (`Workspace.edit`).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from tui.core.edits.workspace import Workspace
from tui.core.meter import Meter
from tui.core.text.buffer import Position
from tui.core.turn import Transcript
from tui.core.unsaved import Unsaved
from tui.core.wire.endpoint_facts import SocketView
from tui.engine import intents
from tui.engine.backlog import Backlog
from tui.engine.board import Board
from tui.engine.deciding import Deciding
from tui.engine.desk import Desk, Selection
from tui.engine.diffs import Diffs
from tui.engine.file_consent import SEND
from tui.engine.folders import Folders
from tui.engine.formatting import Formatting
from tui.engine.input_first import InputFirst
from tui.engine.intents import Intent, Role
from tui.engine.keeping import Keeping
from tui.engine.kit import Kit
from tui.engine.memory import Memory
from tui.engine.notices import Notices, Status, Trouble
from tui.engine.pair import Pair
from tui.engine.ports import Abilities, Files, Ports, RoleSpec
from tui.engine.requests import Requests
from tui.engine.rescuing import Rescuing, unsaved_of
from tui.engine.saving import Saving
from tui.engine.supervisor import Supervisor
from tui.engine.tools import Tools
from tui.engine.verification import Verification
from tui.errors import DuettoError

PromptLabel = Literal["send", "redirect", "queue"]
AltLabel = Literal["steer", "queue"]


@dataclass(frozen=True, slots=True)
class Options:
    """How a session behaves."""

    save: Literal["on-accept", "manual"] = "on-accept"
    round_limit: int = 40
    """Responses a turn before it is stopped."""
    suggest: Callable[[], str] | None = None
    """The one to offer now; None: the first that was not asked for yet."""
    first_role: Role = "fast"
    conversation: str = ""
    """Names the conversation to the servers' caches; empty: a random name."""
    prompts: tuple[str, ...] = ()
    """Prompts to offer (the practice workspace's exercises)."""
    ask: bool = False
    """Somebody is there to choose where an ambiguous section goes; else it is refused."""
    ambiguous: Literal["ask", "first", "reject"] = "ask"
    """Of a section that fits in several places: ask (if somebody is there), the first, none."""
    linked: bool = False
    """Hard links are written without asking, and sent if a name is outside or ignored."""
    in_slices: bool = False
    """Keys are to be answered while very many hunks are decided on."""
    auto_accept: bool = False
    """Accept a patch's hunks at its end, but for those that a person must look at."""
    chaining: bool = True
    """Continue with ``previous_response_id`` where the protocol allows it."""


class Session:
    """One conversation over one workspace."""

    def __init__(
        self, ports: Ports, roles: Mapping[Role, RoleSpec], options: Options | None = None
    ) -> None:
        """Nothing is dialled or read before `run` or the first intent."""
        self.options = options or Options()
        self._ports = ports
        self._board = Board(_workspace(ports.files, self.options))
        self.status.models = {role: spec.model for role, spec in roles.items()}
        self.status.efforts = {role: spec.effort for role, spec in roles.items()}
        self.status.tiers = {role: spec.tier for role, spec in roles.items()}
        self.status.same_tiers = {role: spec.same_tiers for role, spec in roles.items()}
        self.status.prompts = list(self.options.prompts)
        self.status.role = self.options.first_role
        if self.options.linked:
            ports.consents.add(SEND.consent)
        self._desk = Desk(self._board, ports)
        kit = self._kit()
        self._supervisor = kit.supervisor
        self._pair = Pair(
            kit, roles, round_limit=self.options.round_limit, suggest=self.options.suggest
        )
        self._saving = Saving(kit, self.options.ask, linked=self.options.linked)
        self.formatting = Formatting(kit, self._saving.changes)
        """Runs after a save; who ends right after one waits for it."""
        self._saving.on_written = self.formatting.written
        self.written_later = self._saving.written_later
        self.writes_wait = self._saving.later.__bool__
        """True while the formatter or a question holds writes up."""
        self._deciding = Deciding(
            self._board,
            self._saving,
            self.options.save,
            can_ask=self.options.ask,
            in_slices=self.options.in_slices,
        )
        self._deciding.on_decided = Memory(kit).decided
        self.status.auto_accept = self.options.auto_accept
        self._verification = Verification(kit, self._send)
        self.keeping = Keeping(kit, lambda: self._pair.unsent)
        """Keeps what is typed; the screen tells it of the prompt."""
        self.keeping.deciding = lambda: self._deciding.at_work
        self._rescuing = Rescuing(kit, self.keeping.at_once)
        self._looking: list[asyncio.Task[None]] = []
        """What is looked for at the start: how an earlier duetto ended."""
        self.folders = Folders(kit)
        """The workspace's folders, for the file tree."""
        self.diffs = Diffs(kit)
        """What files are compared with, for `intents.ShowDiff`."""
        self._board.before_turn.append(self.diffs.turn_begins)

    @property
    def workspace(self) -> Workspace:
        """The open files and all hunks."""
        return self._board.workspace

    @property
    def transcript(self) -> Transcript:
        """The conversation."""
        return self._board.transcript

    @property
    def meter(self) -> Meter:
        """Tokens/s and friends: call ``view(now)``."""
        return self._board.meter

    @property
    def status(self) -> Status:
        """The state in a few words."""
        return self._board.status

    @property
    def input_first(self) -> InputFirst:
        """The front end says which keys are on their way."""
        return self._board.input_first

    @property
    def on_wake(self) -> Callable[[], None]:
        """Called once when there is something to drain; schedule one frame."""
        return self._board.on_wake

    @on_wake.setter
    def on_wake(self, wake: Callable[[], None]) -> None:
        self._board.on_wake = wake
        self._board.wake_again()

    def now(self) -> float:
        """Monotonic seconds, for ``meter.view``."""
        return self._ports.clock.now()

    def submit(self, intent: Intent) -> None:
        """Do what the user asks; returns at once, never raises for what a user may ask."""
        if isinstance(intent, intents.UndoTurn) and self.status.busy:
            self._pair.handle(intents.Interrupt())
        if self._pair.handle(intent) or self._deciding.handle(intent):
            return
        if self._saving.handle(intent):
            return
        if self._rescuing.handle(intent, self._ports.rescue):
            return
        if not self._verification.handle(intent):
            self._look(intent)

    def drain(self) -> Notices:
        """What changed since the last drain, merged."""
        notices = self._board.drain()
        if notices.tabs or notices.status or notices.hunks:  # whatever is typed changes the tabs
            self.keeping.changed()
        return notices

    def warn(self, trouble: Trouble) -> None:
        """Tell the user of something outside the engine: a recording that ended, a wrong theme."""
        self._board.trouble(trouble)
        if trouble.noted:
            parts = (trouble.what, trouble.why, trouble.next_step)
            self._board.note(0, "\n".join(filter(None, parts)))

    @property
    def at_rest(self) -> bool:
        """Nothing runs that was asked for: no turn, no command, no formatter."""
        looking = self._saving.looking or not all(task.done() for task in self._looking)
        running = self._verification.active or self.formatting.running or looking
        running = running or self._deciding.at_work
        return not (running or self.status.busy or self.status.retry_s is not None)

    def prompt_label(self) -> PromptLabel:
        """What Enter in the prompt does now."""
        return "redirect" if self.status.busy else "send"

    def alt_label(self) -> AltLabel:
        """What Alt+Enter in the prompt does now."""
        return "steer" if self._pair.can_steer else "queue"

    def network(self) -> Sequence[SocketView]:
        """The sockets as figures, for ``/status``."""
        return tuple(self._ports.sockets())

    def abilities(self) -> Abilities:
        """What is known of the model that answers now and its endpoint."""
        return self._pair.abilities()

    def cursor(self, path: str, position: Position, selection: Selection | None = None) -> None:
        """Where the user's cursor is (cheap; call it whenever it moves)."""
        self._desk.cursor(path, position, selection)

    def touched(self, path: str) -> None:
        """The user typed in this file through `Workspace.edit`."""
        self._board.touched(path)

    def listing(self) -> list[str]:
        """All files that are neither ignored nor secret, sorted."""
        return self._desk.catalogue.paths()

    def unsaved(self, draft: str) -> Unsaved:
        """What would be lost if duetto ended now, ``draft`` being that of the prompt box."""
        return unsaved_of(self.workspace, draft, self._pair.unsent)

    async def run(self) -> None:
        """Dial ahead of the first prompt, watch the files; returns when that is set up."""
        self._supervisor.start(self._pair.dial(), "connecting")
        if self._ports.watch is not None:
            changed = self.folders.telling(self._saving.outside)
            self._supervisor.start(_watch(self._board, self._ports, changed), "watching files")
        if self._ports.journal is not None:
            looking = _look_back(self._board, self._ports, self._saving, ask=self.options.ask)
            self._looking.append(self._supervisor.start(looking, "looking for unfinished writes"))
        if self._ports.rescue is not None:
            looking = self._rescuing.look(self._ports.rescue)
            self._looking.append(self._supervisor.start(looking, "looking for rescued text"))

    async def close(self) -> None:
        """End tasks, commands and sockets."""
        await self._pair.close()
        await self.formatting.end()
        await self._supervisor.close()

    def _send(self, text: str) -> None:
        """Send a failure to the model, without interrupting it."""
        self.submit(intents.Queue(text) if self.status.busy else intents.Prompt(text))

    def _look(self, intent: Intent) -> None:
        match intent:
            case intents.OpenFile(path, line, col, aside, new):
                self._desk.open(path, line, col, aside=aside, new=new)
            case intents.CloseFile(path):
                self._desk.close(path)
            case intents.Answer(ask_id, choice):
                self._board.questions.answer(ask_id, choice)
            case _:
                raise TypeError(f"not an intent: {intent!r}")

    def _kit(self) -> Kit:
        ports, board, desk = self._ports, self._board, self._desk
        conversation = self.options.conversation or uuid.uuid4().hex
        requests = Requests(ports, desk, conversation, chaining=self.options.chaining)
        consent = partial(desk.consents.ask, SEND)
        bench = Tools(board.workspace, desk.catalogue, ports, desk.privacy, consent)
        return Kit(ports, board, desk, requests, bench, Supervisor(board), Backlog(board))


def _workspace(files: Files, options: Options) -> Workspace:
    asking = options.ask and options.ambiguous == "ask"
    workspace = Workspace(files.read, files.root, files.named_root, ask=asking)
    workspace.ledger.first = options.ambiguous == "first"
    workspace.ledger.names = files.listing
    return workspace


async def _watch(board: Board, ports: Ports, changed: Callable[[set[str]], None]) -> None:
    """Tell of the files that others change."""
    if ports.watch is None:
        return
    try:
        await ports.watch(changed)
    except DuettoError as error:
        step = "what others change is noticed when you save"
        board.trouble(Trouble("Files are not watched", str(error), step, severity="warning"))


async def _look_back(board: Board, ports: Ports, saving: Saving, *, ask: bool) -> None:
    """What an earlier duetto did not write to the end."""
    # imported after the first paint
    from tui.engine.unfinished import UnfinishedWrites

    if ports.journal is not None:
        await UnfinishedWrites(board, ports.files, saving.outside, ask).look(ports.journal)

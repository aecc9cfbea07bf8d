"""The facade of the engine: intents in, notices out.

`Session.submit` is synchronous: when it returns from an `Interrupt` the buffers stand still.
A front end sets `on_wake`, and drains once a frame; it reads transcript, workspace, meter and
status directly and never writes them, except for the user's typing (`Workspace.edit`).
"""

from __future__ import annotations

import asyncio
import functools
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from tui.core.document.workspace import Workspace
from tui.core.files import first_of
from tui.core.inert_text import brief, inert
from tui.core.text.change_set import Position
from tui.core.unsaved import Unsaved
from tui.core.wire.endpoint_facts import SocketView
from tui.engine import intents
from tui.engine.decisions import HunkDecisions, Memory
from tui.engine.diffs import Diffs, difference_from_head
from tui.engine.disk_changes import Folders
from tui.engine.foreground import Foreground, too_long
from tui.engine.formatting import Formatting
from tui.engine.intents import Intent, Role
from tui.engine.mapping import ProjectMapping
from tui.engine.model_commands import Commands
from tui.engine.notices import OVER, Notices, Status, Trouble
from tui.engine.open_files import SEND, OpenFiles, Selection
from tui.engine.ports import (
    Abilities,
    ModelOffers,
    Ports,
    RoleSpec,
    SessionArchive,
    SessionStore,
    WorkspaceFiles,
)
from tui.engine.requests import Requests
from tui.engine.rescue import Keeping, Rescuing, unsaved_of
from tui.engine.saving import Saving
from tui.engine.services import Backlog, Services
from tui.engine.session_options import SessionOptions as SessionOptions
from tui.engine.session_state import SessionState
from tui.engine.supervisor import Supervisor
from tui.engine.tools import WorkspaceTools
from tui.engine.verification import Verification
from tui.errors import DuettoError

if TYPE_CHECKING:
    from tui.engine.attempts import Attempts
    from tui.engine.budget import Budget
    from tui.engine.compaction import Compaction
    from tui.engine.delegating import Delegates
    from tui.engine.feeling import Feeling
    from tui.engine.hooks import Hooks
    from tui.engine.lane_session import BringingHome, LaneSessions
    from tui.engine.model_choice import ModelChoice
    from tui.engine.model_window import ModelWindow
    from tui.engine.noting import Noting
    from tui.engine.proposing import Proposing
    from tui.engine.recording import SessionRecording
    from tui.engine.redoing import Redoing
    from tui.engine.resuming import Resuming, Resumption
    from tui.engine.rewinding import Rewinding

PromptLabel = Literal["send", "redirect", "queue"]
AltLabel = Literal["steer", "queue"]


OF_CONVERSATION = (
    intents.Prompt,
    intents.Queue,
    intents.Steer,
    intents.Unqueue,
    intents.EditQueued,
    intents.HoldQueued,
    intents.Prewarm,
    intents.Switch,
    intents.SetEffort,
    intents.SetTier,
    intents.Throttle,
    intents.NewConversation,
)
OF_HUNKS = (
    intents.Accept,
    intents.Reject,
    intents.PlaceHunk,
    intents.UndoTurn,
    intents.StopDeciding,
    intents.SetAutoAccept,
    intents.ShowDiff,
)
OF_REDOING = (intents.RedoHunk, intents.StopRedoing)
OF_NOTES = (
    *(intents.PutNote, intents.TakeNotes, intents.DropNotes, intents.SendNotes),
    *(intents.AskChange, intents.AskOnly, intents.Inspect),
)
"""What is noted on lines, or asked about them."""
OF_SUMMARY = (intents.Compact, intents.StopCompacting, intents.EditSummary)
OF_ATTEMPTS = (intents.MakeAttempts, intents.StopAttempts, intents.TakeAttempt)
OF_DELEGATES = (intents.Delegate, intents.TendDelegate)
OF_REWINDING = (intents.Rewind, intents.Forward, intents.UndoDecision, intents.RedoDecision)


class Session:
    """One conversation over one workspace."""

    proposing: Proposing | None = None
    """Says which model should answer a draft; None: that is not wanted, or not yet."""

    def __init__(
        self,
        ports: Ports,
        roles: Mapping[Role, RoleSpec],
        options: SessionOptions | None = None,
        parent: Services | None = None,
    ) -> None:
        """Nothing is dialled before `run` or the first intent; ``parent``: if this is a lane."""
        self.options = chosen = options or SessionOptions()
        self._ports, self._parent = ports, parent
        first = parent.state.input_first if parent else None
        self._state = state = SessionState(_workspace(ports.files, self.options), first)
        self.workspace = state.workspace
        """The open files and all hunks."""
        self.transcript = state.transcript
        """The conversation."""
        self.meter = state.meter
        """Tokens/s and friends: call ``view(now)``."""
        self.status = state.status
        """The state in a few words."""
        self.input_first = state.input_first
        """The front end says which keys are on their way."""
        _introduce(self.status, ports, roles, chosen)
        self._open_files = OpenFiles(self._state, ports)
        services = self.services = self._services()
        """What the parts of it share."""
        self._supervisor, self.compaction = services.supervisor, services.compaction
        limits, suggest = chosen.limits, chosen.suggest
        self._foreground = Foreground(services, roles, limits=limits, suggest=suggest)
        self._saving = Saving(services, self.options.ask, linked=self.options.linked)
        self.formatting = Formatting(services, self._saving.changes)
        """Runs after a save; who ends right after one waits for it."""
        self._hook_up()
        services.requests.take_notes = lambda turn: self._noting.take(turn)
        self.written_later = self._saving.written_later
        self.writes_wait = self._saving.later.__bool__
        """True while the formatter or a question holds writes up."""
        saving, slices = self._saving, chosen.in_slices
        self._deciding = HunkDecisions(state, saving, chosen.save, chosen.ask, slices)
        self._deciding.on_decided = Memory(services).decided
        self._verifying = Verification(services, self.submit, self.options.fix, self.options.verify)
        self._verifying.attempt = lambda told: self.attempts.mend(told)
        self.keeping = Keeping(services, lambda: self._foreground.unsent)
        """Keeps what is typed; the screen tells it of the prompt."""
        self.keeping.deciding = lambda: self._deciding.at_work
        self._rescuing = Rescuing(services, self.keeping.at_once)
        self._looking: list[asyncio.Task[None]] = []
        """What is looked for: how an earlier duetto ended, and what was spent."""
        self.folders = Folders(services)
        """The workspace's folders, for the file tree."""
        self.diffs = Diffs(services)
        """What files are compared with, for `intents.ShowDiff`."""
        self.recording: SessionRecording | None = None
        """What is kept of the session, from the first time that something is wanted of it."""
        self._handlers = self._handlers_by_type()
        self._state.before_turn.append(self.diffs.turn_begins)
        self._resuming: Resuming | None = None
        if self.options.resumed is not None:
            self._go_on_with(self.options.resumed)

    def _go_on_with(self, resumption: Resumption) -> None:
        from tui.engine.resuming import Resuming  # hardly a session does

        self._resuming = Resuming(
            self.services, resumption, lambda hunk_ids: self.submit(intents.Accept(hunk_ids))
        )
        self._resuming.on_cut = self._foreground.was_cut
        self._deciding.earlier_turns = self._resuming.begin()
        self._deciding.on_past = lambda turn: self.rewinding.handle(
            intents.Rewind(turn, part="files")
        )
        self._foreground.go_on_behind(self._deciding.earlier_turns)
        self.rewinding.take_up(self._resuming)
        if resumption.stored.delegates.of and not resumption.is_fork:
            self.delegates.bring_back(resumption.stored.delegates.of)

    @property
    def on_wake(self) -> Callable[[], None]:
        """Called once when there is something to drain; schedule one frame."""
        return self._state.on_wake

    @on_wake.setter
    def on_wake(self, wake: Callable[[], None]) -> None:
        self._state.on_wake = wake
        self._state.wake_again()

    def now(self) -> float:
        """Monotonic seconds, for ``meter.view``."""
        return self._ports.clock.now()

    def submit(self, intent: Intent) -> None:
        """Do what the user asks; returns at once, never raises for what a user may ask."""
        match intent:
            case intents.Prompt(text) | intents.Queue(text) | intents.Steer(text) if too_long(
                self._state, text
            ):
                return
        self._record()
        self._state.witness.wanted(intent)
        if isinstance(intent, intents.UndoTurn) and self.status.busy:
            self._foreground.interrupt(intents.Interrupt())
        self._handlers.get(type(intent), self._look)(intent)

    def _handlers_by_type(self) -> dict[type, Callable[[Any], None]]:
        """Who does what; all else is about what is looked at."""
        foreground, saving = self._foreground, self._saving
        of_commands = (
            *(intents.Verify, intents.FindBlame, intents.RunCommand),
            *(intents.StopCommand, intents.SendFailure),
        )
        return {
            intents.Interrupt: foreground.interrupt,
            intents.SetBudget: lambda asked: self._looking.append(
                self.services.budget().set(asked.span, asked.usd)
            ),
            intents.Continue: lambda intent: _behind_reading(
                self.services, self._resuming, lambda: foreground.handle(intent)
            ),
            **dict.fromkeys(OF_CONVERSATION, foreground.handle),
            **dict.fromkeys(OF_HUNKS, self._deciding.handle),
            **dict.fromkeys(of_commands, self._verifying.handle),
            **dict.fromkeys(OF_ATTEMPTS, lambda intent: self.attempts.handle(intent)),
            **dict.fromkeys(
                (intents.SetMode, intents.ToBackground, intents.StopTask),
                self.services.commands.handle,
            ),
            **dict.fromkeys(OF_REDOING, lambda intent: self.redoing.handle(intent)),
            **dict.fromkeys(OF_REWINDING, lambda intent: self.rewinding.handle(intent)),
            **dict.fromkeys(
                (intents.UseModel, intents.ChooseModel),
                lambda intent: self._choice.handle(intent),
            ),
            intents.SaveFile: saving.save,
            intents.Reload: saving.changes.reload,
            **dict.fromkeys(
                (intents.Rename, intents.Export),
                lambda intent: _keep(self, self._resuming, intent),
            ),
            intents.Restore: self._rescuing.handle,
            intents.Dismiss: self._rescuing.handle,
            intents.Forget: partial(_forget, self),
            **dict.fromkeys(
                (intents.Felt, intents.SetAsking), lambda intent: self.feeling.handle(intent)
            ),
            **dict.fromkeys(OF_DELEGATES, lambda intent: self.delegates.handle(intent)),
            **dict.fromkeys(OF_NOTES, lambda intent: self._noting.handle(intent)),
            **dict.fromkeys(OF_SUMMARY, lambda intent: self.compaction().handle(intent)),
        }

    def drain(self) -> Notices:
        """What changed since the last drain, merged."""
        notices = self._state.drain()
        if notices.tabs or notices.status or notices.hunks:  # whatever is typed changes the tabs
            self.keeping.changed()
        return notices

    def warn(self, trouble: Trouble) -> None:
        """Tell the user of something outside the engine: a recording that ended, a wrong theme."""
        self._state.trouble(trouble)
        if trouble.noted:
            parts = (trouble.what, trouble.why, trouble.next_step)
            self._state.note(0, "\n".join(filter(None, parts)))

    @property
    def at_rest(self) -> bool:
        """Nothing runs that was asked for: no turn, no command, no formatter."""
        looking = self._saving.looking or not all(task.done() for task in self._looking)
        running = self._verifying.active or self.formatting.running or looking
        running = running or self._deciding.at_work or self.hooks_run or self.prepares
        running = running or ("rewinding" in self.__dict__ and self.rewinding.busy)
        running = running or self._foreground.tells_parts
        running = running or ("redoing" in self.__dict__ and bool(self.redoing.at_work))
        running = running or ("attempts" in self.__dict__ and self.attempts.at_work)
        return not (running or self.status.busy or self.status.retry_s is not None)

    def prompt_label(self) -> PromptLabel:
        """What Enter in the prompt does now."""
        return "redirect" if self.status.busy else "send"

    def alt_label(self) -> AltLabel:
        """What Alt+Enter in the prompt does now."""
        return "steer" if self._foreground.can_steer else "queue"

    @functools.cached_property
    def _choice(self) -> ModelChoice:
        from tui.engine.model_choice import ModelChoice  # after the first paint

        return ModelChoice(self.services, self._foreground.use)

    async def offers(self) -> ModelOffers:
        """The models of all connected endpoints, with what is known of them."""
        catalogue = self._ports.catalogue
        return ModelOffers(()) if catalogue is None else await catalogue().offers()

    @functools.cached_property
    def rewinding(self) -> Rewinding:
        """Takes turns back, and brings them again."""
        from tui.engine.rewinding import Rewinding  # after the first paint

        return Rewinding(self.services, self._deciding, self._foreground.rewound)

    @functools.cached_property
    def lanes(self) -> LaneSessions:
        """Sessions beside this one, over what its screen shows."""
        from tui.engine.lane_session import LaneSessions  # after the first paint

        return LaneSessions(self.services, self.options, Session, self._verifying.places)

    @functools.cached_property
    def redoing(self) -> Redoing:
        """Has hunks made anew while the review goes on."""
        from tui.engine.redoing import Redoing  # when one is wanted

        verifying = self._verifying
        return Redoing(
            self.services, self.lanes, self.submit, verifying.baseline, lambda: verifying.runs
        )

    @functools.cached_property
    def bringing_home(self) -> BringingHome:
        """Brings in what lanes made of files."""
        from tui.engine.lane_session import BringingHome  # after the first paint

        return BringingHome(self.services, self._foreground.turn_beside)

    @functools.cached_property
    def attempts(self) -> Attempts:
        """Tries at one prompt, side by side."""
        from tui.engine.attempts import Attempts  # hardly a session does

        made = Attempts(self.services, self.lanes, self.submit, self.bringing_home)
        made.failure = self._verifying.failure
        made.judges_landed = self.options.verify != "ask"
        self._verifying.stop_other = made.stop
        self._verifying.other_runs = lambda: made.progress
        return made

    @functools.cached_property
    def feeling(self) -> Feeling:
        """Asks how fast it felt."""
        from tui.engine.feeling import Feeling  # after the first turn

        return Feeling(self.services, self.submit, asks=self.options.asks_felt)

    @functools.cached_property
    def delegates(self) -> Delegates:
        """What is delegated."""
        from tui.engine.delegating import Delegates  # after the first paint

        services, take_over = self.services, self._foreground.take_over
        made = Delegates(services, lambda: self.lanes, self.bringing_home, take_over)
        made.verify = lambda: self.submit(intents.Verify(unasked=True))
        return made

    @functools.cached_property
    def _hooks(self) -> Hooks:
        from tui.engine.hooks import Hooks  # after the first paint

        hooks = Hooks(self.services, self.formatting)
        self.services.requests.take_news = hooks.take_news
        return hooks

    @functools.cached_property
    def _noting(self) -> Noting:
        from tui.engine.noting import Noting  # after the first paint

        return Noting(self.services, lambda *asked: self.submit(intents.Prompt(*asked)))

    @property
    def prepares(self) -> bool:
        """True while it is found out what a prompt has to say, or what another model costs."""
        noting = "_noting" in self.__dict__ and self._noting.prepares
        return noting or self._foreground.weighs is not None

    def _hook_up(self) -> None:
        """Have the formatter, the hooks and the map asked and told."""
        if self._ports.project_map is not None:
            ProjectMapping(self.services).begin()
        self.attachments = self.services.requests.attachments
        """What prompts attach, and what could be."""
        self.attachments.makers = {
            "diff": lambda: difference_from_head(self.services, self.diffs),
            "failures": lambda: _failure(self._verifying),
        }
        self._saving.on_written = self.formatting.written
        if self.options.kind in ("app", "linear"):
            self._state.after_turn.append(lambda *told: self.feeling.turn_ended(*told))
        if self._ports.hooks is None:
            return

        def written(paths: list[str]) -> None:
            self.formatting.written(paths)
            self._hooks.written(paths)

        self._saving.on_written = written
        self.services.commands.before = lambda *told: self._hooks.before_command(*told)
        self._state.after_turn.append(lambda *told: self._hooks.turn_ended(*told))

    @property
    def hooks_run(self) -> bool:
        """True while a hook runs, or is asked about, after a turn or an edit."""
        return "_hooks" in self.__dict__ and self._hooks.running

    def project_words(self) -> tuple[list[str], list[str]]:
        """The instructions in use, and all skills that were found: a line each, safe to show."""
        project = self._open_files.project
        return ([], []) if project is None else project.words()

    @property
    def stored_as(self) -> str:
        """What this session is called in the store; empty: nothing of it is kept."""
        store = None if self.recording is None or self._ports.store is None else self._ports.store()
        return store.id if store is not None and store.kept else ""

    @property
    def goes_on(self) -> bool:
        """It is an earlier session, or begins with one."""
        return self.options.resumed is not None

    @property
    def last_turn(self) -> int:
        """The number of the newest turn; 0: there is none."""
        return self._foreground.last_turn

    @property
    def archive(self) -> SessionArchive | None:
        """The sessions that are kept; None: there are none to be had."""
        return None if self._ports.archive is None else self._ports.archive()

    def network(self) -> Sequence[SocketView]:
        """The sockets as figures, for ``/status``."""
        return tuple(self._ports.sockets())

    def abilities(self) -> Abilities:
        """What is known of the model that answers now and its endpoint."""
        return self._foreground.abilities()

    def cursor(self, path: str, position: Position, selection: Selection | None = None) -> None:
        """Where the user's cursor is (cheap; call it whenever it moves)."""
        self._open_files.cursor(path, position, selection)

    def touched(self, path: str) -> None:
        """The user typed in this file through `Workspace.edit`."""
        self._state.touched(path)

    def listing(self) -> list[str]:
        """All files that are neither ignored nor secret, sorted."""
        return self._open_files.catalogue.paths()

    def unsaved(self, draft: str) -> Unsaved:
        """What would be lost if duetto ended now, ``draft`` being that of the prompt box."""
        return unsaved_of(self.workspace, draft, self._foreground.unsent)

    def _outside(self, paths: set[str]) -> None:
        """Somebody changed files."""
        self._saving.outside(paths)
        self._verifying.outside(paths)

    async def run(self) -> None:
        """Dial ahead of the first prompt, watch the files; returns when that is set up."""
        if self._parent is None:
            from tui.engine.auto_effort import AutoEffort  # after the first paint

            AutoEffort(self._state)
            if self.options.propose and self._ports.archive is not None:
                from tui.engine.proposing import Proposing

                self.proposing = Proposing(self.services)
        self._supervisor.start(self._foreground.dial(), "connecting")
        if self._resuming is not None:
            self._supervisor.start(self._resuming.read(), "reading the earlier part")
        if self._ports.store is not None:
            self._supervisor.start(self._record_soon(self._ports.store), "keeping the session")
        self._supervisor.start(self.services.commands.look(), "looking for a sandbox")
        if self._ports.watch is not None:
            changed = self.folders.telling(self._outside)
            self._supervisor.start(_watch(self._state, self._ports, changed), "watching files")
        if self._ports.journal is not None:
            looking = _look_back(self._state, self._ports, self._saving, ask=self.options.ask)
            self._looking.append(self._supervisor.start(looking, "looking for unfinished writes"))
        if self._ports.rescue is not None:
            looking = self._rescuing.look(self._ports.rescue)
            self._looking.append(self._supervisor.start(looking, "looking for rescued text"))

    async def close(self) -> None:
        """End tasks, commands and sockets."""
        self._state.after_turn.clear()  # a hook would be ended half way
        if "lanes" in self.__dict__:
            await self.lanes.close()
        await self._foreground.close()
        await self.formatting.end()
        await self._supervisor.close()
        if self.recording is not None:
            self.recording.close()

    async def _record_soon(self, store: Callable[[], SessionStore]) -> None:
        """Load what keeps it without holding up a key."""
        await asyncio.to_thread(store)
        await asyncio.to_thread(import_module, "tui.engine.recording")
        self._record()
        if self._ports.archive is not None and self.options.ask and not self.goes_on:
            archive = await asyncio.to_thread(self._ports.archive)
            await _tell_left(self._state, archive, self._ports.files.root)

    def _record(self) -> None:
        """Keep the session from now on, if it is to be kept."""
        if self._ports.store is None or self.recording is not None:
            return
        store = self._ports.store()
        if not store.keeps:
            return
        from tui.engine.recording import SessionRecording  # after the first paint

        requests, kind = self.services.requests, self.options.kind
        self.recording = SessionRecording(self._state, requests, self._ports, store, kind)
        self.recording.tabs = self._open_files.tabs
        resumed, resuming = self.options.resumed, self._resuming
        if resumed is None or resuming is None:
            self.recording.begin()
        elif resumed.is_fork:
            self.recording.fork(resuming.stored, resuming.kept)
        else:
            recording = self.recording
            recording.go_on(resuming.stored, resuming.kept)
            resuming.on_read = lambda: recording.read(resuming.stored, resuming.kept)
        self._state.witness = self.recording
        store.on_lost = self.recording.renew

    def _look(self, intent: Intent) -> None:
        match intent:
            case intents.OpenFile(path, line, col, aside, new):
                self._open_files.open(path, line, col, aside=aside, new=new)
            case intents.CloseFile(path):
                self._open_files.close(path)
            case intents.ShowContext() | intents.DropPart() | intents.AddPart() | intents.Pin():
                self._foreground.parts.handle(intent)
            case intents.Answer(ask_id, choice, words):
                self._state.questions.answer(ask_id, choice, words)
            case _:
                raise TypeError(f"not an intent: {intent!r}")

    def _services(self) -> Services:
        ports, state, open_files = self._ports, self._state, self._open_files
        conversation = self.options.conversation or uuid.uuid4().hex
        requests = Requests(ports, open_files, conversation, chaining=self.options.chaining)
        consent = partial(open_files.consents.ask, SEND)
        bench = WorkspaceTools(
            state.workspace, open_files.catalogue, ports, open_files.privacy, consent
        )
        bench.on_read, bench.skill = open_files.matters, open_files.skill
        bench.on_sent = open_files.outside.sent
        supervisor = Supervisor(state)
        commands = Commands(state, ports, open_files, supervisor, self.options.commands)
        requests.take_ended = commands.take_ended

        @functools.cache
        def window() -> ModelWindow:
            from tui.engine.model_window import ModelWindow  # after the first paint

            return ModelWindow(ports, state, requests)

        requests.files_room = lambda spec, texts: window().files_room(spec, texts)

        @functools.cache
        def compaction() -> Compaction:
            from tui.engine.compaction import Compaction  # after the first paint

            made = Compaction(ports, state, open_files, window(), supervisor)
            made.more.append(requests.facts)
            made.rewound = rewound
            return made

        def rewound() -> set[int]:
            return self.rewinding.gone() if "rewinding" in self.__dict__ else set()

        requests.attachments.rewound_turns = rewound

        bench.recall = lambda asked: compaction().recall(asked)
        return Services(
            ports,
            state,
            open_files,
            requests,
            bench,
            commands,
            supervisor,
            Backlog(state),
            window,
            compaction,
            functools.cache(lambda: _budget(self, window(), self._parent)),
        )


def _forget(session: Session, intent: intents.Forget) -> None:
    from tui.engine.sessions import forgetting  # hardly ever

    services = session.services
    store = services.ports.store() if services.ports.store is not None else None
    forgotten = forgetting(services.state, store, all_sessions=intent.all_sessions)
    services.supervisor.start(forgotten, "forgetting")


def _keep(
    session: Session, resuming: Resuming | None, intent: intents.Rename | intents.Export
) -> None:
    from tui.engine.sessions import SessionKeeping  # after the first paint

    keeping = SessionKeeping(session.services, session.recording, session.stored_as)
    if isinstance(intent, intents.Rename):
        keeping.handle(intent)
    else:
        _behind_reading(session.services, resuming, lambda: keeping.handle(intent))


def _behind_reading(services: Services, resuming: Resuming | None, act: Callable[[], None]) -> None:
    """Do it when the earlier part of the session was read."""
    if resuming is None or resuming.is_read:
        act()
        return

    async def soon() -> None:
        await resuming.read()
        act()

    services.supervisor.start(soon(), "reading the earlier part")


def _budget(session: Session, window: ModelWindow, parent: Services | None) -> Budget:
    from tui.engine.budget import Budget  # after the first paint

    services, whole = session.services, parent.budget() if parent is not None else None
    made = Budget(services.ports, services.state, window, services.supervisor, whole)
    made.caps = session.options.caps
    resumed = session.options.resumed
    for turn in resumed.stored.turns[-1:] if resumed is not None else ():
        made.reader = (turn.began.endpoint, turn.began.model)
    return made


async def _tell_left(state: SessionState, archive: SessionArchive, root: str) -> None:
    """Say which session here was killed, and what was delegated in earlier ones, and waits."""
    cut = None
    with suppress(DuettoError):  # the list of sessions says why it cannot be read
        cut, state.status.left = await archive.cut(root), await archive.left(root)
    if cut is not None:
        from tui.engine.sessions import cut_words  # after the first paint

        state.note(0, cut_words(cut))
    if left := state.status.left:
        words = f"{len(left)} delegates of earlier sessions wait: /tasks shows them"
        if len(left) == 1:
            words = "1 delegate of an earlier session waits: /tasks shows it"
        state.note(0, words)


async def _failure(verifying: Verification) -> str:
    """What failed in the last run, as a prompt attaches it; empty: nothing did."""
    return (verifying.failure() or ("", ""))[0]


def _introduce(
    status: Status, ports: Ports, roles: Mapping[Role, RoleSpec], options: SessionOptions
) -> None:
    """Say who answers for which role, and what the user allows from the beginning."""
    status.prompts, status.role = list(options.prompts), options.first_role
    if options.linked:
        ports.consents.add(SEND.consent)
    status.auto_accept, status.mode = options.auto_accept, options.mode
    status.models = {role: spec.model for role, spec in roles.items()}
    status.efforts = {role: spec.effort for role, spec in roles.items()}
    status.auto = {role: "" for role, spec in roles.items() if spec.auto_effort}
    status.levels = {role: spec.efforts for role, spec in roles.items()}
    status.tiers = {role: spec.tier for role, spec in roles.items()}
    status.same_tiers = {role: spec.same_tiers for role, spec in roles.items()}


def _workspace(files: WorkspaceFiles, options: SessionOptions) -> Workspace:
    asking = options.ask and options.ambiguous == "ask"
    workspace = Workspace(files.read, files.root, files.named_root, ask=asking, freeze=options.ask)
    workspace.documents.first = options.ambiguous == "first"
    workspace.documents.names = files.listing
    return workspace


async def _watch(state: SessionState, ports: Ports, changed: Callable[[set[str]], None]) -> None:
    """Tell of the files that others change."""
    if ports.watch is None:
        return
    try:
        await ports.watch(changed)
    except DuettoError as error:
        ports.watch = None  # who relies on it looks for itself
        step = "outside changes are noticed when you save, and before a request"
        state.warn("Files are not watched", str(error), step)


async def _look_back(state: SessionState, ports: Ports, saving: Saving, *, ask: bool) -> None:
    """What an earlier duetto did not write to the end."""
    # imported after the first paint
    from tui.engine.unfinished import UnfinishedWrites

    if ports.journal is not None:
        await UnfinishedWrites(state, ports.files, saving.outside, ask).look(ports.journal)


def unsaved_paths(session: Session) -> list[str]:
    """Files whose text in the editor is not on the disk, and is not on its way there; sorted."""
    workspace, later = session.workspace, session.written_later()
    return sorted(
        path for path in workspace.buffers if workspace.is_dirty(path) and path not in later
    )


def reasons_to_stay(session: Session, draft: str) -> list[str]:
    """What would be left behind, in sentences that are safe to show."""
    status, reasons = session.status, []
    if unsaved := unsaved_paths(session):
        reasons.append(f"Not saved: {first_of([*map(inert, unsaved)], 3)}.")
    pending = sum(hunk.decidable for hunk in session.workspace.hunks)
    if pending:
        plural = "s" if pending > 1 else ""
        kept = ", kept for duetto resume" if session.stored_as else ""
        reasons.append(f"{pending} hunk{plural} undecided: not on disk{kept}.")
    if draft.strip():
        reasons.append("A draft in the prompt is not sent.")
    if queued := len(status.queued):
        are = "s are" if queued > 1 else " is"
        reasons.append(f"{queued} queued prompt{are} not sent.")
    if status.busy:
        reasons.append("An answer is still streaming.")
    reasons += [
        f"The model's command still runs, and ends with duetto: {inert(task.command)}."
        for task in status.tasks
        if not (task.ended or task.stopping)
    ]
    if redone := sum(hunk.is_redoing for hunk in session.workspace.hunks):
        what = "hunk is" if redone == 1 else "hunks are"
        reasons.append(f"{redone} {what} being redone: that ends with duetto.")
    goes_on = "; duetto resume takes it up" if session.stored_as else ""
    reasons += [
        f"d{one.number} {'still works' if one.state == 'works' else 'waits'}"
        f", and ends with duetto{goes_on}: {brief(one.prompt)}"
        for one in status.delegates
        if one.state not in OVER
    ]
    if status.running:
        reasons.append(f"This still runs, and ends with duetto: {inert(status.running)}.")
    return reasons

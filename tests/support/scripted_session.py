"""A session without an engine: tests write its transcript, and see what the UI asks of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import cast

from msgspec.structs import replace

from tests.support.fake_folders import FakeFolders
from tui.core.conversation import Block, BlockKind, BlockState, Transcript
from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.document.workspace import Workspace
from tui.core.files import FileRead
from tui.core.meter import Meter
from tui.core.text.buffer import Buffer, Mark
from tui.core.text.change_set import Change, Position
from tui.core.wire.endpoint_facts import SocketView
from tui.core.wire.events import Usage
from tui.engine.attachments import Attachments
from tui.engine.intents import (
    Accept,
    HoldQueued,
    Intent,
    Interrupt,
    NewConversation,
    OpenFile,
    Prewarm,
    Reject,
    SaveFile,
    Switch,
)
from tui.engine.notices import Ask, Notices, Status, TaskView
from tui.engine.ports import Abilities, SessionArchive
from tui.engine.proposing import Proposing
from tui.engine.session import AltLabel, PromptLabel, Session
from tui.engine.session_state import SessionState
from tui.errors import EditRefused

MAY_ANSWERS = (
    "Run it once",
    "Allow “pytest ...” in this session",
    "Always allow “pytest ...” in this project",
    "Do not run it",
)
FILES = {
    "ledger/cache.py": (
        "import threading\n\n\nclass Cache:\n"
        '    """Keeps the newest values."""\n\n'
        "    def __init__(self, size: int) -> None:\n"
        "        self._lock = threading.RLock()\n"
        "        self._size = size\n"
        "        self._items: dict[str, bytes] = {}\n\n"
        "    def put(self, key: str, value: bytes) -> None:\n"
        "        with self._lock:\n"
        "            self._evict()\n"
        "            self._items[key] = value\n"
    ),
    "tests/test_cache.py": "def test_put():\n    assert True\n",
    "README.md": "# ledger\n",
}


class ScriptedSummary:
    """What a test says is sent for the beginning of the conversation."""

    text = ""

    async def over(self) -> None:
        """Nothing is awaited."""


class ScriptedWorkspace(Workspace):
    """Buffers and hunks as a test puts them there; no landing, no review."""

    def __init__(self, read: Callable[[str], FileRead]) -> None:
        super().__init__(read)
        self._files = read
        self.touched_now: set[str] = set()
        self.dirty: set[str] = set()
        self.revision = 0

    @property
    def hunks_revision(self) -> int:
        return self.revision

    def open(self, path: str) -> Buffer:
        if path not in self.buffers:
            data = self._files(path).data
            if data is None:
                raise EditRefused(f"{path} is not there.")
            self.buffers[path] = Buffer(path, data.decode())
        return self.buffers[path]

    def edit(self, path: str, start: Position, end: Position, text: str, group: str = "") -> Change:
        self.touched_now.add(path)
        self.dirty.add(path)
        return self.buffers[path].replace(start, end, text)

    def is_dirty(self, path: str) -> bool:
        return path in self.dirty

    def touched(self) -> set[str]:
        paths, self.touched_now = self.touched_now, set()
        return paths

    def decorations(
        self, path: str, first: int, last: int, *, removed: bool = False
    ) -> dict[int, str]:
        found: dict[int, str] = {}
        for hunk in self.hunks:
            shown = hunk.path == path and hunk.decision is not Decision.REJECTED
            if shown and hunk.start is not None and hunk.end is not None:
                word = {Stage.LANDING: "landing", Stage.CUT: "cut"}.get(
                    hunk.stage, hunk.decision.value
                )
                for line in range(max(hunk.start.line, first), min(hunk.end.line, last + 1)):
                    found[line] = word
        return found

    def ghost(self, path: str) -> tuple[int, list[str]] | None:
        return None


class NotKeeping:
    """Counts how often it is told that something was typed."""

    def __init__(self) -> None:
        self.draft: Callable[[], str] = str
        self.changes = 0

    def changed(self) -> None:
        self.changes += 1


class ScriptedState:
    """What the UI reads of a session."""

    state: SessionState
    now_s: float
    sockets: list[SocketView]
    project: tuple[list[str], list[str]]
    can: Abilities
    kept: SessionArchive | None = None
    feeling = SimpleNamespace(asks=None)

    @property
    def workspace(self) -> Workspace:
        return self.state.workspace

    @property
    def transcript(self) -> Transcript:
        return self.state.transcript

    @property
    def meter(self) -> Meter:
        return self.state.meter

    @property
    def status(self) -> Status:
        return self.state.status

    def now(self) -> float:
        return self.now_s

    @property
    def at_rest(self) -> bool:
        return not (self.status.busy or self.status.running)

    @property
    def goes_on(self) -> bool:
        return False

    @property
    def last_turn(self) -> int:
        return max((block.turn for block in self.transcript.blocks), default=0)

    @property
    def stored_as(self) -> str:
        return "7f3k2m00"

    @property
    def archive(self) -> SessionArchive | None:
        return self.kept

    def prompt_label(self) -> PromptLabel:
        return "redirect" if self.status.busy else "send"

    def alt_label(self) -> AltLabel:
        status = self.status
        return "steer" if status.busy and status.can_steer is not False else "queue"

    def network(self) -> Sequence[SocketView]:
        return tuple(self.sockets)

    def abilities(self) -> Abilities:
        return self.can

    def project_words(self) -> tuple[list[str], list[str]]:
        return self.project


class ScriptedSession(ScriptedState):
    """The public face of `Session`, driven by a test; the clock stands still."""

    attachments: Attachments | None = None
    proposing: Proposing | None = None

    def __init__(self, files: dict[str, str] | None = None) -> None:
        self.files = FILES if files is None else files
        self.scripted = ScriptedWorkspace(self._read)
        self.state = SessionState(self.scripted)
        self.input_first = self.state.input_first
        self.folders = FakeFolders(self.files)
        self.keeping = NotKeeping()
        self.summary = ScriptedSummary()
        self.intents: list[Intent] = []
        self.now_s = 100.0
        self.started = False
        self.status_changed = True
        self.saves = True
        self.closed = asyncio.Event()
        self.prewarms = 0
        """How often the UI asked for `Prewarm`, which is not among `intents`."""
        self.holds: list[int | None] = []
        """What was said with `HoldQueued`, which is not among `intents` either."""
        self.sockets: list[SocketView] = []
        self.project: tuple[list[str], list[str]] = ([], [])
        self.can = Abilities()
        status = self.status
        status.models = {"fast": "rehearsal-fast", "deep": "rehearsal-deep"}
        status.efforts = {"fast": "low", "deep": None}
        status.connection, status.round_trip_ms = "ready", 3.0
        status.endpoint, status.served_model = "rehearsal", "rehearsal-fast"

    def compaction(self) -> ScriptedSummary:
        return self.summary

    def as_session(self) -> Session:
        """For the app, which wants a real one."""
        return cast(Session, self)

    # -- what the UI calls

    @property
    def on_wake(self) -> Callable[[], None]:
        return self.state.on_wake

    @on_wake.setter
    def on_wake(self, wake: Callable[[], None]) -> None:
        self.state.on_wake = wake

    def submit(self, intent: Intent) -> None:
        if isinstance(intent, Prewarm):
            self.prewarms += 1
            return
        if isinstance(intent, HoldQueued):
            self.holds.append(intent.index)
            return
        self.intents.append(intent)
        if isinstance(intent, Switch):
            self.status.role = intent.role
        elif isinstance(intent, OpenFile):
            active = self.status.active_path
            self.open(intent.path)
            if intent.aside and active:
                self.status.active_path = active
            if intent.line is not None:
                self.state.goto((intent.path, intent.line, intent.col), aside=intent.aside)
            self.state.retabbed()
        elif isinstance(intent, Interrupt):
            self.status.busy = False
            self.status.stopped = "stopped after 512 tokens, 3 ms"
        elif isinstance(intent, Accept | Reject):
            self._decide(intent)
        elif isinstance(intent, SaveFile):
            self.scripted.dirty -= {intent.path} if self.saves else set()
        elif isinstance(intent, NewConversation):
            self.transcript.blocks.clear()
        self.changed()

    def _decide(self, intent: Accept | Reject) -> None:
        made = Decision.ACCEPTED if isinstance(intent, Accept) else Decision.REJECTED
        for hunk in self.workspace.hunks:
            if hunk.decidable and (intent.hunk_ids is None or hunk.id in intent.hunk_ids):
                hunk.decision = made
        self.workspace.hunk_list.reviewed()
        self.scripted.revision += 1

    def drain(self) -> Notices:
        notices = self.state.drain()
        notices.status, self.status_changed = self.status_changed, False
        notices.meter = True
        return notices

    def cursor(
        self, path: str, position: Position, selection: tuple[Position, Position] | None = None
    ) -> None:
        """The editor tells where the cursor is: that is the active file."""
        if path in self.status.open_paths:
            self.status.active_path = path

    def touched(self, path: str) -> None:
        self.state.touched(path)

    def written_later(self) -> frozenset[str]:
        """There is no formatter."""
        return frozenset()

    def listing(self) -> list[str]:
        return sorted(self.files)

    async def run(self) -> None:
        self.started = True
        await self.closed.wait()

    async def close(self) -> None:
        self.closed.set()

    def _read(self, path: str) -> FileRead:
        text = self.files.get(path)
        return FileRead(None if text is None else text.encode())

    # -- what a test writes

    def open(self, path: str) -> None:
        """Open a file in a tab and make it the active one."""
        self.workspace.open(path)
        if path not in self.status.open_paths:
            self.status.open_paths.append(path)
        self.status.active_path = path

    def changed(self) -> None:
        """Status and all may have changed: wake the UI."""
        self.status_changed = True
        self.state.wake()

    def say(
        self,
        kind: str,
        text: str = "",
        *,
        title: str = "",
        speaker: str = "",
        state: BlockState = "done",
    ) -> Block:
        """Add a block; a patch is that of the call ``call-1``."""
        call_id = "call-1" if kind == "patch" else ""
        turn = 0 if kind == "run" else 1
        return self.state.add(Block(BlockKind(kind), turn, title, speaker, call_id, state), text)

    def asks_to_run(self, command: str, detail: str = "") -> Block:
        """The model wants to run a command: its card, and the question."""
        number = len(self.transcript.blocks) + 1
        block = Block(BlockKind.RUN, 1, command, "fast", f"run-{number}")
        self.status.busy = True
        self.status.asks.append(
            Ask(number, f"Run {command} ?", detail, MAY_ANSWERS, command, True, "yspn")
        )
        self.state.add(block)
        self.changed()
        return block

    def runs(self, command: str, *, background: bool = False) -> Block:
        """The model runs a command since now."""
        block = Block(BlockKind.RUN, 1, command, "fast", f"run-{len(self.transcript.blocks)}")
        number = len(self.status.tasks) + 1
        task = TaskView(number, command, block.call_id, self.now_s, background)
        self.status.tasks.append(task)
        self.state.add(block)
        self.changed()
        return block

    def ran(self, block: Block, ended: str, state: BlockState = "done") -> None:
        """It has ended."""
        tasks = [task for task in self.status.tasks if task.call_id == block.call_id]
        self.status.tasks = [task for task in self.status.tasks if task not in tasks]
        self.status.tasks += [replace(task, ended=ended) for task in tasks if task.background]
        self.state.append(block, f"[{ended}]\n")
        self.state.close(block, state)
        self.changed()

    def stream(self, block: Block, text: str) -> None:
        """Add text to an open block."""
        self.state.append(block, text)
        self.meter.delta(self.now_s, len(text))

    def hunk(
        self,
        stage: Stage,
        line: int | None = None,
        *,
        path: str = "ledger/cache.py",
        added: int = 0,
        removed: int = 0,
    ) -> Hunk:
        """Add a hunk of the call ``call-1``; set its other fields before the next frame."""
        number = len(self.workspace.hunks) + 1
        hunk = Hunk(number, 1, "call-1", path, stage=stage, added=added, removed=removed)
        if line is not None:
            hunk.start, hunk.end = Mark(line), Mark(line + 1)
        self.workspace.hunk_list.add(hunk)
        self.scripted.revision += 1
        self.changed()
        return hunk

    def measured(self, tokens: int, seconds: float, *, counted: bool = True) -> None:
        """One response of so many tokens, evenly over so many seconds."""
        self.meter.start(self.now_s, "rehearsal-fast")
        self.now_s += 0.084
        steps = 40
        for _ in range(steps):
            self.meter.delta(self.now_s, tokens * 4 // steps)
            self.now_s += seconds / steps
        if counted:
            self.meter.usage(self.now_s, Usage(12_000, tokens, None, 0))
            self.meter.stop(self.now_s)

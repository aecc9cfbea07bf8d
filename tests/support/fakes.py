"""The engine's ports in memory: nothing here sleeps, dials or touches a disk."""

from __future__ import annotations

import asyncio
import fnmatch
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Literal

from tui.core.files import FileRead, Prepared
from tui.core.programs import (
    AS_THE_USER,
    CommandLine,
    Entry,
    Output,
    RunOptions,
    RunResult,
    Sandbox,
    Written,
)
from tui.core.wire.events import (
    Completed,
    Created,
    ErrorEvent,
    Event,
    Failed,
    Incomplete,
    SteerNews,
)
from tui.engine.intents import Answer, Role
from tui.engine.ports import (
    MAIN_LANE,
    Abilities,
    Ports,
    RoleSpec,
    Transport,
    VerifyCommand,
    WireState,
)
from tui.engine.session import Session, SessionOptions
from tui.errors import DuettoError, FileRefused, WireError

Fate = Literal["accepted", "pending", "used", "returned"]


class FakeClock:
    """Time that a test turns on."""

    def __init__(self) -> None:
        self.seconds = 100.0
        self.step_s = 0.0
        """So much passes at every look."""
        self._waiters: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> float:
        self.seconds += self.step_s
        return self.seconds

    def advance(self, seconds: float) -> None:
        self.seconds += seconds
        for due_s, waiter in self._waiters:
            if due_s <= self.seconds and not waiter.done():
                waiter.set_result(None)
        self._waiters = [pair for pair in self._waiters if not pair[1].done()]

    async def sleep(self, seconds: float) -> None:
        """Until the test has let so much time pass."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((self.seconds + seconds - 1e-9, waiter))
        await waiter


class FakeWire:
    """A wire that keeps what is sent; the test says what comes."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.state: WireState = "closed"
        self.transport: Transport = "websocket"
        self.round_trip_s: float | None = 0.003
        self.on_event: Callable[[Event, float], None] = lambda event, now: None
        self.on_state: Callable[[WireState, str], None] = lambda state, why: None
        self.requests: list[dict[str, Any]] = []
        self.prewarms: list[dict[str, Any]] = []
        self.steers: list[str] = []
        """Texts that were steered; the number of each is its place, from 1."""
        self.can = Abilities()
        self.close_code: int | None = None
        self.paces = False
        """Whoever answers can be slowed down."""
        self.rates: list[float | None] = []
        self.interrupts = 0
        self.drops = 0
        self.dials = 0
        self.finished = False
        """It is closed for good; another one may have its name."""
        self.refusals: list[DuettoError] = []
        """The next dials fail with these."""
        self.other_way = False
        """There is HTTP+SSE to fall back to."""
        self.sent = asyncio.Event()
        self._in_flight = False
        self._owed: set[int] = set()
        """Steers that are neither used nor returned, nor wait for tool outputs."""
        self._burst: list[Event] | None = None

    @property
    def busy(self) -> bool:
        return self._in_flight or bool(self._owed)

    def abilities(self, model: str) -> Abilities:
        return self.can

    async def open(self) -> None:
        if self.state == "open":
            return
        self.dials += 1
        if self.refusals:
            raise self.refusals.pop(0)
        self.state = "open"
        self.on_state("open", "")

    def create(self, request: Mapping[str, Any]) -> None:
        if self.state != "open":
            raise WireError("not open")
        if self.busy:
            raise WireError("busy")
        prewarm = request.get("generate") is False
        (self.prewarms if prewarm else self.requests).append(dict(request))
        self._in_flight = True
        self.sent.set()

    def steer(self, text: str) -> int | None:
        if not self._in_flight or self.can.steer is False:
            return None
        self.steers.append(text)
        self._owed.add(len(self.steers))
        return len(self.steers)

    def throttle(self, tokens_s: float | None) -> bool:
        if self.paces:
            self.rates.append(tokens_s)
        return self.paces

    def interrupt(self) -> None:
        self.interrupts += 1

    def drop(self) -> None:
        self.drops += 1
        self.lose("dropped")

    def fall_back(self) -> bool:
        if not self.other_way or self.transport == "http":
            return False
        self.transport = "http"
        return True

    def come_back(self) -> None:
        self.transport = "websocket"

    def lose(self, why: str = "the connection broke") -> None:
        """The socket breaks."""
        self.state = "closed"
        self._in_flight = False
        self._owed.clear()
        self.on_state("closed", why)

    async def close(self) -> None:
        self.state, self.finished = "closed", True

    def give(self, *events: Event) -> None:
        """These come now."""
        for event in events:
            self._follow(event)
            if self._burst is None:
                self.on_event(event, self.clock.now())
            else:
                self._burst.append(event)

    @contextmanager
    def burst(self) -> Iterator[None]:
        """All that is given arrives in one read: it is handed on when all of it was taken in."""
        self._burst = held = []
        yield
        self._burst = None
        for event in held:
            self.on_event(event, self.clock.now())

    def news(self, fate: Fate, number: int = 1, why: str = "") -> None:
        """Something became of a steering text."""
        self.give(SteerNews(number, fate, self.steers[number - 1], why))

    async def request(self, number: int) -> dict[str, Any]:
        """The request of that number (from 1), awaited."""
        while len(self.requests) < number:
            self.sent.clear()
            await asyncio.wait_for(self.sent.wait(), 60)
        return self.requests[number - 1]

    def _follow(self, event: Event) -> None:
        if isinstance(event, Created):
            self._in_flight = True
        elif isinstance(event, Completed | Incomplete | Failed | ErrorEvent):
            self._in_flight = False
            response = {} if isinstance(event, ErrorEvent) else event.response
            kinds = [str(item.get("type")) for item in response.get("output", ())]
            stopped = isinstance(event, Incomplete) and event.reason == "interrupted"
            if stopped or any(kind.endswith("_call") for kind in kinds):
                self._owed.clear()
        elif isinstance(event, SteerNews) and event.fate != "accepted":
            self._owed.discard(event.number)


class MemoryFiles:
    """A workspace in a dict."""

    def __init__(self, files: Mapping[str, str | bytes] | None = None) -> None:
        self.root = self.named_root = "/workspace"
        self.mark = "0"
        self.linked: set[str] = set()
        self.links: dict[str, str] = {}
        """Path of a hard link -> why its other names call for a question."""
        self.modes: dict[str, int] = {}
        self.data = {
            path: text.encode() if isinstance(text, str) else text
            for path, text in (files or {}).items()
        }
        self.private: dict[str, str] = {}
        """Pattern -> reason."""
        self.odd: dict[str, FileRead] = {}
        """Path -> what reading it gives, whatever `data` says."""
        self.read_only: set[str] = set()
        self.writes: list[str] = []
        self.swept: list[tuple[list[str], str]] = []
        self.lookups = 0

    def read(self, path: str) -> FileRead:
        if path in self.odd:
            return self.odd[path]
        if path.startswith(("/", "..")):
            return FileRead(None, "it is outside the workspace")
        if any(name.startswith(path + "/") for name in self.data):
            return FileRead(None, "it is a folder", "directory")
        if path in self.links and path in self.data:
            self.linked.add(path)
        return FileRead(self.data.get(path))

    def write(self, path: str, data: bytes, expected: bytes | None) -> None:
        if path in self.read_only:
            raise FileRefused(f"{path} is read-only")
        if self.data.get(path) != expected:
            raise FileRefused(f"{path} changed on disk")
        self.data[path] = data
        self.writes.append(path)

    def delete(self, path: str, expected: bytes) -> None:
        if self.data.get(path) != expected:
            raise FileRefused(f"{path} changed on disk")
        del self.data[path]

    def prepare(self, texts: Mapping[str, tuple[bytes, bytes | None]]) -> Prepared:
        return Prepared()

    def end(self) -> None:
        """Nothing was kept back."""

    def missing_folders(self, path: str) -> tuple[str, ...]:
        return ()

    def sweep(self, paths: Iterable[str], mark: str, folders: Iterable[str] = ()) -> None:
        self.swept.append((sorted(paths), mark))

    def listing(self) -> list[str]:
        return sorted(path for path in self.data if not self._reason(path))

    def privacy_of(self, paths: Iterable[str]) -> dict[str, str]:
        self.lookups += 1
        return {path: self._reason(path) or self.links.get(path, "") for path in paths}

    def links_of(self, paths: Iterable[str]) -> dict[str, str]:
        return {path: self.links.get(path, "") for path in paths}

    def _reason(self, path: str) -> str:
        for pattern, reason in self.private.items():
            if fnmatch.fnmatch(path, pattern):
                return reason
        return ""


class FakeRunner:
    """Runs nothing: prints what it is told to, ends when it is told to."""

    def __init__(self) -> None:
        self.commands: list[CommandLine] = []
        self.hows: list[RunOptions] = []
        self.output: list[str] = ["all good\n"]
        self.result = RunResult(0, 0.5)
        self.first: list[RunResult] = []
        """How the next runs end, before all others end with ``result``."""
        self.hold: asyncio.Event | None = None
        self.lingers: asyncio.Event | None = None
        """What is stopped ends when this is set."""
        self.box = Sandbox()
        self.git_setting = ""
        self.leads: dict[str, str] = {}
        self.ended: list[CommandLine] = []
        """Those that ran to their end, or were ended."""

    async def sandbox(self) -> Sandbox:
        return self.box

    async def git_programs(self, folders: Iterable[str]) -> str:
        return self.git_setting

    def places(self, folder: str, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(self.leads.get(name, "") for name in (folder, *names))

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
    ) -> RunResult:
        self.commands.append(command)
        self.hows.append(how)
        for text in self.output:
            output(text.encode())
        try:
            if self.hold is not None:
                await self.hold.wait()
        finally:
            if self.lingers is not None:
                await self.lingers.wait()
            self.ended.append(command)
        return self.first.pop(0) if self.first else self.result


class FakeShadow:
    """Holds texts, in which nothing runs."""

    def __init__(self, texts: Mapping[str, bytes | None]) -> None:
        self.texts = dict(texts)
        self.closed = False

    async def hold(self, texts: Mapping[str, bytes | None]) -> None:
        self.texts = dict(texts)

    def enter(self, *, confined: bool, written: Written | None = None) -> Entry:
        return Entry("")

    def close(self) -> None:
        self.closed = True


class FakeShadows:
    """Makes them, unless there is a reason why not."""

    def __init__(self) -> None:
        self.made: list[FakeShadow] = []
        self.refusal = ""

    async def make(self, texts: Mapping[str, bytes | None]) -> FakeShadow:
        if self.refusal:
            raise FileRefused(self.refusal)
        self.made.append(FakeShadow(texts))
        return self.made[-1]


class World:
    """A session and everything around it, in memory."""

    def __init__(
        self,
        files: Mapping[str, str | bytes] | None = None,
        *,
        options: SessionOptions | None = None,
        roles: Mapping[Role, RoleSpec] | None = None,
    ) -> None:
        _one_thread()
        self.clock = FakeClock()
        self.files = MemoryFiles(files)
        self.runner = FakeRunner()
        self.shadows = FakeShadows()
        self.wires: dict[str, FakeWire] = {}
        self.lanes: list[FakeWire] = []
        """All that were made beside the main one."""
        self.verify: VerifyCommand | None = VerifyCommand(("pytest", "-q"), "pytest found")
        self.others: list[VerifyCommand] = []
        """Verifiers besides ``verify``."""
        self.remembered: list[str] = []
        self.wakes = 0
        self.outside: Callable[[set[str]], None] | None = None
        self.roles: dict[Role, RoleSpec] = dict(
            roles
            or {
                "fast": RoleSpec("fast", "quick-1", "main"),
                "deep": RoleSpec("deep", "slow-1", "main"),
            }
        )
        self.ports = Ports(
            wires=self._wire,
            clock=self.clock,
            files=self.files,
            runner=self.runner,
            verifiers=self._verifiers,
            shadows=lambda: self.shadows,
            remember_consent=self.remembered.append,
            watch=self._watch,
            sleep=self.clock.sleep,
            jitter=lambda: 0.5,
        )
        self.session = Session(
            self.ports, self.roles, options or SessionOptions(conversation="conversation-1")
        )
        self.session.on_wake = self._woken

    @property
    def wire(self) -> FakeWire:
        """The wire of the endpoint ``main``."""
        return self.wires.get("main") or self._wire("main")

    def _wire(self, endpoint: str, lane: str = MAIN_LANE) -> FakeWire:
        name = endpoint if lane == MAIN_LANE else f"{endpoint} {lane}"
        if name not in self.wires or self.wires[name].finished:
            self.wires[name] = FakeWire(self.clock)
            if lane != MAIN_LANE:
                self.lanes.append(self.wires[name])
        return self.wires[name]

    async def runs(self) -> None:
        """The session begins, and its watcher has begun."""
        await self.session.run()
        await settle()

    def changed_outside(self, *paths: str) -> None:
        """The watcher tells of these."""
        assert self.outside is not None
        self.outside(set(paths))

    async def answers(self, choice: str | int, words: str = "") -> None:
        """The user answers the one question, with these words or with the choice of that number."""
        (ask,) = self.session.status.asks
        chosen = ask.choices[choice] if isinstance(choice, int) else choice
        self.session.submit(Answer(ask.id, chosen, words))
        await settle()

    async def _verifiers(self) -> Sequence[VerifyCommand]:
        return () if self.verify is None else (*self.others, self.verify)

    def _woken(self) -> None:
        self.wakes += 1

    def _watch(self, callback: Callable[[set[str]], None]) -> Awaitable[None]:
        self.outside = callback
        return asyncio.sleep(0)


class OneThread(ThreadPoolExecutor):
    """What the session hands to a thread runs in turn, so that `settle` can wait for it."""

    def __init__(self) -> None:
        super().__init__(max_workers=1)
        self.given = 0

    def submit(self, *given: Any, **named: Any) -> Future[Any]:
        self.given += 1
        return super().submit(*given, **named)


def _one_thread() -> None:
    with suppress(RuntimeError):  # a test without a loop
        asyncio.get_running_loop().set_default_executor(OneThread())


async def settle() -> None:
    """Let everything that is ready run, also in the thread, as long as more is given to it."""
    thread: Any = getattr(asyncio.get_running_loop(), "_default_executor", None)
    rounds = 3
    while rounds:
        before = getattr(thread, "given", 0)
        for _ in range(20):
            await asyncio.sleep(0)
        await asyncio.to_thread(lambda: None)
        rounds = 3 if getattr(thread, "given", 0) > before + 1 else rounds - 1
    for _ in range(20):
        await asyncio.sleep(0)

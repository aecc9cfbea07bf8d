"""A session without a front end, beside the one on the screen: a lane.

It begins with what the screen shows and has a lane of the endpoint for itself. Whatever its model
writes, or a command of the model, stays in memory (`lane_files`): `LaneSession.changes` says what
became of the files, which somebody brings home as hunks. What it costs counts as the parent's.
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from msgspec.structs import replace

from tui.core.patches.bringing_home import LaneFile
from tui.core.price import Quote
from tui.core.stamping import no_stamp
from tui.engine import intents
from tui.engine.intents import Intent, Mode, Role
from tui.engine.judging import JudgingPlaces
from tui.engine.lane_files import LaneFiles, LaneRunner, LaneShadows
from tui.engine.notices import Ask, Notices
from tui.engine.ports import Ports, RoleSpec, Wire
from tui.engine.services import Services
from tui.engine.session_options import SessionOptions
from tui.engine.session_state import SessionState, Witness

if TYPE_CHECKING:
    pass


class WholeSession(Protocol):
    """What a lane needs of its session (`tui.engine.session.Session`)."""

    services: Services
    on_wake: Callable[[], None]

    @property
    def at_rest(self) -> bool:
        """Nothing runs that was asked for."""

    def submit(self, intent: Intent) -> None:
        """Do what is asked."""

    def drain(self) -> Notices:
        """What changed since the last drain."""

    async def run(self) -> None:
        """Dial, watch the files."""

    async def close(self) -> None:
        """End tasks, commands and sockets."""


MakeSession = Callable[[Ports, Mapping[Role, RoleSpec], SessionOptions, Services], WholeSession]
FRAME_S = 0.05
"""Between two looks at what has changed in a lane."""
_STOP_S = 2.0
"""A lane that is closed has so long to end what it runs."""
Asks = Literal["refuse", "wait"]
"""What becomes of a lane's questions: nobody is there, or somebody answers `Status.asks`."""


class LaneStart(NamedTuple):
    """What a lane begins with."""

    name: str
    """Of the wire's lane."""
    spec: RoleSpec
    texts: Mapping[str, bytes | None]
    """What the screen shows and the disk has not; None: no such file."""
    options: SessionOptions
    asks: Asks = "refuse"


class _LaneWitness(Witness):
    """Has the parent pay, and knows whether the lane has begun."""

    def __init__(self, parent: Services, turn: int) -> None:
        self._parent, self._turn = parent, turn
        self.asked = False

    def request_leaves(self, turn: int, body: Mapping[str, object], usd: float = 0.0) -> None:
        """Nothing kept it from asking."""
        self.asked = True

    def paid(self, turn: int, quote: Quote) -> None:
        """It costs money, whoever asked."""
        state = self._parent.state
        state.meter.paid_beside(quote.usd, unknown=quote.unknown)
        state.witness.paid(self._turn, quote)
        state.metered()


class LaneSession:
    """One lane. `begin` it, `prompt` it, wait for `rest`, read `changes`, `close` it."""

    def __init__(self, parent: Services, start: LaneStart, make: MakeSession) -> None:
        self.name, self.spec = start.name, start.spec
        self.denied: list[Ask] = []
        """What it asked, and nobody was there to answer."""
        self.on_stirred: Callable[[Notices], None] = lambda notices: None
        """Told what has changed, a few times a second."""
        self._parent = parent
        self._stirred = asyncio.Event()
        self._due: TimerHandle | None = None
        self._closed = asyncio.Event()
        self._tell: Callable[[set[str]], None] = lambda paths: None
        index = parent.open_files.catalogue
        listed = index.paths() if index.ready() else None
        self.files = LaneFiles(parent.ports.files, start.texts, listed)
        waits = start.asks == "wait"
        ports, roles = self._ports(parent.ports, waits=waits), {start.spec.role: start.spec}
        self.session = make(ports, roles, start.options, parent)
        self.state: SessionState = self.session.services.state
        """The conversation, the workspace, the meter, the status."""
        services = self.session.services
        services.requests.attachments.begin_as(parent.requests.attachments)
        services.open_files.begin_as(parent.open_files)
        state = self.state
        state.witness = self._witness = _LaneWitness(parent, parent.requests.history.turn)
        state.before_request.append(lambda turn: self._accept())
        if not waits:
            state.questions.nobody = self.denied.append
        self.session.on_wake = self._woken

    def _ports(self, parent: Ports, *, waits: bool) -> Ports:
        """The parent's, but for all that reaches the disk or the user."""
        shadows = None if parent.shadows is None else LaneShadows(parent.shadows, self.files)
        runner = LaneRunner(parent.runner, shadows, self.files)
        runner.on_written = lambda paths: self._tell(paths)
        return replace(
            parent,
            wires=self._wire,
            files=self.files,
            runner=runner,
            shadows=None if shadows is None else lambda: shadows,
            format_command=None,
            hooks=None,
            remember_consent=parent.remember_consent if waits else lambda command: None,
            consents=parent.consents if waits else set(parent.consents),
            project_map=None,
            watch=self._watch,
            opened=lambda paths: None,
            folder=None,
            git=None,
            git_status=None,
            journal=None,
            store=None,
            archive=None,
            rescue=None,
            catalogue=None,
            sockets=tuple,
            stamp=no_stamp,
        )

    def _wire(self, endpoint: str, lane: str) -> Wire:
        return self._parent.ports.wires(endpoint, self.name)

    def _watch(self, changed: Callable[[set[str]], None]) -> Awaitable[None]:
        """What commands of the model write is what others change."""
        self._tell = changed
        return asyncio.sleep(0)

    @property
    def has_asked(self) -> bool:
        """A request of it has left."""
        return self._witness.asked

    async def begin(self, *paths: str, talk: bool = False) -> None:
        """Dial, and open these files, or what the user has open.

        ``talk``: with what was said before.
        """
        if talk:
            said = self._parent.requests.history.entries
            self.session.services.requests.history.begin_with(
                [replace(entry, turn=0) for entry in said]
            )
        status = self._parent.state.status
        for path in paths or status.open_paths:
            aside = not paths and path != status.active_path
            self.session.submit(intents.OpenFile(path, aside=aside))
        await self.session.run()

    def prompt(self, text: str) -> None:
        """Ask its model; steers or redirects as any session would."""
        self.session.submit(intents.Prompt(text))

    async def rest(self) -> None:
        """Return when nothing runs any more: no turn, no command, no verifier."""
        while not (self.session.at_rest and self._due is None) and not self._closed.is_set():
            self._stirred.clear()
            await self._stirred.wait()
        if not self._closed.is_set():
            self._accept()

    @property
    def changes(self) -> dict[str, LaneFile]:
        """What it made of the files so far, by the path; hunks that are cut are not in it."""
        if not self._closed.is_set():
            self._accept()
        return self.files.changes

    def _accept(self) -> None:
        """What the model wrote is the lane's text, whoever need look at it at home."""
        if any(hunk.decidable for hunk in self.state.workspace.hunks):
            self.session.submit(intents.Accept())

    async def close(self, *, at_once: bool = False) -> None:
        """End all that it runs, and leave the wire's lane; ``at_once``: wait for nothing."""
        if self._closed.is_set():
            return
        session = self.session
        session.submit(intents.Interrupt())
        session.submit(intents.StopCommand())
        if not at_once:
            try:
                async with asyncio.timeout(_STOP_S):
                    await self.rest()
            except TimeoutError:
                pass  # its server is silent
            if self._closed.is_set():  # at once, meanwhile
                return
        self._closed.set()
        self._stirred.set()
        if self._due is not None:
            self._due.cancel()
        if not at_once:
            await session.services.budget().settled()
        await session.close()

    def _woken(self) -> None:
        loop = asyncio.get_running_loop()
        if self._due is None and not self._closed.is_set():
            self._due = loop.call_later(FRAME_S, self._drain)

    def _drain(self) -> None:
        self._due = None
        if not self._closed.is_set():
            self.on_stirred(self.session.drain())
        self._stirred.set()


def _lane_options(options: SessionOptions, spec: RoleSpec, mode: Mode) -> SessionOptions:
    """How a lane of such a session behaves."""
    return SessionOptions(
        limits=options.limits,
        mode="plan" if mode == "plan" else "sandbox",
        commands=options.commands,
        first_role=spec.role,
        ambiguous=options.ambiguous,
        in_slices=options.in_slices,
        auto_accept=True,
        chaining=options.chaining,
    )


class LaneSessions:
    """All lanes of a session."""

    def __init__(self, services: Services, options: SessionOptions, make: MakeSession) -> None:
        """``make`` makes a session."""
        self._services, self._options, self._make = services, options, make
        self.open: list[LaneSession] = []
        self.judging = JudgingPlaces(max(services.ports.side_by_side, 1))
        """Where what they made is judged on this machine, side by side."""

    def make(
        self,
        kind: str,
        spec: RoleSpec,
        texts: Mapping[str, bytes | None],
        asks: Asks = "refuse",
    ) -> LaneSession:
        """Another one over these texts, named after its ``kind``: ``attempt-3``.

        It has the name of one that is over, where there is one: a socket takes few names.
        """
        taken = {lane.name for lane in self.open}
        name = next(name for n in count(1) if (name := f"{kind}-{n}") not in taken)
        options = _lane_options(self._options, spec, self._services.state.status.mode)
        start = LaneStart(name, spec, texts, options, asks)
        lane = LaneSession(self._services, start, self._make)
        self.open.append(lane)
        return lane

    async def end(self, lane: LaneSession, *, at_once: bool = False) -> None:
        """It is not needed any more."""
        try:
            await lane.close(at_once=at_once)
        finally:
            if lane in self.open:
                self.open.remove(lane)

    async def close(self) -> None:
        """The session ends: so do they."""
        await asyncio.gather(*(self.end(lane, at_once=True) for lane in [*self.open]))

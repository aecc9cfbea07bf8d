"""A session without a front end, beside the one on the screen: a lane.

It begins with what the screen shows and has a lane of the endpoint for itself. Whatever its model
writes stays in memory, and commands run in shadows that hold it: `LaneSession.changes` says what
became of the files. They come home as a turn with pending hunks (`BringingHome`). What it costs
counts as the parent's.
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import Hunk, Stage
from tui.core.document.report import shown
from tui.core.files import FileRead, Prepared, ascii_shown, counted
from tui.core.inert_text import brief
from tui.core.patches.bringing_home import MET, LaneFile, bringing_home
from tui.core.price import Quote
from tui.core.programs import (
    AS_THE_USER,
    CommandLine,
    Output,
    RunOptions,
    RunResult,
    Sandbox,
    Shadow,
)
from tui.core.stamping import no_stamp
from tui.engine import intents
from tui.engine.intents import Intent, Mode, Role
from tui.engine.judging import JudgingPlaces
from tui.engine.notices import Ask, Notices
from tui.engine.ports import Ports, RoleSpec, Runner, Shadows, Wire, WorkspaceFiles
from tui.engine.response_items import PATCH_TOOL
from tui.engine.services import Services
from tui.engine.session_options import SessionOptions
from tui.engine.session_state import SessionState, Witness
from tui.errors import FileRefused

if TYPE_CHECKING:
    pass


class LaneFiles:
    """See `engine.ports.WorkspaceFiles`."""

    def __init__(
        self,
        below: WorkspaceFiles,
        texts: Mapping[str, bytes | None],
        listed: list[str] | None = None,
    ) -> None:
        """``texts`` are those that are not as in the files ``below``; None: no such file.

        ``listed``: what these list now, if somebody knows; of many lanes none need look then.
        """
        self._below, self._listed = below, listed
        self.root, self.named_root = below.root, below.named_root
        self.mark, self.linked = below.mark, below.linked
        self.modes: dict[str, int] = {}
        self.texts = dict(texts)
        self._bases: dict[str, bytes | None] = {}

    @property
    def changes(self) -> dict[str, LaneFile]:
        """What was written, by the path."""
        return {
            path: LaneFile(base, self.texts[path])
            for path, base in self._bases.items()
            if self.texts[path] != base
        }

    def read(self, path: str) -> FileRead:
        """See `engine.ports.WorkspaceFiles`."""
        found = self._below.read(path)
        name = path if path in self.texts or not found.link else found.real
        if name not in self.texts:
            return found
        data = self.texts[name]
        return replace(found, data=data, refusal="", kind="file", head=b"", size_bytes=0)

    def take(self, path: str, base: bytes | None, data: bytes | None) -> None:
        """Have the file, which said ``base``, say this from now on."""
        self._bases.setdefault(path, base)
        self.texts[path] = data

    def took(self, path: str, base: bytes | None, data: bytes | None) -> None:
        """It was written in an earlier start."""
        self._bases[path], self.texts[path] = base, data

    def write(self, path: str, data: bytes, expected: bytes | None) -> None:
        """See `engine.ports.WorkspaceFiles`."""
        self._change(path, data, expected)

    def delete(self, path: str, expected: bytes) -> None:
        """See `engine.ports.WorkspaceFiles`."""
        self._change(path, None, expected)

    def _change(self, path: str, data: bytes | None, expected: bytes | None) -> None:
        if self.read(path).data != expected:
            raise FileRefused(f"'{ascii_shown(path)}' was changed by another program")
        self.take(path, expected, data)

    def prepare(self, texts: Mapping[str, tuple[bytes, bytes | None]]) -> Prepared:
        """See `engine.ports.WorkspaceFiles`."""
        return Prepared()

    def end(self) -> None:
        """Nothing is kept back."""

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """Folders are where files are."""
        return ()

    def sweep(self, paths: Iterable[str], mark: str, folders: Iterable[str] = ()) -> None:
        """Nothing is left anywhere."""

    def listing(self) -> list[str]:
        """See `engine.ports.WorkspaceFiles`."""
        known, self._listed = self._listed, None
        if known is not None and not self.texts:
            return known  # of many lanes none need sort it
        listed = set(self._below.listing() if known is None else known)
        there = [path for path, data in self.texts.items() if data is not None]
        public = [path for path, why in self.privacy_of(there).items() if not why]
        return sorted(listed.difference(self.texts).union(public))

    def privacy_of(self, paths: Iterable[str]) -> dict[str, str]:
        """See `engine.ports.WorkspaceFiles`."""
        return self._below.privacy_of(paths)

    def links_of(self, paths: Iterable[str]) -> dict[str, str]:
        """See `engine.ports.WorkspaceFiles`."""
        return self._below.links_of(paths)


class LaneShadows:
    """Shadows with the texts of a lane. See `engine.ports.Shadows`."""

    def __init__(self, shadows: Callable[[], Shadows], files: LaneFiles) -> None:
        self._shadows, self._files = shadows, files

    async def make(self, texts: Mapping[str, bytes | None]) -> Shadow:
        """These, and for the rest what the lane has."""
        return await self._shadows().make({**self._files.texts, **texts})


class LaneRunner:
    """Has all commands of a lane run in shadows. See `engine.ports.Runner`."""

    def __init__(self, runner: Runner, shadows: LaneShadows | None, files: LaneFiles) -> None:
        """No ``shadows``: only what reads may run, on the disk."""
        self._runner, self._shadows, self._files = runner, shadows, files
        self.on_written: Callable[[set[str]], None] = lambda paths: None
        """Told which files a command of the model wrote."""

    def sandbox(self) -> Awaitable[Sandbox]:
        """See `engine.ports.Runner`."""
        return self._runner.sandbox()

    def git_programs(self, folders: Iterable[str]) -> Awaitable[str]:
        """See `engine.ports.Runner`."""
        return self._runner.git_programs(folders)

    def places(self, folder: str, names: Sequence[str]) -> tuple[str, ...]:
        """See `engine.ports.Runner`."""
        return self._runner.places(folder, names)

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
    ) -> RunResult:
        """What a command of the model writes is the lane's text afterwards."""
        if how.shadow is not None:
            return await self._runner.run(command, output, deadline_s, how)
        try:
            if self._shadows is None:
                raise FileRefused("there are no shadows here")
            shadow = await self._shadows.make({})
        except FileRefused as error:
            if how.reads:
                return await self._runner.run(command, output, deadline_s, how)
            return RunResult(None, 0.0, error=f"not run: {error}")
        written: dict[str, bytes | None] = {}
        told = None if how.keys else written.update
        try:
            how = replace(how, shadow=shadow, written=told)
            result = await self._runner.run(command, output, deadline_s, how)
        finally:
            shadow.close()
        await self._take(written)
        return result

    async def _take(self, written: Mapping[str, bytes | None]) -> None:
        bases = await asyncio.to_thread(self._changed, written)
        for path, base in bases.items():
            self._files.take(path, base, written[path])
        if bases:
            self.on_written({*bases})

    def _changed(self, written: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """What was there, of the files that may be taken and say something else now."""
        files = self._files
        found = {path: files.read(path).data for path in written}
        fresh = [path for path, data in written.items() if found[path] != data]
        reasons = files.privacy_of(fresh) if fresh else {}
        return {path: found[path] for path in fresh if not reasons.get(path)}


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

    def __init__(
        self,
        services: Services,
        options: SessionOptions,
        make: MakeSession,
        judging: JudgingPlaces,
    ) -> None:
        """``make`` makes a session."""
        self._services, self._options, self._make = services, options, make
        self.open: list[LaneSession] = []
        self.judging = judging
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


_BRIEF = 80
"""Characters of a prompt that are shown where it comes home."""


class LaneResult(Struct, frozen=True):
    """What is brought home, and how that is said."""

    who: str
    """``delegate d1``, ``attempt 3 of 5``."""
    prompt: str
    """What the lane was asked."""
    spec: RoleSpec
    """Who did it."""
    files: Mapping[str, LaneFile]
    said: str = ""
    """The last words of its model, in Markdown."""
    judged: str = ""
    """What the verifiers say of it, as the lane left it; empty: nothing judged it."""


class BringingHome:
    """One result at a time, and never while an answer streams."""

    def __init__(self, services: Services, new_turn: Callable[[str, str, RoleSpec], int]) -> None:
        """``new_turn`` begins a turn that a lane did (prompt, that in brief, who); its number."""
        self._services, self._new_turn = services, new_turn
        self._one = asyncio.Lock()
        self._idle = asyncio.Event()
        services.state.after_turn.append(lambda *told: self._idle.set())

    async def bring(self, result: LaneResult) -> Sequence[Hunk]:
        """Bring it home as soon as no answer streams; returns its hunks, the refused ones too."""
        async with self._one:
            while self._services.state.status.busy:
                await self.turn_over()
            return await self._bring(result)

    async def turn_over(self) -> None:
        """Return when the turn that runs is over, and another may have begun."""
        self._idle.clear()
        await self._idle.wait()
        await asyncio.sleep(0)

    async def _bring(self, result: LaneResult) -> Sequence[Hunk]:
        services, state, role = self._services, self._services.state, result.spec.role
        in_brief = f"{result.who}: {brief(result.prompt, _BRIEF)}"
        number = self._new_turn(result.prompt, in_brief, result.spec)
        call_id = f"{result.who}, turn {number}"
        if result.said:
            state.add(Block(BlockKind.TEXT, number, "", role, state="done"), result.said)
        work = bringing_home(state.workspace.documents, result.files, number, call_id)
        hunks = await state.input_first.do(work, services.ports.clock.now)
        if hunks:
            state.add(Block(BlockKind.PATCH, number, PATCH_TOOL, role, call_id, "done"))
        state.note(number, f"{result.who}: {home_words(hunks, result)}")
        services.requests.history.note(_told(result, hunks))
        services.requests.told.mark(hunks)
        state.workspace.on_landed(hunks, True)
        state.hunks_changed()
        state.witness.turn_ends(number, "completed", beside=True)
        state.witness.decided()  # from here on the store has it
        return hunks


def home_words(hunks: Sequence[Hunk], result: LaneResult) -> str:
    """What came home of a lane: ``3 hunks in 2 files wait for you; judged: passes``."""
    if not hunks:
        return "its changes are here already" if result.files else "nothing is changed"
    waiting = [hunk for hunk in hunks if hunk.decidable]
    refused = [hunk for hunk in hunks if hunk.stage is Stage.REFUSED]
    met = sum(bool(MET.intersection(hunk.flags)) for hunk in waiting)
    places = counted(len({hunk.path for hunk in waiting}), "file")
    wait = "waits" if len(waiting) == 1 else "wait"
    words = [f"{counted(len(waiting), 'hunk')} in {places} {wait} for you"] * bool(waiting)
    words += [f"{met} of them met what was changed meanwhile"] * bool(met)
    words += [f"not brought: {one.path}: {one.reason}" for one in refused]
    words += [f"judged: {result.judged}"] * bool(result.judged)
    return "; ".join(words)


def _told(result: LaneResult, hunks: Sequence[Hunk]) -> str:
    """What the model of this conversation is told."""
    paths = sorted({hunk.path for hunk in hunks})
    about = f"Beside you another model ({result.who}) was asked: {result.prompt}"
    if not hunks:
        return f"{about}\nNothing came of it that is not here already."
    ids = f"hunks {hunks[0].id} to {hunks[-1].id}" if len(hunks) > 1 else f"hunk {hunks[0].id}"
    files = ", ".join(map(shown, paths))
    judged = f" What judges the project says of them: {result.judged}." if result.judged else ""
    return f"{about}\nIts changes are in the editor as {ids}, pending review, in {files}.{judged}"

"""What the engine needs of the outside world; ``cli`` plugs the effects in.

Errors cross these ports only as `tui.errors` exceptions.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from dataclasses import field as compared
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct, field

from tui.core.document.unfinished_writes import Unfinished, WriteStep
from tui.core.files import FileRead, FolderEntry, GitMove, GitPlace, GitState, Prepared
from tui.core.price import Quote, SameTiers
from tui.core.programs import AS_THE_USER, CommandLine, Output, RunOptions, Sandbox, Shadow
from tui.core.programs import RunResult as RunResult
from tui.core.run_report import FailedTest, RunReport
from tui.core.session_record import LeftDelegate, Record, SessionLine
from tui.core.stamping import Stamp, no_stamp
from tui.core.unsaved import Unsaved
from tui.core.wire.endpoint_facts import Abilities as Abilities
from tui.core.wire.endpoint_facts import SocketView as SocketView
from tui.core.wire.events import Event, Usage
from tui.engine.intents import Effort, Role

if TYPE_CHECKING:
    from tui.core.compaction import Recollection
    from tui.core.cycles import CycleReport
    from tui.core.images import ImageRules
    from tui.core.project_map import Seeds
    from tui.core.project_words import SkillFile
    from tui.core.proposals import JudgedTurn

WireState = Literal["closed", "connecting", "open"]
Transport = Literal["websocket", "http"]
"""``http``: HTTP+SSE through the bridge, because the WebSocket was refused or kept breaking."""
MAIN_LANE = "main"
"""The lane of the foreground conversation."""
PatchTool = Literal["custom", "function", "text"]
"""How a model hands over a patch: freeform tool, function tool, or in its prose."""
ShellTool = Literal["auto", "function", "shell", "local_shell", "bash", "none"]
"""How a model is offered a shell: a plain function, an argv as Codex has it, the built-in tool of
the Responses API, Anthropic's ``bash``; ``auto``: by the model's name."""
PatchFormat = Literal["auto", "apply_patch", "search_replace", "unified_diff", "whole_file"]
"""What a model is asked to write patches in; ``auto`` is apply_patch, others are known in prose."""


class Caps(Struct, frozen=True):
    """US dollars; None: as much as it takes."""

    session: float | None = None
    day: float | None = None
    """From midnight on, of all sessions on this machine."""
    switch: float | None = None
    """Another model that reads the conversation anew for more than that is asked about."""


EscalationStep = Literal["effort", "attempts", "deep"]


class FixRules(Struct, frozen=True):
    """When a failure is mended, and when that is given up."""

    when: Literal["ask", "auto"] = "ask"
    """``auto``: as soon as the screen is found red."""
    tries: int = 3
    usd: float | None = None
    """US dollars, of all tries; None: as much as it takes."""
    seconds: float | None = 300.0
    role: Role | None = None
    """Which model is asked; None: the one that answers now."""
    escalate: tuple[EscalationStep, ...] = ()
    """What is done when the tries were in vain, one after the other."""


class SpentToday(Struct, frozen=True):
    """US dollars since midnight, as far as they are kept."""

    day: str
    own_usd: float = 0.0
    """Of this session."""
    others_usd: float = 0.0


class RoleSpec(Struct, frozen=True):
    """Which model answers for a role, and where."""

    role: Role
    model: str
    endpoint: str
    """The endpoint's name (a key for `WireFactory`)."""
    effort: Effort | None = None
    auto_effort: bool = False
    """``effort`` is only what it begins with: see `tui.engine.auto_effort`."""
    efforts: tuple[str, ...] | None = None
    """Those that the model has, weakest first; empty: none; None: not known."""
    context_window: int | None = None
    """Tokens; None if not known."""
    patch_tool: PatchTool = "custom"
    patch_format: PatchFormat = "auto"
    shell_tool: ShellTool = "auto"
    chaining: bool = True
    """False: every request says all, for an endpoint that loses part of a chain."""
    tier: str = ""
    """Service tier that is asked for; empty: the server's own choice."""
    same_tiers: SameTiers = ()
    """Names of tiers that are one there."""
    max_output_tokens: int | None = None
    """Most that one answer may have; None: as the server has it."""
    steers: bool | None = None
    """Whether the model is known to take steering texts; None: it is tried."""
    output_limit: int | None = None
    """Most that one answer of the model can have; None: not known."""
    outdated: str = ""
    """That the model is gone or legacy, in words; empty: nothing is known of that."""
    images: bool | None = None
    """Whether it takes images; None: not known, the server may decide."""
    image_rules: ImageRules | None = None
    """What an image costs there, and what is taken; None: not known."""
    temperature: float | None = None
    """How freely it chooses its words; None: as the server has it."""

    @property
    def origin(self) -> str:
        """Who said an item: endpoint and model."""
        return f"{self.endpoint}\t{self.model}"


class Wire(Protocol):
    """One lane of one endpoint (effects.wire); lanes share a socket where the endpoint can.

    All methods but `open` and `close` are synchronous: what they queue is written in the same
    turn of the event loop.
    """

    state: WireState
    transport: Transport
    round_trip_s: float | None
    close_code: int | None
    """Of the last socket that was lost, if its server gave one."""
    on_event: Callable[[Event, float], None]
    """Called for each event in order with the monotonic time of its frame, in seconds."""
    on_state: Callable[[WireState, str], None]
    """Called when `state` changed, with the reason in words when it was lost."""

    @property
    def busy(self) -> bool:
        """A response is in flight, or the server owes the successor of a steered one.

        After a terminal event that leaves it True: send nothing; either a `Created` comes by
        itself or a `SteerNews` says that the text was returned.
        """

    def abilities(self, model: str) -> Abilities:
        """What is known of the endpoint and this model."""

    async def open(self) -> None:
        """Dial, unless open. Raises EndpointError or KeyRefused."""

    def create(self, request: Mapping[str, Any]) -> None:
        """Queue a ``response.create``. ``request`` has no ``type`` and no ``stream_id``.

        With ``"generate": False`` it is a prewarm. Raises WireError if the connection is not open
        or the lane is busy.
        """

    def steer(self, text: str) -> int | None:
        """Add input to the response in flight; its number in the `SteerNews` that follow.

        None: nothing to steer, or the endpoint is known not to; nothing was sent then.
        """

    def throttle(self, tokens_s: float | None) -> bool:
        """Have the response in flight come at this rate (None: as it comes), if that can be.

        False: whoever answers knows no such thing.
        """

    def interrupt(self) -> None:
        """Stop the response in flight: no delta of it reaches `on_event` from now on.

        The wire goes down the ladder of PROTOCOL.md section 8 by itself; the terminal event,
        or `on_state` with ``closed``, tells that the lane is free again.
        """

    def drop(self) -> None:
        """Leave the socket at once; where other lanes are busy on it, only this lane leaves."""

    def fall_back(self) -> bool:
        """Use HTTP+SSE from the next `open` on; False if there is no such way or it is in use."""

    def come_back(self) -> None:
        """HTTP+SSE failed too: the WebSocket from the next `open` on, unless it was refused."""

    async def close(self) -> None:
        """Close for good."""


WireFactory = Callable[[str, str], Wire]
"""Makes the wire of an endpoint (by name) and a lane; the session keeps one of each."""


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> float:
        """Monotonic seconds."""


class WorkspaceFiles(Protocol):
    """The workspace's files; every path is relative, with ``/``, and stays inside the root."""

    root: str
    """Absolute path without links, for the child processes' working directory and the screen."""
    named_root: str
    """The absolute path as the user wrote it; a model may name files by either."""
    mark: str
    """What the names of this process's temporary files have in common."""
    linked: set[str]
    """Those that had other names (hard links) when they were read last; maybe other paths."""
    modes: dict[str, int]
    """Path -> permissions that it gets when it is made (again)."""

    def read(self, path: str) -> FileRead:
        """The bytes of a file, or why it is not to be had. Never raises."""

    def prepare(self, texts: Mapping[str, tuple[bytes, bytes | None]]) -> Prepared:
        """Make ready that these are written (new bytes, old bytes). Never raises.

        Nothing of theirs is changed by it; `end` has to be called behind the last `write`.
        """

    def end(self) -> None:
        """What was written since `prepare` is on the disk. Never raises."""

    def write(self, path: str, data: bytes, expected: bytes | None) -> None:
        """Write atomically, keeping mode, links and owner; make directories as needed.

        ``expected`` is what must lie there now (None: nothing). Raises FileRefused, having
        changed nothing.
        """

    def delete(self, path: str, expected: bytes) -> None:
        """Remove a file. Raises FileRefused, having changed nothing."""

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """Folders that have to be made for a file, outer ones first. Never raises."""

    def sweep(self, paths: Iterable[str], mark: str, folders: Iterable[str] = ()) -> None:
        """Remove what a killed duetto left beside these paths, and empty folders. Never raises."""

    def listing(self) -> list[str]:
        """All files that are not ignored and not secret, sorted (.gitignore, .ignore)."""

    def privacy_of(self, paths: Iterable[str]) -> dict[str, str]:
        """Why each is not sent to a model without asking (``.env``, a key file, ignored).

        Empty: it may be. A link counts as what it leads to, a hard link as all of its names.
        """

    def links_of(self, paths: Iterable[str]) -> dict[str, str]:
        """Why other names (hard links) of each call for a question; empty: none does.

        May walk the workspace: for a thread. Never raises.
        """


class WriteLog(Protocol):
    """What is about to be written, on the disk before it is (effects.write_ahead_log)."""

    def begin(self, steps: Sequence[WriteStep], mark: str = "", *, durable: bool = True) -> None:
        """These files are about to be changed. Raises FileRefused: nothing may be changed.

        Not ``durable``: it has to outlive a kill, but no power cut.
        """

    def over(self, paths: Collection[str]) -> None:
        """These of them are about to be written over, not replaced. Raises FileRefused."""

    def settling(self, name: str) -> AbstractContextManager[None]:
        """Nobody else settles that one now. Raises FileRefused: somebody does, or did."""

    def done(self, path: str) -> None:
        """This file is as it should be. Never raises."""

    def end(self) -> None:
        """All are new, or all are old again. Never raises."""

    def leave(self) -> None:
        """It came to a stop half way: the next duetto says so. Never raises."""

    def unfinished(self) -> list[Unfinished]:
        """What was cut short in this workspace, oldest first. Never raises."""

    def forget(self, name: str) -> None:
        """It is settled. Raises FileRefused."""


class Runner(Protocol):
    """Runs commands in the workspace (effects.commands.runner)."""

    async def sandbox(self) -> Sandbox:
        """What confines the model's commands here; found out once. Never raises."""

    async def git_programs(self, folders: Iterable[str]) -> str:
        """The setting of a repository's own by which git would run a program in these folders.

        They are below the root; empty: there is none. Never raises.
        """

    def places(self, folder: str, names: Sequence[str]) -> tuple[str, ...]:
        """Where a folder below the root, and names in it, lead now; see `RunOptions`."""

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
    ) -> RunResult:
        """Run to the end, handing on all output as it comes.

        Cancelling it ends the process group: SIGTERM, then SIGKILL, within two seconds.
        """


class Shadows(Protocol):
    """Throw-away copies of the workspace (effects.shadow), any number side by side."""

    async def make(self, texts: Mapping[str, bytes | None]) -> Shadow:
        """One in which these files differ from the disk; None: there is no such file.

        `RunOptions.shadow` has a command run in it; `Shadow.close` ends it. Raises FileRefused:
        there can be none here, and why.
        """


class ProjectReader(Protocol):
    """Skills, and the user's own instructions (effects.project_folders); for a thread."""

    def rules(self) -> tuple[str, FileRead]:
        """The path and the bytes of the user's own AGENTS.md. Never raises."""

    def skills(self) -> list[SkillFile]:
        """Every SKILL.md, the workspace's first. Never raises."""

    def read(self, file: SkillFile, path: str) -> FileRead:
        """A file of a skill of the user's; ``path`` is relative to its folder. Never raises."""


class MapRules(Struct, frozen=True):
    """When a model is told a map of the project, and how long it may be."""

    when: Literal["auto", "on", "off"] = "auto"
    """``auto``: where the list of all files is cut in the instructions."""
    tokens: int = 2000


class ProjectMapper(Protocol):
    """Knows what the files of the project say (effects.project_map). Nothing here raises."""

    async def list_files(self, paths: Sequence[str]) -> None:
        """These are all files there are; they are read in the background from now on."""

    async def change(self, paths: Sequence[str]) -> None:
        """These were changed; none: any of them."""

    async def draw(self, seeds: Seeds, tokens: int, within_s: float) -> str:
        """A map of at most so many tokens: when all files were read, or after so long.

        Empty: there is none.
        """

    async def close(self) -> None:
        """End it."""


class Rescue(Protocol):
    """What was typed and not saved when duetto was ended by force (effects.rescue)."""

    def jot(self, unsaved: Unsaved) -> None:
        """Keep this from now on instead of what was kept before; nothing, if it is empty.

        It holds against a kill, and waits for no disk. Never raises: `bring` says what is wrong.
        """

    def bring(self) -> tuple[str, list[str]]:
        """Bring to the disk what was jotted down last.

        Returns when it is there: the folder, and what could not be written, with the reasons.
        Raises FileRefused: there is no folder to write to.
        """

    def kept(self) -> list[Unsaved]:
        """What is kept for this workspace, newest first. Never raises."""

    def dismiss(self, folder: str) -> None:
        """Remove it for good. Raises FileRefused."""


class Pictures(Protocol):
    """Images of this machine beyond the workspace (effects.clipboard). Nothing here raises."""

    def is_there(self, path: str) -> bool:
        """Whether that is a file."""

    def read(self, path: str) -> FileRead:
        """The bytes of a file by its whole path, for a thread."""

    def copied(self) -> bytes | str:
        """The image on the clipboard, for a thread; a str says in words why there is none."""


class SessionStore(Protocol):
    """Where a session is kept while it lasts (effects.store.writing). Nothing here raises."""

    id: str
    """What the session is called: the argument of ``duetto resume``."""
    on_lost: Callable[[], None]
    """Called when what was kept is gone: all is to be said again."""

    @property
    def keeps(self) -> bool:
        """False: nothing of this session is kept, or not any more."""

    @property
    def kept(self) -> bool:
        """Something is kept under its id."""

    def put(self, record: Record) -> None:
        """Keep this within a second."""

    def commit(self, record: Record) -> None:
        """Keep this, and all that was put before: from now on it outlives a kill."""

    async def durable(self) -> None:
        """Return when all that was committed outlives a power cut, or cannot be made to."""

    def blob(self, data: bytes) -> str:
        """Keep bytes, if they are not kept yet; their SHA-256 in hexadecimal digits."""

    def forget(self, *, all_sessions: bool = False) -> None:
        """Delete what is kept of this session (or of all), and keep no more of this one."""

    async def settled(self) -> None:
        """Return when all of that is done. Raises StoreRefused: it cannot be."""


class SessionArchive(Protocol):
    """The sessions that are kept (effects.store.reading). Raises StoreRefused."""

    async def sessions(self, words: str) -> list[SessionLine]:
        """Those in which all of these words are (their beginnings will do), newest first."""

    async def find(self, session_id: str) -> SessionLine:
        """A session by its id, by the beginning of it that no other has, or by its name."""

    async def left(self, folder: str) -> list[LeftDelegate]:
        """What was delegated in the last sessions of a folder, and did not come home."""

    async def cut(self, folder: str) -> SessionLine | None:
        """The last session of a folder in which no duetto is, if that was killed."""

    async def recall(self, session_id: str, asked: Recollection) -> str:
        """What was said in a session, and before it was forked: for a model."""

    async def past_turns(self) -> list[JudgedTurn]:
        """The newest turns that were judged, the newest first."""

    async def stats(self, since_ms: int) -> CycleReport:
        """What all turns from then on say of speed; 0: all that are kept."""

    async def asked_ms(self) -> int:
        """When it was last asked, or said, how fast it felt; 0: never."""


VerifyWhen = Literal["ask", "landed", "live"]
VerifierKind = Literal["syntax", "lint", "types", "tests"]
"""In the order of what they cost."""


_TEST_FOLDERS = frozenset(("tests", "test", "__tests__", "spec", "testdata", "fixtures"))


class FileMarks(Struct, frozen=True):
    """Which files matter to a verifier, by patterns: of a last name, or with ``/`` of a path."""

    tests: tuple[str, ...] = ()
    configuration: tuple[str, ...] = ()

    def is_test(self, path: str) -> bool:
        """Whether a file holds tests that can be named to a runner."""
        return _fits(path, self.tests)

    def is_configuration(self, path: str) -> bool:
        """Whether a file says how all tests run."""
        return _fits(path, self.configuration)

    def judge(self, path: str) -> bool:
        """Whether the verdict depends on a file that is not judged: a test, or what tests read."""
        beside = not _TEST_FOLDERS.isdisjoint(path.split("/")[:-1])
        return beside or self.is_test(path) or self.is_configuration(path)


def _fits(path: str, globs: Iterable[str]) -> bool:
    name = path.rpartition("/")[2]
    return any(fnmatch(path if "/" in glob else name, glob) for glob in globs)


_NO_MARKS = FileMarks()


class Part(Struct, frozen=True):
    """What of a project is to be judged; all empty: everything."""

    changed: tuple[str, ...] = ()
    """These files, and the tests that belong to them."""
    gone: tuple[str, ...] = ()
    """Of these files those that are deleted."""
    failed: tuple[FailedTest, ...] = ()
    """These tests once more."""
    named: tuple[str, ...] = ()
    """Tests as the user names them."""
    texts: Mapping[str, bytes | None] = {}
    """What differs from the disk where it is judged, by which it is known what imports what."""


AtOnce = Callable[[Mapping[str, bytes | None]], Awaitable[tuple[int, bytes] | None]]
"""Texts that differ from the disk -> exit status and output of the command; None: it has to run."""


@dataclass(frozen=True, slots=True)
class VerifyCommand:
    """A command that duetto runs by itself (the tests, the formatter), and where it comes from."""

    argv: tuple[str, ...] | str
    """A str is run by the shell."""
    source: str
    """In words: ``pytest found``, ``.duetto/config.toml``."""
    needs_consent: bool = False
    """It comes from the workspace's own files: ask once."""
    deadline_s: float = 120.0
    options: tuple[str, ...] = ()
    """Arguments for a report, which nobody needs to see."""
    report_file: str = ""
    """Where the report goes: what the output says of that nobody needs to see, either."""
    content: str = ""
    """A sign of what the project's own command does: a changed one is asked about again."""
    reader: Callable[[str, bool], RunReport] | None = compared(default=None, compare=False)
    """Output and whether it passed -> what failed; called once at the end of every run."""
    name: str = ""
    """Of what runs: ``pytest``."""
    kind: VerifierKind = "tests"
    title: str = ""
    """What the user sees of it, where the whole command is too much: ``ruff check · 2 files``."""
    progress: tuple[tuple[re.Pattern[str], ...], ...] = ()
    """See `tui.core.run_progress.RunProgress`."""
    part: Callable[[Part], VerifyCommand | None] | None = compared(default=None, compare=False)
    """The command that judges a part only; None: there is none that is smaller than all.

    For a thread: it reads files. Each has a report of its own, so that several can run at once:
    with an empty part it is the same command once more.
    """
    at_once: AtOnce | None = compared(default=None, compare=False)
    """Judges without a run, where that is quicker; what it cannot judge is run."""
    marks: FileMarks = _NO_MARKS
    memory: int = 0
    """Bytes that it may have with all that it starts; 0: as many as there are."""
    writes: bool = False
    """It changes files of the workspace: it must run where that harms nothing."""

    def judges_by(self, path: str) -> bool:
        """Whether the verdict depends on a file that is not judged: a test, or how it is run."""
        marks = self.marks
        return marks.judge(path) if self.kind == "tests" else marks.is_configuration(path)


class ModelOffer(Struct, frozen=True):
    """A model of a connected endpoint, with what is known of it."""

    endpoint: str
    model: str
    context_window: int | None = None
    """Tokens; None: not known."""
    price: tuple[float, float] | None = None
    """US dollars a million tokens, input and output; None: not known."""
    tokens_s: float | None = None
    """As the user's own turns measured it; None: there was none yet."""
    ttft_s: float | None = None


class ModelOffers(Struct, frozen=True):
    """What can be chosen now."""

    offers: tuple[ModelOffer, ...]
    unlisted: Mapping[str, str] = field(default_factory=dict)
    """Endpoint -> why it gave no list; any name may be a model's there."""


class ConnectedModels(Protocol):
    """The models of all endpoints that are connected (cli.catalogue)."""

    async def offers(self) -> ModelOffers:
        """All of them; endpoints are asked for their lists. Never raises."""

    async def spec(self, role: Role, endpoint: str, model: str) -> RoleSpec:
        """Have the endpoint dialled by this name from now on, and say how the model is asked.

        Raises DuettoError: no key, no such endpoint.
        """

    def measured(self, endpoint: str, model: str, tokens_s: float, ttft_s: float) -> None:
        """Keep how fast it was. Never raises."""

    async def sees(self, endpoint: str, model: str) -> bool | None:
        """Whether its server says that it takes images; None: it does not say. Never raises."""

    async def learnt_window(self, endpoint: str, model: str) -> int | None:
        """Tokens that its server takes, as its refusals said lately. Never raises."""

    def learn_window(self, endpoint: str, model: str, tokens: int) -> None:
        """Keep that. Never raises."""


HookEvent = Literal["before_command", "after_edit", "turn_end"]


class GitPort(Protocol):
    """Git, asked without running anything of the repository's own (effects.git); never raises."""

    async def changed(self, ref: str) -> tuple[list[str], str]:
        """Paths that differ from a commit, or why that cannot be said."""

    async def head(self, path: str, ref: str = "HEAD") -> FileRead:
        """A file as it is in a commit."""

    async def place(self) -> GitPlace:
        """Where git is now."""

    async def moved(self, before: GitPlace, now: GitPlace) -> GitMove:
        """What it did between two places."""


def project_tests(verifiers: Iterable[VerifyCommand]) -> VerifyCommand | None:
    """What runs the project's tests; None: nothing does."""
    return next((one for one in verifiers if one.kind == "tests"), None)


async def not_kept(on: bool) -> None:
    """Where there are no settings."""


async def no_verifiers() -> Sequence[VerifyCommand]:
    """Nothing judges."""
    return ()


class Ports(Struct):
    """All effects of a session."""

    wires: WireFactory
    clock: Clock
    files: WorkspaceFiles
    runner: Runner
    shadows: Callable[[], Shadows] | None = None
    """Gives what makes them when it is first needed; None: commands run on the disk."""
    workers: Callable[[], Shadows] | None = None
    """Gives what makes the shadows that attempts are judged in, on other machines, as many at once
    as are wanted (effects.cluster): the same runner serves them. None: ``shadows`` does."""
    workers_only: bool = False
    """What they cannot judge is not judged in ``shadows``."""
    side_by_side: int = 1
    """How many runs of the tests at once are faster than one behind the other."""
    verifiers: Callable[[], Awaitable[Sequence[VerifyCommand]]] = no_verifiers
    """What judges the project, the cheap ones first and its tests last; empty: nothing does.

    Looked up anew at every verification, which may take a look at many files.
    """
    format_command: Callable[[], Awaitable[VerifyCommand | None]] | None = None
    """What runs on the files that were saved, looked up anew each time; None: nothing does."""
    hooks: Callable[[HookEvent], Awaitable[Sequence[VerifyCommand]]] | None = None
    """What is to be asked or told of this, looked up anew each time; None: nobody is."""
    remember_consent: Callable[[str], None] = lambda command: None
    keep_asking: Callable[[bool], Awaitable[None]] = not_kept
    """Says in the user's settings whether they are asked how it felt. Raises SettingsError."""
    consents: set[str] = field(default_factory=set)
    """Commands of the workspace's own files that the user has allowed before."""
    project: Callable[[], ProjectReader] | None = None
    """Skills, and the user's own instructions, when they are first needed; None: there are none."""
    project_map: Callable[[], ProjectMapper] | None = None
    """Gives what draws it when it is first needed; None: there is none."""
    map_rules: MapRules = MapRules()
    watch: Callable[[Callable[[set[str]], None]], Awaitable[None]] | None = None
    """Calls back with changed paths until cancelled (effects.watcher); None: not watched.

    First with none: what changed before was not seen.
    Raises FileRefused: they cannot be watched, or not any more.
    """
    opened: Callable[[Iterable[str]], None] = lambda paths: None
    """Told which files are open: whatever else is not watched, they are."""
    folder: Callable[[str], Sequence[FolderEntry]] | None = None
    """What lies in a folder (relative; empty: the root); called in a thread. Raises FileRefused.

    None: what `WorkspaceFiles.listing` knows of it.
    """
    sizes: Callable[[Sequence[str]], Mapping[str, int]] = lambda paths: {}
    """Bytes of files, for a thread; never raises."""
    branch: Callable[[], str] = str
    """What git has checked out, looked up anew; empty where there is none. Never raises."""
    git_status: Callable[[], Awaitable[Mapping[str, GitState]]] | None = None
    """Path -> state of what is not as it was committed (effects.git). Never raises."""
    journal: WriteLog | None = None
    """None: nothing is written here."""
    git: Callable[[], GitPort] | None = None
    """Asks git; None: it is not asked here."""
    git_head: Callable[[str], Awaitable[FileRead]] | None = None
    """A file as it was committed (effects.git). Never raises."""
    store: Callable[[], SessionStore] | None = None
    """Gives it when it is first needed; None: there is none."""
    archive: Callable[[], SessionArchive] | None = None
    """Gives it when it is first needed; None: no sessions can be listed."""
    pictures: Callable[[], Pictures] | None = None
    """Gives it when it is first needed; None: there is none."""
    rescue: Rescue | None = None
    """None: nobody is there to be told."""
    quote: Callable[[str, Sequence[str], Usage, str], Awaitable[Quote]] | None = None
    spent_today: Callable[[], Awaitable[SpentToday]] | None = None
    """What a response cost: its endpoint, the model's names (as served first), tokens, tier.

    (effects.prices). Never raises.
    """
    catalogue: Callable[[], ConnectedModels] | None = None
    """Gives it when it is first needed; None: the models are those of the start."""
    sockets: Callable[[], Sequence[SocketView]] = tuple
    """The sockets of this session, for ``/status``."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits so many seconds between two tries."""
    jitter: Callable[[], float] = random.random
    """A number from 0 to 1 that spreads the tries of many clients over time."""
    give_memory_back: Callable[[], None] = lambda: None
    """Returns freed memory to the system (effects.system); called in a thread."""
    stamp: Stamp = no_stamp
    """Keeps when things happened, for ``--trace``."""

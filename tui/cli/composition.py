"""The composition root: a session with real effects, from settings and flags."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import tui
from tui.cli import logfile, verify_command
from tui.cli.options import REHEARSAL, ResolvedModels
from tui.core.folder_entry import GitState
from tui.core.stamping import Stamp, no_stamp
from tui.core.wire.address import Address, secrets_in, shown
from tui.core.wire.capabilities import Capabilities
from tui.core.wire.masking import Mask
from tui.core.wire.traffic import SocketView
from tui.effects.bridge_process import BridgeProcess
from tui.effects.clock import MonotonicClock
from tui.effects.files import Files
from tui.effects.known_endpoints import Facts, KnownEndpoints
from tui.effects.listing import Listing, warm
from tui.effects.recorder import Recorder
from tui.effects.rescue import RescueFolders
from tui.effects.verifier import Verifier
from tui.engine.desk import AGENTS_FILE
from tui.engine.notices import Trouble
from tui.engine.ports import MAIN_LANE, Ports, VerifyCommand, Wire
from tui.engine.session import Options, Session
from tui.errors import FileRefused, SettingsError, UsageError
from tui.settings import Paths, RehearsalSettings, Settings

if TYPE_CHECKING:
    from tui.effects.clipboard_tool import ClipboardTool
    from tui.effects.git_status import GitStatus
    from tui.effects.tracer import Tracer
    from tui.effects.wire import Endpoint

SURE_CHARS = 12
"""A variable's value that is shorter may be a word: only the keys in use are masked then."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a session works, and with what."""

    root: Path
    settings: Settings
    models: ResolvedModels
    paths: Paths
    tracer: Tracer | None = None
    """Keeps when things happened, for ``--trace``."""

    @property
    def stamp(self) -> Stamp:
        """The tracer's, or one that keeps nothing."""
        return no_stamp if self.tracer is None else self.tracer.stamp


class Composition:
    """A session and what it stands on; close it when done."""

    def __init__(
        self,
        workplace: Workplace,
        options: Options,
        *,
        watched: bool = True,
        record: Path | None = None,
    ) -> None:
        """Nothing is started or dialled yet.

        ``record`` is the file that keeps every frame; raises UsageError if it cannot be made.
        """
        self._workplace = workplace
        self._recorder = recorder_for(workplace, record)
        self._clipboard: ClipboardTool | None = None
        self._git: GitStatus | None = None
        self._clock = MonotonicClock()
        self._network = Network(workplace, self._clock, self._recorder)
        root = str(workplace.root)
        logfile.mask(_secrets(workplace))
        self._keyless = withheld(workplace, os.environ)
        """The environment of other programs."""
        self._listing = Listing(root, environment=self._keyless)
        self._files = Files(root, self._listing)
        self.rescue = RescueFolders(workplace.paths.state_dir, root)
        self.session = Session(self._ports(watched=watched), workplace.models.roles, options)
        if self._recorder is not None:
            self._recorder.on_failed = self._unrecorded

    def _ports(self, *, watched: bool) -> Ports:
        """What the session needs of the outside world."""
        workplace = self._workplace
        consents = Consents(workplace.paths, str(workplace.root))
        return Ports(
            wires=self._network.wire,
            clock=self._clock,
            files=self._files,
            runner=Verifier(str(workplace.root), self._keyless),
            verify_command=self._verify_command,
            remember_consent=consents.remember,
            consents=consents.known(),
            agents_md=self.agents_md,
            watch=self._watch if watched else None,
            folder=self._listing.folder,
            git_status=self._git_status if watched else None,
            rescue=self.rescue if watched else None,
            sockets=self._network.views,
            stamp=workplace.stamp,
        )

    async def close(self) -> None:
        """End the session, then the sockets, the bridge and the recording."""
        self._listing.close()
        await self.session.close()
        await self._network.close()
        if self._recorder is not None:
            await self._recorder.close()
        if self._workplace.tracer is not None:
            self._workplace.tracer.close()

    def copy_here(self, text: str) -> bool:
        """Copy by a program of this machine's desktop; False: there is none."""
        if self._clipboard is None:
            from tui.effects.clipboard_tool import ClipboardTool, command_for

            self._clipboard = ClipboardTool(command_for(os.environ), self._keyless)
        return self._clipboard.copy(text)

    def _unrecorded(self, words: str) -> None:
        """The recording ended early: the turn goes on."""
        self.session.warn(Trouble("The recording stopped", words, severity="warning"))

    async def _watch(self, callback: Callable[[set[str]], None]) -> None:
        from tui.effects.watcher import Watcher

        warm()
        await Watcher(str(self._workplace.root)).watch(callback)

    async def _git_status(self) -> Mapping[str, GitState]:
        from tui.effects.git_status import GitStatus

        if self._git is None:  # kept: it knows where in its repository the workspace is
            self._git = GitStatus(str(self._workplace.root), self._keyless)
        return await self._git.states()

    async def _verify_command(self) -> VerifyCommand | None:
        workplace = self._workplace
        return await asyncio.to_thread(verify_command.find, workplace.root, workplace.settings)

    def agents_md(self) -> str:
        """The text of the workspace's AGENTS.md, empty if there is none."""
        data = self._files.read(AGENTS_FILE).data
        return "" if data is None else data.decode("utf-8", "replace")


class Network:
    """The endpoints of a session; each is made, and the bridge started, when it is first needed."""

    def __init__(
        self,
        workplace: Workplace,
        clock: MonotonicClock,
        recorder: Recorder | None = None,
        *,
        forget: bool = False,
    ) -> None:
        """Nothing is dialled yet; ``forget``: learn anew what the endpoints can do."""
        self._forget = forget
        self._declared = workplace.models.endpoints
        self._clock = clock
        self._recorder = recorder
        self._stamp = workplace.stamp
        self._known = KnownEndpoints(workplace.paths.state_dir)
        self._endpoints: dict[str, Endpoint] = {}
        self._bridge = BridgeProcess(
            bridge_arguments(workplace.settings.rehearsal),
            endpoints={name: declared.address for name, declared in self._declared.items()},
            environment=withheld(workplace, os.environ),
        )

    def wire(self, endpoint: str, lane: str = MAIN_LANE) -> Wire:
        """A lane of an endpoint, by name."""
        return self.endpoint(endpoint).lane(lane)

    def endpoint(self, name: str) -> Endpoint:
        """An endpoint, by name; the rehearsal is one too."""
        if name not in self._endpoints:
            self._endpoints[name] = self._made(name)
        return self._endpoints[name]

    def views(self) -> list[SocketView]:
        """All sockets, for ``/status``."""
        return [view for endpoint in self._endpoints.values() for view in endpoint.views()]

    def shown_address(self, name: str) -> str:
        """Where an endpoint is, without its query."""
        declared = self._declared.get(name)
        return shown(declared.address.url) if declared else "the bridge on this machine"

    def facts(self, name: str) -> Facts:
        """What is remembered of an endpoint."""
        self._known.flush()
        return self._known.all().get(self.shown_address(name), {})

    async def close(self) -> None:
        """Close all sockets, end the bridge."""
        for endpoint in self._endpoints.values():
            await endpoint.close()
        await asyncio.to_thread(self._known.close)
        await self._bridge.close()

    def _made(self, name: str) -> Endpoint:
        # imported after the first paint
        from tui.effects.wire import ConnectionOptions, Endpoint

        if name == REHEARSAL:
            nearby = ConnectionOptions().nearby
            where, clock = self._bridge.address, self._clock
            return Endpoint(
                name, where, clock, options=nearby, recorder=self._recorder, stamp=self._stamp
            )
        declared = self._declared[name]
        address = declared.address
        relay = partial(self._bridge.address, name)

        async def websocket() -> Address:
            return address

        def learnt(capabilities: Capabilities) -> None:
            self._known.keep(address.url, capabilities)

        return Endpoint(
            name,
            websocket,
            self._clock,
            options=ConnectionOptions(transport=declared.transport),
            capabilities=Capabilities() if self._forget else self._known.load(address.url),
            on_learnt=learnt,
            fallback=None if declared.transport == "websocket" else relay,
            recorder=self._recorder,
            stamp=self._stamp,
        )


def recorder_for(workplace: Workplace, file: Path | None) -> Recorder | None:
    """What writes a recording, with all keys masked. Raises UsageError: it cannot be written."""
    if file is None:
        return None
    known = [s for s in logfile.secrets_of(os.environ) if len(s) >= SURE_CHARS]
    roles = {
        role: {"model": spec.model, "endpoint": spec.endpoint, "patch_tool": spec.patch_tool}
        for role, spec in workplace.models.roles.items()
    }
    about = {"program": f"duetto {tui.__version__}", "roles": roles}
    try:
        return Recorder(file, Mask([*known, *_secrets(workplace)]), about)
    except FileRefused as error:
        raise UsageError(str(error)) from error


def tracer_for(file: Path | None) -> Tracer | None:
    """What writes a trace. Raises UsageError: it cannot be written."""
    if file is None:
        return None
    from tui.effects.tracer import Tracer

    try:
        return Tracer(file)
    except FileRefused as error:
        raise UsageError(str(error)) from error


def withheld(workplace: Workplace, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without the keys that duetto uses, for commands of the workspace.

    Tests and build scripts are a stranger's code; a variable that holds the same key under
    another name, alone or as a part of its value, is left out too.
    """
    names = {endpoint.key_env or "" for endpoint in workplace.settings.endpoints.values()}
    names |= {endpoint.key_env for endpoint in workplace.models.endpoints.values()}
    keys = {environment[name].strip() for name in names if name in environment} - {""}
    for endpoint in workplace.models.endpoints.values():
        keys.update(secrets_in(endpoint.address))
    sure = [key for key in keys if len(key) >= SURE_CHARS]
    return {
        name: value
        for name, value in environment.items()
        if name not in names and value.strip() not in keys and not any(key in value for key in sure)
    }


def _secrets(workplace: Workplace) -> Iterator[str]:
    """The keys in use, and whatever else of an address nobody may see."""
    for endpoint in workplace.models.endpoints.values():
        yield from secrets_in(endpoint.address)
        yield os.environ.get(endpoint.key_env, "").strip()
    yield from logfile.proxy_passwords(os.environ)


def bridge_arguments(rehearsal: RehearsalSettings) -> list[str]:
    """The bridge's flags for the ``[rehearsal]`` table."""
    arguments = [
        f"--fast-rate={rehearsal.fast_tokens_s:g}",
        f"--deep-rate={rehearsal.deep_tokens_s:g}",
    ]
    if rehearsal.seed is not None:
        arguments.append(f"--seed={rehearsal.seed}")
    if rehearsal.mistakes is not None:
        arguments.append(f"--mistakes={rehearsal.mistakes:g}")
    return arguments


class Consents:
    """Commands of workspaces' own files that the user allowed for good, in the state folder.

    A line each, which is only ever added: two instances do not lose each other's answers.
    """

    def __init__(self, paths: Paths, root: str) -> None:
        self._paths = paths
        self._file = paths.state_dir / "consents.jsonl"
        self._root = root

    def known(self) -> set[str]:
        """The commands allowed in this workspace."""
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return set()
        return {command for root, command in map(_consent, lines) if root == self._root}

    def remember(self, command: str) -> None:
        """Allow a command in this workspace from now on; what cannot be written is asked again."""
        line = f"\n{json.dumps([self._root, command])}\n"
        try:
            self._paths.make_state_dir()
            with self._file.open("a", encoding="utf-8") as file:
                file.write(line)
        except (OSError, SettingsError):
            return


def _consent(line: str) -> tuple[str, str]:
    """Workspace and command of a line; a broken one allows nothing."""
    try:
        root, command = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return "", ""
    return str(root), str(command)

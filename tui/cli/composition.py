"""The composition root: a session with real effects, from settings and flags."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from tui.cli import logfile, verify_command
from tui.cli.options import REHEARSAL, ResolvedEndpoint, ResolvedModels
from tui.core.address import Address
from tui.effects.bridge_process import BridgeProcess
from tui.effects.clock import MonotonicClock
from tui.effects.files import Files
from tui.effects.listing import Listing, warm
from tui.effects.rescue import RescueFolders
from tui.effects.verifier import Verifier
from tui.engine.desk import AGENTS_FILE
from tui.engine.ports import Ports, VerifyCommand, Wire
from tui.engine.session import Options, Session
from tui.errors import SettingsError
from tui.settings import Paths, RehearsalSettings, Settings


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a session works, and with what."""

    root: Path
    settings: Settings
    models: ResolvedModels
    paths: Paths


class Composition:
    """A session and what it stands on; close it when done."""

    def __init__(self, workplace: Workplace, options: Options, *, watched: bool = True) -> None:
        """Nothing is started or dialled yet."""
        self._workplace = workplace
        self._bridge = BridgeProcess(bridge_arguments(workplace.settings.rehearsal))
        self._clock = MonotonicClock()
        root = str(workplace.root)
        logfile.mask(_secrets(workplace))
        self._listing = Listing(root)
        self._files = Files(root, self._listing)
        consents = Consents(workplace.paths, root)
        self.rescue = RescueFolders(workplace.paths.state_dir, root)
        ports = Ports(
            wires=self._wire,
            clock=self._clock,
            files=self._files,
            runner=Verifier(root, withheld(workplace, os.environ)),
            verify_command=self._verify_command,
            remember_consent=consents.remember,
            consents=consents.known(),
            agents_md=self.agents_md,
            watch=self._watch if watched else None,
            rescue=self.rescue if watched else None,
        )
        self.session = Session(ports, workplace.models.roles, options)

    async def close(self) -> None:
        """End the session, then the bridge."""
        self._listing.close()
        await self.session.close()
        await self._bridge.close()

    async def _watch(self, callback: Callable[[set[str]], None]) -> None:
        from tui.effects.watcher import Watcher

        warm()
        await Watcher(str(self._workplace.root)).watch(callback)

    async def _verify_command(self) -> VerifyCommand | None:
        workplace = self._workplace
        return await asyncio.to_thread(verify_command.find, workplace.root, workplace.settings)

    def _wire(self, endpoint: str) -> Wire:
        # imported after the first paint
        from tui.effects.connection import Connection, ConnectionOptions

        if endpoint == REHEARSAL:
            nearby = ConnectionOptions(ping_interval_s=5.0, silence_s=10.0)
            return Connection(self._bridge.address, self._clock, options=nearby)
        return Connection(_address_of(self._workplace.models.endpoints[endpoint]), self._clock)

    def agents_md(self) -> str:
        """The text of the workspace's AGENTS.md, empty if there is none."""
        data = self._files.read(AGENTS_FILE).data
        return "" if data is None else data.decode("utf-8", "replace")


def withheld(workplace: Workplace, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without the keys that duetto uses, for commands of the workspace.

    Tests and build scripts are a stranger's code; a variable that holds the same key under
    another name is left out too.
    """
    names = {endpoint.key_env or "" for endpoint in workplace.settings.endpoints.values()}
    names |= {endpoint.key_env for endpoint in workplace.models.endpoints.values()}
    keys = {environment[name].strip() for name in names if name in environment} - {""}
    return {
        name: value
        for name, value in environment.items()
        if name not in names and value.strip() not in keys
    }


def _secrets(workplace: Workplace) -> Iterator[str]:
    """Whatever travels to an endpoint in a header, a query or as its key."""
    for endpoint in workplace.models.endpoints.values():
        for value in endpoint.address.headers.values():
            yield value.removeprefix("Bearer ")
        yield from (value for _, value in parse_qsl(urlsplit(endpoint.address.url).query))


def _address_of(endpoint: ResolvedEndpoint) -> Callable[[], Coroutine[None, None, Address]]:
    async def known() -> Address:
        return endpoint.address

    return known


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

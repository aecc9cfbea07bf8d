"""Where a replay plays: a scratch workspace with the files that the recording quotes.

Nothing is dialled and nothing is run there: a recording may come from a stranger, and so may the
files in it.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from tui.cli.options import ROLES
from tui.cli.replay_director import Director, Pace
from tui.cli.replay_wire import ReplayWire
from tui.core.command_run import RunResult
from tui.core.file_block import FileBlock
from tui.core.wire.recording import RecordedExchange, Recording, exchanges, foreground, quoted_files
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.system import MonotonicClock
from tui.engine.intents import Accept, OpenFile, Reload, Role
from tui.engine.ports import (
    MAIN_LANE,
    PatchFormat,
    PatchTool,
    Ports,
    RoleSpec,
    VerifyCommand,
    Wire,
)
from tui.engine.session import Session, SessionOptions
from tui.errors import EditRefused, FileRefused

ENDPOINT = "replay"
NO_COMMANDS = "a replay runs no commands"
LAYOUT_BYTES = 64 * 2**20
"""All that a recording may lay out."""


_ADDED = re.compile(
    r"\*\*\* Add File: (.+?)(?:\\n|\\r|\")"
    r"|--- /dev/null(?:\\r)?\\n\+\+\+ (?:b/)?(.+?)(?:\\[nrt]|\")"
)
"""In the JSON text of a finished item."""


class NoRunner:
    """Runs nothing."""

    async def run(
        self, command: str | Sequence[str], output: Callable[[str], None], deadline_s: float
    ) -> RunResult:
        """Say why it was not run."""
        return RunResult(None, 0.0, error=NO_COMMANDS)


class Stage:
    """A session over a scratch workspace, and the director who plays a recording into it."""

    def __init__(self, recording: Recording, speed: float) -> None:
        """``speed`` 0: as fast as possible. Nothing is played yet."""
        self._folder = tempfile.TemporaryDirectory(
            prefix="duetto-replay-", ignore_cleanup_errors=True
        )
        self.root = Path(self._folder.name).resolve()
        self._listing = Listing(str(self.root))
        self._files = Files(str(self.root), self._listing)
        self._left_bytes = LAYOUT_BYTES
        clock = MonotonicClock()
        self._wire = ReplayWire(clock)
        self.exchanges, self.elsewhere = foreground(exchanges(recording.entries))
        roles = roles_of(recording, self.exchanges)
        self.session = Session(self._ports(clock, speed), roles, _options(roles))
        self.director = Director(self.session, self._wire, Pace(speed, clock), self._prepare)

    async def play(self) -> None:
        """Play the recording to its end."""
        for block in read_at_first(self.exchanges):
            with suppress(EditRefused, FileRefused):
                self._lay_out(block)
        await self.director.play(self.exchanges)

    async def close(self) -> None:
        """End the session, remove the workspace."""
        self._listing.close()
        await self.session.close()
        self._folder.cleanup()

    def _ports(self, clock: MonotonicClock, speed: float) -> Ports:
        async def no_command() -> VerifyCommand | None:
            return None

        async def sleep(seconds: float) -> None:
            await asyncio.sleep(seconds / speed if speed else 0.0)

        def wires(endpoint: str, lane: str = MAIN_LANE) -> Wire:
            return self._wire

        return Ports(
            wires=wires,
            clock=clock,
            files=self._files,
            runner=NoRunner(),
            verify_command=no_command,
            sleep=sleep,
        )

    def _prepare(self, exchange: RecordedExchange) -> None:
        """The files as the recorded request quotes them; the active one is shown."""
        for block in quoted_files(exchange.request):
            if "state" not in block.attributes:
                continue  # it was read in passing, and may have changed since
            with suppress(EditRefused, FileRefused):
                self._lay_out(block)
            if exchange.prompt and block.attributes.get("state") == "active":
                self._show(block)

    def _lay_out(self, block: FileBlock) -> None:
        """Make the file, or bring it to what the request says that it was."""
        data = block.text.encode("utf-8", "replace")
        session, path = self.session, block.path
        buffer = session.workspace.buffers.get(path)
        if len(data) > self._left_bytes or (buffer is not None and buffer.text() == block.text):
            return
        if buffer is not None:
            pending = [h.id for h in session.workspace.hunks if h.path == path and h.decidable]
            session.submit(Accept(tuple(pending)))
        there = self._files.read(path).data
        if there != data:
            self._left_bytes -= len(data)
            self._files.write(path, data, there)
        if buffer is not None:
            session.submit(Reload(path))

    def _show(self, block: FileBlock) -> None:
        status = self.session.status
        if status.active_path == block.path or self._files.read(block.path).data is None:
            return
        line, _, column = block.attributes.get("cursor", "1:1").partition(":")
        at = [int(number) - 1 if number.isdecimal() else 0 for number in (line[:9], column[:9])]
        self.session.submit(OpenFile(block.path, max(0, at[0]), max(0, at[1])))


def read_at_first(played: Sequence[RecordedExchange]) -> list[FileBlock]:
    """The files that the recorded tools read, as they were at first; none that the model made."""
    found: dict[str, FileBlock] = {}
    made: set[str] = set()
    for exchange in played:
        for block in quoted_files(exchange.request):
            if block.path not in made and "state" not in block.attributes:
                found.setdefault(block.path, block)
        for act in exchange.acts:
            if '"response.output_item.done"' in act.text:
                made.update(name for found in _ADDED.findall(act.text) for name in found if name)
    return list(found.values())


def roles_of(recording: Recording, played: Sequence[RecordedExchange]) -> dict[Role, RoleSpec]:
    """Who answered: as the recording says, else the first model is fast and the second deep."""
    told = recording.about.get("roles")
    named: dict[str, Any] = told if isinstance(told, dict) else {}
    roles: dict[Role, RoleSpec] = {}
    for role in ROLES:
        known = named.get(role)
        if isinstance(known, dict) and isinstance(known.get("model"), str):
            tool = _one_of(get_args(PatchTool), known.get("patch_tool"))
            fmt = _one_of(get_args(PatchFormat), known.get("patch_format"))
            roles[role] = RoleSpec(
                role, known["model"], ENDPOINT, patch_tool=tool, patch_format=fmt
            )
    if roles:
        return roles
    models = list(dict.fromkeys(exchange.model or "model" for exchange in played)) or ["model"]
    named_roles = zip(ROLES, models, strict=False)
    return {role: RoleSpec(role, model, ENDPOINT) for role, model in named_roles}


def _one_of(known: tuple[Any, ...], said: object) -> Any:
    """The one that is said; the first, if it is none of them."""
    return said if said in known else known[0]


def _options(roles: dict[Role, RoleSpec]) -> SessionOptions:
    return SessionOptions(first_role="fast" if "fast" in roles else "deep")

"""The formatter: runs on the files that a save or an accept has written.

What it makes of them is taken over as nobody's: neither the user nor a model wrote it (EDITS.md
section 7, case G08). It never runs on a file in which a model is writing, and whatever goes wrong
with it, the text is as it was saved.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterable, Sequence

from tui.core.document.workspace import Workspace
from tui.core.text.change_set import Author
from tui.engine.disk_changes import DiskChanges
from tui.engine.ports import RunResult, VerifyCommand
from tui.engine.services import Services
from tui.engine.verification import is_allowed
from tui.errors import DuettoError

GRACE_S = 2.0
"""For a run that is not done when duetto ends; then it is stopped."""
_SHOWN_CHARS = 400
"""Of what a formatter says when it fails."""


class Formatting:
    """One run at a time; what is saved meanwhile is formatted by the next one."""

    def __init__(self, services: Services, changes: DiskChanges) -> None:
        """``changes`` takes over what the formatter makes of a file."""
        self._ports = services.ports
        self._state = services.state
        self._supervisor = services.supervisor
        self._workspace: Workspace = services.state.workspace
        self._changes = changes
        self._due: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None
        self._said = ""
        """What went wrong last time: said once."""
        self._ending = False
        self._once: set[str] = set()
        """Commands that were allowed in this session."""
        self._refused: set[str] = set()
        services.state.before_drain.append(self._go_on)

    def written(self, paths: Iterable[str]) -> None:
        """These files were saved: format them, now or when no model writes in them any more."""
        if self._ports.format_command is not None:
            self._due.update(dict.fromkeys(paths))
            self._go_on()

    @property
    def running(self) -> bool:
        """True while something is being formatted, or the user is asked whether it may be."""
        return self._task is not None

    async def over(self) -> None:
        """Wait until nothing is being formatted."""
        while self._task is not None:
            await asyncio.wait([self._task])

    async def end(self) -> None:
        """The end of duetto: let a run come to its end for a moment, then stop it.

        What waits for it to be written is written then.
        """
        self._ending = True
        self._due.clear()
        task = self._task
        if task is None:
            return
        if self._changes.held:
            await asyncio.wait([task], timeout=GRACE_S)
        task.cancel()
        await asyncio.wait([task])

    def _go_on(self) -> None:
        if self._due and not self._ending and self._task is None and self._ready():
            self._task = self._supervisor.start(self._run_all(), "formatting")
            self._task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled():
            self._go_on()

    def _ready(self) -> list[str]:
        """The due files in which no model is writing."""
        records, busy = self._workspace.documents.records, self._workspace.documents.busy
        return [
            path
            for path in self._due
            if path not in busy and not (path in records and records[path].sections)
        ]

    async def _run_all(self) -> None:
        while (paths := self._ready()) and not self._ending:
            for path in paths:
                del self._due[path]
            command = await self._command()
            if command is None:
                self._due.clear()
                return
            buffers = self._workspace.buffers
            await self._run(command, self._changes.hold(path for path in paths if path in buffers))

    async def _command(self) -> VerifyCommand | None:
        """The command, if there is one and it may be run."""
        look_up = self._ports.format_command
        try:
            command = None if look_up is None else await look_up()
        except DuettoError as error:
            self._say("Nothing was formatted", str(error))
            return None
        if command is None:
            return None
        words = words_of(command)
        if words in self._refused:
            return None
        if words not in self._once:
            if not await is_allowed(self._state, self._ports, command):
                self._refused.add(words)
                return None
            self._once.add(words)
        return command

    async def _run(self, command: VerifyCommand, paths: Sequence[str]) -> None:
        """Run it on these files and take over what it made of them."""
        if not paths:
            return
        output: list[bytes] = []
        author = Author.DISK
        try:
            result = await self._ports.runner.run(
                with_paths(command.argv, paths), output.append, command.deadline_s
            )
            if not (result.timed_out or result.stopped or (result.status or 0) < 0):
                author = Author.TOOL
        finally:
            stopped = self._ending and author is Author.DISK
            self._changes.release(paths, author, put_back=stopped)
        failure = failure_of(result, command.deadline_s)
        if failure:
            said = b"".join(output).decode(errors="replace").strip()[-_SHOWN_CHARS:]
            self._say(f"{words_of(command)} {failure}", said)
        else:
            self._said = ""

    def _say(self, what: str, why: str) -> None:
        """Say what went wrong, once."""
        if what != self._said:
            self._said = what
            step = "the files are as they were saved"
            self._state.warn(what, why, step)


def with_paths(argv: str | tuple[str, ...], paths: Sequence[str]) -> str | tuple[str, ...]:
    """The command with the files behind it; none of them is taken for a flag."""
    named = [f"./{path}" if path.startswith("-") else path for path in paths]
    return f"{argv} {shlex.join(named)}" if isinstance(argv, str) else (*argv, *named)


def words_of(command: VerifyCommand) -> str:
    """A command as a person would type it."""
    return command.argv if isinstance(command.argv, str) else shlex.join(command.argv)


def failure_of(result: RunResult, deadline_s: float) -> str:
    """What went wrong with a run, in words; empty if nothing did."""
    if result.timed_out:
        return f"was stopped at its deadline of {deadline_s:g} s"
    if result.error:
        return f"could not be run: {result.error}"
    if result.status is None or result.status < 0:
        return "was ended by a signal"
    return f"failed (exit {result.status})" if result.status else ""

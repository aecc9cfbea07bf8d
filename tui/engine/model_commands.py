"""The model's commands: run when they may, waited for or in the background, and told of.

A command belongs to the answer that called it: Esc ends both. One that was sent to the background
belongs to the session; the model reads it by its number (`shell_output`).
"""

from __future__ import annotations

import asyncio
import functools
import posixpath
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from tui.core.conversation import Block, BlockState, HistoryEntry
from tui.core.document.workspace import Workspace
from tui.core.files import first_of
from tui.core.programs import RunOptions, RunResult, Sandbox, Shadow, is_below
from tui.engine import intents
from tui.engine.intents import Intent
from tui.engine.notices import TaskView
from tui.engine.open_files import OpenFiles
from tui.engine.ports import Ports
from tui.engine.response_items import Call, ShellCall, shell_call, told
from tui.engine.session_state import SessionState
from tui.engine.supervisor import Supervisor
from tui.engine.tools import Arguments, CallError, ToolResult, failure
from tui.errors import FileRefused

if TYPE_CHECKING:
    from tui.engine.command_consent import CommandConsent

HEAD_BYTES, TAIL_BYTES = 16_000, 24_000
"""Of a command's output, for the model and the screen; about 10,000 tokens."""
USER_HEAD_BYTES, USER_TAIL_BYTES = 200_000, 400_000
"""Of the tests and of the user's own commands."""
_AGAIN_S = 0.25
"""Between two looks at output whose middle is left out."""
_LONGEST_WAIT_S = 300.0
_KEPT = 50
"""Commands of the background that ended and can still be read."""
_ON_SCREEN = "it ran on what the screen shows, in a copy: what it wrote is gone"
_STRAYED = "it used {} as it is on the disk, without what the screen shows"
_IN_BACKGROUND = "it runs in the background as task "


class CommandOutput:
    """The output of a command, on its way into a block once a frame."""

    def __init__(
        self,
        state: SessionState,
        block: Block,
        now: Callable[[], float],
        head_bytes: int = HEAD_BYTES,
        tail_bytes: int = TAIL_BYTES,
    ) -> None:
        from tui.core.shell.clipping import Clip  # after the first paint

        self._state, self._block, self._now = state, block, now
        self.unsaid = ""
        """Lines that hold this are left out."""
        self._clip = Clip(head_bytes, tail_bytes)
        self._most = min(head_bytes, HEAD_BYTES)
        self._fresh = False
        self._due_s = 0.0
        state.before_drain.append(self._frame)

    @property
    def text(self) -> str:
        """All of it but the middle of what is very long."""
        text = self._clip.text()
        if not self.unsaid or self.unsaid not in text:
            return text
        lines = text.splitlines(keepends=True)
        return "".join(line for line in lines if self.unsaid not in line)

    def feed(self, data: bytes) -> None:
        """More of it."""
        self._clip.feed(data)
        if not self._fresh:
            self._fresh = True
            self._state.wake()

    def end(self, ending: str) -> None:
        """Nothing more comes; ``ending`` says how it ended, on a line of its own."""
        self._state.before_drain.remove(self._frame)
        self._show(self.text)
        gap = "" if self._block.text_since(self._block.length - 1) in ("", "\n") else "\n"
        self._state.append(self._block, f"{gap}{ending}\n")

    def _frame(self) -> None:
        """Once a frame; what has lost its middle is said anew, so that less often."""
        if not self._fresh or self._now() < self._due_s:
            return
        self._fresh = False
        if self._clip.size > self._most:
            self._due_s = self._now() + _AGAIN_S
        self._show(self.text)

    def _show(self, text: str) -> None:
        shown = self._block.text
        if text.startswith(shown):
            self._state.append(self._block, text[len(shown) :])
        else:
            self._block.say(text)
            self._state.changed(self._block)


class Job:
    """One command of the model that was started."""

    def __init__(self, number: int, call: Call, line: str, output: CommandOutput) -> None:
        self.number, self.line, self.output = number, line, output
        self.block, self.call_id = call.block, call.block.call_id
        self.began_s = self.deadline_s = 0.0
        self.consent = ""
        """Why it may run."""
        self.shadow: Shadow | None = None
        """That it runs in."""
        self.background = self.stopping = False
        self.result: RunResult | None = None
        self.task: asyncio.Task[None] | None = None
        self.released = asyncio.Event()
        """It ended, or went to the background: nobody waits for it any more."""
        self.ended = asyncio.Event()
        self.read = ""
        """What the model has read of it."""

    def stop(self) -> None:
        """End the process group, which may take a moment."""
        if self.task is not None:
            self.stopping = True
            self.task.cancel()

    def news(self) -> str:
        """The output since the last look."""
        text, before = self.output.text, self.read
        self.read = text
        return text.removeprefix(before) if text.startswith(before) else text


class CommandRules(Struct, frozen=True):
    """What holds for all commands of the model."""

    allow: tuple[tuple[str, ...], ...] = ()
    """Beginnings of commands that the user allows without a question."""
    network: bool = False
    """Those in the sandbox may use the network."""
    deadline_s: float = 120.0
    """Of one for which the model names none."""


class Commands:
    """All commands of the model in this session."""

    def __init__(
        self,
        state: SessionState,
        ports: Ports,
        open_files: OpenFiles,
        supervisor: Supervisor,
        rules: CommandRules,
    ) -> None:
        self._state, self._ports, self._supervisor = state, ports, supervisor
        self._open_files, self._rules = open_files, rules
        self._jobs: dict[int, Job] = {}
        self._count = 0
        self._ended: set[int] = set()
        """Those of the background of whose end the model was not told."""
        self.before: Callable[[int, str, str], Awaitable[str]] | None = None
        """Asked with the turn, the line and the folder why a command must not run."""

    @functools.cached_property
    def _consent(self) -> CommandConsent:
        from tui.engine.command_consent import CommandConsent  # after the first paint

        rules = self._rules
        return CommandConsent(
            self._state, self._ports, self._open_files, rules.allow, network=rules.network
        )

    async def look(self) -> None:
        """Find out what can confine commands here, and get ready to judge them."""
        sandbox = await self._ports.runner.sandbox()
        status = self._state.status
        status.sandbox, status.sandboxed = sandbox.words, sandbox.works
        self._state.restated()
        await asyncio.to_thread(self._consent.only_reads, ShellCall("true"))

    def handle(self, intent: Intent) -> None:
        """What the user wants of the model's commands."""
        match intent:
            case intents.SetMode(mode):
                self._state.status.mode = mode
                self._state.restated()
                if mode == "plan" and self._state.status.asks:
                    self._consent.reconsider()
            case intents.ToBackground(number):
                self._background(number)
            case intents.StopTask(number):
                job = self._jobs.get(number)
                if job is None or job.ended.is_set():
                    self._state.warn(f"No task {number} runs")
                else:
                    job.stop()
                    self._restate()

    def take_ended(self) -> list[str]:
        """Commands of the background that ended since the last look, unless the model read that."""
        ended = [_named(n, self._jobs[n].line) for n in self._ended if n in self._jobs]
        self._ended.clear()
        return ended

    def go_on_behind(self, count: int) -> None:
        """An earlier duetto had begun so many: a number stands for one command in a session."""
        self._count = count

    def only_reads(self, call: Call) -> bool:
        """True for a command that may run beside others."""
        try:
            return self._consent.only_reads(shell_call(call.item))
        except CallError:
            return True

    async def run(self, call: Call) -> ToolResult:
        """Run a call's command to its end, or until it goes to the background. Never raises."""
        try:
            shell = shell_call(call.item)
            folder = self._folder(shell.folder)
            if self.before is not None and (
                why := await self.before(call.block.turn, shell.line, folder)
            ):
                raise CallError(f"the hook before_command refused it: {why}")
            how = await self._consent.permit(shell, folder)
            if shell.screen:
                how = replace(how, shadow=await self._shadow())
        except (CallError, FileRefused) as refusal:
            return failure(str(refusal))
        missing = "" if shell.screen else not_on_disk(self._state.workspace)
        notes = [f"not on disk when it ran: {missing}"] if missing else []
        notes += [_ON_SCREEN] * shell.screen
        job = self._start(call, shell, how)
        call.so_far = lambda: _stopped(job, self._ports.clock.now(), notes)
        try:
            with self._state.tool_time(self._ports.clock.now):
                await job.released.wait()
        except asyncio.CancelledError:
            if not job.background:
                job.stop()
                self._restate()
            raise
        result = job.result
        if result is None:
            call.lives_on = True
            where = f"{_IN_BACKGROUND}{job.number}"
            output = "\n".join([f"{where}; read it with shell_output", *notes, "output so far:"])
            return ToolResult(f"{output}\n{job.news()}", "")
        call.result = result
        if result.strayed:
            notes.append(_STRAYED.format(result.strayed))
        if how.confined is not None and result.status:
            notes += self._emptied(await self._ports.runner.sandbox(), shell.line)
        failed = result.status != 0 or result.timed_out or result.stopped
        words = told(result, job.output.text, notes, deadline_s=job.deadline_s)
        return ToolResult(words, "", failed=failed)

    async def _shadow(self) -> Shadow:
        """One with what the screen shows now. Raises FileRefused: there can be none."""
        state, ports = self._state, self._ports
        if ports.shadows is None:
            raise FileRefused("there is no copy of what the screen shows here; run it on the disk")
        still = await state.input_first.do(state.workspace.keeping_still(), ports.clock.now)
        return await ports.shadows().make(await asyncio.to_thread(still.files))

    def _emptied(self, sandbox: Sandbox, line: str) -> list[str]:
        """What a command that failed in the sandbox may have missed there."""
        line = line.replace(f"{self._ports.files.root}/", "")
        return [
            f"in the sandbox {name} is an empty folder of the command's own"
            for name in sandbox.emptied
            if re.search(rf"(^|[\s=:\"']){name}/", line)
        ]

    async def read(self, arguments: str) -> ToolResult:
        """What a command of the background has said since the last look. Never raises."""
        try:
            return await self._read(Arguments(arguments))
        except CallError as refusal:
            return failure(str(refusal))

    async def _read(self, arguments: Arguments) -> ToolResult:
        number = arguments.number("task", 0) or arguments.number("session_id", 0)
        job = self._jobs.get(number)
        if job is None:
            raise CallError(f"there is no task {number}")
        if arguments.flag("stop"):
            job.stop()
            self._restate()
        wait_s = arguments.decimal("wait_s") or arguments.decimal("yield_time_ms") / 1000
        if wait_s > 0 and not job.ended.is_set():
            await self._wait(job, min(wait_s, _LONGEST_WAIT_S))
        elif arguments.flag("stop"):
            await job.ended.wait()
        news = job.news()
        if job.result is not None:
            self._ended.discard(number)
            words = told(job.result, news, deadline_s=job.deadline_s)
            return ToolResult(words, f"task {number} ended")
        seconds = self._ports.clock.now() - job.began_s
        state = f"task {number} has been running for {seconds:.1f} s"
        return ToolResult("\n".join([state, "new output:" if news else "no new output", news]), "")

    async def _wait(self, job: Job, seconds: float) -> None:
        """Until it ends, or so long."""
        sleep = asyncio.ensure_future(self._ports.sleep(seconds))
        ended = asyncio.ensure_future(job.ended.wait())
        try:
            await asyncio.wait({sleep, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            ended.cancel()

    def _start(self, call: Call, shell: ShellCall, how: RunOptions) -> Job:
        self._count += 1
        now = self._ports.clock.now
        output = CommandOutput(self._state, call.block, now)
        job = self._jobs[self._count] = Job(self._count, call, shell.line, output)
        job.began_s, job.background = now(), shell.background
        job.consent = self._consent.granted
        job.deadline_s = shell.deadline_s or self._rules.deadline_s
        job.shadow = how.shadow
        run = self._run(job, shell, how)
        job.task = self._supervisor.start(run, f"task {job.number}")
        job.task.add_done_callback(lambda _: self._over(job))
        if job.background:
            job.released.set()
        self._restate()
        return job

    async def _run(self, job: Job, shell: ShellCall, how: RunOptions) -> None:
        began_s = self._ports.clock.now()
        witness = self._state.witness
        confined = how.confined.words if how.confined is not None else ""
        number = witness.command_begins(job.line, job.call_id, confined, job.consent)
        try:
            await witness.kept()
            job.result = await self._ports.runner.run(
                shell.command,
                job.output.feed,
                job.deadline_s,
                how,
            )
        except asyncio.CancelledError:
            job.result = RunResult(None, self._ports.clock.now() - began_s, stopped=True)
            raise
        finally:
            if job.result is not None:
                witness.command_ends(number, job.result)

    def _over(self, job: Job) -> None:
        """It has ended, however."""
        if job.ended.is_set():
            return
        if job.shadow is not None:
            job.shadow.close()
        if job.result is None:
            job.result = RunResult(None, 0.0, stopped=True)
        job.output.end(ending(job.result, job.deadline_s))
        failed = job.result.status != 0
        if job.background:
            state: BlockState = "cut" if job.result.stopped else "failed" if failed else "done"
            self._state.close(job.block, state)
            self._ended.add(job.number)
        job.released.set()
        job.ended.set()
        self._forget_old()
        self._restate()

    def _forget_old(self) -> None:
        """Those that nobody sent to the background are told already."""
        gone = [number for number, job in self._jobs.items() if job.ended.is_set()]
        kept = [number for number in gone if self._jobs[number].background][-_KEPT:]
        for number in gone:
            if number not in kept:
                del self._jobs[number]

    def _background(self, number: int) -> None:
        waited = [job for job in self._jobs.values() if not job.released.is_set()]
        job = self._jobs.get(number) if number else next(reversed(waited), None)
        if job not in waited or job is None:
            self._state.warn("No command is waited for")
            return
        job.background = True
        job.released.set()
        self._restate()

    def _restate(self) -> None:
        jobs = sorted(self._jobs.values(), key=lambda job: job.ended.is_set())
        self._state.status.tasks = [
            TaskView(
                job.number,
                job.line,
                job.call_id,
                job.began_s,
                background=job.background,
                stopping=job.stopping,
                ended="" if job.result is None else ending(job.result, job.deadline_s)[1:-1],
            )
            for job in jobs
        ]
        self._state.restated()

    def _folder(self, name: str) -> str:
        """The folder of a command, below the root. Raises CallError: it lies outside."""
        files = self._ports.files
        path = posixpath.normpath(posixpath.join(files.root, name))
        for root in (files.root, files.named_root):
            if is_below(path, root):
                below = posixpath.relpath(path, root)
                return "" if below == "." else below
        raise CallError(f"{name} is outside the workspace: commands run inside it")


def gone(entries: Iterable[HistoryEntry], lines: Mapping[str, str]) -> str:
    """What a model is to hear of commands that an earlier duetto had in the background.

    ``lines`` has commands by their calls. Empty: there is nothing that it does not know.
    """
    tasks: dict[int, str] = {}
    for entry in entries:
        item = entry.item
        if entry.kind == "note":
            tasks = {n: named for n, named in tasks.items() if _named(n, "")[:-1] not in str(item)}
        elif found := re.match(rf"{_IN_BACKGROUND}(\d+); ", str(item.get("output", ""))):
            number = int(found[1])
            tasks[number] = _named(number, lines.get(str(item.get("call_id")), ""))
    head = "duetto was started anew; no longer running or readable: "
    return head + "; ".join(tasks.values()) if tasks else ""


def _named(number: int, line: str) -> str:
    return f"task {number} ({line[:80]})"


def _stopped(job: Job, now: float, notes: Sequence[str]) -> str:
    """What is said of a command that Esc ended."""
    return told(RunResult(None, now - job.began_s, stopped=True), job.output.text, notes)


def not_on_disk(workspace: Workspace) -> str:
    """What a command does not see: pending hunks and unsaved text, in words; empty: nothing."""
    pending: dict[str, int] = {}
    for hunk in workspace.hunks:
        if hunk.decidable:
            pending[hunk.path] = pending.get(hunk.path, 0) + 1
    parts = [
        f"{count} pending {'hunk' if count == 1 else 'hunks'} in {path}"
        for path, count in pending.items()
    ]
    unsaved = [path for path in workspace.buffers if workspace.is_dirty(path)]
    parts += [f"unsaved changes in {path}" for path in unsaved if path not in pending]
    return first_of(parts, 5)


def ending(result: RunResult, deadline_s: float) -> str:
    """How a run ended, in words."""
    if result.stopped:
        return f"[stopped after {result.seconds:.1f} s]"
    if result.timed_out:
        return f"[stopped at its deadline of {deadline_s:g} s]"
    if result.error:
        return f"[{result.error}]"
    if result.status is not None and result.status < 0:
        return f"[ended by signal {-result.status} after {result.seconds:.1f} s]"
    return f"[exit {result.status} after {result.seconds:.1f} s]"

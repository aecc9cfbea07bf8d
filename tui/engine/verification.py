"""Runs the tests and the user's ``!`` commands; the verdict is the exit status.

Where a report says that nothing could be judged (`RunReport.fault`) there is no red verdict.

The formatter: runs after a save or an accept on the files that were written. What it makes of
them is taken over as nobody's: neither the user nor a model wrote it (EDITS.md section 7, case
G08). It never runs on a file in which a model is writing, and whatever goes wrong with it, the
text is as it was saved.
"""

from __future__ import annotations

import asyncio
import functools
import shlex
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec.structs import replace

from tui.core.conversation import Block, BlockKind
from tui.core.document.workspace import Workspace
from tui.core.programs import RunOptions, Shadow
from tui.core.run_report import FailedTest, RunReport, as_prompt, of_change
from tui.core.text.change_set import Author
from tui.engine import intents
from tui.engine.commands import USER_HEAD_BYTES, USER_TAIL_BYTES, CommandOutput, ending, not_on_disk
from tui.engine.disk_changes import DiskChanges
from tui.engine.intents import Intent
from tui.engine.notices import Trouble
from tui.engine.ports import Ports, RunResult, VerifyCommand, project_tests
from tui.engine.services import Services
from tui.engine.session_state import SessionState
from tui.engine.verdict_state import Ground, VerdictState
from tui.errors import DuettoError, FileRefused

if TYPE_CHECKING:
    from tui.core.document.disk_plan import StillScreen
    from tui.engine.blaming import Blaming, ScreenRun

ALLOW_ONCE = "Run it once"
ALLOW_ALWAYS = "Always run it here"
REFUSE = "Do not run it"


async def is_allowed(state: SessionState, ports: Ports, command: VerifyCommand, words: str) -> bool:
    """True if a command may be run; ``words`` are what the user sees of it."""
    if not command.needs_consent:
        return True
    known = f"{words} #{command.content}" if command.content else words
    if known in ports.consents:
        return True
    shown = words if isinstance(command.argv, str) else short_title(command.argv, whole=True)
    choice = await state.questions.ask(
        f"Run {' ⏎ '.join(shown.splitlines())} ?",
        f"The command comes from the workspace itself: {command.source}.",
        (ALLOW_ONCE, ALLOW_ALWAYS, REFUSE),
    )
    if choice == ALLOW_ALWAYS:
        ports.consents.add(known)
        ports.remember_consent(known)
    return choice != REFUSE


Verdict = Literal["", "passed", "failed", "timeout", "error"]
COMMAND_DEADLINE_S = 600.0
_STRAYED = "the tests used {} as it is on the disk, without what the screen shows"
_ON_DISK = "/verify disk runs the tests on the disk"
TAIL_CHARS = 6_000
"""Of a failed run's output, for the model."""


class _FailedRun(NamedTuple):
    """A run that failed, for the model."""

    words: str
    """The command line."""
    output: str
    result: RunResult
    failed: Sequence[FailedTest]


class _Run(NamedTuple):
    """A run that ended."""

    block: Block
    result: RunResult
    report: RunReport


class Verification:
    """One command at a time."""

    def __init__(self, services: Services, send: Callable[[str], None]) -> None:
        """``send`` prompts the model."""
        self._services = services
        self._state = services.state
        self._status = services.state.status
        self._send = send
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._failure: _FailedRun | None = None
        """The last run, if it failed."""
        self._seen: ScreenRun | None = None
        """The last run on the whole screen."""
        self._gives_way = False
        """What runs was not asked for."""
        self._verdict_state = VerdictState(services)
        self.outside = self._verdict_state.outside

    @property
    def active(self) -> bool:
        """True while a command runs, is looked for, or is asked about."""
        return self._task is not None

    def handle(self, intent: Intent) -> None:
        """Run a command, stop it, or send what it left."""
        match intent:
            case intents.Verify(disk):
                self._start(self._verify(on_disk=disk), "verify")
            case intents.FindBlame():
                self._start(self._blame(), "blame")
            case intents.RunCommand(command):
                if command.strip():
                    self._start(self._command(command), command)
            case intents.StopCommand():
                self._stop()
            case intents.SendFailure():
                self._send_failure()

    def _start(self, work: Coroutine[object, object, None], name: str) -> None:
        if self._task is not None and self._gives_way:
            self._task.cancel()
            work = _behind(self._task, work)
        elif self._task is not None:
            work.close()
            what = self._status.running or "a command"
            self._state.trouble(
                Trouble(f"{what} is still running", "", "stop it first", severity="warning")
            )
            return
        self._stopping = self._gives_way = False
        self._task = self._services.supervisor.start(work, name)
        self._task.add_done_callback(self._ended)

    def _stop(self) -> None:
        if self._task is not None:
            self._stopping = True
            self._task.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task is self._task:
            self._task = None
            self._status.running = ""
            self._state.restated()

    async def _command(self, command: str) -> None:
        await self._run(command, VerifyCommand(command, "", deadline_s=COMMAND_DEADLINE_S))

    async def _verifier(self) -> VerifyCommand | None:
        """The command that may be run; None: there is none, which is said."""
        try:
            command = project_tests(await self._services.ports.verifiers())
        except DuettoError as error:
            self._verdict("error")
            self._state.trouble(Trouble("Nothing was verified", str(error)))
            return None
        if command is None:
            self._verdict("error")
            self._state.trouble(
                Trouble(
                    "Nothing to verify with",
                    "no test command is configured and no tests were found",
                    'set command = "..." under [verify] in config.toml',
                )
            )
            return None
        if not command.argv:
            self._cannot_run(command)
            return None
        words = command_line(command.argv)
        if not await is_allowed(self._state, self._services.ports, command, words):
            self._state.note(0, f"not run: {short_title(command.argv, whole=True)}")
            return None
        return command

    async def _blame(self) -> None:
        if (command := await self._verifier()) is None:
            return
        screen, seen = await self._still(), self._seen
        if self._status.outdated or not self._status.verdict:
            seen = None
        words = short_title(command.argv)
        await self._blaming.find(command, words, seen.screen if seen else screen, seen)

    async def _still(self) -> StillScreen:
        """What the screen shows now."""
        work, clock = self._state.workspace.keeping_still(), self._services.ports.clock
        return await self._state.input_first.do(work, clock.now)

    @functools.cached_property
    def _blaming(self) -> Blaming:
        from tui.engine.blaming import Blaming  # hardly a session needs it

        return Blaming(self._services)

    async def _verify(self, *, on_disk: bool) -> None:
        if (command := await self._verifier()) is None:
            return
        self._verdict("")
        self._seen = None
        if "_blaming" in self.__dict__:
            self._blaming.unmark()
        ground = Ground.of(await self._still(), self._state.workspace)
        words = short_title(command.argv)
        texts = {} if on_disk else await asyncio.to_thread(ground.screen.files)
        shadow = await self._shadow(texts) if texts else None
        if shadow is None:
            self._say_what_is_not_on_disk()
        run = await self._run(words, command, source=command.source, ground=ground, shadow=shadow)
        verdict = verdict_of(run.result, run.report)
        self._verdict(verdict)
        self._state.witness.judged(words, verdict, run.result.seconds, run.report)
        if verdict:
            only_disk = on_disk or (bool(texts) and shadow is None)
            self._verdict_state.stands(run.block, ground, on_disk=only_disk)
        if verdict and shadow is not None:
            await self._look_for_blame(command, ground.screen, run)

    async def _look_for_blame(self, command: VerifyCommand, screen: StillScreen, run: _Run) -> None:
        """Unasked, if it will not take long; whatever is asked for goes before."""
        from tui.engine.blaming import ScreenRun, of_run  # after the first run in a shadow

        result, report = run.result, run.report
        self._seen = ScreenRun(screen, report, of_run(result, report), result.seconds)
        if report.failed:
            self._gives_way = True
            await self._blaming.alone(command, short_title(command.argv), self._seen)

    async def _shadow(self, texts: Mapping[str, bytes | None]) -> Shadow | None:
        """One with what the screen shows; None: there is none."""
        shadows = self._services.ports.shadows
        if shadows is None:
            return None
        try:
            return await shadows().make(texts)
        except FileRefused as error:
            self._state.note(0, f"the tests run on the disk: {error}")
            return None

    def _cannot_run(self, command: VerifyCommand) -> None:
        """There are tests, and nothing that could run them: said where their output would be."""
        state = self._state
        block = state.add(Block(BlockKind.RUN, 0, f"tests · {command.source}"))
        block.report = command.reader("", False) if command.reader else RunReport()
        state.close(block, "failed")
        self._verdict("error")

    def _say_what_is_not_on_disk(self) -> None:
        """The tests see the files as they are saved, which may surprise."""
        if missing := not_on_disk(self._state.workspace):
            self._state.note(0, f"the tests run without {missing}: not on disk")

    def _verdict(self, verdict: Verdict) -> None:
        self._verdict_state.forget()
        self._status.verdict = verdict
        self._state.restated()

    async def _run(
        self,
        words: str,
        command: VerifyCommand,
        *,
        source: str = "",
        ground: Ground | None = None,
        shadow: Shadow | None = None,
    ) -> _Run:
        """Run with the output in the conversation as it comes; in the shadow, which ends then."""
        state = self._state
        where = "" if source.endswith(" found") else source.rpartition(" of ")[2]
        title = f"{words} · {where}" if where else words
        block = state.add(Block(BlockKind.RUN, 0, title))
        self._status.running = words
        self._status.can_send_failure = False
        state.restated()
        start_s = self._services.ports.clock.now()
        sink = CommandOutput(
            state, block, self._services.ports.clock.now, USER_HEAD_BYTES, USER_TAIL_BYTES
        )
        sink.unsaid = command.report_file
        argv = command.argv if isinstance(command.argv, str) else (*command.argv, *command.options)
        consent = "the user allowed it" if command.needs_consent else "the user runs it"
        number = state.witness.command_begins(command_line(argv), "", "", consent)
        try:
            await state.witness.kept()
            how = RunOptions(shadow=shadow)
            result = await self._services.ports.runner.run(argv, sink.feed, command.deadline_s, how)
        except asyncio.CancelledError:
            if not self._stopping:
                seconds = self._services.ports.clock.now() - start_s
                state.witness.command_ends(number, RunResult(None, seconds, stopped=True))
                sink.end("[stopped]")
                state.close(block, "cut")
                raise
            seconds = self._services.ports.clock.now() - start_s
            result = RunResult(None, seconds, stopped=True)
        finally:
            if shadow is not None:
                shadow.close()
        state.witness.command_ends(number, result)
        passed = result.status == 0 and not result.timed_out and not result.stopped
        output, report = sink.text, await self._report(command, sink.text, result, passed=passed)
        if shadow is not None and ground is not None:
            report = replace(report, ground=ground.words)
        sink.end(ending(result, command.deadline_s))
        judged = command.reader is not None or report != RunReport()
        block.report = report if judged and not result.stopped else None
        failed = verdict_of(result, report) != "passed"
        state.close(block, "cut" if result.stopped else "failed" if failed else "done")
        self._failure = None
        if failed and not result.stopped:
            self._failure = _FailedRun(words, output, result, report.failed)
        self._status.can_send_failure = self._failure is not None and not report.fault
        state.restated()
        return _Run(block, result, report)

    async def _report(
        self, command: VerifyCommand, output: str, result: RunResult, *, passed: bool
    ) -> RunReport:
        """What a run says besides its exit status."""
        report = RunReport()
        if command.reader is not None:
            report = await asyncio.to_thread(command.reader, output, passed)
        if report.fault and set(self._changed(report)):
            report = replace(report, fault="", step="")
        if result.strayed:
            report = replace(report, fault=_STRAYED.format(result.strayed), step=_ON_DISK)
        return report

    def _changed(self, report: RunReport) -> list[FailedTest]:
        """The failed tests that belong to what was changed in this session."""
        workspace = self._state.workspace
        unsaved = filter(workspace.is_dirty, workspace.buffers)
        return of_change(report.failed, {*(hunk.path for hunk in workspace.hunks), *unsaved})

    def _send_failure(self) -> None:
        if self._failure is None:
            why = "no run of the tests has failed"
            self._state.trouble(Trouble("Nothing to send", why, severity="warning"))
            return
        self._status.can_send_failure = False
        text, brief = self._failure_words(self._failure)
        self._state.briefs[text] = brief
        self._send(text)

    async def failures(self) -> str:
        """What failed in the last run, as a prompt attaches it; empty: nothing did."""
        return "" if self._failure is None else self._failure_words(self._failure)[0]

    def _failure_words(self, failure: _FailedRun) -> tuple[str, str]:
        """What the model is told of it, and that in brief."""
        words, output, result, failed = failure
        how = "ran into its deadline" if result.timed_out else f"failed (exit {result.status})"
        if failed:
            first = self._changed(RunReport(tuple(failed)))
            failed = [*first, *(one for one in failed if one not in first)]
            text = as_prompt(words, how, failed, TAIL_CHARS)
            count = f"{len(failed)} failed tests" if len(failed) > 1 else "the failed test"
            brief = f"Fix {count} of {words}"
        else:
            tail = output[-TAIL_CHARS:]
            if len(output) > TAIL_CHARS:
                tail = "(the beginning is left out)\n" + tail[tail.find("\n") + 1 :]
            text = f"`{words}` {how}. Find the cause and fix it. Its output:\n\n{tail.strip()}"
            brief = f"Fix what {words} says"
        return text, brief


async def _behind(task: asyncio.Task[None], work: Coroutine[object, object, None]) -> None:
    """Work when something else has ended."""
    try:
        await asyncio.wait([task])
    except BaseException:
        work.close()
        raise
    await work


def command_line(argv: str | Sequence[str]) -> str:
    """A command as a person would type it."""
    return argv if isinstance(argv, str) else shlex.join(argv)


def short_title(argv: str | Sequence[str], *, whole: bool = False) -> str:
    """What is run, without the places where it lies: ``pytest -q``.

    ``whole``: with the interpreter that runs it.
    """
    if isinstance(argv, str):
        return argv
    program, *rest = argv
    name = PurePath(program).name
    if not whole and name.startswith("python") and rest[:1] == ["-m"] and len(rest) > 1:
        name, *rest = rest[1:]
    return command_line([name, *rest])


def verdict_of(result: RunResult, report: RunReport) -> Verdict:
    """The verdict of a run: its exit status, unless the tests could not judge."""
    if result.stopped:
        return ""
    if result.timed_out:
        return "timeout"
    if result.status is None or result.error or report.fault:
        return "error"
    told = report.failed or (report.counts is not None and report.counts.failed)
    return "passed" if result.status == 0 and not told else "failed"


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
            if not await is_allowed(self._state, self._ports, command, words):
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
            self._state.trouble(Trouble(what, why, step, severity="warning"))


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

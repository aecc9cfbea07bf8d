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
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from tui.core.conversation import Block, BlockKind, BlockState
from tui.core.document.workspace import Workspace
from tui.core.files import digest_of
from tui.core.programs import RunOptions, Shadow
from tui.core.run_progress import RunProgress
from tui.core.run_report import FailedTest, RunReport, as_prompt, of_change
from tui.core.text.change_set import Author
from tui.engine import intents
from tui.engine.baseline import Baseline
from tui.engine.commands import USER_HEAD_BYTES, USER_TAIL_BYTES, CommandOutput, ending, not_on_disk
from tui.engine.disk_changes import DiskChanges
from tui.engine.intents import Intent
from tui.engine.notices import Trouble
from tui.engine.ports import (
    FileMarks,
    FixRules,
    Part,
    Ports,
    RunResult,
    VerifyCommand,
    project_tests,
)
from tui.engine.services import Services
from tui.engine.session_state import SessionState
from tui.engine.verdict_state import Ground, VerdictState
from tui.engine.verifier_plan import Verdict, VerifierLanes, common_verdict, planned, verdict_of
from tui.errors import DuettoError, FileRefused

if TYPE_CHECKING:
    from tui.core.document.disk_plan import StillScreen
    from tui.engine.blaming import Blaming, ScreenRun
    from tui.engine.fixing import Fixing, Judged

ALLOW_ONCE = "Run it once"
ALLOW_ALWAYS = "Always run it here"
REFUSE = "Do not run it"


async def is_allowed(state: SessionState, ports: Ports, *commands: VerifyCommand) -> bool:
    """True if these may be run; the user is asked about all of them at once."""
    asked = [one for one in commands if one.needs_consent and _known(one) not in ports.consents]
    if not asked:
        return True
    shown = ", ".join(_shown(one) for one in asked)
    what = "The command comes" if len(asked) == 1 else "The commands come"
    sources = "; ".join(dict.fromkeys(one.source for one in asked))
    choice = await state.questions.ask(
        f"Run {' ⏎ '.join(shown.splitlines())} ?",
        f"{what} from the workspace itself: {sources}.",
        (ALLOW_ONCE, ALLOW_ALWAYS, REFUSE),
    )
    if choice == ALLOW_ALWAYS:
        for one in asked:
            ports.consents.add(_known(one))
            ports.remember_consent(_known(one))
    return choice != REFUSE


def _known(command: VerifyCommand) -> str:
    """By which a consent is remembered."""
    words = command_line(command.argv)
    return f"{words} #{command.content}" if command.content else words


def _shown(command: VerifyCommand) -> str:
    argv = command.argv
    return argv if isinstance(argv, str) else short_title(argv, whole=True)


COMMAND_DEADLINE_S = 600.0
_STRAYED = "the tests used {} as it is on the disk, without what the screen shows"
_ITS_OUTPUT = "its output says why"
_ON_DISK = "/verify disk runs the tests on the disk"
TAIL_CHARS = 6_000
"""Of a failed run's output, for the model."""


class _Run(NamedTuple):
    """A run that ended."""

    command: VerifyCommand
    words: str
    """That as the user sees it."""
    block: Block
    result: RunResult
    report: RunReport
    output: str

    @property
    def verdict(self) -> Verdict:
        return verdict_of(self.result, self.report)

    @property
    def kind(self) -> str:
        return self.command.kind


class Verification:
    """One command at a time."""

    def __init__(
        self, services: Services, submit: Callable[[Intent], None], rules: FixRules
    ) -> None:
        """``submit`` asks the session for something, ``rules`` say how failures are mended."""
        self._services = services
        self._state = services.state
        self._status = services.state.status
        self._submit = submit
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._running: dict[str, None] = {}
        """What runs now, as the user sees it."""
        self._failures: list[_Run] = []
        """Of the last runs those that failed."""
        self._baseline = Baseline(services)
        self._seen: ScreenRun | None = None
        """The last run on the whole screen."""
        self._gives_way = False
        """What runs was not asked for."""
        self._judged: Judged | None = None
        """What the last runs on the screen said."""
        self._rules = rules
        self._verdict_state = VerdictState(services)
        self.outside = self._verdict_state.outside

    @property
    def active(self) -> bool:
        """True while a command runs, is looked for, or is asked about."""
        return self._task is not None or self._fixes

    def handle(self, intent: Intent) -> None:
        """Run a command, stop it, or send what it left."""
        if self._fixes:
            self._fixing.stop()
        match intent:
            case intents.Verify():
                self._start(self._verify(intent), "verify")
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
        self._judged = None
        self._forget_failures()
        line = VerifyCommand(command, "", deadline_s=COMMAND_DEADLINE_S)
        self._note_failures([await self._run(line, None, None)])

    async def _found(self, named: Sequence[str] = ()) -> list[VerifyCommand]:
        """The verifiers that may run; none: there are none, which is said.

        ``named`` are the only ones that are meant, by their names or kinds.
        """
        try:
            found = list(await self._services.ports.verifiers())
        except DuettoError as error:
            self._verdict("error")
            self._state.trouble(Trouble("Nothing was verified", str(error)))
            return []
        found = [one for one in found if not named or {one.name, one.kind} & set(named)]
        if not any(one.argv or one.kind == "tests" for one in found):
            self._verdict("error")
            why = "no test command is configured and no tests were found"
            step = 'set command = "..." under [verify] in config.toml'
            self._state.trouble(Trouble("Nothing to verify with", why, step))
            return []
        for one in found:
            if not one.argv:
                self._cannot_run(one)
        found = [one for one in found if one.argv]
        if await is_allowed(self._state, self._services.ports, *found):
            return found
        refused = ", ".join(_shown(one) for one in found if one.needs_consent)
        self._state.note(0, f"not run: {refused}")
        return [one for one in found if not one.needs_consent]

    async def _blame(self) -> None:
        if (command := project_tests(await self._found(("tests",)))) is None:
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

    @property
    def _fixes(self) -> bool:
        """True from the first try of a fix to its end."""
        return "_fixing" in self.__dict__ and self._fixing.at_work

    @functools.cached_property
    def _fixing(self) -> Fixing:
        from tui.engine.fixing import Fixing  # when something has failed

        return Fixing(
            self._services, self._rules, self._submit, self._failure_words, self._judge_fix
        )

    def _judge_fix(self, without: Sequence[int]) -> bool:
        """Judge the screen that a try left, without these hunks; False: not now."""
        if self._task is not None and not self._gives_way:
            return False
        self._start(self._verify(intents.Verify(), without), "verify")
        return True

    async def _verify(self, wanted: intents.Verify, without: Sequence[int] = ()) -> None:
        """Run what judges the project: checks beside the tests, each in its own shadow."""
        found = await self._found(wanted.only)
        if not found:
            return
        self._verdict("")
        self._seen = None
        self._judged = None
        self._forget_failures()
        if "_blaming" in self.__dict__:
            self._blaming.unmark()
        screen = (await self._still()).without(without)
        ground = Ground.of(screen, self._state.workspace)
        texts = {} if wanted.disk else await asyncio.to_thread(ground.screen.files)
        shadows = [await self._shadow(texts) if texts else None]
        if shadows[0] is None:
            self._say_what_is_not_on_disk()
        changed, gone = self._touched()
        part = Part(changed, gone, named=wanted.tests)
        lanes = await asyncio.to_thread(planned, found, part, shadows[0] is not None)
        if shadows[0] is not None and lanes.checks and lanes.tests:
            shadows.append(await self._shadow(texts))
        try:
            runs = await self._lanes(lanes, ground, shadows)
        finally:
            for shadow in filter(None, shadows):
                shadow.close()
        self._note_failures(runs)
        verdict = common_verdict([(run.kind, run.verdict) for run in runs])
        self._verdict(verdict)
        if verdict:
            only_disk = wanted.disk or (bool(texts) and shadows[0] is None)
            blocks = [run.block for run in runs]
            self._verdict_state.stands(blocks, ground, on_disk=only_disk)
        if not wanted.disk and not (texts and shadows[0] is None):
            marks = [one.marks for one in found if one.kind == "tests"]
            digest = await asyncio.to_thread(digest_of, texts)
            self._judged = _judged(verdict, runs, digest, marks)
        if self._fixes and self._judged is not None:
            self._fixing.judged(self._judged)
            return
        if self._rules.when == "auto" and verdict in ("failed", "timeout"):
            self._send_failure()
            return
        judged = [run for run in runs if run.kind == "tests"]
        if verdict and judged and shadows[0] is not None:
            await self._look_for_blame(screen, judged[-1])

    async def _look_for_blame(self, screen: StillScreen, run: _Run) -> None:
        """Unasked, if it will not take long; whatever is asked for goes before."""
        from tui.engine.blaming import ScreenRun, of_run  # after the first run in a shadow

        result, failed = run.result, run.report.failed
        report = replace(run.report, failed=(*failed, *run.report.known), known=())
        self._seen = ScreenRun(screen, report, of_run(result, report), result.seconds)
        if failed:
            self._gives_way = True
            await self._blaming.alone(run.command, run.words, self._seen)

    async def _lanes(
        self, lanes: VerifierLanes, ground: Ground, shadows: Sequence[Shadow | None]
    ) -> list[_Run]:
        """The runs of both, in the order of their ends."""
        runs: list[_Run] = []

        async def lane(commands: Sequence[VerifyCommand], shadow: Shadow | None) -> None:
            for command in commands:
                run = await self._run(command, ground, shadow)
                runs.append(run)
                words = run.words
                self._state.witness.judged(words, run.verdict, run.result.seconds, run.report)
                if not run.verdict or (command.kind == "tests" and run.verdict != "passed"):
                    break

        work = [lane(lanes.checks, shadows[0]), lane(lanes.tests, shadows[-1])]
        try:
            await asyncio.gather(*work)
        except asyncio.CancelledError:
            if not self._stopping:
                raise
        return runs

    def _touched(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The files that this session changed, and those of them that are deleted."""
        workspace = self._state.workspace
        unsaved = filter(workspace.is_dirty, workspace.buffers)
        changed = sorted({*(hunk.path for hunk in workspace.hunks), *unsaved})
        records = workspace.documents.records
        gone = [path for path in changed if path in records and records[path].gone]
        return tuple(changed), tuple(gone)

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
        self, command: VerifyCommand, ground: Ground | None, shadow: Shadow | None
    ) -> _Run:
        """Run with the output in the conversation as it comes, on the screen or the disk."""
        state, clock = self._state, self._services.ports.clock
        words = command.title or short_title(command.argv)
        source = command.source
        where = "" if source.endswith(" found") else source.rpartition(" of ")[2]
        block = state.add(Block(BlockKind.RUN, 0, f"{words} · {where}" if where else words))
        self._running[words] = None
        self._say_running()
        start_s = clock.now()
        sink = CommandOutput(state, block, clock.now, USER_HEAD_BYTES, USER_TAIL_BYTES)
        sink.unsaid = command.report_file
        progress = RunProgress(command.progress)

        def feed(data: bytes) -> None:
            progress.feed(data)
            block.progress = progress.words
            sink.feed(data)

        argv = command.argv if isinstance(command.argv, str) else (*command.argv, *command.options)
        consent = "the user allowed it" if command.needs_consent else "the user runs it"
        number = state.witness.command_begins(command_line(argv), "", "", consent)
        try:
            await state.witness.kept()
            how = RunOptions(shadow=shadow)
            result = await self._services.ports.runner.run(argv, feed, command.deadline_s, how)
        except asyncio.CancelledError:
            seconds = clock.now() - start_s
            result = RunResult(None, seconds, stopped=True)
            if not self._stopping:
                state.witness.command_ends(number, result)
                sink.end("[stopped]")
                state.close(block, "cut")
                raise
        finally:
            del self._running[words]
            self._say_running()
        state.witness.command_ends(number, result)
        output, report = sink.text, await self._report(command, sink.text, result)
        if ground is not None and command.kind != "syntax":
            report = await self._baseline.without_known(command, result, report)
        if shadow is not None and ground is not None:
            report = replace(report, ground=ground.words)
        sink.end(ending(result, command.deadline_s))
        judged = command.reader is not None or report != RunReport()
        block.report = report if judged and not result.stopped else None
        run = _Run(command, words, block, result, report, output)
        ended: Mapping[str, BlockState] = {"": "cut", "passed": "done"}
        state.close(block, ended.get(run.verdict, "failed"))
        state.restated()
        return run

    def _say_running(self) -> None:
        self._status.running = " · ".join(self._running)
        self._state.restated()

    def _forget_failures(self) -> None:
        self._failures = []
        self._status.can_send_failure = False

    def _note_failures(self, runs: Sequence[_Run]) -> None:
        """Keep what failed, for the model."""
        self._failures = [run for run in runs if run.verdict not in ("", "passed")]
        self._status.can_send_failure = any(not run.report.fault for run in self._failures)
        self._state.restated()

    async def _report(self, command: VerifyCommand, output: str, result: RunResult) -> RunReport:
        """What a run says besides its exit status."""
        report, passed = RunReport(), result.status == 0 and not result.timed_out
        if command.reader is not None:
            report = await asyncio.to_thread(command.reader, output, passed)
        if report.fault and set(self._changed(report)):
            report = replace(report, fault="", step="")
        if result.strayed:
            report = replace(report, fault=_STRAYED.format(result.strayed), step=_ON_DISK)
        if command.kind in ("lint", "types") and not passed and not report.failed:
            return replace(report, fault=report.fault or f"{command.name} failed", step=_ITS_OUTPUT)
        return report

    def _changed(self, report: RunReport) -> list[FailedTest]:
        """The failed tests that belong to what was changed in this session."""
        workspace = self._state.workspace
        unsaved = filter(workspace.is_dirty, workspace.buffers)
        return of_change(report.failed, {*(hunk.path for hunk in workspace.hunks), *unsaved})

    def _send_failure(self) -> None:
        if not self._failures:
            why = "no run of the tests has failed"
            self._state.trouble(Trouble("Nothing to send", why, severity="warning"))
            return
        self._status.can_send_failure = False
        if self._judged is not None and self._services.ports.shadows is not None:
            self._fixing.begin(self._judged)
            return
        text, brief = self._failure_words()
        self._state.briefs[text] = brief
        busy = self._status.busy
        self._submit(intents.Queue(text) if busy else intents.Prompt(text))

    async def failures(self) -> str:
        """What failed in the last run, as a prompt attaches it; empty: nothing did."""
        return self._failure_words()[0] if self._failures else ""

    def _failure_words(self) -> tuple[str, str]:
        """What the model is told of it, and that in brief."""
        told = [run for run in self._failures if not run.report.fault] or self._failures
        parts = [self._one_failure(run, TAIL_CHARS // len(told)) for run in told]
        names = ", ".join(run.words for run in told)
        brief = parts[0][1] if len(parts) == 1 else f"Fix what these found: {names}"
        return "\n\n".join(text for text, _ in parts), brief

    def _one_failure(self, run: _Run, most_chars: int) -> tuple[str, str]:
        words, result, failed = run.words, run.result, run.report.failed
        how = "ran into its deadline" if result.timed_out else f"failed (exit {result.status})"
        if failed:
            first = self._changed(RunReport(tuple(failed)))
            noun = "test" if run.kind == "tests" else "problem"
            ordered = [*first, *(one for one in failed if one not in first)]
            text = as_prompt(words, how, ordered, most_chars, noun)
            if run.kind == "tests":
                count = f"{len(failed)} failed tests" if len(failed) > 1 else "the failed test"
            else:
                count = f"{len(failed)} problems" if len(failed) > 1 else "the problem"
            return text, f"Fix {count} of {words}"
        tail = run.output[-most_chars:]
        if len(run.output) > most_chars:
            tail = "(the beginning is left out)\n" + tail[tail.find("\n") + 1 :]
        text = f"`{words}` {how}. Find the cause and fix it. Its output:\n\n{tail.strip()}"
        return text, f"Fix what {words} says"


def _judged(
    verdict: Verdict, runs: Sequence[_Run], texts: bytes, marks: Sequence[FileMarks]
) -> Judged:
    """What all runs say together."""
    from tui.engine.fixing import Judged, fingerprint  # after the first run

    failed = {one.name: fingerprint(one.message) for run in runs for one in run.report.failed}
    counts = {run.words: run.report.counts for run in runs if run.report.counts is not None}
    return Judged(verdict, failed, texts, counts, marks)


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

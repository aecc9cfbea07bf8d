"""Runs the tests and the user's ``!`` commands; the verdict is the exit status.

Where a report says that nothing could be judged (`RunReport.fault`) there is no red verdict.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from tui.core.conversation import Block, BlockKind, BlockState
from tui.core.document.disk_plan import StillScreen
from tui.core.document.hunk import JUDGES
from tui.core.document.workspace import Workspace
from tui.core.files import digest_of
from tui.core.programs import Output, Shadow
from tui.core.run_report import RunReport, brought_in, placed
from tui.engine import intents
from tui.engine.intents import Intent, TurnWay
from tui.engine.model_commands import (
    USER_HEAD_BYTES,
    USER_TAIL_BYTES,
    CommandOutput,
    ending,
    not_on_disk,
)
from tui.engine.notices import Trouble
from tui.engine.ports import (
    FixRules,
    Part,
    Ports,
    RunResult,
    VerifyCommand,
    VerifyWhen,
    project_tests,
)
from tui.engine.services import Services
from tui.engine.session_state import SessionState
from tui.engine.verdict_state import Ground, VerdictState
from tui.engine.verifier_plan import (
    EndedRun,
    Verdict,
    VerifierLanes,
    card_of,
    command_line,
    common_verdict,
    planned,
    run_options,
    short_title,
    shown_words,
    what_judged,
    whole_argv,
)
from tui.errors import DuettoError, FileRefused

if TYPE_CHECKING:
    from tui.core.document.hunk import Hunk
    from tui.engine.blaming import Blaming, ScreenRun
    from tui.engine.fixing import Fixing, ScreenVerdict
    from tui.engine.judging import Baseline, JudgingPlaces

ALLOW_ONCE = "Run it once"
ALLOW_ALWAYS = "Always run it here"
REFUSE = "Do not run it"


def runs_unasked(ports: Ports, commands: Iterable[VerifyCommand]) -> list[VerifyCommand]:
    """Those that may be run without a question."""
    return [
        one
        for one in commands
        if one.argv and (not one.needs_consent or _known(one) in ports.consents)
    ]


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
_QUICK_S = 3.0
_PLAN_S = 0.3
"""So long nothing runs while it is looked up which tests belong to a change."""
_STRAYED = "the tests used {} as it is on the disk, without what the screen shows"
_ITS_OUTPUT = "its output says why"
_ON_DISK = "/verify disk runs the tests on the disk"
_GO_ON: tuple[Verdict, ...] = ("passed", "same")
"""Behind tests that belong to what changed all tests run after these verdicts."""


class Verification:
    """One command at a time."""

    def __init__(
        self,
        services: Services,
        submit: Callable[[Intent], None],
        rules: FixRules,
        when: VerifyWhen = "ask",
    ) -> None:
        """``submit`` asks the session for something, ``rules`` say how failures are mended.

        ``when`` the verifiers run unasked.
        """
        self._services = services
        self._state = services.state
        self._status = services.state.status
        self._submit = submit
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._running: dict[str, None] = {}
        """What runs now, as the user sees it."""
        self._failures: list[EndedRun] = []
        """Of the last runs those that failed."""
        self._quick: set[str] = set()
        """Names of the verifiers that took no time worth saving on the whole project."""
        self._seen: ScreenRun | None = None
        """The last run on the whole screen."""
        self._gives_way = False
        """What runs was not asked for."""
        self._judged: ScreenVerdict | None = None
        """What the last runs on the screen said."""
        self._rules = rules
        self._verdict_state = VerdictState(services)
        self.outside = self._verdict_state.outside
        self.attempt: Callable[[Callable[[int], None]], int] = lambda told: 0
        """Begins attempts at what failed; see `Fixing`."""
        self.stop_other: Callable[[], None] = lambda: None
        """Stops what else runs, where it is no command of this."""
        self.other_runs: Callable[[], str] = str
        """That in words; empty: nothing does."""
        if when != "ask":
            from tui.engine.live_verifying import LiveVerifying  # few want it

            LiveVerifying(services.state, when, self.unasked, lambda: self.runs)

    @property
    def active(self) -> bool:
        """True while a command runs, is looked for, or is asked about."""
        return self.runs or self._fixes

    @property
    def runs(self) -> bool:
        """The same of a command alone: a fix may wait for a model."""
        return self._task is not None

    def handle(self, intent: Intent) -> None:
        """Run a command, stop it, or send what it left."""
        if isinstance(intent, intents.Verify) and intent.unasked:
            self.unasked(intent)
            return
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
            case intents.SendFailure() if self._failures and self._status.outdated:
                self._start(self._judged_again(), "verify")
            case intents.SendFailure():
                self._send_failure()

    def _start(self, wanted: Coroutine[object, object, None], name: str) -> None:
        work = wanted
        if self._task is not None and (self._gives_way or self._stopping):
            if not self._stopping:
                self._task.cancel()
            work = _behind(self._task, wanted)
        elif self._task is not None:
            work.close()
            what = self._status.running or "a command"
            self._state.warn(f"{what} is still running", "", "stop it first")
            return
        self._stopping = self._gives_way = False
        self._task = self._services.supervisor.start(work, name)
        self._task.add_done_callback(lambda _: wanted.close())  # it may never have begun
        self._task.add_done_callback(self._ended)

    def unasked(self, wanted: intents.Verify) -> bool:
        """Begin it instead of what runs unasked; False: something that was asked for runs."""
        if self._fixes or (self._task is not None and not self._gives_way):
            return False
        self._start(self._verify(wanted), "verify")
        self._gives_way = True
        return True

    def _stop(self) -> None:
        if self._task is not None:
            self._stopping = True
            self._task.cancel()
        else:
            self.stop_other()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task is self._task:
            self._task = None
            self._status.running = self.other_runs()
            self._state.restated()
            if self._fixes:
                self._fixing.run_over()

    async def _command(self, command: str) -> None:
        self._judged = None
        self._forget_failures()
        line = VerifyCommand(command, "", deadline_s=COMMAND_DEADLINE_S)
        self._note_failures([await self._run(line, None, None)])

    async def _unasked(self) -> list[VerifyCommand]:
        """The verifiers that may run without a question."""
        ports = self._services.ports
        try:
            found = await ports.verifiers()
        except DuettoError:
            return []  # F5 says why
        return runs_unasked(ports, found)

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
            self._say_nothing_runs()
            return []
        for one in found:
            if not one.argv:
                _say_cannot_run(self._state, one)
                self._verdict("error")
        found = [one for one in found if one.argv]
        if await is_allowed(self._state, self._services.ports, *found):
            return found
        refused = ", ".join(_shown(one) for one in found if one.needs_consent)
        self._state.note(0, f"not run: {refused}")
        return [one for one in found if not one.needs_consent]

    def _say_nothing_runs(self) -> None:
        self._verdict("error")
        why = "no test command is configured and no tests were found"
        step = 'set command = "..." under [verify] in config.toml'
        self._state.trouble(Trouble("Nothing to verify with", why, step))

    async def _blame(self) -> None:
        if (command := project_tests(await self._found(("tests",)))) is None:
            return
        screen, seen = await self._services.screen(), self._seen
        if self._status.outdated or not self._status.verdict:
            seen = None
        words = short_title(command.argv)
        await self._blaming.find(command, words, seen.screen if seen else screen, seen)

    @functools.cached_property
    def places(self) -> JudgingPlaces:
        """Where all that is judged on this machine runs, also what lanes made."""
        from tui.engine.judging import JudgingPlaces  # after the first paint

        return JudgingPlaces(max(self._services.ports.side_by_side, 1))

    @functools.cached_property
    def baseline(self) -> Baseline:
        """What failed before."""
        from tui.engine.judging import Baseline  # after the first paint

        baseline = Baseline(self._services, self.places)
        self._verdict_state.on_unknown = baseline.forget
        return baseline

    @functools.cached_property
    def _blaming(self) -> Blaming:
        from tui.engine.blaming import Blaming  # hardly a session needs it

        return Blaming(self._services, self.places)

    @property
    def _fixes(self) -> bool:
        """True from the first try of a fix to its end."""
        return "_fixing" in self.__dict__ and self._fixing.at_work

    @functools.cached_property
    def _fixing(self) -> Fixing:
        from tui.engine.fixing import Fixing  # when something has failed

        fixing = Fixing(
            self._services, self._rules, self._submit, self._failure_words, self._judge_fix
        )
        self._verdict_state.on_outside = fixing.outside
        fixing.attempt = self.attempt
        return fixing

    def _judge_fix(self, without: Sequence[int]) -> bool:
        """Judge the screen that a try left, without these hunks; False: not now."""
        if self._task is not None and not self._gives_way:
            return False
        self._start(self._judge_try(without), "verify")
        return True

    async def _judge_try(self, without: Sequence[int]) -> None:
        """Run the verifiers, unless the answer left all as they have judged it already."""
        stands = not self._fixing.ran_commands and await self._verdict_state.holds(without)
        if stands and self._judged is not None:
            self._note_failures(self._failures)
            self._fixing.judged(self._judged)
        else:
            await self._verify(intents.Verify(), without)

    async def _verify(self, wanted: intents.Verify, without: Sequence[int] = ()) -> None:
        """Run what judges the project: checks beside the tests, each in its own shadow."""
        found = await (self._unasked() if wanted.unasked else self._found(wanted.only))
        named = tuple(one.name for one in found if one.name in wanted.tests)
        if named:  # these words are no tests
            found = [one for one in found if one.name in named]
            wanted = replace(wanted, tests=tuple(set(wanted.tests) - set(named)))
        if not found:
            return
        if not wanted.files:
            self._forget()
        began_s = self._services.ports.clock.now()
        self._verdict_state.begins()
        screen = (await self._services.screen()).without(without)
        shown = StillScreen(()) if wanted.disk else screen
        ground = Ground.of(shown, self._state.workspace, without)
        texts = await asyncio.to_thread(shown.files)
        shadow = await self._shadow(texts) if texts else None
        if shadow is None and texts and wanted.unasked:
            return  # the disk has nothing of it
        if shadow is None:
            await self._begin_on_disk(leaves_out=bool(texts) or wanted.disk)
        shadows = [shadow]
        try:
            lanes = await self._planned(found, wanted, texts, apart=shadow is not None)
            if not (lanes.checks or lanes.tests or wanted.unasked or wanted.only):
                self._say_nothing_runs()
                return
            if shadow is not None and lanes.checks and lanes.tests:
                shadows.append(await self._shadow(texts))
            runs = await self._lanes(lanes, ground, shadows, quietly=bool(wanted.files))
        finally:
            self._verdict_state.ends()
            for one in filter(None, shadows):
                one.close()
        wholes = [run for run in runs if run.command in found]
        self._note_wholes(wholes, () if shadow is None else screen.waiting)
        verdict = common_verdict([(run.kind, run.verdict) for run in runs])
        if wanted.files and verdict != "failed":
            return  # nothing is known of the rest
        self._note_failures(runs)
        self._verdict(verdict, what_judged([(run.kind, run.verdict) for run in runs], verdict))
        on_disk = shadow is None and (wanted.disk or bool(texts))
        if verdict:
            blocks = [run.block for run in runs if run.verdict == "failed" or not wanted.files]
            self._verdict_state.stands(blocks, ground, on_disk=on_disk)
        if not on_disk:
            from tui.engine.fixing import screen_verdict  # after the first run

            digest = await asyncio.to_thread(digest_of, texts)
            self._judged = screen_verdict(verdict, runs, digest, found)
            _tell(self._services, wanted, verdict, began_s)
        await self._go_on(wanted, verdict, screen, runs if shadow is not None else ())

    async def _go_on(
        self,
        wanted: intents.Verify,
        verdict: Verdict,
        screen: StillScreen,
        runs: Sequence[EndedRun],
    ) -> None:
        """What follows a verdict; ``runs`` are those in a shadow."""
        if self._fixes and self._judged is not None:
            self._fixing.judged(self._judged)
            return
        if self._rules.when == "auto" and verdict in ("failed", "timeout") and not wanted.files:
            self._send_failure()
            return
        judged = [run for run in runs if run.kind == "tests"]
        if verdict and judged:
            await self._look_for_blame(screen, judged[-1])

    async def _planned(
        self,
        found: Sequence[VerifyCommand],
        wanted: intents.Verify,
        texts: Mapping[str, bytes | None],
        *,
        apart: bool,
    ) -> VerifierLanes:
        """What runs; where the part takes long to find, as at the first time, all at once."""
        rest, part = not wanted.files, self._part(wanted)
        if apart:
            gone = (path for path, text in texts.items() if text is None)
            part = replace(part, texts=texts, gone=tuple({*part.gone, *gone}))
        plan = functools.partial(planned, found, rest=rest, quick=self._quick)
        try:
            async with asyncio.timeout(_PLAN_S if rest and not part.named else None):
                lanes = await asyncio.to_thread(plan, part, apart)
        except TimeoutError:
            lanes = await asyncio.to_thread(plan, Part(), apart)
        if wanted.unasked:
            return VerifierLanes((), (*lanes.checks, *lanes.tests))  # one at a time
        return lanes

    def _note_wholes(self, wholes: Iterable[EndedRun], waiting: Sequence[Hunk]) -> None:
        """Learn from runs on the whole project."""
        for run in wholes:
            if run.verdict == "passed" and not self._verdict_state.unsure:
                self.baseline.passed(run.command, waiting)
            if run.verdict in ("passed", "failed"):
                quick = run.result.seconds < _QUICK_S
                (self._quick.add if quick else self._quick.discard)(run.command.name)

    def _forget(self) -> None:
        """What the last run said."""
        self._verdict("")
        self._seen = None
        self._judged = None
        self._forget_failures()
        if "_blaming" in self.__dict__:
            self._blaming.unmark()

    async def _look_for_blame(self, screen: StillScreen, run: EndedRun) -> None:
        """Unasked, if it will not take long; whatever is asked for goes before."""
        from tui.engine.blaming import ScreenRun, of_run  # after the first run in a shadow

        result, failed = run.result, run.report.failed
        report = replace(run.report, failed=(*failed, *run.report.known), known=())
        self._seen = ScreenRun(screen, report, of_run(result, report), result.seconds)
        if run.verdict == "failed":
            self._gives_way = True
            await self._blaming.alone(run.command, run.words, self._seen)

    async def _lanes(
        self,
        lanes: VerifierLanes,
        ground: Ground,
        shadows: Sequence[Shadow | None],
        *,
        quietly: bool,
    ) -> list[EndedRun]:
        """The runs of both, in the order of their ends."""
        runs: list[EndedRun] = []
        run_one = self._run_quietly if quietly else self._run

        async def lane(commands: Sequence[VerifyCommand], shadow: Shadow | None) -> None:
            for number, command in enumerate(commands, 1):
                run = await run_one(command, ground, shadow)
                words, seconds = run.words, run.result.seconds
                self._state.witness.judged(words, run.verdict, seconds, run.report)
                if run.was_empty and command.name in (one.name for one in commands[number:]):
                    continue  # none of a part runs here; all may
                runs.append(run)
                if not run.verdict or (command.kind == "tests" and run.verdict not in _GO_ON):
                    left = ", ".join(map(shown_words, commands[number:]))
                    if left and run.verdict and not quietly:
                        self._state.note(0, f"not run: {left}")
                    break

        checks = asyncio.ensure_future(lane(lanes.checks, shadows[0]))
        tests = asyncio.ensure_future(lane(lanes.tests, shadows[-1]))

        def red(_: object) -> None:
            """The verdict is certain: what mends it waits for nothing."""
            if any(run.kind == "tests" and run.verdict == "failed" for run in runs):
                checks.cancel()

        tests.add_done_callback(red)
        try:
            for ended in await asyncio.gather(checks, tests, return_exceptions=True):
                if isinstance(ended, Exception):
                    raise ended
        except asyncio.CancelledError:
            if not self._stopping:
                raise
        return runs

    def _part(self, wanted: intents.Verify) -> Part:
        """What belongs to what is to be judged: the files that this session changed, or some."""
        if wanted.whole:
            return Part()
        changed = tuple(sorted(_changed_paths(self._state.workspace)))
        records = self._state.workspace.documents.records
        gone = tuple(path for path in changed if path in records and records[path].gone)
        return Part(wanted.files or changed, gone, named=wanted.tests)

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

    async def _begin_on_disk(self, *, leaves_out: bool) -> None:
        """The tests see the files as they are saved, which may surprise where they are others."""
        if leaves_out and (missing := not_on_disk(self._state.workspace)):
            self._state.note(0, f"the tests run without {missing}: not on disk")
        await self._verdict_state.begins_on_disk()

    def _verdict(self, verdict: Verdict, judged: Literal["tests", "checks"] = "tests") -> None:
        self._verdict_state.forget()
        self._status.verdict, self._status.judged = verdict, judged
        self._state.restated()

    async def _run(
        self, command: VerifyCommand, ground: Ground | None, shadow: Shadow | None
    ) -> EndedRun:
        """Run with the output in the conversation as it comes, on the screen or the disk."""
        from tui.core.run_progress import RunProgress  # after the first paint

        state, clock = self._state, self._services.ports.clock
        start_s = clock.now()
        block = state.add(card_of(command))
        sink = CommandOutput(state, block, clock.now, USER_HEAD_BYTES, USER_TAIL_BYTES)
        sink.unsaid = command.report_file
        progress = RunProgress(command.progress)

        def feed(data: bytes) -> None:
            progress.feed(data)
            block.progress = progress.words
            sink.feed(data)

        try:
            result, report = await self._judge(command, ground, shadow, feed, lambda: sink.text)
        except asyncio.CancelledError:
            if not self._stopping:
                sink.end("[stopped]")
                state.close(block, "cut")
                raise
            # also behind its end, while what failed was looked at once more: it has no verdict
            result = RunResult(None, clock.now() - start_s, stopped=True)
            report = RunReport()
        if ground is not None:
            words = "" if shadow is None else ground.words
            report = replace(report, ground=words, left_out=ground.without)
        run = EndedRun(command, shown_words(command), block, result, report, sink.text)
        sink.end(ending(result, command.deadline_s))
        self._close(run)
        return run

    async def _run_quietly(
        self, command: VerifyCommand, ground: Ground, shadow: Shadow | None
    ) -> EndedRun:
        """The same, but there is a card only if something failed."""
        from tui.core.shell.clipping import Clip  # after the first paint

        clip = Clip(USER_HEAD_BYTES, USER_TAIL_BYTES)
        result, report = await self._judge(command, ground, shadow, clip.feed, clip.text)
        output = clip.text()
        block = card_of(command)
        run = EndedRun(command, shown_words(command), block, result, report, output)
        if run.verdict == "failed":
            self._state.add(block, f"{output}\n{ending(result, command.deadline_s)}\n")
            self._close(run)
        return run

    async def _judge(
        self,
        command: VerifyCommand,
        ground: Ground | None,
        shadow: Shadow | None,
        feed: Output,
        output: Callable[[], str],
    ) -> tuple[RunResult, RunReport]:
        """How it ended, and what it says apart from what failed before anything was changed.

        Where lanes' tests ran meanwhile, what failed is looked at once more.
        """
        if ground is None or command.kind == "syntax":
            result = await self._executed(command, shadow, feed, ground)
            return result, await self._report(command, output(), result)
        with self._shown_running(shown_words(command)):
            with self.places.visited(command) as place:
                result = await self._executed(command, shadow, feed, ground)
            said = result, await self._report(command, output(), result)
            if place.met:
                said = await self._seen_alone(command, said, ground, on_disk=shadow is None)
            report = await self.baseline.without_known(command, *said, ground)
        return said[0], placed(report, _changed_paths(self._state.workspace))

    async def _seen_alone(
        self,
        command: VerifyCommand,
        said: tuple[RunResult, RunReport],
        ground: Ground,
        *,
        on_disk: bool,
    ) -> tuple[RunResult, RunReport]:
        """What failed beside the tests of lanes, once more while none of them runs."""
        from tui.engine.judging import THEY_MEET, judged_apart, seen_alone

        ports = self._services.ports
        texts = {} if on_disk else await asyncio.to_thread(ground.screen.files)

        async def look(small: VerifyCommand) -> tuple[RunResult, RunReport]:
            assert ports.shadows is not None  # nor would lanes be judged
            return await judged_apart(ports.runner, ports.shadows(), small, texts)

        with suppress(FileRefused):
            alone = await seen_alone(self.places, command, said, texts, look)
            if alone is not said:
                self._state.note(0, THEY_MEET)
            return alone
        return said

    def _close(self, run: EndedRun) -> None:
        """The card says how it ended."""
        command, block = run.command, run.block
        told = command.reader is not None or run.report != RunReport()
        block.report = run.report if told and not run.result.stopped else None
        ended: Mapping[str, BlockState] = {"": "cut", "passed": "done", "same": "done"}
        self._state.close(block, ended.get(run.verdict, "failed"))
        self._state.restated()

    async def _executed(
        self,
        command: VerifyCommand,
        shadow: Shadow | None,
        feed: Output,
        ground: Ground | None,
    ) -> RunResult:
        """How it ended, by itself or stopped by the user."""
        witness, clock = self._state.witness, self._services.ports.clock
        words, start_s = shown_words(command), clock.now()
        if command.at_once is not None and ground is not None:
            texts = {} if shadow is None else await asyncio.to_thread(ground.screen.files)
            if (said := await command.at_once(texts)) is not None:
                feed(said[1])
                return RunResult(said[0], clock.now() - start_s)
        argv = whole_argv(command)
        consent = "the user allowed it" if command.needs_consent else "the user runs it"
        number = witness.command_begins(command_line(argv), "", "", consent)
        how = run_options(command, shadow, nice=self._gives_way)
        try:
            runner = self._services.ports.runner
            with self._shown_running(words):
                await witness.kept()
                result = await runner.run(argv, feed, command.deadline_s, how)
        except asyncio.CancelledError:
            result = RunResult(None, clock.now() - start_s, stopped=True)
            if not self._stopping:
                witness.command_ends(number, result)
                raise
        witness.command_ends(number, result)
        return result

    @contextmanager
    def _shown_running(self, words: str) -> Iterator[None]:
        def say() -> None:
            self._status.running = " · ".join(self._running) or self.other_runs()
            self._state.restated()

        if words in self._running:
            yield
            return
        self._running[words] = None
        say()
        try:
            yield
        finally:
            self._running.pop(words, None)
            say()

    def _forget_failures(self) -> None:
        self._failures = []
        self._status.can_send_failure = False

    def _note_failures(self, runs: Sequence[EndedRun]) -> None:
        """Keep what failed, for the model."""
        self._failures = [run for run in runs if run.verdict not in ("", "passed")]
        self._status.can_send_failure = any(not run.report.fault for run in self._failures)
        self._state.restated()

    async def _report(self, command: VerifyCommand, output: str, result: RunResult) -> RunReport:
        """What a run says besides its exit status."""
        report, passed = RunReport(), result.status == 0 and not result.timed_out
        if command.reader is not None:
            report = await asyncio.to_thread(command.reader, output, passed)
        report = brought_in(report, _changed_paths(self._state.workspace))
        report = replace(report, late=result.timed_out)
        if result.strayed:
            report = replace(report, fault=_STRAYED.format(result.strayed), step=_ON_DISK)
        if command.kind in ("lint", "types") and not passed and not report.failed:
            return replace(report, fault=report.fault or f"{command.name} failed", step=_ITS_OUTPUT)
        return report

    async def _judged_again(self) -> None:
        """Judge what is there now, but for what a fix changed in tests; send what fails then."""
        self._state.note(0, "The verdict is out of date: judged again first")
        hunks = self._state.workspace.hunks
        judging = [one.id for one in hunks if one.undecided and JUDGES in one.flags]
        await self._verify(intents.Verify(disk=self._verdict_state.on_disk), judging)
        if self._failures and not self._fixes:
            self._send_failure()
        elif self._status.verdict == "passed":
            self._state.note(0, "Nothing to fix any more")

    def _send_failure(self) -> None:
        if not self._failures:
            why = "no run of the tests has failed"
            self._state.warn("Nothing to send", why)
            return
        self._status.can_send_failure = False
        if self._judged is not None and self._services.ports.shadows is not None:
            self._fixing.begin(self._judged)
            return
        text, brief = self._failure_words()
        queued, way = self._status.busy, TurnWay(brief=brief)
        self._submit((intents.Queue if queued else intents.Prompt)(text, way))

    def failure(self) -> tuple[str, str] | None:
        """What failed in the last run, for a model and in brief; None: nothing did."""
        return self._failure_words() if self._failures else None

    def _failure_words(self) -> tuple[str, str]:
        from tui.engine.failure_words import failure_words  # when something has failed

        return failure_words(self._failures, _changed_paths(self._state.workspace))


def _say_cannot_run(state: SessionState, command: VerifyCommand) -> None:
    """There are tests, and nothing that could run them: said where their output would be."""
    block = state.add(Block(BlockKind.RUN, 0, f"tests · {command.source}"))
    block.report = command.reader("", False) if command.reader else RunReport()
    state.close(block, "failed")


def _changed_paths(workspace: Workspace) -> set[str]:
    """The files that this session changed."""
    unsaved = filter(workspace.is_dirty, workspace.buffers)
    return {*(hunk.path for hunk in workspace.hunks), *unsaved}


def _tell(services: Services, wanted: intents.Verify, verdict: Verdict, began_s: float) -> None:
    """Who waits for verdicts is told this one; a part that passes says nothing of the rest.

    Nor is a part told that runs while an answer is written: it may be mended in the same answer.
    """
    whole = not (wanted.files or wanted.only or wanted.tests)
    if verdict and whole:
        seconds = services.ports.clock.now() - began_s
        services.state.witness.judged("", verdict, seconds, RunReport())
    if whole or (verdict == "failed" and not wanted.unasked):
        for told in services.state.after_verdict:
            told(verdict)


async def _behind(task: asyncio.Task[None], work: Coroutine[object, object, None]) -> None:
    """Work when something else has ended."""
    await asyncio.wait([task])
    await work

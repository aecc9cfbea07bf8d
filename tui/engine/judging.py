"""Runs a verifier on texts that nobody has saved, and reads what it says.

A verdict is about the difference: what failed is run once more on the texts without any hunk of the
session, in a shadow; what is found is kept by these texts, and by those of the other open files.
Where all passed before with hunks that still stand that is not needed: what fails now is new.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TypeVar

from msgspec.structs import replace

from tui.core.document.hunk import Decision, Hunk
from tui.core.files import digest_of
from tui.core.programs import Output, Shadow
from tui.core.run_report import FailedTest, RunReport
from tui.core.shell.clipping import Clip
from tui.engine.ports import Part, Runner, RunResult, Shadows, VerifyCommand
from tui.engine.services import Services
from tui.engine.verdict_state import Ground
from tui.engine.verifier_plan import run_options, verdict_of, whole_argv
from tui.errors import DuettoError

_OUTPUT_BYTES = 400_000
_Run = tuple[RunResult, RunReport]
_Said = TypeVar("_Said")
THEY_MEET = "tests disturb each other, by a port or a file: those of lanes run one by one now"


class _JudgingPlace:
    """Where a run goes on."""

    def __init__(self) -> None:
        self.met = False
        """Another one went on meanwhile."""


_LOOKS = 3
"""So often a run is begun that is to be alone, and meets others that wait for no place."""


class JudgingPlaces:
    """So many runs go on side by side; one that must meet no other waits until it is alone."""

    def __init__(self, count: int) -> None:
        self._count, self._free = count, asyncio.Semaphore(count)
        self._in_turn = asyncio.Lock()
        self._taken: list[_JudgingPlace] = []
        self.one_by_one = False
        """From now on all are alone."""
        self._guests = 0
        self._without_guests = asyncio.Event()
        self._without_guests.set()

    @contextmanager
    def guest(self) -> Iterator[_JudgingPlace]:
        """A run that waits for no place: others meet it, and who is to be alone waits for it."""
        self._guests += 1
        self._without_guests.clear()
        with self._place() as place:
            try:
                yield place
            finally:
                self._guests -= 1
                if not self._guests:
                    self._without_guests.set()

    @contextmanager
    def visited(self, command: VerifyCommand) -> Iterator[_JudgingPlace]:
        """A guest, if it is one that may disturb others: a linter only reads."""
        if command.kind == "tests":
            with self.guest() as place:
                yield place
        else:
            yield _JudgingPlace()

    @contextmanager
    def _place(self) -> Iterator[_JudgingPlace]:
        place = _JudgingPlace()
        for other in self._taken:
            other.met = place.met = True
        self._taken.append(place)
        try:
            yield place
        finally:
            self._taken.remove(place)

    @asynccontextmanager
    async def one(self, *, alone: bool = False) -> AsyncIterator[_JudgingPlace]:
        """Wait for a place, and leave it at the end."""
        async with AsyncExitStack() as ends:
            if alone or self.one_by_one:
                await ends.enter_async_context(self._in_turn)
                for _ in range(self._count - 1):
                    await ends.enter_async_context(self._free)
            await ends.enter_async_context(self._free)
            if alone or self.one_by_one:
                await self._without_guests.wait()
            yield ends.enter_context(self._place())

    async def alone(self, run: Callable[[], Awaitable[_Said]]) -> _Said:
        """What a run says while nothing else goes on; where a guest comes it is begun again."""
        for look in range(_LOOKS):
            async with self.one(alone=True) as place:
                said = await run()
            if not place.met or look == _LOOKS - 1:
                break
        return said


async def judged(
    runner: Runner,
    command: VerifyCommand,
    shadow: Shadow,
    output: Output = lambda data: None,
) -> _Run:
    """One run in a shadow; `verifier_plan.verdict_of` says what it comes to."""
    clip = Clip(_OUTPUT_BYTES, _OUTPUT_BYTES)

    def feed(data: bytes) -> None:
        clip.feed(data)
        output(data)

    how = run_options(command, shadow)
    result = await runner.run(whole_argv(command), feed, command.deadline_s, how)
    if command.reader is None:
        return result, RunReport()
    if result.output:
        clip = Clip(_OUTPUT_BYTES, _OUTPUT_BYTES)
        clip.feed(result.output)
    passed = result.status == 0 and not result.timed_out
    report = await asyncio.to_thread(command.reader, clip.text(), passed)
    return result, replace(report, late=result.timed_out)


async def judged_apart(
    runner: Runner,
    shadows: Shadows,
    command: VerifyCommand,
    texts: Mapping[str, bytes | None],
    output: Output = lambda data: None,
) -> _Run:
    """One run in a shadow of its own. Raises FileRefused: there can be none."""
    shadow = await shadows.make(texts)
    try:
        return await judged(runner, command, shadow, output)
    finally:
        shadow.close()


async def judge(
    runner: Runner,
    shadows: Shadows,
    command: VerifyCommand,
    texts: Mapping[str, bytes | None],
    output: Output = lambda data: None,
) -> _Run:
    """Judge the workspace as it is with these texts; None: there is no such file.

    Any number of calls may run side by side. Raises FileRefused: there can be no shadow.
    """
    make = command.part
    if make is not None:  # with a report of its own
        fresh = await asyncio.to_thread(make, Part())
        command = fresh or command
    return await judged_apart(runner, shadows, command, texts, output)


async def seen_alone(
    places: JudgingPlaces,
    command: VerifyCommand,
    said: _Run,
    texts: Mapping[str, bytes | None],
    look: Callable[[VerifyCommand], Awaitable[_Run]],
) -> _Run:
    """What failed beside other runs once more, while nothing else runs: they may have met.

    ``look`` runs a command on these texts. It is ``said`` itself where that stands.
    """
    run, report = said
    if verdict_of(run, report) != "failed":
        return said
    small = await asyncio.to_thread(run_again, command, run, report.failed, texts)
    if small is None:
        return said
    second, told = await places.alone(lambda: look(small))
    names = {one.name for one in told.failed}
    failed = tuple(one for one in report.failed if one.name in names)
    verdict = verdict_of(second, told)
    if verdict == "passed":
        failed = ()
    elif verdict != "failed" or failed in ((), report.failed):
        return said
    places.one_by_one = True
    counts = report.counts
    if counts is not None:  # those that the report does not name were not looked at again
        named = min(len(report.failed) - len(failed), counts.failed)
        mended = named if report.failed else counts.failed
        counts = counts._replace(passed=counts.passed + mended, failed=counts.failed - mended)
    stays = failed or (counts is not None and counts.failed)
    return run if stays else second, replace(report, failed=failed, counts=counts)


_WHOLE = (FailedTest("the tests"),)
"""What failed where the output names no test."""
_LONGEST_S = 60.0
"""A run that took longer is not run again where it cannot be run in part."""
Key = tuple[str, ...]
_UNKNOWN = object()


class Baseline:
    """Of one session."""

    def __init__(self, services: Services, places: JudgingPlaces) -> None:
        self._services, self._places = services, places
        self._known: dict[bytes, dict[Key, bool]] = {}
        """Texts -> what was looked at on them, and whether it failed."""
        self._passed: dict[str, set[int]] = {}
        """Names of commands, and the hunks that stood when all that it judges passed."""

    def passed(self, command: VerifyCommand, waiting: Iterable[Hunk]) -> None:
        """All that it judges passed, with these hunks and what is accepted."""
        hunks = self._services.state.workspace.hunks
        accepted = (hunk for hunk in hunks if hunk.decision is Decision.ACCEPTED)
        self._passed[command.name] = {hunk.id for hunk in (*waiting, *accepted)}

    def forget(self) -> None:
        """Somebody changed files that nobody looks after here."""
        self._known.clear()
        self._passed.clear()

    async def without_known(
        self,
        command: VerifyCommand,
        result: RunResult,
        report: RunReport,
        ground: Ground,
        *,
        is_before: bool = False,
    ) -> RunReport:
        """The report with what failed before in a list of its own.

        ``ground`` is what it ran on, which is looked at without any hunk of the session;
        ``is_before``: it is what was there before.
        """
        asked = report.failed or (_WHOLE if _is_nameless(command, result, report) else ())
        if not asked or report.fault or result.timed_out or self._services.ports.shadows is None:
            return report
        if not is_before and self._is_new(command):
            return report
        texts = await asyncio.to_thread(
            ground.texts, on_disk=False, hunks=None if is_before else ()
        )
        if not is_before:
            if not (own := await self._before()):
                return report
            texts |= own
        known = self._known.setdefault(digest_of(texts, command.name), {})
        fresh = [one for one in asked if _key(command, one) not in known]
        if fresh:
            again = await asyncio.to_thread(run_again, command, result, fresh, texts)
            failed = None if again is None else await self._run(again, texts)
            if failed is None:
                return report
            before = {_key(command, one) for one in failed}
            known.update({_key(command, one): _key(command, one) in before for one in fresh})
        old = [one for one in asked if known[_key(command, one)]]
        new = [one for one in report.failed if not known[_key(command, one)]]
        return replace(report, failed=tuple(new), known=(*report.known, *old))

    def _is_new(self, command: VerifyCommand) -> bool:
        """Whether it passed before something was added to what stood then."""
        if command.name not in self._passed:
            return False
        hunks = self._services.state.workspace.hunks
        stand = {one.id for one in hunks if one.decidable or one.decision is Decision.ACCEPTED}
        return self._passed[command.name] <= stand

    async def _before(self) -> dict[str, bytes | None]:
        """The texts without any hunk of the session, of the files that have some."""
        workspace = self._services.state.workspace
        found: dict[str, bytes | None] = {}
        for path in dict.fromkeys(hunk.path for hunk in workspace.hunks):
            try:
                found[path] = workspace.with_hunks(path, ())
            except (DuettoError, KeyError):
                continue  # it is not open any more: it is as on the disk
            await asyncio.sleep(0)
        return found

    async def _run(
        self, command: VerifyCommand, texts: Mapping[str, bytes | None]
    ) -> Sequence[FailedTest] | None:
        """What fails on these texts; None: nobody can say."""
        ports = self._services.ports
        records = self._services.state.workspace.documents.records
        on_disk = {path: record.disk for path, record in records.items()}
        others = {path: data for path, data in texts.items() if data != on_disk.get(path, _UNKNOWN)}

        def look() -> Awaitable[_Run]:
            assert ports.shadows is not None
            return judged_apart(ports.runner, ports.shadows(), command, others)

        try:
            with self._places.visited(command) as place:
                result, report = await look()
            if place.met and (result.status or report.failed):  # perhaps for what ran beside it
                result, report = await self._places.alone(look)
        except DuettoError:
            return None
        if result.status is None or result.timed_out or result.strayed or report.is_empty:
            return None  # also what cannot be run alone, such as a crash of all tests
        if report.fault and not report.failed:
            return None
        return report.failed or (_WHOLE if result.status else ())


def run_again(
    command: VerifyCommand,
    result: RunResult,
    failed: Sequence[FailedTest],
    texts: Mapping[str, bytes | None],
) -> VerifyCommand | None:
    """What runs these once more; None: it would take too long.

    Where the file of each is known, that is run: a test that is new is not missed there, and a
    file that is new is left out.
    """
    if command.part is None or failed == list(_WHOLE):
        return command if result.seconds < _LONGEST_S else None
    files = [one.id.partition("::")[0] for one in failed]
    old = [file for file in dict.fromkeys(files) if texts.get(file, b"") is not None]
    part = Part(named=tuple(old)) if old and all(files) else Part(failed=tuple(failed))
    small = command.part(part)
    return small or (command.part(Part()) if result.seconds < _LONGEST_S else None)


def _is_nameless(command: VerifyCommand, result: RunResult, report: RunReport) -> bool:
    """Whether the tests failed without saying which, or how many."""
    told = report.failed or (report.counts is not None and report.counts.failed)
    return command.kind == "tests" and not told and verdict_of(result, report) == "failed"


def _key(command: VerifyCommand, one: FailedTest) -> Key:
    """By which it is known again, wherever its lines are; without a name, by all that ran."""
    if one in _WHOLE:
        return one.name, str(command.argv)
    named = one.name, one.path
    return named if command.kind == "tests" else (*named, one.message)

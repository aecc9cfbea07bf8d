"""Finds the hunks that made the tests fail, or cured them: runs in shadows, several side by side.

What it finds is marked on the hunks, so that each list of them shows it and none of these is
accepted by itself; the card says what that cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from math import ceil, log2
from typing import NamedTuple

from tui.core.blame import THE_RUN, Blame, Culprit, Outcome, Subset, Trial, outcome_of
from tui.core.conversation import Block, BlockKind
from tui.core.document.disk_plan import StillScreen
from tui.core.document.hunk import BREAKS, Hunk
from tui.core.files import digest_of, first_of
from tui.core.programs import RunResult, Shadow
from tui.core.run_report import RunReport, brought_in
from tui.core.text.buffer import Buffer
from tui.engine.judging import JudgingPlaces, judged
from tui.engine.ports import Part, VerifyCommand
from tui.engine.services import Services
from tui.errors import FileRefused

MOST_S = 300.0
"""For a search that was asked for."""
ALONE_S = 10.0
"""For one that was not: it begins where it will probably take no longer."""
_MOST_NAMED = 3
"""Tests that a mark names."""


class ScreenRun(NamedTuple):
    """A run of the tests on the whole screen."""

    screen: StillScreen
    report: RunReport
    outcome: Outcome
    seconds: float


class Blaming:
    """One search at a time; its marks stay until the tests run again."""

    def __init__(self, services: Services, places: JudgingPlaces) -> None:
        self._services, self._places = services, places
        self._state = services.state
        self._ports = services.ports
        self._marked: list[dict[int, str]] = []
        """For each fault the hunks that make it, with what they were."""
        self._looked: object = None
        self._state.before_drain.append(self._frame)

    def unmark(self) -> None:
        """What was found is of an earlier state."""
        self._unmark({hunk for fault in self._marked for hunk in fault})
        self._marked = []

    def _unmark(self, numbers: Collection[int]) -> None:
        for hunk in _of(numbers, self._state.workspace.hunks):
            hunk.flags = tuple(flag for flag in hunk.flags if not flag.startswith(BREAKS))
        if numbers:
            self._state.workspace.documents.bump()
            self._state.hunks_changed()

    def _frame(self) -> None:
        """Once a frame: a hunk that was edited is another one, and its fault may be gone."""
        buffers = self._state.workspace.buffers
        if not self._marked or self._looked == (now := _revisions(buffers)):
            return
        self._looked = now
        known = {number for fault in self._marked for number in fault}
        hunks = _of(known, self._state.workspace.hunks)
        texts = {hunk.id: _text(hunk, buffers) for hunk in hunks}
        edited = [
            fault
            for fault in self._marked
            if any(texts.get(number, text) != text for number, text in fault.items())
        ]
        self._marked = [fault for fault in self._marked if fault not in edited]
        gone = {number for fault in edited for number in fault}
        self._unmark(gone - {number for fault in self._marked for number in fault})

    async def find(
        self, command: VerifyCommand, words: str, screen: StillScreen, seen: ScreenRun | None
    ) -> None:
        """Search among the hunks that wait, and say what was found.

        ``words`` are the command as the user sees it, ``seen`` is its run on the same screen.
        """
        state = self._state
        if self._ports.shadows is None or not screen.waiting:
            why = "there are no shadows here" if screen.waiting else "no hunk waits for a decision"
            state.warn("Nothing to blame", why)
            return
        self.unmark()
        block = state.add(Block(BlockKind.RUN, 0, f"blame · {words}"))
        search = _Search(self._services, self._places, command, screen, seen)
        try:
            await search.run(MOST_S)
        except BaseException as error:
            stopped = isinstance(error, asyncio.CancelledError)
            state.append(block, "[stopped]\n" if stopped else f"{error}\n")
            state.close(block, "cut" if stopped else "failed")
            raise
        self._say(block, search)

    async def alone(self, command: VerifyCommand, words: str, seen: ScreenRun) -> None:
        """The same unasked, behind a run that failed, if it will not take long.

        What it does not find it says nothing of.
        """
        count = len(seen.screen.waiting)
        runs = (ceil(log2(count)) if count else 0) + 5
        quick = runs * seen.seconds / self._ports.side_by_side <= ALONE_S
        if self._ports.shadows is None or not count or not quick:
            return
        search = _Search(self._services, self._places, command, seen.screen, seen)
        await search.run(ALONE_S)
        if search.blame.culprits or search.blame.flaky:
            self._say(self._state.add(Block(BlockKind.RUN, 0, f"blame · {words}")), search)

    def _say(self, block: Block, search: _Search) -> None:
        waiting = search.screen.waiting
        self._mark(search.blame, waiting)
        lines = [*told(search.blame, waiting), search.cost]
        found = {hunk for one in search.blame.culprits for hunk in one.hunks}
        block.report = RunReport(found=_numbers(found) or "none found")
        self._state.append(block, "".join(f"{line}\n" for line in lines))
        self._state.close(block, "done")

    def _mark(self, blame: Blame, waiting: Sequence[Hunk]) -> None:
        """Put what was found on the hunks."""
        if blame.cured:
            return
        buffers = self._state.workspace.buffers
        for found in blame.culprits:
            fault = _of(found.hunks, waiting)
            self._marked.append({hunk.id: _text(hunk, buffers) for hunk in fault})
            for hunk in fault:
                others = _numbers(found.hunks - {hunk.id})
                together = f" together with {others}" if others else ""
                hunk.flags += (f"{BREAKS}{_tests(found.tests)}{together}",)
        if self._marked:
            self._state.workspace.documents.bump()
            self._state.hunks_changed()


class _Search:
    """The runs of one search, and what they cost."""

    def __init__(
        self,
        services: Services,
        places: JudgingPlaces,
        command: VerifyCommand,
        screen: StillScreen,
        seen: ScreenRun | None,
    ) -> None:
        self._services, self._places = services, places
        self._command, self.screen = command, screen
        self._ports, self._status = services.ports, services.state.status
        self._hunks = [hunk.id for hunk in screen.waiting]
        self._seen = seen
        self._part = Part()
        self.blame = Blame(self._hunks)
        self._free: list[Shadow] = []
        self._known: dict[bytes, Outcome] = {}
        """By the texts that a run saw: other hunks may come to the same."""
        self._met = self._apart = False
        """Some runs went on side by side; from now on each is alone."""
        self._usual = set[tuple[str, str]]()
        """Tests and reasons that are not for what ran beside them."""
        self._faults = False
        """A run that could not judge has failed: the hunks end it, or take what it needs."""
        self._runs = 0
        self._began_s = self._ports.clock.now()

    async def run(self, within_s: float) -> None:
        """To the end, for so long, or until it is cancelled; no run goes on behind that."""
        try:
            async with asyncio.timeout(within_s):
                await self._run()
        except TimeoutError:
            pass
        finally:
            for shadow in self._free:
                shadow.close()

    async def _run(self) -> None:
        whole = frozenset(self._hunks)
        if self._seen is None:
            on_all = await self._see(whole, alone=True)
            on_none = await self._see(frozenset(), alone=True)
        else:
            on_all, on_none = (self._seen.report, self._seen.outcome), None
        if on_all[0].fault and not (await self._see(frozenset()))[1].unclear:
            self._faults = True  # it is no matter of the environment
            self._known.clear()
            on_all = await self._see(whole, alone=True)
        await self._narrow(whole, on_all, on_none)
        self._usual.update(on_all[1].failed.items())
        self.blame = first = Blame(self._hunks, self._ports.side_by_side, on_all[1])
        await self._drive(first)
        if first.flaky and self._met:  # by themselves, or for what ran beside them
            self._apart = True
            self._known.clear()
            again = Blame(self._hunks, 1, on_all[1])
            await self._drive(again)
            self.blame = again

    async def _drive(self, blame: Blame) -> None:
        work = blame.trials()
        with suppress(StopIteration):
            batch = next(work)
            while True:
                batch = work.send(await asyncio.gather(*map(self._outcome, batch)))

    async def _narrow(
        self,
        whole: Subset,
        on_all: tuple[RunReport, Outcome],
        on_none: tuple[RunReport, Outcome] | None,
    ) -> None:
        """Run from now on only the tests that it is about, if these fail on their own, too."""
        at, failed = whole, on_all[0].failed
        if on_none is not None:
            before = on_none[1].failed
            failed = tuple(one for one in failed if one.name not in before)
            if not failed:
                at, after = frozenset(), on_all[1].failed
                failed = tuple(one for one in on_none[0].failed if one.name not in after)
        make, part = self._command.part, Part(failed=failed)
        if not failed or make is None or await asyncio.to_thread(make, part) is None:
            return
        known, self._known = self._known, {}
        self._part = part
        _, alone = await self._see(at)
        if {one.name for one in failed} != set(alone.failed):
            self._part, self._known = Part(), known

    async def _outcome(self, trial: Trial) -> Outcome:
        _, outcome = await self._see(trial.hunks, alone=trial.again)
        strange = outcome.failed.items() - (self._usual if trial.hunks else set())
        if strange and self._met and not trial.again:
            beside, (_, outcome) = outcome, await self._see(trial.hunks, alone=True)
            self._usual |= outcome.failed.items()
            self._apart |= outcome.failed != beside.failed
        return outcome

    async def _see(self, hunks: Subset, *, alone: bool = False) -> tuple[RunReport, Outcome]:
        """What a run with these hunks says; known ones are not run again unless ``alone``.

        Then nothing runs beside it, which may have the same port, file or database.
        """
        files = await asyncio.to_thread(self.screen.files, hunks)
        key = digest_of(files)
        if key in self._known and not alone:
            return RunReport(), self._known[key]
        shadows, report, outcome = self._ports.shadows, RunReport(), Outcome(unclear=True)
        if shadows is None:
            return report, outcome
        with suppress(FileRefused):
            async with self._places.one(alone=alone or self._apart) as place:
                shadow = self._free.pop() if self._free else await shadows().make({})
                try:
                    await shadow.hold(files)
                    report, outcome = await self._judged(shadow)
                finally:
                    self._free.append(shadow)
                    self._met |= place.met
        self._known[key] = outcome
        return report, outcome

    async def _judged(self, shadow: Shadow) -> tuple[RunReport, Outcome]:
        """One run in a shadow."""
        self._runs += 1
        among = f" · among {len(self.blame.among)} hunks" if self.blame.left else ""
        self._status.running = f"blame · run {self._runs}{among}"
        self._services.state.restated()
        command, make = self._command, self._command.part
        if make is not None:  # each with a report of its own
            fresh = await asyncio.to_thread(make, self._part)
            command = fresh or command
        result, report = await judged(self._ports.runner, command, shadow)
        report = brought_in(report, {hunk.path for hunk in self.screen.waiting})
        if self._faults and report.fault:
            return report, Outcome({THE_RUN: report.fault})
        return report, of_run(result, report)

    @property
    def cost(self) -> str:
        """What it took, beside what halving takes at the least."""
        seconds = self._ports.clock.now() - self._began_s
        runs = f"{self._runs} run{'s' * (self._runs != 1)} in {seconds:.1f} s"
        count = len(self._hunks)
        apart = self._apart and not self.blame.flaky
        meet = " · one by one, as they disturb each other" * apart
        return f"{runs} · {count} hunk{'s' * (count != 1)}, log2 {log2(count):.1f}{meet}"


def of_run(result: RunResult, report: RunReport) -> Outcome:
    """What a run says of the tests."""
    if result.timed_out:
        return Outcome({THE_RUN: "deadline"})
    if result.stopped or result.error or result.strayed or result.status is None:
        return Outcome(unclear=True)
    return outcome_of(report, passed=result.status == 0)


def told(blame: Blame, waiting: Sequence[Hunk]) -> list[str]:
    """What was found, a line each; places are written so that they can be opened."""
    if blame.unclear:
        return ["The tests could not judge with all hunks, or with none of them."]
    lines = [line for found in blame.culprits for line in _culprit(found, waiting, blame.cured)]
    lines += [f"{_test(test)} is flaky: of two equal runs one failed" for test in blame.flaky]
    if blame.before:
        lines.append(f"{_tests(blame.before)} fails without these hunks, too")
    if blame.left:
        among = _numbers(blame.among)
        lines.append(f"not found in time for {_tests(blame.left)}: it is among {among}")
    return lines or ["No test fails, or passes, because of these hunks."]


def _culprit(found: Culprit, waiting: Sequence[Hunk], cured: bool) -> list[str]:
    verb = "cure" if cured else "break"
    verb += "s" * (len(found.hunks) == 1)
    needs = f", which needs {_numbers(found.needed)}," if found.needed else ""
    together = " together" if len(found.hunks) > 1 else ""
    places = [
        f"{hunk.path}:{1 if hunk.start is None else hunk.start.line + 1}"
        for hunk in _of(found.hunks, waiting)
    ]
    head = f"{_numbers(found.hunks)}{needs}{together} {verb} {_tests(found.tests)}"
    if len(places) == 1:
        return [f"{head} · {places[0]}"]
    return [head, *(f"  {place}" for place in places)]


def _of(ids: Iterable[int], hunks: Sequence[Hunk]) -> list[Hunk]:
    chosen = set(ids)
    return [hunk for hunk in hunks if hunk.id in chosen]


def _text(hunk: Hunk, buffers: Mapping[str, Buffer]) -> str:
    """What stands there now."""
    buffer = buffers.get(hunk.path)
    if buffer is None or hunk.start is None or hunk.end is None:
        return ""
    return "\n".join(buffer.lines[hunk.start.line : hunk.end.line])


def _revisions(buffers: Mapping[str, Buffer]) -> object:
    return [(path, id(buffer), buffer.revision) for path, buffer in buffers.items()]


def _numbers(ids: Iterable[int]) -> str:
    """``hunk 3``, ``hunks 3, 5 and 9``; empty for none."""
    numbers = [str(one) for one in sorted(ids)]
    if len(numbers) < 2:
        return f"hunk {numbers[0]}" if numbers else ""
    return f"hunks {', '.join(numbers[:-1])} and {numbers[-1]}"


def _tests(tests: Sequence[str]) -> str:
    """The first few of them."""
    return first_of([*map(_test, tests)], _MOST_NAMED)


def _test(test: str) -> str:
    return test or "the tests"

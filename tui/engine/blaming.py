"""Finds the hunks that made the tests fail, or cured them: runs in shadows, several side by side.

What it finds is marked on the hunks, so that each list of them shows it and none of these is
accepted by itself; the card says what that cost.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import log2

from tui.core.blame import THE_RUN, Blame, Culprit, Outcome, Trial, outcome_of
from tui.core.conversation import Block, BlockKind
from tui.core.document.disk_plan import StillScreen
from tui.core.document.hunk import BREAKS, Hunk
from tui.core.programs import RunOptions, RunResult, Shadow
from tui.core.run_report import RunReport
from tui.core.shell.clipping import Clip
from tui.engine.notices import Trouble
from tui.engine.ports import VerifyCommand, project_tests
from tui.engine.services import Services
from tui.errors import FileRefused

MOST_S = 300.0
"""For a search that was asked for."""
_OUTPUT_BYTES = 200_000
_MOST_NAMED = 3
"""Tests that a mark names."""


class Blaming:
    """One search at a time; its marks stay until the tests run again."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._state = services.state
        self._ports = services.ports
        self._marked: list[Hunk] = []

    def unmark(self) -> None:
        """What was found is of an earlier state."""
        if not self._marked:
            return
        for hunk in self._marked:
            hunk.flags = tuple(flag for flag in hunk.flags if not flag.startswith(BREAKS))
        self._marked = []
        self._state.workspace.documents.bump()
        self._state.hunks_changed()

    async def find(
        self, words: str, screen: StillScreen, within_s: float, seen: Outcome | None = None
    ) -> bool:
        """Search among the hunks that wait, and say what was found; False: there can be none.

        ``words`` are the command as the user sees it, ``seen`` what it said of the whole screen.
        """
        ports, state = self._ports, self._state
        if ports.shadows is None or not screen.waiting:
            why = "no hunk waits for a decision" if ports.shadows else "there are no shadows here"
            state.trouble(Trouble("Nothing to blame", why, severity="warning"))
            return False
        self.unmark()
        began_s = ports.clock.now()
        block = state.add(Block(BlockKind.RUN, 0, f"blame · {words}"))
        search = _Search(self._services, screen, seen)
        try:
            async with asyncio.timeout(within_s):
                await search.run()
        except TimeoutError:
            pass
        except BaseException as error:
            stopped = isinstance(error, asyncio.CancelledError)
            state.append(block, "[stopped]\n" if stopped else f"{error}\n")
            state.close(block, "cut" if stopped else "failed")
            raise
        finally:
            search.close()
        self._mark(search.blame, screen.waiting)
        seconds = ports.clock.now() - began_s
        lines = [*told(search.blame, screen.waiting), search.cost(seconds)]
        state.append(block, "".join(f"{line}\n" for line in lines))
        state.close(block, "done")
        return True

    def _mark(self, blame: Blame, waiting: Sequence[Hunk]) -> None:
        """Put what was found on the hunks."""
        if blame.cured:
            return
        for found in blame.culprits:
            for hunk in _of(found.hunks, waiting):
                others = _numbers(found.hunks - {hunk.id})
                together = f" together with {others}" if others else ""
                hunk.flags += (f"{BREAKS}{_tests(found.tests)}{together}",)
                self._marked.append(hunk)
        if self._marked:
            self._state.workspace.documents.bump()
            self._state.hunks_changed()


class _Search:
    """The runs of one search, and what they cost."""

    def __init__(self, services: Services, screen: StillScreen, seen: Outcome | None) -> None:
        self._services, self._screen = services, screen
        self._ports, self._status = services.ports, services.state.status
        self._hunks = [hunk.id for hunk in screen.waiting]
        self._width = self._ports.side_by_side
        self.blame = Blame(self._hunks, self._width, seen)
        self._free: list[Shadow] = []
        self._known: dict[bytes, Outcome] = {}
        """By the texts that a run saw: other hunks may come to the same."""
        self._runs = 0

    async def run(self) -> None:
        """To the end, or until it is cancelled; no run goes on behind that."""
        work = self.blame.trials()
        with suppress(StopIteration):
            batch = next(work)
            while True:
                batch = work.send(await asyncio.gather(*map(self._outcome, batch)))

    def close(self) -> None:
        """The shadows are needed no more."""
        for shadow in self._free:
            shadow.close()

    def cost(self, seconds: float) -> str:
        """What it took, beside what halving takes at the least."""
        runs = f"{self._runs} run{'s' * (self._runs != 1)} in {seconds:.1f} s"
        count = len(self._hunks)
        return f"{runs} · {count} hunk{'s' * (count != 1)}, log2 {log2(count):.1f}"

    async def _outcome(self, trial: Trial) -> Outcome:
        files = await asyncio.to_thread(self._screen.files, trial.hunks)
        key = _digest(files)
        if key in self._known and not trial.again:
            return self._known[key]
        shadows, command = self._ports.shadows, project_tests(await self._ports.verifiers())
        if shadows is None or command is None or not command.argv:
            return Outcome(unclear=True)
        shadow = self._free.pop() if self._free else await shadows().make({})
        try:
            await shadow.hold(files)
            outcome = await self._judged(command, shadow)
        except FileRefused:
            outcome = Outcome(unclear=True)
        finally:
            self._free.append(shadow)
        self._known.setdefault(key, outcome)
        return outcome

    async def _judged(self, command: VerifyCommand, shadow: Shadow) -> Outcome:
        """One run in a shadow."""
        self._runs += 1
        among = f" · among {len(self.blame.among)} hunks" if self.blame.left else ""
        self._status.running = f"blame · run {self._runs}{among}"
        self._services.state.restated()
        clip = Clip(_OUTPUT_BYTES, _OUTPUT_BYTES)
        argv = command.argv if isinstance(command.argv, str) else (*command.argv, *command.options)
        how = RunOptions(shadow=shadow)
        result = await self._ports.runner.run(argv, clip.feed, command.deadline_s, how)
        report = RunReport()
        if command.reader is not None:
            passed = result.status == 0 and not result.timed_out
            report = await asyncio.to_thread(command.reader, clip.text(), passed)
        return of_run(result, report)


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
    needs = f", which needs {_numbers(found.needed)}" if found.needed else ""
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


def _numbers(ids: Iterable[int]) -> str:
    """``hunk 3``, ``hunks 3, 5 and 9``; empty for none."""
    numbers = [str(one) for one in sorted(ids)]
    if len(numbers) < 2:
        return f"hunk {numbers[0]}" if numbers else ""
    return f"hunks {', '.join(numbers[:-1])} and {numbers[-1]}"


def _tests(tests: Sequence[str]) -> str:
    """The first few of them."""
    more = len(tests) - _MOST_NAMED
    named = ", ".join(map(_test, tests[:_MOST_NAMED]))
    return f"{named} and {more} more" if more > 0 else named


def _test(test: str) -> str:
    return test or "the tests"


def _digest(files: dict[str, bytes | None]) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for path, data in sorted(files.items()):
        head = f"{len(path)} {-1 if data is None else len(data)} {path}"
        found.update(head.encode(errors="surrogatepass") + (data or b""))
    return found.digest()

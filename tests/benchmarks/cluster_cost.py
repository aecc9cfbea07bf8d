"""What judging attempts on a Dask cluster costs, on one machine; and what is lost on the way."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.support.dask_cluster import DaskCluster
from tui.cli import practice
from tui.cli.verifiers.finding import find_verifiers
from tui.cli.verifiers.project import Project
from tui.core.programs import RunOptions
from tui.effects.cluster import Cluster
from tui.effects.commands.runner import CommandRunner
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.shadow.copying import ShadowSource
from tui.effects.shadow.making import ShadowMaker
from tui.engine.judging import judge
from tui.engine.ports import Shadows, VerifyCommand, project_tests
from tui.errors import DuettoError

ATTEMPTS, QUICK, WORKERS = 250, 24, 2
HERE, THERE, ADDED = "an attempt here, ms", "an attempt on the cluster, ms", "added by Dask, ms"
RIGHT, LOST = "right verdicts, %", "right verdicts with a worker and the scheduler lost, %"
METHOD = (
    "The exercise of the practice, judged with its own tests: every third attempt breaks one of "
    "its files. Two at once, in shadows here, then by two workers of one thread on loopback; the "
    "time is that of all by their number, without the first ones, to which the workspace is sent. "
    "What Dask adds is measured with a command that does nothing, one at a time, here and there in "
    "turn. Then once more, while a worker is killed and the scheduler is killed and started again.",
)


def measure(*, quick: bool, tell: Tell) -> Findings:
    """All of it."""
    found = Findings(METHOD, _bound, quick)
    with found.timed(), tempfile.TemporaryDirectory() as folder, found.guarded("the cluster"):
        asyncio.run(_measure(found, tell, Path(folder), QUICK if quick else ATTEMPTS))
    return found


def _bound(spot: Spot) -> Bound | None:
    return {ADDED: Bound(50), RIGHT: Bound(100, True), LOST: Bound(100, True)}.get(spot.figure)


class _Stand:
    def __init__(self, folder: Path) -> None:
        self.root = practice.ensure(folder / "data")
        self.runner = CommandRunner(str(self.root))
        beside = os.path.dirname(sys.executable)  # as on the workers: the same pytest
        os.environ["PATH"] = f"{beside}{os.pathsep}{os.environ['PATH']}"
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they take a second
        tests = project_tests(find_verifiers(Project(self.root), 60))
        if tests is None:
            raise DuettoError("the exercise has no tests")
        self.tests: VerifyCommand = tests
        listing = Listing(self.root)
        files = Files(self.root, listing)
        source = ShadowSource(str(self.root), ("__pycache__",), files.listing)
        self.here = ShadowMaker(source, folder / "state", self.runner)
        self.source = next(self.root.rglob("[a-z]*.py")).relative_to(self.root)

    async def added(self, cluster: Shadows, count: int) -> float:
        """What a command that does nothing takes longer on the cluster, in ms."""
        took: dict[Shadows, list[float]] = {self.here: [], cluster: []}
        for number in range(count):
            for shadows, times in took.items():
                began = time.monotonic()
                shadow = await shadows.make({str(self.source): b"%d\n" % number})
                how = RunOptions(shadow=shadow)
                await self.runner.run(("/bin/true",), lambda data: None, 60, how)
                shadow.close()
                times.append(1000 * (time.monotonic() - began))
        return statistics.median(took[cluster]) - statistics.median(took[self.here])

    async def run(self, shadows: Shadows, count: int, at_once: int = WORKERS) -> list[str]:
        """What each of so many attempts came to."""
        places = asyncio.Semaphore(at_once)

        async def one(number: int) -> str:
            texts = {str(self.source): b"1 / 0\n"} if number % 3 == 0 else {}
            async with places:
                result, report = await judge(self.runner, shadows, self.tests, texts)
            self.ended += 1
            if result.error or report.counts is None:
                return f"error: {result.error or report.fault}"
            return "broken" if report.counts.passed == 0 else "as it is"

        self.ended = 0
        return await asyncio.gather(*map(one, range(count)))


async def _measure(found: Findings, tell: Tell, folder: Path, count: int) -> None:
    stand, dask = _Stand(folder), DaskCluster(folder / "dask")
    cluster = Cluster(dask.server, str(stand.root), os.environ, tell)
    try:
        for number in range(WORKERS):
            dask.add(f"w{number}")
        spent: dict[str, float] = {}
        verdicts: dict[str, list[str]] = {}
        for name, shadows in ((HERE, stand.here), (THERE, cluster)):
            tell(name)
            await stand.run(shadows, 2 * WORKERS)
            began = time.monotonic()
            verdicts[name] = await stand.run(shadows, count)
            spent[name] = 1000 * (time.monotonic() - began) / count
            found.add(Spot(name), spent[name])
        found.add(Spot(ADDED), await stand.added(cluster, count))
        right = [one == other for one, other in zip(*verdicts.values(), strict=True)]
        found.add(Spot(RIGHT), 100 * sum(right) / count)
        tell("a worker and the scheduler are lost")
        running = asyncio.create_task(stand.run(cluster, count))
        await _until(stand, count // 5)
        dask.kill("w0")
        dask.add("w9")
        await _until(stand, 2 * count // 5)
        await dask.restart_scheduler()
        again = await running
        right = [one == other for one, other in zip(verdicts[HERE], again, strict=True)]
        found.add(Spot(LOST), 100 * sum(right) / count)
    finally:
        await cluster.close()
        await stand.here.close()
        dask.close()


async def _until(stand: _Stand, ended: int) -> None:
    while stand.ended < ended:
        await asyncio.sleep(0.05)

"""What tries, fixes and speed come to with the rehearsal, whose answers are scripted."""

from __future__ import annotations

import asyncio
import datetime
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import msgspec
from msgspec import Struct

from tests.benchmarks import findings
from tests.benchmarks.findings import Tell
from tests.benchmarks.gap import keeping
from tests.benchmarks.gap.tables import THROTTLED, Table
from tests.support.composed import composed
from tests.support.rehearsed import fresh_files, write_files
from tui.bridge.rehearsal.answers import DEFAULT_MISTAKES
from tui.bridge.rehearsal.scripts import Script, load_scripts
from tui.core.attempts import AttemptPlan
from tui.engine import intents
from tui.settings import RehearsalSettings, Settings, VerifySettings

WAYS = ("one try", "3 attempts", "5 attempts", "fixes")
_LIMIT_S = 300.0


class Run(Struct, frozen=True):
    """One exercise, once."""

    exercise: str
    tokens_s: int
    way: str
    draw: int
    green: bool
    seconds: float
    """From the prompt to the verdict."""
    load: float
    date: str

    @property
    def cell(self) -> tuple[int, str, str, int]:
        """What was run."""
        return (self.draw, self.way, self.exercise, self.tokens_s)


def kept(path: Path) -> list[Run]:
    """The runs of a file of lines; a line that was cut is left out."""
    found = []
    for line in keeping.read(path):
        with suppress(msgspec.DecodeError):
            found.append(msgspec.json.decode(line, type=Run))
    return found


def cells(have: Sequence[Run], draws: int) -> Iterator[tuple[int, str, Script, int]]:
    """What is to be run: every cell once before any twice."""
    done = {one.cell for one in have}
    for draw in range(draws):
        for script in load_scripts():
            for rate in sorted(THROTTLED, reverse=True):
                for way in WAYS:
                    if (draw, way, script.name, rate) not in done:
                        yield draw, way, script, rate


def run(path: Path, draws: int, tell: Tell) -> None:
    """Run what is missing, and keep each at once."""
    # plug-ins of this checkout's pytest have no business here
    with patch.dict(os.environ, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"):
        for draw, way, script, rate in cells(kept(path), draws):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                green, seconds = asyncio.run(_one(Path(folder, "work"), script, rate, way, draw))
            one = Run(
                script.name,
                rate,
                way,
                draw,
                green,
                round(seconds, 2),
                round(os.getloadavg()[0], 1),
                f"{datetime.date.today()}",
            )
            keeping.add(path, one)
            tell(f"{script.name}, {rate:,} tokens/s, {way}: {'green' * green or 'red'}")


async def _one(root: Path, script: Script, rate: int, way: str, draw: int) -> tuple[bool, float]:
    write_files(root, fresh_files())
    luck = 4 * draw + WAYS.index(way) + 100 * THROTTLED.index(rate)
    settings = Settings(
        rehearsal=RehearsalSettings(fast_tokens_s=float(rate), seed=luck),
        verify=VerifySettings(command=f"{sys.executable} -m pytest -q {script.test}"),
    )
    async with composed(root, settings) as (seat, _):
        await seat.rests(intents.Verify(), _LIMIT_S)  # what is slow at the first time only
        began_s = time.perf_counter()
        if way.endswith("attempts"):
            plan = AttemptPlan(int(way.split()[0]), script.prompt)
            await seat.rests(intents.MakeAttempts(plan), _LIMIT_S)
        else:
            await seat.rests(intents.Prompt(script.prompt), _LIMIT_S)
            await seat.rests(intents.Verify(), _LIMIT_S)
            if way == "fixes" and seat.session.status.verdict != "passed":
                await seat.rests(intents.SendFailure(), _LIMIT_S)
        return seat.session.status.verdict == "passed", time.perf_counter() - began_s


def _of(runs: Sequence[Run], way: str, rate: int = 0) -> list[Run]:
    return [one for one in runs if one.way == way and one.tokens_s in (rate, rate or one.tokens_s)]


def green(runs: Sequence[Run], way: str) -> str:
    """The share that is green, at all rates."""
    own = _of(runs, way)
    return f"{100 * sum(one.green for one in own) / len(own):.0f} %" if own else "-"


def mean_s(runs: Sequence[Run], rate: int, way: str) -> float:
    """From the prompt to the verdict."""
    own = _of(runs, way, rate)
    return round(sum(one.seconds for one in own) / max(len(own), 1), 1)


def table(runs: Sequence[Run]) -> Table:
    """Green, and the seconds to a verdict, by rate and way."""
    rows = []
    for rate in THROTTLED:
        row = [f"{rate:,}"]
        for way in WAYS:
            own = _of(runs, way, rate)
            greens = sum(one.green for one in own)
            row.append(f"{greens} of {len(own)}, {mean_s(runs, rate, way)} s" if own else "")
        rows.append(tuple(row))
    loads, dates = [one.load for one in runs], sorted({one.date for one in runs})
    count = len({one.exercise for one in runs})
    note = (
        f"Scripted: the rehearsal plays {count} of the practice's exercises, and is wrong at first"
        f" in {100 * DEFAULT_MISTAKES:.0f} % of them, which is its published rate and nobody's"
        " model. Sessions, sandbox and tests are real. Green runs, and the mean time from the"
        f" prompt to the verdict. {' to '.join(dates[:1] + dates[1:][-1:])},"
        f" {findings.machine_words()}, load {min(loads)} to {max(loads)}."
    )
    return Table("Exercises of the practice", ("tokens/s", *WAYS), rows, note)

"""Whether many tries and a judge beat one try: with a real model, and with the rehearsal."""

from __future__ import annotations

import asyncio
import datetime
import lzma
import os
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from tests import measured
from tests.benchmarks import findings
from tests.benchmarks.findings import Tell
from tests.benchmarks.gap import curve, sampling, tables
from tests.benchmarks.gap.checking import judging
from tests.benchmarks.gap.machinery import WAYS, green, kept, mean_s, run, table
from tests.benchmarks.gap.tables import Table
from tests.benchmarks.gap.tasks import load
from tests.measured import Measured
from tests.support.charts import Chart
from tui.bridge.rehearsal.answers import DEFAULT_MISTAKES
from tui.errors import DuettoError

EACH = 100


def kept_here(part: str) -> Path:
    """Tries or runs that were made before, with what made them."""
    return Path(__file__).with_name(f"{part}.jsonl.xz")


class Plan(Struct, frozen=True):
    """What is asked for."""

    keep: Path | None = None
    """Where tries are kept; None: nothing is sampled, those that lie here are judged anew."""
    model: Path | None = None
    gemma: bool = False
    each: int = EACH
    """Tries of a task; of the ten hardest twice as many."""


class Report(Struct, frozen=True):
    """Tables, pictures, and sentences about both."""

    part: str
    tables: list[Table]
    words: list[str]
    row: Measured
    """What README.md says of it."""
    charts: dict[str, Chart] = {}

    @property
    def text(self) -> str:
        """As Markdown."""
        return "\n\n".join([*(one.text for one in self.tables), *self.words])

    @property
    def data(self) -> dict[str, Any]:
        """As JSON."""
        tables = to_builtins(self.tables)
        return {"machine": findings.machine(), "tables": tables, "words": self.words}

    def draw(self, folder: Path) -> None:
        """Write the pictures."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, chart in self.charts.items():
            (folder / f"{name}.svg").write_text(chart.svg(), encoding="utf-8")

    def publish(self, keep: Path | None) -> None:
        """Keep the data, and bring README.md, docs/measured.md and their pictures up to date."""
        if keep is not None:
            kept_here(self.part).write_bytes(lzma.compress(keep.read_bytes()))
        self.draw(measured.PICTURES)
        measured.publish(self.part, self.text, self.row)


def model(plan: Plan, tell: Tell) -> Report:
    """A real model's tries at tiny functions, judged by tests that it was told of and others."""
    tasks = load()
    samples = sampling.Samples(plan.keep or kept_here("model"))
    if plan.keep is not None:
        path = sampling.model_file(plan.model, gemma=plan.gemma)
        if any(one.model != path.name for one in samples.starts):
            raise DuettoError(f"{plan.keep} has tries of another model: name another file")
        cores = os.cpu_count() or 1
        tell("the model is loaded")
        servers = [sampling.Server(path) for _ in range(cores)]
        samples.add(
            sampling.Begun(
                model=path.name,
                date=f"{datetime.datetime.now():%Y-%m-%d %H:%M}",
                machine=findings.machine_words(),
                load=round(os.getloadavg()[0], 1),
                servers=cores,
            )
        )
        wanted = sampling.wanted(tasks, plan.each)
        asyncio.run(sampling.Sampling(tasks, samples, wanted).run(servers, tell))
    tell("tries are judged")
    with judging() as judge:
        tries = tables.judged(tasks, samples, judge)
    if not tries:
        raise DuettoError("there are no tries to be judged: --keep FILE makes some")
    return Report(
        "model",
        [
            tables.curve(tries),
            tables.grades(tasks, tries),
            tables.hardest(tasks, tries),
            tables.clock(tries, samples),
            tables.beside_delegate(tries),
        ],
        tables.machine(samples),
        _row(tries, samples),
        tables.charts(tries, samples),
    )


def _row(tries: tables.Tries, samples: sampling.Samples) -> Measured:
    most = (min(map(len, tries.values()))) // 2
    first, last = (tables.over(tries, curve.verified_at, k).share for k in (1, most))
    start = samples.starts[-1]
    return Measured(
        name="model",
        what=f"**A real model** ({start.model.removesuffix('.gguf')}), {len(tries)} tiny functions:"
        f" right at the first try, and of {most} tries by the verifier's choice",
        figure=f"{100 * first:.0f} %; {100 * last:.0f} %",
        command="gap model",
        date=datetime.date.fromisoformat(start.date[:10]),
        machine=f"{os.cpu_count()} cores, load {start.load:g}",
    )


def machinery(keep: Path | None, draws: int, tell: Tell) -> Report:
    """The rehearsal's exercises at four speeds, in four ways."""
    if keep is not None:
        run(keep, draws, tell)
    runs = kept(keep or kept_here("rehearsal"))
    if not runs:
        raise DuettoError("there are no runs: --keep FILE makes some")
    told = table(runs)
    groups = {
        f"{rate:,} tokens/s": {way: mean_s(runs, rate, way) for way in WAYS}
        for rate in tables.THROTTLED
    }
    row = Measured(
        name="rehearsal",
        what="**The same machinery, scripted answers** (the rehearsal, wrong at first in"
        f" {100 * DEFAULT_MISTAKES:.0f} %): green with one try, 3 and 5 attempts, and with fixes",
        figure=", ".join(green(runs, way) for way in WAYS),
        command="gap rehearsal",
        date=datetime.date.fromisoformat(runs[-1].date),
        machine=f"{os.cpu_count()} cores, load {runs[0].load:g}",
        title="Seconds from the prompt to the verdict, the practice's exercises (scripted)",
        unit="s",
        groups=groups,
    )
    return Report("rehearsal", [told], [], row)

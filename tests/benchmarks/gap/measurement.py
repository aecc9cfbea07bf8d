"""Whether many tries and a judge beat one try: with a real model, and with the rehearsal."""

from __future__ import annotations

import asyncio
import datetime
import os
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from tests.benchmarks import findings
from tests.benchmarks.findings import Tell
from tests.benchmarks.gap import sampling, tables
from tests.benchmarks.gap.checking import judging
from tests.benchmarks.gap.machinery import kept, run, table
from tests.benchmarks.gap.tables import Table
from tests.benchmarks.gap.tasks import load
from tests.support.charts import Chart
from tui.errors import DuettoError

KEPT = Path(__file__).with_name("smollm2.jsonl.xz")
REHEARSED = Path(__file__).with_name("rehearsal.jsonl.xz")
"""Tries and runs that were made before, with what made them."""
DRAWS = 4


class Plan(Struct, frozen=True):
    """What is asked for."""

    keep: Path | None = None
    """Where tries are kept; None: nothing is sampled, those that lie here are judged anew."""
    model: Path | None = None
    gemma: bool = False
    each: int = sampling.EACH
    of_hardest: int = sampling.OF_HARDEST


class Report(Struct, frozen=True):
    """Tables, pictures, and sentences about both."""

    tables: list[Table]
    charts: dict[str, Chart]
    words: list[str]

    @property
    def text(self) -> str:
        """As Markdown."""
        return "\n\n".join([*(one.text for one in self.tables), "\n".join(self.words)])

    @property
    def data(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "machine": findings.machine(),
            "tables": to_builtins(self.tables),
            "words": self.words,
        }

    def draw(self, folder: Path) -> list[Path]:
        """Write the pictures."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{name}.svg" for name in self.charts]
        for path, chart in zip(paths, self.charts.values(), strict=True):
            path.write_text(chart.svg(), encoding="utf-8")
        return paths


def model(plan: Plan, tell: Tell) -> Report:
    """A real model's tries at tiny functions, judged by tests that it was told of and others."""
    tasks = load()
    samples = sampling.Samples(plan.keep or KEPT)
    if plan.keep is not None:
        path = sampling.model_file(plan.model, gemma=plan.gemma)
        if any(one.model != path.name for one in samples.starts):
            raise DuettoError(f"{plan.keep} has tries of another model: name another file")
        cores = os.cpu_count() or 1
        samples.add(
            sampling.Begun(
                model=path.name,
                date=f"{datetime.datetime.now():%Y-%m-%d %H:%M}",
                machine=" ".join(map(str, findings.machine().values())),
                load=round(os.getloadavg()[0], 1),
                servers=cores,
            )
        )
        tell("the model is loaded")
        servers = [sampling.Server(path) for _ in range(cores)]
        wanted = sampling.wanted(tasks, plan.each, plan.of_hardest)
        asyncio.run(sampling.Sampling(tasks, samples, wanted).run(servers, tell))
    tell("tries are judged")
    with judging() as judge:
        tries = tables.judged(tasks, samples, judge)
    if not tries:
        raise DuettoError("there are no tries to be judged: --keep FILE makes some")
    return Report(
        [
            tables.curve(tries),
            tables.grades(tasks, tries),
            tables.hardest(tasks, tries),
            tables.clock(tries, samples),
            tables.beside_delegate(tries),
        ],
        tables.charts(tries, samples),
        tables.machine(samples),
    )


def machinery(keep: Path | None, tell: Tell) -> Report:
    """The rehearsal's exercises at four speeds, in four ways."""
    if keep is not None:
        run(keep, DRAWS, tell)
    runs = kept(keep or REHEARSED)
    if not runs:
        raise DuettoError("there are no runs: --keep FILE makes some")
    return Report([table(runs)], {}, [])

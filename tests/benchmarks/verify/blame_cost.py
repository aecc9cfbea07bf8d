"""How surely blame finds seeded faults among pending hunks, and in how many runs of the tests."""

from __future__ import annotations

import ast
import asyncio
import random
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import log2
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.support.composed import composed
from tui.core.blame import Blame, Outcome, Subset
from tui.core.conversation import BlockKind
from tui.core.patches.landing import Landing
from tui.engine import intents
from tui.engine.session import Session
from tui.errors import DuettoError

EXACT, RUNS, BESIDE = "found exactly, %", "runs", "log2 of the hunks"
SECONDS = "seconds of a search"
METHOD = (
    "Blame, simulated: one wrong hunk among 3, 10 and 40, and two that only fail together, 100 "
    "times each with two runs at once. Blame in a project: harmless changes of functions and one "
    "that returns None, pending in the program as it is put together for a user; F5, then /blame.",
)
_TIMES = 100
_LONGEST_S = 300.0
_MOST_LINES = 12


def bound(spot: Spot) -> Bound | None:
    """All of them are to be found."""
    return Bound(100, at_least=True) if spot.figure == EXACT else None


def measure(found: Findings, tell: Tell, *, quick: bool, projects: Sequence[Path] = ()) -> None:
    """Add all of it."""
    rng, exact = random.Random(20), dict[str, list[bool]]()
    tell("blame, simulated")
    for wrong, count in ((1, 3), (1, 10), (1, 40), (2, 10), (2, 40)):
        where = f"simulated, {wrong} wrong of {count}"
        exact[where] = _simulated(found, rng, wrong, count)
    with tempfile.TemporaryDirectory() as place:
        for project in projects or [generated(Path(place, "generated"))]:
            for count in (10,) if quick else (3, 10, 40):
                for number in range(1 if quick else 3):
                    tell(f"blame in {project.name}, {count} hunks")
                    copy = Path(place, f"{count}-{number}", project.name)
                    shutil.copytree(project, copy)
                    with suppress(FileExistsError), (copy / "pytest.ini").open("x") as settings:
                        settings.write("[pytest]\npythonpath = .\n")
                    with found.guarded(project.name):
                        was = asyncio.run(_in_project(found, rng, copy, count))
                        exact.setdefault(f"{project.name}, 1 wrong of {count}", []).append(was)
    for where, all_of in exact.items():
        found.add(Spot(EXACT, where), 100.0 * sum(all_of) / len(all_of))


def _simulated(found: Findings, rng: random.Random, wrong: int, count: int) -> list[bool]:
    exact: list[bool] = []
    for _ in range(_TIMES):
        faults = frozenset(rng.sample(range(count), wrong))
        blame = Blame(range(count), 2)
        runs = _driven(blame, faults)
        where = f"simulated, {wrong} wrong of {count}"
        exact.append([one.hunks for one in blame.culprits] == [faults])
        found.add(Spot(RUNS, where), runs)
        found.add(Spot(BESIDE, where), log2(count))
    return exact


def _driven(blame: Blame, faults: Subset) -> int:
    """How many runs it took."""
    work, runs = blame.trials(), 0
    with suppress(StopIteration):
        batch = next(work)
        while True:
            runs += len(batch)
            failed = [{"test": "E"} if faults <= trial.hunks else {} for trial in batch]
            batch = work.send([Outcome(one) for one in failed])
    return runs


class Place(NamedTuple):
    """A function that ends in a return on one line."""

    path: str
    lines: tuple[str, ...]
    """From its head to there."""

    def patch(self, *, wrong: bool) -> str:
        """A harmless change of what it returns, or a wrong one."""
        *above, last = self.lines
        indent, _, value = last.partition("return ")
        new = f"{indent}return {'None' if wrong else f'({value})'}"
        rows = [f" {line}" for line in above]
        body = "\n".join(["@@", *rows, f"-{last}", f"+{new}"])
        return f"*** Begin Patch\n*** Update File: {self.path}\n{body}\n*** End Patch\n"


def places(root: Path) -> Iterator[Place]:
    """All that a project has, its tests left out."""
    for file in sorted(root.rglob("*.py")):
        path = str(file.relative_to(root))
        if "test" in path or path.startswith(("docs", "examples", "setup")):
            continue
        text = file.read_text("utf-8")
        rows = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef) or not isinstance(node.body[-1], ast.Return):
                continue
            last = node.body[-1]
            lines = tuple(rows[node.lineno - 1 : last.lineno])
            once = text.count("\n".join(lines)) == 1 and rows.count(lines[0]) == 1
            short = last.lineno == last.end_lineno and len(lines) <= _MOST_LINES
            if last.value is not None and short and once and "#" not in lines[-1]:
                yield Place(path, lines)


async def _in_project(found: Findings, rng: random.Random, root: Path, count: int) -> bool:
    every = list(places(root))
    rng.shuffle(every)
    if len(every) < count:
        raise DuettoError(f"{root.name} has {len(every)} functions to change, not {count}")
    where = f"{root.name}, 1 wrong of {count}"
    async with composed(root) as (seat, _):
        session = seat.session
        await _until_idle(session, intents.Verify())
        if session.status.verdict != "passed":
            raise DuettoError(f"the tests of {root.name} do not pass as they are")
        for candidate in every:
            others = [place for place in every if place is not candidate][: count - 1]
            chosen = [*others, candidate]
            rng.shuffle(chosen)
            ids = [_landed(session, place, wrong=place is candidate) for place in chosen]
            await _until_idle(session, intents.Verify())
            if session.status.verdict != "passed":
                break
            session.submit(intents.Reject(None))
            await _until_idle(session, None)
        else:
            raise DuettoError(f"the tests of {root.name} notice no wrong return")
        wrong = ids[chosen.index(candidate)]
        began = time.monotonic()
        await _until_idle(session, intents.FindBlame())
        blamed = {hunk.id for hunk in session.workspace.hunks if hunk.is_blamed}
        cards = [b for b in session.transcript.blocks if b.kind is BlockKind.RUN]
        if told := re.search(r"(\d+) runs? in", cards[-1].text):
            found.add(Spot(RUNS, where), float(told[1]))
        found.add(Spot(SECONDS, where), time.monotonic() - began)
        return blamed == {wrong}


def _landed(session: Session, place: Place, *, wrong: bool) -> int:
    landing = Landing(session.workspace, turn=1, call_id="call")
    landing.feed(place.patch(wrong=wrong))
    landing.finish(cut=False)
    return session.workspace.hunks[-1].id


async def _until_idle(session: Session, intent: intents.Intent | None) -> None:
    if intent is not None:
        session.submit(intent)
    until = time.monotonic() + _LONGEST_S
    while not session.at_rest:
        session.drain()
        await asyncio.sleep(0.01)
        if time.monotonic() > until:
            raise DuettoError("it took too long")


def generated(root: Path) -> Path:
    """A project of 60 functions, each with a test."""
    root.mkdir()
    numbers = range(60)
    code = [f"def f{n}(x):\n    y = x + {n}\n    return y\n" for n in numbers]
    checks = [f"def test_{n}():\n    assert f{n}(1) == {n + 1}\n" for n in numbers]
    (root / "functions.py").write_text("\n\n".join(code))
    (root / "test_functions.py").write_text("\n\n".join(["from functions import *\n", *checks]))
    return root

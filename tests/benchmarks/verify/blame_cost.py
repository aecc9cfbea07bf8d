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
from tests.support.rehearsed import Conversation, write_files
from tests.support.seat import Seat
from tui.bridge.rehearsal.answers import AnswerStyle
from tui.bridge.rehearsal.scripts import load_scripts
from tui.core.blame import Blame, Outcome, Subset
from tui.core.conversation import BlockKind
from tui.core.patches.landing import Landing
from tui.engine import intents
from tui.engine.session import Session
from tui.errors import DuettoError

EXACT, RUNS, BESIDE = "found exactly, %", "runs", "log2 of the hunks"
SECONDS, SEARCHES = "seconds of a search", "searches"
METHOD = (
    "Blame, simulated: one wrong hunk among 3, 10 and 40, and two that only fail together, 100 "
    "times each with two runs at once. Blame in a project: harmless changes of functions and one "
    "that returns None, or two of which one returns None once the other was called, pending in the "
    "program as it is put together for a user; F5, then /blame. Where there are fewer functions "
    "than hunks that is left out.",
)
SEEDS = ((1, 3), (1, 10), (1, 40), (2, 10), (2, 40))
"""How many are wrong of how many."""
_SIMULATED = 100
_LONGEST_S = 300.0
_MOST_LINES = 12
_MOST_TRIED = 60
"""Seeds that no test notices, until the next one is given up."""


def bound(spot: Spot) -> Bound | None:
    """All of them are to be found."""
    return Bound(100, at_least=True) if spot.figure == EXACT else None


def measure(found: Findings, tell: Tell, *, times: int, projects: Sequence[Path] = ()) -> None:
    """Add all of it; each real search so many ``times``."""
    rng, exact = random.Random(20), dict[str, list[bool]]()
    tell("blame, simulated")
    for wrong, count in SEEDS:
        where = f"simulated, {wrong} wrong of {count}"
        exact[where] = _simulated(found, rng, wrong, count)
    with tempfile.TemporaryDirectory() as place:
        for project in projects or [
            practice(Path(place, "practice")),
            generated(Path(place, "generated")),
        ]:
            copy = Path(place, "copy", project.name)
            shutil.copytree(project, copy, ignore=shutil.ignore_patterns(".git"))
            with suppress(FileExistsError), (copy / "pytest.ini").open("x") as settings:
                settings.write("[pytest]\npythonpath = . src\n")
            for wrong, count in SEEDS:
                where = f"{project.name}, {wrong} wrong of {count}"
                tell(f"blame in {where}")
                with found.guarded(where):
                    asyncio.run(_in_project(found, rng, copy, (wrong, count, times), exact))
    for where, all_of in exact.items():
        found.add(Spot(EXACT, where), 100.0 * sum(all_of) / len(all_of))
        found.add(Spot(SEARCHES, where), float(len(all_of)))


def _simulated(found: Findings, rng: random.Random, wrong: int, count: int) -> list[bool]:
    exact: list[bool] = []
    for _ in range(_SIMULATED):
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

    def patch(self, change: str) -> str:
        """A change of what it returns; ``change`` has the old value in braces."""
        *above, last = self.lines
        indent, _, value = last.partition("return ")
        rows = [f" {line}" for line in above]
        new = f"{indent}return {change.format(value)}"
        body = "\n".join(["@@", *rows, f"-{last}", f"+{new}"])
        return f"*** Begin Patch\n*** Update File: {self.path}\n{body}\n*** End Patch\n"


_HARMLESS, _WRONG = "({})", "None"
_SEED = '__import__("builtins").__dict__'
_FIRST = f"[{{}}, {_SEED}.update(seed=1)][0]"
"""It leaves a mark, and harms nothing."""
_SECOND = f'None if {_SEED}.get("seed") else ({{}})'
"""It is wrong where the mark is."""


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


async def _in_project(
    found: Findings,
    rng: random.Random,
    root: Path,
    seed: tuple[int, int, int],
    exact: dict[str, list[bool]],
) -> None:
    """Searches in a project, of which the tests notice the seeds."""
    wrong, count, times = seed
    every, where = list(places(root)), f"{root.name}, {wrong} wrong of {count}"
    if len(every) < count:
        return
    async with composed(root) as (seat, _):
        session = seat.session
        await seat.rests(intents.Verify(), _LONGEST_S)
        if session.status.verdict != "passed":
            raise DuettoError(f"the tests of {root.name} do not pass as they are")
        vain = 0
        while len(exact.get(where, ())) < times and vain < _MOST_TRIED:
            chosen = rng.sample(every, count)
            kinds = [*((_WRONG,) if wrong == 1 else (_FIRST, _SECOND)), *[_HARMLESS] * count]
            kinds = rng.sample(kinds[:count], count)
            ids = {
                _landed(session, place, kind): kind
                for place, kind in zip(chosen, kinds, strict=True)
            }
            await seat.rests(intents.Verify(), _LONGEST_S)
            if session.status.verdict == "failed":
                vain = 0
                seeded = {one for one, kind in ids.items() if kind != _HARMLESS}
                exact.setdefault(where, []).append(await _blamed(found, where, seat) == seeded)
            else:
                vain += 1
            await seat.rests(intents.Reject(None))
        if vain:
            raise DuettoError(f"the tests notice too few of the seeds, {vain} in a row")


async def _blamed(found: Findings, where: str, seat: Seat) -> set[int]:
    """What /blame marks, and what that takes."""
    began, session = time.monotonic(), seat.session
    await seat.rests(intents.FindBlame(), _LONGEST_S)
    cards = [b for b in session.transcript.blocks if b.kind is BlockKind.RUN]
    if told := re.search(r"(\d+) runs? in", cards[-1].text):
        found.add(Spot(RUNS, where), float(told[1]))
    found.add(Spot(SECONDS, where), time.monotonic() - began)
    return {hunk.id for hunk in session.workspace.hunks if hunk.is_blamed and hunk.undecided}


def _landed(session: Session, place: Place, change: str) -> int:
    landing = Landing(session.workspace, turn=1, call_id="call")
    landing.feed(place.patch(change))
    landing.finish(cut=False)
    return session.workspace.hunks[-1].id


def practice(root: Path) -> Path:
    """The practice with all exercises solved."""
    talk = Conversation(AnswerStyle(mistakes=0.0))
    for script in load_scripts():
        talk.ask(script.prompt)
    write_files(root, talk.files)
    return root


def generated(root: Path) -> Path:
    """A project of 60 functions, each with a test, and one test of all."""
    root.mkdir()
    numbers = range(60)
    code = [f"def f{n}(x):\n    y = x + {n}\n    return y\n" for n in numbers]
    checks = [f"def test_{n}():\n    assert f{n}(1) == {n + 1}\n" for n in numbers]
    every = "def test_all():\n    for n in (*range(60), *range(60)):\n        "
    checks.append(f"{every}assert globals()[f'f{{n}}'](1) == n + 1\n")
    (root / "functions.py").write_text("\n\n".join(code))
    (root / "test_functions.py").write_text("\n\n".join(["from functions import *\n", *checks]))
    return root

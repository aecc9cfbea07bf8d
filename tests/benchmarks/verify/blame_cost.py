"""How surely blame finds seeded faults among pending hunks, and in how many runs of the tests."""

from __future__ import annotations

import ast
import asyncio
import random
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
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
    "times each with two runs at once. Blame in a project: harmless changes of values and one "
    "function that returns None, or two of which one returns None once the other was called, "
    "pending in the program as it is put together for a user; F5, then /blame. Where fewer values "
    "than hunks are apart that is left out.",
)
SEEDS = ((1, 3), (1, 10), (1, 40), (2, 10), (2, 40))
"""How many are wrong of how many."""
_SIMULATED = 100
_LONGEST_S = 300.0
_MOST_LINES = 12
_ORDERS = 200
"""In which hunks are looked for that are apart."""
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
    """A value on one line that a hunk can change."""

    path: str
    row: int
    lines: tuple[str, ...]
    """That line behind as many of those above as make it the only one."""
    start: int
    end: int
    """Of the value in that line."""
    can_fail: bool
    """It is what a function returns at its end."""

    def patch(self, change: str) -> str:
        """A change of the value; ``change`` has the old one in braces."""
        *above, last = self.lines
        rows = [f" {line}" for line in above]
        was = last[self.start : self.end]
        new = f"{last[: self.start]}{change.format(was)}{last[self.end :]}"
        body = "\n".join(["@@", *rows, f"-{last}", f"+{new}"])
        return f"*** Begin Patch\n*** Update File: {self.path}\n{body}\n*** End Patch\n"

    def is_apart(self, other: Place) -> bool:
        """Whether both can be changed, and are two hunks."""
        first, second = sorted((self, other), key=lambda one: one.row)
        return self.path != other.path or second.row - len(second.lines) > first.row


_HARMLESS, _WRONG = "({})", "None"
_SEED = '__import__("builtins").__dict__'
_FIRST = f"[{{}}, {_SEED}.update(seed=1)][0]"
"""It leaves a mark, and harms nothing."""
_SECOND = f'None if {_SEED}.get("seed") else ({{}})'
"""It is wrong where the mark is."""


def places(root: Path) -> list[Place]:
    """All that a project has, its tests left out."""
    found: list[Place] = []
    for file in sorted(root.rglob("*.py")):
        path = str(file.relative_to(root))
        if "test" in path or path.startswith(("docs", "examples", "setup")):
            continue
        text = file.read_text("utf-8")
        rows = text.splitlines()
        nodes = list(ast.walk(ast.parse(text)))
        ends = [node.body[-1] for node in nodes if isinstance(node, ast.FunctionDef)]
        for node in nodes:
            value = _value(node)
            if value is None or value.lineno != value.end_lineno:
                continue
            lines, end = _only(rows, value.lineno), value.end_col_offset or 0
            can_fail = node in ends and isinstance(node, ast.Return)
            if lines and lines[-1].isascii() and "#" not in lines[-1]:
                found.append(Place(path, value.lineno, lines, value.col_offset, end, can_fail))
    return found


def _value(node: ast.AST) -> ast.expr | None:
    """What parentheses around it do not change."""
    match node:
        case ast.Return(value=value) | ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value
        case ast.If(test=value) | ast.While(test=value) | ast.For(iter=value):
            return value
        case (
            ast.Expr(value=ast.Call() as value) | ast.Raise(exc=value) | ast.AugAssign(value=value)
        ):
            return value
    return None


def _only(rows: Sequence[str], row: int) -> tuple[str, ...]:
    """A line with those above that make it the only one; empty: too many."""
    text = "\n".join(["", *rows, ""])
    for count in range(1, min(row, _MOST_LINES) + 1):
        lines = rows[row - count : row]
        if text.count("\n".join(["", *lines, ""])) == 1:
            return tuple(lines)
    return ()


def _chosen(rng: random.Random, every: Sequence[Place], wrong: int, count: int) -> list[Place]:
    """So many that are apart, those that can fail first; empty: there are not as many."""
    for _ in range(_ORDERS):
        found: list[Place] = []
        ends = rng.sample([one for one in every if one.can_fail], wrong)
        for place in (*ends, *rng.sample(every, len(every))):
            if all(place.is_apart(one) for one in found):
                found.append(place)
        if len(found) >= count and found[:wrong] == ends:
            return found[:count]
    return []


async def _in_project(
    found: Findings,
    rng: random.Random,
    root: Path,
    seed: tuple[int, int, int],
    exact: dict[str, list[bool]],
) -> None:
    """Searches in a project, of which the tests notice the seeds."""
    wrong, count, times = seed
    every, where = places(root), f"{root.name}, {wrong} wrong of {count}"
    if not _chosen(rng, every, wrong, count):
        return
    async with composed(root) as (seat, _):
        await seat.rests(intents.Verify(), _LONGEST_S)
        if seat.session.status.verdict != "passed":
            raise DuettoError(f"the tests of {root.name} do not pass as they are")
        session, vain = seat.session, 0
        while len(exact.get(where, ())) < times and vain < _MOST_TRIED:
            kinds = [*((_WRONG,) if wrong == 1 else (_FIRST, _SECOND)), *[_HARMLESS] * count]
            chosen = _chosen(rng, every, wrong, count)
            seeds = list(zip(chosen, kinds, strict=False))
            ids = {_landed(session, place, kind): kind for place, kind in rng.sample(seeds, count)}
            if len(ids) != count:
                raise DuettoError(f"{count} changes made {len(ids)} hunks in {root.name}")
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

"""How sharp the fast tests are: ``python -m tests.mutants [--seed N] [--count N] [PATH ...]``.

Changes one token of the code at a time (a comparison, a boolean, a constant, an order, one more or
less, a statement that goes), runs the fast tests that execute the line, the most specific ones
first, and prints who survived, with a diff. Nothing here is touched: each change is made in a copy.
Exit status 0 if at least 85 % were noticed, 1 if not, 2 if it cannot begin.

Ours, because mutmut 3 leaves module constants and statements alone, knows tests by function and not
by line, and takes no sample; and cosmic-ray runs the same tests for every change.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import itertools
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ["tui/core", "tui/engine", "tui/effects", "tui/bridge"]
ENOUGH = 0.85
SPECIFIC = 40
"""So many tests run first: those that execute the fewest lines of the package."""
SECONDS = 300
"""A change that makes the tests run longer is noticed: it made a loop without end."""
FORKS = multiprocessing.get_context("forkserver")
PRELOADED = """
pytest pytest_asyncio.plugin pytest_timeout syrupy hypothesis.strategies xdist.plugin
textual.app aiohttp.web msgspec websockets.asyncio.client pygments.lexers.python
"""
FORKS.set_forkserver_preload(PRELOADED.split())
MAP = ROOT / ".mutants"
"""Which tests execute which line."""
OTHERS: dict[type[ast.AST], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.And: "or",
    ast.Or: "and",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.FloorDiv: "*",
}
SAME_EITHER_WAY = ("isinstance", "issubclass", "max", "min")
"""Calls whose two arguments have no order, or only one that runs."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file: ``text[start:end]`` becomes `instead`."""

    path: str
    kind: str
    line: int
    last_line: int
    start: int
    end: int
    instead: str

    @cached_property
    def text(self) -> str:
        """The file as it is."""
        return (ROOT / self.path).read_text("utf-8")

    @property
    def changed(self) -> str:
        """The file with the change."""
        return self.text[: self.start] + self.instead + self.text[self.end :]

    @property
    def diff(self) -> str:
        """What changes, as a unified diff."""
        before, after = self.text.splitlines(True), self.changed.splitlines(True)
        return "".join(difflib.unified_diff(before, after, self.path, self.path, n=2))


class Finder(ast.NodeVisitor):
    """Finds what can be changed in one file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.text = (ROOT / path).read_text("utf-8")
        self.found: list[Mutant] = []
        lines = self.text.splitlines(True)
        self.lines = [line.encode() for line in lines]
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line))
        self.visit(ast.parse(self.text))

    def at(self, line: int, column: int) -> int:
        """Offset in characters of a position that ast counts in bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1][:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node stands."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.at(node.lineno, node.col_offset)
        return start, self.at(node.end_lineno, node.end_col_offset)

    def add(
        self, kind: str, node: ast.expr | ast.stmt, span: tuple[int, int], instead: str
    ) -> None:
        """Note a change."""
        last = node.end_lineno or node.lineno
        self.found.append(Mutant(self.path, kind, node.lineno, last, *span, instead))

    def operator(
        self, kind: str, node: ast.expr, left: ast.expr, op: ast.AST, right: ast.expr
    ) -> None:
        """The operator between two operands becomes another."""
        if (other := OTHERS.get(type(op))) is None:
            return
        start, end = self.span(left)[1], self.span(right)[0]
        between = self.text[start:end]
        token = between.strip("() \n\t\\")
        if "#" not in between and (found := between.find(token)) >= 0:
            self.add(kind, node, (start + found, start + found + len(token)), other)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
            self.operator("comparison", node, left, op, right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.operator("boolean", node, node.values[0], node.op, node.values[1])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        # a | b is as often a type as a set; text + text has no other operator
        if not any(isinstance(side, ast.JoinedStr) for side in (node.left, node.right)):
            self.operator("arithmetic", node, node.left, node.op, node.right)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.add("boolean", node, (self.span(node)[0], self.span(node.operand)[0]), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add("constant", node, self.span(node), str(not node.value))
        elif isinstance(node.value, int):
            self.add("one more", node, self.span(node), str(node.value + 1))

    def visit_Call(self, node: ast.Call) -> None:
        starred = any(isinstance(one, ast.Starred) for one in node.args)
        if len(node.args) == 2 and not starred and ast.unparse(node.func) not in SAME_EITHER_WAY:
            first, second = (self.text[slice(*self.span(one))] for one in node.args)
            if first != second:
                start, end = self.span(node.args[0])[0], self.span(node.args[1])[1]
                between = self.text[self.span(node.args[0])[1] : self.span(node.args[1])[0]]
                self.add("order", node, (start, end), second + between + first)
        self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        """Go on below, past annotations and what only a type checker reads."""
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases", "type_params"):
                continue
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, ast.If) and "TYPE_CHECKING" in ast.dump(one.test):
                    continue
                if isinstance(one, ast.stmt):
                    self.statement(node, one)
                elif isinstance(one, ast.AST):
                    self.visit(one)

    def statement(self, parent: ast.AST, node: ast.stmt) -> None:
        """A statement of a function may go; a docstring is nothing."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        inside = isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.If | ast.For)
        if inside and isinstance(node, ast.Expr | ast.AugAssign | ast.Return | ast.Continue):
            nothing = "return" if isinstance(node, ast.Return) else "pass"
            if self.text[slice(*self.span(node))] != nothing and not is_yield(node):
                self.add("statement", node, self.span(node), nothing)
        self.visit(node)


def is_yield(node: ast.stmt) -> bool:
    """Whether a generator would become a function without this statement."""
    return any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(node))


class Lines:
    """Which fast tests execute a line, from coverage's contexts."""

    def __init__(self, measurements: list[tuple[Path, set[str]]]) -> None:
        """Read measurements, each with the test files that it is still right about."""
        self.breadth: Counter[str] = Counter()
        self.of: dict[str, dict[int, list[str]]] = {}
        for file, current in measurements:
            data = coverage.CoverageData(str(file))
            data.read()
            for name in data.measured_files():
                of = self.of.setdefault(Path(name).relative_to(ROOT).as_posix(), {})
                for line, tests in data.contexts_by_lineno(name).items():
                    kept = [one for one in tests if one.partition("::")[0] in current]
                    of.setdefault(line, []).extend(kept)
                    self.breadth.update(kept)

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that execute one of the mutant's lines, the most specific first.

        A line that runs when the module is imported belongs to every test of the module.
        """
        of = self.of.get(mutant.path, {})
        lines = range(mutant.line, mutant.last_line + 1)
        found = {one for line in lines for one in of.get(line, ())}
        if not found and any(line in of for line in lines):
            found = {one for tests in of.values() for one in tests}
        return sorted(found, key=lambda one: (self.breadth[one], one))


class Measuring:
    """Plug-in of the measuring run: what a test executes is noted under its name."""

    def __init__(self, config: pytest.Config) -> None:
        """Begin to measure, before a module of the package is imported."""
        self.coverage = coverage.Coverage(
            str(MAP / "part"), data_suffix=True, source=[str(ROOT / "tui")], config_file=False
        )
        self.coverage.start()
        config.pluginmanager.register(self)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note one test."""
        self.coverage.switch_context(item.nodeid.partition("[")[0])
        yield
        self.coverage.switch_context("")

    def pytest_unconfigure(self) -> None:
        """Keep what was measured."""
        self.coverage.stop()
        self.coverage.save()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Measure in each worker of the measuring run, from before a conftest imports the package."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        Measuring(early_config)


def digest(paths: Iterable[Path]) -> str:
    """What files say, in short."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def measured() -> Lines:
    """The lines of the fast tests, as far as measured for the package of now; else measured now.

    Kept as long as the package is the same; a test file that changed is measured by itself.
    """
    kept = MAP / digest(sorted((ROOT / "tui").rglob("*.py")))
    if not kept.exists():
        shutil.rmtree(MAP, ignore_errors=True)
        kept.mkdir(parents=True)
    missing = {
        path.relative_to(ROOT).as_posix(): digest([path])
        for path in (ROOT / "tests").rglob("test_*.py")
        if not {"corpus", "counterparts"} & set(path.relative_to(ROOT / "tests").parts)
    }
    measurements: list[tuple[Path, set[str]]] = []
    for known in sorted(kept.glob("*.json")):
        current = set(json.loads(known.read_text()).items()) & missing.items()
        measurements.append((known.with_suffix(".lines"), {path for path, _ in current}))
        missing = dict(missing.items() - current)
    if missing:
        measurements.append((measure(kept, missing), set(missing)))
    return Lines(measurements)


def measure(kept: Path, files: dict[str, str]) -> Path:
    """Measure test files; a test that fails as it is, is left out, and said."""
    print(f"measuring which lines {len(files)} test files execute", flush=True)
    for part in MAP.glob("part.*"):
        part.unlink()
    workers = ["-n", str(os.cpu_count() or 1), "-p", __spec__.name]
    status, output = run_tests(ROOT, "-m", "not slow", *workers, *sorted(files))
    if status not in (0, 1, 5):
        sys.exit(f"{output}\ntests.mutants: the fast tests do not run; mend them first")
    failing = {one.partition("[")[0] for one in said(output)}
    for one in sorted(failing):
        print(f"left out, as it fails without any change: {one}", flush=True)
    lines: dict[str, dict[str, set[int]]] = {}
    for part in MAP.glob("part.*"):
        data = coverage.CoverageData(str(part))
        data.read()
        for name in data.measured_files():
            for line, tests in data.contexts_by_lineno(name).items():
                for one in set(tests) - failing:
                    lines.setdefault(one, {}).setdefault(name, set()).add(line)
        part.unlink()
    file = kept / f"{time.time_ns()}.lines"
    whole = coverage.CoverageData(str(file))
    for test, executed in lines.items():
        whole.set_context(test)
        whole.add_lines(executed)
    whole.write()
    file.with_suffix(".json").write_text(json.dumps(files))
    return file


def said(output: str) -> list[str]:
    """The tests that pytest says failed."""
    lines = [one for one in output.splitlines() if one.startswith(("FAILED ", "ERROR "))]
    return [one.partition(" ")[2].partition(" - ")[0] for one in lines]


def run_tests(checkout: Path, *words: str, seconds: float | None = None) -> tuple[int, str]:
    """Run tests of a checkout, with the package that stands there; returns status and output.

    What pytest and the tests import of others is loaded once: each run is forked from there.
    """
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output"
        process = FORKS.Process(target=in_fork, args=(checkout, words, output))
        process.start()
        process.join(seconds)
        late = process.is_alive()
        for last in (signal.SIGTERM, signal.SIGKILL) if late else (signal.SIGKILL,):
            with suppress(ProcessLookupError):
                os.killpg(process.pid or 0, last)
            process.join(2)
        if late:
            raise TimeoutError
        return process.exitcode or 0, output.read_text("utf-8", "replace")


def in_fork(checkout: Path, words: Iterable[str], output: Path) -> None:
    """Be pytest. A changed loop may take all memory: a process has 8 GB at most."""
    os.setsid()
    os.chdir(checkout)
    resource.setrlimit(resource.RLIMIT_AS, (8 * 10**9, 8 * 10**9))
    os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT), 1)
    os.dup2(1, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ["PYTHONPATH"] = str(checkout)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    sys.path.insert(0, str(checkout))
    for name in [one for one in sys.modules if one.partition(".")[0] == "tests"]:
        del sys.modules[name]
    always = ["-q", "--tb=no", "-p", "no:cacheprovider", "--hypothesis-profile=ci"]
    status = pytest.main([*always, f"--rootdir={checkout}", "-c", "pyproject.toml", *words])
    sys.stdout.flush()
    os._exit(status)


class Copies:
    """Copies of this checkout, one a worker, in which a file may be changed."""

    def __init__(self, count: int) -> None:
        self.top = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.free: SimpleQueue[Path] = SimpleQueue()
        self.times = itertools.count(1_000_000_000)
        left_out = shutil.ignore_patterns(".git", ".venv", ".mutants", ".*_cache", "__pycache__")
        for number in range(count):
            copy = self.top / str(number)
            shutil.copytree(ROOT, copy, ignore=left_out, symlinks=True)
            self.free.put(copy)

    def killer(self, mutant: Mutant, tests: list[str]) -> str:
        """The test that noticed; empty if none did."""
        copy = self.free.get()
        file = copy / mutant.path
        try:
            self.write(file, mutant.changed)
            first, others = tests[:SPECIFIC], tests[SPECIFIC:]
            return failed(copy, first) or failed(copy, others)
        finally:
            self.write(file, mutant.text)
            self.free.put(copy)

    def write(self, file: Path, text: str) -> None:
        """Change a file, so that nobody takes its bytecode of before: each time is another one."""
        file.write_text(text, "utf-8")
        os.utime(file, (next(self.times),) * 2)


def failed(copy: Path, tests: list[str]) -> str:
    """Run tests in a copy; returns the first that failed, or what else went wrong.

    A failure counts when it comes again: what fails once may be the machine's load.
    """
    if not tests:
        return ""
    names = copy / ".names"
    names.write_text("\n".join(tests))
    try:
        status, output = run_tests(copy, "-x", f"@{names}", seconds=SECONDS)
        if not status:
            return ""
        if not (failures := said(output)):
            return f"exit status {status}"
        if run_tests(copy, "-x", failures[0], seconds=SECONDS)[0]:
            return failures[0]
    except TimeoutError:
        return "time"
    return failed(copy, [one for one in tests if one != failures[0].partition("[")[0]])


def sample(paths: list[str], count: int, seed: int) -> list[Mutant]:
    """So many mutants of the files below the paths, of all kinds alike."""
    files = sorted(
        file
        for path in paths
        for file in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("*.py"))
    )
    kinds: dict[str, list[Mutant]] = {}
    for file in files:
        for mutant in Finder(file.relative_to(ROOT).as_posix()).found:
            kinds.setdefault(mutant.kind, []).append(mutant)
    dice = random.Random(seed)
    for mutants in kinds.values():
        dice.shuffle(mutants)
    chosen: list[Mutant] = []
    while len(chosen) < count and any(kinds.values()):
        chosen += [mutants.pop() for mutants in kinds.values() if mutants]
    return chosen[:count]


def main() -> int:
    """Try mutants; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--seed", type=int, default=1, help="which sample is taken")
    parser.add_argument("--count", type=int, default=50, help="how many changes are tried")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="folders or files of tui/")
    given = parser.parse_args()
    paths = [one.rstrip("/") for one in given.paths] or FOLDERS
    if missing := [one for one in paths if not (ROOT / one).exists()]:
        parser.error(f"there is no {missing[0]} here")
    lines = measured()
    mutants = sample(paths, given.count, given.seed)
    workers = os.cpu_count() or 1
    copies = Copies(workers)
    noticed = 0
    survivors: list[Mutant] = []

    def tried(mutant: Mutant) -> tuple[Mutant, str, int]:
        tests = lines.tests(mutant)
        return mutant, copies.killer(mutant, tests), len(tests)

    try:
        with ThreadPoolExecutor(workers) as pool:
            for mutant, killer, tests in pool.map(tried, mutants):
                verdict = f"noticed by {killer}" if killer else f"SURVIVED {tests} tests"
                print(f"{mutant.path}:{mutant.line} {mutant.kind}: {verdict}", flush=True)
                noticed += bool(killer)
                if not killer:
                    survivors.append(mutant)
    finally:
        shutil.rmtree(copies.top, ignore_errors=True)
    for mutant in survivors:
        print(f"\n{mutant.diff}", end="")
    print(f"\n{noticed} of {len(mutants)} changes noticed", flush=True)
    return 0 if noticed >= ENOUGH * len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())

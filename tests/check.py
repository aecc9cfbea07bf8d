"""The checks: ``python -m tests.check [core | --all | --slow] [PYTEST ARGUMENT ...]``.

Without a word of these: the linters and the fast tier, all tests but those marked ``slow``.
``core`` takes the tests of the core and the engine only, ``--all`` every test, ``--slow`` what the
fast tier leaves out, without the linters. The linters run beside the tests; their verdicts stand
above pytest's closing line. Exit status 0 only if all of them are content. The same examples are
played every time (Hypothesis' profile "ci"); ``pytest`` by itself looks for new ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent

LINTERS = (
    ("ruff check", ["ruff", "check", "."]),
    ("ruff format", ["ruff", "format", "--check", "."]),
    ("import contracts", ["lint-imports"]),
    ("mypy --strict", ["mypy"]),
)
TIERS = {
    "": ["-m", "not slow"],
    "core": ["-m", "not slow", "tests/core", "tests/engine"],
    "--all": [],
    "--slow": ["-m", "slow"],
}
WORKERS = (os.cpu_count() or 1) + 2
"""Tests of programs and screens wait more than they compute: two more than there are cores."""
MANY = 50
"""Of fewer new modules the workers make bytecode as they go."""


def main(arguments: list[str]) -> int:
    """Run a tier; returns the exit status."""
    tier = arguments.pop(0) if arguments and arguments[0] in TIERS else ""
    linters = Linters(() if tier == "--slow" else LINTERS)
    linters.start()
    workers = [] if any(one.startswith("-n") for one in arguments) else ["-n", str(WORKERS)]
    words = [
        "-q",
        "--hypothesis-profile=ci",
        f"--rootdir={ROOT}",
        "--dist=loadgroup",
        *TIERS[tier],
        *workers,
        *arguments,
    ]
    os.chdir(ROOT)
    # Without bytecode each worker, and each program that a test starts, compiles all anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if tier != "core" and not arguments:
        rewrite_once()
    return int(pytest.main(words, plugins=[linters])) or int(linters.failed)


def rewrite_once() -> None:
    """Have pytest rewrite the asserts of a new checkout before all workers do so at once.

    What it makes of them stays beside the tests as bytecode. It takes four times as long as all
    the rest of collecting, and each worker would do it for itself.
    """
    new = [
        str(path)
        for path in (ROOT / "tests").rglob("test_*.py")
        if not {"corpus", "counterparts"} & set(path.parts)
        if is_new(path)
    ]
    cores = os.cpu_count() or 1
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    if len(new) > MANY:
        parts = [
            subprocess.Popen([*collect, *new[core::cores]], cwd=ROOT, stdout=subprocess.DEVNULL)
            for core in range(cores)
        ]
        for part in parts:
            part.wait()


def is_new(path: Path) -> bool:
    """Whether pytest has not made its bytecode of a test module yet."""
    return not any(path.parent.glob(f"__pycache__/{path.stem}.*-pytest-*.pyc"))


class Linters(Thread):
    """Runs the linters, one after the other, while pytest runs; and is its plug-in."""

    def __init__(self, linters: tuple[tuple[str, list[str]], ...]) -> None:
        super().__init__(daemon=True)
        self.linters = linters
        self.said: list[str] = []
        self.failed = False

    def run(self) -> None:
        """Run each linter; what one says is kept when it is not content."""
        for name, command in self.linters:
            began = time.monotonic()
            ran = subprocess.run(
                [str(BIN / command[0]), *command[1:]],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            verdict = "FAILED" if ran.returncode else "ok"
            self.said.append(f"{name:<18} {verdict}  {time.monotonic() - began:.1f} s")
            if ran.returncode:
                self.failed = True
                self.said.append(ran.stdout)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Wait for the linters and say their verdicts, above the closing line."""
        self.join()
        terminalreporter.ensure_newline()
        for line in self.said:
            terminalreporter.write_line(line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

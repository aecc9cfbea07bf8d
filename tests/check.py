"""All checks, one command: ``python -m tests.check``.

Linters first, each with its verdict; then the tests, whose closing line is the last one. Exit
status 0 only if all of them are content. Arguments go to pytest. The same examples are played
every time (Hypothesis' profile "ci"); ``pytest`` by itself looks for new ones.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent

LINTERS = (
    ("ruff check", ["ruff", "check", "."]),
    ("ruff format", ["ruff", "format", "--check", "."]),
    ("mypy --strict", ["mypy"]),
    ("import contracts", ["lint-imports"]),
)

SAME = ["--hypothesis-profile=ci"]


def main() -> int:
    """Run everything; returns the exit status."""
    failed = [name for name, command in LINTERS if not passes(name, command)]
    workers = [] if any(one.startswith("-n") for one in sys.argv[1:]) else ["-n", "auto"]
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *SAME, *workers, *sys.argv[1:]],
        cwd=ROOT,
        check=False,
    )
    return tests.returncode or int(bool(failed))


def passes(name: str, command: list[str]) -> bool:
    """Run a linter; its output is shown when it is not content."""
    began = time.monotonic()
    ran = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    verdict = "ok" if ran.returncode == 0 else "FAILED"
    print(f"{name:<18} {verdict}  {time.monotonic() - began:.1f} s", flush=True)
    if ran.returncode:
        print(ran.stdout, flush=True)
    return ran.returncode == 0


if __name__ == "__main__":
    sys.exit(main())

"""All checks, one command: ``python -m tests.check``.

Linters first, each with its verdict; then the tests, whose closing line is the last one. Exit
status 0 only if all of them are content. Arguments go to pytest. The same examples are played
every time (Hypothesis' profile "ci"); ``pytest`` by itself looks for new ones.

Tests of real processes and deadlines share two cores with each other. When a few fail, they run
once more with the machine to themselves: what fails again has failed, what passes is named as
unsteady, for somebody to mend.
"""

from __future__ import annotations

import json
import os
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
FEW = 12
"""More failures than these are no accident: they are not run again."""
WORKERS = (os.cpu_count() or 1) + 1
"""Tests of real programs wait more than they compute: one more than there are cores."""
LAST_FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"


def main() -> int:
    """Run everything; returns the exit status."""
    failed = [name for name, command in LINTERS if not passes(name, command)]
    workers = [] if any(one.startswith("-n") for one in sys.argv[1:]) else ["-n", str(WORKERS)]
    LAST_FAILED.unlink(missing_ok=True)
    code = tested(*workers, *sys.argv[1:])
    if code == 1 and 0 < len(unsteady := last_failed()) <= FEW:
        print(f"once more, alone: {', '.join(unsteady)}", flush=True)
        code = tested(*unsteady)
        print("UNSTEADY: they failed beside others" if not code else "failed again", flush=True)
    return code or int(bool(failed))


def tested(*arguments: str) -> int:
    """Run pytest; returns its exit status."""
    command = [sys.executable, "-m", "pytest", "-q", *SAME, *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def last_failed() -> list[str]:
    """The tests that failed, as pytest noted them; none if it noted nothing."""
    try:
        return list(json.loads(LAST_FAILED.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return []


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

"""``kill -9`` of the real program at any moment of a session in which the model runs commands."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.calling_server import CallingServer
from tests.support.commands import DUETTO, clean_environment
from tests.support.terminal import DEADLINE_S
from tui.cli import practice

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="who is left is read from /proc"
)

STEP = """#!/bin/sh
echo "began $1" >>log
sh -c 'trap "" TERM; exec sleep 300' &
deaf=$!
setsid sleep 300 &
env -i setsid tail -f "$PWD/mine.txt" &
tail=$!
until sleep 0.15; test -e alive; do :; done
kill $!
kill -9 $deaf $tail
echo "ended $1" >>log
"""
PATCH = "*** Begin Patch\n*** Update File: mine.txt\n@@\n-mine\n+theirs\n*** End Patch\n"
WITNESS = "A_SESSION_THAT_IS_KILLED"
STEPS = 5


@pytest.mark.parametrize("mode", ["manual", "sandbox"])
@pytest.mark.parametrize("seed", range(4))
def test_nothing_runs_on_is_run_again_or_is_left_behind(
    seed: int, mode: str, tmp_path: Path
) -> None:
    chance = random.Random(f"{seed} {mode}")
    work = tmp_path / "work"
    work.mkdir()
    (work / "step").write_text(STEP)
    (work / "step").chmod(0o755)
    (work / "mine.txt").write_text("mine\n")
    (work / "alive").touch()
    server = CallingServer(
        ["./step 1", "./step 2 && ./step 3"],
        [{"name": "apply_patch", "arguments": json.dumps({"input": PATCH})}, "./step 4"],
        ["touch refused", "./step 5"] if mode == "manual" else ["./step 5"],
    )
    witness = str(tmp_path)
    environment = clean_environment(tmp_path / "home") | {WITNESS: witness}
    command = [*DUETTO, "exec", "go", "--mode", mode, "--fast", "m", "--allow", "./step"]
    with subprocess.Popen(
        [*command, "--endpoint", server.address],
        cwd=work,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as running:
        said = chance.randrange(2 * STEPS)
        while running.poll() is None and len(lines(work / "log")) < said:
            time.sleep(0.005)
        time.sleep(chance.uniform(0.0, 0.2))
        (work / "alive").unlink()  # no step ends by itself from now on
        running.kill()
    all_gone(witness)
    log = lines(work / "log")
    assert len(set(log)) == len(log)
    again = subprocess.run(
        [*command, "--endpoint", CallingServer().address],
        cwd=work,
        env=environment,
        capture_output=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    assert lines(work / "log") == log
    assert {path.name for path in work.iterdir()} <= {"step", "mine.txt", "log"}
    assert (work / "mine.txt").read_text() == "mine\n"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_attempts_that_are_being_judged_leave_nothing(seed: int, tmp_path: Path) -> None:
    """No process, no report, and where the next one makes shadows, none of the old ones."""
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    temporary.mkdir()
    root = practice.ensure(home / "data")
    (home / "config.toml").write_text("[rehearsal]\nmistakes = 0.0\n")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    witness, shadows = str(tmp_path), home / "state/shadows"
    environment = clean_environment(home) | {WITNESS: witness, "TMPDIR": str(temporary)}
    command = [*DUETTO, "exec", "make the cache safe for threads", "-C", str(root), "--attempts"]
    with subprocess.Popen(
        [*command, "4"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as running:
        while running.poll() is None and not list(shadows.glob("*/*/run-*")):
            time.sleep(0.005)
        time.sleep(random.Random(seed).uniform(0.0, 1.5))
        running.kill()
    all_gone(witness)
    assert not list(temporary.iterdir())
    again = subprocess.run(
        [*command, "2"], env=environment, capture_output=True, timeout=DEADLINE_S, check=False
    )
    assert again.returncode == 0, again.stderr
    assert [path.name for path in shadows.iterdir()] == ["all.lock"]
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def all_gone(witness: str) -> None:
    """Wait until no process of the session is there."""
    wanted = witness.encode()
    until = time.monotonic() + DEADLINE_S
    while left := [
        path.parent.name
        for name in ("environ", "cmdline")
        for path in Path("/proc").glob(f"[0-9]*/{name}")
        if has(path, wanted)
    ]:
        assert time.monotonic() < until, left
        time.sleep(0.02)


def has(path: Path, wanted: bytes) -> bool:
    try:
        return wanted in path.read_bytes()
    except OSError:
        return False

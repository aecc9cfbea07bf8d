"""``duetto exec`` with a real bridge process: real sockets, real files."""

from __future__ import annotations

import ast
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.scenarios import tree_of
from tui.cli import practice

pytestmark = pytest.mark.slow

PROMPT = "let slug take a max_length"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def root(home: Path) -> Path:
    return practice.ensure(home / "data")


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DUETTO_")}
    return {**kept, "DUETTO_HOME": str(home)}


@pytest.fixture
def free_port() -> Iterator[int]:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def run(
    environment: dict[str, str], *arguments: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tui.cli", "exec", *arguments],
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )


def snapshot(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def quiet_mistakes(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[rehearsal]\nmistakes = 0.0\nfast_tokens_s = 20000\n")


def test_text_goes_to_stdout_and_nothing_is_written(
    environment: dict[str, str], root: Path, home: Path
) -> None:
    quiet_mistakes(home)
    before = snapshot(root)
    done = run(environment, PROMPT, "-C", str(root))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert "*** Begin Patch" not in done.stdout
    assert "pending" in done.stderr
    assert snapshot(root) == before


def test_apply_writes_and_the_exercise_is_solved(
    environment: dict[str, str], root: Path, home: Path
) -> None:
    quiet_mistakes(home)
    exercise = next(e for e in practice.offered_prompts() if e.prompt == PROMPT)
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", exercise.test_path]
    before = subprocess.run(tests, cwd=root, capture_output=True, timeout=60)
    assert before.returncode == 1
    done = run(environment, PROMPT, "-C", str(root), "--apply")
    assert done.returncode == 0, done.stderr
    after = subprocess.run(tests, cwd=root, capture_output=True, timeout=60)
    assert after.returncode == 0, after.stdout


@pytest.mark.parametrize(
    ("form", "tool"),
    [
        ("apply_patch", "text"),
        ("whole_file", "text"),
    ],
)
def test_every_format_is_written_to_the_disk(
    environment: dict[str, str], root: Path, home: Path, form: str, tool: str
) -> None:
    quiet_mistakes(home)
    before = tree_of(root)
    flags = ("--patch-format", form, "--patch-tool", tool)
    done = run(environment, PROMPT, "-C", str(root), "--apply", *flags)
    assert done.returncode == 0, done.stderr
    after = tree_of(root)
    changed = [path for path in after if after[path] != before.get(path)]
    assert changed
    for path in changed:
        ast.parse(after[path])
        assert path in done.stderr
    assert "accepted" in done.stderr


def test_json_is_one_event_a_line(environment: dict[str, str], root: Path, home: Path) -> None:
    quiet_mistakes(home)
    done = run(environment, PROMPT, "-C", str(root), "--json", "--role", "fast")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["type"] for event in events]
    assert kinds[0] == "turn.started"
    assert kinds[-1] == "turn.completed"
    assert set(kinds) == {"turn.started", "text.delta", "hunk", "meter", "turn.completed"}
    assert events[0]["model"] == "rehearsal-fast"
    assert events[0]["rehearsal"] is True
    assert events[-1]["usage"]["output_tokens"] > 50
    hunks = [event for event in events if event["type"] == "hunk"]
    assert {hunk["decision"] for hunk in hunks} == {"pending"}
    assert all(hunk["path"].endswith(".py") for hunk in hunks)


def test_the_prompt_may_come_from_stdin(environment: dict[str, str], tmp_path: Path) -> None:
    done = run(environment, "-", "-C", str(tmp_path), stdin="hello\n")
    assert done.returncode == 0
    assert "rehearsal" in done.stdout


def test_nobody_listens(environment: dict[str, str], tmp_path: Path, free_port: int) -> None:
    address = f"ws://127.0.0.1:{free_port}/v1/responses"
    flags = ("--endpoint", address, "--fast", "m", "-C", str(tmp_path))
    done = run(environment, "hello", *flags)
    assert done.returncode == 3
    assert "Nothing listens" in done.stderr
    assert "Traceback" not in done.stderr
    as_json = run(environment, "hello", "--json", *flags)
    assert as_json.returncode == 3
    assert [json.loads(line)["type"] for line in as_json.stdout.splitlines()][-1] == "error"


def test_sigint_interrupts(environment: dict[str, str], root: Path, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[rehearsal]\nfast_tokens_s = 20\n")
    before = snapshot(root)
    process = subprocess.Popen(
        [sys.executable, "-m", "tui.cli", "exec", PROMPT, "-C", str(root), "--json", "--apply"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["type"] == "text.delta":
                break
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130, errors
    last = json.loads(rest.splitlines()[-1])
    assert last["type"] == "error"
    assert last["message"].startswith("stopped after")
    assert snapshot(root) == before

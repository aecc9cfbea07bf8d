"""opencode over plain HTTP: BINARY BASE MODEL KEY. One line a scenario (see checks.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import finish, scenario, want

binary, base, model, key = sys.argv[1:5]
COMMAND = {"command": "echo hello-from-tool", "description": "greet"}
CALL = f"rehearse call bash {json.dumps(COMMAND)}"


def run(folder: Path, prompt: str, *flags: str) -> str:
    """One run that asks nothing; what it printed. It would quote a prompt on its command line."""
    at_home = {
        "HOME": folder,
        "XDG_CONFIG_HOME": folder / "config",
        "XDG_DATA_HOME": folder / "data",
        "XDG_CACHE_HOME": folder / "cache",
        "XDG_STATE_HOME": folder / "state",
    }
    # nothing is looked up in the network
    alone = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"]
    done = subprocess.run(
        [binary, "run", "--model", f"bridge/{model}", *flags],
        cwd=folder / "work",
        env={
            **os.environ,
            **{name: str(path) for name, path in at_home.items()},
            **{f"OPENCODE_DISABLE_{name}": "1" for name in alone},
        },
        input=prompt, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    want(done.returncode == 0, f"exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
    folder = Path(name)
    (folder / "work").mkdir()
    options = {"baseURL": base, "apiKey": key}
    provider = {"npm": "@ai-sdk/openai", "options": options, "models": {model: {"tool_call": True}}}
    told = {
        "provider": {"bridge": provider},
        "enabled_providers": ["bridge"],
        "small_model": f"bridge/{model}",
        "permission": {"bash": "allow"},
        "autoupdate": False,
        "share": "disabled",
    }
    config = folder / "config" / "opencode" / "opencode.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps(told))
    with scenario("opencode: a turn with a tool"):
        said = run(folder, CALL)
        want("answered: hello-from-tool" in said, f"its output did not come back: {said}")
    with scenario("opencode: the next turn goes on"):
        said = run(folder, "PLAIN hello", "--continue")
        want("rehearsal model" in said, said)
finish()

"""The programs that are measured: duetto, and clients of another make where there are any."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import tui
from tests.benchmarks.screen.replay_events import MODEL
from tui.errors import DuettoError

DUETTO = "duetto"
_OWN_FOLDER = Path(tui.__file__).resolve().parents[1]
_FOREIGN = re.compile(
    r"OPENAI|ANTHROPIC|CODEX|CLAUDE|GEMINI|DUETTO|PI_|npm_|COLUMNS$|LINES$|TMUX"
    r"|.*_(?:API_KEY|TOKEN|SECRET)$"
)
"""Variables of other programs: keys and settings of the user's that a client must not take."""


@dataclass(frozen=True, slots=True)
class Client:
    """One program, ready to be started, and its keys."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(repr=False)
    settle_s: float = 1.0
    """So much silence means that it is ready."""
    submit: bytes = b"\r"
    interrupt: bytes = b"\x1b"
    quits_with: bytes = b"\x03\x03"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client is started."""

    port: int
    """Of the replay server."""
    home: Path
    """Its own folder, empty at first."""
    work: Path
    """The workspace."""


def duetto(place: Place, *arguments: str) -> Client:
    """Ourselves: the installed script beside this interpreter, else the module."""
    script = Path(sys.executable).with_name("duetto")
    runs = [str(script)] if os.access(script, os.X_OK) else [sys.executable, "-m", "tui.cli"]
    url = f"ws://127.0.0.1:{place.port}/v1/responses"
    models = ("--endpoint", url, "--fast", MODEL, "--deep", MODEL)
    path = os.pathsep.join(filter(None, (str(_OWN_FOLDER), os.environ.get("PYTHONPATH"))))
    own = {"DUETTO_HOME": str(place.home), "PYTHONPATH": path}
    # its cursor blinks twice a second
    return Client(DUETTO, (*runs, *models, *arguments), environment(own), 0.35, quits_with=b"\x11")


def codex(place: Place, program: str) -> Client:
    """Codex CLI, on the replay server's WebSocket."""
    settings = f"""
model = "{MODEL}"
model_provider = "bench"
check_for_update_on_startup = false
[model_providers.bench]
name = "bench"
base_url = "http://127.0.0.1:{place.port}/v1"
wire_api = "responses"
supports_websockets = true
requires_openai_auth = false
[analytics]
enabled = false
[projects."{place.work}"]
trust_level = "trusted"
"""
    (place.home / "config.toml").write_text(settings)
    command = (program, "--dangerously-bypass-approvals-and-sandbox")
    own = {"HOME": str(place.home), "CODEX_HOME": str(place.home)}
    return Client("codex", command, environment(own))


def pi(place: Place, program: str) -> Client:
    """The pi coding agent, on Chat Completions."""
    model = {"id": MODEL, "name": "Replay", "contextWindow": 400_000, "maxTokens": 100_000}
    provider = {
        "baseUrl": f"http://127.0.0.1:{place.port}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "compat": {"supportsDeveloperRole": False, "supportsReasoningEffort": False},
        "models": [model],
    }
    (place.home / "models.json").write_text(json.dumps({"providers": {"bench": provider}}))
    command = (program, "--provider", "bench", "--model", MODEL, "--offline")
    own = {"HOME": str(place.home), "PI_CODING_AGENT_DIR": str(place.home)}
    return Client("pi", command, environment({**own, "PI_OFFLINE": "1", "PI_TELEMETRY": "0"}))


PEERS: dict[str, Callable[[Place, str], Client]] = {"codex": codex, "pi": pi}
"""The clients of another make, by their program's name."""


def program_of(peer: str, named: Path | None) -> str:
    """The peer's program: ``named`` or on PATH. Raises DuettoError: it is not there."""
    found = shutil.which(str(named) if named is not None else peer)
    if found is not None:
        return str(Path(found).absolute())
    if named is not None:
        raise DuettoError(f"{named} is no program: --peer-path names that of the one --peer")
    raise DuettoError(f"{peer} is not installed: no program of that name is on the PATH")


def environment(own: dict[str, str]) -> dict[str, str]:
    """Ours without what is meant for other programs, and a client's own."""
    kept = {name: value for name, value in os.environ.items() if not _FOREIGN.match(name)}
    return kept | own

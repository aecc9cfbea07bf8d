"""LiteLLM's proxy and its fake upstream as processes, and what a client of them needs to know."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bridges import answers, free_port, running

SERVERS = Path(__file__).resolve().parents[1] / "servers"
ROOT = Path(__file__).resolve().parents[3]
KEY = "sk-litellm"
READY_S = 90.0
LIMIT_S = 60
"""The shortest age limit that LiteLLM takes."""


@dataclass
class Proxy:
    """A proxy that runs."""

    port: int
    folder: Path
    upstream: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """Its Responses WebSocket."""
        return f"ws://127.0.0.1:{self.port}/v1/responses"

    def asked(self) -> list[dict]:
        """What the upstream was asked, oldest first."""
        with contextlib.suppress(FileNotFoundError):
            lines = (self.folder / "fakeup.log").read_text().splitlines()
            return [said["body"] for said in map(_parsed, lines) if "body" in said]
        return []

    def ended(self) -> list[str]:
        """How the upstream's streams ended."""
        lines = (self.folder / "fakeup.log").read_text().splitlines()
        return [said["stream"] for said in map(_parsed, lines) if "stream" in said]


def _parsed(line: str) -> dict:
    try:
        return json.loads(line)
    except ValueError:  # the log cuts long lines
        return {"body": {"cut": line}}


@contextlib.contextmanager
def proxy(venv: Path) -> Iterator[Proxy]:
    """Both, until the block ends."""
    upstream, port = free_port(), free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        env = {
            **os.environ,
            "HOME": home,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "NO_PROXY": "127.0.0.1,localhost",
            "FAKE_UPSTREAM": f"http://127.0.0.1:{upstream}/v1",
        }
        env.pop("PYTHONPATH", None)
        config = ["--config", str(SERVERS / "litellm.yaml"), "--host", "127.0.0.1"]
        quiet = {"cwd": home, "env": env, "stdout": subprocess.DEVNULL}
        quiet["stderr"] = subprocess.DEVNULL
        fake = [str(venv / "bin" / "python"), str(SERVERS / "fakeup.py"), str(upstream)]
        command = [str(venv / "bin" / "litellm"), *config, "--port", str(port)]
        with running(fake, **quiet) as behind, running(command, **quiet):
            answers(f"http://127.0.0.1:{upstream}/v1/models", READY_S)
            answers(f"http://127.0.0.1:{port}/health/liveliness", READY_S)
            yield Proxy(port, Path(home), behind)

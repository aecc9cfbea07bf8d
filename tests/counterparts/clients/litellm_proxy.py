"""LiteLLM's proxy and its fake upstream as processes, and what a client of them needs to know."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SERVERS = Path(__file__).resolve().parents[1] / "servers"
ROOT = Path(__file__).resolve().parents[3]
KEY = "sk-litellm"
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


def free_port() -> int:
    """A free port on loopback."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(url: str, seconds: float = 90) -> None:
    """Until it answers. Raises SystemExit."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.2)
    raise SystemExit(f"{url} did not answer within {seconds} s")


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
        python = str(venv / "bin" / "python")
        running = [
            subprocess.Popen([python, str(SERVERS / "fakeup.py"), str(upstream)], **quiet),
            subprocess.Popen(
                [str(venv / "bin" / "litellm"), *config, "--port", str(port)], **quiet
            ),
        ]
        try:
            wait_for(f"http://127.0.0.1:{upstream}/v1/models")
            wait_for(f"http://127.0.0.1:{port}/health/liveliness")
            yield Proxy(port, Path(home), running[0])
        finally:
            for one in running:
                one.terminate()
            for one in running:
                try:
                    one.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    one.kill()

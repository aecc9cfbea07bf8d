"""A bridge for one counterpart: of the rehearsal model, or before a provider."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCRIPTED = Path(__file__).resolve().parent / "servers" / "scripted_upstream.py"
READY_S = 20.0


@contextlib.contextmanager
def rehearsal() -> Iterator[list[str]]:
    """Gives the base URL, a model and the token."""
    command = ["-m", "tui.cli", "bridge", "--any-model", "--deep-rate", "150"]
    with _started(command) as (process, said):
        assert process.stdin is not None
        yield [_base(said["url"]), "rehearsal-deep@500", said["token"]]


@contextlib.contextmanager
def before(kind: str, **spec: Any) -> Iterator[list[str]]:
    """Before the scripted provider, of a kind.

    Gives the base URL, a model and the token; then the kind, the provider's URL and its log.
    """
    with scripted() as (url, log):
        told = {"kind": kind, "url": f"{url}/v1", "headers": {"Authorization": "Bearer k"}, **spec}
        with bridge({"up": told}) as (bases, token):
            yield [bases["up"], "scripted", token, kind, url, str(log)]


@contextlib.contextmanager
def bridge(endpoints: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[dict[str, str], str]]:
    """Before endpoints, by name; gives the base URL of each, and the token."""
    with _started(["-m", "tui.bridge"]) as (process, said):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"endpoints": endpoints}) + "\n")
        process.stdin.flush()
        served = json.loads(process.stdout.readline())["endpoints"]
        yield {name: _base(served[name]) for name in endpoints}, said["token"]


@contextlib.contextmanager
def scripted() -> Iterator[tuple[str, Path]]:
    """The scripted provider; gives its URL and its log."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        port, log = free_port(), Path(folder) / "asked.jsonl"
        with running([sys.executable, str(SCRIPTED), str(port), str(log)]):
            url = f"http://127.0.0.1:{port}"
            answers(f"{url}/v1/models")
            yield url, log


@contextlib.contextmanager
def running(command: list[str], **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process until the block ends."""
    process = subprocess.Popen(command, **more)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(url: str, within_s: float = READY_S) -> None:
    """Wait until somebody answers there. Raises TimeoutError."""
    end_s = time.monotonic() + within_s
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            if time.monotonic() > end_s:
                raise TimeoutError(f"nobody answers at {url}") from None
            time.sleep(0.1)


def free_port() -> int:
    """A free port on loopback."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def _started(arguments: list[str]) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit("the bridge did not start: run this with duetto's own Python")
        yield process, json.loads(line)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=10)


def _base(url: str) -> str:
    return url.replace("ws://", "http://").removesuffix("/responses")

"""The bridge that is measured: the real process, as a person or the app starts it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tui.errors import DuettoError

_FOLDER = Path(__file__).resolve().parents[3]
_SAYS_S = 20.0
COMMAND = ("-m", "tui.cli", "bridge")
"""``duetto bridge``."""
APP = ("-m", "tui.bridge")
"""As the app starts it; it is told its endpoints on stdin."""


class BridgeProcess:
    """One bridge."""

    def __init__(self, module: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start it; `ready_s` is how long that took. Raises DuettoError: it did not."""
        began_s = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, *module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_FOLDER,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        self.pid = self._process.pid
        try:
            said = self._said()
        except DuettoError:
            self.close()
            raise
        self.ready_s = time.perf_counter() - began_s
        """From the command to the line that says where it serves."""
        self.url, self.token = str(said["url"]), str(said["token"])

    def tell(self, endpoints: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
        """Name endpoints; returns where each is served."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"endpoints": endpoints}).encode() + b"\n")
        self._process.stdin.flush()
        served: dict[str, str] = self._said()["endpoints"]
        return served

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _said(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None
        ready, _, _ = select.select([stdout], [], [], _SAYS_S)
        line = stdout.readline() if ready else b""
        if not line:
            raise DuettoError("The bridge did not say where it serves.")
        said: dict[str, Any] = json.loads(line)
        return said

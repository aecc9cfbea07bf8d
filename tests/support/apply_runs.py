"""Running ``duetto apply`` inside the test's process, through the real command line."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tui.cli.main import run


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """What ``--json`` printed."""
        report: dict[str, Any] = json.loads(self.out)
        return report


Apply = Callable[..., Ended]


def runner(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Path) -> Apply:
    """``apply(patch, *arguments)``: the patch comes on standard input."""
    monkeypatch.setenv("DUETTO_HOME", str(home))

    def applying(patch: str | bytes, *arguments: str) -> Ended:
        data = patch.encode() if isinstance(patch, str) else patch
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        capfd.readouterr()
        code = run(["apply", *arguments])
        return Ended(code, *capfd.readouterr())

    return applying

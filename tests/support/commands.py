"""The command as a child process, or within this one: what it prints, and how it ends."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.sources import ROOT
from tui.cli.main import run

DUETTO = (sys.executable, "-m", "tui.cli")
BENCH = (sys.executable, "-m", "tests.benchmarks")
_OURS = ("DUETTO_", "OPENAI_", "XAI_", "ANTHROPIC_", "PYTEST_")


def clean_environment(home: Path) -> dict[str, str]:
    """No keys, and no settings but those of this home."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_OURS)}
    return kept | {"DUETTO_HOME": str(home), "PYTHONPATH": str(ROOT)}


@dataclass(frozen=True)
class Duetto:
    """A command line with its surroundings."""

    folder: Path
    environment: Mapping[str, str]
    prefix: Sequence[str] = ()
    """Runs the command in its turn: ``setpriv ...``, ``sh -c ...``."""
    given: dict[str, str | None] = field(default_factory=dict)
    """Variables on top; None: not set."""
    command: Sequence[str] = DUETTO

    def run(
        self, *arguments: str | bytes | Path, stdin: bytes = b"", timeout_s: float = 60
    ) -> subprocess.CompletedProcess[bytes]:
        """Run to the end."""
        environment = {**self.environment, **{k: v for k, v in self.given.items() if v is not None}}
        for name in (name for name, value in self.given.items() if value is None):
            environment.pop(name, None)
        return subprocess.run(
            [*self.prefix, *self.command, *arguments],
            cwd=self.folder,
            env=environment,
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )

    def shell(self, line: str) -> subprocess.CompletedProcess[bytes]:
        """Run a line of bash in which ``"$@"`` is duetto: for redirections and pipes."""
        return subprocess.run(
            ["bash", "-c", line, "bash", *DUETTO],
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )


@dataclass(frozen=True)
class Inside:
    """The command line within this process: for what ends before it dials or takes a signal."""

    folder: Path
    environment: Mapping[str, str]

    def run(
        self, *arguments: str | bytes | Path, stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """Run to the end."""
        out, err = io.BytesIO(), io.BytesIO()
        with pytest.MonkeyPatch.context() as patch:
            for name in os.environ.keys() - self.environment.keys():
                patch.delenv(name)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            patch.chdir(self.folder)
            for stream, raw in (("stdin", io.BytesIO(stdin)), ("stdout", out), ("stderr", err)):
                text = io.TextIOWrapper(raw, "utf-8", "surrogateescape", write_through=True)
                patch.setattr(sys, stream, text)
            try:
                code: object = run([os.fsdecode(one) for one in arguments])
            except SystemExit as end:
                code = end.code
            said = out.getvalue(), err.getvalue()
        return subprocess.CompletedProcess(arguments, int(str(code)), *said)


def sentence(ran: subprocess.CompletedProcess[bytes], code: int) -> str:
    """The one line on stderr of a command that could not do what was asked."""
    said = ran.stderr.decode()
    assert ran.returncode == code, said
    assert said.startswith("duetto: "), said
    assert said.endswith("\n"), said
    assert said.count("\n") == 1, said
    assert "Traceback" not in said
    assert "internal error" not in said
    assert said[:-1].isprintable(), said
    assert ran.stdout == b""
    return said

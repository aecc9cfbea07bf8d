"""The real binary, with a home of its own, on a pseudo-terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.sources import ROOT
from tests.support.stand_in import StandIn, stand_in
from tests.support.terminal import DEADLINE_S, Terminal
from tui.cli.open_app import FIRST_RUN

DUETTO = (sys.executable, "-m", "tui.cli")
Piped = Callable[..., subprocess.CompletedProcess[str]]


GATE = """
import os, sys
class Gate:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            sys.meta_path.remove(self)
            with open(os.environ["GATE"]) as gate:
                if gate.read():
                    raise RuntimeError("broken")
        return None
if "GATE" in os.environ:
    sys.meta_path.insert(0, Gate())
"""


class Gate:
    """Holds a start up where the first heavy module is imported."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._fifo = folder / "gate.fifo"
        self._environment = environment
        (folder / "gate").mkdir()
        (folder / "gate" / "sitecustomize.py").write_text(GATE)
        environment["PYTHONPATH"] = f"{folder / 'gate'}{os.pathsep}{ROOT}"

    def shut(self) -> None:
        os.mkfifo(self._fifo)
        self._environment["GATE"] = str(self._fifo)

    def reached(self, term: Terminal, *, reading: bool = True) -> int:
        """Wait until a start is held up; returns what opens the gate when it is closed.

        Not ``reading``: nothing of what it writes is taken off the line.
        """
        while True:
            if reading:
                term.pump(0.01)
            try:
                found = os.open(self._fifo, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                assert term.status is None, term.output
                continue
            while reading and term.pump(0.05):
                pass
            return found


def choose_models(term: Terminal) -> None:
    """Answer with tiny-8b and large-32b of the stand-in; then they are tested."""
    term.wait_for("The fast model")
    term.type("tiny\r")
    term.wait_for("The deep model")
    term.type("large\r")
    term.wait_for("test again")


def pytest_itemcollected(item: pytest.Item) -> None:
    """All tests of this folder start real programs."""
    item.add_marker(pytest.mark.slow)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What duetto sees: no keys, no settings but those in its home; it is not the first start."""
    state = tmp_path / "home" / "state"
    state.mkdir(mode=0o700, parents=True)
    (state / FIRST_RUN).write_text("{}\n")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DUETTO_", "OPENAI_"))}
    return kept | {"DUETTO_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}


@pytest.fixture
def practice(tmp_path: Path) -> Path:
    """Where the practice workspace will lie."""
    return tmp_path / "home" / "data" / "practice"


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts ``duetto ARGUMENTS`` on a terminal; it is ended with the test."""
    with ExitStack() as terminals:

        def started(
            *arguments: str | Path,
            size: tuple[int, int] = (120, 36),
            kind: Mapping[str, str] | None = None,
            cwd: Path = tmp_path,
        ) -> Terminal:
            command = [*DUETTO, *arguments]
            return terminals.enter_context(
                Terminal(command, env=environment, cwd=cwd, size=size, kind=kind)
            )

        yield started


@pytest.fixture
def piped(environment: dict[str, str], tmp_path: Path) -> Piped:
    """Runs ``duetto ARGUMENTS`` without a terminal, with what is given on its stdin."""

    def ran(*arguments: str | Path, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*DUETTO, *arguments],
            cwd=tmp_path,
            env=environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

    return ran


@pytest.fixture
def gate(tmp_path: Path, environment: dict[str, str]) -> Gate:
    return Gate(tmp_path, environment)


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[StandIn]:
    """A provider of the test's own, which the settings know."""
    with stand_in() as provider:
        provider.is_provider(tmp_path / "home")
        provider.between = lambda: time.sleep(0.02)  # an answer lasts long enough to be measured
        yield provider

"""Judges tries, confined: what a model wrote may do nothing to this machine."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from tests.benchmarks.gap.tasks import Task
from tests.support.sources import ROOT
from tui.core.programs import Confinement, Launch
from tui.effects.commands.guard import confine
from tui.effects.commands.sandbox import ConfinedCommand, find_sandbox
from tui.errors import DuettoError

PROGRAM = Path(__file__).with_name("judge.py")


class Verdict(Struct, frozen=True):
    """What a try came to."""

    shown: bool
    """It passes what is shown: a verifier would take it."""
    hidden: bool
    """It passes what is hidden."""
    seconds: float

    @property
    def right(self) -> bool:
        """It passes all."""
        return self.shown and self.hidden


class Judge:
    """One confined process, which forks for each try. What is tried again is remembered."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program, self._known = program, dict[str, Verdict]()
        self.asked = 0
        """How many tries it ran."""

    def verdict(self, task: Task, completion: str) -> Verdict:
        """Whether a completion is right. Raises DuettoError: the judge is gone."""
        source = task.source(completion)
        if source not in self._known:
            self.asked += 1
            order = {"source": source, "shown": task.shown, "hidden": task.hidden}
            try:
                print(json.dumps(order), file=self._program.stdin, flush=True)
                said = json.loads(self._program.stdout.readline())
            except (OSError, ValueError) as error:
                raise DuettoError("the process that judges the tries has ended") from error
            self._known[source] = Verdict(**said)
        return self._known[source]


@contextlib.contextmanager
def judging(confined: bool = True) -> Iterator[Judge]:
    """A judge; ``confined`` is left out for code of our own only. Raises DuettoError."""
    launch = _launch([sys.executable, "-I", "-S", str(PROGRAM)], confined)
    program = subprocess.Popen(
        launch.argv,
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        preexec_fn=None
        if launch.ruleset < 0
        else lambda: confine(launch.ruleset, launch.forbids, launch.open_folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        with program:
            yield Judge(program)
    finally:
        program.kill()
        launch.tidy()


def _launch(argv: Sequence[str], confined: bool) -> Launch:
    if not confined:
        return Launch(tuple(argv))
    tool = find_sandbox(str(ROOT))
    if not tool.sandbox.works:
        raise DuettoError(f"what a model writes is run in a sandbox only, and {tool.sandbox.words}")
    return tool.launch(ConfinedCommand(argv, str(ROOT), Confinement(writable=False)))

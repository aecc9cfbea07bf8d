"""Runs of tests that end as the files say that they see, in shadows of a stand-in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from tests.support.fakes import FakeRunner, FakeShadow, World
from tests.support.turns import land, update
from tui.core.conversation import Block, BlockKind
from tui.core.programs import AS_THE_USER, CommandLine, Output, RunOptions, RunResult
from tui.core.run_report import FailedTest, RunCounts, RunReport
from tui.engine.intents import Intent
from tui.engine.ports import FileMarks, Part, VerifyCommand
from tui.engine.session import SessionOptions

Files = Mapping[str, bytes | None]
Failing = Callable[[Files], list[str]]


class Judge(FakeRunner):
    """Runs that end as the files say that they see."""

    def __init__(self, disk: Files, failing: Failing) -> None:
        super().__init__()
        self.disk = disk
        self.failing = failing
        self.seen: list[Files] = []
        self.seconds = 0.1
        self.skipped: Callable[[Files], int] = lambda files: 0
        """Of ten tests."""
        self.errors: dict[int, str] = {}
        """Why nothing runs in a shadow, by its id."""
        self.together = False
        """The tests fail only where all of them run."""
        self.port = False
        """The tests want one port: of runs side by side only the first passes."""
        self.rounds = 0
        """Of the thread, that each run takes: what is made ready there begins beside it."""
        self.running = 0

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
    ) -> RunResult:
        if error := self.errors.get(id(how.shadow)):
            output(b"skipped:0")
            return RunResult(None, 0.0, error=error)
        texts = how.shadow.texts if isinstance(how.shadow, FakeShadow) else {}
        files = {**self.disk, **texts}
        self.seen.append(files)
        self.running += 1
        taken = self.port and self.running > 1
        failed = ["test_a"] if taken else self.failing(files)
        await asyncio.sleep(0)
        try:
            for _ in range(self.rounds):
                await asyncio.to_thread(lambda: None)
            await super().run(command, output, deadline_s, how)
        finally:
            self.running -= 1
        if "only" in command:
            failed = [one for one in failed if one in command and not self.together]
        why = ["!"] * taken
        output("\n".join([*why, *failed, f"skipped:{self.skipped(files)}"]).encode())
        return RunResult(int(bool(failed)), self.seconds)


def read(output: str, passed: bool) -> RunReport:
    *names, skipped = output.split()
    why = "OSError: taken" if "!" in names else "assert 1 == 2"
    names = [name for name in names if name != "!"]
    failed = tuple(FailedTest(name, message=why) for name in names)
    out = int(skipped.removeprefix("skipped:"))
    return RunReport(failed, counts=RunCounts(10 - len(names) - out, len(names), out))


MARKS = FileMarks(("test_*.py",), ("conftest.py",))
TESTS = VerifyCommand(("pytest", "-q"), "pytest found", reader=read, marks=MARKS)


def part(part: Part) -> VerifyCommand | None:
    """The failed tests alone, or all once more; those that belong to a file are not known."""
    if part.changed:
        return None
    words = ("only", *(one.name for one in part.failed)) if part.failed else ()
    return replace(TESTS, argv=("pytest", "-q", *words))


def judged(
    lines: int, failing: Failing, width: int = 1, options: SessionOptions | None = None
) -> tuple[World, Judge]:
    """A file with lines ``x0 = 0`` ..., of which every second one is to be changed."""
    files = {"a.py": "".join(f"x{n} = 0\n" for n in range(lines)), "test_a.py": "t = 0\n"}
    world = World(files, options=options)
    judge = Judge(world.files.data, failing)
    judge.output = []
    world.ports.runner = judge
    world.ports.side_by_side = width
    world.verify = replace(TESTS, part=part)
    return world, judge


def changes(world: World, *numbers: int) -> None:
    """The model changes these lines, a hunk each."""
    for number in numbers:
        land(world, update("a.py", f"-x{number} = 0\n+x{number} = 1\n"))


def has(files: Files, *numbers: int) -> bool:
    """True if all these hunks are there."""
    text = files.get("a.py") or b""
    return all(b"x%d = 1" % number in text for number in numbers)


async def asks(world: World, intent: Intent) -> list[Block]:
    """The cards of runs when all that it asks for is over."""
    world.session.submit(intent)
    while not world.session.at_rest:
        await asyncio.sleep(0)
    return [b for b in world.session.transcript.blocks if b.kind is BlockKind.RUN]

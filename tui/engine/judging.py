"""Runs a verifier on texts that nobody has saved, and reads what it says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from tui.core.programs import Shadow
from tui.core.run_report import RunReport
from tui.core.shell.clipping import Clip
from tui.engine.ports import Part, Runner, RunResult, Shadows, VerifyCommand
from tui.engine.verifier_plan import run_options, whole_argv

_OUTPUT_BYTES = 400_000


class _JudgingPlace:
    """Where a run goes on."""

    def __init__(self) -> None:
        self.met = False
        """Another one went on meanwhile."""


class JudgingPlaces:
    """So many runs go on side by side; one that must meet no other waits until it is alone."""

    def __init__(self, count: int) -> None:
        self._count, self._free = count, asyncio.Semaphore(count)
        self._in_turn = asyncio.Lock()
        self._taken: list[_JudgingPlace] = []
        self.one_by_one = False
        """From now on all are alone."""

    @asynccontextmanager
    async def one(self, *, alone: bool = False) -> AsyncIterator[_JudgingPlace]:
        """Wait for a place, and leave it at the end."""
        async with AsyncExitStack() as ends:
            if alone or self.one_by_one:
                await ends.enter_async_context(self._in_turn)
                for _ in range(self._count - 1):
                    await ends.enter_async_context(self._free)
            await ends.enter_async_context(self._free)
            place = _JudgingPlace()
            for other in self._taken:
                other.met = place.met = True
            self._taken.append(place)
            ends.callback(self._taken.remove, place)
            yield place


async def judged(
    runner: Runner,
    command: VerifyCommand,
    shadow: Shadow,
    output: Callable[[bytes], None] = lambda data: None,
) -> tuple[RunResult, RunReport]:
    """One run in a shadow; `verifier_plan.verdict_of` says what it comes to."""
    clip = Clip(_OUTPUT_BYTES, _OUTPUT_BYTES)

    def feed(data: bytes) -> None:
        clip.feed(data)
        output(data)

    how = run_options(command, shadow)
    result = await runner.run(whole_argv(command), feed, command.deadline_s, how)
    if command.reader is None:
        return result, RunReport()
    if result.output:
        clip = Clip(_OUTPUT_BYTES, _OUTPUT_BYTES)
        clip.feed(result.output)
    passed = result.status == 0 and not result.timed_out
    return result, await asyncio.to_thread(command.reader, clip.text(), passed)


async def judge(
    runner: Runner,
    shadows: Shadows,
    command: VerifyCommand,
    texts: Mapping[str, bytes | None],
    output: Callable[[bytes], None] = lambda data: None,
) -> tuple[RunResult, RunReport]:
    """Judge the workspace as it is with these texts; None: there is no such file.

    Any number of calls may run side by side. Raises FileRefused: there can be no shadow.
    """
    make = command.part
    if make is not None:  # with a report of its own
        fresh = await asyncio.to_thread(make, Part())
        command = fresh or command
    shadow = await shadows.make(texts)
    try:
        return await judged(runner, command, shadow, output)
    finally:
        shadow.close()

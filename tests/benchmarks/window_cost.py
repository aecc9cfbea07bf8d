"""What a long conversation costs its user: keys behind @, Enter, and /context.

The session, the prompt box's list and the files are the real ones; the socket is in memory, so
that what is measured is ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from textual.widgets import TextArea

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.support.fakes import World
from tests.support.stepped_rehearsal import SteppedRehearsal
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.system import MonotonicClock
from tui.engine import intents
from tui.engine.notices import Status
from tui.engine.session import Session, SessionOptions
from tui.ui.prompt.completion import Completer

KEY, LIST = "a key behind @, ms", "until all files were looked through, ms"
ENTER, CONTEXT = "Enter to the request, ms", "until /context is shown, ms"
HELD = "the event loop is held at once, ms"
BOUNDS = {KEY: 10.0, ENTER: 10.0, HELD: 8.0}
TYPED = "unit_17"
METHOD = (
    "@: each letter of a name is typed into the prompt box's list over 50,000 files; a key counts"
    " until the list answers, and is the longest turn of the event loop that it causes.",
    "Enter: from the intent to the request that the socket is given, with 100 files attached that"
    " did not change; /context: from the intent until its table is in the conversation. The event"
    " loop is held as long as a task that always wants to run has to wait. All is processor time of"
    " the loop's thread, which other programs do not disturb.",
)


def bound(spot: Spot) -> Bound | None:
    """The target of a figure."""
    return Bound(BOUNDS[spot.figure]) if spot.figure in BOUNDS else None


class Held:
    """How long the event loop ran without coming back."""

    longest_ms = 0.0

    async def look(self) -> None:
        """Always want to run."""
        last = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            self.longest_ms = max(self.longest_ms, 1000 * (now - last))
            last = now


@contextlib.asynccontextmanager
async def held() -> AsyncIterator[Held]:
    """See `Held`."""
    found = Held()
    task = asyncio.create_task(found.look())
    await asyncio.sleep(0)
    try:
        yield found
        await asyncio.sleep(0)
    finally:
        task.cancel()


async def keys(findings: Findings, files: int) -> None:
    """What a key costs while files are looked for."""
    paths = [
        f"pkg{n // 1000:02}/mod{n // 20 % 50:02}/unit_{n % 20:02}_{n}.py" for n in range(files)
    ]
    draft = TextArea()
    completer = Completer(draft, lambda: paths, Status)
    place = f"{files:,} files"
    for end in range(len(TYPED) + 1):
        draft.replace(f"@{TYPED[:end]}", (0, 0), draft.document.end)
        draft.move_cursor(draft.document.end)
        began = time.thread_time()
        async with held() as loop:
            completer.look()
            while completer._searching:
                await asyncio.sleep(0)
        findings.add(Spot(LIST, place), 1000 * (time.thread_time() - began))
        findings.add(Spot(KEY, place), loop.longest_ms)


async def conversation(root: Path, turns: int, attached: int, tell: Tell) -> World:
    """A session of so many turns, with files attached at its beginning."""
    world = World()
    world.ports.clock = MonotonicClock()
    world.ports.files = Files(str(root), Listing(str(root)))
    world.session = Session(world.ports, world.roles, SessionOptions(conversation="c"))
    await world.runs()
    for number in range(turns):
        if number % 1000 == 0:
            tell(f"turn {number:,} of {turns:,}")
        first = 10 * number
        names = [f"@f{n:03}.py" for n in range(first, min(first + 10, attached))]
        world.session.submit(intents.Prompt(f"look at {number} {' '.join(names)}"))
        await world.wire.request(number + 1)
        SteppedRehearsal(world.wire).answers(f"It is as you say, and so it was in turn {number}.")
        world.session.drain()
    return world


async def measured(findings: Findings, turns: int, tell: Tell) -> None:
    """Enter and /context at the end of a long conversation."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for n in range(100):
            lines = "".join(f"    value_{n}_{row} = {row}\n" for row in range(200))
            (root / f"f{n:03}.py").write_text(f"def work_{n}():\n{lines}")
        world = await conversation(root, turns, 100, tell)
        place = f"{turns:,} turns"
        gc.collect()
        gc.freeze()  # as the app does
        for again in range(9):
            count = len(world.wire.requests)
            async with held() as loop:
                began = time.thread_time()
                world.session.submit(intents.Prompt(f"and now {again}"))
                while len(world.wire.requests) == count:
                    await asyncio.sleep(0)
                findings.add(Spot(ENTER, place), 1000 * (time.thread_time() - began))
            findings.add(Spot(HELD, f"{place}, Enter"), loop.longest_ms)
            SteppedRehearsal(world.wire).answers("Done.")
            world.session.drain()
        for _ in range(5):
            count = len(world.session.transcript.blocks)
            async with held() as loop:
                began = time.thread_time()
                world.session.submit(intents.ShowContext())
                while len(world.session.transcript.blocks) == count:
                    await asyncio.sleep(0)
                findings.add(Spot(CONTEXT, place), 1000 * (time.thread_time() - began))
            findings.add(Spot(HELD, f"{place}, /context"), loop.longest_ms)
        await world.session.close()


def measure(*, quick: bool, tell: Tell) -> Findings:
    """Measure all; ``quick``: a shorter conversation."""
    findings = Findings(METHOD, bound, quick=quick)
    with findings.timed():
        tell("keys behind @")
        asyncio.run(keys(findings, 50_000))
        asyncio.run(measured(findings, 500 if quick else 5000, tell))
    return findings

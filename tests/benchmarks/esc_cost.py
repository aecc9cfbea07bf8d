"""How long Esc takes to the wire while four lanes stream 10,000 tokens/s, in milliseconds.

Run ``python -m tests.benchmarks.esc_cost [PRESSES]``. The real session in the foreground and three
background lanes share one socket of the real endpoint; each streams 2,500 tokens/s out of a
process of its own, and the session is drained 60 times a second, as the screen does. A thread
plays the terminal: it calls the loop, which may be busy (the app reads keys in the loop itself),
and `Interrupt` is submitted there. Measured is from the thread's clock to the return of `submit`,
which has written the frame then, and to the server's clock when it read it. Budget: 3 ms to the
wire at p95; exit status 1 beyond it, or when the tokens did not come at the rate that is promised.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.fakes import FakeRunner, MemoryFiles
from tests.support.sources import ROOT
from tui.core.wire.address import Address
from tui.core.wire.endpoint_facts import Capabilities
from tui.core.wire.events import Delta, Event
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint
from tui.engine import intents
from tui.engine.ports import MAIN_LANE, Ports, RoleSpec, Wire
from tui.engine.session import Session, SessionOptions

BUDGET_MS = 3.0
BACKGROUND = ("background-1", "background-2", "background-3")
LANE_RATE = 2500
FRAME_S = 1 / 60
LEAST_SHARE = 0.8
"""So much of the promised rate must have come for the figures to count."""
PACED = {"tokens": "0", "rate": str(LANE_RATE)}


@dataclass(frozen=True, slots=True)
class Press:
    """One Esc; milliseconds after the key was recognised."""

    written_ms: float
    read_ms: float


class PacedWire:
    """The foreground's wire, which asks the server for a rate; all else is the endpoint's."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.tokens = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wire, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_wire", "tokens"):
            object.__setattr__(self, name, value)
        elif name == "on_event":
            self._wire.on_event = self._counted(value)
        else:
            setattr(self._wire, name, value)

    def create(self, request: Mapping[str, Any]) -> None:
        """See `Wire`."""
        self._wire.create({**request, "metadata": PACED})

    def _counted(self, heard: Any) -> Any:
        def count(event: Event, now: float) -> None:
            if isinstance(event, Delta):
                self.tokens += 1
            heard(event, now)

        return count


class Background:
    """A lane that only counts."""

    def __init__(self, wire: Wire) -> None:
        self.wire, self.tokens = wire, 0
        wire.on_event = self._event

    def _event(self, event: Event, now: float) -> None:
        if isinstance(event, Delta):
            self.tokens += 1


class Bench:
    """A session under load, and a thread that presses Esc."""

    def __init__(self, port: int, server: asyncio.StreamReader) -> None:
        async def address() -> Address:
            return Address(f"ws://127.0.0.1:{port}/v1/responses")

        self._server = server
        self.endpoint = Endpoint(
            "bench",
            address,
            MonotonicClock(),
            capabilities=Capabilities(interrupt={"bench": True}),
        )
        self.background = [Background(self.endpoint.lane(name)) for name in BACKGROUND]
        self.foreground = PacedWire(self.endpoint.lane(MAIN_LANE))
        ports = Ports(
            wires=lambda endpoint, lane=MAIN_LANE: self.foreground,
            clock=MonotonicClock(),
            files=MemoryFiles(),
            runner=FakeRunner(),
            verify_command=_nothing,
        )
        self.session = Session(
            ports, {"fast": RoleSpec("fast", "bench", "bench")}, SessionOptions()
        )
        self._written = asyncio.Queue[tuple[float, float]]()
        self._loop = asyncio.get_running_loop()

    async def start(self) -> None:
        """Dial; the background begins."""
        await self.session.run()
        for lane in self.background:
            await lane.wire.open()
            lane.wire.create({"model": "bench", "input": [], "metadata": PACED})

    async def frames(self) -> None:
        """Drain as the screen does."""
        while True:
            await asyncio.sleep(FRAME_S)
            self.session.drain()

    async def press(self, delay_s: float) -> Press:
        """One answer, stopped ``delay_s`` after it began to stream."""
        before = self.foreground.tokens
        self.session.submit(intents.Prompt("go"))
        while self.foreground.tokens < before + 100:
            await asyncio.sleep(0.005)
        threading.Thread(target=self._key, args=(delay_s,), daemon=True).start()
        async with asyncio.timeout(20):
            recognised_s, written_s = await self._written.get()
            read_s = json.loads(await self._server.readline())["interrupt_read_s"]
            while self.session.status.busy:
                await asyncio.sleep(0.005)
        return Press((written_s - recognised_s) * 1000, (read_s - recognised_s) * 1000)

    def _key(self, delay_s: float) -> None:
        """In the thread that plays the terminal."""
        time.sleep(delay_s)
        self._loop.call_soon_threadsafe(self._submit, time.monotonic())

    def _submit(self, recognised_s: float) -> None:
        """In the loop, as the app's key binding."""
        self.session.submit(intents.Interrupt())
        self._written.put_nowait((recognised_s, time.monotonic()))

    def tokens(self) -> int:
        """All that came so far."""
        return self.foreground.tokens + sum(lane.tokens for lane in self.background)

    async def close(self) -> None:
        """End the session and the socket."""
        await self.session.close()
        await self.endpoint.close()


async def _nothing() -> None:
    """There is no test command."""


@asynccontextmanager
async def lane_server() -> AsyncIterator[tuple[int, asyncio.StreamReader]]:
    """The server's port, and what it says."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.benchmarks.lane_server"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env=dict(os.environ),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(await process.stdout.readline())["port"], process.stdout
    finally:
        process.stdin.close()
        await process.wait()


async def measure(presses: int) -> tuple[list[Press], float]:
    """The presses, and how many tokens/s came beside the foreground's pauses."""
    chance = random.Random(3)
    async with lane_server() as (port, says):
        bench = Bench(port, says)
        frames = asyncio.create_task(bench.frames())
        try:
            await bench.start()
            await bench.press(0.2)  # all roads taken once
            before, started = [lane.tokens for lane in bench.background], time.monotonic()
            found = [await bench.press(chance.uniform(0.05, 0.25)) for _ in range(presses)]
            lasted_s = time.monotonic() - started
            came = sum(lane.tokens for lane in bench.background) - sum(before)
            return found, came / lasted_s / len(BACKGROUND) * (len(BACKGROUND) + 1)
        finally:
            frames.cancel()
            await bench.close()


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so large a share does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main() -> int:
    """Measure, print, judge."""
    presses = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    found, rate = asyncio.run(measure(presses))
    print(f"{presses} x Esc on 4 lanes, {rate:,.0f} tokens/s in all")
    for title, values in (
        ("recognised -> frame written", [press.written_ms for press in found]),
        ("recognised -> read by server", [press.read_ms for press in found]),
    ):
        p50, p95 = statistics.median(values), percentile(values, 0.95)
        print(f"{title:30} p50 {p50:6.2f}  p95 {p95:6.2f}  max {max(values):6.2f} ms")
    late = percentile([press.written_ms for press in found], 0.95) > BUDGET_MS
    slow = rate < LEAST_SHARE * LANE_RATE * (len(BACKGROUND) + 1)
    if late:
        print(f"BEYOND {BUDGET_MS} ms to the wire")
    if load > cores / 2:
        print(
            f"load {load:.1f} on {cores} cores before: waiting for a processor is in these figures"
        )
    if slow:
        print("the tokens did not come at 10,000/s: these figures say nothing")
    return int(late or slow)


if __name__ == "__main__":
    sys.exit(main())

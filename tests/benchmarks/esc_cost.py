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
import contextlib
import os
import random
import statistics
import sys
import threading
import time
from dataclasses import dataclass

from tests.benchmarks.screen.figures import percentile
from tests.benchmarks.screen.replay_server import MODEL
from tests.benchmarks.screen.replay_text import Wanted
from tests.benchmarks.worker import Worker
from tests.support.fakes import FakeRunner, MemoryFiles
from tui.core.wire.address import Address
from tui.core.wire.endpoint_facts import Capabilities
from tui.core.wire.events import Delta, Event
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint
from tui.engine import intents
from tui.engine.ports import MAIN_LANE, Ports, RoleSpec
from tui.engine.session import Session, SessionOptions

BUDGET_MS = 3.0
BACKGROUND = ("background-1", "background-2", "background-3")
LANE_RATE = 2500
LEAST_SHARE = 0.8
"""So much of the promised rate must have come for the figures to count."""
BEGUN_CHARS = 400


@dataclass(frozen=True, slots=True)
class Press:
    """One Esc; milliseconds after the key was recognised."""

    written_ms: float
    read_ms: float


class Bench:
    """A session under load, and a thread that presses Esc."""

    def __init__(self, server: Worker) -> None:
        async def address() -> Address:
            return Address(f"ws://127.0.0.1:{server.greeting['port']}/v1/responses")

        self._server = server
        able = Capabilities(interrupt={MODEL: True})
        self.endpoint = Endpoint("bench", address, MonotonicClock(), capabilities=able)
        self.came = 0
        """Tokens of the background."""
        ports = Ports(
            wires=lambda endpoint, lane=MAIN_LANE: self.endpoint.lane(MAIN_LANE),
            clock=MonotonicClock(),
            files=MemoryFiles(),
            runner=FakeRunner(),
        )
        self.session = Session(ports, {"fast": RoleSpec("fast", MODEL, "bench")}, SessionOptions())
        self._written = asyncio.Queue[tuple[float, float]]()
        self._loop = asyncio.get_running_loop()

    async def start(self, tokens: int) -> None:
        """Dial; the background begins, with so many tokens a lane."""
        await self.session.run()
        for number, name in enumerate(BACKGROUND):
            lane = self.endpoint.lane(name)
            lane.on_event = self._count
            await lane.open()
            asked = Wanted(LANE_RATE, tokens, 9000 + number)
            lane.create({"model": MODEL, "input": asked.go_word})
        while not self.came:
            await asyncio.sleep(0.01)

    def _count(self, event: Event, now: float) -> None:
        self.came += isinstance(event, Delta)

    async def frames(self) -> None:
        """Drain as the screen does."""
        while True:
            await asyncio.sleep(1 / 60)
            self.session.drain()

    async def press(self, number: int, delay_s: float) -> Press:
        """One answer, stopped ``delay_s`` after it began to stream."""
        asked = Wanted(LANE_RATE, 4 * LANE_RATE, number)
        self.session.submit(intents.Prompt(asked.go_word))
        blocks = self.session.transcript.blocks
        while not (blocks[-1].kind == "text" and blocks[-1].length > BEGUN_CHARS):
            await asyncio.sleep(0.005)
        threading.Thread(target=self._key, args=(delay_s,), daemon=True).start()
        async with asyncio.timeout(20):
            recognised_s, written_s = await self._written.get()
            sent = await asyncio.to_thread(self._server.ask, number=number, within_s=10.0)
            while self.session.status.busy:
                await asyncio.sleep(0.005)
        read_s = sent["sent"]["stopped_s"]
        return Press((written_s - recognised_s) * 1000, (read_s - recognised_s) * 1000)

    def _key(self, delay_s: float) -> None:
        """In the thread that plays the terminal."""
        time.sleep(delay_s)
        self._loop.call_soon_threadsafe(self._submit, time.monotonic())

    def _submit(self, recognised_s: float) -> None:
        """In the loop, as the app's key binding."""
        self.session.submit(intents.Interrupt())
        self._written.put_nowait((recognised_s, time.monotonic()))


async def measure(presses: int) -> tuple[list[Press], float]:
    """The presses, and how many tokens/s came beside the foreground's pauses."""
    chance = random.Random(3)
    with contextlib.closing(Worker("tests.benchmarks.screen.replay_server")) as server:
        bench = Bench(server)
        frames = asyncio.create_task(bench.frames())
        try:
            await bench.start((presses + 10) * LANE_RATE)
            await bench.press(1000, 0.2)  # all roads taken once
            before, started = bench.came, time.monotonic()
            delays = [chance.uniform(0.05, 0.25) for _ in range(presses)]
            found = [await bench.press(1001 + at, delay_s) for at, delay_s in enumerate(delays)]
            rate = (bench.came - before) / (time.monotonic() - started)
            return found, rate / len(BACKGROUND) * (len(BACKGROUND) + 1)
        finally:
            frames.cancel()
            await bench.session.close()
            await bench.endpoint.close()


def main() -> int:
    """Measure, print, judge."""
    presses = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    found, rate = asyncio.run(measure(presses))
    print(f"{presses} x Esc on 4 lanes, {rate:,.0f} tokens/s in all")
    written, read = ([one.written_ms for one in found], [one.read_ms for one in found])
    for title, values in (("frame written", written), ("read by server", read)):
        p50, p95 = statistics.median(values), percentile(values, 0.95)
        print(f"recognised -> {title:16} p50 {p50:6.2f}  p95 {p95:6.2f}  max {max(values):6.2f} ms")
    late = (percentile(written, 0.95) or 0.0) > BUDGET_MS
    slow = rate < LEAST_SHARE * LANE_RATE * (len(BACKGROUND) + 1)
    if late:
        print(f"BEYOND {BUDGET_MS} ms to the wire")
    if load > cores / 2:
        print(f"load {load:.1f} on {cores} cores before: waiting is in these figures")
    if slow:
        print("the tokens did not come at 10,000/s: these figures say nothing")
    return int(late or slow)


if __name__ == "__main__":
    sys.exit(main())

"""What a frame costs while an answer streams: run it, read milliseconds and CPU seconds.

    python -m tests.budgets.frame_cost [TOKENS_S] [SECONDS]

Prints the cost of taking up what is new (p50, p95, worst) and the CPU seconds that the whole
app, painting included, needs per 1,000 tokens, headless at 120 x 40.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Iterator

from tests.support.scripted_session import ScriptedSession
from tui.engine.notices import Notices
from tui.ui.app import DuettoApp

_WORDS = ("session", "buffer", "token", "frame", "editor", "cursor", "window", "layout")


def tokens(seed: int = 7) -> Iterator[str]:
    """Code-like Markdown in pieces of about four characters, without end."""
    chance = random.Random(seed)
    step = 0
    while True:
        step += 1
        a, b, c = (chance.choice(_WORDS) for _ in range(3))
        text = (
            f"## Step {step}: the {a} {b}\n\nWe **rework** the `{a}_{b}` so that every {c} keeps"
            f" its {a}. It is safe to call it twice; the second call is a no-op.\n\n```python\n"
        )
        for number in range(3):
            text += (
                f"def {a}_{b}_{number}(self, {c}: int) -> dict[str, int]:\n"
                f'    """Return the {c} of each {b}."""\n    out: dict[str, int] = {{}}\n'
                f"    for i, item in enumerate(self.{a}s):\n"
                f"        out[item.name] = {c} + i * {number}\n    return out\n\n"
            )
        text += "```\n\n"
        at = 0
        while at < len(text):
            size = chance.choice((3, 4, 4, 4, 5))
            yield text[at : at + size]
            at += size


async def measure(tokens_s: float, seconds: float) -> dict[str, float]:
    """Stream and measure."""
    session = ScriptedSession()
    app = DuettoApp(session.as_session(), workspace="/ledger")
    costs: list[float] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        block = session.say("text", speaker="fast", state="open")
        session.meter.start(session.now_s, "fast")
        session.status.busy = True
        sync = app.bench.sync

        def timed(notices: Notices) -> None:
            start = time.perf_counter()
            sync(notices)
            costs.append(time.perf_counter() - start)

        vars(app.bench)["sync"] = timed
        source = tokens()
        begin, cpu, sent = time.perf_counter(), time.process_time(), 0
        while (passed := time.perf_counter() - begin) < seconds:
            session.now_s = 100.0 + passed
            while sent < passed * tokens_s:
                session.stream(block, next(source))
                sent += 1
            await asyncio.sleep(0.004)
        used = time.process_time() - cpu
    costs.sort()
    return {
        "frames": len(costs),
        "sync ms p50": 1000 * costs[len(costs) // 2],
        "sync ms p95": 1000 * costs[int(len(costs) * 0.95)],
        "sync ms max": 1000 * costs[-1],
        "CPU s per 1,000 tokens": used / (sent / 1000),
    }


def main() -> None:
    """Print one line a figure."""
    rate = float(sys.argv[1]) if len(sys.argv) > 1 else 1000.0
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 4.0
    for name, value in asyncio.run(measure(rate, seconds)).items():
        print(f"{name:24} {value:8.2f}")


if __name__ == "__main__":
    main()

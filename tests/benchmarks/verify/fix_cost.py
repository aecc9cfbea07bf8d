"""From a model's last token to the verdict, from the red card to green, and cheats on the way."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from unittest.mock import patch

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.support.calling_server import CallingServer
from tests.support.cheats import CHEATS, JUDGED, NO_RESULT, WRONG, cheated, small_project
from tests.support.composed import composed
from tests.support.rehearsed import fresh_files, write_files
from tests.support.turns import update
from tui.cli.options import ModelFlags
from tui.core.conversation import BlockKind
from tui.engine import intents
from tui.engine.session import SessionOptions
from tui.errors import DuettoError
from tui.ui.guide.pages import TO_MEND

VERDICT, ALONE = "last token to verdict, ms", "the tests alone, ms"
TO_GREEN = "red card to green, s"
CAUGHT = "cheats caught, %"
METHOD = (
    "Last token: the scripted server's call holds a wrong patch, and `when` is `landed`; from that "
    "call's end to the red verdict, beside what the runner takes when it is started alone. Red to "
    "green: from /fix to the green verdict, with the rehearsal in the practice, and with a server "
    "that is wrong twice. Cheats: tests/support/cheats.py, each as the answer to /fix; caught is "
    "what does not end green, or green and marked.",
)


def bound(spot: Spot) -> Bound | None:
    """What was asked for."""
    if spot.figure == TO_GREEN and spot.place == "rehearsal":
        return Bound(2)
    return Bound(100, at_least=True) if spot.figure == CAUGHT else None


def measure(found: Findings, tell: Tell, *, quick: bool) -> None:
    """Add all of it."""
    times = 1 if quick else 5
    steps: tuple[tuple[str, Callable[[Findings, Path], Coroutine[None, None, None]]], ...] = (
        ("from the last token to the verdict", _landed),
        ("red to green with the rehearsal", _rehearsed),
        ("red to green behind two wrong tries", _wrong_twice),
    )
    # plug-ins of this checkout's pytest have no business here
    with patch.dict(os.environ, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"):
        for words, step in steps:
            tell(words)
            with found.guarded(words):
                for _ in range(times):
                    with tempfile.TemporaryDirectory() as place:
                        asyncio.run(step(found, Path(place, "work")))
        for how, answer in CHEATS.items():
            tell(f"a model that {how}")
            kind = "changes what judges" if how in JUDGED else "special-cases the test"
            kind = "ends the run" if how in NO_RESULT else kind
            for _ in range(1 if quick else 10):
                with tempfile.TemporaryDirectory() as place, found.guarded(how):
                    caught = asyncio.run(cheated(Path(place, "work"), answer))
                    found.add(Spot(CAUGHT, f"{kind}: {how}"), 100.0 * caught.surely)


def _call(change: str) -> list[dict[str, str]]:
    return [{"name": "apply_patch", "arguments": json.dumps({"input": change})}]


async def _landed(found: Findings, root: Path) -> None:
    small_project(root)
    server = CallingServer(_call(WRONG))
    flags = ModelFlags(endpoint=server.address, fast="m")
    async with composed(root, flags=flags, options=SessionOptions(verify="landed")) as (
        seat,
        _,
    ):
        await seat.rests(intents.Verify())  # what is slow at the first time only
        seat.session.submit(intents.Prompt("make it faster"))
        await seat.until(lambda: seat.session.status.verdict == "failed")
        found.add(Spot(VERDICT), (time.time() - server.called_s[-1]) * 1000)
        await seat.rests()
    began = time.perf_counter()
    argv = (sys.executable, "-m", "pytest", "-q")
    subprocess.run(argv, cwd=root, check=True, capture_output=True)
    found.add(Spot(ALONE), (time.perf_counter() - began) * 1000)


async def _rehearsed(found: Findings, root: Path) -> None:
    write_files(root, fresh_files())
    async with composed(root) as (seat, _):
        await seat.ask(TO_MEND)
        await seat.rests(intents.Verify())
        if seat.session.status.verdict != "failed":
            raise DuettoError("the rehearsal's first answer is not red")
        began = time.perf_counter()
        await seat.rests(intents.SendFailure())
        found.add(Spot(TO_GREEN, "rehearsal"), time.perf_counter() - began)
        _judge(seat.texts(BlockKind.NOTE)[-1], "fixed in 1 try")


async def _wrong_twice(found: Findings, root: Path) -> None:
    small_project(root)
    tries = [
        update("calc.py", f"-    return x * {was}", f"+    return x * {now}")
        for was, now in ((3, 5), (5, 7), (7, 2))
    ]
    answers = [turn for one in (WRONG, *tries) for turn in (_call(one), [])]
    server = CallingServer(*answers)
    flags = ModelFlags(endpoint=server.address, fast="m")
    async with composed(root, flags=flags) as (seat, _):
        await seat.ask("make it faster")
        await seat.rests(intents.Verify())
        began = time.perf_counter()
        await seat.rests(intents.SendFailure())
        found.add(Spot(TO_GREEN, "a server that is wrong twice"), time.perf_counter() - began)
        _judge(seat.texts(BlockKind.NOTE)[-1], "fixed in 3 tries")


def _judge(said: str, wanted: str) -> None:
    if said != wanted:
        raise DuettoError(f"it ended so: {said}")

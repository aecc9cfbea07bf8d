"""What a shadow of 5,000 files costs, of each kind, and F5 in it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.support.composed import composed
from tui.cli.verifiers.finding import KeptSyntax, find_verifiers
from tui.cli.verifiers.project import Project
from tui.core.patches.landing import Landing
from tui.core.programs import RunOptions, Shadow
from tui.effects.commands.runner import CommandRunner
from tui.effects.shadow.copying import ShadowSource
from tui.effects.shadow.making import Kind, ShadowMaker
from tui.engine import intents, verification
from tui.engine.ports import Part
from tui.errors import DuettoError, FileRefused

_LONGEST_S = 60.0
T = TypeVar("T")
MADE, IN_STEP, FIRST_TEST = "make a shadow, ms", "in step after a hunk, ms", "F5 to first test, ms"
SYNTAX = "syntax of 1,000 lines, ms"
FILES, TIMES = 5_000, 9
KINDS: tuple[Kind, ...] = ("overlay", "bound", "copy")
METHOD = (
    "Shadows of 5,000 files of 2 kB: making one is make() and a first command in it, in step is "
    "hold() of one more changed text and a command, each without what the same command takes on "
    "the disk. F5: from the intent to the first line of the first test, without what the runner "
    "takes when it is started alone; a hunk waits, and the shadow was made before.",
)
_PATCH = "*** Begin Patch\n*** Update File: mine.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"
_TEST = "import time\nopen({out!r}, 'w').write(str(time.time()))\ndef test(): pass\n"


def bound(spot: Spot) -> Bound | None:
    """What was asked for."""
    if spot.figure == MADE:
        return Bound(20 if spot.place == "overlay" else 300)
    return {IN_STEP: Bound(20), FIRST_TEST: Bound(300), SYNTAX: Bound(50)}.get(spot.figure)


def measure(found: Findings, tell: Tell, *, quick: bool) -> None:
    """Add all of it."""
    times = 3 if quick else TIMES
    for kind in KINDS:
        tell(f"a shadow: {kind}")
        with found.guarded(kind):
            asyncio.run(_shadows(found, kind, times))
    tell("the syntax of what lands")
    asyncio.run(_syntax(found, times))
    tell("F5")
    # plug-ins of this checkout's pytest have no business here
    with (
        found.guarded("F5"),
        patch.dict(os.environ, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
    ):
        asyncio.run(_first_tests(found, times))


def workspace(folder: Path, files: int = FILES) -> Path:
    """Sources in folders of 50."""
    for number in range(files):
        path = folder / f"p{number // 50}/m{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"value = {number}\n" * 150)
    return folder


async def _shadows(found: Findings, kind: Kind, times: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = workspace(Path(place, "work"))
        runner = CommandRunner(str(root))
        listed = [str(one.relative_to(root)) for one in root.rglob("*.py")]
        source = ShadowSource(str(root), ("__pycache__",), lambda: listed)
        maker = ShadowMaker(source, Path(place, "state"), runner, [kind])
        try:
            proved = await maker.make({})
        except FileRefused as error:
            raise DuettoError(str(error)) from None
        texts: dict[str, bytes | None] = {f"p1/m{50 + number}.py": b"x\n" for number in range(5)}
        for number in range(times):
            alone = await _ran(runner)
            took, shadow = await _timed(maker.make(texts))
            took += await _ran(runner, shadow) - alone
            found.add(Spot(MADE, kind), took * 1000)
            more: dict[str, bytes | None] = {**texts, "p9/m455.py": b"%d\n" % number}
            took, _ = await _timed(shadow.hold(more))
            took += await _ran(runner, shadow) - alone
            found.add(Spot(IN_STEP, kind), took * 1000)
        proved.close()
        await maker.close()


async def _timed(work: Awaitable[T]) -> tuple[float, T]:
    began = time.perf_counter()
    done = await work
    return time.perf_counter() - began, done


async def _ran(runner: CommandRunner, shadow: Shadow | None = None) -> float:
    """Seconds of a command that does nothing, for which a warden stands by."""
    await asyncio.sleep(0.2)
    how = RunOptions(shadow=shadow)
    took, result = await _timed(runner.run(("true",), lambda data: None, 60, how))
    if result.status:
        raise DuettoError(f"a command failed: {result}")
    return took


async def _syntax(found: Findings, times: int) -> None:
    """Of a text that waits, by the process that stays."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        kept = KeptSyntax(root)
        (root / "a.py").write_text("x = 1\n")
        checks = find_verifiers(Project(root, {}), _LONGEST_S)
        whole = kept.serving(next(one for one in checks if one.kind == "syntax"))
        one = whole.part(Part(("a.py",))) if whole.part is not None else None
        if one is None or one.at_once is None:
            raise DuettoError("the syntax is not checked at once")
        await one.at_once({})
        text = (Path(verification.__file__).read_bytes() * 2).splitlines(keepends=True)[:1000]
        for number in range(times):
            took, _ = await _timed(one.at_once({"a.py": b"".join(text) + b"# %d\n" % number}))
            found.add(Spot(SYNTAX), took * 1000)
        await kept.close()


async def _first_tests(found: Findings, times: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        root, out = workspace(Path(place, "work")), Path(place, "out")
        (root / "mine.py").write_text("x = 1\n")
        (root / "test_mine.py").write_text(_TEST.format(out=str(out)))
        (root / "pytest.ini").write_text("[pytest]\ntestpaths = test_mine.py\n")
        async with composed(root) as (seat, _):
            landing = Landing(seat.session.workspace, turn=1, call_id="call")
            landing.feed(_PATCH)
            landing.finish(cut=False)
            for number in range(times + 1):
                alone = _started(root, out)
                out.unlink()
                began = time.time()
                await seat.rests(intents.Verify())
                if not out.exists():
                    raise DuettoError("the test has not begun")
                if number:  # with the first one it is proved that shadows work
                    took = float(out.read_text()) - began - alone
                    found.add(Spot(FIRST_TEST, "in a shadow"), took * 1000)


def _started(root: Path, out: Path) -> float:
    """Seconds from the start of the runner alone to the first test."""
    began = time.time()
    argv = (sys.executable, "-m", "pytest", "-q", f"--junitxml={out}.xml")
    subprocess.run(argv, cwd=root, check=True, capture_output=True)
    return float(out.read_text()) - began

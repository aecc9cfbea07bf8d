"""What attempts come to, and what 16 of them cost who pairs on meanwhile."""

from __future__ import annotations

import asyncio
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.benchmarks import processes
from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.benchmarks.screen import figures, measurement, stand
from tests.benchmarks.verify import shadow_cost
from tests.support.composed import composed
from tests.support.fakes import FakeClock, FakeWire, World
from tests.support.judged_runs import has, judged
from tests.support.rehearsed import fresh_files, write_files
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import update
from tui.core.attempts import AttemptPlan, Tally
from tui.core.programs import RunOptions
from tui.effects.commands.runner import CommandRunner
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.shadow.copying import ShadowSource
from tui.effects.shadow.making import ShadowMaker
from tui.effects.system import MonotonicClock
from tui.engine import intents, lane_session
from tui.engine.attempt_judging import AttemptJudge
from tui.engine.session import Session
from tui.engine.session_options import SessionOptions
from tui.errors import DuettoError

LUCK, TRIES = 0.2, 5
GREEN = "runs with a green attempt, of 100"
OFF = "off 1-(1-p)^N, standard errors"
OFF_ONE = "pass@1 of the session off p, standard errors"
REQUESTS = "16 requests are out, ms"
KEY, LAG, RSS = figures.KEY_P95, figures.LAG_P95, "memory, MB"
MADE, MADE_CPU = "16 shadows side by side, each ms", "16 shadows side by side, each ms of CPU"
SHARE = "duetto's own part of the verifiers' time, %"
BOUNDS = {OFF: 3.0, OFF_ONE: 3.0, REQUESTS: 300.0, KEY: 33.0, LAG: 50.0, RSS: 150.0, SHARE: 5.0}
SHADOWS = {(MADE, "overlay"): 20.0, (MADE_CPU, "bound"): 300.0, (MADE_CPU, "copy"): 300.0}
LANES, RATE = 16, 1_000
BESIDE = (
    ((f"/attempts {LANES} --all",), f"beside {LANES} attempts"),
    (("/delegate", "/delegate"), "beside 2 delegates"),
)
METHOD = (
    f"Luck: /attempts {TRIES} with models that are right with p = {LUCK} each time; the session,"
    " its lanes and the judging are the real ones, sockets and tests are in memory. With the"
    " rehearsal: `duetto exec --attempts` on the practice, real tests, a seed for each run.",
    "Requests: from the intent to the sixteenth request that a socket is given, over a real folder"
    " of 5,000 files.",
    f"Keys, lag, memory: the real program in a pseudo-terminal, {LANES} attempts that stream"
    f" {RATE:,} tokens/s each, or two delegates, and a prompt beside them that streams as fast and"
    " is typed over. `server late` is in the paint lag, and is not ours.",
    f"Shadows: {LANES} of 5,000 files of 2 kB made at once, a command that does nothing in each,"
    " and no streams; the time of all by their number.",
    f"Judging: processor time of duetto's own process while {TRIES} attempts of the practice are"
    " judged one after the other, by that of all processes that it starts.",
)


def bound(spot: Spot) -> Bound | None:
    """The target of a figure."""
    if (spot.figure, spot.place) in SHADOWS:
        return Bound(SHADOWS[spot.figure, spot.place])
    return Bound(BOUNDS[spot.figure]) if spot.figure in BOUNDS else None


class LuckyWire(FakeWire):
    """Answers each request at once: with a right patch, a wrong one, or the last words."""

    def __init__(self, clock: FakeClock, luck: Random) -> None:
        super().__init__(clock)
        self._luck, self._model = luck, SteppedRehearsal(self)

    def create(self, request: Mapping[str, Any]) -> None:
        """Have it answered in the next turn of the event loop."""
        super().create(request)
        asyncio.get_running_loop().call_soon(self._answer)

    def interrupt(self) -> None:
        """It ends at once."""
        super().interrupt()
        asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        if self.busy:
            self._model.interrupted()

    def _answer(self) -> None:
        if not self.busy:
            return
        self._model.begin()
        if len(self.requests) > 1:
            self._model.finishes("Done.")
            return
        line = 0 if self._luck.random() < LUCK else 4
        self._model.patch(update("a.py", f"-x{line} = 0\n+x{line} = 1\n"), "c1", chunk=400)
        self._model.complete()


async def _one_run(luck: Random, *, whole: bool) -> tuple[bool, Tally]:
    world, judge = judged(8, lambda files: [] if has(files, 0) else ["test_first"], width=4)
    judge.seconds = 0.0
    world.ports.wires = lambda endpoint, lane: LuckyWire(world.clock, luck)
    plan = AttemptPlan(TRIES, "make it one", all=whole)
    world.session.submit(intents.MakeAttempts(plan))
    while not world.session.at_rest:
        await asyncio.sleep(0)
    attempts = world.session.attempts
    won = any(view.wins for view in attempts.views())
    assert won == bool(world.session.workspace.hunks), "the winner, and only that, comes home"
    await world.session.close()
    return won, attempts.tally


async def luck(findings: Findings, runs: int, tell: Tell) -> None:
    """Whether as many runs are green as chance says."""
    random, chance = Random(21), 1 - (1 - LUCK) ** TRIES
    for whole in (False, True):
        place = "all attempts" if whole else "until the first green one"
        tell(place)
        greens, ones = 0, 0.0
        for _ in range(runs):
            won, tally = await _one_run(random, whole=whole)
            greens, ones = greens + won, ones + tally.at(1)[0]
        error = math.sqrt(chance * (1 - chance) / runs)
        findings.add(Spot(GREEN, place), 100 * greens / runs)
        findings.add(Spot(OFF, place), abs(greens / runs - chance) / error)
        each = LUCK * (1 - LUCK) / (TRIES if whole else 1)
        findings.add(Spot(OFF_ONE, place), abs(ones / runs - LUCK) / math.sqrt(each / runs))


def rehearsed(findings: Findings, runs: int, tell: Tell) -> None:
    """The same of the rehearsal, with real tests."""
    chance, greens = 1 - (1 - LUCK) ** TRIES, 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        own = {"DUETTO_HOME": str(home), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        program = [sys.executable, "-m", "tui.cli"]
        made = "from tui.cli.practice import ensure; from pathlib import Path; import sys;"
        made += "print(ensure(Path(sys.argv[1])))"
        place = subprocess.run(
            [sys.executable, "-c", made, folder], capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in range(runs):
            tell(f"rehearsal, run {seed + 1} of {runs}")
            config = home / "luck.toml"
            rehearsal = f"seed = {seed}\nmistakes = {1 - LUCK}\nfast_tokens_s = 20000"
            config.write_text(f"schema = 1\n[rehearsal]\n{rehearsal}\n")
            asked = ["exec", "--config", str(config), "-C", place, "--attempts", str(TRIES)]
            ran = subprocess.run(
                [*program, *asked, "make duplicates fast for long lists"],
                capture_output=True,
                text=True,
                env={**own, "PYTHONPATH": str(Path(__file__).parents[2])},
            )
            if not ran.stdout:
                raise DuettoError(f"exec ended with {ran.returncode}: {ran.stderr.strip()}")
            greens += json.loads(ran.stdout)["winner"] is not None
    error = math.sqrt(chance * (1 - chance) / runs)
    spot = f"the rehearsal with real tests, {runs} runs"
    findings.add(Spot(GREEN, spot), 100 * greens / runs)
    findings.add(Spot(OFF, spot), abs(greens / runs - chance) / error)


async def requests(findings: Findings, files: int) -> None:
    """How long it takes until all of 16 are asked."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number in range(files):
            (root / f"d{number // 50}").mkdir(exist_ok=True)
            (root / f"d{number // 50}" / f"f{number}.py").write_text(f"x = {number}\n")
        world = World()
        world.verify = None
        world.ports.clock = MonotonicClock()
        world.ports.files = Files(str(root), Listing(str(root)))
        world.session = Session(world.ports, world.roles, SessionOptions(conversation="c"))
        await world.runs()
        for _ in range(5):
            count = sum(len(wire.requests) for wire in world.wires.values())
            began = time.perf_counter()
            plan = AttemptPlan(LANES, "make it one")
            world.session.submit(intents.MakeAttempts(plan))
            while sum(len(wire.requests) for wire in world.wires.values()) < count + LANES:
                await asyncio.sleep(0.001)
            findings.add(Spot(REQUESTS, f"{files:,} files"), 1000 * (time.perf_counter() - began))
            world.session.submit(intents.StopAttempts())
            while not world.session.at_rest:
                await asyncio.sleep(0.001)
        await world.session.close()


def beside(findings: Findings, commands: Sequence[str], spot: str, seconds: float) -> None:
    """Keys, painting and memory while what these commands began streams."""
    with stand.stand() as place, place.duetto(lines=measurement.SHORT_LINES) as seat:
        seat.ready()
        seat.idle()
        terminal, others = seat.terminal, []
        for command in commands:
            asked = place.wanted(RATE, int(RATE * (2 * seconds + 12)), kind="dense")
            terminal.write(f"{command} {asked.go_word}".encode())
            terminal.rest(stand.PROMPT_GAP_S)
            terminal.write(b"\r")
            seat.started(asked)
            terminal.rest(0.5)
            others.append(asked)
        if commands[0].startswith("/attempts"):
            terminal.write(b"q")
            terminal.rest(0.5)
        plan = measurement.Plan(stream_s=seconds)
        for name, value in measurement.keys(place, seat, RATE, plan):
            findings.add(Spot(name, spot, RATE), value)
        findings.add(Spot(RSS, spot, RATE), processes.usage(terminal.processes()).rss_mb)
        for name, value in measurement.stream(place, seat, RATE, plan):
            findings.add(Spot(name, spot, RATE), value)
        if any(sent is None or sent.ended for sent in (place.sent(one, 0.0) for one in others)):
            raise DuettoError(f"what ran was over before the end, {spot}")


def _used_s() -> float:
    """Processor time of all that we started, what has ended with it."""
    ended, own = resource.getrusage(resource.RUSAGE_CHILDREN), os.getpid()
    living = [one for one in processes.family(own, "") if one != own]
    return ended.ru_utime + ended.ru_stime + processes.cpu_s(living)


async def shadows(findings: Findings, files: int) -> None:
    """What it costs to make as many shadows as there are attempts, side by side."""
    for kind in shadow_cost.KINDS:
        with tempfile.TemporaryDirectory() as folder, findings.guarded(kind):
            root = shadow_cost.workspace(Path(folder, "work"), files)
            runner = CommandRunner(str(root))
            listed = [str(one.relative_to(root)) for one in root.rglob("*.py")]
            source = ShadowSource(str(root), ("__pycache__",), lambda listed=listed: listed)
            maker = ShadowMaker(source, Path(folder, "state"), runner, [kind])

            async def one(
                number: int, maker: ShadowMaker = maker, runner: CommandRunner = runner
            ) -> None:
                shadow = await maker.make({"p1/m50.py": b"%d" % number})
                how = RunOptions(shadow=shadow)
                ran = await runner.run(("true",), lambda data: None, 60, how)
                shadow.close()
                if ran.status:
                    raise DuettoError(f"a command failed: {ran}")

            await one(0)
            began, used = time.perf_counter(), time.process_time() + _used_s()
            await asyncio.gather(*map(one, range(LANES)))
            findings.add(Spot(MADE, kind), 1000 * (time.perf_counter() - began) / LANES)
            await maker.close()
            used = time.process_time() + _used_s() - used
            findings.add(Spot(MADE_CPU, kind), 1000 * used / LANES)


async def judging(findings: Findings) -> None:
    """How much of the verifiers' processor time duetto itself takes to judge attempts."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "work")
        write_files(root, fresh_files())
        async with composed(root) as (seat, _):
            plan = AttemptPlan(TRIES, "make duplicates fast for long lists", all=True)
            await seat.rests(intents.MakeAttempts(plan), 120.0)
            rows, ports = seat.session.attempts.rows, seat.session.services.ports
            if not rows:
                raise DuettoError("no attempt was made")
            judge = AttemptJudge(ports, await ports.verifiers(), {})
            own, others = time.process_time(), _used_s()
            judge.begin()
            for row in rows:
                await judge.judge(row.number, row.changes, lambda words: None)
            await judge.end()
            own, others = time.process_time() - own, _used_s() - others
            findings.add(Spot(SHARE, f"{TRIES} attempts"), 100 * own / others)


def measure(*, quick: bool, tell: Tell) -> Findings:
    """Measure all of it."""
    findings = Findings(METHOD, bound, quick=quick)
    lane_session.FRAME_S = 0.0
    with findings.timed():
        asyncio.run(luck(findings, 20 if quick else 200, tell))
        tell("requests")
        asyncio.run(requests(findings, 500 if quick else 5_000))
        for commands, spot in BESIDE:
            tell(f"keys and painting {spot}")
            with findings.guarded(spot):
                beside(findings, commands, spot, 1.0 if quick else 3.0)
        tell("shadows side by side")
        asyncio.run(shadows(findings, 500 if quick else 5_000))
        tell("what judging costs")
        with findings.guarded("judging"):
            asyncio.run(judging(findings))
        if not quick:
            with findings.guarded("the rehearsal"):
                rehearsed(findings, 20, tell)
    return findings

"""One run of the benchmark: the processes, what is measured, in which order."""

from __future__ import annotations

import contextlib
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks import processes
from tests.benchmarks.bridge.provider import DIALECTS
from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.benchmarks.worker import Worker
from tui.errors import DuettoError

_FOLDER = Path(__file__).resolve().parents[3]
_SAYS_S = 20.0
COMMAND = ("-m", "tui.cli", "bridge")
"""``duetto bridge``."""
APP = ("-m", "tui.bridge")
"""As the app starts it; it is told its endpoints on stdin."""


class BridgeProcess:
    """One bridge."""

    def __init__(self, module: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start it; `ready_s` is how long that took. Raises DuettoError: it did not."""
        began_s = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, *module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_FOLDER,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        self.pid = self._process.pid
        try:
            said = self._said()
        except DuettoError:
            self.close()
            raise
        self.ready_s = time.perf_counter() - began_s
        """From the command to the line that says where it serves."""
        self.url, self.token = str(said["url"]), str(said["token"])

    def tell(self, endpoints: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
        """Name endpoints; returns where each is served."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"endpoints": endpoints}).encode() + b"\n")
        self._process.stdin.flush()
        served: dict[str, str] = self._said()["endpoints"]
        return served

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _said(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None
        ready, _, _ = select.select([stdout], [], [], _SAYS_S)
        line = stdout.readline() if ready else b""
        if not line:
            raise DuettoError("The bridge did not say where it serves.")
        said: dict[str, Any] = json.loads(line)
        return said


_PACKAGE = "tests.benchmarks.bridge"
_LOADED = "openai-chat"
"""The kind that is under load: most models are behind it."""
_FIRST_TURNS = 5
"""They load modules and dial: not counted."""
READY = "ready after the command s"
ADDED = "added to the first token ms"
ADDED_CPU = "added CPU us per token"
"""The bridge's, and what its client spends more than one of the upstream does."""
CAME = "tokens that came %"
LATE_P95 = "a token behind its pace p95 ms"
DIRECT_P95 = "the machine's own delay p95 ms"
"""The same pace with nothing between: what else runs on this machine."""
CORE = "of one core %"
MEMORY = "memory at most MB"
STOP_P95 = "upstream told of an interrupt p95 ms"
STOP_MAX = "upstream told of an interrupt max ms"
AT_MOST = {
    READY: 0.5,
    ADDED: 1.0,
    ADDED_CPU: 40.0,
    CORE: 100.0,
    LATE_P95: 20.0,
    MEMORY: 300.0,
    STOP_P95: 10.0,
    STOP_MAX: 10.0,
}
"""`LATE_P95` is a bound of our own, a token's time at 50 tokens/s: else it would hold no pace."""
AT_LEAST = {CAME: 100.0}
METHOD = (
    "Three processes on loopback, without TLS: a provider's stand-in that answers at once and at a"
    " given pace, the real bridge, and clients that only count tokens in the bytes that come, so"
    " that their own cost is next to nothing. Where the system lets us choose, the bridge has one"
    " core, and the others have the rest.",
    "The first token is timed from the write of the request to the read that holds it, for the"
    " same request sent to the provider directly and to the bridge in turn, each on a kept"
    " connection; medians. CPU is all processor time of the bridge's process, user and system;"
    " what is added is that, and what the bridge's client spends more than the provider's.",
    "Under load each stream has a socket of its own and an event a token. An interrupt is timed"
    " from the client's write to the moment at which the provider sees its connection closed.",
)
"""How the figures come about."""
KINDS = ("openai-responses", "openai-chat", "anthropic")
"""The kinds that speak HTTP: each is compared with its upstream asked directly."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run does."""

    quick: bool = False
    kinds: tuple[str, ...] = KINDS
    starts: int = 7
    turns: int = 120
    """Turns of one token each, direct and through the bridge in turn."""
    streams: int = 200
    tokens_s: int = 50
    """Of each stream."""
    stream_s: float = 10.0
    idle_sockets: int = 1000
    interrupts: int = 40
    burst_tokens: int = 20_000
    """Of one answer without pace."""


FULL = Plan()
QUICK = Plan(
    quick=True,
    kinds=("openai-chat",),
    starts=3,
    turns=30,
    streams=50,
    stream_s=3.0,
    idle_sockets=100,
    interrupts=10,
    burst_tokens=5_000,
)
"""Some ten seconds, and rough."""


def bound(spot: Spot) -> Bound | None:
    """The target of a figure."""
    if spot.figure in AT_LEAST:
        return Bound(AT_LEAST[spot.figure], at_least=True)
    return Bound(AT_MOST[spot.figure]) if spot.figure in AT_MOST else None


def measure(plan: Plan, tell: Tell) -> Findings:
    """Measure all that is planned; ``tell`` hears what is being measured.

    Raises DuettoError: the provider's stand-in, the clients or the bridge did not start.
    """
    findings = Findings(METHOD, bound, quick=plan.quick)
    with findings.timed(), tempfile.TemporaryDirectory(prefix="duetto-bench-") as home:
        environment = {"DUETTO_HOME": home}
        tell("starts")
        _starts(plan, findings, environment)
        for step in (_turns, _bursts, _load):
            with _stand(environment) as stand, findings.guarded(step.__name__.strip("_")):
                step(plan, findings, stand, tell)
    return findings


class Stand:
    """The three processes of a measurement."""

    def __init__(self, provider: Worker, clients: Worker, bridge: BridgeProcess) -> None:
        self.provider, self.clients, self.bridge = provider, clients, bridge
        self.port = int(provider.greeting["port"])
        # A few starts of memory and modules apart, a bridge that was just told its endpoints.
        self.served = bridge.tell(_endpoints(self.port))

    def at(self, kind: str) -> dict[str, Any]:
        """Where a kind is served, for the clients."""
        return {"url": self.served[kind], "token": self.bridge.token}

    def cpu_s(self) -> float:
        """Processor time of the bridge so far."""
        return processes.ran_s([self.bridge.pid])


@contextlib.contextmanager
def _stand(environment: dict[str, str]) -> Iterator[Stand]:
    with (
        contextlib.closing(Worker(f"{_PACKAGE}.provider")) as provider,
        contextlib.closing(Worker(f"{_PACKAGE}.clients")) as clients,
        contextlib.closing(BridgeProcess(APP, environment)) as bridge,
    ):
        stand = Stand(provider, clients, bridge)
        _pin(bridge.pid, [provider.greeting["pid"], clients.greeting["pid"]])
        yield stand


def _pin(bridge: int, others: list[int]) -> None:
    """The bridge has one core for itself, where there are two and the system lets us choose."""
    if not hasattr(os, "sched_setaffinity"):
        return
    first, *rest = sorted(os.sched_getaffinity(0))
    with contextlib.suppress(OSError):
        os.sched_setaffinity(bridge, {first})
        for pid in others if rest else ():
            os.sched_setaffinity(pid, set(rest))


def _endpoints(port: int) -> dict[str, dict[str, Any]]:
    base = f"http://127.0.0.1:{port}/v1"
    return {kind: {"kind": kind, "url": base} for kind in DIALECTS}


def _starts(plan: Plan, findings: Findings, environment: dict[str, str]) -> None:
    for _ in range(plan.starts):
        with contextlib.closing(BridgeProcess(COMMAND, environment)) as bridge:
            findings.add(Spot(READY, "duetto bridge"), bridge.ready_s)
        began_s = time.perf_counter()
        with contextlib.closing(BridgeProcess(APP, environment)) as bridge:
            bridge.tell(_endpoints(9))
            ready_s = time.perf_counter() - began_s
            findings.add(Spot(READY, "the app's own, told three endpoints"), ready_s)


def _turns(plan: Plan, findings: Findings, stand: Stand, tell: Tell) -> None:
    for kind in plan.kinds:
        tell(f"first tokens, {kind}")
        told = {"do": "turns", "kind": kind, "port": stand.port, **stand.at(kind)}
        stand.clients.ask(**told, count=_FIRST_TURNS)
        times = stand.clients.ask(**told, count=plan.turns)
        direct, through = (statistics.median(times[name]) for name in ("direct", "through"))
        findings.add(Spot(ADDED, kind), through - direct)


def _bursts(plan: Plan, findings: Findings, stand: Stand, tell: Tell) -> None:
    for kind in plan.kinds:
        tell(f"tokens without pace, {kind}")
        told = {"do": "burst", "kind": kind, "port": stand.port, **stand.at(kind)}
        stand.clients.ask(**told, tokens=1000)
        for _ in range(3):
            before_s = stand.cpu_s()
            spent = stand.clients.ask(**told, tokens=plan.burst_tokens)
            ours_us = (stand.cpu_s() - before_s) / plan.burst_tokens * 1e6
            more_us = (spent["through"] - spent["direct"]) / plan.burst_tokens * 1e6
            findings.add(Spot(ADDED_CPU, f"{kind}, without pace"), ours_us + more_us)


def _load(plan: Plan, findings: Findings, stand: Stand, tell: Tell) -> None:
    """Streams at their pace beside idle sockets; then interrupts in the midst of the same."""
    tell(f"{plan.streams} streams beside {plan.idle_sockets} idle sockets")
    at, clients, rate = stand.at(_LOADED), stand.clients, plan.tokens_s
    where = f"{plan.streams} streams at {rate} tokens/s, {plan.idle_sockets} idle sockets"
    clients.ask(do="idle_too", **at, count=plan.idle_sockets)
    counted = {"tokens": int(plan.stream_s * rate), "rate": rate}
    to_provider = {"kind": _LOADED, "port": stand.port, "count": plan.streams}
    clients.ask(do="begin_directly", **to_provider, **counted)
    came = clients.ask(do="finish", **counted)
    directly = f"{plan.streams} streams at {rate} tokens/s, without the bridge"
    findings.add(Spot(DIRECT_P95, directly), came["p95"])
    clients.ask(do="begin", **at, count=plan.streams, **counted)
    began_s, before_s = time.perf_counter(), stand.cpu_s()
    time.sleep(plan.stream_s * 0.7)
    spent_s, passed_s = stand.cpu_s() - before_s, time.perf_counter() - began_s
    came = clients.ask(do="finish", **counted)
    findings.add(Spot(CAME, where), came["tokens"] / came["wanted"] * 100)
    findings.add(Spot(LATE_P95, where), came["p95"])
    findings.add(Spot(CORE, where), spent_s / passed_s * 100)
    # Its clients cost the same as those of the provider: they only count.
    findings.add(Spot(ADDED_CPU, where), spent_s / (passed_s * rate * plan.streams) * 1e6)
    _interrupts(plan, findings, stand, tell)
    findings.add(Spot(MEMORY, where), processes.usage([stand.bridge.pid]).peak_mb)


def _interrupts(plan: Plan, findings: Findings, stand: Stand, tell: Tell) -> None:
    tell("interrupts")
    at, rate = stand.at(_LOADED), plan.tokens_s
    lasts_s = plan.interrupts * 0.08 + 2
    counted = {"tokens": int(lasts_s * rate), "rate": rate}
    for where, streams in (("alone", 0), (f"beside {plan.streams} streams", plan.streams)):
        if streams:
            stand.clients.ask(do="begin", **at, count=streams, **counted)
        sent = stand.clients.ask(do="interrupts", **at, count=plan.interrupts, rate=rate)["sent_s"]
        if streams:
            stand.clients.ask(do="finish", **counted)
        closed = stand.provider.ask()["closed_s"]
        missing = [tag for tag in sent if tag not in closed]
        if missing:
            findings.troubles.append(f"{len(missing)} interrupts never reached the upstream")
        times = sorted((closed[tag] - sent[tag]) * 1000 for tag in sent if tag in closed)
        if times:
            findings.add(Spot(STOP_P95, where), times[int(len(times) * 0.95)])
            findings.add(Spot(STOP_MAX, where), times[-1])

"""One run of the benchmark: the processes, what is measured, in which order."""

from __future__ import annotations

import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from tests.benchmarks.bridge import figures
from tests.benchmarks.bridge.bridge_process import APP, COMMAND, BridgeProcess
from tests.benchmarks.bridge.dialects import DIALECTS
from tests.benchmarks.bridge.plan import Plan
from tests.benchmarks.edit.figures import Findings, Tell
from tests.benchmarks.screen import processes
from tests.benchmarks.transport.worker import Worker
from tui.errors import DuettoError

_PACKAGE = "tests.benchmarks.bridge"
_LOADED = "openai-chat"
"""The kind that is under load: most models are behind it."""
_FIRST_TURNS = 5
"""They load modules and dial: not counted."""


def measure(plan: Plan, tell: Tell) -> Findings:
    """Measure all that is planned; ``tell`` hears what is being measured.

    What fails is told in `Findings.troubles`, and the rest is measured.

    Raises DuettoError: the provider's stand-in, the clients or the bridge did not start.
    """
    findings = Findings(plan.quick, load=os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0)
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="duetto-bench-") as home:
        environment = {"DUETTO_HOME": home}
        tell("starts")
        _starts(plan, findings, environment)
        for step in (_turns, _bursts, _load):
            with _stand(environment) as stand:
                try:
                    step(plan, findings, stand, tell)
                except DuettoError as error:
                    findings.troubles.append(f"{step.__name__.strip('_')}: {error}")
    findings.seconds = time.monotonic() - began_s
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
            findings.add(figures.READY, "duetto bridge", bridge.ready_s)
        began_s = time.perf_counter()
        with contextlib.closing(BridgeProcess(APP, environment)) as bridge:
            bridge.tell(_endpoints(9))
            ready_s = time.perf_counter() - began_s
            findings.add(figures.READY, "the app's own, told three endpoints", ready_s)


def _turns(plan: Plan, findings: Findings, stand: Stand, tell: Tell) -> None:
    for kind in plan.kinds:
        tell(f"first tokens, {kind}")
        told = {"do": "turns", "kind": kind, "port": stand.port, **stand.at(kind)}
        stand.clients.ask(**told, count=_FIRST_TURNS)
        times = stand.clients.ask(**told, count=plan.turns)
        direct, through = (statistics.median(times[name]) for name in ("direct", "through"))
        findings.add(figures.DIRECT, kind, direct)
        findings.add(figures.THROUGH, kind, through)
        findings.add(figures.ADDED, kind, through - direct)


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
            findings.add(figures.BRIDGE_CPU, f"{kind}, without pace", ours_us)
            findings.add(figures.ADDED_CPU, f"{kind}, without pace", ours_us + more_us)


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
    findings.add(figures.DIRECT_P95, directly, came["p95"])
    findings.add(figures.DIRECT_MAX, directly, came["max"])
    clients.ask(do="begin", **at, count=plan.streams, **counted)
    began_s, before_s = time.perf_counter(), stand.cpu_s()
    time.sleep(plan.stream_s * 0.7)
    spent_s, passed_s = stand.cpu_s() - before_s, time.perf_counter() - began_s
    came = clients.ask(do="finish", **counted)
    findings.add(figures.CAME, where, came["tokens"] / came["wanted"] * 100)
    findings.add(figures.LATE_P95, where, came["p95"])
    findings.add(figures.LATE_MAX, where, came["max"])
    findings.add(figures.CORE, where, spent_s / passed_s * 100)
    # Its clients cost the same as those of the provider: they only count.
    per_token_us = spent_s / (passed_s * rate * plan.streams) * 1e6
    findings.add(figures.BRIDGE_CPU, where, per_token_us)
    findings.add(figures.ADDED_CPU, where, per_token_us)
    _interrupts(plan, findings, stand, tell)
    findings.add(figures.MEMORY, where, processes.usage([stand.bridge.pid]).peak_mb)


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
            findings.add(figures.STOP_P50, where, times[len(times) // 2])
            findings.add(figures.STOP_P95, where, times[int(len(times) * 0.95)])
            findings.add(figures.STOP_MAX, where, times[-1])

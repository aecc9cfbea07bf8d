"""One run: starts the three processes, asks, compares."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.benchmarks.transport.clients import SSE_KEPT, SSE_NEW, WS_FULL, WS_INCREMENTAL
from tests.benchmarks.transport.far_network import INITIAL_BYTES
from tests.benchmarks.worker import Worker
from tui.errors import DuettoError

_PACKAGE = "tests.benchmarks.transport"
TRANSPORTS = (SSE_NEW, SSE_KEPT, WS_FULL, WS_INCREMENTAL)
TOKEN_CLIENTS = (SSE_KEPT, WS_INCREMENTAL)
Cell = tuple[int, int]
"""Added round trip in ms and history in kB."""
Turns = dict[str, list[dict[str, float]]]
"""By transport: TTFT in ms, bytes that the client sent."""
TTFT, OVERHEAD, SENT = "TTFT ms", "overhead ms", "sent bytes"
TOKEN_CPU = "client CPU us a token"
LESS_OVERHEAD, HALF, AS_FAST, FEWER_BYTES, LESS_CPU = 80.0, 0.5, 1.05, 80.0, 30.0
BYTES_AT_KB = 100
METHOD = (
    "TLS on loopback. A proxy adds the round trip: one to connect, half of it each way, slow start "
    "from ten segments and its restart after idle time as in Linux, no loss, no limit to the "
    "bandwidth. The model answers at once.",
    "sse-*: aiohttp, read line by line, json.loads of each event. ws-*: duetto's own wire, up to "
    "the event that the engine gets. The client is alone in its process.",
    "TTFT: from the call that sends to the first text that is handed on. Overhead: TTFT beyond one "
    "round trip. Sent: TCP payload of a turn from the client, counted by the proxy, with TLS.",
    "Tokens: every event is a TLS record of its own; without pace they come in full segments.",
    "Idle: a tool of 400 ms between two turns whose answers last 500 ms. All figures "
    "are medians; the transports take turns, in blocks or one by one.",
)
"""How the figures come about, a sentence or three each."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    round_trips_ms: tuple[int, ...] = (0, 20, 80)
    histories_kb: tuple[int, ...] = (10, 100, 400)
    blocks: int = 2
    """Of turns without idle time, per transport and cell; those of the transports alternate."""
    turns: int = 4
    """In each block."""
    idle_turns: int = 3
    """The same after an idle time."""
    idle_ms: int = 400
    """How long a tool runs between two turns."""
    answer_ms: int = 500
    """How long the answers last between which a tool runs (500 tokens of a fast model): for so
    long too the client sends nothing."""
    tokens: int = 8000
    """In one answer without pace."""
    token_runs: int = 7
    """Per client, interleaved."""
    paced_tokens: int = 4000
    paced_rate: int = 1000
    """Tokens a second."""
    paced_runs: int = 3


FULL = Plan()
QUICK = Plan(
    round_trips_ms=(0, 20),
    histories_kb=(10, 100),
    blocks=1,
    turns=3,
    idle_turns=1,
    tokens=4000,
    token_runs=3,
    paced_tokens=300,
    paced_runs=1,
)


def certificates(folder: Path) -> tuple[Path, Path]:
    """An authority, and a server's certificate with its key, as PEM. Raises DuettoError."""
    try:
        import trustme
    except ImportError:
        raise DuettoError(
            "this makes its certificates with trustme, which is not installed:"
            " pip install -e '.[bench]'"
        ) from None
    authority, server = folder / "authority.pem", folder / "server.pem"
    made = trustme.CA()
    made.cert_pem.write_to_path(str(authority))
    pair = made.issue_cert("localhost", "127.0.0.1")
    pair.private_key_and_cert_chain_pem.write_to_path(str(server))
    return authority, server


def measure(plan: Plan, tell: Tell) -> Findings:
    """Measure all of it. Raises DuettoError: a process did not start or broke."""
    findings = Findings(METHOD, lambda spot: None, quick=plan.tokens < FULL.tokens)
    with findings.timed(), ExitStack() as stack:

        def started(module: str, *arguments: str, **environment: str) -> Worker:
            worker = Worker(f"{_PACKAGE}.{module}", arguments, environment)
            return stack.enter_context(closing(worker))

        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="duetto-bench-")))
        authority, server_file = certificates(folder)
        port = started("server", str(server_file)).greeting["port"]
        network = started("far_network", str(port), *map(str, plan.round_trips_ms))
        clients = started("clients", SSL_CERT_FILE=str(authority))
        run = Measurement(plan, network, clients, findings)
        for round_trip_ms in plan.round_trips_ms:
            for size_kb in plan.histories_kb:
                tell(f"{round_trip_ms} ms, {size_kb} kB")
                cell = (round_trip_ms, size_kb)
                run.turns(cell, 0, run.warm(cell))
                run.turns(cell, plan.idle_ms, run.idle(cell))
                clients.ask(do="close")
        tell("tokens without pace")
        run.tokens(port, (0, plan.tokens, plan.token_runs), TOKEN_CLIENTS)
        tell(f"{plan.paced_rate} tokens/s")
        paced = (plan.paced_rate, plan.paced_tokens, plan.paced_runs)
        run.tokens(port, paced, TOKEN_CLIENTS)
        clients.ask(do="close")
    return findings


class Measurement:
    """Asks the clients' process for turns and answers, interleaved, and compares them."""

    def __init__(self, plan: Plan, network: Worker, clients: Worker, findings: Findings) -> None:
        self._plan, self._network, self._clients = plan, network, clients
        self._findings = findings

    def warm(self, cell: Cell) -> Turns:
        """Turns without idle time, in blocks of each transport, which alternate.

        A turn of another one is idle time: the first of a block connects or lets the window grow
        again, and does not count.
        """
        found: Turns = {name: [] for name in TRANSPORTS}
        for _ in range(self._plan.blocks):
            for name in TRANSPORTS:
                warm_up = name != SSE_NEW
                turns = [self._turn(cell, name, 0) for _ in range(self._plan.turns + warm_up)]
                found[name] += turns[warm_up:]
        return found

    def idle(self, cell: Cell) -> Turns:
        """A turn of each in every round; the first round begins the idle time."""
        found: Turns = {name: [] for name in TRANSPORTS}
        for round_number in range(self._plan.idle_turns + 1):
            for name in TRANSPORTS:
                turn = self._turn(cell, name, self._plan.idle_ms)
                if round_number:
                    found[name].append(turn)
        return found

    def turns(self, cell: Cell, idle_ms: int, turns: Turns) -> None:
        """Keep the figures of one cell, and what we save against the others."""
        round_trip_ms, size_kb = cell
        place = f"{round_trip_ms} ms, {size_kb} kB" + (f", {idle_ms} ms idle" if idle_ms else "")
        middle: dict[str, dict[str, float]] = {}
        for name, measured in turns.items():
            own = {key: statistics.median(turn[key] for turn in measured) for key in measured[0]}
            middle[name] = own | {"overhead_ms": own["ttft_ms"] - round_trip_ms}
            rows = ((TTFT, "ttft_ms"), (OVERHEAD, "overhead_ms"), (SENT, "sent_bytes"))
            for figure, key in rows:
                self._findings.add(Spot(figure, f"{place}, {name}"), middle[name][key])
        ours, new, kept = middle[WS_INCREMENTAL], middle[SSE_NEW], middle[SSE_KEPT]
        if idle_ms:
            self._after_idle(place, cell, ours, kept)
            return
        share = saved(ours["overhead_ms"], new["overhead_ms"])
        least = Bound(LESS_OVERHEAD, at_least=True)
        self._judged(Spot("overhead saved against a new connection %", place), share, least)
        if round_trip_ms:
            times = ours["ttft_ms"] / new["ttft_ms"]
            self._judged(Spot("TTFT, times a new connection's", place), times, Bound(HALF))
        times = ours["ttft_ms"] / kept["ttft_ms"]
        self._judged(Spot("TTFT, times warm keep-alive SSE's", place), times, Bound(AS_FAST))
        if size_kb == BYTES_AT_KB:
            share = saved(ours["sent_bytes"], kept["sent_bytes"])
            least = Bound(FEWER_BYTES, at_least=True)
            self._judged(Spot("bytes saved against keep-alive SSE %", place), share, least)

    def tokens(self, port: int, pace: tuple[int, int, int], clients: Sequence[str]) -> None:
        """What a token costs each client; ``pace``: tokens a second, tokens an answer, answers."""
        rate, count, runs = pace
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in clients}
        for number in range(runs + 1):
            for name in clients:
                # the first round connects and fills caches
                size = count if number else min(count, 500)
                asked = {"port": port, "client": name, "tokens": size, "rate": rate}
                figures = self._clients.ask(do="tokens", **asked)
                if number:
                    found[name].append(figures)
        for name in clients:
            where = name if rate else f"without pace, {name}"
            spot = Spot(TOKEN_CPU, where, rate)
            self._findings.add(spot, *(one["cpu_us"] for one in found[name]))
        cost = {name: statistics.median(one["cpu_us"] for one in found[name]) for name in found}
        place = f"{rate:,} tokens/s" if rate else "without pace"
        # with a pace the system's waking up is most of it, and the same for all
        note = "mostly the system's waking up, the same for both" if rate else ""
        spot = Spot("client CPU a token saved against SSE %", place)
        share = saved(cost[WS_INCREMENTAL], cost[SSE_KEPT])
        self._judged(spot, share, Bound(LESS_CPU, at_least=True, note=note))

    def _turn(self, cell: Cell, transport: str, idle_ms: int) -> dict[str, float]:
        round_trip_ms, size_kb = cell
        port = self._network.greeting["ports"][str(round_trip_ms)]
        before = self._network.ask(port=port)["sent_bytes"]
        asked = {"port": port, "history_kb": size_kb, "transport": transport}
        lasts_ms = self._plan.answer_ms if idle_ms else 0
        figures: dict[str, float] = self._clients.ask(
            do="turn", **asked, idle_ms=idle_ms, lasts_ms=lasts_ms
        )
        return figures | {"sent_bytes": self._network.ask(port=port)["sent_bytes"] - before}

    def _after_idle(
        self, place: str, cell: Cell, ours: dict[str, float], kept: dict[str, float]
    ) -> None:
        """Judged where idle time costs keep-alive SSE anything: a shrunken window, a long way."""
        note = ""
        if not cell[0]:
            note = "without a way there is no window that idle time could shrink"
        elif kept["sent_bytes"] <= INITIAL_BYTES:
            note = "the history fits the first window, which idle time does not shrink"
        spot = Spot("overhead saved after idle time against keep-alive SSE %", place)
        share = saved(ours["overhead_ms"], kept["overhead_ms"])
        self._judged(spot, share, Bound(LESS_OVERHEAD, at_least=True, note=note))

    def _judged(self, spot: Spot, value: float, bound: Bound) -> None:
        self._findings.bounds[spot] = bound
        self._findings.add(spot, value)


def saved(ours: float, theirs: float) -> float:
    """The share of theirs that we do without, in percent; 0 where they need nothing."""
    return 100 * (1 - ours / theirs) if theirs > 0 else 0.0

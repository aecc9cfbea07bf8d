"""One run: starts the three processes, asks, and takes the medians."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from tests.benchmarks.transport import certificates
from tests.benchmarks.transport.plan import (
    SSE_KEPT,
    SSE_NEW,
    TOKEN_CLIENTS,
    TRANSPORTS,
    WS_INCREMENTAL,
    Findings,
    Plan,
    TokenFigures,
    Turn,
    TurnFigures,
)
from tests.benchmarks.transport.worker import Worker

_PACKAGE = "tests.benchmarks.transport"

Cell = tuple[int, int]
"""Added round trip in ms and history in kB."""
Series = dict[str, list[Turn]]
"""By transport."""
Tell = Callable[[str], None]
"""Says what is being measured."""


def measure(plan: Plan, tell: Tell) -> Findings:
    """Measure all of it. Raises DuettoError: a process did not start or broke."""
    started = time.monotonic()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="duetto-bench-")))
        files = certificates.make(folder)
        server = _started(stack, "server", str(files.server))
        port = server.greeting["port"]
        round_trips = [str(ms) for ms in plan.round_trips_ms]
        network = _started(stack, "far_network", str(port), *round_trips)
        environment = {"SSL_CERT_FILE": str(files.authority)}
        clients = stack.enter_context(closing(Worker(f"{_PACKAGE}.clients", (), environment)))
        bench = Measurement(plan, network, clients, tell)
        turns = tuple(bench.turns())
        tokens = tuple(bench.tokens(port))
    return Findings(turns, tokens, time.monotonic() - started)


def _started(stack: ExitStack, module: str, *arguments: str) -> Worker:
    return stack.enter_context(closing(Worker(f"{_PACKAGE}.{module}", arguments)))


class Measurement:
    """Asks the clients' process for turns and answers, interleaved."""

    def __init__(self, plan: Plan, network: Worker, clients: Worker, tell: Tell) -> None:
        self._plan, self._network, self._clients, self._tell = plan, network, clients, tell

    def turns(self) -> Iterator[TurnFigures]:
        """Each transport in each cell, without and with idle time."""
        plan = self._plan
        for round_trip_ms in plan.round_trips_ms:
            for size_kb in plan.histories_kb:
                self._tell(f"{round_trip_ms} ms, {size_kb} kB")
                cell = (round_trip_ms, size_kb)
                busy, idle = self._warm_series(cell), self._idle_series(cell)
                self._clients.ask(do="close")
                yield from (medians(cell, 0, name, busy[name]) for name in TRANSPORTS)
                yield from (medians(cell, plan.idle_ms, name, idle[name]) for name in TRANSPORTS)

    def tokens(self, port: int) -> Iterator[TokenFigures]:
        """What a token costs each client: without pace, then with."""
        plan = self._plan
        self._tell("tokens without pace")
        yield from self._read(port, (0, plan.tokens, plan.token_runs), TOKEN_CLIENTS)
        self._tell(f"{plan.paced_rate} tokens/s")
        paced = (plan.paced_rate, plan.paced_tokens, plan.paced_runs)
        yield from self._read(port, paced, (SSE_KEPT, WS_INCREMENTAL))
        self._clients.ask(do="close")

    def _warm_series(self, cell: Cell) -> Series:
        """Turns without idle time, in blocks of each transport, which alternate.

        A turn of another one is idle time: the first of a block connects or lets the window grow
        again, and does not count.
        """
        found: Series = {name: [] for name in TRANSPORTS}
        for _ in range(self._plan.blocks):
            for name in TRANSPORTS:
                warm_up = name != SSE_NEW
                turns = [self._turn(cell, name, 0) for _ in range(self._plan.turns + warm_up)]
                found[name] += turns[warm_up:]
        return found

    def _idle_series(self, cell: Cell) -> Series:
        """A turn of each in every round; the first round begins the idle time."""
        found: Series = {name: [] for name in TRANSPORTS}
        for round_number in range(self._plan.idle_turns + 1):
            for name in TRANSPORTS:
                turn = self._turn(cell, name, self._plan.idle_ms)
                if round_number:
                    found[name].append(turn)
        return found

    def _turn(self, cell: Cell, transport: str, idle_ms: int) -> Turn:
        round_trip_ms, size_kb = cell
        port = self._network.greeting["ports"][str(round_trip_ms)]
        before = self._network.ask(port=port)["sent_bytes"]
        asked = {"port": port, "history_kb": size_kb, "transport": transport}
        lasts_ms = self._plan.answer_ms if idle_ms else 0
        figures: dict[str, Any] = self._clients.ask(
            do="turn", **asked, idle_ms=idle_ms, lasts_ms=lasts_ms
        )
        after = self._network.ask(port=port)["sent_bytes"]
        return Turn(sent_bytes=after - before, **figures)

    def _read(
        self, port: int, pace: tuple[int, int, int], clients: Sequence[str]
    ) -> Iterator[TokenFigures]:
        """``pace``: tokens a second, tokens an answer, answers."""
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
            cpu_us = statistics.median(one["cpu_us"] for one in found[name])
            wall_us = statistics.median(one["wall_us"] for one in found[name])
            yield TokenFigures(name, rate, count, runs, cpu_us, wall_us)


def medians(cell: Cell, idle_ms: int, transport: str, turns: Sequence[Turn]) -> TurnFigures:
    """The figures of one transport in one cell (round trip in ms, history in kB)."""
    ttft_ms = statistics.median(turn.ttft_ms for turn in turns)
    return TurnFigures(
        round_trip_ms=cell[0],
        history_kb=cell[1],
        idle_ms=idle_ms,
        transport=transport,
        turns=len(turns),
        ttft_ms=ttft_ms,
        overhead_ms=ttft_ms - cell[0],
        cpu_ms=statistics.median(turn.cpu_ms for turn in turns),
        sent_bytes=round(statistics.median(turn.sent_bytes for turn in turns)),
    )

"""One run of the benchmark: what is measured, in which order."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.benchmarks.screen import clients, measures
from tests.benchmarks.screen.clients import DUETTO, PEERS, Client, program_of
from tests.benchmarks.screen.figures import Found
from tests.benchmarks.screen.picture import Emulator
from tests.benchmarks.screen.plan import (
    FRESH,
    HIGHEST_KEY_RATE,
    PEER_IDLE_S,
    Findings,
    Plan,
    Spot,
)
from tests.benchmarks.screen.replay_text import EDITED
from tests.benchmarks.screen.stand import Seat, Stand, stand
from tui.errors import DuettoError

Tell = Callable[[str], None]
Step = Callable[[Stand, Seat, int, Plan], Found]
"""Something that is measured with a client at a rate."""
SHORT_LINES = 100
"""Of the file that is open where its length does not matter."""


def measure(plan: Plan, tell: Tell) -> Findings:
    """Measure all that is planned; ``tell`` hears what is being measured.

    Raises DuettoError: there is no pyte, a peer is not installed. What fails later is told in
    `Findings.troubles`, and the rest is measured.
    """
    Emulator()
    programs = {name: program_of(name, named) for name, named in plan.peers}
    began_s, load = time.monotonic(), os.getloadavg()[0]
    with stand() as place:
        run = _Run(place, plan, programs, tell)
        run.findings.load = load
        run.all()
    run.findings.seconds = time.monotonic() - began_s
    return run.findings


class _Run:
    """All measurements, one after the other: two at a time would measure each other."""

    def __init__(self, place: Stand, plan: Plan, programs: dict[str, str], tell: Tell) -> None:
        self._stand = place
        self._plan = plan
        self._programs = programs
        self._tell = tell
        self.findings = Findings(plan=plan)

    def all(self) -> None:
        """Measure everything; the clients take turns, so that a noisy minute is everybody's."""
        plan = self._plan
        names = (DUETTO, *self._programs)
        for _ in range(plan.repeats):
            for rate in plan.rates:
                for name in names if rate <= HIGHEST_KEY_RATE else names[:1]:
                    self._with_stream(name, rate)
        if not plan.only_stream:
            for _ in range(plan.starts):
                for name in names:
                    self._keep(Spot(name, ""), partial(self._started, name))
            for name in names:
                self._keep(Spot(name, ""), partial(self._rested, name, 0))
            self._edits(plan.edit_lines, FRESH)
        self._long_file()
        self._long_conversation()
        if plan.long_tokens:
            self._keep(Spot(DUETTO, ""), self._long_session)

    def _with_stream(self, name: str, rate: int) -> None:
        """A stream, keys and Esc at a rate, each in a program of its own."""
        spot = Spot(name, "", rate)
        self._keep(spot, partial(self._in_fresh, name, measures.stream, rate))
        if self._plan.only_stream or rate > HIGHEST_KEY_RATE:
            return
        self._keep(spot, partial(self._in_fresh, name, measures.keys, rate))
        if name == DUETTO:
            step = partial(self._in_fresh, name, measures.keys_in_editor, rate, SHORT_LINES)
            self._keep(spot, step)
        presses = self._plan.presses if name == DUETTO else 1
        self._keep(spot, partial(self._pressed, name, rate, presses))

    def _in_fresh(self, name: str, step: Step, rate: int, lines: int = 0) -> Found:
        self._tell(f"{name}: {_words(step)} at {rate:,} tokens/s")
        place = self._stand.place(lines)
        with self._stand.seat(self._client(name, place, lines), place.work) as seat:
            seat.ready()
            return step(self._stand, seat, rate, self._plan)

    def _pressed(self, name: str, rate: int, presses: int) -> Found:
        self._tell(f"{name}: Esc at {rate:,} tokens/s")
        trace = self._stand.folder / f"esc-{rate}-{time.monotonic_ns()}.jsonl"
        arguments = ("--trace", str(trace)) if name == DUETTO else ()
        place = self._stand.place()
        client = self._client(name, place, 0, *arguments)
        with self._stand.seat(client, place.work) as seat:
            seat.ready()
            for _ in range(presses):
                yield from measures.esc(self._stand, seat, rate, trace)

    def _started(self, name: str, lines: int = 0) -> Found:
        self._tell(f"{name}: start")
        place = self._stand.place(lines)
        return measures.start(self._client(name, place, lines), place.work)

    def _rested(self, name: str, lines: int) -> Found:
        idle_s = self._plan.idle_s
        if name != DUETTO:
            idle_s = min(idle_s, PEER_IDLE_S)
        self._tell(f"{name}: {idle_s:.0f} s of doing nothing")
        place = self._stand.place(lines)
        with self._stand.seat(self._client(name, place, lines), place.work) as seat:
            seat.ready()
            seat.idle()
            yield from measures.rest(seat, idle_s)

    def _edits(self, lines: int, where: str) -> None:
        plan = self._plan
        for _ in range(plan.repeats if where == FRESH else 1):
            self._tell(f"{DUETTO}: an edit into a file of {lines:,} lines")
            spot = Spot(DUETTO, "", plan.edit_rate, where)
            self._keep(spot, partial(measures.edit, self._stand, plan.edit_rate, plan, lines))

    def _long_file(self) -> None:
        """Everything again with a long file open."""
        plan = self._plan
        lines = plan.long_lines
        if not lines:
            return
        where = f"{lines:,}-line file"
        if not plan.only_stream:
            for _ in range(plan.starts):
                spot = Spot(DUETTO, "", 0, where)
                self._keep(spot, partial(self._started, DUETTO, lines))
            self._keep(Spot(DUETTO, "", 0, where), partial(self._rested, DUETTO, lines))
            self._edits(lines, where)
        with self._guarded(), self._stand.duetto(lines=lines) as seat:
            seat.ready()
            seat.idle()
            self._everything(seat, where)

    def _long_conversation(self) -> None:
        """And in a long conversation."""
        plan = self._plan
        if not plan.turns:
            return
        where = f"{plan.turns:,}-turn conversation"
        with self._guarded(), self._stand.duetto() as seat:
            seat.ready()
            measures.converse(self._stand, seat, plan.turns, self._tell)
            seat.idle()
            if not plan.only_stream:
                self._keep(Spot(DUETTO, "", 0, where), lambda: measures.rest(seat, plan.idle_s))
            self._everything(seat, where)

    def _everything(self, seat: Seat, where: str) -> None:
        """Streams and keys at all rates in one client, which is still the same afterwards."""
        plan = self._plan
        for rate in plan.rates:
            for step in self._steps(rate, where):
                self._tell(f"{DUETTO}: {_words(step)} at {rate:,} tokens/s, {where}")
                spot = Spot(DUETTO, "", rate, where)
                self._keep(spot, partial(step, self._stand, seat, rate, plan))

    def _steps(self, rate: int, where: str) -> list[Step]:
        """What is measured at a rate; Esc without a trace, whose beats would be idle time."""
        if self._plan.only_stream or rate > HIGHEST_KEY_RATE:
            return [measures.stream]
        in_editor = [measures.keys_in_editor] * where.endswith("file")
        return [measures.stream, measures.keys, *in_editor, measures.untraced_esc]

    def _long_session(self) -> Found:
        return measures.long_session(self._stand, self._plan.long_tokens, self._tell)

    def _client(self, name: str, place: clients.Place, lines: int = 0, *more: str) -> Client:
        if name != DUETTO:
            return PEERS[name](place, self._programs[name])
        target = place.work / EDITED if lines else place.work
        return clients.duetto(place, *more, str(target))

    def _keep(self, spot: Spot, step: Callable[[], Found]) -> None:
        """Take a step, and keep what it finds for the client, rate and place of a spot."""
        with self._guarded():
            for figure, value in step():
                self.findings.add(Spot(spot.client, figure, spot.rate, spot.place), value)

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """One client that breaks ends its own step only."""
        try:
            yield
        except DuettoError as error:
            self.findings.troubles.append(str(error))


def _words(step: Step) -> str:
    return step.__name__.replace("_", " ")


def peer_programs(peers: tuple[str, ...], path: Path | None) -> tuple[tuple[str, Path | None], ...]:
    """The peers with the program that ``--peer-path`` names. Raises DuettoError: of which?"""
    if path is not None and len(peers) != 1:
        raise DuettoError("--peer-path names the program of one peer: give --peer once")
    return tuple((peer, path) for peer in peers)

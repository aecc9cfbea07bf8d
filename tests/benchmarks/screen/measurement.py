"""``stream`` and ``ui``: what is measured in the real program, in which order, and its targets."""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tests.benchmarks import processes
from tests.benchmarks.findings import DUETTO, Bound, Findings, Spot, Tell
from tests.benchmarks.screen import figures, stand
from tests.benchmarks.screen.figures import Found
from tests.benchmarks.screen.replay_text import EDITED, FUNCTION_LINES
from tests.benchmarks.screen.stand import PEERS, Client, Seat, Stand, program_of
from tests.benchmarks.screen.terminal import Emulator, Picture, PseudoTerminal
from tui.errors import DuettoError

METHOD = (
    "The real binary in a pseudo-terminal of 120x40 cells, truecolor, synchronized output, no"
    " Kitty keyboard; what it wrote is read afterwards by a terminal emulator. The replay server"
    " on loopback sends each token as an event of its own at its time.",
    "Paint lag: from the time at which a mark in the text is due to that at which it, or one behind"
    " it, is on the screen. Drain: from the last token to the painted end. CPU: of the program and"
    " all that it started, from Enter to the painted end.",
    "Key echo: from a key in the prompt to its character on the screen while an answer streams. Esc"
    " recognised, wire and frozen are stamps of --trace; still is the last new text on the screen.",
    "Loop block: how late the event loop comes to its turns (every 5 ms, --trace) while a patch"
    " streams into a coloured file. Start: from the process's start, while keys are pressed.",
    "All figures are medians over the runs; of Esc, over the presses.",
)
FRESH = ""
"""The place that the others are compared with: a new conversation, no file open."""
Step = Callable[[Stand, Seat, int, "Plan"], Found]
"""Something that is measured with a client at a rate."""
SHORT_LINES = 100
"""Of the file that is open where its length does not matter."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    rates: tuple[int, ...] = (1_000, 4_000, 10_000, 40_000)
    """Tokens a second; key echo and Esc are measured up to 10,000."""
    stream_s: float = 3.0
    """How long each stream lasts."""
    repeats: int = 2
    """Of what is measured in a new conversation; figures are medians over them."""
    presses: int = 8
    """Of Esc, at each rate."""
    starts: int = 5
    idle_s: float = 30.0
    """How long we are watched doing nothing; a peer at most `PEER_IDLE_S`."""
    edit_rate: int = 4_000
    edit_lines: int = 10_000
    long_lines: int = 50_000
    turns: int = 5_000
    """Of the long conversation."""
    long_tokens: int = 0
    """Of the session after which memory is measured again; 0: it is not."""
    peers: tuple[tuple[str, Path | None], ...] = ()
    """The clients of another make to measure beside us, with their programs if those are named."""
    only_stream: bool = False
    """No starts, keys, Esc and edits."""


FULL = Plan()
QUICK = Plan(
    rates=(1_000,),
    stream_s=0.8,
    repeats=1,
    presses=1,
    starts=1,
    idle_s=1.0,
    edit_lines=2_000,
    long_lines=0,
    turns=0,
)
LONG_TOKENS = 2_000_000
PEER_IDLE_S = 10.0
HIGHEST_KEY_RATE = 10_000

CPU_BOUNDS = {1_000: 0.20, 4_000: 0.06, 10_000: 0.03}
SUSTAINED_RATE, SUSTAINED = 40_000, 0.97
"""Of the rate, from the first token sent to the last one painted."""
AT_EVERY_RATE = {
    figures.LAG_P95: 33.0,
    figures.DRAIN: 33.0,
    figures.KEY_P95: 16.0,
    figures.EDITOR_KEY_P95: 16.0,
    figures.ESC_WIRE: 3.0,
    figures.ESC_STILL: 16.0,
}
IN_ALL = {
    figures.FIRST_PAINT: 300.0,
    figures.PAINT_AGAIN: 30.0,
    figures.AGAIN_TIMES: 2.5,
    figures.GUIDE_EDIT: 3000.0,
    figures.FIRST_KEY: 400.0,
    figures.IDLE_CPU: 0.5,
    figures.IDLE_SOON: 0.5,
    figures.RSS_START: 80.0,
    figures.RSS_LONG: 110.0,
    figures.BLOCK_P95: 8.0,
    figures.END_WORK: 16.0,
}
ELSEWHERE = {figures.CPU, figures.PAINTED, figures.PRESS_WIRE, figures.PRESS_STILL}
"""What else must be no worse at a long file or in a long conversation; Esc without a trace there,
whose beats would count as idle time."""
RATIO = 1.5
"""No worse at a long file or in a long conversation."""
GRAIN = {figures.CPU: 0.01, figures.IDLE_CPU: 0.1, figures.IDLE_SOON: 0.1, figures.RSS_START: 5.0}
"""A difference as small as this says nothing of a figure, whatever the ratio; of what is in ms
4 ms: the timers of the system, and where in a frame it begins."""


def bound(spot: Spot) -> Bound | None:
    """The target of a figure of ours, in a new conversation."""
    if spot.client != DUETTO or spot.place != FRESH:
        return None
    if spot.figure == figures.PAINTED and spot.rate == SUSTAINED_RATE:
        return Bound(SUSTAINED * spot.rate, at_least=True)
    if spot.figure == figures.CPU and spot.rate in CPU_BOUNDS:
        return Bound(CPU_BOUNDS[spot.rate])
    if spot.figure in AT_EVERY_RATE and spot.rate <= HIGHEST_KEY_RATE:
        return Bound(AT_EVERY_RATE[spot.figure])
    return Bound(IN_ALL[spot.figure]) if spot.figure in IN_ALL else None


def compare(found: Findings, peers: tuple[str, ...]) -> None:
    """How much worse it gets at a long file or in a long conversation, and than the best peer."""
    for spot in [spot for spot in found.runs if spot.client == DUETTO]:
        value = found.value(spot)
        assert value is not None
        theirs = [found.value(Spot(spot.figure, spot.place, spot.rate, name)) for name in peers]
        known = [one for one in theirs if one]
        if spot.figure == figures.KEY_P95 and known:
            compared = Spot(f"{spot.figure}, times the best peer's", "", spot.rate)
            found.bounds[compared] = Bound(1.0)
            found.add(compared, value / min(known))
        fresh = found.value(Spot(spot.figure, FRESH, spot.rate))
        slow = spot.figure == figures.PAINTED and spot.rate < SUSTAINED_RATE
        known_figure = spot.figure in {*AT_EVERY_RATE, *IN_ALL, *ELSEWHERE}
        if spot.place == FRESH or fresh is None or slow or not known_figure:
            continue
        if spot.figure == figures.PAINTED:
            value, fresh = fresh, value
        ratio, grain = value / max(fresh, 1e-6), GRAIN.get(spot.figure, 4.0)
        small = ratio > RATIO and value - fresh <= grain
        note = f"{value:.2f} for {fresh:.2f}: too small a difference" if small else ""
        compared = Spot(f"{spot.figure}, times the fresh one", spot.place, spot.rate)
        found.bounds[compared] = Bound(RATIO, note=note)
        found.add(compared, ratio)


def measure(plan: Plan, tell: Tell) -> Findings:
    """Measure all that is planned; ``tell`` hears what is being measured.

    Raises DuettoError: there is no pyte, a peer is not installed. What fails later is told in
    `Findings.troubles`, and the rest is measured.
    """
    Emulator()
    programs = {name: program_of(name, named) for name, named in plan.peers}
    findings = Findings(METHOD, bound, quick=plan.stream_s < FULL.stream_s)
    with findings.timed(), stand.stand() as place:
        _Run(place, plan, programs, findings, tell).all()
    compare(findings, tuple(programs))
    return findings


FIRST_KEYS_S = 0.02
"""Between the keys that are pressed while a client starts."""
MANY_KEYS = 40
"""Then fewer are pressed: a client that takes so long to start has them all to read."""
LONGEST_START_S = 15.0
SOON_S = 2.0
"""So long behind the first key it is watched what a client still does."""
KEY_GAP_S = (0.055, 0.075)
LETTERS = "zqjv"
EDITOR, PROMPT = b"\x1b2", b"\x1b1"
"""Alt+2 and Alt+1 of duetto's keymap."""
ROUND_KEYS = 20
"""After so many keys the prompt is emptied: it must not wrap."""
TURN_GAP_S = 0.008
MANY_TOKENS = 100_000
"""In one answer of the long session."""
FAST = 40_000
_TYPED = re.compile(r"[qz]{2}")


def started(client: Client, work: Path) -> Found:
    """From the process's start to its first text, and to a key's echo; keys come all the time."""
    emulator, first_s, echo_s, number = Emulator(), None, None, 0
    with PseudoTerminal(client.command, client.environment, work) as terminal:
        terminal.quits_with(client.quits_with)
        begun_s = terminal.started_s
        while echo_s is None and time.monotonic() < begun_s + LONGEST_START_S:
            terminal.rest(FIRST_KEYS_S)
            if number < MANY_KEYS or number % 10 == 0:
                terminal.write(b"qz"[number % 2 : number % 2 + 1])
            number += 1
            for at_s, rows in emulator.changes(terminal.take()):
                if first_s is None and any(map(str.strip, rows)):
                    first_s = at_s
                if echo_s is None and any(map(_TYPED.search, rows)):
                    echo_s = at_s
        terminal.rest(0.3)
        family = terminal.processes()
        ran_s, before_s = processes.ran_s(family), time.monotonic()
        terminal.rest(SOON_S)
        ran_s, lasted_s = processes.ran_s(family) - ran_s, time.monotonic() - before_s
    yield figures.IDLE_SOON, ran_s / lasted_s * 100
    yield figures.FIRST_PAINT, figures.milliseconds(first_s and first_s - begun_s)
    yield figures.FIRST_KEY, figures.milliseconds(echo_s and echo_s - begun_s)


def interpreter(client: Client, work: Path) -> float | None:
    """What a Python takes that does nothing but print a word, in ms."""
    command = (sys.executable, "-c", "print('here', flush=True)")
    with PseudoTerminal(command, client.environment, work) as terminal:
        terminal.quiet(0.05, LONGEST_START_S)
        pieces = terminal.take()
        return figures.milliseconds(pieces[0][0] - terminal.started_s if pieces else None)


def guided(client: Client, work: Path) -> float | None:
    """From the guide's first Enter to the end of the first edit's landing, in ms."""
    emulator = Emulator()
    with PseudoTerminal(client.command, client.environment, work) as terminal:
        terminal.quits_with(client.quits_with)

        def seen(words: str) -> float | None:
            deadline = time.monotonic() + LONGEST_START_S
            while time.monotonic() < deadline:
                picture = emulator.read(terminal.take(), (words,), None, 0.0)
                if words in picture.seen:
                    return picture.seen[words]
                terminal.rest(0.01)
            return None

        seen("takes the suggestion")
        terminal.write(b"\t")
        seen("Enter sends it")
        pressed_s = terminal.write(b"\r")
        landed_s = seen("pending")
        return figures.milliseconds(landed_s and landed_s - pressed_s)


def rested(seat: Seat, seconds: float) -> Found:
    """Memory after the start, and processor time while idle."""
    terminal = seat.terminal
    family = terminal.processes()
    began_s, ran_s = time.monotonic(), processes.ran_s(family)
    terminal.rest(seconds)
    ran_s = processes.ran_s(family) - ran_s
    yield figures.IDLE_CPU, ran_s / (time.monotonic() - began_s) * 100
    yield figures.RSS_START, processes.usage(family).rss_mb


def stream(stand: Stand, seat: Seat, rate: int, plan: Plan) -> Found:
    """One answer, watched."""
    asked = stand.wanted(rate, int(rate * plan.stream_s))
    return figures.stream(seat.played(asked, seat.submit(asked)))


def keys(stand: Stand, seat: Seat, rate: int, plan: Plan) -> Found:
    """Keys in the prompt while an answer streams."""
    return figures.keys(*_typed(stand, seat, rate, plan))


def keys_in_editor(stand: Stand, seat: Seat, rate: int, plan: Plan) -> Found:
    """Keys at the beginning of the file that is open; `EDITOR` goes there, `PROMPT` back."""
    return figures.keys_in_editor(*_typed(stand, seat, rate, plan, (EDITOR, PROMPT)))


def _typed(
    stand: Stand,
    seat: Seat,
    rate: int,
    plan: Plan,
    around: tuple[bytes, bytes] = (b"", b""),
) -> tuple[list[tuple[float, str]], Picture]:
    """Keys while an answer streams: when each was pressed, with the text as it then stands."""
    asked = stand.wanted(rate, int(rate * plan.stream_s))
    submitted_s = seat.submit(asked)
    sent = seat.started(asked)
    seat.terminal.write(around[0])
    seat.terminal.rest(0.15)
    pressed = pressed_keys(seat.terminal, (sent.first_s or submitted_s) + asked.lasts_s - 0.1)
    played = seat.played(asked, submitted_s, tuple(text for _, text in pressed))
    seat.terminal.write(around[1])
    seat.terminal.rest(KEY_GAP_S[1])
    return pressed, played.picture


def pressed_keys(terminal: PseudoTerminal, until_s: float) -> list[tuple[float, str]]:
    """Press keys at a person's best pace; what was typed is taken back at the end."""
    chance, typed, number = random.Random(3), "", 0
    pressed: list[tuple[float, str]] = []
    while time.monotonic() < until_s:
        if len(typed) > ROUND_KEYS:
            terminal.write(b"\x7f" * len(typed))
            terminal.rest(KEY_GAP_S[1])
            typed = ""
        # each round begins with a letter of its own, so that no text comes twice
        typed += LETTERS[number % len(LETTERS)] if typed else chr(ord("A") + number // ROUND_KEYS)
        at_s = terminal.write(typed[-1:].encode())
        # one letter alone may stand anywhere
        pressed += [(at_s, typed)] if len(typed) > 1 else []
        number += 1
        terminal.rest(chance.uniform(*KEY_GAP_S))
    terminal.rest(KEY_GAP_S[1])
    terminal.write(b"\x7f" * len(typed))
    return pressed


def esc(stand: Stand, seat: Seat, rate: int, trace: Path | None) -> Found:
    """One Esc in the middle of an answer that would go on for long."""
    asked = stand.wanted(rate, rate * 4, kind="dense")
    submitted_s = seat.submit(asked)
    seat.started(asked)
    seat.terminal.rest(random.Random(asked.number).uniform(0.4, 0.9))
    pressed_s = seat.terminal.write(seat.client.interrupt)
    sent = stand.sent(asked, 6.0)
    seat.terminal.rest(0.5)
    seat.terminal.quiet(seat.client.settle_s, 3.0)
    if sent is None:
        raise DuettoError(f"{seat.client.name} did not send the prompt {asked.go_word}")
    picture = seat.see((), asked.mark, submitted_s)
    stamped = figures.read(trace) if trace is not None else ()
    return figures.esc(pressed_s, sent, picture, stamped)


def untraced_esc(stand: Stand, seat: Seat, rate: int, plan: Plan) -> Found:
    """The same, as it is seen from outside."""
    return esc(stand, seat, rate, None)


def edit(stand: Stand, rate: int, plan: Plan, lines: int) -> Found:
    """A patch into the middle of a coloured file."""
    trace = stand.folder / f"edit-{lines}-{time.monotonic_ns()}.jsonl"
    with stand.duetto("--trace", str(trace), lines=lines) as seat:
        seat.ready()
        seat.idle()
        line = lines // 2 // FUNCTION_LINES * FUNCTION_LINES
        asked = stand.wanted(rate, int(rate * plan.stream_s), kind="edit", line=line)
        played = seat.played(asked, seat.submit(asked))
    return figures.edit(played, figures.read(trace))


def converse(stand: Stand, seat: Seat, turns: int, tell: Callable[[str], None]) -> None:
    """Have so many short turns. Raises DuettoError: it does not go on."""
    asked = stand.wanted(1, 1)
    before = stand.answered(asked)
    for number in range(turns):
        seat.terminal.write(f"turn {number}\r".encode())
        deadline = time.monotonic() + LONGEST_START_S
        while stand.answered(asked) <= before + number:
            if time.monotonic() > deadline or not seat.terminal.runs:
                raise DuettoError(f"{seat.client.name} did not send turn {number}")
            time.sleep(0.002)
        seat.terminal.rest(TURN_GAP_S)
        if number % 500 == 499:
            seat.terminal.take()
            tell(f"{number + 1:,} turns")
    seat.look_away()


def long_session(stand: Stand, tokens: int, tell: Callable[[str], None]) -> Found:
    """Memory after so many tokens."""
    with stand.duetto() as seat:
        seat.ready()
        done = 0
        while done < tokens:
            asked = stand.wanted(FAST, min(MANY_TOKENS, tokens - done))
            done += seat.played(asked, seat.submit(asked)).sent.tokens
            tell(f"{done:,} of {tokens:,} tokens")
        seat.idle()
        yield figures.RSS_LONG, processes.usage(seat.terminal.processes()).rss_mb


class _Run:
    """All measurements, one after the other: two at a time would measure each other."""

    def __init__(
        self,
        place: Stand,
        plan: Plan,
        programs: dict[str, str],
        findings: Findings,
        tell: Tell,
    ) -> None:
        self._stand = place
        self._plan = plan
        self._programs = programs
        self._tell = tell
        self.findings = findings

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
                    self._keep(Spot("", FRESH, 0, name), partial(self._started, name))
            for name in names:
                self._keep(Spot("", FRESH, 0, name), partial(self._rested, name, 0))
            self._keep(Spot("", FRESH, 0, DUETTO), self._guided)
            self._edits(plan.edit_lines, FRESH)
        self._long_file()
        self._long_conversation()
        if plan.long_tokens:
            self._keep(Spot("", FRESH, 0, DUETTO), self._long_session)

    def _with_stream(self, name: str, rate: int) -> None:
        """A stream, keys and Esc at a rate, each in a program of its own."""
        spot = Spot("", FRESH, rate, name)
        self._keep(spot, partial(self._in_fresh, name, stream, rate))
        if self._plan.only_stream or rate > HIGHEST_KEY_RATE:
            return
        self._keep(spot, partial(self._in_fresh, name, keys, rate))
        if name == DUETTO:
            step = partial(self._in_fresh, name, keys_in_editor, rate, SHORT_LINES)
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
                yield from esc(self._stand, seat, rate, trace)

    def _started(self, name: str, lines: int = 0) -> Found:
        self._tell(f"{name}: start")
        place = self._stand.place(lines)
        client = self._client(name, place, lines)
        yield from started(client, place.work)
        if name == DUETTO:  # a start like the last one has that one's frame
            again = dict(started(client, place.work))[figures.FIRST_PAINT]
            python = interpreter(client, place.work)
            yield figures.PAINT_AGAIN, again
            yield figures.INTERPRETER, python
            yield figures.AGAIN_TIMES, again / python if again and python else None

    def _guided(self) -> Found:
        self._tell(f"{DUETTO}: the guide")
        place = self._stand.place()
        yield figures.GUIDE_EDIT, guided(stand.rehearsed(place), place.work)

    def _rested(self, name: str, lines: int) -> Found:
        idle_s = self._plan.idle_s
        if name != DUETTO:
            idle_s = min(idle_s, PEER_IDLE_S)
        self._tell(f"{name}: {idle_s:.0f} s of doing nothing")
        place = self._stand.place(lines)
        with self._stand.seat(self._client(name, place, lines), place.work) as seat:
            seat.ready()
            seat.idle()
            yield from rested(seat, idle_s)

    def _edits(self, lines: int, where: str) -> None:
        plan = self._plan
        for _ in range(plan.repeats if where == FRESH else 1):
            self._tell(f"{DUETTO}: an edit into a file of {lines:,} lines")
            spot = Spot("", where, plan.edit_rate, DUETTO)
            self._keep(spot, partial(edit, self._stand, plan.edit_rate, plan, lines))

    def _long_file(self) -> None:
        """Everything again with a long file open."""
        plan = self._plan
        lines = plan.long_lines
        if not lines:
            return
        where = f"{lines:,}-line file"
        if not plan.only_stream:
            for _ in range(plan.starts):
                spot = Spot("", where, 0, DUETTO)
                self._keep(spot, partial(self._started, DUETTO, lines))
            self._keep(Spot("", where, 0, DUETTO), partial(self._rested, DUETTO, lines))
            self._edits(lines, where)
        with self.findings.guarded(DUETTO), self._stand.duetto(lines=lines) as seat:
            seat.ready()
            seat.idle()
            self._everything(seat, where)

    def _long_conversation(self) -> None:
        """And in a long conversation."""
        plan = self._plan
        if not plan.turns:
            return
        where = f"{plan.turns:,}-turn conversation"
        with self.findings.guarded(DUETTO), self._stand.duetto() as seat:
            seat.ready()
            converse(self._stand, seat, plan.turns, self._tell)
            seat.idle()
            if not plan.only_stream:
                self._keep(Spot("", where, 0, DUETTO), lambda: rested(seat, plan.idle_s))
            self._everything(seat, where)

    def _everything(self, seat: Seat, where: str) -> None:
        """Streams and keys at all rates in one client, which is still the same afterwards."""
        plan = self._plan
        for rate in plan.rates:
            for step in self._steps(rate, where):
                self._tell(f"{DUETTO}: {_words(step)} at {rate:,} tokens/s, {where}")
                spot = Spot("", where, rate, DUETTO)
                self._keep(spot, partial(step, self._stand, seat, rate, plan))

    def _steps(self, rate: int, where: str) -> list[Step]:
        """What is measured at a rate; Esc without a trace, whose beats would be idle time."""
        if self._plan.only_stream or rate > HIGHEST_KEY_RATE:
            return [stream]
        in_editor = [keys_in_editor] * where.endswith("file")
        return [stream, keys, *in_editor, untraced_esc]

    def _long_session(self) -> Found:
        return long_session(self._stand, self._plan.long_tokens, self._tell)

    def _client(self, name: str, place: stand.Place, lines: int = 0, *more: str) -> Client:
        if name != DUETTO:
            return PEERS[name](place, self._programs[name])
        target = place.work / EDITED if lines else place.work
        return stand.duetto(place, *more, str(target))

    def _keep(self, spot: Spot, step: Callable[[], Found]) -> None:
        """Take a step, and keep what it finds for the client, rate and place of a spot."""
        with self.findings.guarded(spot.where or spot.client):
            for figure, value in step():
                self.findings.add(replace(spot, figure=figure), value)


def _words(step: Step) -> str:
    return step.__name__.replace("_", " ")

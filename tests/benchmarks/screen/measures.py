"""What is done with a client to measure it: each function does one thing, once."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.screen import figures, processes, stamps
from tests.benchmarks.screen.clients import Client
from tests.benchmarks.screen.figures import Found
from tests.benchmarks.screen.picture import Emulator, Picture
from tests.benchmarks.screen.plan import Plan
from tests.benchmarks.screen.pseudo_terminal import PseudoTerminal
from tests.benchmarks.screen.replay_text import FUNCTION_LINES
from tests.benchmarks.screen.stand import Seat, Stand
from tui.errors import DuettoError

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


def start(client: Client, work: Path) -> Found:
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
        cpu_s, before_s = processes.cpu_s(family), time.monotonic()
        ran_s = processes.ran_s(family)
        terminal.rest(SOON_S)
        ran_s, lasted_s = processes.ran_s(family) - ran_s, time.monotonic() - before_s
    yield figures.IDLE_SOON, ran_s / lasted_s * 100
    yield figures.FIRST_PAINT, figures.milliseconds(first_s and first_s - begun_s)
    yield figures.FIRST_KEY, figures.milliseconds(echo_s and echo_s - begun_s)
    yield figures.START_CPU, cpu_s


def rest(seat: Seat, seconds: float) -> Found:
    """Memory once it is up, and processor time while nobody does anything."""
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
    stamped = stamps.read(trace) if trace is not None else ()
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
    return figures.edit(played, stamps.read(trace))


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

"""What live verification costs a person: paint lag and key echo while it tests what lands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.benchmarks.screen.figures import echoes, lags_s, percentile
from tests.benchmarks.screen.measurement import pressed_keys
from tests.benchmarks.screen.replay_text import FILE_TOKENS, NEW_FILE
from tests.benchmarks.screen.stand import Seat, Stand, duetto, stand
from tests.benchmarks.screen.terminal import Emulator

RATE, TOKENS = 1_000, 6_000
LAG, ECHO, RUNS = "paint lag p95, ms", "key echo p95, ms", "runs of the tests"
METHOD = (
    "Live: the real program in a pseudo-terminal; 1,000 tokens/s bring a new file every 400 "
    "tokens, of which each has a test, with `when` as it is named. The tests write a line each "
    "into a file outside, which counts the runs.",
)
_TEST = """\
import {module}
def test():
    with open({out!r}, "a") as file:
        file.write("ran\\n")
"""


def bound(spot: Spot) -> Bound | None:
    """What was asked for."""
    known = {LAG: Bound(33), ECHO: Bound(16)}
    return known.get(spot.figure) if spot.rate == RATE else None


def measure(found: Findings, tell: Tell, *, quick: bool) -> None:
    """Add all of it. Raises DuettoError: there is no pyte."""
    Emulator(50)
    with stand(50) as place:
        for _ in range(1 if quick else 3):
            for when in ("ask", "live"):
                tell(f"a stream of files, {when}")
                with found.guarded(when):
                    _streamed(found, place, when)
                    _typed(found, place, when)


def _streamed(found: Findings, place: Stand, when: str) -> None:
    asked = place.wanted(RATE, TOKENS, kind="files")
    with _duetto(place, when) as (seat, out):
        played = seat.played(asked, seat.submit(asked))
        lags = [one * 1000 for one in lags_s(played)]
        found.add(Spot(LAG, f"verify {when}", RATE), percentile(lags, 0.95))
        found.add(Spot(RUNS, f"verify {when}"), float(len(out.read_text().splitlines())))


def _typed(found: Findings, place: Stand, when: str) -> None:
    asked = place.wanted(RATE, TOKENS, kind="files")
    with _duetto(place, when) as (seat, _):
        submitted_s = seat.submit(asked)
        sent = seat.started(asked)
        until_s = (sent.first_s or submitted_s) + asked.lasts_s - 0.1
        pressed = pressed_keys(seat.terminal, until_s)
        played = seat.played(asked, submitted_s, tuple(text for _, text in pressed))
    late = [one * 1000 for one in echoes(pressed, played.picture)]
    found.add(Spot(ECHO, f"verify {when}", RATE), percentile(late, 0.95))


@contextmanager
def _duetto(place: Stand, when: str) -> Iterator[tuple[Seat, Path]]:
    """The program in a workspace with tests, and the file that these write into."""
    where = place.place()
    (where.home / "config.toml").write_text(f'schema = 1\n[verify]\nwhen = "{when}"\n')
    out = where.home / "ran"
    out.touch()
    for number in range(TOKENS // FILE_TOKENS + 1):
        module = re.sub(r"\.py$", "", NEW_FILE.format(number))
        test = _TEST.format(module=module, out=str(out))
        (where.work / f"test_{module}.py").write_text(test)
    with place.seat(duetto(where, str(where.work)), where.work) as seat:
        seat.ready()
        seat.idle(10)
        yield seat, out

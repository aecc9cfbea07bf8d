"""From what was seen and sent to figures; the names of all figures, with their units."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tests.benchmarks.screen.replay_text import MARK_TOKENS
from tests.benchmarks.screen.stand import BEHIND_S, Played, Sent
from tests.benchmarks.screen.terminal import Picture


class _Line(msgspec.Struct):
    t_ns: int
    name: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Something happened."""

    at_s: float
    name: str
    """See `tui.core.stamping`."""
    detail: str


@dataclass(frozen=True, slots=True)
class Press:
    """An Esc inside the program; times are None where there is no stamp."""

    key_s: float | None
    """It was recognised."""
    frozen_s: float | None
    """Nothing lands any more."""
    wire_s: float | None
    """The server is being told."""
    still_s: float | None
    """The first frame behind it was written: that is how the text stays."""


def read(file: Path) -> tuple[Stamp, ...]:
    """All stamps, oldest first; a line that was cut is left out."""
    if not file.exists():
        return ()
    found = []
    for line in file.read_bytes().splitlines():
        with contextlib.suppress(msgspec.MsgspecError):
            stamp = msgspec.json.decode(line, type=_Line)
            found.append(Stamp(stamp.t_ns / 1e9, stamp.name, stamp.detail))
    return tuple(sorted(found, key=lambda stamp: stamp.at_s))


def press(stamps: Sequence[Stamp], pressed_s: float, within_s: float = 1.0) -> Press:
    """What became of an Esc that was pressed then."""
    near = [stamp for stamp in stamps if pressed_s <= stamp.at_s <= pressed_s + within_s]
    key_s = _first(near, "key", pressed_s, "escape")
    if key_s is None:
        return Press(None, None, None, None)
    frozen_s = _first(near, "frozen", key_s)
    still_s = None if frozen_s is None else _first(near, "painted", frozen_s)
    return Press(key_s, frozen_s, _first(near, "wire", key_s), still_s)


def late_ms(stamps: Sequence[Stamp], first_s: float, last_s: float) -> list[float]:
    """How late the event loop came to its turns between two times, in ms."""
    return [
        float(stamp.detail)
        for stamp in stamps
        if stamp.name == "late" and first_s <= stamp.at_s <= last_s
    ]


def _first(
    stamps: Sequence[Stamp], name: str, since_s: float, detail: str | None = None
) -> float | None:
    fitting: Iterator[float] = (
        stamp.at_s
        for stamp in stamps
        if stamp.name == name and stamp.at_s >= since_s and detail in (None, stamp.detail)
    )
    return next(fitting, None)


LAG_P95 = "paint lag p95 ms"
"""From the time at which a mark is due on the wire to that at which it is on the screen."""
SERVER_LATE = "server late p95 ms"
"""How far behind their times the tokens left the replay server, which is in the paint lag."""
DRAIN = "drain ms"
"""From the server's last token to the painted end of the text."""
CPU = "CPU s per 1,000 tokens"
"""Of the client and all that it started, from Enter to the painted end."""
PAINTED = "tokens/s painted"
"""All tokens, by the time from the first one sent to the last one painted."""
KEY_P95 = "key echo p95 ms"
"""From a key in the prompt to its character on the screen, while an answer streams."""
KEYS = "keys echoed %"
EDITOR_KEY_P95 = "editor key echo p95 ms"
"""The same of a key in an open file."""
ESC_KEY = "Esc pressed to recognised ms"
ESC_WIRE, ESC_FROZEN = "Esc recognised to wire ms", "Esc recognised to frozen ms"
ESC_STILL = "Esc recognised to still ms"
"""Still: the first frame after the freeze is written, so the text on the screen stays."""
PRESS_WIRE, PRESS_STILL = "Esc pressed to wire ms", "Esc pressed to last new text ms"
"""As seen from outside: what the server hears, what the screen shows."""
FIRST_PAINT, FIRST_KEY = "first paint ms", "first key echoed ms"
PAINT_AGAIN = "first paint of a start like the last one ms"
INTERPRETER = "a Python that prints one word ms"
"""From its start to the word: on a busy machine what the paint before is to be compared with."""
AGAIN_TIMES = "first paint of a start like the last one, times such a Python"
GUIDE_EDIT = "guide: first Enter to the first edit landed ms"
IDLE_CPU, IDLE_SOON = "idle CPU %", "idle CPU behind the first key %"
"""Of one core: once all is done, and in the two seconds after the first key's echo."""
RSS_START, RSS_LONG = "memory after start MB", "memory after a long session MB"
BLOCK_P95 = "loop block p95 ms"
END_WORK = "work before the last frame ms"
"""Processor time of the event loop's thread between two frames, the most right behind the last
token: what drain is made of, on a busy machine, too."""
END_S = 0.5
"""So long behind the last token."""
"""How late the event loop comes to its turns while a patch streams into a coloured file."""

Found = Iterator[tuple[str, float | None]]


def percentile(values: Sequence[float], share: float) -> float | None:
    """The value that so large a share does not exceed; None of nothing."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))] if ranked else None


def milliseconds(seconds: float | None) -> float | None:
    """Seconds as ms."""
    return None if seconds is None else seconds * 1000


def stream(played: Played) -> Found:
    """Of an answer that was watched from its first token to its end."""
    lags, drain_s = lags_s(played), _drain_s(played)
    yield LAG_P95, milliseconds(percentile(lags, 0.95))
    yield SERVER_LATE, milliseconds(played.sent.late_p95_s)
    yield DRAIN, milliseconds(drain_s)
    first_s, last_s = played.sent.first_s, played.sent.last_s
    if drain_s is None or first_s is None or last_s is None:
        return
    end_s = last_s + drain_s
    tokens = played.sent.tokens
    yield CPU, _cpu_until(played, end_s + BEHIND_S) / tokens * 1000
    yield PAINTED, (tokens - 1) / max(1e-3, end_s - first_s)


def lags_s(played: Played) -> list[float]:
    """Of each mark: it counts as painted when it, or one behind it, is on the screen."""
    first_s, rate = played.sent.first_s, played.asked.rate
    if first_s is None:
        return []
    lags, painted = [], iter(played.picture.marks)
    at_s, reached = next(painted, (0.0, -1))
    for number in marks_of(played):
        while reached < number:
            at_s, reached = next(painted, (0.0, 1 << 30))
        if reached == 1 << 30:
            break
        lags.append(at_s - first_s - (number + MARK_TOKENS - 1) / rate)
    return lags


def marks_of(played: Played) -> list[int]:
    """The marks of an answer, as they were sent."""
    from tests.benchmarks.screen.replay_text import pieces

    text = "".join(pieces(played.asked)[: played.sent.tokens])
    return [int(number) for number in played.asked.mark.findall(text)]


def keys(pressed: Sequence[tuple[float, str]], picture: Picture) -> Found:
    """Of keys: when each was pressed, and what then stands in the prompt."""
    found = echoes(pressed, picture)
    yield KEY_P95, milliseconds(percentile(found, 0.95))
    yield KEYS, 100 * len(found) / len(pressed) if pressed else None


def keys_in_editor(pressed: Sequence[tuple[float, str]], picture: Picture) -> Found:
    """The same of keys in an open file."""
    yield EDITOR_KEY_P95, milliseconds(percentile(echoes(pressed, picture), 0.95))


def echoes(pressed: Sequence[tuple[float, str]], picture: Picture) -> list[float]:
    """Seconds from each key to the text that it makes, of those that were seen."""
    return [picture.seen[text] - at_s for at_s, text in pressed if text in picture.seen]


def esc(pressed_s: float, sent: Sent, picture: Picture, trace: Sequence[Stamp]) -> Found:
    """Of one Esc; what only the trace tells is None without one."""
    if sent.stopped_s is not None:
        yield PRESS_WIRE, milliseconds(sent.stopped_s - pressed_s)
    later = [at_s for at_s, _ in picture.marks if at_s >= pressed_s]
    yield PRESS_STILL, milliseconds(max(later) - pressed_s if later else 0.0)
    told = press(trace, pressed_s)
    if told.key_s is None:
        return
    yield ESC_KEY, milliseconds(told.key_s - pressed_s)
    for name, at_s in (
        (ESC_WIRE, told.wire_s),
        (ESC_FROZEN, told.frozen_s),
        (ESC_STILL, max(later, default=told.key_s) if later else told.key_s),
    ):
        if at_s is not None:
            yield name, milliseconds(max(0.0, at_s - told.key_s))


def edit(played: Played, trace: Sequence[Stamp]) -> Found:
    """Of a patch that streams into a file."""
    first_s, last_s = played.sent.first_s, played.sent.last_s
    if first_s is not None and last_s is not None:
        yield BLOCK_P95, percentile(late_ms(trace, first_s, last_s), 0.95)
        behind = [
            float(one.detail.split()[1])
            for one in trace
            if one.name == "frame" and last_s < one.at_s < last_s + END_S
        ]
        yield END_WORK, max(behind, default=None)


def _drain_s(played: Played) -> float | None:
    end_s, last_s = played.picture.seen.get(played.asked.end), played.sent.last_s
    return None if end_s is None or last_s is None else max(0.0, end_s - last_s)


def _cpu_until(played: Played, end_s: float) -> float:
    samples = played.cpu_samples
    until = next((used for at_s, used in samples if at_s >= end_s), samples[-1][1])
    return until - samples[0][1]

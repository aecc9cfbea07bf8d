"""The real program in a pseudo-terminal while an edit streams into a file: frames, keys, text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.benchmarks.edit import figures
from tests.benchmarks.edit.figures import LINES, RATE, ROWS, SHORT_LINES, Plan
from tests.benchmarks.findings import Findings, Spot, Tell
from tests.benchmarks.screen.figures import Stamp, echoes, percentile, read
from tests.benchmarks.screen.measurement import EDITOR, pressed_keys
from tests.benchmarks.screen.replay_text import (
    EDITED,
    FUNCTION_LINES,
    EditKind,
    Wanted,
    pieces,
)
from tests.benchmarks.screen.stand import Played, Seat, Stand, stand
from tests.benchmarks.screen.terminal import Emulator
from tui.core.document.workspace import Workspace
from tui.core.edit_stream.events import Notation
from tui.core.files import FileRead
from tui.core.patches.landing import Landing
from tui.errors import DuettoError

KINDS: dict[Notation, EditKind] = {
    "apply_patch": "edit",
    "search_replace": "blocks",
    "unified_diff": "diff",
    "whole_file": "whole",
}
ACCEPT_ALL = b"\x1ba"
"""Alt+A of duetto's keymap."""
WRITTEN_S = 15.0
KEYS_LINE = 2 * FUNCTION_LINES
"""Where the edit begins while keys are pressed in the file's first line."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a run tells whom."""

    plan: Plan
    findings: Findings
    stand: Stand


def measure(plan: Plan, findings: Findings, tell: Tell) -> None:
    """Measure all that needs a screen. Raises DuettoError: there is no pyte."""
    Emulator(ROWS)
    with stand(ROWS) as place:
        told = Told(plan, findings, place)
        for _ in range(plan.repeats):
            for fmt in plan.formats:
                tell(f"an edit streams into {LINES:,} lines, {fmt}")
                with findings.guarded(fmt):
                    _streamed(told, fmt, LINES, fmt)
                tell(f"keys while it streams, {fmt}")
                with findings.guarded(fmt):
                    _typed(told, fmt)
            for lines in (SHORT_LINES, plan.long_lines):
                tell(f"an edit streams into {lines:,} lines")
                with findings.guarded(f"{lines:,} lines"):
                    _streamed(told, plan.formats[0], lines, f"{lines:,} lines")
    _compare(findings, plan.long_lines)


def _streamed(told: Told, fmt: Notation, lines: int, where: str) -> None:
    """An edit into the middle of a file, watched: frames, and what becomes of the file."""
    trace = told.stand.folder / f"edit-{time.monotonic_ns()}.jsonl"
    asked = _wanted(told, fmt, lines, lines // 2)
    with _duetto(told.stand, fmt, lines, trace) as (seat, file):
        seat.ready()
        seat.idle()
        played = seat.played(asked, seat.submit(asked))
        _judge_text(told.findings, asked, seat, file, where)
    for figure, value in _frames(played, read(trace)):
        told.findings.add(Spot(figure, where), value)


def _typed(told: Told, fmt: Notation) -> None:
    """Keys in the file's first line while an edit comes in below."""
    asked = _wanted(told, fmt, LINES, KEYS_LINE)
    with _duetto(told.stand, fmt, LINES) as (seat, file):
        seat.ready()
        seat.idle()
        submitted_s = seat.submit(asked)
        sent = seat.started(asked)
        seat.terminal.write(EDITOR)
        seat.terminal.rest(0.15)
        until_s = (sent.first_s or submitted_s) + asked.lasts_s - 0.1
        pressed = pressed_keys(seat.terminal, until_s)
        played = seat.played(asked, submitted_s, tuple(text for _, text in pressed))
        _judge_text(told.findings, asked, seat, file, f"{fmt}, with keys")
    found = [at_s * 1000 for at_s in echoes(pressed, played.picture)]
    for figure, value in (
        (figures.KEY_P95, percentile(found, 0.95)),
        (figures.KEY_MAX, max(found, default=None)),
        (figures.KEYS, 100 * len(found) / max(1, len(pressed))),
    ):
        if value is not None:
            told.findings.add(Spot(figure, fmt), value)


def _wanted(told: Told, fmt: Notation, lines: int, line: int) -> Wanted:
    """The answer to ask for; a whole file has as many tokens as it has."""
    if fmt != "whole_file":
        line = line // FUNCTION_LINES * FUNCTION_LINES
        tokens = int(RATE * told.plan.stream_s)
        return told.stand.wanted(RATE, tokens, kind=KINDS[fmt], line=line)
    asked = told.stand.wanted(RATE, 1, kind=KINDS[fmt], line=lines)
    return replace(asked, tokens=len(pieces(asked)))


@contextmanager
def _duetto(
    place: Stand, fmt: Notation, lines: int, trace: Path | None = None
) -> Iterator[tuple[Seat, Path]]:
    """The program with the file open, and where that is."""
    arguments = [] if fmt == "apply_patch" else ["--patch-format", fmt]
    arguments += [] if trace is None else ["--trace", str(trace)]
    with place.duetto(*arguments, lines=lines) as seat:
        yield seat, seat.work / EDITED


def _frames(played: Played, trace: Sequence[Stamp]) -> Iterator[tuple[str, float]]:
    """What each frame cost while the edit came."""
    first_s, last_s = played.sent.first_s, played.sent.last_s
    if first_s is None or last_s is None:
        return
    work = [
        float(stamp.detail.split()[1])
        for stamp in trace
        if stamp.name == "frame" and first_s <= stamp.at_s <= last_s
    ]
    # the first one has what was done since the frame before the answer: its waiting, too
    for figure, share in ((figures.FRAME_P50, 0.5), (figures.FRAME_P95, 0.95)):
        value = percentile(work[1:], share)
        if value is not None:
            yield figure, value


def _judge_text(findings: Findings, asked: Wanted, seat: Seat, file: Path, where: str) -> None:
    """Accept everything; the file must become what the whole patch makes of it."""
    before, wanted = file.read_bytes(), batch_result(asked, file.read_bytes())
    seat.terminal.write(ACCEPT_ALL)
    deadline = time.monotonic() + WRITTEN_S
    while file.read_bytes() == before and time.monotonic() < deadline:
        seat.terminal.rest(0.05)
    findings.add(Spot(figures.SAME, where), float(file.read_bytes() == wanted))


def batch_result(asked: Wanted, before: bytes) -> bytes:
    """What the patch, given whole, makes of the file. Raises DuettoError: it does not fit."""
    fmt = next(fmt for fmt, kind in KINDS.items() if kind == asked.kind)
    workspace = Workspace(lambda path: FileRead(before if path == EDITED else None))
    landing = Landing(workspace, turn=1, call_id="batch", fmt=fmt)
    landing.feed("".join(pieces(asked)))
    landing.finish(cut=False)
    if not landing.placed_all:
        raise DuettoError(f"{fmt}: the patch does not fit: {landing.failure or landing.report()}")
    return workspace.buffers[EDITED].encode()


def _compare(findings: Findings, long_lines: int) -> None:
    """A long file's frame against a short one's, of the runs that were cheapest."""
    runs = {
        lines: findings.runs.get(Spot(figures.FRAME_P95, f"{lines:,} lines"), [])
        for lines in (SHORT_LINES, long_lines)
    }
    if all(runs.values()):
        words = f"{long_lines:,} for {SHORT_LINES:,} lines"
        findings.add(
            Spot(figures.LONG_FILE, words), figures.ratio(runs[long_lines], runs[SHORT_LINES])
        )

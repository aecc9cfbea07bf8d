"""What ``duetto exec`` says: text for people, or one JSON event a line for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TextIO

from tui.core.edits.hunk import OPEN, Hunk
from tui.core.inert_text import PROSE, inert
from tui.core.meter import MeterView
from tui.core.turn import BlockKind
from tui.core.wire.events import Usage
from tui.engine.notices import Status, Trouble
from tui.engine.session import Session
from tui.errors import EXIT_INTERRUPTED

METER_S = 0.25
"""Between two meter events."""


class Report(Protocol):
    """Where a turn is told."""

    def started(self, session: Session) -> None:
        """The prompt was handed over."""

    def frame(self, session: Session) -> None:
        """Something changed."""

    def trouble(self, trouble: Trouble) -> None:
        """Something went wrong."""

    def ended(self, session: Session, left_out: Sequence[Hunk], code: int) -> None:
        """The turn is over, hunks are decided on."""


class Prose:
    """The new text of the model since the last look."""

    def __init__(self) -> None:
        self._block = 0
        self._read = 0
        self._spoken = False

    def new(self, session: Session) -> str:
        """Text that came since; blocks are set apart by an empty line."""
        said: list[str] = []
        blocks = session.transcript.blocks
        while self._block < len(blocks):
            block = blocks[self._block]
            if block.kind is BlockKind.TEXT and block.length > self._read:
                if self._read == 0 and self._spoken:
                    said.append("\n\n")
                said.append(block.text_since(self._read))
                self._read = block.length
                self._spoken = True
            if block.state == "open" and block.kind is BlockKind.TEXT:
                break
            if self._block == len(blocks) - 1 and block.state == "open":
                break
            self._block += 1
            self._read = 0
        return "".join(said)


class TextReport:
    """The model's prose on stdout, everything else on stderr."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out, self._err = out, err
        self._prose = Prose()
        self._ends_line = True
        self._blocks = 0
        """Blocks of the conversation that were looked at for notes."""

    def started(self, session: Session) -> None:
        """Nothing to say."""

    def frame(self, session: Session) -> None:
        """Print what the model said."""
        text = inert(self._prose.new(session).replace("\r", ""), PROSE)
        if text:
            self._out.write(text)
            self._out.flush()
            self._ends_line = text.endswith("\n")
        blocks, status = session.transcript.blocks, session.status
        for block in blocks[self._blocks :]:
            # how it ended is told by `ended`
            if block.kind is BlockKind.NOTE and status.busy and not status.stopping:
                self._say(f"duetto: {block.text}")
        self._blocks = len(blocks)

    def trouble(self, trouble: Trouble) -> None:
        """One line."""
        words = ": ".join(filter(None, (trouble.what, trouble.why)))
        step = f" ({trouble.next_step})" if trouble.next_step else ""
        self._say(f"duetto: {words}{step}")

    def ended(self, session: Session, left_out: Sequence[Hunk], code: int) -> None:
        """A line a file, and why hunks were left out."""
        self._finish_line()
        for line in summary(session.workspace.hunks):
            self._say(line)
        for hunk in left_out:
            why = hunk.reason or ", ".join(hunk.flags) or hunk.stage.value
            self._say(f"{hunk.path}: hunk {hunk.id} left out: {why}")
        if code == EXIT_INTERRUPTED:
            self._say(f"duetto: {session.status.stopped or 'interrupted'}")

    def _finish_line(self) -> None:
        if not self._ends_line:
            self._out.write("\n")
            self._out.flush()
            self._ends_line = True

    def _say(self, line: str) -> None:
        self._finish_line()
        self._err.write(inert(line) + "\n")
        self._err.flush()


class WireNews:
    """What changed on the way to the model since the last look."""

    def __init__(self) -> None:
        self._retry_s: float | None = None
        self._transport = "websocket"
        self._reconnects = 0
        self._steering: list[tuple[str, str]] = []
        self._blocks = 0

    def new(self, session: Session) -> Iterator[tuple[str, dict[str, object]]]:
        """Events by type: a wait before a try, a reconnection, another transport, a steer."""
        status = session.status
        notes = self._notes(session)
        left_s, last_s = status.retry_s, self._retry_s
        if left_s is not None and (last_s is None or left_s > last_s):
            yield "retry", {"in_s": _rounded(left_s), "why": notes[-1] if notes else ""}
        self._retry_s = left_s
        reconnects = sum({view.endpoint: view.reconnects for view in session.network()}.values())
        if reconnects > self._reconnects:
            yield "reconnected", {"endpoint": status.endpoint, "count": reconnects}
            self._reconnects = reconnects
        if status.transport != self._transport:
            self._transport = status.transport
            yield "transport", {"transport": status.transport, "endpoint": status.endpoint}
        fates = [*status.steering_fates, *["sent"] * len(status.steering)]
        steering = list(zip(status.steering, map(str, fates), strict=False))
        for text, fate in steering:
            if (text, fate) not in self._steering:
                yield "steer", {"text": text, "fate": fate}
        self._steering = steering

    def _notes(self, session: Session) -> list[str]:
        blocks = session.transcript.blocks
        fresh = [b.text for b in blocks[self._blocks :] if b.kind is BlockKind.NOTE]
        self._blocks = len(blocks)
        return fresh


class JsonReport:
    """One event a line; nothing else goes to stdout."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._prose = Prose()
        self._hunks: dict[int, tuple[object, ...]] = {}
        self._metered_s = 0.0
        self._wire = WireNews()

    def started(self, session: Session) -> None:
        """``turn.started``."""
        status = session.status
        self._event(
            "turn.started",
            role=status.role,
            model=status.models[status.role],
            endpoint=status.endpoint,
            rehearsal=status.rehearsal,
        )

    def frame(self, session: Session) -> None:
        """``retry``, ``transport``, ``steer``, ``text.delta``, ``hunk``, ``meter``."""
        for kind, fields in self._wire.new(session):
            self._event(kind, **fields)
        if text := self._prose.new(session):
            self._event("text.delta", delta=text)
        for hunk in session.workspace.hunks:
            state = (hunk.stage, hunk.decision, tuple(hunk.flags), hunk.reason)
            if hunk.stage not in OPEN and self._hunks.get(hunk.id) != state:
                self._hunks[hunk.id] = state
                self._event("hunk", **hunk_fields(hunk))
        now = session.now()
        view = session.meter.view(now)
        if now - self._metered_s >= METER_S and view.state != "done":
            self._metered_s = now
            self._meter(view)

    def trouble(self, trouble: Trouble) -> None:
        """``error``."""
        self._event(
            "error",
            severity=trouble.severity,
            message=trouble.what,
            why=trouble.why,
            next_step=trouble.next_step,
        )

    def ended(self, session: Session, left_out: Sequence[Hunk], code: int) -> None:
        """The last ``meter``, then ``turn.completed``, or ``error`` when it was interrupted."""
        self._meter(session.meter.view(session.now()))
        status = session.status
        fields = {
            "outcome": status.outcome,
            "model": status.served_model or status.models[status.role],
            **served_fields(status),
            "usage": usage_fields(session.meter.total()),
            "left_out": [hunk.id for hunk in left_out],
            "exit_code": code,
        }
        if status.outcome == "completed":
            self._event("turn.completed", **fields)
        else:
            message = status.stopped if status.outcome == "interrupted" else "the turn failed"
            self._event("error", severity="error", message=message or "interrupted", **fields)

    def _meter(self, view: MeterView) -> None:
        self._event(
            "meter",
            state=view.state,
            tokens_s=_rounded(view.tokens_s),
            estimated=view.estimated,
            ttft_s=_rounded(view.ttft_s),
            tokens=view.tokens,
            tokens_estimated=view.tokens_estimated,
            seconds=_rounded(view.seconds),
            reasoning=view.reasoning,
        )

    def _event(self, event: str, /, **fields: object) -> None:
        self._out.write(json.dumps({"type": event, **fields}) + "\n")
        self._out.flush()


def hunk_fields(hunk: Hunk) -> dict[str, object]:
    """A hunk as programs are told of it; lines are 1-based."""
    return {
        "id": hunk.id,
        "path": hunk.path,
        "kind": hunk.kind.value,
        "target": hunk.target,
        "stage": hunk.stage.value,
        "decision": hunk.decision.value,
        "line": None if hunk.start is None else hunk.start.line + 1,
        "added": hunk.added,
        "removed": hunk.removed,
        "flags": list(hunk.flags),
        "reason": hunk.reason,
    }


def served_fields(status: Status) -> dict[str, str]:
    """What is said of who answered, beside the model; nothing, if nothing was."""
    said = {
        "tier": status.served_tier,
        "served_endpoint": status.served_endpoint,
        "fallback_reason": status.fallback_reason,
    }
    return {name: words for name, words in said.items() if words}


def usage_fields(usage: Usage | None) -> dict[str, int | None] | None:
    """The server's count of the turn's tokens; None if it gave none."""
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }


def summary(hunks: Iterable[Hunk]) -> list[str]:
    """One line a file: how many hunks, how many lines, what became of them."""
    files: dict[str, list[Hunk]] = {}
    for hunk in hunks:
        files.setdefault(hunk.path, []).append(hunk)
    lines = []
    for path, mine in files.items():
        added, removed = sum(h.added for h in mine), sum(h.removed for h in mine)
        states = [
            h.decision.value if h.decidable or h.decision != "pending" else h.stage.value
            for h in mine
        ]
        counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
        lines.append(
            f"{path}  {len(mine)} hunk{'s' * (len(mine) != 1)}  +{added} -{removed}  ({counts})"
        )
    return lines


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)

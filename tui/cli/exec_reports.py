"""What ``duetto exec`` says of its turn: as text, or as one JSON event a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from tui.cli.apply import hunk_fields
from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import OPEN, Decision, Hunk
from tui.core.files import counted
from tui.core.inert_text import PROSE, brief, inert
from tui.core.meter import MeterView
from tui.core.wire.events import Usage
from tui.engine.budget import RAISE
from tui.engine.notices import Ask, DelegateView, Status, Trouble
from tui.engine.session import Session
from tui.engine.slash import BackgroundNews
from tui.errors import EXIT_INTERRUPTED, EXIT_OK

METER_S = 0.25
"""Between two meter events."""


class NewProse:
    """The new text of the model since the last look."""

    def __init__(self, session: Session, *, whole: bool = False, patient: bool = False) -> None:
        """``whole``: also what was said before.

        ``patient``: each text when it has ended, so that none is told that is said again.
        """
        self.void = 0
        """How many characters at the end of what was told are said again, from here on."""
        self._session, self._patient = session, patient
        self._block = 0 if whole else len(session.transcript.blocks)
        self._read = 0
        """Characters of this block that were looked at."""
        self._told = 0
        """Characters told of it, with the empty line before it."""
        self._chars = 0
        """Told in all."""
        self._broke: list[tuple[Block, int]] = []
        """What broke off, with the characters told of it: it may be said again."""
        before = session.transcript.blocks[: self._block]
        said = [block for block in before if block.kind is BlockKind.TEXT]
        self._cut = said[-1] if said and said[-1].state == "cut" else None
        """What an earlier run left half-said, as it may go on."""
        self._cut_is = (0, 0) if self._cut is None else (self._cut.rewritten, self._cut.length)

    def new(self, *, last: bool = False) -> str:
        """Text that came since; blocks are set apart by an empty line. ``last``: no more comes."""
        blocks = self._session.transcript.blocks
        said = [self._gone_on(self._cut, last)] if self._cut is not None else []
        self.void = sum(told for block, told in self._broke if block.state == "failed")
        self._broke = [(block, told) for block, told in self._broke if block.state != "failed"]
        self._chars -= self.void
        while self._block < len(blocks):
            block = blocks[self._block]
            if block.kind is BlockKind.TEXT:
                if self._waits(block, last):
                    break
                said.append(self._more(block))
            if block.state == "open" and (block.kind is BlockKind.TEXT or block is blocks[-1]):
                break
            self._block += 1
            self._read = self._told = 0
        return "".join(said)

    def _waits(self, block: Block, last: bool) -> bool:
        """Whether it is not to be told yet."""
        return self._patient and not last and block.state in ("open", "cut")

    def _more(self, block: Block) -> str:
        """More of a text."""
        more = ""
        if block.state == "failed":
            self.void += self._told
            self._chars -= self._told
        elif block.length > self._read:
            apart = "\n\n" if self._read == 0 and self._chars else ""
            more = apart + block.text_since(self._read)
            self._read = block.length
            self._told += len(more)
            self._chars += len(more)
        if block.state == "cut":
            self._broke.append((block, self._told))
        return more

    def _gone_on(self, block: Block, last: bool) -> str:
        """What came to a text that was cut; all of it, where it was begun anew."""
        if self._waits(block, last):
            return ""
        rewritten, read = self._cut_is
        self._cut_is = block.rewritten, block.length
        more = block.text_since(read if block.rewritten == rewritten else 0)
        self._chars += len(more)
        return more


class CallNews:
    """The model's calls since the last look; of a patch the hunks tell."""

    def __init__(self, session: Session, *, whole: bool = False) -> None:
        """``whole``: also those of before."""
        self._session = session
        self._blocks = 0 if whole else len(session.transcript.blocks)
        self._open: list[tuple[Block, bool]] = []
        """What has not ended, and whether it was told that it began."""

    def new(self) -> Iterator[tuple[Block, bool]]:
        """Each call that began (False) or ended (True)."""
        blocks = self._session.transcript.blocks
        fresh = [b for b in blocks[self._blocks :] if b.turn and b.kind in _CALLS]
        self._blocks = len(blocks)
        looked, self._open = [*self._open, *((block, False) for block in fresh)], []
        for block, told in looked:
            if block.title and not told:
                yield block, False
            if block.state != "open":
                yield block, True
            else:
                self._open.append((block, bool(block.title)))


_CALLS = (BlockKind.TOOL, BlockKind.RUN)


class DelegateStates:
    """What becomes of what is delegated since the last look."""

    def __init__(self, session: Session) -> None:
        """Those of an earlier start are not told of."""
        self._session = session
        self._told = {one.number: one.state for one in session.status.delegates}

    def new(self) -> Iterator[tuple[DelegateView, str]]:
        """Each that works, waits or came home, and that in words; not safe to show as it is."""
        for one in self._session.status.delegates:
            if one.state == self._told.get(one.number) or one.state == "done":
                continue
            self._told[one.number] = one.state
            waits, kept_as = one.state in ("failed", "paused"), self._session.stored_as
            step = go_on_words(kept_as, one.number) if kept_as else ""
            lost = one.ended.startswith("stopped;")  # nobody can take it here
            ended = "stopped: what it changed is gone" if lost else one.ended
            yield one, "; ".join(filter(None, (ended or one.state, step * waits)))


def go_on_words(session_id: str, number: int) -> str:
    """How a delegate that waits in a session goes on without a screen."""
    return f'duetto exec --resume {session_id} "/tasks go d{number}" goes on with it'


class TextReport:
    """The model's prose on stdout, everything else on stderr.

    A terminal shows it as it comes. A pipe or a file gets each text when it has ended: one that
    breaks off, and is said again, is not in it.
    """

    def __init__(self, session: Session, out: TextIO, err: TextIO) -> None:
        """What the session says already, as it goes on, is not told again."""
        self._session, self._out, self._err = session, out, err
        self._seen, self._delegated = session, DelegateStates(session)
        self._prose = NewProse(session, patient=not out.isatty())
        self._ends_line = True
        self._calls = CallNews(session)
        self._background = BackgroundNews()
        self._past = {h for h in session.workspace.hunks if h.decision != Decision.PENDING}
        """Hunks that were decided on in an earlier session."""
        self._blocks = len(session.transcript.blocks)
        """Blocks of the conversation that were looked at for notes."""
        self._told: list[str] = []
        """What went wrong, and is a note, too."""

    def started(self) -> None:
        """Nothing to say."""

    def tasks(self) -> None:
        """What was delegated and waits, a line each."""
        for one in self._session.status.left:
            words = f"{brief(one.prompt)}{' (done)' * one.done}"
            step = go_on_words(one.session, one.number)
            self._out.write(inert(f"d{one.number}  {words}: {step}") + "\n")
        if not self._session.status.left:
            self._say("duetto: no delegate waits in a session of this folder")

    def follow(self, lane: Session) -> None:
        """Tell from now on what this session says; the hunks are those that come home of it."""
        self._seen, self._blocks = lane, 0
        self._prose = NewProse(lane, whole=True, patient=not self._out.isatty())
        self._calls = CallNews(lane, whole=True)
        self._background = BackgroundNews()

    def frame(self) -> None:
        """Print what the model said."""
        self._say_prose()
        for call, ended in self._calls.new():
            if call.kind is BlockKind.RUN:
                self._say(_ending(call) if ended else f"$ {call.title}")
        blocks, status = self._seen.transcript.blocks, self._seen.status
        for _, words in self._background.new(status):
            self._say(f"duetto: {words}")
        for one, words in self._delegated.new():
            self._say(f"duetto: delegate d{one.number} ({one.model}): {words}")
        for block in blocks[self._blocks :]:
            # how it ended is told by `ended`
            told = any(block.text.startswith(what) for what in self._told)
            if block.kind is BlockKind.NOTE and status.busy and not (status.stopping or told):
                for line in block.text.split("\n"):
                    self._say(f"duetto: {line}")
        self._blocks = len(blocks)

    def trouble(self, trouble: Trouble) -> None:
        """One line, behind what the model said before it."""
        self._say_prose()
        self._told += [trouble.what] if trouble.noted else []
        words = trouble.words
        step = f" ({step})" if (step := _step(trouble)) else ""
        self._say(f"duetto: {words}{step}")

    def asked(self, ask: Ask, choice: str) -> None:
        """Why a command did not run, or what was not done."""
        if ask.command:
            self._say("duetto: not run, as there is nobody to ask (--allow PREFIX, --mode sandbox)")
        else:
            self._say(f"duetto: there is nobody to ask: {ask.question} {choice}")

    def ended(self, left_out: Sequence[Hunk], code: int) -> None:
        """A line a file, and why hunks were left out."""
        self._say_prose(last=True)
        self._finish_line()
        for line in summary(
            hunk for hunk in self._session.workspace.hunks if hunk not in self._past
        ):
            self._say(line)
        for hunk in left_out:
            self._say(left_out_words(hunk))
        if code == EXIT_INTERRUPTED:
            self._say(f"duetto: {self._seen.status.stopped or 'interrupted'}")

    def _say_prose(self, *, last: bool = False) -> None:
        text = self._prose.new(last=last or not self._seen.status.busy)
        text = inert(text.replace("\r", ""), PROSE)
        if self._prose.void:
            self._finish_line()  # a terminal shows what broke off
        if text:
            self._out.write(text)
            self._out.flush()
            self._ends_line = text.endswith("\n")

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

    def __init__(self, session: Session) -> None:
        self._session = session
        self._retry_s: float | None = None
        self._transport = "websocket"
        self._reconnects = 0
        self._steering: list[tuple[str, str]] = []
        self._blocks = len(session.transcript.blocks)
        self._note = ""
        """What was noted last: a wait begins after the note of it, perhaps in another frame."""

    def new(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Events by type: a wait before a try, a reconnection, another transport, a steer."""
        session, status = self._session, self._session.status
        blocks = session.transcript.blocks
        for block in blocks[self._blocks :]:
            self._note = block.text if block.kind is BlockKind.NOTE else self._note
        self._blocks = len(blocks)
        left_s, last_s = status.retry_s, self._retry_s
        if left_s is not None and (last_s is None or left_s > last_s):
            yield "retry", {"in_s": _rounded(left_s), "why": self._note}
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


class JsonReport:
    """One event a line; nothing else goes to stdout."""

    def __init__(self, session: Session, out: TextIO) -> None:
        """What the session says already, as it goes on, is not told again."""
        self._session, self._out = session, out
        self._seen, self._delegated = session, DelegateStates(session)
        self._prose = NewProse(session)
        self._hunks = {hunk.id: _told(hunk) for hunk in session.workspace.hunks}
        self._metered_s = 0.0
        self._wire = WireNews(session)
        self._calls = CallNews(session)
        self._background = BackgroundNews()

    def started(self) -> None:
        """``turn.started``."""
        status = self._seen.status
        self._event(
            "turn.started",
            role=status.role,
            model=status.models[status.role],
            endpoint=status.endpoint,
            rehearsal=status.rehearsal,
        )

    def tasks(self) -> None:
        """A ``delegate`` for each that waits."""
        for one in self._session.status.left:
            state, step = "done" if one.done else "paused", go_on_words(one.session, one.number)
            fields = {"delegate": one.number, "session": one.session, "state": state}
            self._event("delegate", **fields, prompt=one.prompt, message=step)

    def follow(self, lane: Session) -> None:
        """Tell from now on what this session says; the hunks are those that come home of it."""
        self._seen, self._wire, self._background = lane, WireNews(lane), BackgroundNews()
        self._prose, self._calls = NewProse(lane, whole=True), CallNews(lane, whole=True)

    def frame(self) -> None:
        """``retry``, ``transport``, ``steer``, ``text.delta``, ``tool.*``, ``hunk``, ``meter``.

        ``text.void``: so many of the last characters broke off, and are said again. Of what is
        delegated also ``delegate``.
        """
        for kind, fields in self._wire.new():
            self._event(kind, **fields)
        self._say_prose()
        for block, ended in self._calls.new():
            self._call(block, ended)
        for task, words in self._background.new(self._seen.status):
            self._event("tool.background", call_id=task.call_id, task=task.number, message=words)
        for one, words in self._delegated.new():
            fields = {"delegate": one.number, "model": one.model, "state": one.state}
            self._event("delegate", **fields, message=words)
        for hunk in self._session.workspace.hunks:
            if hunk.stage not in OPEN and self._hunks.get(hunk.id) != _told(hunk):
                self._hunks[hunk.id] = _told(hunk)
                self._event("hunk", **hunk_fields(hunk))
        now = self._session.now()
        view = self._seen.meter.view(now)
        if now - self._metered_s >= METER_S and view.state != "done":
            self._metered_s = now
            self._meter(view)

    def trouble(self, trouble: Trouble) -> None:
        """``error``, behind what the model said before it."""
        self._say_prose()
        self._event(
            "error",
            severity=trouble.severity,
            message=trouble.what,
            why=trouble.why,
            next_step=_step(trouble),
        )

    def asked(self, ask: Ask, choice: str) -> None:
        """``consent``."""
        self._event(
            "consent",
            question=ask.question,
            command=ask.command,
            detail=ask.detail,
            answer=choice,
        )

    def _say_prose(self) -> None:
        text = self._prose.new()
        if self._prose.void:
            self._event("text.void", chars=self._prose.void)
        if text:
            self._event("text.delta", delta=text)

    def _call(self, block: Block, ended: bool) -> None:
        """``tool.call`` and ``tool.result``; a command's output is in its result."""
        kind = "command" if block.kind is BlockKind.RUN else "tool"
        fields = {"call_id": block.call_id, "kind": kind, "title": block.title}
        if not ended:
            self._event("tool.call", **fields)
            return
        states = {"done": "completed", "failed": "failed", "cut": "interrupted"}
        self._event("tool.result", **fields, state=states[block.state], output=block.text)

    def ended(self, left_out: Sequence[Hunk], code: int) -> None:
        """The last ``meter``, then ``turn.completed``, or ``error`` when it was interrupted."""
        self._meter(self._seen.meter.view(self._seen.now()))
        status = self._seen.status
        fields = {
            "outcome": status.outcome,
            "model": status.served_model or status.models[status.role],
            **served_fields(status),
            "usage": usage_fields(self._seen.meter.total()),
            "left_out": [hunk.id for hunk in left_out],
            "exit_code": code,
        }
        if self._session.stored_as:
            fields["session"] = self._session.stored_as
        if status.outcome == "completed" or code == EXIT_OK:
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
            tool_s=_rounded(view.tool_s),
        )

    def _event(self, event: str, /, **fields: object) -> None:
        self._out.write(json.dumps({"type": event, **fields}) + "\n")
        self._out.flush()


def _step(trouble: Trouble) -> str:
    """What can be done about it; here no command raises a limit of money."""
    return _LIMITS if trouble.next_step == RAISE else trouble.next_step


_LIMITS = "--max-cost, --max-session-cost, --max-day-cost or [limits] in config.toml raises it"


def _told(hunk: Hunk) -> tuple[object, ...]:
    """What is told of a hunk."""
    return (hunk.stage, hunk.decision, tuple(hunk.flags), hunk.reason)


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
        lines.append(f"{path}  {counted(len(mine), 'hunk')}  +{added} -{removed}  ({counts})")
    return lines


def left_out_words(hunk: Hunk) -> str:
    """Why a hunk was not applied."""
    why = hunk.reason or ", ".join(hunk.flags) or hunk.stage.value
    return f"{hunk.path}: hunk {hunk.id} left out: {why}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _ending(call: Block) -> str:
    """How a command ended, or why it did not run."""
    last = call.text.rstrip("\n").rpartition("\n")[2]
    return f"{last} {call.title}" if last.startswith("[") else f"{call.title}: {last}"

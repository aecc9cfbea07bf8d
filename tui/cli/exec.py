"""``duetto exec``: one turn without a screen."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TextIO, TypedDict, Unpack, get_args

import click
from msgspec.structs import replace

from tui.cli.apply import hunk_fields
from tui.cli.composition import Composition, tracer_for
from tui.cli.models import SessionSetup, resolve
from tui.cli.open_app import command_prefix, log_broken, session_options
from tui.cli.options import (
    Again,
    ModelFlags,
    Number,
    model_options,
    record_option,
    settings_for,
    trace_option,
)
from tui.cli.process import text_of
from tui.cli.target import target_of
from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import OPEN, PLACED, Decision, Hunk, Stage
from tui.core.inert_text import PROSE, inert
from tui.core.meter import MeterView
from tui.core.wire.events import Usage
from tui.engine.intents import Accept, Answer, Compact, Intent, Interrupt, Mode, Prompt, Role
from tui.engine.notices import Ask, Status, Trouble
from tui.engine.session import Session, SessionOptions
from tui.engine.slash import COMMANDS, NO_SUMMARY, BackgroundNews, asked, split_command
from tui.errors import (
    EXIT_DECLINED,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_OVER_BUDGET,
    EXIT_UNREACHABLE,
    UsageError,
)
from tui.settings import Paths

METER_S = 0.25
"""Between two meter events."""


class Report(Protocol):
    """Where a turn is told."""

    def started(self) -> None:
        """The prompt was handed over."""

    def frame(self) -> None:
        """Something changed."""

    def trouble(self, trouble: Trouble) -> None:
        """Something went wrong."""

    def asked(self, ask: Ask, choice: str) -> None:
        """A question was answered in the user's stead."""

    def ended(self, left_out: Sequence[Hunk], code: int) -> None:
        """The turn is over, hunks are decided on."""


CONTINUE = "/continue"
"""As the prompt: the last answer of the session goes on where it was cut."""
COMPACT = "/compact"
"""As the prompt: no turn, but a summary instead of what was said; behind it ``show``, or words."""
_COMMANDS = ("ask", "change", "continue", "inspect")
_ONLY = "exec has only /ask, /change, /compact, /continue and /inspect"


class NewProse:
    """The new text of the model since the last look."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._block = len(session.transcript.blocks)
        self._read = 0
        self._spoken = False
        said = [block for block in session.transcript.blocks if block.kind is BlockKind.TEXT]
        self._cut = said[-1] if said and said[-1].state == "cut" else None
        """What an earlier run left half-said, as it may go on."""
        self._cut_is = (0, 0) if self._cut is None else (self._cut.rewritten, self._cut.length)

    def new(self) -> str:
        """Text that came since; blocks are set apart by an empty line."""
        blocks = self._session.transcript.blocks
        said = [self._gone_on(self._cut)] if self._cut is not None else []
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

    def _gone_on(self, block: Block) -> str:
        """What came to a text that was cut; all of it, where it was begun anew."""
        rewritten, read = self._cut_is
        self._cut_is = block.rewritten, block.length
        self._spoken |= block.rewritten != rewritten or block.length > read
        return block.text_since(read if block.rewritten == rewritten else 0)


class CallNews:
    """The model's calls since the last look; of a patch the hunks tell."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._blocks = len(session.transcript.blocks)
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


class TextReport:
    """The model's prose on stdout, everything else on stderr."""

    def __init__(self, session: Session, out: TextIO, err: TextIO) -> None:
        """What the session says already, as it goes on, is not told again."""
        self._session, self._out, self._err = session, out, err
        self._prose = NewProse(session)
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

    def frame(self) -> None:
        """Print what the model said."""
        text = inert(self._prose.new().replace("\r", ""), PROSE)
        if text:
            self._out.write(text)
            self._out.flush()
            self._ends_line = text.endswith("\n")
        for call, ended in self._calls.new():
            if call.kind is BlockKind.RUN:
                self._say(_ending(call) if ended else f"$ {call.title}")
        blocks, status = self._session.transcript.blocks, self._session.status
        for _, words in self._background.new(status):
            self._say(f"duetto: {words}")
        for block in blocks[self._blocks :]:
            # how it ended is told by `ended`
            told = any(block.text.startswith(what) for what in self._told)
            if block.kind is BlockKind.NOTE and status.busy and not (status.stopping or told):
                for line in block.text.split("\n"):
                    self._say(f"duetto: {line}")
        self._blocks = len(blocks)

    def trouble(self, trouble: Trouble) -> None:
        """One line."""
        self._told += [trouble.what] if trouble.noted else []
        words = ": ".join(filter(None, (trouble.what, trouble.why)))
        step = f" ({trouble.next_step})" if trouble.next_step else ""
        self._say(f"duetto: {words}{step}")

    def asked(self, ask: Ask, choice: str) -> None:
        """Why a command did not run, or what was not done."""
        if ask.command:
            self._say("duetto: not run, as there is nobody to ask (--allow PREFIX, --mode sandbox)")
        else:
            self._say(f"duetto: there is nobody to ask: {ask.question} {choice}")

    def ended(self, left_out: Sequence[Hunk], code: int) -> None:
        """A line a file, and why hunks were left out."""
        self._finish_line()
        for line in summary(
            hunk for hunk in self._session.workspace.hunks if hunk not in self._past
        ):
            self._say(line)
        for hunk in left_out:
            why = hunk.reason or ", ".join(hunk.flags) or hunk.stage.value
            self._say(f"{hunk.path}: hunk {hunk.id} left out: {why}")
        if code == EXIT_INTERRUPTED:
            self._say(f"duetto: {self._session.status.stopped or 'interrupted'}")

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
        self._prose = NewProse(session)
        self._hunks = {hunk.id: _told(hunk) for hunk in session.workspace.hunks}
        self._metered_s = 0.0
        self._wire = WireNews(session)
        self._calls = CallNews(session)
        self._background = BackgroundNews()

    def started(self) -> None:
        """``turn.started``."""
        status = self._session.status
        self._event(
            "turn.started",
            role=status.role,
            model=status.models[status.role],
            endpoint=status.endpoint,
            rehearsal=status.rehearsal,
        )

    def frame(self) -> None:
        """``retry``, ``transport``, ``steer``, ``text.delta``, ``tool.*``, ``hunk``, ``meter``."""
        for kind, fields in self._wire.new():
            self._event(kind, **fields)
        if text := self._prose.new():
            self._event("text.delta", delta=text)
        for block, ended in self._calls.new():
            self._call(block, ended)
        for task, words in self._background.new(self._session.status):
            self._event("tool.background", call_id=task.call_id, task=task.number, message=words)
        for hunk in self._session.workspace.hunks:
            if hunk.stage not in OPEN and self._hunks.get(hunk.id) != _told(hunk):
                self._hunks[hunk.id] = _told(hunk)
                self._event("hunk", **hunk_fields(hunk))
        now = self._session.now()
        view = self._session.meter.view(now)
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

    def asked(self, ask: Ask, choice: str) -> None:
        """``consent``."""
        self._event(
            "consent",
            question=ask.question,
            command=ask.command,
            detail=ask.detail,
            answer=choice,
        )

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
        self._meter(self._session.meter.view(self._session.now()))
        status = self._session.status
        fields = {
            "outcome": status.outcome,
            "model": status.served_model or status.models[status.role],
            **served_fields(status),
            "usage": usage_fields(self._session.meter.total()),
            "left_out": [hunk.id for hunk in left_out],
            "exit_code": code,
        }
        if self._session.stored_as:
            fields["session"] = self._session.stored_as
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
            tool_s=_rounded(view.tool_s),
        )

    def _event(self, event: str, /, **fields: object) -> None:
        self._out.write(json.dumps({"type": event, **fields}) + "\n")
        self._out.flush()


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
        lines.append(
            f"{path}  {len(mine)} hunk{'s' * (len(mine) != 1)}  +{added} -{removed}  ({counts})"
        )
    return lines


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


FRAME_S = 0.01
STOPPED_S = 0.2
"""Behind SIGINT, a server has so long to say how much it has counted."""


class ExecOptions(TypedDict):
    """The options of the command."""

    role: Role | None
    as_json: bool
    apply: bool
    linked: bool
    mode: Mode | None
    allow: tuple[str, ...]
    max_rounds: int | None
    max_cost: float | None
    max_session_cost: float | None
    max_day_cost: float | None
    folder: str | None
    resume: str | None
    last: bool
    record: Path | None
    trace: Path | None


@click.command("exec")
@click.argument("prompt", metavar="PROMPT")
@click.option("--role", type=click.Choice(["fast", "deep"]), help="Who answers.")
@click.option("--json", "as_json", is_flag=True, help="One JSON event a line on stdout.")
@click.option("--apply", is_flag=True, help="Accept and write the hunks that have no flag.")
@click.option(
    "--linked",
    is_flag=True,
    help="Write hard links, too, wherever they lead; send those that lead outside.",
)
@click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    help="What the model's commands may do: manual refuses what is not allowed, sandbox runs"
    " them confined, plan changes nothing.",
)
@click.option(
    "--allow",
    metavar="PREFIX",
    multiple=True,
    help="Run the model's commands that begin so, as in --allow 'npm test'; may be repeated.",
)
@click.option(
    "--max-rounds", type=click.IntRange(1), metavar="N", help="Stop after so many responses."
)
@click.option(
    "--max-cost",
    type=Number(0, min_open=True),
    metavar="USD",
    help="Stop before the turn costs more.",
)
@click.option(
    "--max-session-cost",
    type=Number(0, min_open=True),
    metavar="USD",
    help="Stop before the session that goes on costs more in all.",
)
@click.option(
    "--max-day-cost",
    type=Number(0, min_open=True),
    metavar="USD",
    help="Stop before all sessions of today cost more.",
)
@click.option(
    "-C", "folder", metavar="DIR", help="The workspace [default: this folder, or the session's]."
)
@click.option("--resume", metavar="ID", help="Go on with an earlier session.")
@click.option("--last", is_flag=True, help="Go on with the last session of this folder.")
@record_option
@trace_option
@model_options
def exec_command(prompt: str, flags: ModelFlags, **choices: Unpack[ExecOptions]) -> int:
    """Run one turn: PROMPT goes to the model (- reads it from stdin), its text to stdout.

    With --resume or --last the prompt /continue lets an answer that was cut go on.

    Nothing is written without --apply. Exit: 0 done, 1 the turn failed or hunks were left out,
    2 usage, 3 endpoint unreachable, 4 a limit of money is reached, 5 done, but something was
    declined as there was nobody to ask, 130 interrupted.
    """
    again, folder = _again(choices), choices["folder"]
    if folder is None:
        folder = "." if again is None else str(again.folder)
    setup = _setup(folder, flags)
    text = _text(prompt)
    if not text.strip():
        raise UsageError('the prompt is empty: duetto exec "PROMPT", or - to read it from stdin')
    about = text.split(maxsplit=1)[0]
    if about in (CONTINUE, COMPACT) and again is None:
        raise UsageError(f"{about} needs a session to go on with: --resume ID or --last")
    options = replace(session_options(setup.settings), first_role=setup.models.first_role)
    if again is not None:
        options = again.options(options, setup.models.roles)
    chosen = choices["role"] or options.first_role
    if chosen not in setup.models.roles:
        raise UsageError(f"no {chosen} model is set up: add --{chosen} MODEL")
    rules = options.commands
    options = replace(
        _limited(options, choices),
        first_role=chosen,
        kind="exec",
        ambiguous=setup.settings.editor.ambiguous,
        linked=choices["linked"],
        mode=choices["mode"] or options.mode,
        commands=replace(
            rules,
            allow=(*rules.allow, *(command_prefix(one, "--allow") for one in choices["allow"])),
        ),
    )
    setup = replace(setup, tracer=tracer_for(choices["trace"]))
    composition = Composition(setup, options, watched=False, record=choices["record"])
    if choices["apply"]:
        for sentence in composition.unfinished():
            composition.session.warn(Trouble(sentence, severity="warning"))
    asked_of(text, composition.session.status)
    if text.strip() == CONTINUE and not composition.session.status.can_continue:
        raise UsageError("nothing to continue: the last answer is whole")
    if about == COMPACT:
        return asyncio.run(_compact(composition, text.strip().removeprefix(COMPACT).strip()))
    report: Report = TextReport(composition.session, sys.stdout, sys.stderr)
    if choices["as_json"]:
        report = JsonReport(composition.session, sys.stdout)
    code = asyncio.run(_run(composition, text, report, apply=choices["apply"]))
    if sys.stderr.isatty() and not choices["as_json"] and (name := composition.kept_as):
        print(f"duetto: to go on: duetto exec --resume {name}", file=sys.stderr)
    return code


def _limited(options: SessionOptions, choices: ExecOptions) -> SessionOptions:
    """The same with the limits that flags name."""
    limits, caps = options.limits, options.caps
    return replace(
        options,
        limits=replace(
            limits,
            rounds=choices["max_rounds"] or limits.rounds,
            usd=choices["max_cost"] or limits.usd,
        ),
        caps=replace(
            caps,
            session=choices["max_session_cost"] or caps.session,
            day=choices["max_day_cost"] or caps.day,
        ),
    )


def asked_of(text: str, status: Status) -> Intent:
    """What a prompt asks for: some commands are prompts, too. Raises UsageError."""
    name, argument = split_command(text.strip()) or ("", "")
    if name not in _COMMANDS:
        if name != "compact" and any(name == one.name for one in COMMANDS):
            raise UsageError(f"/{name} needs the app or --linear: {_ONLY}")
        return Prompt(text)
    intent = asked(name, argument, status)
    if not isinstance(intent, Intent):
        raise UsageError(intent or f"/{name} needs an argument")
    return intent


def _again(choices: ExecOptions) -> Again | None:
    """The session to go on with, if one is asked for. Raises UsageError, StoreRefused."""
    if choices["resume"] is None and not choices["last"]:
        return None
    from tui.cli import resume
    from tui.engine.sessions import Onward

    if choices["resume"] is not None and choices["last"]:
        raise UsageError("say --resume ID or --last, not both")
    paths, here = Paths.find(), choices["folder"] is not None
    asked = choices["resume"]
    # without a screen you would not see that it is another folder's
    chosen = resume.newest(paths, choices["folder"] or ".").id if asked is None else asked
    return resume.again(paths, Onward(chosen), here=here)


def _text(prompt: str) -> str:
    """The prompt as it is sent. Raises UsageError: it is no text."""
    text = text_of(sys.stdin.buffer, "stdin") if prompt == "-" else prompt
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError("the prompt is not UTF-8") from error
    if "\0" in text:
        raise UsageError("the prompt is not text: it holds a NUL character")
    return text


def _setup(folder: str, flags: ModelFlags) -> SessionSetup:
    if not folder:
        raise UsageError("-C needs a folder")
    target = target_of([folder])
    if target is not None and any(place.new for place in target.places):
        raise UsageError(f"no such file or folder: {folder}")
    if target is None or target.places:
        raise UsageError(f"-C {folder} is not a folder")
    paths = Paths.find()
    settings = settings_for(flags, paths)
    return SessionSetup(target.root, settings, resolve(settings, flags), paths)


async def _run(composition: Composition, text: str, report: Report, *, apply: bool) -> int:
    asyncio.get_running_loop().set_exception_handler(log_broken)
    turn = ExecTurn(composition.session, report, composition.recorded)
    try:
        code = await turn.play(text, apply=apply)
    finally:
        await composition.close()
    return EXIT_INTERRUPTED if turn.interrupted else code


async def _compact(composition: Composition, words: str) -> int:
    """Show what is sent for the beginning of the session, or have it written."""
    asyncio.get_running_loop().set_exception_handler(log_broken)
    session = composition.session
    try:
        if words == "show":
            print(inert(session.compaction().text, PROSE) or NO_SUMMARY)
            return EXIT_OK
        before, blocks = session.compaction().text, len(session.transcript.blocks)
        session.submit(Compact(words))
        await session.compaction().over()
        troubles = session.drain().troubles
        for block in session.transcript.blocks[blocks:]:
            print(f"duetto: {inert(block.text, PROSE)}", file=sys.stderr)
        for trouble in troubles:
            print(f"duetto: {trouble.what}: {trouble.why}", file=sys.stderr)
        return EXIT_OK if session.compaction().text != before else EXIT_FAILED
    finally:
        await composition.close()


_NOBODY = "there is nobody to ask: only commands that are allowed, or known to only read, run"


def _ending(call: Block) -> str:
    """How a command ended, or why it did not run."""
    last = call.text.rstrip("\n").rpartition("\n")[2]
    return f"{last} {call.title}" if last.startswith("[") else f"{call.title}: {last}"


class ExecTurn:
    """Plays one prompt and reports what comes."""

    def __init__(
        self,
        session: Session,
        report: Report,
        recorded: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """``recorded`` waits until a failed recording has been told of."""
        self._session = session
        self._report = report
        self._recorded = recorded
        self._woken = asyncio.Event()
        self._over = {h.id for h in session.workspace.hunks if h.decision != Decision.PENDING}
        """Hunks of an earlier session that were decided on in it."""
        self._blocks = len(session.transcript.blocks)
        self._unreachable = self._over_budget = False
        self._failed = self._declined = False
        self._leaves = False
        self.interrupted = False
        """Ctrl+C was pressed, whatever was over by then."""

    async def play(self, text: str, *, apply: bool) -> int:
        """Send, follow to the end, decide; returns the exit code."""
        session = self._session
        session.on_wake = self._woken.set
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(signal.SIGINT, self._interrupt)
        session.submit(asked_of(text, session.status))
        self._report.started()
        while (session.status.busy or session.prepares) and not self._leaves:
            await self._woken.wait()
            self._woken.clear()
            self._take()
            await asyncio.sleep(FRAME_S)
        self._take()
        if apply:
            self._decide()
            while session.formatting.running or session.writes_wait():
                self._take()
                await asyncio.sleep(FRAME_S)
        while session.hooks_run and not self._leaves:
            self._take()
            await asyncio.sleep(FRAME_S)
        if self._recorded is not None and not self.interrupted:
            await self._recorded()
        return self._concluded(apply=apply)

    def _concluded(self, *, apply: bool) -> int:
        """Tell how it ended; returns the exit code."""
        session = self._session
        hunks = [hunk for hunk in session.workspace.hunks if hunk.id not in self._over]
        left_out = [
            hunk
            for hunk in hunks
            if is_left_out(hunk, hunks) and (apply or hunk.stage not in PLACED)
        ]
        if unread := unread_patch(session.transcript.blocks[self._blocks :]):
            self._report.trouble(Trouble("A patch could not be read", unread, severity="warning"))
        self._take()
        code = self._code(bool(left_out or unread))
        self._report.ended(left_out, code)
        return code

    def _interrupt(self) -> None:
        self.interrupted = True
        self._session.submit(Interrupt())
        asyncio.get_running_loop().call_later(STOPPED_S, self._leave)

    def _leave(self) -> None:
        self._leaves = True
        self._woken.set()

    def _take(self) -> None:
        """Report what changed; questions get the safe answer: nobody is there to ask."""
        session = self._session
        notices = session.drain()
        for trouble in notices.troubles:
            self._unreachable |= trouble.unreachable
            self._over_budget |= trouble.over_budget
            self._failed |= trouble.severity == "error"
            self._report.trouble(trouble)
        self._report.frame()
        for ask in list(session.status.asks):
            session.submit(Answer(ask.id, ask.choices[-1], _NOBODY if ask.command else ""))
            self._report.asked(ask, ask.choices[-1])
            self._declined = True

    def _decide(self) -> None:
        """Accept what can be accepted unseen: neither it nor what it lies on has a flag."""
        session, workspace = self._session, self._session.workspace
        if session.status.outcome == "completed":
            chosen = [hunk.id for hunk in workspace.hunks if workspace.may_be_taken_as_read(hunk)]
            if chosen:
                session.submit(Accept(tuple(chosen)))

    def _code(self, left_out: bool) -> int:
        outcome = self._session.status.outcome
        if outcome == "interrupted" or self.interrupted:
            return EXIT_INTERRUPTED
        if self._unreachable:
            return EXIT_UNREACHABLE
        if self._over_budget:
            return EXIT_OVER_BUDGET
        if left_out or self._failed or outcome != "completed":
            return EXIT_FAILED
        return EXIT_DECLINED if self._declined else EXIT_OK


def unread_patch(blocks: Sequence[Block]) -> str:
    """What was wrong with the last patch, if it was none or ended early; empty if it was whole."""
    patches = [block for block in blocks if block.kind is BlockKind.PATCH]
    return patches[-1].text.strip() if patches and patches[-1].state == "failed" else ""


def is_left_out(hunk: Hunk, hunks: list[Hunk]) -> bool:
    """True for a hunk that was not applied, unless a later call did what it was about."""
    if hunk.decision is Decision.ACCEPTED:
        return False
    if hunk.stage in PLACED:
        return True
    return not any(
        later.id > hunk.id
        and later.call_id != hunk.call_id
        and later.path == hunk.path
        and later.stage is Stage.LANDED
        for later in hunks
    )

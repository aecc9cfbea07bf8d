"""``duetto exec``: one turn without a screen."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

import click

from tui.cli.composition import Composition, tracer_for
from tui.cli.exec_report import JsonReport, Report, TextReport
from tui.cli.open_app import log_broken
from tui.cli.options import ModelFlags, model_options, record_option, settings_for, trace_option
from tui.cli.resolution import resolve
from tui.cli.streams import text_of
from tui.cli.target import target_of
from tui.cli.workplace import Workplace
from tui.core.edits.hunk import PLACED, Decision, Hunk, Stage
from tui.core.turn import Block, BlockKind
from tui.engine.intents import Accept, Answer, Interrupt, Prompt, Role
from tui.engine.notices import Trouble
from tui.engine.session import Session, SessionOptions
from tui.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_UNREACHABLE,
    UsageError,
)
from tui.settings import Paths

FRAME_S = 0.01
STOPPED_S = 0.2
"""Behind SIGINT, a server has so long to say how much it has counted."""


class Choices(TypedDict):
    """The options of the command."""

    role: Role | None
    as_json: bool
    apply: bool
    linked: bool
    folder: str
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
    "-C", "folder", metavar="DIR", default=".", help="The workspace [default: this folder]."
)
@record_option
@trace_option
@model_options
def exec_command(prompt: str, flags: ModelFlags, **choices: Unpack[Choices]) -> int:
    """Run one turn: PROMPT goes to the model (- reads it from stdin), its text to stdout.

    Nothing is written without --apply. Exit: 0 done, 1 the turn failed or hunks were left out,
    2 usage, 3 endpoint unreachable, 130 interrupted.
    """
    workplace = _workplace(choices["folder"], flags)
    text = _text(prompt)
    if not text.strip():
        raise UsageError('the prompt is empty: duetto exec "PROMPT", or - to read it from stdin')
    chosen = choices["role"] or workplace.models.first_role
    if chosen not in workplace.models.roles:
        raise UsageError(f"no {chosen} model is set up: add --{chosen} MODEL")
    options = SessionOptions(
        first_role=chosen,
        ambiguous=workplace.settings.editor.ambiguous,
        linked=choices["linked"],
    )
    workplace = replace(workplace, tracer=tracer_for(choices["trace"]))
    composition = Composition(workplace, options, watched=False, record=choices["record"])
    if choices["apply"]:
        for sentence in composition.unfinished():
            composition.session.warn(Trouble(sentence, severity="warning"))
    report: Report = TextReport(sys.stdout, sys.stderr)
    if choices["as_json"]:
        report = JsonReport(sys.stdout)
    return asyncio.run(_run(composition, text, report, apply=choices["apply"]))


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


def _workplace(folder: str, flags: ModelFlags) -> Workplace:
    if not folder:
        raise UsageError("-C needs a folder")
    target = target_of([folder])
    if target is not None and any(place.new for place in target.places):
        raise UsageError(f"no such file or folder: {folder}")
    if target is None or target.places:
        raise UsageError(f"-C {folder} is not a folder")
    paths = Paths.find()
    settings = settings_for(flags, paths)
    return Workplace(target.root, settings, resolve(settings, flags), paths)


async def _run(composition: Composition, text: str, report: Report, *, apply: bool) -> int:
    asyncio.get_running_loop().set_exception_handler(log_broken)
    turn = Turn(composition.session, report, composition.recorded)
    try:
        code = await turn.play(text, apply=apply)
    finally:
        await composition.close()
    return EXIT_INTERRUPTED if turn.interrupted else code


class Turn:
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
        self._unreachable = False
        self._failed = False
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
        session.submit(Prompt(text))
        self._report.started(session)
        while session.status.busy and not self._leaves:
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
        if self._recorded is not None and not self.interrupted:
            await self._recorded()
        return self._concluded(apply=apply)

    def _concluded(self, *, apply: bool) -> int:
        """Tell how it ended; returns the exit code."""
        session = self._session
        hunks = session.workspace.hunks
        left_out = [
            hunk
            for hunk in hunks
            if is_left_out(hunk, hunks) and (apply or hunk.stage not in PLACED)
        ]
        if unread := unread_patch(session.transcript.blocks):
            self._report.trouble(Trouble("A patch could not be read", unread, severity="warning"))
        self._take()
        code = self._code(bool(left_out or unread))
        self._report.ended(session, left_out, code)
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
            self._failed |= trouble.severity == "error"
            self._report.trouble(trouble)
        self._report.frame(session)
        for ask in list(session.status.asks):
            session.submit(Answer(ask.id, ask.choices[-1]))

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
        return EXIT_FAILED if left_out or self._failed or outcome != "completed" else EXIT_OK


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

"""``duetto exec``: one turn without a screen, or attempts, whose table is told as JSON."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack, get_args

import click
from msgspec.structs import replace

from tui.cli.composition import Composition, tracer_for
from tui.cli.exec_reports import JsonReport, TextReport, left_out_words
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
from tui.cli.process import end_in_time, text_of
from tui.cli.target import target_of
from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import PLACED, Decision, Hunk, Stage
from tui.core.files import is_image_name
from tui.core.inert_text import PROSE, inert
from tui.core.session_record import LeftDelegate
from tui.engine.auto_effort import AutoEffort
from tui.engine.intents import (
    Accept,
    Answer,
    Compact,
    Delegate,
    Intent,
    Interrupt,
    MakeAttempts,
    Mode,
    Prompt,
    Role,
    StopAttempts,
    TakeAttempt,
    TendDelegate,
)
from tui.engine.notices import OVER, Notices, Status, Trouble
from tui.engine.session import Session, SessionOptions
from tui.engine.slash import COMMANDS, NO_SUMMARY, asked, split_command
from tui.errors import (
    EXIT_DECLINED,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_OVER_BUDGET,
    EXIT_UNREACHABLE,
    StoreRefused,
    UsageError,
)
from tui.settings import Paths

if TYPE_CHECKING:
    from tui.engine.attempts import AttemptView

CONTINUE = "/continue"
"""As the prompt: the last answer of the session goes on where it was cut."""
COMPACT = "/compact"
"""As the prompt: no turn, but a summary instead of what was said; behind it ``show``, or words."""
TASKS = "/tasks"
"""As the prompt: no turn, but a list of what is delegated and waits; behind it ``go d1``."""
_COMMANDS = ("ask", "attempts", "change", "continue", "delegate", "inspect", "race")
_ONLY = (
    "exec has only /ask, /attempts, /change, /compact, /continue, /delegate, /inspect, /race and"
    " /tasks"
)
_ONLY_TASKS = "nothing runs here: exec has only /tasks, and /tasks go, take, stop and tell D WORDS"
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
    image: tuple[str, ...]
    attempts: int | None
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
    "--image",
    metavar="FILE",
    multiple=True,
    help="Send this image with the prompt, as @FILE in it does; may be repeated.",
)
@click.option(
    "--attempts",
    type=int,
    metavar="N",
    help="Try it N times at once, have the tests choose, and print the table as JSON. The prompt"
    " '/attempts N --models A,B --temperature T --all PROMPT' says more.",
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

    With --resume or --last the prompt /continue lets an answer that was cut go on, '/tasks go d1'
    a delegate that waits; /tasks lists what waits.

    Nothing is written without --apply. Exit: 0 done, 1 the turn failed or hunks were left out,
    2 usage, 3 endpoint unreachable, 4 a limit of money is reached, 5 done, but something was
    declined as there was nobody to ask, 130 interrupted.
    """
    again, folder = _again(choices), choices["folder"]
    if folder is None:
        folder = "." if again is None else str(again.folder)
    setup = _setup(folder, flags)
    text = _with_images(_text(prompt), choices["image"])
    about = text.split(maxsplit=1)[0]
    if about in (CONTINUE, COMPACT, TASKS) and again is None and text.strip() != TASKS:
        raise UsageError(f"{about} needs a session to go on with: --resume ID or --last")
    options = _options(setup, choices, again)
    setup = replace(setup, tracer=tracer_for(choices["trace"]))
    composition = Composition(setup, options, watched=False, record=choices["record"])
    if choices["apply"]:
        for sentence in composition.unfinished():
            composition.session.warn(Trouble(sentence, severity="warning"))
    intent = asked_of(text, composition.session.status)
    if choices["attempts"] is not None or isinstance(intent, MakeAttempts):
        return play_attempts(composition, choices["attempts"], intent, apply=choices["apply"])
    _check(composition.session, text, intent, choices["role"])
    if about == COMPACT:
        words = text.strip().removeprefix(COMPACT).strip()
        return asyncio.run(to_end(composition, _compact(composition.session, words)))
    report: TextReport | JsonReport = TextReport(composition.session, sys.stdout, sys.stderr)
    if choices["as_json"]:
        report = JsonReport(composition.session, sys.stdout)
    if text.strip() == TASKS:
        return asyncio.run(to_end(composition, list_tasks(composition.session, report)))
    run = _run(composition, text, report, apply=choices["apply"])
    code = asyncio.run(to_end(composition, run))
    if sys.stderr.isatty() and not choices["as_json"] and (name := composition.kept_as):
        print(f"duetto: to go on: duetto exec --resume {name}", file=sys.stderr)
    return code


def _check(session: Session, text: str, intent: Intent, role: Role | None) -> None:
    """Raises UsageError: a prompt that is a command cannot be done so."""
    if isinstance(intent, Delegate) and role == "fast" and "deep" in session.services.state.roles:
        raise UsageError(
            "/delegate asks the deep model: send the prompt itself, or leave --role out"
        )
    if isinstance(intent, TendDelegate) and role is not None:
        raise UsageError("a delegate goes on with its own model: leave --role out")
    if text.strip() == CONTINUE and not session.status.can_continue:
        raise UsageError("nothing to continue: the last answer is whole")


def _options(setup: SessionSetup, choices: ExecOptions, again: Again | None) -> SessionOptions:
    """How the session behaves. Raises UsageError."""
    options = replace(session_options(setup.settings), first_role=setup.models.first_role)
    if again is not None:
        options = again.options(options, setup.models.roles)
    chosen = choices["role"] or options.first_role
    if chosen not in setup.models.roles:
        raise UsageError(f"no {chosen} model is set up: add --{chosen} MODEL")
    rules = options.commands
    return replace(
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
    if name == "tasks" and argument:
        tending = asked(name, argument, status)
        if isinstance(tending, TendDelegate) and tending.what in ("go", "take", "stop", "tell"):
            return tending
        raise UsageError(_ONLY_TASKS)
    if name not in _COMMANDS:
        if name not in ("compact", "tasks") and any(name == one.name for one in COMMANDS):
            raise UsageError(f"/{name} needs the app or --linear: {_ONLY}")
        return Prompt(text)
    intent = asked(name, argument, status)
    lacks = isinstance(intent, StopAttempts | TakeAttempt) or intent == Delegate()
    if not isinstance(intent, Intent) or lacks:
        raise UsageError(intent if isinstance(intent, str) else f"/{name} needs a prompt here")
    return intent


def _again(choices: ExecOptions) -> Again | None:
    """The session to go on with, if one is asked for. Raises UsageError, StoreRefused."""
    if choices["resume"] is None and not choices["last"]:
        return None
    from tui.cli import sessions
    from tui.engine.sessions import Onward

    if choices["resume"] is not None and choices["last"]:
        raise UsageError("say --resume ID or --last, not both")
    paths, here = Paths.find(), choices["folder"] is not None
    asked = choices["resume"]
    # without a screen you would not see that it is another folder's
    chosen = sessions.newest(paths, choices["folder"] or ".").id if asked is None else asked
    return sessions.again(paths, Onward(chosen), here=here)


def _text(prompt: str) -> str:
    """The prompt as it is sent. Raises UsageError: it is no text."""
    text = text_of(sys.stdin.buffer, "stdin") if prompt == "-" else prompt
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError("the prompt is not UTF-8") from error
    if "\0" in text:
        raise UsageError("the prompt is not text: it holds a NUL character")
    if not text.strip():
        raise UsageError('the prompt is empty: duetto exec "PROMPT", or - to read it from stdin')
    return text


def _with_images(text: str, files: Sequence[str]) -> str:
    """The prompt with the names of these images. Raises UsageError: one is not there, or none."""
    for name in files:
        path = Path(name).expanduser().absolute()
        if not path.is_file():
            raise UsageError(f"--image {name}: there is no such file")
        if not is_image_name(name):
            why = "its name is not that of an image; other files are named with @ in the prompt"
            raise UsageError(f"--image {name}: {why}")
        text = f"{text} @{json.dumps(str(path), ensure_ascii=False)}"
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
    return SessionSetup(target.root, settings, resolve(settings, flags), paths, flags=flags)


async def to_end(composition: Composition, work: Awaitable[int]) -> int:
    """Do it, then close all; the exit code that it gives."""
    asyncio.get_running_loop().set_exception_handler(log_broken)
    code = EXIT_FAILED
    try:
        code = await work
        return code
    finally:
        end_in_time(code)
        await composition.close()


async def _run(
    composition: Composition, text: str, report: TextReport | JsonReport, *, apply: bool
) -> int:
    turn = ExecTurn(composition.session, report, composition.recorded)
    AutoEffort(composition.session.services.state)
    code = await turn.play(text, apply=apply)
    return EXIT_INTERRUPTED if turn.interrupted else code


async def _compact(session: Session, words: str) -> int:
    """Show what is sent for the beginning of the session, or have it written."""
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


async def list_tasks(session: Session, report: TextReport | JsonReport) -> int:
    """Say what is delegated and waits: in this session, and in others of the folder."""
    archive, again = session.services.ports.archive, session.options.resumed
    left: list[LeftDelegate] = []
    if again is not None and not again.is_fork:
        name = again.stored.line.id
        left = [LeftDelegate(name, o.number, o.prompt, o.done) for o in again.stored.delegates.of]
    if archive is not None:
        with contextlib.suppress(StoreRefused):  # nothing is kept
            left += await archive().left(session.services.ports.files.root)
    session.status.left = left
    report.tasks()
    return EXIT_OK


_NOBODY = "there is nobody to ask: only commands that are allowed, or known to only read, run"


class ExecTurn:
    """Plays one prompt and reports what comes."""

    def __init__(
        self,
        session: Session,
        report: TextReport | JsonReport,
        recorded: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """``recorded`` waits until a failed recording has been told of."""
        self._session = self._seen = session
        self._delegate = 0
        """The number of what is delegated, whose session is ``_seen``; 0: the turn is our own."""
        self._report = report
        self._recorded = recorded
        self._woken = asyncio.Event()
        self._over = _decided(session)
        """Hunks of an earlier session that were decided on in it."""
        self._blocks = len(session.transcript.blocks)
        self._unreachable = self._over_budget = False
        self._failed = self._declined = False
        self._told = set[str]()
        """How bad what was told is."""
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
        session.submit(intent := asked_of(text, session.status))
        if isinstance(intent, Delegate):
            await self._follow(session.status.delegates[-1].number)
        elif isinstance(intent, TendDelegate):
            await self._follow(intent.number)
        self._report.started()
        while (session.status.busy or session.prepares or self._works) and not self._leaves:
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

    async def _follow(self, number: int) -> None:
        """Report what is delegated, from its first request on."""
        delegates, self._delegate = self._session.delegates, number
        delegates.verify = lambda: None  # judged already, and no file has changed since
        while self._works and not self._leaves:
            if isinstance(lane := delegates.session(number), Session):
                delegates.watch(number, self._tell)
                self._seen, self._blocks = lane, 0
                self._report.follow(lane)
                return
            await asyncio.sleep(FRAME_S)

    @property
    def _works(self) -> bool:
        """Whether the delegate goes on: it is not home, and waits for no answer."""
        return self._delegate_state in ("works", "done")

    @property
    def _delegate_state(self) -> str | None:
        delegates = self._session.status.delegates
        return next((one.state for one in delegates if one.number == self._delegate), None)

    @property
    def _outcome(self) -> str:
        """How it ended; what a delegate did before needs no answer to come home, or to be left."""
        if self._delegate and self._seen is self._session:
            return "completed" if self._delegate_state in OVER else "failed"
        return self._seen.status.outcome

    def _concluded(self, *, apply: bool) -> int:
        """Tell how it ended; returns the exit code."""
        session = self._session
        hunks = [hunk for hunk in session.workspace.hunks if hunk.id not in self._over]
        left_out = [
            hunk
            for hunk in hunks
            if is_left_out(hunk, hunks) and (apply or hunk.stage not in PLACED)
        ]
        if unread := unread_patch(self._seen.transcript.blocks[self._blocks :]):
            self._report.trouble(Trouble("A patch could not be read", unread, severity="warning"))
        self._take()
        code = self._code(bool(left_out or unread))
        self._report.ended(left_out, code)
        return code

    def _interrupt(self) -> None:
        self.interrupted = True
        one = self._delegate
        if not one:
            self._session.submit(Interrupt())
        elif self._delegate_state == "works":
            self._session.submit(TendDelegate(one, "pause"))
        asyncio.get_running_loop().call_later(STOPPED_S, self._leave)

    def _leave(self) -> None:
        self._leaves = True
        self._woken.set()

    def _take(self) -> None:
        """Report what changed; questions get the safe answer, as there is no user to ask."""
        self._tell(self._session.drain())
        self._report.frame()
        for session in dict.fromkeys((self._session, self._seen)):
            for ask in list(session.status.asks):
                session.submit(Answer(ask.id, ask.choices[-1], _NOBODY if ask.command else ""))
                self._report.asked(ask, ask.choices[-1])
                self._declined = True

    def _tell(self, notices: Notices) -> None:
        """Report what went wrong."""
        for trouble in notices.troubles:
            self._unreachable |= trouble.unreachable
            self._over_budget |= trouble.over_budget
            self._failed |= trouble.severity == "error"
            self._told.add(trouble.severity)
            self._report.trouble(trouble)

    def _decide(self) -> None:
        if self._outcome == "completed":
            _accept_unseen(self._session)

    def _code(self, left_out: bool) -> int:
        outcome = self._outcome
        if outcome == "interrupted" or self.interrupted:
            return EXIT_INTERRUPTED
        if self._unreachable:
            return EXIT_UNREACHABLE
        if self._over_budget:
            return EXIT_OVER_BUDGET
        idle = not outcome and self._told == {"information"}  # there was nothing to do
        if left_out or self._failed or not (outcome == "completed" or idle):
            return EXIT_FAILED
        return EXIT_DECLINED if self._declined else EXIT_OK


def _decided(session: Session) -> set[int]:
    """The hunks that were decided on."""
    return {h.id for h in session.workspace.hunks if h.decision != Decision.PENDING}


def _accept_unseen(session: Session) -> None:
    """Accept what can be accepted unseen: neither it nor what it lies on has a flag."""
    workspace = session.workspace
    chosen = [hunk.id for hunk in workspace.hunks if workspace.may_be_taken_as_read(hunk)]
    if chosen:
        session.submit(Accept(tuple(chosen)))


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


def play_attempts(
    composition: Composition, count: int | None, asked: Intent, *, apply: bool
) -> int:
    """Make them, print the table, and write what the winner changed if it is to be applied.

    Raises UsageError: there cannot be so many, a command is asked for, or nothing to apply.
    """
    if count is not None:
        from tui.core.attempts import AttemptPlan, count_refusal

        if not isinstance(asked, Prompt) or asked.text.split()[:1] in ([COMPACT], [TASKS]):
            why = "takes a prompt, not a command: duetto exec --attempts 5 PROMPT"
            raise UsageError(f"--attempts {why}")
        if problem := count_refusal(count):
            raise UsageError(f"--attempts {count}: {problem}")
        asked = MakeAttempts(AttemptPlan(count, asked.text))
    assert isinstance(asked, MakeAttempts)
    if asked.plan.race and apply:
        raise UsageError("a race changes no files: leave --apply out, or ask for --attempts 2")
    turn = AttemptsTurn(composition.session)
    return asyncio.run(to_end(composition, turn.play(asked, apply=apply)))


class AttemptsTurn:
    """Follows one run of attempts to its end."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._interrupted = self._unreachable = self._over_budget = False
        self._over = _decided(session)

    async def play(self, asked: MakeAttempts, *, apply: bool) -> int:
        """Returns the exit code."""
        session = self._session
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt)
        if (usd := session.options.limits.usd) is not None:  # all of them are one turn here
            self._limit(session.meter.session_usd + usd)
        session.submit(asked)
        await self._rest()
        for one in self._lanes_troubles():
            self._tell(one)
        wins = any(view.wins for view in session.attempts.views())
        left_out: list[Hunk] = []
        if wins and apply and not self._interrupted:
            _accept_unseen(session)
            await self._rest()
            left_out = self._left_out()
        print(json.dumps(table(session), indent=2, ensure_ascii=False))
        return self._code(wins=wins and not left_out)

    def _limit(self, usd: float) -> None:
        """Spend no more than so much in all."""
        budget = self._session.services.budget()
        caps = budget.caps
        budget.caps = replace(caps, session=usd if caps.session is None else min(usd, caps.session))

    def _lanes_troubles(self) -> list[Trouble]:
        """Why attempts failed, each reason once."""
        rows = [view.attempt for view in self._session.attempts.views()]
        return list(dict.fromkeys(row.trouble for row in rows if row.trouble is not None))

    def _left_out(self) -> list[Hunk]:
        """The winner's hunks that need a look; it is said why."""
        hunks = [one for one in self._session.workspace.hunks if one.id not in self._over]
        left = [one for one in hunks if is_left_out(one, hunks)]
        for hunk in left:
            print(left_out_words(hunk), file=sys.stderr)
        return left

    async def _rest(self) -> None:
        session = self._session
        while not session.at_rest:
            self._take()
            await asyncio.sleep(FRAME_S)
        self._take()

    def _take(self) -> None:
        """Say what went wrong; questions get the safe answer, as there is no user to ask."""
        for trouble in self._session.drain().troubles:
            self._tell(trouble)
        for ask in list(self._session.status.asks):
            print(f"duetto: {inert(ask.question)} {inert(ask.choices[-1])}", file=sys.stderr)
            self._session.submit(Answer(ask.id, ask.choices[-1]))

    def _tell(self, trouble: Trouble) -> None:
        self._unreachable |= trouble.unreachable
        self._over_budget |= trouble.over_budget
        words = trouble.words
        print(f"duetto: {inert(words)}", file=sys.stderr)

    def _interrupt(self) -> None:
        self._interrupted = True
        self._session.submit(StopAttempts())

    def _code(self, *, wins: bool) -> int:
        if self._interrupted:
            return EXIT_INTERRUPTED
        if wins:
            return EXIT_OK
        if self._unreachable:
            return EXIT_UNREACHABLE
        return EXIT_OVER_BUDGET if self._over_budget else EXIT_FAILED


def table(session: Session) -> dict[str, object]:
    """All that is known of the attempts, the best one first."""
    attempts = session.attempts
    views = attempts.views()
    if attempts.race:
        return {"race": [{**_row(view), **_clocks(view)} for view in views]}
    winner = next((view.attempt.number for view in views if view.wins), None)
    chances = {
        f"pass@{k}": {"share": share, "runs": runs}
        for k in (1, len(views))
        for share, runs in [attempts.tally.at(k)]
        if runs
    }
    return {"winner": winner, **chances, "attempts": [_row(view) for view in views]}


def _clocks(view: AttemptView) -> dict[str, object]:
    """Of a side of a race: seconds from its first request."""
    spec, clocks = view.attempt.spec, view.clocks
    return {
        "effort": spec.effort,
        "tier": spec.tier or None,
        "throttle": view.attempt.throttle,
        "ttft_s": clocks.ttft_s,
        "first_hunk_s": clocks.hunk_s,
        "last_token_s": clocks.last_s,
        "judged_s": clocks.judged_s,
    }


def _row(view: AttemptView) -> dict[str, object]:
    row, meter, result = view.attempt, view.meter, view.attempt.result
    return {
        "attempt": row.number,
        "model": row.spec.model,
        "temperature": row.spec.temperature,
        "verdict": result.verdict if result is not None else "",
        "reason": view.words,
        "broke": list(result.broke) if result is not None else [],
        "failed": list(result.failed) if result is not None else [],
        "files": sorted(row.changes),
        "added": view.added,
        "removed": view.removed,
        "tokens": meter.tokens,
        "tokens_estimated": meter.tokens_estimated,
        "tokens_s": meter.tokens_s,
        "usd": meter.cost.turn_usd,
        "seconds": round(view.seconds, 3),
        "not_allowed": list(row.denied),
    }

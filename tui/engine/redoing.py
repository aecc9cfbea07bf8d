"""Has the fast model make single hunks anew, by the user's words, while the review goes on.

Each is made on a lane of its own, over what the screen shows without that hunk; what comes takes
the hunk's place, and the tests that belong to its file say what they think of it. Whatever the
user does with the hunk meanwhile counts: then nothing is replaced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import NamedTuple

from tui.core.conversation import BlockKind
from tui.core.document.disk_plan import text_now
from tui.core.document.hunk import RED, REDOING, REDONE, Decision, Hunk, Kind, Stage
from tui.core.document.report import shown
from tui.core.files import counted, decoded
from tui.core.patches.bringing_home import LaneFile, bringing_home
from tui.core.programs import RunResult
from tui.core.run_report import RunReport, brought_in, ended_words
from tui.core.steps import finished
from tui.core.text.buffer import plain_text
from tui.core.text.carried import changed_only_at, row_in
from tui.core.text.rows import keep_ends, row_count, whole_text
from tui.engine import intents
from tui.engine.intents import Intent
from tui.engine.judging import Baseline, judged_apart, seen_alone
from tui.engine.lane_session import LaneSession, LaneSessions
from tui.engine.notices import Notices, Trouble
from tui.engine.ports import MAIN_LANE, Part, RoleSpec, Shadows, VerifyCommand
from tui.engine.services import Services
from tui.engine.verdict_state import Ground
from tui.engine.verification import runs_unasked
from tui.engine.verifier_plan import verdict_of
from tui.errors import DuettoError, EditRefused

_SAY_S = 0.25
"""Between two figures of how fast it comes."""
_SAID_CHARS = 160
"""Of what a model says that changed nothing."""
KEEP_WORDS = "Enter keeps your words for the next request"


class _RedoPlace(NamedTuple):
    """Where a hunk is made anew."""

    data: bytes | None
    """The file without the hunk; None: there is none."""
    text: str
    """What stands in it."""
    first: int
    last: int
    """Rows of that text that the hunk is about, the last one not included."""


class _Remade(NamedTuple):
    """What a model made of it."""

    data: bytes
    left_out: list[str]
    """What it changed elsewhere, in words."""


class _Redo:
    """A hunk that is made anew."""

    def __init__(self, hunk: Hunk, words: str) -> None:
        self.hunk, self.words = hunk, words
        self.task: asyncio.Task[None] | None = None
        self.why = ""
        """Why it was stopped."""
        self.say_again_s = 0.0


class _Vain(Exception):
    """Nothing came of it; the text says why."""


class Redoing:
    """All hunks of a session that are made anew."""

    def __init__(
        self,
        services: Services,
        lanes: LaneSessions,
        submit: Callable[[Intent], None],
        baseline: Baseline,
        runs: Callable[[], bool],
    ) -> None:
        """``submit`` asks the session for something; ``baseline`` is that of its verifiers.

        ``runs`` says whether one of these does.
        """
        self._services, self._lanes, self._submit = services, lanes, submit
        self._state, self._clock = services.state, services.ports.clock
        self._documents = services.state.workspace.documents
        self._redos: dict[int, _Redo] = {}
        """By the number of the hunk that is to be replaced."""
        self._judging: dict[int, asyncio.Task[None]] = {}
        """By the number of the new hunk."""
        self._in_turn, self._one_run = asyncio.Lock(), asyncio.Lock()
        self._moved = asyncio.Event()
        """Something has changed on the screen."""
        self._baseline, self._runs = baseline, runs
        self._tests_run: asyncio.Future[tuple[RunResult, RunReport]] | None = None
        """Those of one hunk."""
        services.state.before_drain.append(self._look)

    @property
    def at_work(self) -> list[int]:
        """The hunks that are made anew now, by their numbers."""
        return [*self._redos, *self._judging]

    def handle(self, intent: intents.RedoHunk | intents.StopRedoing) -> None:
        """Begin with one, or stop."""
        if isinstance(intent, intents.RedoHunk):
            self._begin(intent.hunk_id, intent.words.strip())
            return
        stopped = [intent.hunk_id] if intent.hunk_id else [*self._redos, *self._judging]
        for hunk_id in stopped:
            self._stop(hunk_id, "you stopped it")
            if (judging := self._judging.get(hunk_id)) is not None:
                judging.cancel()

    def _begin(self, hunk_id: int, words: str) -> None:
        hunks = self._state.workspace.hunk_list
        hunk = hunks.by_id(hunk_id) if hunk_id in hunks else None
        if why := "there is no such hunk" if hunk is None else self._why_not(hunk, words):
            step = f"your words were: {words}" if words else ""
            self._state.warn(f"Hunk {hunk_id} is not redone", why, step)
        elif hunk is not None:
            self._stop(hunk_id, "")
            redo = self._redos[hunk_id] = _Redo(hunk, words)
            redo.task = self._services.supervisor.start(self._run(redo), f"hunk {hunk_id} anew")
            redo.task.add_done_callback(lambda _: self._over(redo))
            self._say(hunk, REDOING)

    def _why_not(self, hunk: Hunk, words: str) -> str:
        if not words:
            return "say what is wrong with it"
        if not hunk.decidable or hunk.stage is not Stage.LANDED:
            return "it is not pending"
        if hunk.kind not in (Kind.EDIT, Kind.ADD):
            return f"it {'moves' if hunk.kind is Kind.MOVE else 'deletes'} a file; {KEEP_WORDS}"
        if self._is_edited(hunk):
            return f"its text was changed since; {KEEP_WORDS}"
        return ""

    def _is_edited(self, hunk: Hunk) -> bool:
        record = self._documents.records.get(hunk.path)
        if record is None or hunk.start is None or hunk.end is None:
            return True
        return text_now(record, hunk) != hunk.agent

    def _stop(self, hunk_id: int, why: str) -> None:
        redo = self._redos.pop(hunk_id, None)
        if redo is not None and redo.task is not None:
            redo.why = why
            redo.task.cancel()

    def _over(self, redo: _Redo) -> None:
        """It ended, however."""
        hunk = redo.hunk
        if self._redos.get(hunk.id) is redo:
            del self._redos[hunk.id]
        if hunk.id not in self._redos:
            self._say(hunk, f"not redone: {redo.why}" if redo.why and hunk.decidable else "")
        if redo.why:
            what = f"Hunk {hunk.id} was not redone"
            self._state.trouble(Trouble(what, redo.why, severity="information"))
        self._state.restated()

    def _look(self) -> None:
        """Once a frame: what the user decides, or edits, is not replaced."""
        for redo in [*self._redos.values()]:
            if not redo.hunk.decidable:
                self._stop(redo.hunk.id, f"it is {_fate(redo.hunk)}")
            elif self._is_edited(redo.hunk):
                self._stop(redo.hunk.id, "its text was changed")
        for hunk_id in [*self._judging]:
            if not self._state.workspace.hunk_list.by_id(hunk_id).decidable:
                self._judging[hunk_id].cancel()
        if self._tests_run is not None and self._runs():
            self._tests_run.cancel()
        self._moved.set()

    def _say(self, hunk: Hunk, words: str) -> None:
        if hunk.redone != words:
            hunk.redone = words
            self._documents.bump()
            self._state.hunks_changed()

    async def _run(self, redo: _Redo) -> None:
        state = self._state
        spec = state.spec_now("fast" if "fast" in state.roles else state.status.role)
        try:
            if self._has_lanes(spec):
                await self._made(redo, spec)
                return
            self._say(redo.hunk, f"{REDOING}: waits for its turn")
            async with self._in_turn:
                await self._until(lambda: not self._state.status.busy)
                await self._made(redo, spec)
        except (_Vain, DuettoError) as error:
            redo.why = str(error)

    def _has_lanes(self, spec: RoleSpec) -> bool:
        """Whether its endpoint answers several at once."""
        wire = self._services.ports.wires(spec.endpoint, MAIN_LANE)
        return wire.abilities(spec.model).lanes is not False and wire.transport != "http"

    async def _until(self, true: Callable[[], bool]) -> None:
        while not true():
            self._moved.clear()
            await self._moved.wait()

    async def _made(self, redo: _Redo, spec: RoleSpec) -> None:
        """Have it made on a lane, and put in the hunk's place. Raises _Vain or DuettoError."""
        hunk = redo.hunk
        screen = (await self._services.screen()).without([hunk.id])
        texts = await asyncio.to_thread(screen.files)
        place = self._place(hunk, texts.get(hunk.path, self._on_disk(hunk.path)))
        lane = self._lanes.make("redo", spec, texts)
        lane.on_stirred = lambda notices: self._say_rate(redo, lane, notices)
        try:
            await lane.begin(*([hunk.path] if place.data is not None else []))
            way = intents.TurnWay(takes_notes=False, words=redo.words, brief=redo.words)
            lane.session.submit(intents.Prompt(_prompt(redo, place), way))
            await lane.rest()
            made = self._result(lane, hunk, place)
        finally:
            ending = self._lanes.end(lane)
            self._services.supervisor.start(ending, "closing a lane")
        await self._until(lambda: not self._is_written(hunk.path))
        self._put(redo, place, made)

    def _on_disk(self, path: str) -> bytes | None:
        record = self._documents.records.get(path)
        return None if record is None else record.disk

    def _place(self, hunk: Hunk, data: bytes | None) -> _RedoPlace:
        """Where it is in the file without it."""
        if data is None:
            return _RedoPlace(None, "", 0, 0)
        text = plain_text(decoded(hunk.path, data))
        record = self._documents.records[hunk.path]
        assert hunk.start is not None
        row = row_in(whole_text(record.buffer), text, hunk.start.line)
        return _RedoPlace(data, text, row, row + row_count(hunk.base))

    def _say_rate(self, redo: _Redo, lane: LaneSession, notices: Notices) -> None:
        now = self._clock.now()
        if redo.hunk.id not in self._redos or now < redo.say_again_s:
            return
        redo.say_again_s = now + _SAY_S
        view, status = lane.state.meter.view(now), lane.state.status
        words = REDOING
        if status.running or any(not task.ended for task in status.tasks):
            words = f"{REDOING}: a command runs"
        elif view.tokens_s:
            words = f"{REDOING}: {'~' * view.estimated}{view.tokens_s:,.0f} tok/s"
        self._say(redo.hunk, words)

    def _result(self, lane: LaneSession, hunk: Hunk, place: _RedoPlace) -> _Remade:
        """The file as the model left it, but for what it changed elsewhere. Raises _Vain."""
        changes, outcome = dict(lane.changes), lane.state.status.outcome
        made = changes.pop(hunk.path, None)
        if outcome != "completed":
            troubles = [b.text for b in lane.state.transcript.blocks if b.kind is BlockKind.NOTE]
            raise _Vain(troubles[-1].partition("\n")[0] if troubles else "the model was stopped")
        left_out = [f"changes of {path}" for path in sorted(changes)]
        if made is None or made.now is None:
            raise _Vain(_said(lane, left_out))
        data, text = made.now, plain_text(decoded(hunk.path, made.now))
        if place.data is not None:
            text, others = changed_only_at(place.text, text, place.first, place.last)
            left_out += [f"{counted(others, 'change')} elsewhere in {hunk.path}"] * bool(others)
            data = self._documents.records[hunk.path].buffer.form.encode(text)
        if text == place.text:
            raise _Vain(_said(lane, left_out))
        if text == self._with(hunk, place):
            raise _Vain("the model made the same change again")
        return _Remade(data, left_out)

    def _with(self, hunk: Hunk, place: _RedoPlace) -> str:
        """The file with the hunk as it is."""
        lines = keep_ends(place.text)
        return "".join([*lines[: place.first], hunk.agent, *lines[place.last :]])

    def _is_written(self, path: str) -> bool:
        """Whether a model writes in a file now."""
        record = self._documents.records.get(path)
        return path in self._documents.busy or (record is not None and bool(record.sections))

    def _put(self, redo: _Redo, place: _RedoPlace, made: _Remade) -> None:
        """Replace the hunk, in one go. Raises _Vain."""
        old, state = redo.hunk, self._state
        if not old.decidable or self._is_edited(old):
            raise _Vain("it is another one by now")
        self._redos.pop(old.id, None)  # from here on it is we who decide on it
        self._submit(intents.Reject((old.id,), redo.words))
        if old.decision is not Decision.REJECTED:
            raise _Vain("it cannot be taken out")
        taken_out = self._documents.decisions.done[-1]
        files = {old.path: LaneFile(place.data, made.data)}
        try:
            new = finished(bringing_home(self._documents, files, old.turn, old.call_id))
        except EditRefused as error:
            raise _Vain(str(error)) from None
        taken_out.remade = list(new)
        told = ", ".join(str(hunk.id) for hunk in new)
        words = f"The user rejected hunk {old.id} ({shown(old.path)}) with these words, and another"
        history, count = self._services.requests.history, "s" * (len(new) > 1)
        history.note(f"{words} model made it anew as hunk{count} {told}: {redo.words}")
        self._services.requests.told.mark(new)
        for hunk in new:
            self._say(hunk, f"{REDONE}{old.id}")
        left_out = f"; left out: {', '.join(made.left_out)}" if made.left_out else ""
        state.note(0, f"hunk {old.id} of {old.path} is redone: hunk{count} {told}{left_out}")
        state.hunks_changed()
        if judges := [hunk for hunk in new if hunk.decidable]:
            self._judge(judges[0], old)

    def _judge(self, hunk: Hunk, old: Hunk) -> None:
        """Have the tests that belong to its file run on the screen with it."""
        task = self._services.supervisor.start(self._tested(hunk, old), "tests of a hunk")
        self._judging[hunk.id] = task
        task.add_done_callback(lambda _: self._judged(hunk, old))

    def _judged(self, hunk: Hunk, old: Hunk) -> None:
        self._judging.pop(hunk.id, None)
        if hunk.redone.endswith(_TESTING):
            self._say(hunk, f"{REDONE}{old.id}")
        self._state.restated()

    async def _tested(self, hunk: Hunk, old: Hunk) -> None:
        ports = self._services.ports
        command = await self._tests() if ports.shadows is not None else None
        if ports.shadows is None or command is None:
            return
        ended = None
        async with self._one_run:
            while ended is None:  # it gave way
                self._say(hunk, f"{REDONE}{old.id}")
                await self._until(lambda: not self._runs())
                self._say(hunk, f"{REDONE}{old.id}{_TESTING}")
                ended = await self._alone(self._run_tests(hunk, command, ports.shadows()))
        result, report = ended
        verdict = verdict_of(result, report)
        counts = "" if verdict == "error" else ended_words(report, red=verdict == "failed")
        words = counts or _VERDICTS.get(verdict, "nothing could be judged")
        sign = RED if verdict in ("failed", "timeout") else ""
        self._say(hunk, f"{REDONE}{old.id} · {sign}{words}")
        failed = f" ({report.failed[0].name})" if report.failed else ""
        self._state.note(0, f"hunk {hunk.id}: {words}{failed}")

    async def _alone(
        self, work: Coroutine[None, None, tuple[RunResult, RunReport]]
    ) -> tuple[RunResult, RunReport] | None:
        """Run the tests; None: other verifiers were asked for, which go first."""
        task = asyncio.current_task()
        self._tests_run = asyncio.ensure_future(work)
        try:
            return await self._tests_run
        except asyncio.CancelledError:
            if task is None or task.cancelling():
                raise
            return None
        finally:
            self._tests_run = None

    async def _run_tests(
        self, hunk: Hunk, tests: VerifyCommand, shadows: Shadows
    ) -> tuple[RunResult, RunReport]:
        """The tests that belong to its file, on the screen with it."""
        runner = self._services.ports.runner
        screen = await self._services.screen()
        before = Ground.of(screen.without([hunk.id]), self._state.workspace)
        texts = await asyncio.to_thread(screen.files)
        part = Part((hunk.path,), texts=texts)
        command = await asyncio.to_thread(_about, tests, part)
        places = self._lanes.judging

        async def look(tests: VerifyCommand) -> tuple[RunResult, RunReport]:
            return await judged_apart(runner, shadows, tests, texts)

        with places.visited(command) as place:
            said = await look(command)
            if said[1].fault and said[1].is_empty:  # none of these runs here
                command = await asyncio.to_thread(_about, tests, Part())
                said = await look(command)
        if place.met:
            said = await seen_alone(places, command, said, texts, look)
        result, report = said
        report = brought_in(report, (hunk.path,))
        return result, await self._baseline.without_known(
            command, result, report, before, is_before=True
        )

    async def _tests(self) -> VerifyCommand | None:
        """The project's tests, if they may run unasked."""
        ports = self._services.ports
        found = runs_unasked(ports, await ports.verifiers())
        return next((one for one in found if one.kind == "tests"), None)


def _about(tests: VerifyCommand, part: Part) -> VerifyCommand:
    """The tests that belong to a file, or all where it cannot be told which do, or all do."""
    if tests.part is None:
        return tests
    return tests.part(part) or tests.part(Part()) or tests


_VERDICTS = {"passed": "tests passed", "failed": "tests failed", "timeout": "tests took too long"}
_TESTING = " · its tests run"


def _fate(hunk: Hunk) -> str:
    return "in conflict" if hunk.decision is Decision.PENDING else hunk.decision.value


def _said(lane: LaneSession, left_out: list[str]) -> str:
    """Why nothing came of it: what the model says, or where it made changes instead."""
    if left_out:
        return f"the model made only {', '.join(left_out)}, which is left out"
    for hunk in reversed(lane.state.workspace.hunks):
        if hunk.stage is Stage.REFUSED:
            return f"what the model wrote does not fit: {hunk.reason.partition(chr(10))[0]}"
    blocks = lane.state.transcript.blocks
    texts = [block.text.strip() for block in blocks if block.kind is BlockKind.TEXT]
    said = " ".join(texts[-1].split()) if texts and texts[-1] else ""
    short = said if len(said) <= _SAID_CHARS else f"{said[:_SAID_CHARS]}…"
    return f"the model changed nothing: {short}" if said else "the model changed nothing"


def _prompt(redo: _Redo, place: _RedoPlace) -> str:
    """What the model is asked."""
    hunk, path = redo.hunk, shown(redo.hunk.path)
    lines = [f"-{line}" for line in hunk.base.splitlines()]
    lines += [f"+{line}" for line in hunk.agent.splitlines()]
    diff = "\n".join(lines)
    fence = "````" if "```" in diff else "```"
    if place.data is None:
        where, only = f"A new file, {path}, was proposed", f"Make only {path}."
    elif place.first == place.last:
        where = f"Above line {place.first + 1} of {path} lines were to be put in"
        only = "Put lines in there only."
    elif place.first + 1 == place.last:
        where, only = f"Line {place.last} of {path} was to be changed", "Change only this line."
    else:
        where = f"Lines {place.first + 1}-{place.last} of {path} were to be changed"
        only = "Change only these lines."
    return (
        f"{where}, like this:\n{fence}diff\n{diff}\n{fence}\n"
        f"The user rejected that: {redo.words}\n\n"
        f"The files stand without it now. Make this one change anew, by one patch. {only} "
        "Whatever you change elsewhere is left out."
    )

"""Delegates: the deep model works on in a lane of its own while the user goes on.

Each begins with what the screen shows and what was said, has tools, and asks in the tray
(`Status.delegates`). Esc is not for it. What it made of files comes home as a turn with hunks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import json
from msgspec.structs import replace

from tui.core.attempts import Result, result_words
from tui.core.conversation import CALL_OUTPUTS, Block, BlockKind, History
from tui.core.inert_text import brief
from tui.core.patches.bringing_home import LaneFile
from tui.core.session_record import AllDelegates, Happened, KeptDelegate, KeptEntry
from tui.engine import intents
from tui.engine.attempt_judging import AttemptJudge, Texts, known_disk
from tui.engine.lane_session import BringingHome, LaneResult, home_words
from tui.engine.notices import OVER, DelegateState, DelegateView, Notices
from tui.engine.ports import RoleSpec
from tui.engine.services import Services
from tui.engine.verification import runs_unasked
from tui.errors import DuettoError

if TYPE_CHECKING:
    from tui.engine.lane_session import LaneSession, LaneSessions, WholeSession

GOES_ON = "Work on, to the end, on what you were asked when you were stopped:"
GO_ON = "Go on."
RESTARTED = (
    "duetto was restarted while you worked: what a command that ran then did is not known."
    " Work on, to the end, on what you were asked:"
)
ENDED = "duetto ended while it worked"
LEFT_DONE = "it was done when duetto ended, and comes home when it goes on"
_LAST_CHARS = 400
_MOST_OVER = 20
"""So many that are over stay in the tray."""


class _Delegate:
    """One of them."""

    def __init__(self, view: DelegateView, spec: RoleSpec) -> None:
        self.view, self.spec = view, spec
        self.lane: LaneSession | None = None
        """None: not yet, or not any more."""
        self.goes_on = asyncio.Event()
        """The user wants it to go on, or to stop."""
        self.told: Callable[[Notices], None] = lambda notices: None
        """Of what changes in its lane."""
        self.asked = self.stops = self.is_taken = False
        self.trouble = ""
        """What went wrong last, in words."""
        self.result: LaneResult | None = None
        """What it made, and did not come home."""
        self.judging: asyncio.Task[Result] | None = None
        """What the verifiers say of that."""
        self.kept: KeptDelegate | None = None
        """As it is in the store."""
        self.earlier: KeptDelegate | None = None
        """As an earlier start left it, until it goes on."""
        self.entries = 0
        """So many its history had when that was kept."""
        self.since = 0
        """So many entries of its history were said before it began."""

    @property
    def name(self) -> str:
        """As the user reads it."""
        return f"delegate d{self.view.number}"

    @property
    def is_left_done(self) -> bool:
        """It was done when duetto ended, and has only to come home."""
        return self.earlier is not None and self.earlier.done

    def judge_no_more(self) -> None:
        """Nobody waits for the verifiers any more."""
        if self.judging is not None:
            self.judging.cancel()


class Delegates:
    """All of a session."""

    def __init__(
        self,
        services: Services,
        lanes: Callable[[], LaneSessions],
        home: BringingHome,
        take_over: Callable[[], str],
    ) -> None:
        """``take_over`` stops the turn that runs and returns its prompt; empty: none runs."""
        self._services, self._lanes, self._home = services, lanes, home
        self._take_over = take_over
        self.verify: Callable[[], None] = lambda: None
        """Has the screen judged, unasked."""
        self._all: dict[int, _Delegate] = {}
        self._count = 0
        self._as_kept = AllDelegates()

    def handle(self, intent: intents.Delegate | intents.TendDelegate) -> None:
        """Do what the user wants of them."""
        if isinstance(intent, intents.Delegate):
            self._begin(intent.text)
            return
        one = self._all.get(intent.number)
        if one is None:
            self._refuse(f"There is no delegate d{intent.number}", "/tasks lists them")
        elif intent.what == "stop":
            self._stop(one)
        elif intent.what == "take" or (intent.what == "go" and one.is_left_done):
            self._take(one)
        elif intent.what == "pause" and one.view.state in ("paused", "failed"):
            step = f"/tasks go d{intent.number} lets it go on"
            self._refuse(f"d{intent.number} waits already", step)
        elif intent.what == "answer" and one.view.state not in OVER and not one.view.ask:
            self._refuse(f"d{intent.number} asks nothing")
        elif one.view.state == "works" and not one.asked:
            self._refuse(f"d{intent.number} only begins", f"/tasks stop d{intent.number} ends it")
        elif one.earlier is not None and intent.what in ("go", "tell"):
            asked = filter(None, (RESTARTED, one.view.prompt, intent.words))
            self._start(one, "\n\n".join(asked))
        elif one.lane is None and one.view.state == "done":
            self._refuse(f"d{intent.number} is done and comes home")
        elif one.lane is None:
            self._refuse(f"d{intent.number} does not work any more", "/delegate begins another")
        else:
            self._tell(one, one.lane, intent)

    def session(self, number: int) -> WholeSession | None:
        """That of one, to look into; None: it is over."""
        one = self._all.get(number)
        return None if one is None or one.lane is None else one.lane.session

    def watch(self, number: int, told: Callable[[Notices], None]) -> None:
        """Tell of what changes in the lane of one, from now on."""
        self._all[number].told = told

    def _refuse(self, what: str, step: str = "") -> None:
        self._services.state.warn(what, "", step)

    def _begin(self, text: str) -> None:
        state, status = self._services.state, self._services.state.status
        prompt = text if text.strip() else self._take_over()
        if not prompt:
            self._refuse("No answer streams that could be delegated", "/delegate PROMPT")
            return
        spec = state.spec_now("deep" if "deep" in state.roles else status.role)
        self._count += 1
        view = DelegateView(self._count, prompt, spec.model, self._services.ports.clock.now())
        one = self._all[self._count] = _Delegate(view, spec)
        state.note(0, f"{one.name} ({spec.model}) works on: {brief(prompt)}")
        self._start(one, prompt if text.strip() else f"{GOES_ON}\n\n{prompt}")

    def _start(self, one: _Delegate, asked: str) -> None:
        self._show(one, "works")
        work = self._work(one, asked)
        self._services.supervisor.start(work, one.name, lambda: self._broke(one))

    async def _work(self, one: _Delegate, asked: str) -> None:
        """From the first request until it is home, or stopped."""
        lanes, status = self._lanes(), self._services.state.status
        while status.stopping:  # its turn is taken over
            await self._home.turn_over()
        if status.unsent == one.view.prompt:
            status.unsent = ""
        texts = (await self._services.screen()).files()
        lane = one.lane = lanes.make("delegate", one.spec, texts, "wait")
        try:
            await self._worked(one, lane, asked)
        finally:
            one.lane, one.told = None, lambda notices: None
            await lanes.end(lane)
        if not (one.stops or one.is_taken):
            await self._judge(one, texts)
        if one.stops:
            self._stopped(one)
        elif (result := self._coming(one)) is not None:
            await self._bring(one, result)

    async def _worked(self, one: _Delegate, lane: LaneSession, asked: str) -> None:
        """Until nothing more comes of it."""
        lane.on_stirred = partial(self._stirred, one, lane)
        lane.state.before_request.append(lambda turn: self._keep())
        await self._begun(one, lane, asked)
        while not await self._is_over(one, lane):
            await one.goes_on.wait()
            one.goes_on.clear()
        files = lane.changes
        said = _last_words(lane.state.transcript.blocks)
        one.result = LaneResult(one.name, one.view.prompt, one.spec, files, said)
        self._stirred(one, lane, Notices())
        self._keep()

    async def _judge(self, one: _Delegate, texts: Texts) -> None:
        """Have what may run unasked say what it thinks of it, before it comes home.

        ``texts`` are those that it began with and the disk has not.
        """
        ports = self._services.ports
        try:
            commands = runs_unasked(ports, await ports.verifiers())
            say = partial(self._services.state.note, 0)
            judge = AttemptJudge(ports, commands, texts, say)
        except DuettoError:
            return  # F5 says why
        judge.disk = partial(known_disk, self._services.state.workspace.documents)
        judge.at_once = self._lanes().judging
        result = None if one.stops else one.result  # stopped or taken meanwhile
        if result is None or not result.files or not judge.judges:
            return

        def progress(words: str) -> None:
            if one.result is result and not one.stops:
                self._show(one, "done", f"done: its tests run {words}".rstrip())

        progress("")
        judge.begin()
        one.judging = asyncio.ensure_future(judge.judge(one.view.number, result.files, progress))
        try:
            await asyncio.wait([one.judging])
        finally:
            one.judging.cancel()
            await judge.end()
        if not one.judging.cancelled() and one.result is result:
            one.result = replace(result, judged=result_words(one.judging.result()))

    def _stopped(self, one: _Delegate) -> None:
        left = one.result is not None and one.result.files
        take = f"; /tasks take d{one.view.number} brings in what it changed" if left else ""
        self._show(one, "stopped", f"stopped{take}")

    def _broke(self, one: _Delegate) -> None:
        """A bug, which was told."""
        self._show(one, "stopped", "ended by an internal error")

    async def _begun(self, one: _Delegate, lane: LaneSession, asked: str) -> None:
        """It is asked, perhaps where an earlier start left it."""
        earlier, one.earlier = one.earlier, None
        whole = False
        if earlier is not None:
            one.result, whole = None, earlier.whole
            for file in earlier.files:
                lane.files.took(*file)
            _take_up(lane.session.services.requests.history, earlier)
        one.since = 0 if whole else len(self._services.requests.history.entries)
        await lane.begin(talk=not whole)
        if not one.stops:  # meanwhile
            one.asked = True
            lane.prompt(asked)

    async def _is_over(self, one: _Delegate, lane: LaneSession) -> bool:
        """Wait until it rests; False: it waits for the user."""
        await lane.rest()
        if one.stops or one.is_taken or lane.state.status.outcome == "completed":
            return True
        paused = lane.state.status.outcome == "interrupted"
        self._show(one, "paused" if paused else "failed", "" if paused else one.trouble)
        return False

    def _coming(self, one: _Delegate) -> LaneResult | None:
        """What it made, which comes home now; None: it does already."""
        result, one.result, one.earlier = one.result, None, None
        if result is not None:
            self._show(one, "done", "done: comes when no answer streams")
        return result

    async def _bring(self, one: _Delegate, result: LaneResult) -> None:
        hunks = await self._home.bring(result)
        self._show(one, "home", home_words(hunks, result))
        if hunks:  # beside what was changed meanwhile it is another text
            self.verify()

    def _stop(self, one: _Delegate) -> None:
        if one.view.state in OVER:
            self._refuse(f"d{one.view.number} does not work any more")
            return
        if one.view.state == "done" and one.result is None:
            self._refuse(f"d{one.view.number} is done and comes home", "reject what it brings")
            return
        if one.earlier is not None and one.view.state != "works":
            one.earlier = None
            self._stopped(one)
        one.stops = True
        one.goes_on.set()
        one.judge_no_more()
        if one.lane is not None:
            one.lane.session.submit(intents.Interrupt())

    def _take(self, one: _Delegate) -> None:
        if one.result is None and one.view.state == "done":
            return  # it is on its way
        if one.lane is not None and one.view.state in ("paused", "failed"):
            one.is_taken = True
            one.goes_on.set()
            return
        works = one.view.state == "works"
        if one.result is None or (works and not one.asked):
            number = one.view.number
            what = "still works" if works else "has nothing that could be taken"
            self._refuse(f"d{number} {what}", f"/tasks stop d{number} ends it" * works)
            return
        one.judge_no_more()
        if (result := self._coming(one)) is not None:
            self._services.supervisor.start(self._bring(one, result), one.name)

    def _tell(self, one: _Delegate, lane: LaneSession, intent: intents.TendDelegate) -> None:
        """Pause, let go on, steer, or answer what it asks."""
        submit, status = lane.session.submit, lane.state.status
        match intent.what:
            case "pause":
                submit(intents.Interrupt())
                return
            case "answer":
                ask = next((ask for ask in status.asks if intent.ask in (0, ask.id)), None)
                if ask is not None:
                    submit(intents.Answer(ask.id, intent.words or ask.choices[-1], intent.words))
                return
            case "tell" if status.busy:  # words to a command that runs go with what it says
                waits = status.asks or any(not (at.ended or at.background) for at in status.tasks)
                at_once = not (one.spec.steers or waits)
                submit((intents.Prompt if at_once else intents.Steer)(intent.words))
                return
            case "tell":
                submit(intents.Prompt(intent.words))
            case _ if status.can_continue:
                submit(intents.Continue())
            case _ if not status.busy:
                submit(intents.Prompt(GO_ON))
        self._show(one, "works")
        one.goes_on.set()

    def _stirred(self, one: _Delegate, lane: LaneSession, notices: Notices) -> None:
        """Something changed in its lane."""
        state, entries = lane.state, len(lane.session.services.requests.history.entries)
        one.told(notices)
        if entries != one.entries:
            one.entries = entries
            self._keep()
        for trouble in notices.troubles:
            one.trouble = trouble.words
        meter = state.meter.view(self._services.ports.clock.now())
        view = replace(
            one.view,
            last=_last_line(state.transcript.blocks) or one.view.last,
            tokens=meter.tokens,
            estimated=meter.tokens_estimated,
            usd=state.meter.session_usd or None,
            files=len(lane.files.changes),
            ask=state.status.asks[0] if state.status.asks else None,
        )
        if view != one.view:
            one.view = view
            self._told()

    def _show(self, one: _Delegate, state: DelegateState, words: str = "") -> None:
        """How it is with it now."""
        one.view = replace(one.view, state=state, ended=words)
        if state in ("works", *OVER):
            self._keep()
        if state in OVER:
            one.kept = None
        if state == "stopped":  # what comes home says so itself
            self._services.state.note(0, f"{one.name} {words}")
        self._told()

    def _keep(self) -> None:
        """Have the store know how far each came, if there is one."""
        store = self._services.ports.store
        if store is None or not store().keeps:
            return
        going = (one for one in self._all.values() if one.view.state not in OVER)
        now = AllDelegates(tuple(self._kept(one) for one in going))
        if now != self._as_kept:
            self._as_kept = now
            turn = self._services.requests.history.turn
            store().commit(Happened(turn, "delegates", json.encode(now).decode()))

    def _kept(self, one: _Delegate) -> KeptDelegate:
        """One as it is now; of an earlier start as it was, until it goes on."""
        kept = one.kept or KeptDelegate(one.view.number, one.view.prompt, one.spec.role)
        if one.lane is not None:
            from tui.engine.recording import made

            history = one.lane.session.services.requests.history
            whole = history.is_compacted or not one.since
            entries = history.entries if whole else history.entries[one.since :]
            said = _last_words(one.lane.state.transcript.blocks) or kept.said
            kept = replace(
                kept,
                entries=tuple(
                    made(KeptEntry(entry, entry.item, number, float(number), 0))
                    for number, entry in enumerate(entries, 1)
                    if entry.kind != "context" and entry.image is None
                ),
                files=tuple((path, *change) for path, change in one.lane.files.changes.items()),
                said=said,
                whole=whole,
                done=one.result is not None,
            )
        one.kept = kept
        return kept

    def bring_back(self, kept: Iterable[KeptDelegate]) -> None:
        """These worked when an earlier duetto ended: they wait for the user."""
        roles, now = self._services.state.roles, self._services.ports.clock.now()
        self._as_kept = AllDelegates(tuple(kept))
        for old in self._as_kept.of:
            spec = next((one for role, one in roles.items() if role == old.role), None)
            spec = spec or next(iter(roles.values()))
            one = _Delegate(DelegateView(old.number, old.prompt, spec.model, now), spec)
            files = {path: LaneFile(*change) for path, *change in old.files}
            one.kept = one.earlier = old
            one.result = LaneResult(one.name, old.prompt, spec, files, old.said)
            self._all[old.number], self._count = one, max(self._count, old.number)
            ended = LEFT_DONE if old.done else ENDED
            one.view = replace(one.view, state="paused", files=len(files), ended=ended)
        self._told()

    def _told(self) -> None:
        over = [number for number, one in self._all.items() if one.view.state in OVER]
        for number in over[:-_MOST_OVER]:
            del self._all[number]
        self._services.state.status.delegates = [one.view for one in self._all.values()]
        self._services.state.restated()


def _take_up(history: History, earlier: KeptDelegate) -> None:
    """What an earlier start said and heard; what ran when it ended is not known."""
    from tui.engine.resuming import BROKEN_OFF  # it is there: the session was resumed

    said = [entry.entry(lambda sha: None) for entry in earlier.entries]
    history.begin_with(said)
    answered = {entry.item.get("call_id") for entry in said if entry.kind == "answer"}
    for call in [entry.item for entry in said if entry.item.get("type") in CALL_OUTPUTS]:
        if call.get("call_id") not in answered:
            history.answer(call, BROKEN_OFF, failed=True)


def _last_words(blocks: Sequence[Block]) -> str:
    """The last message of the model."""
    texts = (block.text for block in reversed(blocks) if block.kind is BlockKind.TEXT)
    return next(texts, "").strip()


def _last_line(blocks: Sequence[Block]) -> str:
    """What it did last, in a line; not safe to show as it is."""
    said = (block for block in reversed(blocks) if block.kind is not BlockKind.PACE)
    if (block := next(said, None)) is None:
        return ""
    if block.title and block.kind is not BlockKind.USER:
        return block.title
    tail = block.text_since(max(block.length - _LAST_CHARS, 0)).strip()
    return tail.rpartition("\n")[2]

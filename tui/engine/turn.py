"""One turn with a model: request, response, calls, answers, and again until no call is left.

A response may be followed by one that nobody asked for: the successor of a steered one, which
the server owes after the terminal event (PROTOCOL.md section 7). Until it begins, or the text
comes back, nothing is sent. A steering text is in one place at a time: with the server
(`Status.steering`), in the backlog, or said; only the successor's beginning proves that it was
used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from tui.core.conversation import Block, BlockKind
from tui.core.files import counted
from tui.core.meter import dollars
from tui.core.wire import events
from tui.core.wire.endpoint_facts import ACCEPTED_S, GRACE_S
from tui.core.wire.events import SteerNews
from tui.engine.connections import EndpointConnection
from tui.engine.notices import SteerFate, Trouble
from tui.engine.pacer import LONG_CHARS, Held, Pacer
from tui.engine.ports import RoleSpec, Wire
from tui.engine.recovery import MAX_TRIES, Remedy, Tries, led
from tui.engine.requests import Outcome, Request, TurnRequest
from tui.engine.response import MOST_CHARS, Reply
from tui.engine.response_items import call_text, message_text
from tui.engine.results import SOFTLY, CallRunner, Record, Served
from tui.engine.services import Services
from tui.engine.session_state import SessionState
from tui.errors import DuettoError, EndpointError

if TYPE_CHECKING:
    from tui.engine.response_items import CutReply

MOST_REPEATED = 3
"""So often in a row the same calls may have the same results."""
GO_ON = "say “go on” to let it continue"
CUTS = {
    "max_output_tokens": "it reached the model's output limit",
    "content_filter": "the server's content filter cut it",
    "interrupted": "the server interrupted it",
    "steered": "the server cut it for another instruction",
    "cancelled": "the server cancelled it",
}
"""Why an answer is incomplete -> that in words."""


class Countdown:
    """One wait at a time; to cancel the waiting task ends it."""

    def __init__(self, state: SessionState, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._state = state
        self._sleep = sleep

    async def wait(self, wait_s: float, *, shown: bool) -> None:
        """Wait so many seconds; `Status.retry_s` says once a second how many are left."""
        left_s = wait_s
        try:
            while left_s > 0:
                if shown:
                    self._show(left_s)
                step_s = left_s % 1.0 or 1.0
                await self._sleep(step_s)
                left_s = max(left_s - step_s, 0.0)
        finally:
            self.end()

    def end(self) -> None:
        """Nothing is waited for any more."""
        if self._state.status.retry_s is not None:
            self._show(None)

    def _show(self, left_s: float | None) -> None:
        self._state.status.retry_s = left_s
        self._state.restated()


STOP_LIMIT_S = 2 * (GRACE_S + ACCEPTED_S) + 1.0
"""The wire frees the lane by itself, in `ACCEPTED_S` after an answer, and once more where a
successor was owed; if it does not, the socket is dropped after this."""
NOT_RUN = "not run: the turn was interrupted"


class Turn:
    """Drives one turn; ``on_end`` is called exactly once."""

    def __init__(
        self,
        services: Services,
        request: TurnRequest,
        connection: EndpointConnection,
        on_end: Callable[[Outcome], None],
    ) -> None:
        self.request, self.wire = request, connection.wire
        self.sent = False
        """True once a request holds the prompt."""
        self.held = False
        """The prompt waits, and the user was told why."""
        self.stopped = False
        """True once the user interrupted it."""
        self.heard = False
        """The model took up the prompt, if only in part: it is not to be sent again as it is."""
        self.unanswered = False
        """It ended, and nobody said anything to the prompt."""
        self.steering = SteeringTexts(services, request.number)
        self._services, self._connection, self._on_end = services, connection, on_end
        self._reply: Reply | None = None
        """The response in flight."""
        self._head: Request = {}
        """What its request says beside its input."""
        self._owed = False
        """A successor will come by itself, or a steering text will come back."""
        self._cut = ""  # why the last response is incomplete; a successor makes it whole
        self._whole: events.Completed | None = None
        """The end of a response that said its items at last."""
        self._ended, self._rounds = False, 0
        self._shortened = False
        """It was asked again with less, as its server would not take it all."""
        self._is_unpriced = False
        """It was said that a limit of dollars does not hold."""
        self._resuming = False
        """The last response broke: ask again whether or not it left calls."""
        self._tries = Tries(services.ports.jitter)
        self._runner = CallRunner(
            services, self._advance, has_shell=request.spec.shell_tool != "none"
        )
        self._record = Record(services, request, self._runner)
        self._served = Served(services.state)
        self.pacer = Pacer(services, connection.wire, request.throttle, self.event)
        """What comes over the wire goes through it, to `event` and `lost`."""
        self.pacer.on_held = self._holding
        self._countdown = Countdown(services.state, services.ports.sleep)
        self._task: asyncio.Task[None] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._handlers: dict[type, Callable[..., None]] = {
            events.SteerNews: self._news,
            events.Created: self._created,
            events.Completed: self._completed,
            events.Incomplete: self._incomplete,
            events.Failed: self._failed,
            events.ErrorEvent: self._failed,
            events.Unknown: self._served.heard,
        }

    @property
    def _asked(self) -> tuple[RoleSpec, str, float | None]:
        """Who is asked, at which tier, and what the turn may cost."""
        return self.request.spec, self.request.tier, self.request.limits.usd

    @property
    def left(self) -> CutReply | None:
        """What it left half-said."""
        return self._record.left

    def start(self) -> None:
        """Send the next request: at once within a turn, if the socket is open.

        The first one goes through `Wire.open`, which renews a socket that is too old.
        """
        if not self.sent:
            request = self.request
            words = request.way.words or request.way.typed or request.text
            self._services.open_files.mention(request.text, words)
        ready = self.wire.state == "open" and self._services.open_files.ready
        if not (self.sent and ready) or self._services.budget().unsettled(*self._asked):
            self._task = self._services.supervisor.start(self._dial(), "the request", self._broken)
        elif self._is_long():
            self._task = self._services.supervisor.start(
                self._prepare(), "the request", self._broken
            )
        else:
            self._create()

    def event(self, event: events.Event, now: float) -> None:
        """Something came over the wire; ``now`` in seconds."""
        handler = self._handlers.get(type(event))
        if isinstance(event, events.ItemDone | events.Completed) and (late := self._late(event)):
            self.pacer.first([*late, event])
        elif handler is not None:
            handler(event, now)
        elif self._reply is not None and not self.pacer.unheard:
            reply = self._reply
            if heard := reply.handlers.get(type(event)):
                heard(event, now)
                if reply.room < 0:
                    self._overlong(reply)

    def _holding(self, characters: int) -> None:
        """What is not yet landed counts, too."""
        if self._reply is not None and characters > self._reply.room:
            self._overlong(self._reply)

    def _late(self, event: events.ItemDone | events.Completed) -> list[Held]:
        """What is to be done in parts before an end that says much at once."""
        reply = self._reply
        if reply is None or self.stopped or self.pacer.unheard:
            return []
        if isinstance(event, events.ItemDone):
            return [*reply.late(event, LONG_CHARS)]
        if reply.items or self._whole is event:
            return []
        self._whole = event
        output = event.response.get("output")
        items = output if isinstance(output, list) else []
        items = [item for item in items if isinstance(item, dict)]
        if all(len(message_text(item) or call_text(item)) <= LONG_CHARS for item in items):
            return []
        return [events.ItemDone(item=item) for item in items]

    def lost(self, why: str) -> None:
        """The socket is gone: what was finished stays, and all is said again."""
        self._services.requests.history.break_chain()
        self.steering.give_back()
        reply, owed, self._owed = self._reply, self._owed, False
        if reply is None:
            if owed:
                self._advance()
            return
        heard, broken = reply.started, reply.unfinished
        self._reply = None
        self._record.gather(reply, cut=True, broke=not self.stopped)
        if self.stopped:
            self._end("interrupted")
        else:
            remedy = self._tries.lost(why, self.wire.close_code, heard=heard)
            self._again(remedy, broken=broken)

    def steer(self, text: str) -> None:
        """The user adds something to what runs."""
        if self._reply is None and not self._owed:
            self._services.backlog.add(text, "steer")
        else:
            self.steering.steer(self.wire, self.request.spec.model, text)

    def frame(self) -> None:
        """Once a frame: what need not be done for every delta."""
        if self._reply is None:
            return
        self._reply.frame()
        trouble = None if self.stopped else self._services.budget().reached(*self._asked)
        if trouble is not None:
            self._leave(self._reply, trouble)

    def freeze(self) -> None:
        """The user interrupts: the buffers stand still when this returns."""
        self.stopped = True
        self.pacer.drop()
        if self._reply is not None:
            self._reply.close(cut=True)

    def stop(self) -> None:
        """After `freeze`: tell the wire, end what runs."""
        if self._ended:
            return
        self._runner.stop()
        self._countdown.end()
        if self._task is not None:
            self._task.cancel()
        if self.pacer.end is not None:
            self.event(self.pacer.end, self._services.ports.clock.now())
        if self._reply is None and not self._owed:
            self._end("interrupted")
            return
        self.wire.interrupt()
        if self._reply is not None or self._owed:
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(STOP_LIMIT_S, self.wire.drop)

    async def _dial(self) -> None:
        """Open the socket, list the files, send at once what is known then."""
        try:
            await self._connection.prewarm.over()
            await self.wire.open()
            await self._services.open_files.prepare()
            if not self.sent and await self._is_refused():
                return
            await self._services.window().look_up(self.request.spec, self.request.text)
            await self._services.compaction().make_room(self.request.spec, self.request.text)
            await self._services.budget().look_up(*self._asked)
            if not self.sent:  # the prompt outlives a power cut before anybody answers it
                await self._services.state.witness.kept()
        except DuettoError as error:
            self._task = None
            known = error if isinstance(error, EndpointError) else EndpointError(str(error))
            self._served.paused(known.retry_after_s, self._services.ports.clock.now())
            self._again(self._tries.unreachable(known, reached=self._connection.reached))
            return
        if self._services.requests.is_long(self.request.spec):
            await self._gather()
        self._task = None
        self._create()

    async def _is_refused(self) -> bool:
        """The prompt names images that cannot be sent, or costs too much: it is given back."""
        requests, (spec, tier, _) = self._services.requests, self._asked
        trouble = await requests.attachments.images.refusal(spec, requests.history)
        trouble = trouble or await self._services.budget().anew(spec, tier)
        if trouble is not None:
            self._task, self.held = None, True
            self._fail(trouble)
        return self.held

    def _is_long(self) -> bool:
        """Something is to be done before the next request that takes a while."""
        services, spec = self._services, self.request.spec
        return services.requests.is_long(spec) or services.compaction().is_due(spec)

    async def _prepare(self) -> None:
        """Find out what is to be said, then send it: the socket may be gone by then."""
        await self._services.compaction().make_room(self.request.spec, self.request.text)
        if self._services.requests.is_long(self.request.spec):
            await self._gather()
        self._task = None
        if self.wire.state == "open":
            self._create()
        else:
            self.start()

    async def _gather(self) -> None:
        """What the request says of very many hunks."""
        services = self._services
        self._leaving()
        work = services.requests.prepare(self.request.spec)
        await services.state.input_first.do(work, services.ports.clock.now)

    def _leaving(self) -> None:
        """The next instruction is given: who has something to settle before it does so now."""
        for due in self._services.state.before_request:
            due(self.request.number)

    def _create(self) -> None:
        self._leaving()
        services, request = self._services, self.request
        head = self._head = services.requests.head(request.spec, request.effort, request.tier)
        if not services.requests.continues(request.spec, head):
            self.steering.give_back()
        texts = [one.text for one in services.backlog.take("steer")]
        fresh, self.sent, self._resuming = not self.sent, True, False
        if fresh:
            takes = request.way.takes_notes and services.state.status.notes
            notes = services.requests.take_notes(request.number) if takes else ""
            body = services.requests.prompt([request.text, *texts], request.spec, head, notes)
        else:
            body = services.requests.go_on(request.spec, head, texts)
        self.steering.say(texts)
        trouble = services.window().refusal(request.spec, body)
        if trouble := trouble or services.budget().refusal(body, *self._asked):
            self._fail(trouble)
            return
        self._connection.prewarm.used()
        services.state.meter.start(services.ports.clock.now(), request.spec.model, fresh=fresh)
        services.state.metered()
        self._open()
        usd = services.budget().least_usd
        services.state.witness.request_leaves(request.number, body, usd)
        try:
            self.wire.on_event = self.pacer.take
            self.wire.create(body)
            self.pacer.begun()  # before it is heard that it has: much may have come by then
        except DuettoError as error:
            self.lost(str(error))

    def _open(self) -> Reply:
        """A response is to come."""
        reply = self._record.reply(self.request.role)
        if self.stopped:
            reply.close(cut=True)
        self._reply, self._owed, self._cut = reply, False, ""
        return reply

    def _news(self, event: events.SteerNews, now: float) -> None:
        """What became of a steering text may decide whether a successor is still owed."""
        self.steering.news(event)
        if self._owed and event.fate in ("returned", "pending"):
            self._rest()

    def _created(self, event: events.Created, now: float) -> None:
        """The response that was asked for begins, or a successor, which comes by itself."""
        reply = self._reply
        if reply is None:
            if not (self._owed or self.wire.busy):
                return
            meter = self._services.state.meter
            meter.start(now, self.request.spec.model, fresh=False, asked=False)
            reply = self._open()
        reply.response_id = event.response_id
        self.pacer.begun()
        self._record.begun()
        # the bridge's relay says so before it has heard from the endpoint
        self._tries.heard |= self.wire.transport == "websocket"
        self._served.note(event.response, now)

    def _completed(self, event: events.Completed, now: float) -> None:
        reply = self._taken(event.response, now)
        if reply is None:
            return
        reply.complete()
        self._record.ended(reply, event.response, chainable=True, cut=False)
        self._tries.over()
        self._rest()

    def _incomplete(self, event: events.Incomplete, now: float) -> None:
        reply = self._taken(event.response, now)
        if reply is None:
            return
        softly = event.reason in SOFTLY
        self._record.ended(reply, event.response, chainable=softly, cut=True)
        if not self.stopped and not (event.reason == "steered" and self._runner.unanswered):
            self.heard = True
            self._cut = event.reason or "the server did not say why"
        self._rest()

    def _failed(self, event: events.Failed | events.ErrorEvent, now: float) -> None:
        response = event.response if isinstance(event, events.Failed) else {}
        reply = self._taken(response, now)
        if reply is None:
            return
        broken = reply.unfinished
        self._record.gather(reply, cut=True, broke=not self.stopped)
        self._services.requests.history.break_chain()
        self.steering.give_back()
        if self.stopped:
            self._end("interrupted")
        else:
            self._served.refused(event, now)
            requests, spec = self._services.requests, self.request.spec
            images, history = requests.attachments.images, requests.history
            blind = images.learns(spec, history, event)
            if blind and images.are_named:
                event = replace(event, code="image_not_supported")
            elif blind:
                images.settle(spec, history)  # it is said that they are left out
            too_long = self._services.window().refused(self.request.spec, event)
            learnt = not reply.started and self._services.requests.learns(
                self.request.spec, self._head, event
            )
            less = blind and not images.are_named
            remedy = self._tries.field_refused() if learnt or less else None
            if too_long and not self._shortened and self._can_be_shorter():
                self._shortened = True
                remedy = Remedy("resend", silent=True, free=True)
            self._again(remedy or self._tries.failed(event), broken=broken)

    def _can_be_shorter(self) -> bool:
        """Whether the request has files, of which less may be quoted, or can be compacted."""
        requests = self._services.requests
        quoted = any(entry.kind == "context" for entry in requests.history.entries)
        if quoted:
            requests.begin_anew()
        return self._services.compaction().is_due(self.request.spec) or quoted

    def _taken(self, response: Mapping[str, object], now: float) -> Reply | None:
        """The response is over: take what only its end says; None: there is no more to do."""
        reply, self._reply = self._reply, None
        if reply is not None and not reply.items and not self.stopped:
            output = response.get("output")
            for item in output if isinstance(output, list) else ():
                if isinstance(item, dict):
                    reply.done(events.ItemDone(item=item), now)
        if reply is not None:
            self._served.note(response, now)
            cut = self.stopped or self.pacer.unheard
            self._record.count(response, now, cut=cut)
        if reply is None or not self.pacer.unheard:
            return reply
        # The server said more than the user has seen: nothing is continued from there.
        self._record.gather(reply, cut=True)
        self._services.requests.history.break_chain()
        self.steering.give_back()
        self._rest()
        return None

    def _overlong(self, reply: Reply) -> None:
        """More came than is kept: the socket goes, for the server has no end."""
        what, most = "The answer was stopped", f"it is longer than {MOST_CHARS >> 20} MB"
        step = "begin a new conversation with /clear"
        self._leave(reply, Trouble(what, most, step, severity="warning"))

    def _leave(self, reply: Reply, trouble: Trouble) -> None:
        """What more comes of a response is not heard: its socket goes."""
        self._reply = None
        self._record.gather(reply, cut=True)
        self._services.requests.history.break_chain()
        self._fail(trouble)
        self.wire.drop()

    def _rest(self) -> None:
        """Nothing is in flight: wait for a successor if one is owed, else go on.

        Where calls wait for answers none is: the texts go with the request that answers them.
        """
        undecided = self.steering.undecided and not (self.stopped or self._runner.unanswered)
        self._owed = undecided or self.wire.busy
        self._advance()

    def _advance(self) -> None:
        """After a response or a tool: wait for more, answer the calls and go on, or end."""
        if self._ended or self._reply is not None or self._owed or self._task is not None:
            return
        if self.stopped:
            self._end("interrupted")
            return
        if self._cut:
            self._resuming = self._cut == "steered" and self._services.backlog.holds("steer")
            if not self._resuming:
                why = CUTS.get(self._cut, self._cut)
                step = "/continue lets it go on"
                self._fail(Trouble("The answer is incomplete", why, step, severity="warning"))
                return
        if self._runner.waiting:
            return
        answered = self._runner.answer(self._services.requests.history)
        if not answered and not self._resuming:
            self._end("completed")
            return
        self._rounds += not self._resuming
        if why := self._at_limit():
            self._services.state.status.can_go_on = True
            limits = self.request.limits
            spent = limits.usd is not None and self._services.state.meter.spent()[0] >= limits.usd
            self._fail(
                Trouble("The turn was stopped", why, GO_ON, severity="warning", over_budget=spent)
            )
        else:
            self.start()

    def _at_limit(self) -> str:
        """Which limit of a turn is reached, in words; empty: none is."""
        limits = self.request.limits
        meter = self._services.state.meter
        view, (spent, unpriced) = meter.view(self._services.ports.clock.now()), meter.spent()
        if self._rounds >= limits.rounds:
            return f"the model made {counted(self._rounds, 'round')} of calls"
        if limits.tokens is not None and view.tokens >= limits.tokens:
            return f"it took {view.tokens:,} tokens, the limit is {limits.tokens:,}"
        if limits.usd is not None and spent >= limits.usd:
            return f"it cost {dollars(spent)}, the limit is {dollars(limits.usd)}"
        if limits.seconds is not None and view.seconds >= limits.seconds:
            return f"it took {view.seconds:.0f} s, the limit is {limits.seconds:.0f} s"
        if limits.usd is not None and unpriced and not self._is_unpriced:
            self._is_unpriced = True
            limit = dollars(limits.usd)
            words = f"the limit of {limit} cannot stop this turn: not all prices are known"
            self._services.state.note(self.request.number, words)
        if self._runner.repeated >= MOST_REPEATED:
            return f"the model made the same call {MOST_REPEATED} times with the same result"
        return ""

    def _again(self, remedy: Remedy, *, broken: bool = False) -> None:
        """Ask once more, after a while; ``broken``: half of an answer is on the screen."""
        if remedy.action == "give up":
            if not (remedy.other_way and self.wire.fall_back()):
                self.wire.come_back()
                self._fail(self._tries.last(remedy).trouble())
                return
            self._tries.detour(remedy)
            self._services.state.note(self.request.number, led(remedy.why, "going on over HTTP"))
            remedy = Remedy("redial", silent=True, free=True)
        self._resuming = True
        self._record.broke()
        if remedy.action == "redial" and self.wire.state == "open":
            self.wire.drop()
        shown = not remedy.silent
        if shown or (broken and not remedy.free):
            again = f"trying again{_in_words(remedy.wait_s)} ({self._tries.count} of {MAX_TRIES})"
            self._services.state.note(self.request.number, led(remedy.why, again))
        if remedy.wait_s:
            pause = self._pause(remedy.wait_s, shown=shown)
            self._task = self._services.supervisor.start(pause, "the retry", self._broken)
        else:
            self._advance()

    async def _pause(self, wait_s: float, *, shown: bool) -> None:
        await self._countdown.wait(wait_s, shown=shown)
        self._task = None
        self._advance()

    def _fail(self, trouble: Trouble) -> None:
        """The turn cannot go on."""
        self._services.state.trouble(replace(trouble, noted=True))
        words = trouble.words
        words = "\n".join(filter(None, (words, trouble.next_step)))
        failed = trouble.severity == "error"
        self._services.state.note(self.request.number, words, "failed" if failed else "cut")
        self._end("failed")

    def _broken(self) -> None:
        """A bug, which was told: the turn must not wait for ever."""
        self._task = None
        if self._reply is not None:
            self._record.gather(self._reply, cut=True)
            self._reply = None
        self._end("failed")

    def _end(self, outcome: Outcome) -> None:
        if self._ended:
            return
        self._ended = True
        self.pacer.drop()
        if self._deadline is not None:
            self._deadline.cancel()
        self._countdown.end()
        self.steering.give_back()
        self._runner.stop()
        self._runner.answer(self._services.requests.history, NOT_RUN)
        if self.sent:
            self._record.close(outcome)
            silence = self._resuming and not self._record.chars
            self.unanswered = not self.heard and (outcome == "failed" or silence)
        self._on_end(outcome)


def _in_words(wait_s: float) -> str:
    return f" in {wait_s:.0f} s" if wait_s >= 1.5 else ""


class _SteeringText(Struct):
    text: str
    fate: SteerFate = "sent"


class SteeringTexts:
    """What the user added to one turn while it ran."""

    def __init__(self, services: Services, turn: int) -> None:
        self.said = 0
        """Texts that became messages of the conversation."""
        self._services = services
        self._turn = turn
        self._texts: dict[int, _SteeringText] = {}
        """By the wire's number: those that the server has."""

    @property
    def undecided(self) -> bool:
        """The server has a text that is neither used, returned, nor waiting for tool outputs."""
        return any(text.fate != "pending" for text in self._texts.values())

    def steer(self, wire: Wire, model: str, text: str) -> None:
        """Hand a text to the response in flight; in the backlog it waits for a way to go."""
        number = wire.steer(text)
        if number is not None:
            self._texts[number] = _SteeringText(text)
            self._show()
        elif wire.abilities(model).steer is False:
            self._services.backlog.add(text)
        else:
            self._services.backlog.add(text, "steer")

    def news(self, news: SteerNews) -> None:
        """Something became of a text; of one that was taken back it is no news any more.

        Numbers begin anew on every socket, so the text has to fit, too.
        """
        known = self._texts.get(news.number)
        if known is None or known.text != news.text:
            return
        if news.fate == "accepted" or news.fate == "pending":
            known.fate = news.fate
        else:
            del self._texts[news.number]
            if news.fate == "used":
                self._services.requests.history.prompt(known.text)
                self.say([known.text])
            else:
                self._services.backlog.add(known.text, "steer")
        self._show()

    def say(self, texts: list[str]) -> None:
        """These are part of the conversation now: show them."""
        for text in texts:
            self._services.state.add(Block(BlockKind.USER, self._turn, state="done"), text)
        self.said += len(texts)

    def give_back(self) -> None:
        """Take back what the server still has: it waits in the backlog, first of all.

        A server that keeps a text for the answers to its calls would add it to whatever
        continues from there, so nothing does.
        """
        texts, self._texts = self._texts, {}
        for text in texts.values():
            self._services.backlog.add(text.text, "steer")
        if texts:
            self._services.requests.history.break_chain()
            self._show()

    def _show(self) -> None:
        status = self._services.state.status
        status.steering = [text.text for text in self._texts.values()]
        status.steering_fates = [text.fate for text in self._texts.values()]
        self._services.state.restated()

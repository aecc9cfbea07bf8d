"""One turn with a model: request, response, calls, answers, and again until no call is left.

A response may be followed by one that nobody asked for: the successor of a steered one, which
the server owes after the terminal event (PROTOCOL.md section 7). Until it begins, or the text
comes back, nothing is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from tui.core.wire import events
from tui.core.wire.endpoint_facts import ACCEPTED_S, GRACE_S
from tui.engine.countdown import Countdown
from tui.engine.errand import CUTS, GO_ON, Errand, Outcome
from tui.engine.items import call_text, message_text
from tui.engine.kit import Kit
from tui.engine.lines import Line
from tui.engine.notices import Trouble
from tui.engine.pacer import LONG_CHARS, Held, Pacer
from tui.engine.record import SOFTLY, Record
from tui.engine.recovery import MAX_TRIES, Remedy, Tries, led
from tui.engine.reply import MOST_CHARS, Reply
from tui.engine.requests import Request
from tui.engine.stand_ins import Served
from tui.engine.steering import Steering
from tui.engine.tool_bench import ToolBench
from tui.errors import DuettoError, EndpointError

STOP_LIMIT_S = 2 * (GRACE_S + ACCEPTED_S) + 1.0
"""The wire frees the lane by itself, in `ACCEPTED_S` after an answer, and once more where a
successor was owed; if it does not, the socket is dropped after this."""
NOT_RUN = "not run: the turn was interrupted"


class Exchange:
    """Drives one turn; ``on_end`` is called exactly once."""

    def __init__(
        self, kit: Kit, errand: Errand, line: Line, on_end: Callable[[Outcome], None]
    ) -> None:
        self.errand, self.wire = errand, line.wire
        self.sent = False
        """True once a request holds the prompt."""
        self.stopped = False
        """True once the user interrupted it."""
        self.heard = False
        """The model took up the prompt, if only in part: it is not to be sent again as it is."""
        self.unanswered = False
        """It ended, and nobody said anything to the prompt."""
        self.steering = Steering(kit, errand.number)
        self._kit, self._line, self._on_end = kit, line, on_end
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
        self._resuming = False
        """The last response broke: ask again whether or not it left calls."""
        self._tries = Tries(kit.ports.jitter)
        self._bench = ToolBench(kit, self._advance)
        self._record = Record(kit, errand, self._bench)
        self._served = Served(kit.board, errand.spec.endpoint)
        self.pacer = Pacer(kit, line.wire, errand.throttle, self.event)
        """What comes over the wire goes through it, to `event` and `lost`."""
        self.pacer.on_held = self._holding
        self._countdown = Countdown(kit.board, kit.ports.sleep)
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

    def start(self) -> None:
        """Send the next request: at once within a turn, if the socket is open.

        The first one goes through `Wire.open`, which renews a socket that is too old.
        """
        if not (self.sent and self.wire.state == "open" and self._kit.desk.ready):
            self._task = self._kit.supervisor.start(self._dial(), "the request", self._broken)
        elif self._kit.requests.is_long:
            self._task = self._kit.supervisor.start(self._prepare(), "the request", self._broken)
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
            self._reply.event(event, now)
            if self._reply.room < 0:
                self._overlong(self._reply)

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
        self._kit.requests.history.break_chain()
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
            self._kit.backlog.add(text, "steer")
        else:
            self.steering.steer(self.wire, self.errand.spec.model, text)

    def frame(self) -> None:
        """Once a frame: what need not be done for every delta."""
        if self._reply is not None:
            self._reply.frame()

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
        self._bench.stop()
        self._countdown.end()
        if self._task is not None:
            self._task.cancel()
        if self.pacer.end is not None:
            self.event(self.pacer.end, self._kit.ports.clock.now())
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
            await self._line.prewarm.over()
            await self.wire.open()
            await self._kit.desk.prepare()
        except DuettoError as error:
            self._task = None
            known = error if isinstance(error, EndpointError) else EndpointError(str(error))
            self._served.paused(known.retry_after_s, self._kit.ports.clock.now())
            self._again(self._tries.unreachable(known, reached=self._line.reached))
            return
        if self._kit.requests.is_long:
            await self._gather()
        self._task = None
        self._create()

    async def _prepare(self) -> None:
        """Find out what is to be said, then send it: the socket may be gone by then."""
        await self._gather()
        self._task = None
        if self.wire.state == "open":
            self._create()
        else:
            self.start()

    async def _gather(self) -> None:
        """What the request says of very many hunks."""
        kit = self._kit
        await kit.board.input_first.do(kit.requests.prepare(), kit.ports.clock.now)

    def _create(self) -> None:
        kit, errand = self._kit, self.errand
        head = self._head = kit.requests.head(errand.spec, errand.effort, errand.tier)
        if not kit.requests.continues(errand.spec, head):
            self.steering.give_back()
        texts = kit.backlog.take("steer")
        fresh, self.sent, self._resuming = not self.sent, True, False
        if fresh:
            request = kit.requests.prompt([errand.text, *texts], errand.spec, head)
        else:
            request = kit.requests.go_on(errand.spec, head, texts)
        self.steering.say(texts)
        self._line.prewarm.used()
        kit.board.meter.start(kit.ports.clock.now(), errand.spec.model, fresh=fresh)
        kit.board.metered()
        self._open()
        try:
            self.wire.create(request)
        except DuettoError as error:
            self.lost(str(error))

    def _open(self) -> Reply:
        """A response is to come."""
        reply = self._record.reply(self.errand.role)
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
            self._kit.board.meter.start(now, self.errand.spec.model, fresh=False)
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
        if not self.stopped and not (event.reason == "steered" and self._bench.unanswered):
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
        self._kit.requests.history.break_chain()
        self.steering.give_back()
        if self.stopped:
            self._end("interrupted")
        else:
            self._served.refused(event, now)
            learnt = not reply.started and self._kit.requests.learns(
                self.errand.spec, self._head, event
            )
            remedy = self._tries.field_refused() if learnt else None
            self._again(remedy or self._tries.failed(event), broken=broken)

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
        self._kit.requests.history.break_chain()
        self.steering.give_back()
        self._rest()
        return None

    def _overlong(self, reply: Reply) -> None:
        """More came than is kept: the socket goes, for the server has no end."""
        self._reply = None
        self._record.gather(reply, cut=True)
        self._kit.requests.history.break_chain()
        what, most = "The answer was stopped", f"it is longer than {MOST_CHARS >> 20} MB"
        self._fail(Trouble(what, most, "begin a new conversation with /clear", severity="warning"))
        self.wire.drop()

    def _rest(self) -> None:
        """Nothing is in flight: wait for a successor if one is owed, else go on.

        Where calls wait for answers none is: the texts go with the request that answers them.
        """
        undecided = self.steering.undecided and not (self.stopped or self._bench.unanswered)
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
            self._resuming = self._cut == "steered" and self._kit.backlog.holds("steer")
            if not self._resuming:
                why = CUTS.get(self._cut, self._cut)
                self._fail(Trouble("The answer is incomplete", why, GO_ON, severity="warning"))
                return
        if self._bench.waiting:
            return
        answered = self._bench.answer(self._kit.requests.history)
        if not answered and not self._resuming:
            self._end("completed")
            return
        self._rounds += not self._resuming
        if self._rounds >= self.errand.round_limit:
            why = f"the model made {self._rounds} rounds of calls"
            self._fail(Trouble("The turn was stopped", why, GO_ON, severity="warning"))
        else:
            self.start()

    def _again(self, remedy: Remedy, *, broken: bool = False) -> None:
        """Ask once more, after a while; ``broken``: half of an answer is on the screen."""
        if remedy.action == "give up":
            if not (remedy.other_way and self.wire.fall_back()):
                self.wire.come_back()
                self._fail(self._tries.last(remedy).trouble())
                return
            self._tries.detour(remedy)
            self._kit.board.note(self.errand.number, led(remedy.why, "going on over HTTP"))
            remedy = Remedy("redial", silent=True, free=True)
        self._resuming = True
        self._record.broke()
        if remedy.action == "redial" and self.wire.state == "open":
            self.wire.drop()
        shown = not remedy.silent
        if shown or (broken and not remedy.free):
            again = f"trying again{_in_words(remedy.wait_s)} ({self._tries.count} of {MAX_TRIES})"
            self._kit.board.note(self.errand.number, led(remedy.why, again))
        if remedy.wait_s:
            pause = self._pause(remedy.wait_s, shown=shown)
            self._task = self._kit.supervisor.start(pause, "the retry", self._broken)
        else:
            self._advance()

    async def _pause(self, wait_s: float, *, shown: bool) -> None:
        await self._countdown.wait(wait_s, shown=shown)
        self._task = None
        self._advance()

    def _fail(self, trouble: Trouble) -> None:
        """The turn cannot go on."""
        self._kit.board.trouble(replace(trouble, noted=True))
        words = ": ".join(filter(None, (trouble.what, trouble.why)))
        words = "\n".join(filter(None, (words, trouble.next_step)))
        failed = trouble.severity == "error"
        self._kit.board.note(self.errand.number, words, "failed" if failed else "cut")
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
        self._bench.stop()
        self._bench.answer(self._kit.requests.history, NOT_RUN)
        if self.sent:
            self._record.close(outcome)
            silence = self._resuming and not self._record.chars
            self.unanswered = not self.heard and (outcome == "failed" or silence)
        self._on_end(outcome)


def _in_words(wait_s: float) -> str:
    return f" in {wait_s:.0f} s" if wait_s >= 1.5 else ""

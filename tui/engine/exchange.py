"""One turn with a model: request, response, calls, answers, and again until no call is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tui.core import events
from tui.core.context import Cut
from tui.core.edit_stream import Channel
from tui.engine.bench import Bench
from tui.engine.intents import Effort, Role
from tui.engine.kit import Kit
from tui.engine.notices import Trouble
from tui.engine.ports import RoleSpec, Wire
from tui.engine.recovery import HOPELESS_CLOSES, MAX_TRIES, Remedy, backoff_s, remedy_for
from tui.engine.reply import Reply
from tui.engine.requests import origin
from tui.errors import DuettoError, KeyRefused

if TYPE_CHECKING:
    from tui.core.landing import Landing

Outcome = Literal["completed", "interrupted", "failed"]
GO_ON = "say “go on” to let it continue"
_LIMITS = {
    "max_output_tokens": "it reached the model's output limit",
    "content_filter": "the server's content filter cut it",
    "interrupted": "the server interrupted it",
    "steered": "the server cut it for another instruction",
}
TOO_BIG = "begin a new conversation with /clear, or close large files"
STOP_LIMIT_S = 3.0
"""The wire frees the lane in about 1 s; if it does not, the socket is dropped after this."""
NOT_RUN = "not run: the turn was interrupted"


@dataclass(frozen=True, slots=True)
class Errand:
    """What a turn is about."""

    number: int
    text: str
    spec: RoleSpec
    effort: Effort | None
    throttle: float | None
    round_limit: int

    @property
    def role(self) -> Role:
        """Who answers."""
        return self.spec.role


class Exchange:
    """Drives one turn; ``on_end`` is called exactly once."""

    def __init__(
        self, kit: Kit, errand: Errand, wire: Wire, on_end: Callable[[Outcome], None]
    ) -> None:
        self.errand = errand
        self.wire = wire
        self.sent = False
        """True once a request holds the prompt."""
        self.stopped = False
        """True once the user interrupted it."""
        self.heard = False
        """The model took up the prompt, if only in part: it is not to be sent again as it is."""
        self._kit = kit
        self._on_end = on_end
        self._reply: Reply | None = None
        self._in_flight = False
        self._ended = False
        self._chars = 0
        self._rounds = 0
        self._tries = 0
        self._resent = False
        self._resuming = False
        """The last response broke: ask again whether or not it left calls."""
        self._bench = Bench(kit, self._advance)
        self._prose_reports: list[str] = []
        self._task: asyncio.Task[None] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._handlers: dict[type, Callable[..., None]] = {
            events.Created: self._created,
            events.Completed: self._completed,
            events.Incomplete: self._incomplete,
            events.Failed: self._failed,
            events.ErrorEvent: self._failed,
        }

    def start(self) -> None:
        """Send the next request: at once within a turn, if the socket is open.

        The first one goes through `Wire.open`, which renews a socket that is too old.
        """
        if self.sent and self.wire.state == "open" and self._kit.desk.ready:
            self._create()
        else:
            self._task = self._kit.supervisor.start(self._dial(), "the request", self._broken)

    def event(self, event: events.Event, now: float) -> None:
        """Something came over the wire; ``now`` in seconds."""
        if not self._in_flight or self._reply is None:
            return
        handler = self._handlers.get(type(event))
        if handler is None:
            self._reply.event(event, now)
        else:
            handler(event, now)

    def lost(self, why: str) -> None:
        """The socket is gone."""
        self._kit.requests.history.break_chain()
        if not self._in_flight:
            return
        unheard = self._reply is None or not self._reply.started
        self._gather(cut=True)
        if self.stopped:
            self._settle()
            return
        self._tries += 1
        if self._tries > MAX_TRIES or self.wire.close_code in HOPELESS_CLOSES:
            step = TOO_BIG if self.wire.close_code == 1009 else "send it again"
            self._fail(Trouble("The connection was lost", why, step, retryable=True))
            return
        silent = unheard and self._tries == 1
        self._again(Remedy("redial", 0.0 if silent else backoff_s(self._tries), silent, why))

    def frame(self) -> None:
        """Once a frame: what need not be done for every delta."""
        if self._reply is not None:
            self._reply.frame()

    def freeze(self) -> None:
        """The user interrupts: the buffers stand still when this returns."""
        self.stopped = True
        if self._reply is not None:
            self._reply.close(cut=True)

    def stop(self) -> None:
        """After `freeze`: tell the wire, end what runs."""
        if self._ended:
            return
        self._bench.stop()
        if self._task is not None:
            self._task.cancel()
        if not self._in_flight:
            self._settle()
            return
        self.wire.interrupt()
        if self._in_flight:
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(STOP_LIMIT_S, self.wire.drop)

    async def _dial(self) -> None:
        """Open the socket, list the files, send at once what is known then."""
        try:
            await self.wire.open()
            await self._kit.desk.prepare()
        except DuettoError as error:
            self._task = None
            self._unreachable(error)
            return
        self._task = None
        self._create()

    def _unreachable(self, error: DuettoError) -> None:
        """Dialling failed: a first dial is reported at once, a redial tried again."""
        self._tries += 1
        refused = isinstance(error, KeyRefused)
        if self.sent and not refused and self._tries <= MAX_TRIES:
            self._again(Remedy("redial", backoff_s(self._tries), why=str(error)))
            return
        what = "The server refused the key" if refused else "The endpoint cannot be reached"
        self._fail(Trouble(what, str(error), retryable=not refused, unreachable=True))

    def _create(self) -> None:
        kit, errand = self._kit, self.errand
        head = kit.requests.head(errand.spec, errand.effort, errand.throttle)
        fresh = not self.sent
        if fresh:
            request = kit.requests.prompt(errand.text, errand.spec, head)
        else:
            request = kit.requests.go_on(errand.spec, head)
        self.sent = True
        self._reply = Reply(kit.board, errand.number, errand.spec.role, self._landing)
        self._reply.on_call = self._bench.run
        self._reply.privacy = kit.desk.privacy
        kit.board.meter.start(kit.ports.clock.now(), errand.spec.model, fresh=fresh)
        kit.board.metered()
        self._in_flight = True
        try:
            self.wire.create(request)
        except DuettoError as error:
            self.lost(str(error))

    def _landing(self, call_id: str, channel: Channel) -> Landing:
        from tui.core.landing import Landing

        workspace = self._kit.board.workspace
        return Landing(workspace, turn=self.errand.number, call_id=call_id, channel=channel)

    def _created(self, event: events.Created, now: float) -> None:
        status = self._kit.board.status
        status.served_model = str(event.response.get("model") or "")
        status.served_tier = str(event.response.get("service_tier") or "")
        self._kit.board.restated()

    def _completed(self, event: events.Completed, now: float) -> None:
        self._close(event.response, now, chainable=True, cut=False)
        self._tries = 0
        self._resent = False
        self._advance()

    def _incomplete(self, event: events.Incomplete, now: float) -> None:
        softly = event.reason in ("interrupted", "steered")
        self._close(event.response, now, chainable=softly, cut=True)
        if self.stopped:
            self._advance()
            return
        self.heard = True
        why = _LIMITS.get(event.reason, event.reason or "the server did not say why")
        self._fail(Trouble("The answer is incomplete", why, GO_ON, severity="warning"))

    def _failed(self, event: events.Failed | events.ErrorEvent, now: float) -> None:
        response = event.response if isinstance(event, events.Failed) else {}
        self._close(response, now, chainable=False, cut=True)
        if self.stopped:
            self._settle()
            return
        remedy = remedy_for(event, self._tries + 1)
        if remedy.silent and self._resent:
            remedy = Remedy("give up", why=remedy.why)
        self._resent = remedy.silent
        self._tries += not remedy.silent
        if remedy.action == "give up":
            self._fail(remedy.trouble())
            return
        if remedy.action == "redial":
            self.wire.drop()
        self._again(remedy)

    def _close(
        self, response: Mapping[str, object], now: float, *, chainable: bool, cut: bool
    ) -> None:
        """A terminal event: count, keep the finished items."""
        reply = self._reply
        if reply is not None and not reply.items and not self.stopped:
            output = response.get("output")
            for item in output if isinstance(output, list) else ():
                if isinstance(item, dict):
                    reply.done(events.ItemDone(item=item), now)
        if reply is not None and not cut:
            reply.complete()
        chainable = chainable and not (reply is not None and reply.mended)
        usage = events.usage_of(dict(response))
        if usage is not None:
            self._kit.board.meter.usage(now, usage)
            self._kit.board.metered()
        self._gather(cut=cut)
        self._kit.requests.history.ended(str(response.get("id") or ""), chainable=chainable)

    def _gather(self, *, cut: bool) -> None:
        """The response is over, however: keep what is finished, close what is open."""
        self._in_flight = False
        reply, self._reply = self._reply, None
        if self._deadline is not None:
            self._deadline.cancel()
        if reply is None:
            return
        reply.close(cut=cut)
        self._chars += reply.chars
        history = self._kit.requests.history
        for item in reply.items:
            history.output(item, origin(self.errand.spec))
        self._bench.collect(call for call in reply.calls if call.done)
        for item, report in reply.partial_calls():
            history.cut_call(item, report)
        if report := reply.prose_report():
            self._prose_reports.append(report)

    def _advance(self) -> None:
        """After a response or a tool: wait for more, answer the calls and go on, or end."""
        if self._ended or self._in_flight or self._task is not None:
            return
        if self.stopped:
            self._settle()
            return
        if self._bench.waiting:
            return
        answered = self._bench.answer(self._kit.requests.history)
        if not answered and not self._resuming:
            self._end("completed")
            return
        self._rounds += not self._resuming
        self._resuming = False
        if self._rounds >= self.errand.round_limit:
            why = f"the model made {self._rounds} rounds of calls"
            self._fail(Trouble("The turn was stopped", why, GO_ON, severity="warning"))
        else:
            self.start()

    def _again(self, remedy: Remedy) -> None:
        """Ask once more, after a while."""
        self._resuming = True
        if not remedy.silent:
            again = f"trying again{_in_words(remedy.wait_s)} ({self._tries} of {MAX_TRIES})"
            self._kit.board.note(self.errand.number, f"{remedy.why}: {again}")
        if remedy.wait_s:
            self._task = self._kit.supervisor.start(
                self._pause(remedy.wait_s), "the retry", self._broken
            )
        else:
            self._advance()

    async def _pause(self, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        self._task = None
        self._advance()

    def _settle(self) -> None:
        """Interrupted, and the lane is free."""
        self._end("interrupted", Cut(self.errand.number, self._chars))

    def _fail(self, trouble: Trouble) -> None:
        """The turn cannot go on."""
        self._kit.board.trouble(trouble)
        words = ": ".join(filter(None, (trouble.what, trouble.why)))
        self._kit.board.note(self.errand.number, words)
        self._end("failed", Cut(self.errand.number, self._chars, "broke off"))

    def _broken(self) -> None:
        """A bug, which was told: the turn must not wait for ever."""
        self._task = None
        self._gather(cut=True)
        self._end("failed", Cut(self.errand.number, self._chars, "broke off"))

    def _end(self, outcome: Outcome, cut: Cut | None = None) -> None:
        if self._ended:
            return
        self._ended = True
        requests = self._kit.requests
        self._bench.stop()
        self._bench.answer(requests.history, NOT_RUN)
        if self.sent:
            requests.cut = cut
            requests.report = "\n".join(self._prose_reports)
        self._on_end(outcome)


def _in_words(wait_s: float) -> str:
    return f" in {wait_s:.0f} s" if wait_s >= 1.5 else ""

"""The foreground: which turn runs, what interrupts it, and what is sent next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tui.core.turn import Block, BlockKind
from tui.core.wire.events import Event
from tui.engine import intents
from tui.engine.errand import Errand, Outcome
from tui.engine.exchange import Exchange
from tui.engine.intents import Intent, Role
from tui.engine.kit import Kit
from tui.engine.lines import Line, Lines
from tui.engine.notices import Status, Trouble
from tui.engine.ports import MAIN_LANE, Abilities, RoleSpec
from tui.engine.recovery import not_reached
from tui.engine.stand_ins import forget_served
from tui.errors import DuettoError


class Pair:
    """One conversation with a fast and a deep model, one turn at a time."""

    def __init__(
        self,
        kit: Kit,
        roles: Mapping[Role, RoleSpec],
        *,
        round_limit: int,
        suggest: Callable[[], str] | None = None,
    ) -> None:
        self._kit = kit
        self._suggested = suggest
        self._asked: set[str] = set()
        self._told: set[str] = set()
        """What was said of outdated models."""
        self._roles = dict(roles)
        self._status = kit.board.status
        self._round_limit = round_limit
        self._backlog = kit.backlog
        self._lines = Lines(kit, self._event, self._closed)
        self._exchange: Exchange | None = None
        self._turn = 0
        self._handover = ""
        """The instruction that the other role gets when the lane is free."""
        self._forgetting = False
        self._stop_ms = 0.0
        self._stop_note: Block | None = None
        """From the last Esc until the buffers stood still."""
        if self._status.role not in self._roles:
            self._status.role = next(iter(self._roles))
        self._lines.describe(self._roles[self._status.role])
        self._suggest()
        kit.board.before_drain.append(self._frame)

    def handle(self, intent: Intent) -> bool:
        """Do it, if it is about the conversation."""
        match intent:
            case intents.Prompt(text):
                self.prompt(text)
            case intents.Queue(text):
                self._queue(text)
            case intents.Steer(text):
                self._steer(text)
            case intents.Unqueue(index):
                self._backlog.edit(index, "")
                self._let_go()
            case intents.EditQueued(index, text):
                self._backlog.edit(index, text)
            case intents.HoldQueued(index):
                self._backlog.hold(index)
                self._let_go()
            case intents.Prewarm():
                self._prewarm()
            case intents.Interrupt():
                self._handover = ""
                self._backlog.calm()
                self._interrupt()
            case intents.Switch(role):
                self._switch(role)
            case intents.SetEffort() | intents.SetTier() | intents.Throttle():
                _adjust(self._status, intent, self._exchange)
                self._kit.board.restated()
            case intents.NewConversation():
                self._forget()
            case _:
                return False
        return True

    def prompt(self, text: str) -> None:
        """Send this now; what streams is interrupted first."""
        if not text.strip():
            return
        if self._exchange is None:
            self._begin(text)
            return
        self._backlog.add(text, "redirect")
        self._handover = ""
        self._interrupt()

    @property
    def unsent(self) -> list[str]:
        """What waits for the wire, what the server has and no answer has used, and the queue."""
        exchange = self._exchange
        waiting = [] if exchange is None or exchange.sent else [exchange.errand.text]
        return [*waiting, *self._status.steering, *self._status.queued]

    @property
    def can_steer(self) -> bool:
        """Alt+Enter adds to what runs; else it queues."""
        exchange = self._exchange
        if exchange is None or exchange.stopped:
            return False
        spec = exchange.errand.spec
        able = exchange.wire.abilities(spec.model).steer
        return (spec.steers if able is None else able) is not False

    def abilities(self) -> Abilities:
        """What is known of the model that answers now and its endpoint."""
        spec = self._roles[self._status.role]
        return self._lines.line(spec.endpoint).wire.abilities(spec.model)

    async def dial(self) -> None:
        """Connect ahead of the first prompt; a failure is told when it matters."""
        spec = self._roles[self._status.role]
        await self._kit.desk.prepare()
        try:
            await self._lines.line(spec.endpoint).wire.open()
        except DuettoError as error:
            self._kit.board.trouble(not_reached(error))

    async def close(self) -> None:
        """Drop what streams, close the sockets."""
        self._handover, self._forgetting = "", False
        self._backlog.calm()
        if self._exchange is not None:
            self._exchange.freeze()
            self._exchange.stop()
        await self._lines.close()

    def _queue(self, text: str) -> None:
        if not text.strip():
            return
        self._backlog.add(text)
        if self._exchange is None:
            self._next()

    def _steer(self, text: str) -> None:
        exchange = self._exchange
        if exchange is None or not self.can_steer:
            self._queue(text)
        elif text.strip():
            exchange.steer(text)

    def _prewarm(self) -> None:
        """The user begins to type: have the endpoint ready when a prompt comes."""
        status = self._status
        if self._exchange is None:
            spec = self._roles[status.role]
            line = self._lines.line(spec.endpoint)
            line.prewarm.begin(spec, status.efforts.get(spec.role), status.tiers.get(spec.role, ""))

    def _let_go(self) -> None:
        """What waited for a message that was edited goes now, unless the last turn went wrong."""
        if not self._status.busy and self._status.outcome == "completed":
            self._next()

    def _next(self) -> None:
        """Send the first queued message, unless it is being edited."""
        if text := self._backlog.first():
            self._begin(text)

    def _interrupt(self) -> None:
        """Freeze at this character, then tell the wire; synchronous from end to end."""
        exchange = self._exchange
        if exchange is None or exchange.stopped:
            return
        board, clock = self._kit.board, self._kit.ports.clock
        start_s = clock.now()
        exchange.freeze()
        self._kit.ports.stamp("frozen", MAIN_LANE)
        now = clock.now()
        board.meter.stop(now)
        self._stop_ms = (now - start_s) * 1000
        self._status.stopping = True
        self._status.stopped = self._stop_words()
        self._stop_note = board.add(
            Block(BlockKind.NOTE, exchange.errand.number), self._status.stopped
        )
        board.metered()
        board.restated()
        exchange.stop()

    def _stop_words(self) -> str:
        view = self._kit.board.meter.view(self._kit.ports.clock.now())
        about = "~" if view.tokens_estimated else ""
        return f"stopped after {about}{view.tokens:,} tokens, {max(self._stop_ms, 0.1):.1f} ms"

    def _settle_stop_note(self) -> None:
        """The server's count came with the end: the conversation shows it as the status does."""
        note, self._stop_note = self._stop_note, None
        if note is not None:
            note.say(self._stop_words())
            self._kit.board.close(note, "cut")

    def _switch(self, role: Role) -> None:
        if role not in self._roles:
            step = f"start with --{role} MODEL, or set [models.{role}] in config.toml"
            self._kit.board.trouble(Trouble(f"No {role} model is set up", "", step))
            return
        if role == self._status.role:
            return
        self._status.role = role
        forget_served(self._status)
        self._lines.describe(self._roles[role])
        self._kit.board.note(self._turn, f"switched to {role}: {self._roles[role].model}")
        exchange = self._exchange
        if exchange is not None and not exchange.stopped:
            self._handover = exchange.errand.text
            self._interrupt()
        self._kit.board.restated()

    def _forget(self) -> None:
        """A new conversation: at once, or when the lane is free."""
        self._forgetting = True
        self._handover = ""
        if self._exchange is not None:
            self._interrupt()
            if self._exchange is not None:
                return
        self._forgetting = False
        self._kit.requests.forget()
        self._kit.board.meter.forget()
        self._status.stopped = self._status.outcome = ""
        self._kit.board.note(self._turn, "new conversation: the model forgets what was said")
        self._kit.board.metered()
        self._kit.board.restated()

    def _begin(self, text: str, *, repeated: bool = False) -> None:
        """Start a turn; ``repeated`` if the conversation shows its text already."""
        board, status = self._kit.board, self._status
        self._turn += 1
        for due in board.before_turn:
            due(self._turn)
        spec = self._roles[status.role]
        if not repeated:
            board.add(Block(BlockKind.USER, self._turn, state="done"), text)
        status.busy, status.stopping, status.stopped = True, False, ""
        status.outcome = status.unsent = ""
        self._asked.add(text.strip())
        self._suggest()
        self._lines.describe(spec)
        self._tell_outdated(spec)
        errand = Errand(
            self._turn,
            text,
            spec,
            status.efforts.get(spec.role),
            status.tiers.get(spec.role, ""),
            status.throttle,
            self._round_limit,
        )
        board.meter.prompted(self._kit.ports.clock.now(), spec.model)
        line = self._lines.line(spec.endpoint)
        self._exchange = Exchange(self._kit, errand, line, self._ended)
        board.restated()
        self._exchange.start()

    def _tell_outdated(self, spec: RoleSpec) -> None:
        """Once: a model that is gone may be refused, one that is legacy will be."""
        if spec.outdated and spec.outdated not in self._told:
            self._told.add(spec.outdated)
            self._kit.board.trouble(Trouble(spec.outdated, severity="information"))

    def _ended(self, outcome: Outcome) -> None:
        """The turn is over and the lane is free."""
        exchange, self._exchange = self._exchange, None
        status, board = self._status, self._kit.board
        status.busy = status.stopping = False
        status.outcome = outcome
        board.meter.stop(self._kit.ports.clock.now())
        if outcome != "failed":
            self._lines.rest()
        if outcome == "interrupted":
            status.stopped = self._stop_words()
        self._settle_stop_note()
        board.metered()
        board.restated()
        if exchange is not None:
            self._keep_prompt(exchange)
        if self._forgetting:
            self._forget()
        self._go_on(outcome)

    def _go_on(self, outcome: Outcome) -> None:
        """What is sent next; what was given back goes with what the user said after it."""
        backlog = self._backlog
        if backlog.holds("redirect"):
            self._begin("\n\n".join(backlog.take("steer", "redirect")))
        elif self._handover:
            text, self._handover = self._handover, ""
            self._begin(text, repeated=True)
        elif outcome != "completed":
            backlog.calm()
        elif texts := backlog.take("steer"):
            self._begin("\n\n".join(texts))
        else:
            self._next()

    def _keep_prompt(self, exchange: Exchange) -> None:
        """A prompt that nobody answered is not lost: it goes back to the prompt box."""
        history, text = self._kit.requests.history, exchange.errand.text
        if self._backlog.holds("redirect"):
            if not exchange.sent:
                history.prompt(text)
            return
        if self._handover:
            unanswered = history.withdraw(1 + exchange.steering.said) if exchange.sent else []
            before = [] if unanswered[:1] == [text] else [text]
            self._handover = "\n\n".join([*before, *unanswered])
            return
        if exchange.unanswered:
            withdrawn = history.withdraw(1 + exchange.steering.said)
            if withdrawn:
                self._kit.requests.cut = None
                self._status.unsent = "\n\n".join(withdrawn)
        if not exchange.sent:
            self._status.unsent = text
            self._kit.board.note(exchange.errand.number, "the model did not get this prompt")

    def _suggest(self) -> None:
        """Offer the first exercise that was not begun yet."""
        status = self._status
        fresh = [prompt for prompt in status.prompts if prompt not in self._asked]
        if self._suggested is not None and status.prompts:
            status.suggestion = self._suggested()
        if self._suggested is None or status.suggestion in self._asked:
            status.suggestion = fresh[0] if fresh else ""

    def _event(self, line: Line, event: Event, now: float) -> None:
        exchange = self._exchange
        if exchange is not None and exchange.wire is line.wire:
            exchange.pacer.take(event, now)

    def _closed(self, line: Line, why: str) -> None:
        exchange = self._exchange
        if exchange is not None and exchange.wire is line.wire:
            exchange.pacer.after(partial(exchange.lost, why or "the connection was lost"))
        else:
            self._kit.requests.history.lost(line.endpoint)

    def _frame(self) -> None:
        """Once a frame."""
        if self._exchange is not None:
            self._exchange.frame()
        self._lines.look(self._roles[self._status.role])


def _adjust(
    status: Status,
    intent: intents.SetEffort | intents.SetTier | intents.Throttle,
    exchange: Exchange | None,
) -> None:
    """How the model is asked from now on; the throttle takes hold of what streams, too."""
    match intent:
        case intents.SetEffort(effort):
            status.efforts[status.role] = effort
        case intents.SetTier(tier):
            status.tiers[status.role] = tier
        case intents.Throttle(tokens_s):
            status.throttle = tokens_s
            if exchange is not None:
                exchange.pacer.pace(tokens_s)

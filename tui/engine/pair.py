"""The foreground: which turn runs, what interrupts it, and what is sent next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tui.core.events import Event
from tui.core.turn import Block, BlockKind
from tui.engine import intents
from tui.engine.exchange import Errand, Exchange, Outcome
from tui.engine.intents import Intent, Role
from tui.engine.kit import Kit
from tui.engine.notices import Trouble
from tui.engine.ports import RoleSpec, Wire, WireState
from tui.errors import DuettoError

REHEARSAL = "rehearsal"
"""The endpoint's name of the embedded rehearsal model."""


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
        self._roles = dict(roles)
        self._status = kit.board.status
        self._round_limit = round_limit
        self._wires: dict[str, Wire] = {}
        self._exchange: Exchange | None = None
        self._turn = 0
        self._redirects = 0
        """So many of the queued messages go out together as soon as the lane is free."""
        self._handover = ""
        """The instruction that the other role gets when the lane is free."""
        self._forgetting = False
        self._stop_ms = 0.0
        self._stop_note: Block | None = None
        """From the last Esc until the buffers stood still."""
        if self._status.role not in self._roles:
            self._status.role = next(iter(self._roles))
        self._describe()
        self._suggest()
        kit.board.before_drain.append(self._frame)

    def handle(self, intent: Intent) -> bool:
        """Do it, if it is about the conversation."""
        match intent:
            case intents.Prompt(text):
                self.prompt(text)
            case intents.Queue(text):
                self._queue(text)
            case intents.Unqueue(index):
                self._unqueue(index)
            case intents.Interrupt():
                self._handover, self._redirects = "", 0
                self._interrupt()
            case intents.Switch(role):
                self._switch(role)
            case intents.SetEffort(effort):
                self._status.efforts[self._status.role] = effort
                self._kit.board.restated()
            case intents.Throttle(tokens_s):
                self._status.throttle = tokens_s
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
        self._status.queued.insert(self._redirects, text)
        self._redirects += 1
        self._handover = ""
        self._interrupt()
        self._kit.board.restated()

    @property
    def unsent(self) -> list[str]:
        """Prompts that wait for the wire, then those in the queue."""
        exchange = self._exchange
        if exchange is None or exchange.sent:
            return list(self._status.queued)
        return [exchange.errand.text, *self._status.queued]

    async def dial(self) -> None:
        """Connect ahead of the first prompt; a failure is told when it matters."""
        spec = self._roles[self._status.role]
        await self._kit.desk.prepare()
        try:
            await self._wire(spec.endpoint).open()
        except DuettoError as error:
            self._kit.board.trouble(
                Trouble(
                    "The endpoint cannot be reached",
                    str(error),
                    "a prompt tries again",
                    retryable=True,
                    severity="warning",
                    unreachable=True,
                )
            )

    async def close(self) -> None:
        """Drop what streams, close the sockets."""
        self._redirects, self._handover, self._forgetting = 0, "", False
        if self._exchange is not None:
            self._exchange.freeze()
            self._exchange.stop()
        for wire in self._wires.values():
            await wire.close()

    def _queue(self, text: str) -> None:
        if not text.strip():
            return
        self._status.queued.append(text)
        self._kit.board.restated()
        if self._exchange is None:
            self._next()

    def _unqueue(self, index: int) -> None:
        if 0 <= index < len(self._status.queued):
            del self._status.queued[index]
            self._redirects -= index < self._redirects
            self._kit.board.restated()

    def _next(self) -> None:
        """Send the first queued message."""
        if self._status.queued:
            self._begin(self._status.queued.pop(0))

    def _interrupt(self) -> None:
        """Freeze at this character, then tell the wire; synchronous from end to end."""
        exchange = self._exchange
        if exchange is None or exchange.stopped:
            return
        board, clock = self._kit.board, self._kit.ports.clock
        start_s = clock.now()
        exchange.freeze()
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
            note.parts[:] = [self._stop_words()]
            self._kit.board.close(note, "cut")

    def _switch(self, role: Role) -> None:
        if role not in self._roles:
            step = f"start with --{role} MODEL, or set [models.{role}] in config.toml"
            self._kit.board.trouble(Trouble(f"No {role} model is set up", "", step))
            return
        if role == self._status.role:
            return
        self._status.role = role
        self._describe()
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
        spec = self._roles[status.role]
        if not repeated:
            board.add(Block(BlockKind.USER, self._turn, state="done"), text)
        status.busy, status.stopping, status.stopped = True, False, ""
        status.outcome = status.unsent = ""
        self._asked.add(text.strip())
        self._suggest()
        self._describe()
        errand = Errand(
            self._turn,
            text,
            spec,
            status.efforts.get(spec.role),
            status.throttle,
            self._round_limit,
        )
        board.meter.prompted(self._kit.ports.clock.now(), spec.model)
        self._exchange = Exchange(self._kit, errand, self._wire(spec.endpoint), self._ended)
        board.restated()
        self._exchange.start()

    def _ended(self, outcome: Outcome) -> None:
        """The turn is over and the lane is free."""
        exchange, self._exchange = self._exchange, None
        status, board = self._status, self._kit.board
        status.busy = status.stopping = False
        status.outcome = outcome
        board.meter.stop(self._kit.ports.clock.now())
        if outcome == "interrupted":
            status.stopped = self._stop_words()
        self._settle_stop_note()
        board.metered()
        board.restated()
        if exchange is not None:
            self._keep_prompt(exchange, outcome)
        if self._forgetting:
            self._forget()
        if self._redirects:
            count, self._redirects = self._redirects, 0
            texts = status.queued[:count]
            del status.queued[:count]
            self._begin("\n\n".join(texts))
        elif self._handover:
            text, self._handover = self._handover, ""
            self._begin(text, repeated=True)
        elif outcome == "completed":
            self._next()

    def _keep_prompt(self, exchange: Exchange, outcome: Outcome) -> None:
        """A prompt that nobody answered is not lost: it goes back to the prompt box."""
        history, text = self._kit.requests.history, exchange.errand.text
        if self._redirects or self._handover:
            if not exchange.sent and not self._handover:
                history.prompt(text)
            return
        unheard = outcome == "failed" and exchange.sent and not exchange.heard
        withdrawn = unheard and history.withdraw_prompt()
        if withdrawn:
            self._kit.requests.cut = None
        if withdrawn or not exchange.sent:
            self._status.unsent = text
        if not exchange.sent:
            self._kit.board.note(exchange.errand.number, "the model did not get this prompt")

    def _suggest(self) -> None:
        """Offer the first exercise that was not begun yet."""
        status = self._status
        fresh = [prompt for prompt in status.prompts if prompt not in self._asked]
        if self._suggested is not None and status.prompts:
            status.suggestion = self._suggested()
        if self._suggested is None or status.suggestion in self._asked:
            status.suggestion = fresh[0] if fresh else ""

    def _describe(self) -> None:
        """Say in the status who answers now."""
        status = self._status
        spec = self._roles[status.role]
        status.endpoint = spec.endpoint
        status.rehearsal = spec.endpoint == REHEARSAL
        self._kit.board.meter.context_window = spec.context_window
        wire = self._wires.get(spec.endpoint)
        self._connection(wire.state if wire else "closed", "")

    def _wire(self, endpoint: str) -> Wire:
        """The endpoint's wire, made when it is first needed."""
        wire = self._wires.get(endpoint)
        if wire is None:
            wire = self._wires[endpoint] = self._kit.ports.wires(endpoint)
            wire.on_event = partial(self._event, wire)
            wire.on_state = partial(self._state, endpoint)
        return wire

    def _event(self, wire: Wire, event: Event, now: float) -> None:
        exchange = self._exchange
        if exchange is not None and exchange.wire is wire:
            exchange.event(event, now)

    def _state(self, endpoint: str, state: WireState, why: str) -> None:
        if endpoint == self._status.endpoint:
            self._connection(state, why)
        exchange = self._exchange
        if state == "closed" and exchange is not None:
            if exchange.wire is self._wires.get(endpoint):
                exchange.lost(why or "the connection was lost")
        elif state == "closed":
            self._kit.requests.history.break_chain()

    def _connection(self, state: WireState, why: str) -> None:
        if state == "closed":
            self._status.connection = "lost" if why else "offline"
        else:
            self._status.connection = "ready" if state == "open" else "connecting"
        self._kit.board.restated()

    def _frame(self) -> None:
        """Once a frame."""
        if self._exchange is not None:
            self._exchange.frame()
        wire = self._wires.get(self._status.endpoint)
        round_trip_s = wire.round_trip_s if wire else None
        self._status.round_trip_ms = None if round_trip_s is None else round_trip_s * 1000

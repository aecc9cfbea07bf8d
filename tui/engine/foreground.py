"""The foreground: which turn runs, what interrupts it, and what is sent next."""

from __future__ import annotations

from asyncio import Task
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tui.core.attachments import names_image
from tui.core.conversation import Block, BlockKind
from tui.core.files import counted
from tui.core.meter import pace_words, slow_words
from tui.core.wire.efforts import auto_levels, auto_start, effort_refusal
from tui.engine import intents
from tui.engine.connections import Connections, EndpointConnection, unheard
from tui.engine.intents import PLAIN, Intent, Role, TurnWay
from tui.engine.notices import FORGOTTEN, Status, Trouble
from tui.engine.ports import MAIN_LANE, Abilities, RoleSpec
from tui.engine.recovery import not_reached
from tui.engine.requests import Outcome, Request, TurnLimits, TurnRequest
from tui.engine.response_items import message_item
from tui.engine.results import forget_served
from tui.engine.services import Services, Waiting
from tui.engine.session_state import SessionState
from tui.engine.turn import Turn
from tui.errors import DuettoError

if TYPE_CHECKING:
    from tui.engine.request_parts import RequestParts
    from tui.engine.response_items import CutReply

_LEAST_TOKENS = 20
"""Fewer of them say nothing about how fast a model is."""


MOST_PROMPT = 4 * 2**20
"""Characters: about a million tokens, and as much as is made ready to be sent within a frame."""
STAY = "Stay with the model that answers now"


class Foreground:
    """One conversation with a fast and a deep model, one turn at a time."""

    def __init__(
        self,
        services: Services,
        roles: Mapping[Role, RoleSpec],
        *,
        limits: TurnLimits,
        suggest: Callable[[], str] | None = None,
    ) -> None:
        self._services = services
        self._suggested = suggest
        self._asked: set[str] = set()
        self._told: set[str] = set()
        """What was said of outdated models."""
        self._roles = services.state.roles = dict(roles)
        self._status = services.state.status
        self._limits = limits
        self._backlog = services.backlog
        self._connections = Connections(services, self._closed)
        self._turn: Turn | None = None
        self._number = 0
        self.weighs: Task[None] | None = None
        """Finds out what another model costs, and asks; what is to be sent waits."""
        self._renewing: set[str] = set()
        """Endpoints of which something may have changed during a turn."""
        self._handover = ""
        """The instruction that the other role gets when the lane is free."""
        self._handed = ""
        """How far the first role came with it, in words."""
        self._forgetting = False
        self._stop_ms = 0.0
        self._left: CutReply | None = None
        """What the last turn left half-said; None: it was whole."""
        self._left_by: RoleSpec | None = None
        self._way = PLAIN
        """Of the last turn."""
        self._left_before: Callable[[RoleSpec], CutReply] | None = None
        """Makes anew what an earlier run left half-said."""
        self._unsent: Waiting | None = None
        """What was given back to the prompt box."""
        self._stop_note: Block | None = None
        """From the last Esc until the buffers stood still."""
        if self._status.role not in self._roles:
            self._status.role = next(iter(self._roles))
        self._connections.describe(self._roles[self._status.role])
        self._suggest()
        services.state.before_drain.append(self._frame)

    def handle(self, intent: Intent) -> None:
        """Do what the user asks of the conversation."""
        match intent:
            case intents.Prompt(text, way):
                self.prompt(text, way)
            case intents.Queue(text, way):
                self._queue(text, way)
            case intents.Steer(text):
                self._steer(text)
            case intents.Continue():
                self._continue()
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
            case intents.Switch(role):
                self._switch(role)
            case intents.SetEffort() | intents.SetTier() | intents.Throttle():
                self._adjust(intent)
            case intents.NewConversation():
                self._forget()

    def _adjust(self, intent: intents.SetEffort | intents.SetTier | intents.Throttle) -> None:
        """How the model is asked from now on, unless it has no such effort."""
        spec, state = self._roles[self._status.role], self._services.state
        if isinstance(intent, intents.SetEffort):
            known = self._services.requests.levels(spec)
            if why := effort_refusal(intent.effort, spec.model, known):
                state.warn(why)
                return
        _adjust(self._status, intent, self._turn)
        state.restated()

    @property
    def last_turn(self) -> int:
        """The number of the newest turn; 0: there is none."""
        return self._number

    def go_on_behind(self, number: int) -> None:
        """So many turns were there before."""
        self._number = self._services.requests.history.turn = number

    def turn_beside(self, text: str, brief: str, spec: RoleSpec) -> int:
        """A turn that a lane did comes home; no other one runs. Its number."""
        state = self._services.state
        self._number += 1
        self._services.requests.history.turn = self._number
        for due in state.before_turn:
            due(self._number)
        state.add(Block(BlockKind.USER, self._number, brief, state="done"), text)
        by = replace(spec, role=self._status.role)  # which answers when the session goes on
        state.witness.turn_begins(self._number, text, by, spec.effort or "", spec.tier)
        return self._number

    def rewound(self, first: int) -> None:
        """The conversation ends elsewhere now: what was cut does not go on.

        ``first`` is the first turn that went; 0: some came back.
        """
        self._left = self._left_before = None
        self._services.requests.rewound(first)
        self._status.can_continue = False
        self._status.stopped = ""
        self._services.state.restated()

    def was_cut(self, again: Callable[[RoleSpec], CutReply]) -> None:
        """The last answer of an earlier run was cut; ``again`` makes of it what can go on."""
        if self._turn is None:
            self._left_before, self._status.can_continue = again, True
            self._services.state.restated()

    def prompt(self, text: str, way: TurnWay = PLAIN) -> None:
        """Send this now; what streams is interrupted first."""
        if not text.strip():
            return
        way = self._way_again(text, way)
        if self._turn is None and self.weighs is None:
            self._begin(Waiting(text, way))
            return
        self._backlog.add(text, "redirect", way)
        self._handover = ""
        self.interrupt()

    @property
    def unsent(self) -> list[str]:
        """What waits for the wire, what the server has and no answer has used, and the queue."""
        turn = self._turn
        waiting = [] if turn is None or turn.sent else [turn.request.text]
        return [*waiting, *self._status.steering, *self._status.queued]

    @property
    def can_steer(self) -> bool:
        """Alt+Enter adds to what runs; else it queues."""
        turn = self._turn
        if turn is None or turn.stopped:
            return False
        spec = turn.request.spec
        able = turn.wire.abilities(spec.model).steer
        return (spec.steers if able is None else able) is not False

    def abilities(self) -> Abilities:
        """What is known of the model that answers now and its endpoint."""
        spec = self._roles[self._status.role]
        can = self._connections.to(spec.endpoint).wire.abilities(spec.model)
        return replace(can, images=self._services.requests.attachments.images.sees(spec))

    async def dial(self) -> None:
        """Connect ahead of the first prompt; a failure is told when it matters."""
        spec = self._roles[self._status.role]
        await self._services.open_files.prepare()
        try:
            await self._connections.to(spec.endpoint).wire.open()
        except DuettoError as error:
            self._services.state.trouble(not_reached(error))

    async def close(self) -> None:
        """Drop what streams, close the sockets."""
        self._handover, self._forgetting = "", False
        self._backlog.calm()
        if self._turn is not None:
            self._turn.freeze()
            self._turn.stop()
        await self._connections.close()

    def _continue(self) -> None:
        """Undo an Esc: the answer goes on where it was cut."""
        state = self._services.state
        if self._left_before is not None and self._turn is None:
            self._left_by = self._roles[self._status.role]
            self._left = self._left_before(self._left_by)
        left = self._left
        if left is None or self._turn is not None:
            why = "the last answer is whole"
            if self._turn is not None:
                why = "the answer is still coming"
            elif self._number and not self._services.requests.history.entries:
                why = "a new conversation has begun"
            state.trouble(Trouble(f"Nothing to continue: {why}", severity="information"))
            return
        history, by = self._services.requests.history, self._left_by
        settled = left.settle()
        if settled and left.message is not None and by is not None:
            history.break_chain()
            history.output(message_item(left.stands), by.origin)
        state.note(self._number, "continued")
        words = Waiting(left.words(settled=settled), self._way)
        self._begin(words, repeated=True, going_on=left)

    def _queue(self, text: str, way: TurnWay = PLAIN) -> None:
        if not text.strip():
            return
        if self._turn is None and self.weighs is not None:
            self.prompt(text, way)
            return
        self._backlog.add(text, way=self._way_again(text, way))
        if self._turn is None:
            self._next()

    def _steer(self, text: str) -> None:
        turn = self._turn
        if turn is None or not self.can_steer:
            self._queue(text)
        elif text.strip() and names_image(text):
            self._queue(text)  # what is added to an answer is words
        elif text.strip():
            turn.steer(text)

    def _prewarm(self) -> None:
        """The user begins to type: have the endpoint ready when a prompt comes."""
        status = self._status
        if self._turn is None:
            spec = self._roles[status.role]
            connection = self._connections.to(spec.endpoint)
            connection.prewarm.begin(
                spec, status.efforts.get(spec.role), status.tiers.get(spec.role, "")
            )

    def _let_go(self) -> None:
        """What waited for a message that was edited goes now, unless the last turn went wrong."""
        if not self._status.busy and self._status.outcome == "completed":
            self._next()

    def _next(self) -> None:
        """Send the first queued message, unless it is being edited."""
        if first := self._backlog.first():
            self._begin(first)

    def interrupt(
        self, esc: intents.Interrupt | None = None, then: Callable[[], None] = lambda: None
    ) -> None:
        """Freeze at this character, then tell the wire; synchronous from end to end.

        ``esc``: the user wants a rest, so nothing follows by itself. ``then`` says why, behind
        how much had come.
        """
        if esc is not None:
            self._handover = ""
            self._backlog.calm()
        turn = self._turn
        if turn is None or turn.stopped:
            return
        state, clock = self._services.state, self._services.ports.clock
        start_s = clock.now()
        turn.freeze()
        self._services.ports.stamp("frozen", MAIN_LANE)
        now = clock.now()
        state.meter.stop(now)
        self._stop_ms = (now - start_s) * 1000
        self._status.stopping = True
        self._status.stopped = self._stop_words()
        self._stop_note = state.add(
            Block(BlockKind.NOTE, turn.request.number), self._status.stopped
        )
        then()
        state.metered()
        state.restated()
        turn.stop()

    def take_over(self) -> str:
        """Stop the turn that runs, as another goes on with it; its prompt, or empty: none runs."""
        turn = self._turn
        if turn is None or turn.stopped:
            return ""
        self.interrupt(intents.Interrupt())
        return turn.request.way.typed or turn.request.text

    def _stop_words(self) -> str:
        view = self._services.state.meter.view(self._services.ports.clock.now())
        about = "~" if view.tokens_estimated else ""
        said = f"{about}{counted(view.tokens, 'token')}"
        return f"stopped after {said}, in {max(self._stop_ms, 0.1):.1f} ms"

    def _settle_stop_note(self) -> None:
        """The server's count came with the end: the conversation shows it as the status does."""
        note, self._stop_note = self._stop_note, None
        if note is not None:
            note.say(self._stop_words())
            self._services.state.close(note, "cut")

    def _tell_pace(self, turn: Turn | None, outcome: Outcome) -> None:
        """One line behind an answer; of one that was handed over both times, side by side."""
        state = self._services.state
        view = state.meter.view(self._services.ports.clock.now())
        if turn is None or not view.tokens:
            self._handed = ""
        elif self._handover:
            self._handed = f"{turn.request.spec.role} {pace_words(view)} · "
        elif outcome == "completed":
            role = f"{turn.request.spec.role} " if self._handed else ""
            words = f"{self._handed}{role}{pace_words(view)} · {slow_words(view)}"
            state.add(Block(BlockKind.PACE, turn.request.number, state="done"), words)
            self._handed = ""

    @cached_property
    def parts(self) -> RequestParts:
        """What the next request holds."""
        from tui.engine.request_parts import RequestParts  # after the first paint

        return RequestParts(self._services, self.next_head)

    @property
    def tells_parts(self) -> bool:
        """True while it is found out what the next request holds."""
        return "parts" in self.__dict__ and self.parts.running

    def next_head(self) -> tuple[RoleSpec, Request]:
        """Who answers the next prompt, and what its request says beside its items."""
        status = self._status
        spec = self._roles[status.role]
        effort, tier = status.efforts.get(spec.role), status.tiers.get(spec.role, "")
        return spec, self._services.requests.head(spec, effort, tier)

    def use(self, spec: RoleSpec) -> None:
        """Have this model answer for its role from now on; mid-stream as a switch."""
        if spec.role == self._status.role:
            self._weighing(spec, lambda: self._use(spec))
        else:
            self._use(spec)

    def _weighing(self, spec: RoleSpec, go: Callable[[], None]) -> None:
        """Another model reads the conversation anew: ask first, if that costs more than allowed."""
        services = self._services
        same = spec.origin == self._roles[self._status.role].origin
        if same or services.budget().caps.switch is None or not services.requests.history.entries:
            go()
            return

        async def weigh() -> None:
            budget = services.budget()
            if question := await budget.of_switch(spec, spec.tier):
                choices, (words, detail) = (f"Switch to {spec.model}", STAY), question
                asked = services.state.questions.ask(f"{words}: switch?", detail, choices)
                if await asked == STAY:
                    return
                budget.reader = None
            go()

        def weighed(task: Task[None]) -> None:
            if task is self.weighs:
                self.weighs = None
                if self._turn is None:
                    self._go_on(self._status.outcome or "completed")

        if self.weighs is not None:
            self.weighs.cancel()  # one question: which model is to be the next one
        self.weighs = services.supervisor.start(weigh(), "the price of another model")
        self.weighs.add_done_callback(weighed)

    def _use(self, spec: RoleSpec) -> None:
        role, status = spec.role, self._status
        before = self._roles.get(role)
        self._roles[role] = spec
        status.models[role], status.tiers[role] = spec.model, spec.tier
        status.efforts[role], status.same_tiers[role] = spec.effort, spec.same_tiers
        status.auto.pop(role, None)
        if spec.auto_effort:
            status.auto[role] = ""
        status.levels[role] = self._services.requests.levels(spec)
        self._renewing.add(spec.endpoint)
        if self._turn is None:
            self._renew()
        if role == status.role:
            self._answered_by(spec, f"{role} is {spec.model} on {spec.endpoint} from now on")
            if self._turn is None:
                self._services.supervisor.start(self.dial(), "connecting")
        elif before != spec:
            words = f"{role} is {spec.model} on {spec.endpoint} from now on"
            self._services.state.note(self._number, words)
        self._services.state.restated()

    def _switch(self, role: Role) -> None:
        if role not in self._roles:
            step = f"/connect sets it up; or start with --{role} MODEL"
            self._services.state.trouble(Trouble(f"No {role} model is set up", "", step))
            return
        if role == self._status.role:
            return
        self._weighing(self._roles[role], lambda: self._switched(role))

    def _switched(self, role: Role) -> None:
        self._status.role = role
        self._answered_by(self._roles[role], f"switched to {role}: {self._roles[role].model}")
        self._services.state.restated()

    def _renew(self) -> None:
        """Between two turns: whoever is asked by another address or key is dialled anew."""
        while self._renewing:
            self._connections.renew(self._renewing.pop())

    def _answered_by(self, spec: RoleSpec, words: str) -> None:
        """Another model answers from now on; what streams is handed over to it."""
        forget_served(self._status)
        self._connections.describe(spec)

        def say() -> None:
            self._services.state.note(self._number, words)
            requests = self._services.requests
            requests.attachments.images.settle(spec, requests.history)

        turn = self._turn
        if turn is not None and not turn.stopped:
            self._handover = turn.request.text
            self.interrupt(then=say)
        else:
            say()

    def _forget(self) -> None:
        """A new conversation: at once, or when the lane is free."""
        self._forgetting = True
        self._handover = ""
        if self._turn is not None:
            self.interrupt()
            if self._turn is not None:
                return
        self._forgetting = False
        self._left = self._left_before = None
        self._status.can_continue = False
        self._services.requests.forget()
        self._services.budget().forget()
        self._services.state.witness.forgets()
        self._services.state.meter.forget()
        self._status.stopped = self._status.outcome = ""
        self._services.state.note(self._number, FORGOTTEN)
        self._services.state.metered()
        self._services.state.restated()

    def _way_again(self, text: str, way: TurnWay) -> TurnWay:
        """How a prompt is sent; one that was given back, and is as it was, as before."""
        before, self._unsent = self._unsent, None
        return before.way if before is not None and before.text == text else way

    def _begin(
        self, *prompts: Waiting, repeated: bool = False, going_on: CutReply | None = None
    ) -> None:
        """Start a turn, in the way of the first prompt that wants it otherwise than most.

        ``repeated``: the conversation shows its text already. ``going_on``: what was cut, with
        which its answer goes on.
        """
        state, status = self._services.state, self._status
        text = "\n\n".join(one.text for one in prompts)
        way = next((one.way for one in prompts if one.way != PLAIN), PLAIN)
        self._number += 1
        self._services.requests.history.turn = self._number
        for due in state.before_turn:
            due(self._number)
        spec = self._roles[status.role]
        if not repeated:
            brief = way.brief if len(prompts) == 1 else ""
            state.add(Block(BlockKind.USER, self._number, brief, state="done"), text)
        self._way, state.workspace.documents.asked_lines = way, way.within
        status.busy, status.stopping, status.stopped = True, False, ""
        status.outcome = status.unsent = ""
        status.can_go_on = status.can_continue = False
        status.asking = way.asks
        self._left = self._left_before = None
        self._asked.add(text.strip())
        self._suggest()
        self._connections.describe(spec)
        _tell_outdated(state, self._told, spec)
        request = TurnRequest(
            self._number,
            text,
            spec,
            status.efforts.get(spec.role),
            status.tiers.get(spec.role, ""),
            status.throttle,
            self._limits,
            going_on,
            way,
        )
        state.meter.prompted(self._services.ports.clock.now(), spec.model)
        self._renew()
        connection = self._connections.to(spec.endpoint)
        self._turn = Turn(self._services, request, connection, self._ended)
        state.restated()
        effort, tier = request.effort or "", request.tier
        state.witness.turn_begins(self._number, text, spec, effort, tier)
        self._turn.start()

    def _ended(self, outcome: Outcome) -> None:
        """The turn is over and the lane is free."""
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.wire.on_event = unheard
        status, state = self._status, self._services.state
        status.busy = status.stopping = False
        status.outcome = outcome
        state.meter.stop(self._services.ports.clock.now())
        if outcome != "failed":
            self._connections.rest()
        if outcome == "interrupted":
            status.stopped = self._stop_words()
        self._settle_stop_note()
        self._tell_pace(turn, outcome)
        state.metered()
        state.restated()
        if turn is not None:
            _keep_speed(self._services, turn, outcome)
            self._keep_prompt(turn)
            self._keep_left(turn, outcome)
            for told in state.after_turn:
                told(turn.request.number, turn.request.text, outcome)
            if turn.request.way.inspects:
                state.inspected(turn.request.number)
            state.witness.turn_ends(turn.request.number, outcome)
        if self._forgetting:
            self._forget()
        self._go_on(outcome)

    def _go_on(self, outcome: Outcome) -> None:
        """What is sent next; what was given back goes with what the user said after it."""
        backlog = self._backlog
        if self.weighs is not None:
            return
        if backlog.holds("redirect"):
            self._begin(*backlog.take("steer", "redirect"))
        elif self._handover:
            text, self._handover = self._handover, ""
            self._begin(Waiting(text, self._way), repeated=True)
        elif outcome != "completed":
            backlog.calm()
        elif texts := backlog.take("steer"):
            self._begin(*texts)
        else:
            self._next()

    def _keep_left(self, turn: Turn, outcome: Outcome) -> None:
        """What may go on by `Continue`."""
        from tui.engine.response_items import CutReply

        going_on = turn.request.going_on
        if outcome != "completed" and turn.sent and not turn.unanswered:
            self._left, self._left_by = turn.left or CutReply(), turn.request.spec
        elif outcome != "completed":
            self._left = going_on  # nobody answered: it can be asked again
        self._status.can_continue = self._left is not None

    def _keep_prompt(self, turn: Turn) -> None:
        """A prompt that nobody answered is not lost: it goes back to the prompt box."""
        history, text = self._services.requests.history, turn.request.text
        if self._backlog.holds("redirect"):
            if not turn.sent:
                history.prompt(text)
            return
        if self._handover:
            unanswered = history.withdraw(1 + turn.steering.said) if turn.sent else []
            before = [] if unanswered[:1] == [text] else [text]
            self._handover = "\n\n".join([*before, *unanswered])
            return
        if turn.request.going_on is not None:
            if turn.unanswered:
                history.withdraw(1)
            return
        if turn.unanswered:
            withdrawn = history.withdraw(1 + turn.steering.said)
            if withdrawn:
                self._services.requests.cut = None
                self._status.unsent = "\n\n".join(withdrawn)
                if turn.request.way.typed and withdrawn[0] == text:
                    self._status.unsent = "\n\n".join([turn.request.way.typed, *withdrawn[1:]])
        way = turn.request.way
        if not turn.sent:
            self._status.unsent = way.typed or text
            if not turn.held:
                words = "the model did not get this prompt"
                self._services.state.note(turn.request.number, words)
        if way != PLAIN and self._status.unsent == text:
            self._unsent = Waiting(text, way)

    def _suggest(self) -> None:
        """Offer the first exercise that was not begun yet."""
        status = self._status
        fresh = [prompt for prompt in status.prompts if prompt not in self._asked]
        if self._suggested is not None and status.prompts:
            status.suggestion = self._suggested()
        if self._suggested is None or status.suggestion in self._asked:
            status.suggestion = fresh[0] if fresh else ""

    def _closed(self, connection: EndpointConnection, why: str) -> None:
        turn = self._turn
        if turn is not None and turn.wire is connection.wire:
            turn.pacer.after(partial(turn.lost, why or "the connection was lost"))
        else:
            self._services.requests.history.lost(connection.endpoint)

    def _frame(self) -> None:
        """Once a frame."""
        if self._turn is not None:
            self._turn.frame()
        self._connections.look(self._roles[self._status.role])


def _tell_outdated(state: SessionState, told: set[str], spec: RoleSpec) -> None:
    """Once: a model that is gone may be refused, one that is legacy will be."""
    if spec.outdated and spec.outdated not in told:
        told.add(spec.outdated)
        state.trouble(Trouble(spec.outdated, severity="information"))


def _keep_speed(services: Services, turn: Turn, outcome: Outcome) -> None:
    """How fast the model was, where the server counted and nobody slowed it down."""
    catalogue, status = services.ports.catalogue, services.state.status
    if catalogue is None or outcome != "completed" or status.served_endpoint:
        return
    view = services.state.meter.view(services.ports.clock.now())
    sure = not view.estimated and view.tokens >= _LEAST_TOKENS and turn.request.throttle is None
    if sure and status.throttle is None and view.tokens_s and view.ttft_s is not None:
        spec = turn.request.spec
        catalogue().measured(spec.endpoint, spec.model, view.tokens_s, view.ttft_s)


def _adjust(
    status: Status,
    intent: intents.SetEffort | intents.SetTier | intents.Throttle,
    turn: Turn | None,
) -> None:
    """How the model is asked from now on; the throttle takes hold of what streams, too."""
    match intent:
        case intents.SetEffort("auto"):
            known, now = status.levels.get(status.role), status.efforts.get(status.role)
            status.auto[status.role] = ""
            if now not in auto_levels(known):
                status.efforts[status.role] = auto_start(known)
        case intents.SetEffort(effort) if effort != "auto":
            status.efforts[status.role] = effort
            status.auto.pop(status.role, None)
        case intents.SetTier(tier):
            status.tiers[status.role] = tier
        case intents.Throttle(tokens_s):
            status.throttle = tokens_s
            if turn is not None:
                turn.pacer.pace(tokens_s)


def too_long(state: SessionState, text: str) -> bool:
    """Whether a text is too long to be sent: it is given back then."""
    if len(text) <= MOST_PROMPT:
        return False
    why = f"it has {len(text):,} characters, and at most {MOST_PROMPT:,} are sent"
    step = "put it into a file and name that with @"
    state.warn("The prompt was not sent", why, step)
    state.status.unsent = text
    state.restated()
    return True

"""Whatever the user, the server and the network do, in any order: nothing said is lost or doubled.

A session talks through a real client protocol to a real server protocol. Every text of the user,
every delta of the model and every refusal is a token that occurs nowhere else. The session is at
rest, or something runs or is expected.

`CONVERSATIONS=20000 pytest --timeout=0 tests/engine/test_conversation_machine.py` plays so many.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.fakes import FakeRunner, World
from tests.support.memory_wire import MemoryWire
from tui.core.conversation import BlockKind
from tui.core.programs import CommandLine, RunResult
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import Run
from tui.engine import intents
from tui.engine.ports import MAIN_LANE, RoleSpec
from tui.errors import DuettoError, EndpointError, KeyRefused

TOKEN = re.compile(r"<\w+>")
SAID = re.compile(r"\[(\d+)\.\d+\]")
REFUSED = re.compile(r"\{r\w+\}")
LATE_S = 30.0
"""Longer than any timer of the protocol and any wait between tries."""


REFUSALS: dict[str, dict[str, Any]] = {
    "prompt": {"status": 400, "error": {"code": "invalid_prompt"}},
    "vague": {"status": 400, "error": {"type": "invalid_request_error"}},
    "bare": {"error": {}},
    "flat": {"code": "invalid_value", "param": "input"},
    "gone": {"status": 404, "error": {"code": "response_not_found"}},
    "parent": {"status": 400, "error": {"code": "previous_response_not_found"}},
    "event": {"status": 400, "error": {"code": "unknown_event", "param": "type"}},
    "key": {"status": 401, "error": {"code": "invalid_api_key"}},
    "slower": {
        "status": 429,
        "error": {"code": "rate_limit_exceeded"},
        "headers": {"retry-after": "7"},
    },
    "broken": {"status": 500, "error": {"code": "server_error"}},
    "old": {"status": 400, "error": {"code": "websocket_connection_limit_reached"}},
    "failed": {},
    "failed again": {},
}
"""How a server may refuse a request; the last two are `response.failed`."""
ENDS = ["completed", "completed", "completed", "limit", *sorted(REFUSALS)]
DIALS: tuple[Callable[[], DuettoError], ...] = (
    lambda: EndpointError("HTTP 503", transient=True),
    lambda: EndpointError("HTTP 404", http_may_work=True),
    lambda: KeyRefused("HTTP 401"),
)


class NoThread(ThreadPoolExecutor):
    """Does at once what it is given."""

    def submit(self, work: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


async def settle() -> None:
    """Let everything that is ready run."""
    loop: Any = asyncio.get_running_loop()
    await asyncio.sleep(0)
    while loop._ready:
        await asyncio.sleep(0)


class MoodyServer:
    """A server that does not react to some types of events, and refuses some requests."""

    def __init__(self, server: ServerProtocol, wire: TalkingWire) -> None:
        self.server, self.wire = server, wire
        self._said: list[str] = []

    def receive_text(self, text: str) -> None:
        if any(f'"{kind}"' in text for kind in self.wire.deaf):
            return
        event = json.loads(text)
        if event["type"] == "response.create" and self.wire.refusals:
            self._refuse(event, *self.wire.refusals.pop(0))
        else:
            self.server.receive_text(text)

    def data_to_send(self) -> list[str]:
        said, self._said = self._said, []
        return [*said, *self.server.data_to_send()]

    def _refuse(self, event: dict[str, Any], kind: str, named: bool) -> None:
        turn = int(event["metadata"]["turn"]) if event.get("generate", True) else None
        parent = str(event.get("previous_response_id", ""))
        said = self.wire.refusal(kind, turn, event.get("stream_id") if named else None, parent)
        self._said += [*self.server.data_to_send(), said]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.server, name)


class TalkingWire(MemoryWire):
    """Tells the server which turn a request is of, so that the model can say it."""

    world: TalkingWorld
    late = False
    """The state changes at once, but it is told when the caller is done."""
    deaf: frozenset[str] = frozenset()
    """Types of events that its server does not react to in any way."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.steering = bool(kwargs.get("steering"))
        self.mark = ""
        """Of its refusals, beside another wire's."""
        self.refusals: list[tuple[str, bool]] = []
        """How the next requests are refused, and whether the lane is named."""
        self.refused: dict[str, int | None] = {}
        """Words of a refusal -> the turn of its request; None: a prewarm."""
        self.dials: list[Callable[[], DuettoError]] = []
        """The next dials fail with these."""

    def refusal(self, kind: str, turn: int | None, lane: str | None, response_id: str) -> str:
        """A server's words, with a token of their own."""
        message = f"{{r{len(self.refused)}{self.mark}}}"
        self.refused[message] = turn
        spoken = {"stream_id": lane} if lane else {}
        told = REFUSALS[kind]
        if told:
            error = {**told.get("error", {}), "message": message}
            fields = {**told, "error": error} if "error" in told else {**told, "message": message}
            return json.dumps({"type": "error", **spoken, **fields})
        name = response_id if kind.endswith("again") else f"resp_{message}"
        error = {"code": "server_error", "message": message}
        response = {"id": name, "status": "failed", "error": error}
        return json.dumps({"type": "response.failed", **spoken, "response": response})

    async def open(self) -> None:
        if self.state != "open" and self.dials:
            await asyncio.sleep(0)
            raise self.dials.pop(0)()
        await super().open()
        if not isinstance(self.socket.server, MoodyServer):
            server = ServerProtocol(f"{self.mark}{self.socket.dials}_", steering=self.steering)
            self.socket.server = MoodyServer(server, self)
        await asyncio.sleep(0)

    def tell(self, state: Any, reason: str) -> None:
        self.close_code = None if state == "open" else self.close_code
        if self.late:
            self.state = state
            asyncio.get_running_loop().call_soon(self.on_state, state, reason)
        else:
            super().tell(state, reason)

    def create(self, request: Mapping[str, Any]) -> None:
        number = self.world.session._foreground._number
        super().create({**request, "metadata": {"turn": str(number)}})

    def deliver(self, to_client: int | None = None) -> None:
        if self.socket.open:
            self.socket._run_server()  # what ended made room for a successor
        super().deliver(to_client)

    @property
    def expects(self) -> bool:
        """Something is under way, or a time is waited for, or the server is at work."""
        socket = self.socket
        if not socket.open or socket.to_server or socket.to_client or self.client.needs_care:
            return True
        waiting = socket.server._waiting._requests or socket.server._outbox
        return self.client.deadline() is not None or bool(waiting or socket.server.running())


class TalkingWorld(World):
    """One endpoint or two, in memory."""

    def __init__(self, wires: dict[str, TalkingWire]) -> None:
        self.talking = wires
        deep = [*wires][-1]
        super().__init__(
            {"a.py": "one\n"},
            roles={
                "fast": RoleSpec("fast", "quick-1", "main"),
                "deep": RoleSpec("deep", "slow-1", deep),
            },
        )
        for wire in wires.values():
            wire.world = self

    def _wire(self, endpoint: str, lane: str = MAIN_LANE) -> Any:
        return self.talking[endpoint]


class SlowRunner(FakeRunner):
    """Runs each command until it is let go, or stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[asyncio.Event] = []

    async def run(self, command: CommandLine, *how: Any, **more: Any) -> RunResult:
        self.commands.append(command)
        self.held.append(asyncio.Event())
        await self.held[-1].wait()
        return self.result


class Stage(RuleBasedStateMachine):
    """What the conversation is played on, and what must be true when it has come to rest."""

    played = 0
    """Responses that began, in all conversations."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.world: TalkingWorld
        self.runs: list[Run] = []
        self.open: dict[str, int] = {}
        """Response id -> index of its open message."""
        self.count = 0
        self.typed: list[str] = []
        """Tokens that must be somewhere."""
        self.drafts: list[str] = []
        """What the prompt box took back."""
        self.handed: set[str] = set()
        """Tokens of turns that another model was to go on with."""
        self.wires: list[TalkingWire] = []
        self.runner = SlowRunner()
        self.allowed: list[str] = []
        """Commands that the user said yes to."""

    async def comes_to_rest(self) -> None:
        for wire in self.wires:
            wire.refusals, wire.dials = [], []
        for _ in range(200):
            await self.passes(LATE_S if self.world.session.status.retry_s else 0.5)
            self.something_runs_or_is_expected()
            for ask in list(self.world.session.status.asks):
                self.world.session.submit(intents.Answer(ask.id, ask.choices[-1]))
            for event in self.runner.held:
                event.set()
            if self.running():
                self.end(self.running()[-1], "completed")
            elif not self.world.session.status.busy:
                return
        raise AssertionError("it never comes to rest")

    def everything_is_somewhere(self) -> None:
        session = self.world.session
        status, history = session.status, session._foreground._services.requests.history
        assert (status.busy, status.stopping, status.steering) == (False, False, [])
        assert status.retry_s is None
        if status.outcome == "completed":
            assert not status.queued or session._foreground._backlog.holds("held")
        entries = history.entries
        said = self.said([(e.kind == "prompt", str(e.item)) for e in entries])
        waiting = TOKEN.findall(" ".join([*status.queued, *self.drafts]))
        # what the other model could not be asked either is in the prompt box again
        waiting = [one for one in waiting if not (one in said and one in self.handed)]
        assert sorted([*said, *waiting]) == sorted(self.typed), (said, waiting)
        users = " ".join(b.text for b in session.transcript.blocks if b.kind is BlockKind.USER)
        assert [users.count(token) for token in said] == [1] * len(said)
        calls = [e.item["call_id"] for e in entries if str(e.item["type"]).endswith("_call")]
        answers = [e.item["call_id"] for e in entries if str(e.item["type"]).endswith("_output")]
        assert sorted(calls) == sorted(answers)
        assert len(set(calls)) == len(calls)
        ran = [str(command) for command in self.runner.commands]
        assert len(set(ran)) == len(ran)
        assert all(one.startswith("ls ") or one in self.allowed for one in ran)

    def said(self, items: list[tuple[bool, str]]) -> list[str]:
        """The user's tokens in these items, each with whether we said it.

        What another model has half answered is said again to the one that goes on.
        """
        said: list[str] = []
        answered: set[str] = set()
        for ours, text in items:
            if ours:
                said += [token for token in TOKEN.findall(text) if token not in answered]
            else:
                answered |= self.handed.intersection(said)
        return said

    def do(self, work: Any) -> None:
        self.loop.run_until_complete(work)

    def submit(self, intent: intents.Intent) -> None:
        async def submitted() -> None:
            self.world.session.submit(intent)
            await settle()
            self.looks()

        self.do(submitted())

    async def passes(self, seconds: float) -> None:
        """The network is quicker than any timer."""
        self.deliver()
        await settle()
        self.world.clock.advance(seconds)
        for wire in self.wires:
            wire.advance(seconds)
        await settle()
        self.deliver()
        await settle()
        self.looks()

    def deliver(self, frames: int | None = None) -> None:
        for wire in self.wires:
            wire.deliver(frames)

    def something_runs_or_is_expected(self) -> None:
        """The session is busy only while somebody has something to do."""
        session = self.world.session
        turn = session._foreground._turn
        assert session.status.busy == (turn is not None)
        if turn is None or turn._task is not None:
            return
        if turn._reply is not None or turn._owed:
            assert turn.wire.busy or turn.steering.undecided
            assert turn.wire.expects, turn.wire.client.lane(turn.wire.lane).state
        else:
            assert turn._runner.waiting

    def looks(self) -> None:
        """The front end draws a frame; its prompt box takes back what was not sent."""
        status = self.world.session.status
        for trouble in self.world.session.drain().troubles:
            assert "broke off" not in trouble.what
            assert "No tool output" not in trouble.why
        if status.unsent:
            self.drafts.append(status.unsent)
            status.unsent = ""

    def running(self) -> list[Run]:
        return [run for run in self.runs if not run.done]

    def words(self, run: Run) -> str:
        self.count += 1
        return f"[{run.request['metadata']['turn']}.{self.count}] "

    def end(self, run: Run, how: str, named: bool = True) -> None:
        if run.response_id in self.open and how == "completed":
            run.item_done(self.open.pop(run.response_id))
        match how:
            case "completed":
                run.finish()
            case "limit":
                run.finish("incomplete", reason="max_output_tokens")
            case _:
                wire = next(one for one in self.wires if run in one.socket.server.running())
                turn, lane = int(run.request["metadata"]["turn"]), run.lane if named else None
                run._send(wire.refusal(how, turn, lane, run.response_id))
                run.done = True
                run._ended(run, False)


class Conversation(Stage):
    """A user who types what comes to mind, a server with moods, a network that breaks."""

    @initialize(
        steering=st.booleans(),
        late=st.booleans(),
        deaf=st.frozensets(st.sampled_from(["response.steer", "response.interrupt"])),
        lane=st.sampled_from([MAIN_LANE, None]),
        endpoints=st.sampled_from([("main",), ("main", "other")]),
    )
    def begins(
        self,
        steering: bool = True,
        late: bool = False,
        deaf: frozenset[str] = frozenset(),
        lane: str | None = MAIN_LANE,
        endpoints: tuple[str, ...] = ("main",),
    ) -> None:
        async def begin() -> None:
            for endpoint in endpoints:
                wire = TalkingWire(self.runs.append, lane=lane, steering=steering)
                wire.late, wire.deaf, wire.mark = late, deaf, endpoint
                self.wires.append(wire)
            self.world = TalkingWorld(dict(zip(endpoints, self.wires, strict=True)))
            self.world.ports.runner = self.runner
            self.loop.set_default_executor(NoThread(1))
            await settle()

        self.do(begin())
        self.begun()

    def begun(self) -> None:
        """The session is there."""

    # the user

    @rule(
        kind=st.sampled_from([intents.Prompt, intents.Queue, intents.Steer]),
        carried=st.booleans(),
    )
    def types(self, kind: Any, carried: bool = False) -> None:
        self.count += 1
        self.typed.append(f"<u{self.count}>")
        session = self.world.session
        busy, label = session.status.busy, session.prompt_label()
        self.submit(kind(self.typed[-1]))
        users = [b.text for b in session.transcript.blocks if b.kind is BlockKind.USER]
        shown = " ".join([*users, *session.status.queued, *session.status.steering, *self.drafts])
        assert self.typed[-1] in shown
        assert label == ("redirect" if busy else "send")
        if kind is intents.Prompt and label == "send":
            assert self.typed[-1] in users
        self.carries(None if carried else 0)

    @rule(role=st.sampled_from(["fast", "deep"]))
    def switches(self, role: intents.Role) -> None:
        turn = self.world.session._foreground._turn
        if turn is not None:
            self.handed.update(TOKEN.findall(turn.request.text))
        self.submit(intents.Switch(role))

    @rule()
    def presses_esc(self) -> None:
        self.submit(intents.Interrupt())

    @rule()
    def begins_to_type(self) -> None:
        self.submit(intents.Prewarm())
        self.carries(None)

    @precondition(lambda self: self.world.session.status.queued)
    @rule(data=st.data())
    def changes_the_queue(self, data: st.DataObject) -> None:
        queued = self.world.session.status.queued
        index = data.draw(st.integers(0, len(queued) - 1))
        for token in TOKEN.findall(queued[index]):
            self.typed.remove(token)
        if data.draw(st.booleans()):
            self.submit(intents.Unqueue(index))
        else:
            self.count += 1
            self.typed.append(f"<u{self.count}>")
            self.submit(intents.EditQueued(index, self.typed[-1]))

    @precondition(lambda self: self.world.session.status.queued)
    @rule(held=st.booleans())
    def edits_the_queue(self, held: bool) -> None:
        self.submit(intents.HoldQueued(0 if held else None))

    @precondition(lambda self: self.world.session.status.asks)
    @rule(choice=st.sampled_from([0, -1]))
    def answers_a_question(self, choice: int) -> None:
        ask = self.world.session.status.asks[0]
        if choice == 0:
            self.allowed.append(ask.command)
        self.submit(intents.Answer(ask.id, ask.choices[choice]))

    @rule()
    def sends_to_the_background(self) -> None:
        self.submit(intents.ToBackground())

    @precondition(lambda self: any(not event.is_set() for event in self.runner.held))
    @rule()
    def a_command_ends(self) -> None:
        next(event for event in self.runner.held if not event.is_set()).set()
        self.carries(0)

    # the model

    @precondition(lambda self: self.running())
    @rule()
    def says_something(self) -> None:
        run = self.running()[-1]
        if run.response_id not in self.open:
            self.open[run.response_id] = run.item_added({"type": "message"})
        run.delta(self.open[run.response_id], self.words(run))

    @precondition(lambda self: self.running())
    @rule()
    def finishes_what_it_says(self) -> None:
        run = self.running()[-1]
        if run.response_id in self.open:
            run.item_done(self.open.pop(run.response_id))
            if run.steered:
                run.finish("incomplete", reason="steered")

    @precondition(lambda self: self.running())
    @rule(whole=st.booleans(), tool=st.sampled_from(["list", "ls", "make"]))
    def calls_a_tool(self, whole: bool, tool: str = "list") -> None:
        """A tool, a command that only reads, or one that is asked about."""
        run = self.running()[-1]
        self.count += 1
        index = run.item_added(
            {"type": "function_call", "name": "list" if tool == "list" else "shell"}
        )
        run.delta(
            index, "{}" if tool == "list" else json.dumps({"command": f"{tool} c{self.count}"})
        )
        if whole:
            run.item_done(index)

    @precondition(lambda self: self.running())
    @rule(end=st.sampled_from(ENDS), named=st.booleans(), carried=st.booleans())
    def ends(self, end: str, named: bool = True, carried: bool = False) -> None:
        self.end(self.running()[-1], end, named)
        self.carries(None if carried else 0)

    @precondition(lambda self: self.running())
    @rule(cut=st.booleans())
    def is_steered_and_all_goes_well(self, cut: bool) -> None:
        async def well() -> None:
            await self.passes(0.0)
            for run in self.running():
                if cut and run.steered:
                    run.finish("incomplete", reason="steered")
                else:
                    self.end(run, "completed")
            await self.passes(0.0)

        self.types(intents.Steer)
        self.do(well())

    @precondition(lambda self: self.running())
    @rule(
        kind=st.sampled_from(sorted(REFUSALS)),
        named=st.booleans(),
        meanwhile=st.lists(st.sampled_from([0, 1, 2, None]), max_size=3),
    )
    def is_steered_and_refused(
        self, kind: str, named: bool = True, meanwhile: tuple[int | None, ...] = ()
    ) -> None:
        """The refusal is on its way while the user types; so much is carried meanwhile."""
        self.end(self.running()[-1], kind, named)
        for frames in [0, *meanwhile]:
            self.types(intents.Steer)
            self.carries(frames)
        self.carries(None)

    @precondition(lambda self: not any(wire.refusals for wire in self.wires))
    @rule(kind=st.sampled_from(sorted(REFUSALS)), named=st.booleans(), wire=st.integers(0, 1))
    def will_refuse(self, kind: str, named: bool = True, wire: int = 0) -> None:
        """The next request, before it has begun."""
        wires = self.wires
        wires[wire % len(wires)].refusals.append((kind, named))

    # the network

    @precondition(lambda self: any(wire.state != "open" and not wire.dials for wire in self.wires))
    @rule(why=st.sampled_from(DIALS), wire=st.integers(0, 1))
    def will_not_connect(self, why: Callable[[], DuettoError], wire: int = 0) -> None:
        """The next time."""
        self.wires[wire % len(self.wires)].dials.append(why)

    @rule(frames=st.sampled_from([1, 2, 5, None]))
    def carries(self, frames: int | None) -> None:
        async def carry() -> None:
            self.deliver(frames)
            await settle()
            self.looks()

        self.do(carry())

    @rule(seconds=st.sampled_from([0.3, 1.2, 2.5, 12.0]))
    def takes_its_time(self, seconds: float) -> None:
        self.do(self.passes(seconds))

    @rule(code=st.sampled_from([None, None, 1000, 1008, 1009, 1011, 1013]), wire=st.integers(0, 1))
    def breaks(self, code: int | None = None, wire: int = 0) -> None:
        async def lose() -> None:
            broken = self.wires[wire % len(self.wires)]
            if broken.socket.open:
                broken.close_code = code
            broken.lose()
            await settle()
            self.looks()

        self.do(lose())

    @rule(wire=st.integers(0, 1))
    def grows_too_old(self, wire: int = 0) -> None:
        """The server ends the connection."""
        socket = self.wires[wire % len(self.wires)].socket
        if socket.open:
            socket.server.limit_reached()
            self.carries(None)

    # what always holds

    @invariant()
    def no_turn_speaks_in_another(self) -> None:
        if not hasattr(self, "world"):
            return
        blocks = self.world.session.transcript.blocks
        shown = [
            (block.turn, said)
            for block in blocks
            if block.kind is BlockKind.TEXT
            for said in SAID.finditer(block.text)
        ]
        assert all(int(said[1]) == turn for turn, said in shown)
        words = [said[0] for _, said in shown]
        assert len(set(words)) == len(words)

    @invariant()
    def no_server_hears_a_thing_twice(self) -> None:
        for run in self.runs:
            heard = self.said([(i.get("role") == "user", str(i)) for i in run.full_input])
            assert len(set(heard)) == len(heard), run.full_input

    @invariant()
    def somebody_has_something_to_do(self) -> None:
        if hasattr(self, "world"):
            self.something_runs_or_is_expected()

    @invariant()
    def a_refusal_is_told_in_the_turn_that_was_refused(self) -> None:
        if not hasattr(self, "world"):
            return
        refused = {words: turn for wire in self.wires for words, turn in wire.refused.items()}
        for block in self.world.session.transcript.blocks:
            for words in REFUSED.findall(block.text):
                assert block.turn == refused[words], block.text

    def teardown(self) -> None:
        Stage.played += len(self.runs)
        if hasattr(self, "world"):
            self.do(self.comes_to_rest())
            self.everything_is_somewhere()
            self.do(self.world.session.close())
        self.loop.close()


COUNT = int(os.environ.get("CONVERSATIONS", "60"))
Conversation.TestCase.settings = settings(max_examples=COUNT, stateful_step_count=40)
TestConversation = pytest.mark.slow(Conversation.TestCase)


def test_a_few_conversations_go_well() -> None:
    few = settings(Conversation.TestCase.settings, max_examples=8, derandomize=True, database=None)
    before = Stage.played
    run_state_machine_as_test(Conversation, settings=few)
    assert Stage.played > before + 8, "the server takes what it is asked"


PROMPT, QUEUE, STEER = intents.Prompt, intents.Queue, intents.Steer
Step = tuple[str, *tuple[Any, ...]]
FOUND: dict[str, tuple[dict[str, Any], list[Step]]] = {
    "a refused response that a steer is on its way to": (
        {},
        [
            ("begins_to_type",),
            ("types", PROMPT),
            ("carries", 1),
            ("ends", "prompt"),
            ("types", QUEUE),
            ("types", STEER),
            ("carries", None),
        ],
    ),
}
"""Conversations that once went wrong: how they began, and their steps."""


@pytest.mark.parametrize("found", FOUND)
def test_what_was_found_once_goes_well(found: str) -> None:
    beginning, steps = FOUND[found]
    conversation = Conversation()
    conversation.begins(**beginning)
    try:
        for name, *values in steps:
            getattr(conversation, name)(*values)
            conversation.somebody_has_something_to_do()
    finally:
        conversation.teardown()

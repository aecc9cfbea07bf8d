"""Whatever the user, the server and the network do, in any order: nothing said is lost or doubled.

A session talks through a real client protocol to a real server protocol. Every text of the user
and every delta of the model is a token that occurs nowhere else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from tests.support.fakes import World, settle
from tests.support.memory_wire import MemoryWire
from tui.core.turn import BlockKind
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import Run
from tui.engine import intents

TOKEN = re.compile(r"<\w+>")
SAID = re.compile(r"\[(\d+)\.\d+\]")
LATE_S = 30.0
"""Longer than any timer of the protocol and any wait between tries."""


class DeafServer:
    """A server that does not react to some types of events in any way."""

    def __init__(self, server: ServerProtocol, deaf: frozenset[str]) -> None:
        self.server, self.deaf = server, deaf

    def receive_text(self, text: str) -> None:
        if not any(f'"{kind}"' in text for kind in self.deaf):
            self.server.receive_text(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.server, name)


class TalkingWire(MemoryWire):
    """Tells the server which turn a request is of, so that the model can say it."""

    world: World
    late = False
    """The state changes at once, but it is told when the caller is done."""
    deaf: frozenset[str] = frozenset()
    """Types of events that its server does not react to in any way."""

    async def open(self) -> None:
        await super().open()
        if not isinstance(self.socket.server, DeafServer):
            self.socket.server = DeafServer(self.socket.server, self.deaf)
        await asyncio.sleep(0)

    def tell(self, state: Any, reason: str) -> None:
        if self.late:
            self.state = state
            asyncio.get_running_loop().call_soon(self.on_state, state, reason)
        else:
            super().tell(state, reason)

    def create(self, request: Mapping[str, Any]) -> None:
        blocks = self.world.session.transcript.blocks
        turn = blocks[-1].turn if blocks else 0
        super().create({**request, "metadata": {"turn": turn}})

    def deliver(self, to_client: int | None = None) -> None:
        if self.socket.open:
            self.socket._run_server()  # what ended made room for a successor
        super().deliver(to_client)


class TalkingWorld(World):
    """One endpoint, in memory."""

    def __init__(self, wire: TalkingWire) -> None:
        self.talking = wire
        super().__init__({"a.py": "one\n"})
        wire.world = self

    def _wire(self, endpoint: str, lane: str = "main") -> Any:
        return self.talking


class Stage(RuleBasedStateMachine):
    """What the conversation is played on, and what must be true when it has come to rest."""

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

    async def comes_to_rest(self) -> None:
        for _ in range(200):
            await self.passes(LATE_S if self.world.session.status.retry_s else 0.5)
            if self.running():
                self.end(self.running()[-1], "completed")
            elif not self.world.session.status.busy:
                return
        raise AssertionError("it never comes to rest")

    def everything_is_somewhere(self) -> None:
        session = self.world.session
        status, history = session.status, session._pair._kit.requests.history
        assert (status.busy, status.stopping, status.steering) == (False, False, [])
        assert status.retry_s is None
        entries = history.entries
        said = [token for e in entries if e.kind == "prompt" for token in TOKEN.findall(e.text)]
        waiting = TOKEN.findall(" ".join([*status.queued, *self.drafts]))
        assert sorted([*said, *waiting]) == sorted(self.typed), (said, waiting)
        users = " ".join(b.text for b in session.transcript.blocks if b.kind is BlockKind.USER)
        assert [users.count(token) for token in said] == [1] * len(said)
        calls = [e.item["call_id"] for e in entries if str(e.item["type"]).endswith("_call")]
        answers = [e.item["call_id"] for e in entries if str(e.item["type"]).endswith("_output")]
        assert sorted(calls) == sorted(answers)
        assert len(set(calls)) == len(calls)

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
        self.world.talking.deliver()
        await settle()
        self.world.clock.advance(seconds)
        self.world.talking.advance(seconds)
        await settle()
        self.world.talking.deliver()
        await settle()
        self.looks()

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

    def end(self, run: Run, how: str) -> None:
        if run.response_id in self.open and how == "completed":
            run.item_done(self.open.pop(run.response_id))
        match how:
            case "completed":
                run.finish()
            case "limit":
                run.finish("incomplete", reason="max_output_tokens")
            case "failed":
                run.fail("server_error", "oops")
            case "busy":
                run.refuse(429, "rate_limit_exceeded", "slow down", headers={"retry-after": "7"})
            case "bad":
                run.refuse(400, "invalid_prompt", "no")


class Conversation(Stage):
    """A user who types what comes to mind, a server with moods, a network that breaks."""

    @initialize(
        steering=st.booleans(),
        late=st.booleans(),
        deaf=st.frozensets(st.sampled_from(["response.steer", "response.interrupt"])),
    )
    def begins(self, steering: bool, late: bool, deaf: frozenset[str]) -> None:
        async def begin() -> None:
            wire = TalkingWire(self.runs.append, lane="main", steering=steering)
            wire.late, wire.deaf = late, deaf
            self.world = TalkingWorld(wire)
            await settle()

        self.do(begin())

    # the user

    @rule(kind=st.sampled_from([intents.Prompt, intents.Queue, intents.Steer]))
    def types(self, kind: Any) -> None:
        self.count += 1
        self.typed.append(f"<u{self.count}>")
        self.submit(kind(self.typed[-1]))

    @rule()
    def presses_esc(self) -> None:
        self.submit(intents.Interrupt())

    @rule()
    def begins_to_type(self) -> None:
        self.submit(intents.Prewarm())

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
    @rule(whole=st.booleans())
    def calls_a_tool(self, whole: bool) -> None:
        run = self.running()[-1]
        index = run.item_added({"type": "function_call", "name": "list"})
        run.delta(index, "{}")
        if whole:
            run.item_done(index)

    @precondition(lambda self: self.running())
    @rule(end=st.sampled_from(["completed", "limit", "failed", "busy", "bad"]))
    def ends(self, end: str) -> None:
        self.end(self.running()[-1], end)

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

    # the network

    @rule(frames=st.sampled_from([1, 2, 5, None]))
    def carries(self, frames: int | None) -> None:
        async def carry() -> None:
            self.world.talking.deliver(frames)
            await settle()
            self.looks()

        self.do(carry())

    @rule(seconds=st.sampled_from([0.3, 1.2, 2.5, 12.0]))
    def takes_its_time(self, seconds: float) -> None:
        self.do(self.passes(seconds))

    @rule()
    def breaks(self) -> None:
        async def lose() -> None:
            self.world.talking.lose()
            await settle()
            self.looks()

        self.do(lose())

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
            heard = TOKEN.findall(str(run.full_input))
            assert len(set(heard)) == len(heard), run.full_input

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.do(self.comes_to_rest())
            self.everything_is_somewhere()
            self.do(self.world.session.close())
        self.loop.close()


Conversation.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestConversation = Conversation.TestCase

"""Whatever the model writes and the user decides, in any order, with any interruption and loss:

every request is one that a server takes (each call has exactly one output, behind it), nothing is
told twice, and when all has come to rest the model knows of every hunk what is so.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import texts
from tui.core.document.hunk import OPEN, PLACED, Decision, Hunk
from tui.core.wire.events import CALL_OUTPUTS
from tui.engine import intents
from tui.engine.ports import PatchTool, RoleSpec

LINES = [f"line {n}" for n in range(40)]
FILES = {"a.txt": "".join(f"{line}\n" for line in LINES), "b.txt": "one\ntwo\n"}
_STATE = re.compile(r"^  hunks? (\d[\d, -]*?)(?: \(\d+ of them\))? (?=\D)(.*)$", re.MULTILINE)


class Telling(RuleBasedStateMachine):
    """A strict server that keeps what it was sent, and reads in it what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.count = 0
        self.seen = 0
        """Requests that were looked at."""
        self.chain: dict[str, list[dict[str, Any]]] = {}
        """Response id -> all items that the server holds with it."""
        self.known: dict[int, str] = {}
        """Hunk -> what the model was told of it last."""
        self.open_call: tuple[str, str, str] | None = None
        self.said: list[dict[str, Any]] = []
        self.turn = 0

    @initialize(tool=st.sampled_from(["custom", "text"]), chaining=st.booleans())
    def begins(self, tool: PatchTool, chaining: bool) -> None:
        async def begin() -> None:
            spec = RoleSpec("fast", "quick-1", "main", patch_tool=tool, chaining=chaining)
            self.world = World(dict(FILES), roles={"fast": spec})
            self.model = SteppedRehearsal(self.world.wire)

        self.tool = tool
        self.do(begin())

    # the model

    @precondition(lambda self: self.streams())
    @rule(data=st.data())
    def edits(self, data: st.DataObject) -> None:
        """A patch of up to three hunks, one of which may not fit, on any line."""
        self.finish_call()
        body = []
        for _ in range(data.draw(st.integers(1, 3))):
            self.count += 1
            row = data.draw(st.integers(0, len(LINES) - 1))
            fits = data.draw(st.booleans())
            old = LINES[row] if fits else f"not there {self.count}"
            body += ["@@", f"-{old}", f"+changed {self.count}"]
        patch = "\n".join(["*** Begin Patch", "*** Update File: a.txt", *body, "*** End Patch", ""])
        name = f"call_{self.count}"
        cut = data.draw(st.integers(0, len(patch)))

        async def land() -> None:
            if self.tool == "text":
                self.model.text(f"So:\n\n{patch}\nThat was it.\n", 50)
                return
            key = self.model.open_patch(name)
            self.model.patch_delta(key, patch[:cut])
            self.open_call = (key, name, patch)

        self.do(land())

    @precondition(lambda self: self.streams())
    @rule()
    def reads(self) -> None:
        self.finish_call()
        self.count += 1
        self.do(self.given("call", "read_file", {"path": "b.txt"}, f"call_{self.count}"))

    @precondition(lambda self: self.streams())
    @rule()
    def is_done(self) -> None:
        self.finish_call()
        self.do(self.given("complete"))

    # the user

    @precondition(lambda self: not self.world.session.status.busy)
    @rule()
    def asks(self) -> None:
        self.count += 1
        self.submit(intents.Prompt(f"prompt {self.count}"))

    @precondition(lambda self: self.world.session.status.busy)
    @rule(confirmed=st.booleans())
    def interrupts(self, confirmed: bool) -> None:
        self.submit(intents.Interrupt())

        async def ends() -> None:
            if confirmed and self.world.wire.busy:
                self.model.interrupted()
            else:
                self.world.wire.lose()

        self.open_call = None
        self.do(ends())

    @precondition(lambda self: self.some(decidable=True))
    @rule(data=st.data(), accept=st.booleans())
    def decides(self, data: st.DataObject, accept: bool) -> None:
        self.count += 1
        ids = tuple(h.id for h in self.world.session.workspace.hunks if h.decidable)
        chosen = tuple(data.draw(st.sets(st.sampled_from(ids), min_size=1)))
        self.submit(
            intents.Accept(chosen) if accept else intents.Reject(chosen, f"no {self.count}")
        )

    @precondition(lambda self: self.some())
    @rule(intent=st.sampled_from([intents.UndoDecision(), intents.RedoDecision()]))
    def thinks_again(self, intent: intents.Intent) -> None:
        self.submit(intent)

    @precondition(lambda self: self.some() and not self.world.session.status.busy)
    @rule()
    def takes_the_turn_back(self) -> None:
        self.submit(intents.UndoTurn())

    @rule(row=st.integers(0, 20))
    def types(self, row: int) -> None:
        async def typing() -> None:
            workspace = self.world.session.workspace
            workspace.open("a.txt")
            row_there = min(row, workspace.buffers["a.txt"].line_count - 1)
            workspace.edit("a.txt", (row_there, 0), (row_there, 0), f"mine {self.count}\n")

        self.do(typing())

    # the network

    @precondition(lambda self: self.world.wire.state == "open")
    @rule()
    def breaks(self) -> None:
        async def lose() -> None:
            self.world.wire.lose()
            await settle()
            self.world.clock.advance(60.0)

        self.open_call = None
        self.do(lose())

    # what must be

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.come_to_rest()
            self.the_model_knows_what_is_so()
            self.do(self.world.session.close())
        self.loop.close()

    def come_to_rest(self) -> None:
        for _ in range(60):
            if self.streams():
                self.is_done()
            elif self.world.session.status.busy:
                self.do(self.passes())
            else:
                return
        raise AssertionError("it never comes to rest")

    def the_model_knows_what_is_so(self) -> None:
        self.submit(intents.Prompt("what do you know?"))
        self.do(self.passes())
        for hunk in self.world.session.workspace.hunks:
            if hunk.stage not in OPEN and hunk.turn:
                told = self.known.get(hunk.id)
                if told is None:
                    # a broken answer that left nothing behind is asked for anew, unsaid
                    assert hunk.stage not in PLACED, hunk
                else:
                    assert _agrees(hunk, told), (hunk, told)

    def look(self) -> None:
        """Read every new request as a strict server would."""
        for request in self.world.wire.requests[self.seen :]:
            parent = str(request.get("previous_response_id") or "")
            held = self.chain[parent] if parent else []
            items = [*held, *request["input"]]
            _check_calls(items)
            if not parent:
                self.known.clear()  # all is said anew
            fresh = str(request["input"]) if parent else str(items)
            self.read(request["input"])
            assert fresh
            self.held = items
        self.seen = len(self.world.wire.requests)

    def read(self, items: list[dict[str, Any]]) -> None:
        for item in items:
            output = item.get("output") if str(item.get("type")).endswith("_output") else None
            told = output if isinstance(output, str) else "\n".join(texts({"input": [item]}))
            for found in _STATE.finditer(told):
                words = found[2].replace("they are not in the file", "it is not in the file")
                place_free = re.sub(r", now [^,]*", "", words)
                for named in found[1].split(", "):
                    first, _, last = named.partition("-")
                    for number in range(int(first), int(last or first) + 1):
                        assert self.known.get(number) != place_free, f"told twice: {found[0]}"
                        self.known[number] = place_free

    def some(self, *, decidable: bool = False) -> bool:
        hunks = self.world.session.workspace.hunks
        return any(hunk.decidable or not decidable for hunk in hunks)

    def streams(self) -> bool:
        session = self.world.session
        wire = self.world.wire
        return session.status.busy and not session.status.stopping and wire.busy

    def finish_call(self) -> None:
        call, self.open_call = self.open_call, None
        if call is not None:
            key, name, patch = call
            self.do(self.given("close_patch", key, name, patch))

    async def given(self, what: str, *arguments: Any) -> None:
        getattr(self.model, what)(*arguments)

    async def passes(self) -> None:
        self.world.clock.advance(60.0)

    def submit(self, intent: intents.Intent) -> None:
        async def submitted() -> None:
            self.world.session.submit(intent)

        self.do(submitted())

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        async def done() -> None:
            await work
            await settle()
            self.world.session.drain()
            for ask in list(self.world.session.status.asks):
                self.world.session.submit(intents.Answer(ask.id, ask.choices[-1]))
            await settle()
            before = self.seen
            self.look()
            if self.seen > before:
                self.answer()
                await settle()

        self.loop.run_until_complete(done())

    def answer(self) -> None:
        """The server takes the newest request up."""
        if not self.world.wire.busy:
            return
        response = self.model.begin()
        self.chain[response] = _Growing(self.held, self.model._items)


class _Growing(list[dict[str, Any]]):
    """What a server holds with a response: what it was sent, and what it says, as it says it."""

    def __init__(self, held: list[dict[str, Any]], said: list[dict[str, Any]]) -> None:
        super().__init__(held)
        self.said = said

    def __iter__(self) -> Any:
        yield from super().__iter__()
        yield from self.said


def _check_calls(items: list[dict[str, Any]]) -> None:
    """Each call is followed by one output of its kind; there is no other output."""
    waiting: list[tuple[str, str]] = []
    for item in items:
        kind, name = str(item.get("type")), str(item.get("call_id"))
        if kind in CALL_OUTPUTS:
            waiting.append((CALL_OUTPUTS[kind], name))
        elif kind.endswith("_output"):
            assert (kind, name) in waiting, f"an output without a call: {item}"
            waiting.remove((kind, name))
    assert waiting == [], f"calls without an output: {waiting}"


def _agrees(hunk: Hunk, told: str) -> bool:
    if hunk.decision is Decision.REJECTED:
        return told.startswith(("rejected by the user", "taken back by the user"))
    if hunk.stage not in PLACED:
        return told.startswith(("NOT applied", "not applied yet"))
    state = "accepted" if hunk.decision is Decision.ACCEPTED else "pending review"
    return told.startswith("kept") and state in told


TestTelling = Telling.TestCase
TestTelling.settings = settings(max_examples=8, stateful_step_count=30)


@pytest.mark.slow
class TestTellingForLong(Telling.TestCase):
    settings = settings(max_examples=60, stateful_step_count=30)

"""Whatever the user and the server do, in whatever order: nothing typed is lost, every call is
answered once, nothing lands after Esc."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tui.core.turn import BlockKind
from tui.engine import intents

TEXT = "one\ntwo\nthree\n"
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n one\n-two\n+TWO\n+2\n three\n*** End Patch\n"

WORDS = (
    ("prompt", "queue", "esc", "switch", "accept", "reject", "undo", "drain", "settle"),
    ("text", "patch", "half", "call", "complete", "interrupted", "lose", "refuse"),
)
ACTIONS = st.lists(st.sampled_from([word for words in WORDS for word in words]), max_size=40)


class Play:
    """A user and a server, both without manners."""

    def __init__(self) -> None:
        self.world = World({"a.py": TEXT})
        self.model = SteppedRehearsal(self.world.wire)
        self.typed: list[str] = []
        self.answered = 0
        self.begun = False
        self.count = 0

    async def act(self, action: str) -> None:
        session, wire = self.world.session, self.world.wire
        self.count += 1
        match action:
            case "prompt" | "queue":
                text = f"typed {self.count}."
                self.typed.append(text)
                kind = intents.Prompt if action == "prompt" else intents.Queue
                session.submit(kind(text))
            case "esc":
                self._esc()
            case "switch":
                session.submit(intents.Switch("deep" if session.status.role == "fast" else "fast"))
            case "accept":
                session.submit(intents.Accept())
            case "reject":
                session.submit(intents.Reject())
            case "undo":
                session.submit(intents.UndoTurn())
            case "drain":
                session.drain()
            case "settle":
                await settle()
            case "lose" if wire.state == "open":
                wire.lose()
                self.answered, self.begun = len(wire.requests), False
            case _:
                await self._serve(action)

    async def _serve(self, action: str) -> None:
        """The server says something, if a response is in flight."""
        await settle()
        wire, model = self.world.wire, self.model
        if len(wire.requests) == self.answered or wire.state != "open":
            return
        if not self.begun:
            model.begin()
            self.begun = True
        match action:
            case "text":
                model.text("some words ")
            case "patch":
                model.patch(PATCH, f"call_{self.count}")
            case "half":
                model.patch_delta(model.open_patch(f"call_{self.count}"), PATCH[: self.count * 3])
            case "call":
                model.call("list", {}, f"call_{self.count}")
            case "complete":
                self._over(model.complete)
            case "interrupted":
                self._over(model.interrupted)
            case "refuse":
                self._over(lambda: model.cut_short("max_output_tokens"))

    def _over(self, end: Callable[[], None]) -> None:
        self.answered = len(self.world.wire.requests)
        self.begun = False
        end()

    def _esc(self) -> None:
        session = self.world.session
        session.submit(intents.Interrupt())
        before = {path: b.text() for path, b in session.workspace.buffers.items()}
        session.drain()
        assert {path: b.text() for path, b in session.workspace.buffers.items()} == before


@settings(max_examples=150, deadline=None)
@given(ACTIONS)
def test_nothing_typed_is_lost_and_every_call_is_answered(actions: list[str]) -> None:
    asyncio.run(played(actions))


async def played(actions: list[str]) -> None:
    play = Play()
    for action in actions:
        await play.act(action)
    await settle()
    session = play.world.session
    said = [b.text for b in session.transcript.blocks if b.kind is BlockKind.USER]
    kept = "\n".join([*said, *session.status.queued, session.status.unsent])
    assert all(text in kept for text in play.typed)
    for request in play.world.wire.requests:
        items = request["input"]
        full = "previous_response_id" not in request
        calls = [i["call_id"] for i in items if str(i["type"]).endswith("_call")]
        answers = [i["call_id"] for i in items if str(i["type"]).endswith("_output")]
        assert len(set(answers)) == len(answers)
        assert not full or sorted(calls) == sorted(answers)
    await session.close()

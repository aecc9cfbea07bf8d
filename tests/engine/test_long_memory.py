"""A session of 400,000 tokens in a window of 128,000: what is certain is never lost on the way.

Ten kinds of things, five of each, are planted over it. After five compactions all fifty stand word
for word in the request; of ten facts in prose those stand there that the summary held, and the
tool `recall` finds the others.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import re
from typing import Any

from tests.support.fakes import FakeWire, World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import notes, texts, update
from tui.core.compaction import KnownFacts
from tui.core.document.report import file_sha
from tui.core.programs import RunResult
from tui.core.run_report import FailedTest, RunReport
from tui.core.tokens import tokens
from tui.engine import intents
from tui.engine.compaction import LANE
from tui.engine.ports import RoleSpec, VerifyCommand

TURNS = 60
WORDS = ("cache", "index", "lock", "evict", "parse", "retry", "bound", "queue", "token", "merge")
KEPT, LOST = 5, 5
"""Facts in prose: the summary keeps these, and leaves those out."""


def chatter(seed: int) -> str:
    """About 7,000 tokens of prose."""
    pick = random.Random(seed)
    return " ".join(pick.choice(WORDS) for _ in range(6500))


def fact(number: int) -> str:
    return f"fact {number}: the limit of queue {number} is {4711 + number} because of plan {number}"


class Summariser:
    """Keeps what an earlier summary said and some of the facts of the transcript."""

    def __init__(self, wire: FakeWire) -> None:
        self._wire, self._create = wire, wire.create
        self.asked = 0
        wire.create = self._answer

    def _answer(self, request: Any) -> None:
        self._create(request)
        self.asked += 1
        (text,) = texts(request)
        found = re.findall(r"fact \d: the limit[^.\n]*", text)
        kept = [one for one in dict.fromkeys(found) if int(one[5]) < KEPT]
        loop = asyncio.get_running_loop()
        loop.call_soon(SteppedRehearsal(self._wire).answers, "\n".join(f"- {one}" for one in kept))


class Story:
    """The session, and what was planted in it."""

    def __init__(self, window: int = 128_000) -> None:
        files = {f"src/part_{n}.py": f"start = {n}\nend = {n}\n" for n in range(15)}
        spec = RoleSpec("fast", "quick-1", "main", context_window=window, shell_tool="none")
        self.world = World(files, roles={"fast": spec})
        self.session = self.world.session
        self.requests = self.session.services.requests
        self.planted: dict[str, list[str]] = {}
        self.said = 0
        self.pins: list[str] = []
        self.session.compaction().more.append(lambda: [KnownFacts("Pinned", self.pins)])
        self.summariser = Summariser(self.world.ports.wires("main", LANE))

    def plant(self, kind: str, text: str) -> None:
        self.planted.setdefault(kind, []).append(text)

    async def turn(self, prompt: str, answer: str, patch: str = "") -> dict[str, Any]:
        wire = self.world.wire
        count = len(wire.requests)
        self.session.submit(intents.Prompt(prompt))
        request = await wire.request(count + 1)
        model = SteppedRehearsal(wire)
        model.begin()
        if patch:
            model.patch(patch, f"call_{count}", chunk=500)
            model.complete()
            await wire.request(count + 2)
            model.begin()
        content = [{"type": "output_text", "text": answer}]
        model.item({"type": "message", "id": f"m{count}", "role": "assistant", "content": content})
        model.complete()
        self.said += tokens(answer)
        await settle()
        return request

    async def hunk(self, n: int) -> int:
        """A hunk in its own file waits; its number."""
        patch = update(f"src/part_{n}.py", f"-start = {n}", f"+start = {n}00")
        await self.turn(f"change part {n}", chatter(n), patch)
        return self.session.workspace.hunks[-1].id

    async def act(self, n: int) -> None:
        """Something of every kind happens, the ``n``-th time."""
        session, world = self.session, self.world
        prompt = f"task {n}: make part {n} safe, whatever it takes"
        await self.turn(prompt, f"{chatter(100 + n)} {fact(n)}. {chatter(200 + n)}")
        self.plant("task", prompt)
        number = await self.hunk(n)
        session.submit(intents.Accept((number,)))
        self.plant("decision", f"hunk {number}, src/part_{n}.py: kept, accepted, now line 1")
        self.plant("path", f"src/part_{n}.py (")
        number = await self.hunk(5 + n)
        session.submit(intents.Reject((number,), f"no, not in part {n + 5}"))
        self.plant("rejection", f'rejected by the user: "no, not in part {n + 5}"')
        number = await self.hunk(10 + n)
        self.plant("open hunk", f"hunk {number}, src/part_{n + 10}.py: kept, pending review")
        await settle()
        record = session.workspace.documents.records[f"src/part_{n}.py"]
        self.plant("hash", f"sha {file_sha(record)}")
        world.ports.shadows = None  # without shadows it is not known whether it failed before
        failed = RunReport((FailedTest(f"test_part_{n}", f"t{n}.py"),))
        world.verify = VerifyCommand(("suite", str(n)), "suite found", reader=lambda *_: failed)
        world.runner.result = RunResult(1, 0.5)
        session.submit(intents.Verify())
        await settle()
        world.runner.result = RunResult(0, 0.5)
        self.plant("verdict", f"suite {n}: failed: test_part_{n}")
        session.submit(intents.RunCommand(f"make target-{n} ALL=1"))
        await settle()
        self.plant("command", f"make target-{n} ALL=1: ended well")
        session.submit(intents.PutNote(f"src/part_{n}.py", 1, f"rename end of {n}, please"))
        self.plant("note", f"src/part_{n}.py, line 2: rename end of {n}, please")
        self.pins.append(f"@docs/part_{n}.md is always sent")
        self.plant("pin", f"@docs/part_{n}.md is always sent")


async def test_fifty_of_fifty_after_five_compactions() -> None:
    story = Story()
    session, world = story.session, story.world
    for n in range(5):
        await story.act(n)
        answer = f"{chatter(300 + n)} {fact(n + 5)}. {chatter(400 + n)}"
        await story.turn(f"talk about it, {n}", answer)
    for n in itertools.count():
        if story.said > 400_000 and len(compactions(world)) >= 5:
            break
        assert n < TURNS
        await story.turn(f"go on, {n}", chatter(500 + n))
    request = await story.turn("what is left to do?", "much")
    while "previous_response_id" in request:  # the head, as the server has it
        request = next(r for r in reversed(world.wire.requests) if "previous_response_id" not in r)
    summary = texts(request)[0]
    found = {k: [one in summary for one in ones] for k, ones in story.planted.items()}
    assert len(found) == 10
    assert found == {kind: [True] * 5 for kind in story.planted}
    assert all(fact(n) in summary for n in range(KEPT))
    assert not any(fact(n) in summary for n in range(KEPT, KEPT + LOST))
    for n in range(KEPT, KEPT + LOST):
        assert fact(n) in await recalled(story, f"fact {n}: limit queue")
    assert story.summariser.asked >= 5
    assert session.meter.view(0).context_window == 128_000


def compactions(world: World) -> list[str]:
    return [note for note in notes(world) if "a summary is sent from now on" in note]


async def recalled(story: Story, words: str) -> str:
    """What the model is answered that looks for these words."""
    wire = story.world.wire
    count = len(wire.requests)
    story.session.submit(intents.Prompt("look it up"))
    await wire.request(count + 1)
    model = SteppedRehearsal(wire)
    model.begin()
    model.call("recall", {"words": words}, f"call_{count}")
    model.complete()
    request = await wire.request(count + 2)
    model.answers("found")
    await settle()
    (output,) = [i["output"] for i in request["input"] if i["type"] == "function_call_output"][-1:]
    return str(output)


async def test_a_window_of_two_thousand_goes_on_for_ever() -> None:
    story = Story(window=2048)
    window = story.session.compaction()._window
    answer = " ".join(chatter(1).split()[:90])
    for n in range(30):
        request = await story.turn(f"step {n}", answer)
        assert texts(request)[-1] == f"step {n}"
        assert window.wanted(story.world.roles["fast"], story.requests.last_head) <= 2048 + 200
    assert len(compactions(story.world)) >= 3
    assert not [note for note in notes(story.world) if "too large" in note]

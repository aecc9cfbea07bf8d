"""A lane: a whole session beside the one on the screen, of which nothing reaches the disk."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence

import pytest

from tests.engine.test_images import SEES, said, shown
from tests.support.fakes import FakeRunner, FakeShadows, FakeWire, World, settle
from tests.support.pictures import MemoryPictures, png
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import land, outputs, update
from tui.core.files import FileRead
from tui.core.patches.bringing_home import LaneFile
from tui.core.price import Quote
from tui.core.programs import AS_THE_USER, CommandLine, Output, RunOptions, RunResult, Sandbox
from tui.core.wire.events import Usage
from tui.engine import intents, lane_session
from tui.engine.attempts import said_in
from tui.engine.lane_session import Asks, LaneFiles, LaneSession
from tui.engine.ports import Caps
from tui.engine.session import SessionOptions

FILES = {"a.py": "x = 1\ny = 1\n", "b.py": "z = 1\n"}


@pytest.fixture(autouse=True)
def no_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has changed is looked at in the next turn of the event loop."""
    monkeypatch.setattr(lane_session, "FRAME_S", 0.0)


class Lane:
    """One, and the server that answers it."""

    def __init__(self, world: World, lane: LaneSession) -> None:
        self.world, self.lane = world, lane
        self.wire: FakeWire = world.wires[f"main {lane.name}"]
        self.model = SteppedRehearsal(self.wire)

    async def asked(self, text: str = "do it") -> None:
        count = len(self.wire.requests)
        self.lane.prompt(text)
        await self.wire.request(count + 1)
        self.model.begin()

    async def patches(self, patch: str, call_id: str = "c1") -> None:
        count = len(self.wire.requests)
        self.model.patch(patch, call_id)
        self.model.complete()
        await self.wire.request(count + 1)
        self.model.begin()


class Writing(FakeRunner):
    """Each of its commands writes into the shadow that was made last."""

    def __init__(self, shadows: FakeShadows) -> None:
        super().__init__()
        self.box = Sandbox(works=True)
        self.seen: list[dict[str, bytes | None]] = []
        self._shadows = shadows

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
    ) -> RunResult:
        self.seen.append(dict(self._shadows.made[-1].texts))
        assert how.written is not None
        how.written({"b.py": b"z = 9\n", "made.py": b"m\n", ".env": b"k\n"})
        return await super().run(command, output, deadline_s, how)


async def made(world: World, asks: Asks = "refuse", *, talk: bool = False) -> Lane:
    screen = await world.session.services.screen()
    lane = world.session.lanes.make("try", world.roles["fast"], screen.files(), asks)
    await lane.begin(talk=talk)
    await settle()
    return Lane(world, lane)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World(FILES, options=SessionOptions(conversation="c"))
    yield world
    await world.session.close()


async def test_what_it_writes_stays_in_memory_and_the_screen_as_it_was(world: World) -> None:
    one = await made(world)
    await one.asked()
    await one.patches(update("a.py", "-x = 1", "+x = 2"))
    told = outputs(one.wire.requests[-1])["c1"]
    assert "accepted" in told
    one.model.finishes("Done.")
    await one.lane.rest()
    assert one.lane.changes == {"a.py": LaneFile(b"x = 1\ny = 1\n", b"x = 2\ny = 1\n")}
    assert world.files.writes == []
    assert not world.session.workspace.hunks
    assert not world.wire.requests


async def test_it_begins_with_what_the_screen_shows_at_that_moment(world: World) -> None:
    land(world, update("a.py", "-x = 1", "+x = 5"))
    world.session.workspace.open("b.py")
    world.session.workspace.edit("b.py", (0, 0), (0, 0), "# typed\n")
    one = await made(world)
    world.session.submit(intents.Reject())
    assert one.lane.state.workspace.open("a.py").text() == "x = 5\ny = 1\n"
    assert one.lane.state.workspace.open("b.py").text() == "# typed\nz = 1\n"
    await one.asked()
    await one.patches(update("a.py", "-x = 5", "+x = 6"))
    assert one.lane.changes == {"a.py": LaneFile(b"x = 5\ny = 1\n", b"x = 6\ny = 1\n")}


async def test_new_and_deleted_files_and_those_that_need_a_look(world: World) -> None:
    one = await made(world)
    await one.asked()
    await one.patches(
        "*** Begin Patch\n*** Add File: new/c.py\n+c = 1\n*** Delete File: b.py\n*** End Patch\n"
    )
    assert one.lane.changes == {
        "new/c.py": LaneFile(None, b"c = 1\n"),
        "b.py": LaneFile(b"z = 1\n", None),
    }
    assert one.lane.files.listing() == ["a.py", "new/c.py"]
    assert sorted(world.files.data) == ["a.py", "b.py"]


async def test_of_a_long_answer_that_streams_the_end_is_looked_at(world: World) -> None:
    one = await made(world)
    await one.asked()
    words = "".join(f"{number} " for number in range(9_000))
    one.model.text(words, chunk=1_000)
    assert said_in(one.lane) == words[-20_000:]


def test_lanes_without_texts_of_their_own_share_the_list_that_is_known() -> None:
    world, listed = World(FILES), ["a.py", "b.py"]
    lanes = [LaneFiles(world.files, {}, listed) for _ in range(2)]
    assert all(one.listing() is listed for one in lanes)
    one, other = lanes
    one.write("c.py", b"", None)
    assert one.listing() == ["a.py", "b.py", "c.py"]
    assert other.listing() == listed == ["a.py", "b.py"]


async def test_commands_run_in_its_own_shadow_and_what_they_write_is_its_text(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.ports.runner = runner = Writing(world.shadows)
    world.files.private = {".env": "it is ignored"}
    threads: dict[str, int] = {}
    read = world.files.read

    def seen(path: str) -> FileRead:
        threads.setdefault(path, threading.get_ident())
        return read(path)

    monkeypatch.setattr(world.files, "read", seen)
    one = await made(world)
    await one.asked()
    await one.patches(update("a.py", "-x = 1", "+x = 2"))
    one.model.call("shell", {"command": "make it"}, "c2")
    one.model.complete()
    await one.wire.request(3)
    assert runner.seen == [{"a.py": b"x = 2\ny = 1\n"}]
    assert world.shadows.made[-1].closed
    assert runner.hows[-1].confined is not None
    assert one.lane.changes["b.py"] == LaneFile(b"z = 1\n", b"z = 9\n")
    assert one.lane.changes["made.py"] == LaneFile(None, b"m\n")
    assert ".env" not in one.lane.changes
    assert threads["made.py"] != threading.get_ident(), "many files would hold up the screen"


async def test_nobody_is_asked_and_what_is_refused_is_kept(world: World) -> None:
    one = await made(world)
    await one.asked()
    one.model.call("shell", {"command": "rm -rf x"}, "c1")
    one.model.complete()
    await one.wire.request(2)
    assert "declined" in outputs(one.wire.requests[-1])["c1"]
    assert [ask.command for ask in one.lane.denied] == ["rm -rf x"]
    assert not world.session.status.asks
    assert not world.runner.commands


async def test_a_question_can_wait_for_who_answers_it(world: World) -> None:
    one = await made(world, "wait")
    await one.asked()
    one.model.call("shell", {"command": "make x"}, "c1")
    one.model.complete()
    await settle()
    (ask,) = one.lane.state.status.asks
    assert not world.session.status.asks
    one.lane.session.submit(intents.Answer(ask.id, ask.choices[0]))
    await one.wire.request(2)
    assert world.runner.commands == ["make x"]


async def test_a_prompt_names_what_it_could_name_on_the_screen() -> None:
    async def failures() -> str:
        return "test_x failed"

    place = World({**FILES, "shot.png": png()}, roles={"fast": SEES})
    pictures = MemoryPictures()
    pictures.clipboard = png(7, 7)
    place.ports.pictures = lambda: pictures
    attachments = place.session.attachments
    pasted = await attachments.images.paste()
    attachments.makers["failures"] = failures
    place.session.submit(intents.OpenFile("a.py"))
    await settle()
    place.session.cursor("a.py", (1, 0), ((0, 0), (1, 0)))
    one = await made(place)
    await one.asked(f"mend @failures in @selection as in @{pasted} and @shot.png")
    [request] = one.wire.requests
    assert shown(request) == [png(7, 7), png()]
    assert "test_x failed" in said(request)
    assert 'selection="1:1-2:1"' in said(request)
    await place.session.close()


async def test_in_plan_mode_it_changes_nothing(world: World) -> None:
    world.session.submit(intents.SetMode("plan"))
    one = await made(world)
    await one.asked()
    await one.patches(update("a.py", "-x = 1", "+x = 2"))
    assert "plan" in outputs(one.wire.requests[-1])["c1"]
    assert not one.lane.changes


async def test_without_shadows_only_what_reads_runs(world: World) -> None:
    world.shadows.refusal = "no room"
    world.runner.box = Sandbox(works=True)
    one = await made(world)
    await one.asked()
    one.model.call("shell", {"command": "make x"}, "c1")
    one.model.complete()
    await one.wire.request(2)
    assert "no room" in outputs(one.wire.requests[-1])["c1"]
    one.model.begin()
    one.model.call("shell", {"command": "cat b.py"}, "c2")
    one.model.complete()
    await one.wire.request(3)
    assert world.runner.commands == ["cat b.py"]


async def test_what_it_costs_counts_as_the_parents() -> None:
    world = World(FILES, options=SessionOptions(caps=Caps(session=1.0)))

    async def quote(endpoint: str, models: Sequence[str], usage: Usage, tier: str) -> Quote:
        return Quote(usage.output_tokens * 0.01)

    world.ports.quote = quote
    one = await made(world)
    await one.asked()
    one.model.text("Done.")
    one.model.complete(output_tokens=90)
    await one.lane.rest()
    await settle()
    assert world.session.meter.session_usd == pytest.approx(0.9)
    world.session.submit(intents.SetBudget("session", 0.5))
    one.lane.prompt("again")
    await settle()
    assert len(one.wire.requests) == 1
    assert one.lane.state.status.outcome == "failed"
    await world.session.close()


async def test_it_is_told_what_was_said_before_if_that_is_wanted(world: World) -> None:
    world.session.submit(intents.Prompt("the first"))
    await world.wire.request(1)
    SteppedRehearsal(world.wire).answers("said so")
    await settle()
    one = await made(world, talk=True)
    await one.asked("the second")
    assert "the first" in str(one.wire.requests[0]["input"])
    assert "said so" in str(one.wire.requests[0]["input"])


async def test_one_that_is_being_ended_ends_with_the_session_too(world: World) -> None:
    one = await made(world)
    await one.asked()  # its server is silent from now on
    world.session.services.supervisor.start(world.session.lanes.end(one.lane), "ending")
    await settle()
    assert one.wire.state == "open"
    await world.session.close()
    assert one.wire.state == "closed"
    assert not world.session.lanes.open


async def test_it_ends_with_the_session_and_whatever_it_runs(world: World) -> None:
    one, other = await made(world), await made(world)
    world.runner.box, world.runner.hold = Sandbox(works=True), asyncio.Event()
    await one.asked()
    await other.asked()
    other.model.call("shell", {"command": "sleep 9"}, "c1")
    other.model.complete()
    await settle()
    await world.session.close()
    assert world.runner.ended == ["sleep 9"]
    assert all(shadow.closed for shadow in world.shadows.made)
    assert (one.wire.state, other.wire.state) == ("closed", "closed")
    assert not world.session.lanes.open

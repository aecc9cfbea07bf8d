from __future__ import annotations

import asyncio

from tests.support.fakes import World, settle
from tests.support.turns import CACHE, begun, notes, texts
from tui.core.conversation import BlockKind
from tui.core.patches.bringing_home import LaneFile
from tui.engine import intents
from tui.engine.lane_session import LaneResult
from tui.engine.ports import RoleSpec

NEW = CACHE.replace("return key", "return True")
RESULT = LaneResult(
    "delegate d1",
    "say if it was put",
    RoleSpec("deep", "slow-1", "main"),
    {"cache.py": LaneFile(CACHE.encode(), NEW.encode())},
    said="It says so now.",
)


async def test_a_result_is_a_turn_of_its_own_and_the_model_is_told():
    world = World({"cache.py": CACHE})
    (hunk,) = await world.session.bringing_home.bring(RESULT)
    assert (hunk.turn, hunk.decidable, world.session.last_turn) == (1, True, 1)
    kinds = [one.kind for one in world.session.transcript.blocks]
    assert kinds == [BlockKind.USER, BlockKind.TEXT, BlockKind.PATCH, BlockKind.NOTE]
    assert notes(world) == ["delegate d1: 1 hunk in 1 file waits for you"]
    assert world.files.data["cache.py"] == CACHE.encode()
    world.session.submit(intents.Prompt("go on"))
    await settle()
    request = world.wire.requests[-1]
    told = "Its changes are in the editor as hunk 1, pending review, in cache.py."
    assert any(text.endswith(told) for text in texts(request))


async def test_it_waits_for_the_answer_that_streams_and_for_what_is_queued():
    world = World({"cache.py": CACHE})
    model = await begun(world, "lock it")
    world.session.submit(intents.Queue("and then?"))
    bringing = asyncio.create_task(world.session.bringing_home.bring(RESULT))
    await settle()
    model.finishes("done")
    await settle()
    assert not bringing.done()
    model.answers("nothing")
    assert [one.turn for one in await bringing] == [3]


async def test_it_can_be_accepted_undone_and_rewound_as_any_turn():
    world = World({"cache.py": CACHE})
    (hunk,) = await world.session.bringing_home.bring(RESULT)
    world.session.submit(intents.Accept((hunk.id,)))
    await settle()
    assert world.files.data["cache.py"] == NEW.encode()
    world.session.submit(intents.UndoTurn())
    await settle()
    assert world.files.data["cache.py"] == CACHE.encode()
    world.session.submit(intents.Rewind(1))
    await settle()
    assert world.session.rewinding.turns()[0].rewound


async def test_what_is_here_already_is_said_and_brings_no_hunk():
    world = World({"cache.py": NEW})
    assert await world.session.bringing_home.bring(RESULT) == []
    assert notes(world) == ["delegate d1: its changes are here already"]

from __future__ import annotations

import pytest

from tests.support.fakes import World
from tests.support.turns import CACHE, PATCH, begun
from tui.core.document.workspace import Workspace
from tui.core.files import FileRead
from tui.engine.notices import Trouble
from tui.engine.session_state import SessionState


@pytest.fixture
def state() -> SessionState:
    return SessionState(Workspace(lambda path: FileRead(b"one\n")))


def test_it_wakes_once_until_drained(state: SessionState) -> None:
    wakes: list[int] = []
    state.on_wake = lambda: wakes.append(1)
    state.metered()
    state.restated()
    state.trouble(Trouble("x"))
    assert len(wakes) == 1
    notices = state.drain()
    assert notices.meter
    assert notices.status
    assert [trouble.what for trouble in notices.troubles] == ["x"]
    assert not state.drain()
    state.metered()
    assert len(wakes) == 2


async def test_the_meter_learns_where_the_model_wrote() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    key = model.open_patch("call_1")
    model.say(model.open_text(), "words before the edit " * 20)
    cut = PATCH.index("self.items[key] = 1\n         return")
    for at in range(0, cut, 7):
        model.patch_delta(key, PATCH[at : min(at + 7, cut)])
        world.clock.advance(0.01)
        world.session.drain()
    meter = world.session.meter
    place = meter.ghost_place(world.clock.now())
    assert (place.path, place.line) == ("cache.py", None), "it still writes the words"
    place = meter.ghost_place(world.clock.now() + 60)
    assert (place.path, place.line) == ("cache.py", 4)
    model.patch_delta(key, PATCH[cut:])
    model.close_patch(key, "call_1", PATCH)
    world.session.drain()
    lines = world.session.workspace.buffers["cache.py"].lines
    place = meter.ghost_place(world.clock.now() + 60)
    assert lines[place.line or 0] == "            self.items[key] = 1", "the struck line is gone"

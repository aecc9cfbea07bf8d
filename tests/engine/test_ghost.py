"""The meter is told where the model writes: the ghost comes after it in the same edit."""

from __future__ import annotations

from tests.support.fakes import World
from tests.support.turns import CACHE, PATCH, begun


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

"""After very many hunks were decided on, memory is given back, once, when nothing waits."""

from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tests.support.turns import land
from tui.engine import decisions, intents

TEXT = "".join(f"line {row}\n" for row in range(40))


def patch(said: str) -> str:
    rows = range(1, 40, 2)
    sections = "".join(f"@@\n line {r - 1}\n-line {r}\n+{said} {r}\n" for r in rows)
    return f"*** Begin Patch\n*** Update File: a.py\n{sections}*** End Patch\n"


async def test_memory_goes_back_once_when_all_is_decided_and_nothing_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decisions, "MANY", 19)
    world, given = World({"a.py": TEXT}), list[int]()
    world.ports.give_memory_back = lambda: given.append(1)
    land(world, patch("new"))
    record = world.session.workspace.documents.records["a.py"]
    world.session.submit(intents.Accept((1,)))
    await rest(world)
    assert given == [], "hunks wait"
    world.session.submit(intents.Accept())
    assert given == [], "the decision is still being made"
    await rest(world)
    assert (given, record._index) == ([1], None)
    world.session.submit(intents.UndoDecision())
    world.session.submit(intents.RedoDecision())
    await rest(world)
    assert given == [1], "once"
    assert land(world, patch("newer").replace("-line", "-new"), 2).placed_all


async def rest(world: World) -> None:
    await settle()
    world.clock.advance(decisions.IDLE_S)
    await settle()

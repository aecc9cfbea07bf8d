"""When a model is told the map of a project, and where it stands in what is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from tests.support.fakes import World, settle
from tests.support.turns import begun, texts
from tui.core.instructions import MAP_TITLE
from tui.core.project_map import Seeds
from tui.engine import intents, mapping
from tui.engine.ports import MapRules
from tui.engine.session import Session, SessionOptions

AUTO = MapRules()
LARGE = {f"folder/module_of_it_{n}.py": "x = 1\n" for n in range(1200)}
MAP = f"{MAP_TITLE}: a.py"


class FakeMapper:
    """Draws when it may."""

    def __init__(self) -> None:
        self.listed: list[int] = []
        self.changes: list[Sequence[str]] = []
        self.drawn: list[tuple[Seeds, int]] = []
        self.may_draw = asyncio.Event()
        self.may_draw.set()
        self.closed = False

    async def list_files(self, paths: Sequence[str]) -> None:
        self.listed.append(len(paths))

    async def change(self, paths: Sequence[str]) -> None:
        self.changes.append(paths)

    async def draw(self, seeds: Seeds, tokens: int, within_s: float) -> str:
        self.drawn.append((seeds, tokens))
        await self.may_draw.wait()
        return MAP

    async def close(self) -> None:
        self.closed = True


def mapped(
    files: dict[str, str], rules: MapRules = AUTO, window: int | None = None
) -> tuple[World, FakeMapper]:
    """A session over these files, with a map."""
    world, mapper = World(files), FakeMapper()
    world.ports.project_map, world.ports.map_rules = lambda: mapper, rules
    world.roles["fast"] = replace(world.roles["fast"], context_window=window)
    options = SessionOptions(conversation="conversation-1")
    world.session = Session(world.ports, world.roles, options)
    return world, mapper


async def said(world: World, text: str) -> list[str]:
    """A whole turn; what its request said."""
    model = await begun(world, text)
    model.complete()
    await settle()
    return texts(world.wire.requests[-1])


async def test_the_map_stands_before_the_first_prompt_and_is_told_once() -> None:
    world, mapper = mapped(LARGE)
    world.session.submit(intents.OpenFile("folder/module_of_it_7.py"))
    first = await said(world, "find the leak")
    assert first[0] == MAP
    assert first[-1] == "find the leak"
    (seeds, tokens) = mapper.drawn[0]
    assert (seeds.text, list(seeds.open), tokens) == (
        "find the leak",
        ["folder/module_of_it_7.py"],
        2000,
    )
    again = await said(world, "and another one")
    assert MAP not in again  # on a chain only what is new is said
    assert len(mapper.drawn) == 1
    assert mapper.listed == [1200]
    world.session.submit(intents.NewConversation())
    assert (await said(world, "something else"))[0] == MAP
    await world.session.close()
    assert mapper.closed


async def test_a_map_that_comes_late_goes_behind_what_was_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mapping, "WITHIN_S", 0)
    world, mapper = mapped(LARGE)
    mapper.may_draw.clear()
    assert MAP not in await said(world, "find the leak")
    mapper.may_draw.set()
    await settle()
    assert texts(world.wire.requests[-1]).count(MAP) == 0
    late = await said(world, "go on")
    assert late.index(MAP) < late.index("go on")
    assert len(mapper.drawn) == 1


async def test_there_is_none_where_the_listing_says_all_or_it_is_switched_off() -> None:
    for files, rules, wanted in (
        ({"a.py": "x\n"}, MapRules(), False),
        ({"a.py": "x\n"}, MapRules("on"), True),
        (LARGE, MapRules("off"), False),
    ):
        world, _ = mapped(files, rules)
        assert (MAP in await said(world, "find it")) is wanted


async def test_it_keeps_to_a_part_of_the_window_and_is_left_out_of_a_small_one() -> None:
    world, mapper = mapped({"a.py": "x\n"}, MapRules("on"), window=16_000)
    await said(world, "find the leak")
    assert mapper.drawn[0][1] == 1000
    world, mapper = mapped({"a.py": "x\n"}, MapRules("on"), window=7_000)
    assert MAP not in await said(world, "find the leak")
    assert mapper.listed == []


async def test_what_others_change_is_told_to_who_draws_it() -> None:
    world, mapper = mapped(LARGE)
    await world.runs()
    await said(world, "find the leak")
    world.changed_outside("folder/module_of_it_3.py")
    await settle()
    assert mapper.changes == [["folder/module_of_it_3.py"]]
    world.files.data["folder/new.py"] = b"y = 1\n"
    world.changed_outside("folder/new.py")
    await said(world, "go on")
    assert mapper.listed == [1200, 1201]


async def test_it_is_kept_while_nobody_asks() -> None:
    """A prompt in a large project finds the files listed, and the map told of them."""
    world, mapper = mapped(LARGE)
    await world.runs()
    assert mapper.listed == [1200]
    world.files.data["folder/new.py"] = b"y = 1\n"
    for _ in range(3):
        world.changed_outside("folder/new.py")
    await settle()
    world.clock.advance(1.0)
    await settle()
    assert mapper.listed == [1200, 1201]
    assert "folder/new.py" in world.session.listing()


async def test_no_file_is_named_to_it_that_is_private() -> None:
    world, mapper = mapped({**LARGE, ".env": "KEY=1\n"})
    world.files.private[".env"] = "environment secrets"
    world.session.submit(intents.OpenFile(".env"))
    await said(world, "find the leak")
    assert list(mapper.drawn[0][0].open) == []


async def test_a_map_that_is_dropped_is_sent_no_more() -> None:
    world, mapper = mapped(LARGE)
    assert MAP in await said(world, "find the leak")
    world.session.submit(intents.DropPart("map of the project"))
    await settle()
    again = await said(world, "go on")
    assert "find the leak" in again
    assert MAP not in again
    assert len(mapper.drawn) == 1

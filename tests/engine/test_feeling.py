"""Once a day, if allowed, one question: how much faster did it feel?"""

from __future__ import annotations

import time

from tests.engine.test_recording import Memory
from tests.support.fakes import World, settle
from tests.support.turns import begun, notes
from tui.core.session_record import Happened
from tui.engine import intents
from tui.engine.feeling import QUESTION
from tui.engine.session_options import SessionOptions
from tui.errors import SettingsError


class Archive:
    """Knows when it was asked last."""

    def __init__(self, asked_ms: int) -> None:
        self.ms = asked_ms

    async def asked_ms(self) -> int:
        return self.ms


def world_of(asked_ms: int, *, asks: bool | None = True, kind: str = "app") -> tuple[World, Memory]:
    options = SessionOptions(asks_felt=asks, kind="exec" if kind == "exec" else "app")
    world, store = World({"a.py": "x = 1\n"}, options=options), Memory()
    world.ports.store = lambda: store
    world.ports.archive = lambda: Archive(asked_ms)
    return world, store


async def turns(world: World, count: int) -> None:
    """So many are over."""
    await world.runs()
    for _ in range(count):
        (await begun(world)).complete()
        await settle()


def felt(store: Memory) -> list[str]:
    rows = [row.record for row in store.rows]
    return [one.detail for one in rows if isinstance(one, Happened) and one.what == "felt"]


async def test_behind_the_fifth_turn_it_is_asked_once_and_that_is_kept() -> None:
    world, store = world_of(0)
    await turns(world, 4)
    assert QUESTION not in notes(world)
    await turns(world, 2)
    assert notes(world).count(QUESTION) == 1
    assert felt(store) == [""]
    world.session.submit(intents.Felt("2"))
    await settle()
    assert felt(store) == ["", "2"]
    assert notes(world)[-1].startswith("kept: 2 times as fast")


async def test_it_is_not_asked_again_on_one_day_nor_without_consent_nor_by_exec() -> None:
    for world, _ in (
        world_of(int(time.time() * 1000)),
        world_of(0, asks=None),
        world_of(0, asks=False),
        world_of(0, kind="exec"),
    ):
        await turns(world, 6)
        assert QUESTION not in notes(world)


async def test_consent_is_kept_in_the_settings_and_holds_at_once() -> None:
    world, _ = world_of(0, asks=None)
    kept = []

    async def keep(on: bool) -> None:
        kept.append(on)
        if not on:
            raise SettingsError("config.toml cannot be written")

    world.ports.keep_asking = keep
    await world.runs()
    world.session.submit(intents.SetAsking(on=True))
    await settle()
    assert kept == [True]
    await turns(world, 5)
    assert QUESTION in notes(world)
    world.session.submit(intents.SetAsking(on=False))
    await settle()
    said = [trouble.what for trouble in world.session.drain().troubles]
    assert said == ["The setting holds for this session only"]


async def test_an_answer_that_cannot_be_kept_is_refused() -> None:
    world = World({"a.py": "x = 1\n"})
    await world.runs()
    world.session.submit(intents.Felt("2"))
    said = [trouble.what for trouble in world.session.drain().troubles]
    assert said == ["The answer is not kept"]

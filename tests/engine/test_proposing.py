"""The other model is proposed for a draft; what became of that is kept."""

from __future__ import annotations

from tests.support.fakes import World, settle
from tests.support.turns import begun
from tui.core.compaction import Recollection
from tui.core.proposals import JudgedTurn
from tui.core.session_record import SessionLine
from tui.engine import intents
from tui.engine.proposing import Proposing
from tui.engine.session import SessionOptions
from tui.engine.session_state import Witness
from tui.errors import StoreRefused


class Past:
    """An archive that has these turns."""

    def __init__(self, turns: list[JudgedTurn]) -> None:
        self.turns, self.read = turns, 0
        self.broken = False

    async def past_turns(self) -> list[JudgedTurn]:
        self.read += 1
        if self.broken:
            raise StoreRefused("the store is locked")
        return self.turns

    async def sessions(self, words: str) -> list[SessionLine]:
        return []

    async def find(self, session_id: str) -> SessionLine:
        raise StoreRefused("none")

    async def recall(self, session_id: str, asked: Recollection) -> str:
        return ""


class Seen(Witness):
    def __init__(self) -> None:
        self.happened: list[tuple[int, str, str]] = []

    def happens(self, turn: int, what: str, detail: str = "") -> None:
        self.happened.append((turn, what, detail))


def turns(role: str, model: str, right: int) -> list[JudgedTurn]:
    return [JudgedTurn("fixes", role, model, number < right, 1.0) for number in range(10)]


async def proposing(past: Past) -> tuple[World, Proposing, Seen]:
    world = World(options=SessionOptions(propose=True))
    world.ports.archive = lambda: past
    await world.runs()
    seen = world.session.services.state.witness = Seen()
    assert world.session.proposing is not None
    return world, world.session.proposing, seen


def deep_is_better() -> Past:
    return Past([*turns("fast", "quick-1", 2), *turns("deep", "slow-1", 9)])


async def test_what_speaks_for_the_other_model_is_said_once_it_is_read_and_never_done() -> None:
    past = deep_is_better()
    world, them, _ = await proposing(past)
    assert past.read == 0, "nothing is read before something is typed"
    assert them.of("fix the crash") is None
    await settle()
    found = them.of("fix the crash")
    assert found is not None
    assert world.session.status.advice == ""
    assert (found.role, found.words) == ("deep", "9 of 10 right, fast 2 of 10 · fixes")
    assert world.session.status.role == "fast"
    assert [them.of(draft) for draft in ("", "  ", "/fix", "!fix", "rename it")] == [None] * 5
    assert past.read == 1


async def test_it_is_kept_for_the_turn_of_that_prompt_whoever_answers() -> None:
    world, them, seen = await proposing(deep_is_better())
    them.of("fix the crash")
    await settle()
    them.of("fix the crash")
    (await begun(world, "fix the crash now")).finishes("Done.")
    await settle()
    assert seen.happened == [(1, "proposed", "deep")]
    (await begun(world, "rename it")).finishes("Done.")
    await settle()
    assert len(seen.happened) == 1
    them.of("fix the crash")
    await settle()
    them.of("fix the crash")
    world.session.submit(intents.Switch("deep"))
    assert them.of("fix the crash") is None
    (await begun(world, "fix the crash")).finishes("Done.")
    await settle()
    assert seen.happened[1:] == [(3, "proposed", "deep")]


async def test_it_is_read_anew_behind_a_turn_and_a_store_that_cannot_be_read_says_nothing() -> None:
    past = deep_is_better()
    world, them, _ = await proposing(past)
    past.broken = True
    them.of("fix it")
    await settle()
    assert them.of("fix it") is None
    past.broken = False
    (await begun(world, "hello")).finishes("Done.")
    await settle()
    them.of("fix it")
    await settle()
    assert them.of("fix it") is not None
    assert world.session.drain().troubles == []


async def test_a_setting_switches_it_off() -> None:
    world = World(options=SessionOptions())
    world.ports.archive = deep_is_better
    await world.runs()
    assert world.session.proposing is None

"""What failed before the session's hunks: seen on the texts of now without them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.support.fakes import World, settle
from tests.support.judged_runs import Files, Judge, changes, has, judged
from tui.core.conversation import BlockKind
from tui.engine import intents


def stand() -> tuple[World, Judge]:
    """Its test fails with a hunk, and where ``b.py`` is broken, which it is on the disk."""

    def failing(files: Files) -> list[str]:
        return ["test_a"] * (has(files, 2) or files["b.py"] == b"broken\n")

    world, judge = judged(9, failing)
    world.files.data["b.py"] = b"broken\n"
    world.session.submit(intents.OpenFile("b.py"))
    changes(world, 0)
    return world, judge


def mend(world: World) -> None:
    world.session.workspace.edit("b.py", (0, 0), (0, 6), "mended")


async def verify(world: World) -> str:
    world.session.submit(intents.Verify())
    while not world.session.at_rest:
        await asyncio.sleep(0)
    return world.session.status.verdict


@pytest.mark.parametrize("saved", [False, True])
async def test_a_hunk_breaks_what_the_user_has_mended(saved: bool) -> None:
    world, judge = stand()
    if saved:
        assert await verify(world) == "same"
    mend(world)
    if saved:
        world.session.submit(intents.SaveFile("b.py"))
        await settle()
    changes(world, 2)
    assert await verify(world) == "failed"
    assert all(seen["b.py"] == b"mended\n" for seen in judge.seen[-2:])


async def test_on_the_disk_unsaved_text_says_nothing_of_what_failed_before() -> None:
    world, _ = stand()
    mend(world)
    world.session.submit(intents.Verify(disk=True))
    await settle()
    assert world.session.status.verdict == "same"


async def test_who_stops_the_look_at_what_failed_before_leaves_no_card_open() -> None:
    world, judge = stand()
    changes(world, 2)
    world.session.submit(intents.Verify())
    while not judge.ended:
        await asyncio.sleep(0)
    judge.hold = asyncio.Event()
    while len(judge.seen) < 2:
        await asyncio.sleep(0)
    assert world.session.status.running == "pytest -q"
    world.session.submit(intents.StopCommand())
    await settle()
    assert world.session.at_rest
    card = world.session.transcript.blocks[-1]
    assert (card.kind, card.state) == (BlockKind.RUN, "cut")
    assert "[stopped after " in card.text


@pytest.mark.parametrize("line", [0, 2])
async def test_tests_without_names_are_one_test_that_failed_before_or_did_not(line: int) -> None:
    """Such as a recipe of make, whose output names no test."""
    world, judge = judged(9, lambda files: ["1"] if has(files, 2) or "old" in files else [])
    assert world.verify is not None
    world.verify = replace(world.verify, reader=None, part=None)
    judge.disk = {**judge.disk, **({} if line else {"old": b""})}
    changes(world, line, 4)
    assert await verify(world) == ("failed" if line else "same")
    cards = [b for b in world.session.transcript.blocks if b.kind is BlockKind.RUN]
    assert cards[0].report is not None
    assert [one.name for one in cards[0].report.known] == ([] if line else ["the tests"])
    blamed = [hunk.id for hunk in world.session.workspace.hunks if hunk.is_blamed]
    assert blamed == ([1] if line else [])
    told = world.session.attempts.failure()
    assert told is not None
    assert "Its output:" in told[0]

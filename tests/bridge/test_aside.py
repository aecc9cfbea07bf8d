"""Long conversations hold up nobody else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable

from tests.support.rehearsed import user
from tui.bridge.endpoints.base import Asked
from tui.bridge.providers.context_window import prepared
from tui.bridge.time_slices import MOST_ITEMS, aside


def long(items: int) -> Asked:
    return Asked("m", {}, [user("x")] * items)


async def turns_beside(work: Awaitable[object]) -> int:
    """How many turns of the event loop others had meanwhile."""
    task, turns = asyncio.ensure_future(work), 0
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    await task
    return turns


async def test_others_have_their_turns_while_a_request_is_measured() -> None:
    assert await turns_beside(prepared(long(50_000), None)) > 20


async def test_short_ones_are_worked_on_at_once() -> None:
    here = threading.get_ident()
    assert await aside(long(MOST_ITEMS), threading.get_ident) == here
    assert await aside(long(MOST_ITEMS + 1), threading.get_ident) != here

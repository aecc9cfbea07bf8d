"""Work on long conversations, done beside the event loop: others must not wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import TypeVar

from tui.bridge.endpoints.base import Asked
from tui.bridge.sliced import Share, own_turn
from tui.core.wire.json_writing import is_long

MOST_ITEMS = 500
"""A request with no more costs some milliseconds wherever it is worked on."""
_MOST_AT_ONCE = 2**18, 10_000
"""Characters and values of a request."""
_Result = TypeVar("_Result")


async def in_turns(steps: Generator[None, None, _Result]) -> _Result:
    """What these steps return; others have their turn between them."""
    await own_turn()
    share = Share()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: _Result = end.value
            return result
        await share.pause()


async def aside(
    asked: Asked, work: Callable[[], _Result], before: Callable[[], object] | None = None
) -> _Result:
    """What ``work`` makes of a request, at once if it is short; raises what that raises.

    ``before`` is done before it if the request is long: what would hold up the loop later.

    In a thread it has to do with texts piece by piece: one call of C holds up the loop as well.

    Whoever is cancelled meanwhile does not wait for its end.
    """
    tools = asked.request.get("tools")
    short = len(asked.items) <= MOST_ITEMS and not is_long([*asked.items, tools], *_MOST_AT_ONCE)
    if short:
        await own_turn()
        return work()
    if before is not None:
        await asyncio.to_thread(before)
    return await asyncio.to_thread(work)

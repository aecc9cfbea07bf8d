"""Work on long conversations, done beside the event loop: others must not wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from tui.bridge.endpoints.base import Asked

MOST_ITEMS = 500
"""A request with no more costs some milliseconds wherever it is worked on."""
_Result = TypeVar("_Result")


async def aside(asked: Asked, work: Callable[[], _Result]) -> _Result:
    """What ``work`` makes of a request, at once if it is short; raises what that raises.

    Whoever is cancelled meanwhile does not wait for its end.
    """
    if len(asked.items) <= MOST_ITEMS:
        return work()
    return await asyncio.to_thread(work)

"""Patches by every channel, prose, and what the model is told of them."""

from __future__ import annotations

import tracemalloc

from tests.support.fakes import World
from tests.support.turns import begun


async def test_nothing_of_a_private_file_is_quoted_in_a_report() -> None:
    world = World({".env": "KEY=secret-value\nOTHER=1\n"})
    world.files.private = {".env": "it holds secrets"}
    model = await begun(world)
    patch = "*** Begin Patch\n*** Update File: .env\n@@\n-KEY=secret-valu\n+KEY=\n*** End Patch\n"
    model.patch(patch, "call_1")
    model.complete()
    request = await world.wire.request(2)
    assert "secret-value" not in str(request["input"])


async def test_a_long_answer_is_not_kept_in_pieces_of_a_token() -> None:
    """A token as an object of its own costs sixty bytes; the text is kept twice, in few pieces."""
    world = World({})
    model = await begun(world)
    text = "".join(f"{number:04} word " for number in range(10_000))
    tracemalloc.start()
    try:
        model.text(text, chunk=4)
        world.session.drain()
        world.wire.requests.clear()
        found = tracemalloc.take_snapshot()
        held = sum(
            trace.size
            for trace in found.traces
            if "tui" in trace.traceback[0].filename and "support" not in trace.traceback[0].filename
        )
    finally:
        tracemalloc.stop()
    assert held < 5 * len(text), f"{held / len(text):.1f} bytes a character"

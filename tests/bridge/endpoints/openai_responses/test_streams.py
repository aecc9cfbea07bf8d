"""Stopping, lanes, sizes and pressure through the relay."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.support.bridge_client import prose
from tests.support.relayed import answered
from tests.support.sse_upstream import (
    KEY,
    completed,
    message,
    opening,
    refusing,
    saying,
)
from tests.support.tables import each
from tui.bridge.server import Bridge


async def test_an_event_of_many_mebibytes(bridge: Bridge) -> None:
    text = "x" * (12 * 1024 * 1024)
    events = await answered(bridge, saying(opening() + message(text) + completed(), 2**20))
    assert len(prose(events)) == len(text)
    assert events[-1]["type"] == "response.completed"
    endless = opening() + b"data: " + b"y" * (33 * 1024 * 1024)
    failed = (await answered(bridge, saying(endless, 2**20)))[-1]
    assert "32 MiB" in failed["error"]["message"]


@pytest.mark.slow
@each("name", ["empty lines", "comments", "empty events", "unknown fields"])
async def test_a_stream_that_says_nothing_keeps_nobody_waiting(bridge: Bridge, name: str) -> None:
    line = {
        "empty lines": b"\n",
        "comments": b":\n",
        "empty events": b"data:\n\n",
        "unknown fields": b"x\n",
    }[name]
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    endless = opening() + line * (2**21 // len(line) ** 2) + message("after it") + completed()
    began_s, before = time.thread_time(), turns
    events = await answered(bridge, saying(endless, 2**20))
    counting.cancel()
    assert prose(events) == "after it"
    # a turn for every few milliseconds of work, however much comes at once
    assert turns - before > (time.thread_time() - began_s) / 0.02


async def test_nothing_secret_is_logged(bridge: Bridge, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    body = {"error": {"message": KEY}}
    await answered(bridge, refusing(401, body))
    await answered(bridge, saying(opening()))
    told = "\n".join(r.getMessage() for r in caplog.records if r.name.startswith("tui"))
    assert KEY not in told
    assert KEY not in repr(bridge.endpoints.targets)

"""The kind that needs no server keeps the same contract, as far as it can say what others say."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.endpoint_kinds import Stand, standing, well_told

MODEL = "rehearsal-fast"


@pytest.fixture
async def there() -> AsyncIterator[Stand]:
    async with standing("rehearsal") as stand:
        yield stand


async def test_interrupt_steer_and_prewarm(there: Stand) -> None:
    await there.ask("base", model=MODEL, generate=False)
    parent = (await there.until())[-1]["response"]["id"]
    prose = "rehearse 100000 tokens of prose"
    await there.ask(prose, model=f"{MODEL}@500", previous_response_id=parent)
    events = await there.until("response.output_text.delta")
    name = events[0]["response"]["id"]
    await there.send({"type": "response.interrupt", "response_id": name})
    events += await there.until()
    well_told(events)
    assert events[-1]["response"]["incomplete_details"]["reason"] == "interrupted"
    await there.ask(prose, model=f"{MODEL}@50", previous_response_id=name)
    events = await there.until("response.in_progress")
    name = events[0]["response"]["id"]
    await there.send({"type": "response.steer", "previous_response_id": name, "input": "hello"})
    events += await there.until()
    assert events[-1]["response"]["incomplete_details"]["reason"] == "steered"
    well_told(await there.until())

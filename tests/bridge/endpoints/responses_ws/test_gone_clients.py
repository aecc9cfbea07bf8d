"""A socket to an upstream is another client's only when what ran on it has ended."""

from __future__ import annotations

import asyncio
import json

from tests.support.endpoint_kinds import NAME, standing, text_of
from tests.support.endpoint_servers import MODEL, Say, Script
from tests.support.rehearsed import user
from tui.bridge.endpoints.base import Asked
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.core.wire.server.run import Run, Task


async def flush() -> None:
    """Nobody reads here."""


async def test_a_socket_whose_client_is_gone_in_mid_answer_is_nobody_s() -> None:
    """The client may be gone a moment before whoever answers it is cancelled."""
    async with standing("responses-ws") as stand:
        stand.answers(Script([Say("of the first client", held=True)], after="stall"))
        endpoint = await stand.bridge.endpoints.endpoint(NAME)
        request = {"model": MODEL, "input": [user("hi")]}
        said: list[str] = []
        run = Run(Task("resp_1", None, request, [user("hi")]), said.append, lambda *_: None)
        run.start()
        asked = Asked(MODEL, request, run.full_input)
        answering = asyncio.create_task(endpoint.answer(asked, ResponseWriter(run, flush)))
        async with asyncio.timeout(30):
            while not any("output_text.delta" in json.loads(event)["type"] for event in said):
                await asyncio.sleep(0.01)
        run.abandon()
        stand.server.released.set()
        await asyncio.wait({answering}, timeout=5)
        async with asyncio.timeout(30):
            await stand.server.requests[0].gone.wait()
        stand.answers(Script([Say("of the second")]))
        await stand.ask("hello", prompt_cache_key="k")
        assert text_of(await stand.until()) == "of the second"
        assert stand.server.connections == 2

"""How soon an interrupt reaches who is asked, in turns of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from tui.bridge.client_connection import RunJob
from tui.bridge.routing import Candidate, Route
from tui.bridge.runs import EndpointResponder
from tui.core.wire.masking import Mask
from tui.core.wire.server.protocol import ServerProtocol


class Waiting:
    """A route whose one endpoint answers nothing, and notes when it was cut."""

    name = ""
    tokens_s = float("inf")
    cut = False
    mask = Mask()

    async def candidates(self, request: Mapping[str, Any], said: object) -> list[Candidate]:
        return [cast("Candidate", self)]

    @property
    def endpoint(self) -> Waiting:
        return self

    @property
    def asked(self) -> None:
        return None

    async def answer(self, _asked: object, _telling: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.cut = True


async def test_an_endpoint_hears_of_an_interrupt_in_the_next_turn_of_the_loop() -> None:
    protocol, route = ServerProtocol("x"), Waiting()
    protocol.receive_text('{"type":"response.create","model":"m","input":[]}')
    (run,) = protocol.accept()

    async def flush() -> None:
        return

    job = RunJob(run, flush)
    playing = asyncio.create_task(EndpointResponder(cast("Route", route)).respond(job))
    for _ in range(5):
        await asyncio.sleep(0)
    run.interrupted = True
    job.changes.notify()
    # 200 streams' work may stand in each turn.
    await asyncio.sleep(0)
    assert route.cut
    await playing
    assert run.ending["reason"] == "interrupted"

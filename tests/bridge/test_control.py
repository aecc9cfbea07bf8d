"""Interrupts, steering, clients that go away or stop reading."""

from __future__ import annotations

import json

from websockets.asyncio.client import ClientConnection

from tests.support.bridge_client import create, until
from tests.support.rehearsed import CUSTOM, READ, fresh_files
from tui.core.files import file_block


async def test_a_steer_during_a_call_waits_for_its_output(client: ClientConnection) -> None:
    prompt = "make the cache safe for threads"
    tools = [CUSTOM, READ]
    await create(client, prompt, tools=tools, model="rehearsal-fast@20")
    events = await until(client, "response.function_call_arguments.delta")
    first = events[0]["response"]["id"]
    text = {"type": "response.steer", "previous_response_id": first, "input": "only in put"}
    await client.send(json.dumps(text))
    events = await until(client, "response.steer.pending")
    (stub,) = events[-1]["required_input"]
    block = file_block("ledger/cache.py", fresh_files()["ledger/cache.py"])
    output = {**stub, "output": block}
    await create(client, "", input=[output], tools=tools, previous_response_id=first)
    patch = (await until(client))[-1]["response"]["output"][-1]
    assert patch["input"].count("with self._lock") == 1

"""A long conversation is sent whole a little at a time: keys and other lanes go on meanwhile."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.sync.server import ServerConnection, serve

from tests.support.loop_turns import short_turns
from tests.support.sockets import Heard
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.address import Address
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint
from tui.effects.wire.link import ConnectionOptions

ITEM = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "word " * 9}]}
REQUESTS: dict[str, Callable[[], dict[str, Any]]] = {
    "one long text": lambda: {"input": "a line\n" * 3_000_000},
    "a late emoji": lambda: {"input": "a line\n" * 3_000_000 + "\U0001f600"},
    "half a character": lambda: {"input": "a line\n" * 300_000 + "\ud83d"},
    "very many items": lambda: {"input": [ITEM] * 60_000},
    "long items": lambda: {"input": [{**ITEM, "content": "y" * 1_000_000}] * 20},
    "very many tools": lambda: {
        "tools": [{"type": "function", "name": f"f{n}"} for n in range(50_000)]
    },
    "a short one": lambda: {"input": "hi"},
}


@contextmanager
def listening(compression: str | None) -> Iterator[tuple[str, queue.Queue[Any]]]:
    """A server in a thread of its own; what it was told."""
    told: queue.Queue[Any] = queue.Queue()

    def handle(socket: ServerConnection) -> None:
        for number, text in enumerate(socket):
            event = json.loads(text)
            told.put(event)
            if event["type"] != "response.create":
                continue
            response = {"id": f"resp_{number}"}
            for kind in ("created", "completed"):
                name = {"stream_id": event["stream_id"]} if "stream_id" in event else {}
                said = {"type": f"response.{kind}", "response": response}
                socket.send(json.dumps({**said, **name}))

    with serve(handle, "127.0.0.1", 0, compression=compression, max_size=None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/v1/responses", told
        server.shutdown()
        thread.join()


@pytest.mark.slow
@each("name", REQUESTS)
@pytest.mark.parametrize("compression", [None, "deflate"])
async def test_a_long_request_is_sent_in_slices(compression: str | None, name: str) -> None:
    request = {"model": "m", **REQUESTS[name]()}
    sent = json.loads(json.dumps(request).replace('\\ud83d"', '\\ufffd"'))
    with listening(compression) as (url, told):

        async def address() -> Address:
            return Address(url, compression=compression is not None)

        options = ConnectionOptions(gap_s=120.0)  # a busy machine is no pause
        endpoint = Endpoint("test", address, MonotonicClock(), options=options)
        lane = endpoint.lane("main")
        heard = Heard(lane)
        await lane.open()
        done = 0
        async with short_turns() as again:
            while again():
                lane.create(request)
                done += 1
                await heard.has(events.Completed, done)
                got = await asyncio.to_thread(told.get)
                assert {key: got[key] for key in request} == sent
        await endpoint.close()

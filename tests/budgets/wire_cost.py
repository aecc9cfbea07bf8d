"""What one delta event costs from the text frame to the handler, in microseconds.

Run ``python tests/budgets/wire_cost.py [EVENTS]``; the budget is 15 µs for decoding and dispatch,
and 50 µs with a real socket in between. Exit status 1: over budget.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from websockets.asyncio.server import ServerConnection, serve

from tui.core.client_protocol import ClientProtocol
from tui.core.events import Completed, Event, decode_server
from tui.core.protocol import ServerProtocol
from tui.effects.clock import MonotonicClock
from tui.effects.connection import Address, Connection

BUDGET_US = 15.0
SOCKET_BUDGET_US = 50.0
HEAD = '{"type":"response.created","response":{"id":"resp_1"}}'
TAIL = '{"type":"response.completed","response":{"id":"resp_1"}}'


def delta(number: int) -> str:
    """A delta as real servers send it, decorations and all."""
    return (
        f'{{"type":"response.output_text.delta","sequence_number":{number},"item_id":"msg_'
        f'{number % 3:032x}","output_index":0,"content_index":0,"delta":"abcd","logprobs":[],'
        '"obfuscation":"aZ3kQ9tLm0"}'
    )


def decoding(frames: list[str]) -> float:
    """Seconds to decode alone."""
    started = time.perf_counter()
    for text in frames:
        decode_server(text)
    return time.perf_counter() - started


def dispatching(frames: list[str]) -> float:
    """Seconds to decode, pass the lane's gate and call a handler."""
    client = ClientProtocol()
    client.create({"model": "m"})
    client.receive_text(HEAD, 0.0)
    seen = 0
    started = time.perf_counter()
    for text in frames:
        client.receive_text(text, 0.0)
        for _ in client.events_received():
            seen += 1
        if client.needs_care:
            client.data_to_send()
    taken = time.perf_counter() - started
    assert seen == len(frames) + 1
    return taken


def emitting(count: int) -> float:
    """Seconds for the server side to say them."""
    server = ServerProtocol()
    server.receive_text('{"type":"response.create"}')
    (run,) = server.accept()
    index = run.item_added({"type": "message"})
    started = time.perf_counter()
    for _ in range(count):
        run.delta(index, "abcd")
        server.data_to_send()
    return time.perf_counter() - started


async def socketing(frames: list[str]) -> float:
    """Processor seconds of both ends of a real socket in this process, and the handler."""

    async def stream(socket: ServerConnection) -> None:
        async for message in socket:
            if json.loads(message)["type"] == "response.create":
                for text in (HEAD, *frames, TAIL):
                    await socket.send(text)

    async with serve(stream, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]

        async def address() -> Address:
            return Address(f"ws://127.0.0.1:{port}/")

        connection, done = Connection(address, MonotonicClock()), asyncio.Event()

        def heard(event: Event, now: float) -> None:
            if isinstance(event, Completed):
                done.set()

        connection.on_event = heard
        await connection.open()
        before = resource.getrusage(resource.RUSAGE_SELF)
        connection.create({"model": "m"})
        await done.wait()
        after = resource.getrusage(resource.RUSAGE_SELF)
        await connection.close()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Measure, print, judge."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    frames = [delta(number) for number in range(count)]
    rows = {
        "decode": min(decoding(frames) for _ in range(3)),
        "decode + gate + dispatch": min(dispatching(frames) for _ in range(3)),
        "server side emits": min(emitting(count) for _ in range(3)),
        "real socket, both ends (CPU)": asyncio.run(socketing(frames)),
    }
    for name, seconds in rows.items():
        print(f"{name:30} {seconds / count * 1e6:7.2f} µs per delta")
    fits = rows["decode + gate + dispatch"] / count * 1e6 <= BUDGET_US
    fits = fits and rows["real socket, both ends (CPU)"] / count * 1e6 <= SOCKET_BUDGET_US
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())

"""``python -m tui.cli.cluster SERVER ROOT TOPIC [SENT...]``: asks a Dask cluster for the app.

Orders come on stdin, what is told goes to stdout (`core.cluster`), each with its length before it.
It ends with its stdin. Dask is loaded here and nowhere else in duetto: its import takes half a
second, and what it packs and unpacks would hold up the screen.
"""

from __future__ import annotations

import asyncio
import sys
import threading

import msgspec

from tui.cli.cluster.client import ClusterClient
from tui.core.cluster import ClusterNews, ClusterOrder
from tui.core.typed_data import from_msgpack


def main() -> None:
    """Until stdin ends."""
    server, root, topic, *sent = sys.argv[1:]
    asyncio.run(_serve(ClusterClient(server, root, topic, _tell, sent)))


def _tell(told: ClusterNews) -> None:
    data = msgspec.msgpack.encode(told)
    sys.stdout.buffer.write(len(data).to_bytes(4, "big") + data)
    sys.stdout.buffer.flush()


async def _serve(client: ClusterClient) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    orders: asyncio.Queue[ClusterOrder] = asyncio.Queue()

    def read() -> None:
        stdin = sys.stdin.buffer
        try:
            while head := stdin.read(4):
                order = from_msgpack(stdin.read(int.from_bytes(head, "big")), ClusterOrder)
                loop.call_soon_threadsafe(orders.put_nowait, order)
        finally:
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read, daemon=True).start()
    serving = asyncio.create_task(client.serve(orders))
    ending = asyncio.create_task(ended.wait())
    await asyncio.wait([serving, ending], return_when=asyncio.FIRST_COMPLETED)
    serving.cancel()
    await asyncio.wait([serving], timeout=1.0)
    await client.close()


if __name__ == "__main__":
    main()

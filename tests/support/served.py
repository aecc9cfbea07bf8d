"""A server of WebSockets in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.WebSocketResponse]]


def served(handler: Handler) -> int:
    """Serve ``/v1/responses`` on a free port, which is returned, until the process ends."""
    ready = threading.Event()
    ports: list[int] = []

    async def serve() -> None:
        application = web.Application()
        application.router.add_get("/v1/responses", handler)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        ports.append(runner.addresses[0][1])
        ready.set()
        await asyncio.Event().wait()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    ready.wait()
    return ports[0]

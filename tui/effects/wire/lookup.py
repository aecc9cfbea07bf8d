"""Asking for a host's addresses, without being held up by a name server that is silent.

asyncio asks in a thread that the program waits for at its end, for as long as the system's
resolver tries: half a minute after Ctrl+C. So the first question is asked in a thread that nobody
waits for; what asyncio asks afterwards is answered already.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading


async def known(host: str, port: int) -> None:
    """Wait until the system knows the host. Raises OSError if it does not; may be cancelled."""
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(host)
        return
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[None] = loop.create_future()

    def settle(error: OSError | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(None)
        else:
            answer.set_exception(error)

    def ask() -> None:
        error: OSError | None = None
        try:
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as refused:
            error = refused if isinstance(refused, OSError) else socket.gaierror(str(refused))
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, error)

    threading.Thread(target=ask, name="lookup", daemon=True).start()
    await answer

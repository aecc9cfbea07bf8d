"""Asking for hosts' addresses: one whose name server is silent holds up nobody but who wants it.

An event loop asks in a few threads that all share: some lookups that hang, and no other host is
found any more. Here each host is asked for in a thread of its own, once for all who wait for it;
nobody waits for the thread at the end of the program.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import socket
import threading
from typing import Any

Found = list[tuple[Any, ...]]
"""As of `socket.getaddrinfo`."""


class Names:
    """The lookups that are under way."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, int], asyncio.Future[Found]] = {}

    async def addresses(self, host: str, port: int) -> Found:
        """The addresses of a host. Raises OSError, UnicodeError: it is not known."""
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(host)
            numeric = socket.AI_NUMERICHOST  # nobody is asked
            return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=numeric)
        asked = self._asked.get((host, port))
        if asked is None:
            asked = self._asked[host, port] = self._ask(host, port)
        return await asyncio.shield(asked)  # others may wait for it still

    def _ask(self, host: str, port: int) -> asyncio.Future[Found]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Found] = loop.create_future()

        def settle(found: Found | Exception) -> None:
            self._asked.pop((host, port), None)
            if isinstance(found, Exception):
                answer.set_exception(found)
                answer.exception()  # perhaps nobody waits any more
            else:
                answer.set_result(found)

        def ask() -> None:
            found: Found | Exception
            try:
                found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except (OSError, UnicodeError) as error:
                found = error
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(settle, found)

        try:
            threading.Thread(target=ask, name="lookup", daemon=True).start()
        except RuntimeError:  # no more threads are to be had
            settle(OSError(errno.EAGAIN, "no more threads"))
        return answer

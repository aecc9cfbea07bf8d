"""A name server that is silent about one host holds up nobody who wants another one."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tui.bridge.upstream.dialing import Resolver

LANES = 40
ADDRESS = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))


class NameServer:
    """Knows all names, and is silent about ``silent.test`` till it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.asked: list[str] = []

    def getaddrinfo(self, host: str, port: int, *_: Any, **__: Any) -> Any:
        self.asked.append(host)
        if host == "silent.test":
            self.let_go.wait(20)
            raise socket.gaierror(socket.EAI_AGAIN, "try again")
        return [(*ADDRESS[:4], ("127.0.0.1", port))]


@pytest.fixture
def name_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    made = NameServer()
    monkeypatch.setattr(socket, "getaddrinfo", made.getaddrinfo)
    yield made
    made.let_go.set()


async def test_a_host_that_is_not_found_does_not_hold_up_another(name_server: NameServer) -> None:
    names = Resolver()
    waiting = [asyncio.ensure_future(names.addresses("silent.test", 80)) for _ in range(LANES)]
    await asyncio.sleep(0)
    async with asyncio.timeout(2):
        assert await names.addresses("other.test", 81) == [(*ADDRESS[:4], ("127.0.0.1", 81))]
        await asyncio.to_thread(int)
        await asyncio.get_running_loop().shutdown_default_executor()
    assert name_server.asked.count("silent.test") == 1
    waiting[0].cancel()
    name_server.let_go.set()
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(ended[0], asyncio.CancelledError)
    assert all(isinstance(one, socket.gaierror) for one in ended[1:])

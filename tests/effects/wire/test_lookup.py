"""A name server that is silent holds nobody up, least of all the end of the program."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import Any

import pytest

from tests.support.sockets import connection_to
from tui.errors import EndpointError


async def test_a_silent_name_server_is_no_answer_and_leaves_no_thread_to_wait_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, over = threading.Event(), threading.Event()

    def silent(*args: Any, **options: Any) -> Any:
        asked.set()
        over.wait(20)
        raise socket.gaierror("at last")

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    lane, _ = connection_to("wss://model.example/v1/responses", connect_timeout_s=0.2)
    with pytest.raises(EndpointError, match=r"No answer from model\.example"):
        await lane.open()
    assert asked.is_set()
    async with asyncio.timeout(30):
        await asyncio.get_running_loop().shutdown_default_executor()
    over.set()
    await lane.close()

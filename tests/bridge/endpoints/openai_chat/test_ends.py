"""When an answer is over: servers that say so too early, or that say no word of it, on sockets."""

from __future__ import annotations

import math
from collections.abc import Awaitable
from typing import Any

import pytest

from tests.support.chat_answers import chunk
from tests.support.endpoint_kinds import Stand, failure, standing, text_of
from tests.support.endpoint_servers import HOLD, Mark, Plan, Script, sse
from tests.support.endpoint_servers_chat import Chat
from tui.bridge.endpoints import http_endpoint


class Raw(Script):
    """An answer, byte by byte."""

    def __init__(self, *parts: bytes | Mark) -> None:
        super().__init__()
        object.__setattr__(self, "parts", list(parts))


class Bytes(Chat):
    """Says the bytes of a `Raw` as they are."""

    def plan(self, script: Script) -> Plan:
        return list(script.parts) if isinstance(script, Raw) else super().plan(script)


async def said(stand: Stand, *parts: bytes | Mark) -> list[dict[str, Any]]:
    stand.server.dialect = Bytes()
    return await stand.answered(Raw(*parts))


async def test_a_finish_reason_with_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends when nothing more is said, however long the pieces take together."""
    begins = [math.inf]

    def waited(_response: object, until_s: float | None) -> Awaitable[bytes]:
        begins.append(until_s or math.inf)
        return more(_response, until_s)

    more: Any = vars(http_endpoint)["_more"]
    monkeypatch.setattr(http_endpoint, "_more", waited)
    parts = [part for at in range(4) for part in (sse(chunk("stop", content=f"{at} ")), HOLD)]
    async with standing("openai-chat") as stand:
        stand.server.dialect = Bytes()
        stand.answers(Raw(*parts, sse(chunk("stop")), b"data: [DONE]\n\n"))
        await stand.ask()
        events = await stand.until("response.output_text.delta")
        for _ in range(3):
            stand.server.released.set()
            stand.server.released.clear()
            events += await stand.until("response.output_text.delta")
        stand.server.released.set()
        events += await stand.until()
    assert text_of(events) == "0 1 2 3 "
    limits = [until_s for until_s in begins if until_s < math.inf]
    assert limits == sorted(set(limits)), "each piece gives it time anew"


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "No quota.", "code": 429}}',
        b'\r\n[{"error": {"message": "No quota.", "code": 429}}]\r\n',
        b'error: {"message": "No quota.", "code": 429}\n\n',
        b'event: error\ndata: {"message": "No quota.", "code": 429}\n\n',
        b"event: error\ndata: No quota.\n\n",
        b'data: data: {"error": {"message": "No quota."}}\n\n',
    ],
)
async def test_an_error_in_place_of_events(body: bytes) -> None:
    async with standing("openai-chat") as stand:
        events = await said(stand, body)
    assert "No quota." in failure(events)[1]


async def test_a_web_page_under_the_wrong_name() -> None:
    async with standing("openai-chat") as stand:
        events = await said(stand, b"\n<!doctype html><html>Sign in</html>")
    assert "web page" in failure(events)[1]


async def test_chunks_without_an_empty_line_between_them() -> None:
    chunks = [chunk(content="Hel"), chunk(content="lo"), chunk("stop")]
    lines = b"".join(sse(one).strip() + b"\n" for one in chunks)
    async with standing("openai-chat") as stand:
        events = await said(stand, lines + b"data: [DONE]\n")
    assert text_of(events) == "Hello"

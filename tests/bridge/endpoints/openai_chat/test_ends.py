"""When an answer is over: servers that say so too early, or that say no word of it, on sockets."""

from __future__ import annotations

from typing import Any

from tests.support.chat_answers import chunk
from tests.support.endpoint_kinds import Stand, failure, standing, text_of
from tests.support.endpoint_servers import Mark, Plan, Script, sse
from tests.support.endpoint_servers_chat import Chat
from tests.support.tables import each


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


@each(
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


async def test_chunks_without_an_empty_line_between_them() -> None:
    chunks = [chunk(content="Hel"), chunk(content="lo"), chunk("stop")]
    lines = b"".join(sse(one).strip() + b"\n" for one in chunks)
    async with standing("openai-chat") as stand:
        events = await said(stand, lines + b"data: [DONE]\n")
    assert text_of(events) == "Hello"

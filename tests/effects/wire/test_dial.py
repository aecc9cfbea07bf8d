"""Dials that fail: one sentence that says what came back and what to do."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from tests.support.sockets import connection_to, idle, serving
from tui.errors import EndpointError, KeyRefused


def answering(status: HTTPStatus, body: str, **headers: str) -> Any:
    def answer(socket: ServerConnection, request: Request) -> Response:
        response = socket.respond(status, body)
        for name, value in headers.items():
            response.headers[name] = value
        return response

    return answer


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (HTTPStatus.UNAUTHORIZED, "refused the key (HTTP 401)"),
        (HTTPStatus.FORBIDDEN, "refused the key (HTTP 403)"),
        (HTTPStatus.NOT_FOUND, "usually ends in /v1/responses"),
        (HTTPStatus.OK, "not a Responses WebSocket endpoint"),
        (HTTPStatus.UPGRADE_REQUIRED, "HTTP 426"),
        (HTTPStatus.SERVICE_UNAVAILABLE, "try again in a moment"),
    ],
)
async def test_a_refused_upgrade_says_what_came_back(status: HTTPStatus, words: str) -> None:
    body = json.dumps({"error": {"message": "bad key sk-secret-1 \x1b[31m"}})
    async with serving(idle, process_request=answering(status, body)) as url:
        connection, heard = connection_to(url, key="sk-secret-1")
        expected = KeyRefused if "key" in words else EndpointError
        with pytest.raises(expected) as raised:
            await connection.open()
        said = str(raised.value)
        assert words in said
        assert "sk-secret-1" not in said
        assert "\x1b" not in said
        assert (await heard.closed()) == said
        await connection.close()


async def test_a_redirect_is_not_followed() -> None:
    refuse = answering(HTTPStatus.FOUND, "", Location="wss://elsewhere.example/v1?key=1")
    async with serving(idle, process_request=refuse) as url:
        connection, _ = connection_to(url, key="sk-test")
        with pytest.raises(EndpointError, match=r"redirects to wss://elsewhere\.example/v1 "):
            await connection.open()
        await connection.close()


async def test_what_is_no_web_server_is_said_so() -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(babble, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        for scheme, words in (("ws", "does not answer in HTTP"), ("wss", "TLS")):
            connection, _ = connection_to(f"{scheme}://127.0.0.1:{port}/v1/responses")
            with pytest.raises(EndpointError, match=words):
                await connection.open()
            await connection.close()


async def test_nobody_there_a_name_that_is_none_and_no_answer() -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    silent, _ = connection_to(f"ws://localhost:{port}/", connect_timeout_s=0.1)
    with pytest.raises(EndpointError, match="No answer from localhost"):
        await silent.open()
    server.close()
    nobody, _ = connection_to(f"ws://127.0.0.1:{port}/")
    with pytest.raises(EndpointError, match=r"Nothing listens at 127\.0\.0\.1"):
        await nobody.open()
    nameless, _ = connection_to("ws://no-such-host.invalid/", connect_timeout_s=5)
    with pytest.raises(EndpointError, match=r"no-such-host\.invalid"):
        await nameless.open()
    for connection in (silent, nobody, nameless):
        await connection.close()


async def test_a_key_is_not_sent_in_clear_text_beyond_this_machine() -> None:
    connection, heard = connection_to("ws://192.0.2.1/v1/responses", key="sk-test")
    with pytest.raises(EndpointError, match="clear text"):
        await connection.open()
    assert "clear text" in await heard.closed()
    await connection.close()


async def test_a_dial_that_is_given_up_leaves_nothing_behind() -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connection, heard = connection_to(f"ws://127.0.0.1:{port}/")
    waiting = asyncio.create_task(connection.open())
    await heard.until(lambda: heard.states == [("connecting", "")])
    waiting.cancel()
    await connection.close()
    assert connection.state == "closed"
    server.close()

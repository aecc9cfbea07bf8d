"""Dials that fail: one sentence that says what came back and what to do."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
import trustme
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from tests.effects.wire.host import Desk, hosting, states
from tests.support.nasty_server import greeting, http
from tests.support.sockets import connection_to, idle, serving
from tests.support.tables import each
from tui.core.wire.address import AUTHORITY_VARIABLES, Address
from tui.effects.wire.dial import dial
from tui.effects.wire.link import ConnectionOptions
from tui.errors import EndpointError, KeyRefused, NoAnswer


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
    with pytest.raises(NoAnswer, match="No answer from localhost") as caught:
        await silent.open()
    assert caught.value.transient
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


async def test_a_server_that_hangs_up_on_the_upgrade_may_still_speak_http() -> None:
    async def curt(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(curt, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        connection, _ = connection_to(f"ws://127.0.0.1:{port}/")
        with pytest.raises(EndpointError, match="closed the connection instead") as raised:
            await connection.open()
        assert raised.value.transient
        assert raised.value.http_may_work
        await connection.close()


@pytest.mark.slow
@each(
    "asked, limit_bytes, offered",
    [(None, 2**20, False), (True, 2**20, True), (False, 2**20, False), (True, 0, False)],
)
async def test_compression_is_offered_where_it_was_asked_for(
    asked: bool | None, limit_bytes: int, offered: bool
) -> None:
    seen: list[str] = []

    def look(socket: ServerConnection, request: Request) -> None:
        seen.append(request.headers.get("Sec-WebSocket-Extensions", ""))

    async with serving(idle, process_request=look) as url:
        options = ConnectionOptions(max_message_bytes=limit_bytes)
        socket = await dial(Address(url, compression=asked), options)
        await socket.close()
    assert ("permessage-deflate" in seen[0]) is offered


@asynccontextmanager
async def proxied(
    monkeypatch: pytest.MonkeyPatch, status: str = "200 OK"
) -> AsyncIterator[list[bytes]]:
    """An HTTP proxy on loopback that leads every host to the port in its name."""
    asked: list[bytes] = []

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head)
        writer.write(f"HTTP/1.1 {status}\r\n\r\n".encode())
        if not status.startswith("200"):
            writer.close()
            return
        port = int(head.split()[1].rsplit(b":", 1)[1])
        there, back = await asyncio.open_connection("127.0.0.1", port)

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                sink.write(data)
            sink.close()

        await asyncio.gather(pump(reader, back), pump(there, writer), return_exceptions=True)

    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with await asyncio.start_server(lead, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        monkeypatch.setenv("HTTPS_PROXY", f"http://joe:s3cret@127.0.0.1:{port}")
        monkeypatch.setenv("https_proxy", f"http://joe:s3cret@127.0.0.1:{port}")
        yield asked


async def test_a_proxy_is_used_beyond_this_machine_and_never_on_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(idle) as url, proxied(monkeypatch) as asked:
        connection, _ = connection_to(url.replace("127.0.0.1", "model.example"))
        await connection.open()
        assert asked[0].startswith(b"CONNECT model.example:")
        assert b"Proxy-Authorization: Basic" in asked[0]
        await connection.close()
        nearby, _ = connection_to(url)
        await nearby.open()
        assert len(asked) == 1
        await nearby.close()


@each("status, words", [("407 No", "a user and a password"), ("502 Bad", "HTTP 502")])
async def test_a_proxy_that_refuses_is_named(
    monkeypatch: pytest.MonkeyPatch, status: str, words: str
) -> None:
    async with proxied(monkeypatch, status):
        connection, _ = connection_to("ws://model.example/")
        with pytest.raises(
            EndpointError, match=r"The proxy on the way to model\.example"
        ) as raised:
            await connection.open()
        assert words in str(raised.value)
        assert raised.value.transient == ("502" in status)
        await connection.close()


@each("proxy", ["http://[::1", "http://a:b:c:d", "http://h:99999"])
async def test_a_proxy_s_address_that_is_none_is_named(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    connection, _ = connection_to("wss://model.example/")
    with pytest.raises(EndpointError, match=r"The proxy on the way .*its address is not one"):
        await connection.open()
    await connection.close()


async def test_an_ipv6_address_stands_in_brackets() -> None:
    connection, _ = connection_to("ws://[::1]:9/v1/responses")
    with pytest.raises(EndpointError, match=r"(Nothing listens at|Cannot connect to) \[::1\]:9"):
        await connection.open()
    await connection.close()


async def test_a_proxy_that_is_not_there_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with proxied(monkeypatch):
        pass
    connection, _ = connection_to("ws://model.example/")
    with pytest.raises(EndpointError, match=r"Nothing listens at the proxy 127\.0\.0\.1") as raised:
        await connection.open()
    assert "s3cret" not in str(raised.value)
    await connection.close()
    for broken in ("gopher://x:s3cret@y", "http://joe:s3cret@/"):
        monkeypatch.setenv("https_proxy", broken)
        with pytest.raises(EndpointError, match="its address is not one") as raised:
            await connection_to("ws://model.example/")[0].open()
        assert "s3cret" not in str(raised.value)


@asynccontextmanager
async def private(tmp_path: Path) -> AsyncIterator[tuple[str, Path]]:
    """A server whose certificate only its own authority vouches for, and that one's file."""
    authority = trustme.CA()
    bundle = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(bundle))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    async with serving(idle, ssl=context) as url:
        yield url.replace("ws://127.0.0.1", "wss://localhost"), bundle


@each("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"])
async def test_a_private_authority_is_named_by_a_variable(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in AUTHORITY_VARIABLES:
        monkeypatch.delenv(other, raising=False)
    async with private(tmp_path) as (url, bundle):
        connection, _ = connection_to(url)
        with pytest.raises(EndpointError, match=r"is not trusted .* set SSL_CERT_FILE") as raised:
            await connection.open()
        assert not raised.value.transient
        monkeypatch.setenv(name, str(bundle) + ".gone")
        with pytest.raises(EndpointError, match=rf"{name} names .*gone, which cannot be read"):
            await connection.open()
        monkeypatch.setenv(name, str(bundle))
        await connection.open()
        await connection.close()


async def test_a_pause_till_a_date_is_counted_from_now_where_the_server_has_no_clock() -> None:
    date = formatdate(time.time() + 600, usegmt=True)
    async with greeting(http("503 Down", b"", f"Retry-After: {date}")) as port:
        connection, _ = connection_to(f"ws://127.0.0.1:{port}/v1/responses")
        with pytest.raises(EndpointError) as caught:
            await connection.open()
        await connection.close()
    assert caught.value.retry_after_s == pytest.approx(600, abs=60)


async def test_who_is_let_in_and_shut_out_at_once_for_the_key_hears_so() -> None:
    async def refuse(socket: ServerConnection) -> None:
        await socket.close(4401, "no such user")

    async with serving(refuse) as url:
        connection, _ = connection_to(url, key="sk-test")
        with pytest.raises(KeyRefused, match=r"code 4401 \(no such user\): check the key"):
            await connection.open()
        await connection.close()


async def test_a_redirect_is_not_followed() -> None:
    def refuse(socket: ServerConnection, _: Request) -> Response:
        response = socket.respond(HTTPStatus.FOUND, "")
        response.headers["Location"] = "wss://elsewhere.example/v1?key=1"
        return response

    async with serving(idle, process_request=refuse) as url:
        connection, _ = connection_to(url, key="sk-test")
        with pytest.raises(EndpointError, match=r"redirects to wss://elsewhere\.example/v1 "):
            await connection.open()
        await connection.close()


async def test_a_silent_name_server_is_no_answer_and_leaves_no_thread_to_wait_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, over = threading.Event(), threading.Event()

    def silent(*args: Any, **options: Any) -> Any:
        asked.set()
        over.wait(300)
        raise socket.gaierror("at last")

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    lane, _ = connection_to("wss://model.example/v1/responses", connect_timeout_s=1.0)
    with pytest.raises(EndpointError, match=r"No answer from model\.example"):
        await lane.open()
    assert asked.is_set()
    async with asyncio.timeout(60):
        await asyncio.get_running_loop().shutdown_default_executor()
    over.set()
    await lane.close()


async def test_an_endpoint_at_rest_is_asked_for_a_websocket_again() -> None:
    async with hosting() as host, hosting() as relay:
        host.refusal = 426
        desk = Desk(host, relay, probe_s=0.2)
        desk.clock.runs = True
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        host.refusal = None
        await heard.until(lambda: lane.transport == "websocket")
        assert desk.known.websocket is True
        await heard.until(lambda: states(heard)[-2:] == ["closed", "open"])
        await desk.ask(lane, heard)
        assert len(host.asked) == 1
        assert [view.transport for view in desk.endpoint.views()] == ["websocket"]
        assert desk.endpoint.transport_choice._timer is None, "it is asked for no more"
        assert lane.fall_back(), "it may break again"


@each(
    "refused, known, choice, words",
    [
        (True, {}, "auto", "the server refused the WebSocket; it is tried again"),
        (False, {"websocket": False}, "auto", "in an earlier run; it is tried again"),
        (False, {}, "auto", "the WebSocket failed; it is tried again"),
        (False, {}, "http", "the settings say"),
    ],
)
async def test_why_it_goes_by_http_is_said(
    refused: bool, known: dict[str, bool], choice: str, words: str
) -> None:
    async with hosting() as host, hosting() as relay:
        host.refusal = 426 if refused else None
        desk = Desk(host, relay, known=known, transport=choice)
        lane, heard = desk.lane("main")
        if not (refused or known or choice == "http"):
            await desk.ask(lane, heard)
            assert [view.why for view in desk.endpoint.views()] == [""]
            assert lane.fall_back()
        await desk.ask(lane, heard)
        (view,) = desk.endpoint.views()
        assert view.transport == "http"
        assert words in view.why
        assert ("again" in view.why) == (choice == "auto")
        lane.come_back()
        (view,) = desk.endpoint.views()
        assert ("the next turn" in view.why) == (choice == "auto" and not refused)


async def test_a_user_who_never_rests_comes_back_from_http() -> None:
    """The WebSocket is asked for beside the turns, and taken by the next one."""
    async with hosting() as host, hosting() as relay:
        host.refusal = 426
        desk = Desk(host, relay, probe_s=0.2)
        lane, heard = desk.lane("main")
        await desk.ask(lane, heard)
        host.refusal = None
        async with asyncio.timeout(60):
            while not host.asked:
                await desk.ask(lane, heard)
                await asyncio.sleep(0.02)
        assert lane.transport == "websocket"
        assert [view.transport for view in desk.endpoint.views()] == ["websocket"]


async def test_it_is_asked_for_less_and_less_often() -> None:
    async with hosting() as host, hosting() as relay:
        asked = []
        host.refusal = 426
        desk = Desk(host, relay, probe_s=0.05)
        where = desk.endpoint.address

        async def address() -> Address:
            asked.append(desk.endpoint.transport_choice._wait_s)
            return await where()

        desk.endpoint.address = address
        lane, heard = desk.lane("main")
        async with asyncio.timeout(60):
            while len(asked) < 4:
                await desk.ask(lane, heard)
                await asyncio.sleep(0.005)
        assert asked[1:4] == [0.05, 0.1, 0.2]
        assert heard.states == [("connecting", ""), ("open", "")]
        assert desk.learnt[-1].websocket is False


async def test_a_websocket_that_soon_breaks_again_is_asked_for_later() -> None:
    async with hosting() as host, hosting() as relay:
        desk = Desk(host, relay, probe_s=0.05)
        lane, heard = desk.lane("main")
        waits = []
        for _ in range(3):
            await desk.ask(lane, heard)
            assert lane.transport == "websocket"
            assert lane.fall_back()
            await desk.ask(lane, heard)
            waits.append(desk.endpoint.transport_choice._wait_s)
            while desk.endpoint.transport_choice.transport == "http":
                await asyncio.sleep(0.005)
        assert waits == [0.05, 0.1, 0.2]

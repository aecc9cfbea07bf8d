"""A name server that is silent about one host holds up nobody who wants another one."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import trustme

from tests.bridge.upstream.test_client import HEAD, Server, read, served
from tests.support.tables import each
from tui.bridge.endpoints.base import Broken
from tui.bridge.upstream import client, dialing
from tui.bridge.upstream.client import Upstream
from tui.bridge.upstream.dialing import Resolver, proxy_for
from tui.core.wire.address import Address

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
            self.let_go.wait(300)
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
    async with asyncio.timeout(60):
        assert await names.addresses("other.test", 81) == [(*ADDRESS[:4], ("127.0.0.1", 81))]
        await asyncio.to_thread(int)
        await asyncio.get_running_loop().shutdown_default_executor()
    assert name_server.asked.count("silent.test") == 1
    waiting[0].cancel()
    name_server.let_go.set()
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(ended[0], asyncio.CancelledError)
    assert all(isinstance(one, socket.gaierror) for one in ended[1:])


def context_of(authority: trustme.CA, **more: Any) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1", **more).configure_cert(context)
    return context


@contextlib.asynccontextmanager
async def mute() -> AsyncIterator[tuple[int, list[asyncio.StreamWriter], asyncio.Event]]:
    """A server that takes connections and says nothing: its port, who came, and who left."""
    came: list[asyncio.StreamWriter] = []
    left = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(writer)
        with contextlib.suppress(ConnectionError):
            while await reader.read(65536):
                pass
        left.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], came, left
        for writer in came:
            writer.transport.abort()


async def why(upstream: Upstream, url: str) -> str:
    with pytest.raises(Broken) as raised:
        await read(upstream, url)
    return str(raised.value)


async def test_an_expired_certificate_is_named_so(
    upstream: Upstream, authority: trustme.CA
) -> None:
    day = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    async with served(tls=context_of(authority, not_before=day, not_after=day)) as server:
        assert "is not valid today" in await why(upstream, server.url)
        assert server.requests == []


async def test_a_server_of_old_tls_or_of_none_is_one_sentence(
    upstream: Upstream, authority: trustme.CA
) -> None:
    old = context_of(authority)
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLS"):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65536)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        writer.close()

    for serve, tls, cause in (
        (Server().serve, old, "it closed the connection at once"),
        (plain, None, "the TLS connection failed (wrong version number)"),
    ):
        listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
        async with listening, asyncio.timeout(60):
            url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
            words = await why(upstream, url)
        assert words == f"127.0.0.1 cannot be reached: {cause}."


async def test_all_who_wait_for_a_dead_server_are_told_at_the_same_time(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not one behind the other: the tenth would wait for nine others first."""
    monkeypatch.setattr(dialing, "CONNECT_S", 1.0)
    loop = asyncio.get_running_loop()
    ends_s: list[float] = []

    async def one_is_told(port: int) -> str:
        words = await why(upstream, f"https://127.0.0.1:{port}/v1")
        ends_s.append(loop.time())
        return words

    async with mute() as (port, came, _):
        told = await asyncio.gather(*(one_is_told(port) for _ in range(6)))
        assert {words.partition(":")[0] for words in told} == {"127.0.0.1 cannot be reached"}
        assert max(ends_s) - min(ends_s) < 1.0
        assert len(came) <= 6


async def test_one_who_leaves_while_a_connection_is_made_takes_it_from_nobody(
    upstream: Upstream, authority: trustme.CA
) -> None:
    async with served(tls=context_of(authority)) as server:
        first = asyncio.create_task(read(upstream, server.url))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        others = [asyncio.create_task(read(upstream, server.url)) for _ in range(3)]
        await asyncio.sleep(0.001)
        first.cancel()
        assert await asyncio.gather(*others) == [b"data: 1\n\n"] * 3


@pytest.mark.parametrize("proxy", ["http://u:p@", "socks5://u:p@", "https://u:p@"])
async def test_who_leaves_while_a_proxy_is_asked_is_gone_at_once(
    proxy: str, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with mute() as (port, came, left):
        monkeypatch.setenv("https_proxy", f"{proxy}127.0.0.1:{port}")
        asking = asyncio.create_task(read(upstream, "https://far.example.test/v1"))
        async with asyncio.timeout(60):
            while not came:
                await asyncio.sleep(0.005)
            asking.cancel()
            await left.wait()
        await asyncio.gather(asking, return_exceptions=True)


async def test_a_name_that_nobody_knows_is_one_sentence(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    for url in ("https://no.example.test/v1", f"https://{'a' * 70}.test/v1", "https://a..b/v1"):
        assert (await why(upstream, url)).endswith("cannot be reached: its name is not known.")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


async def test_nothing_is_left_of_many_that_were_left_or_failed(
    authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: 99\r\n\r\ndata")
        await writer.drain()
        writer.transport.abort()

    async def endless(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\ndata: 1\n\n")
        await asyncio.Event().wait()

    monkeypatch.setattr(dialing, "CONNECT_S", 0.1)
    monkeypatch.setattr(client, "CONNECT_S", 0.1)
    before, tasks = open_files(), len(asyncio.all_tasks())
    made = Upstream()
    asks: list[Callable[[], Any]] = []
    async with mute() as (port, _, _), served(cut) as broken, served(endless) as long:
        for url in (f"https://127.0.0.1:{port}/v1", broken.url, long.url, "http://127.0.0.1:9/"):
            asks += [lambda url=url: read(made, url)] * 10
        running = [asyncio.create_task(ask()) for ask in asks]
        await asyncio.sleep(0.5)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    await made.close()
    async with asyncio.timeout(60):
        while open_files() > before + 1 or len(asyncio.all_tasks()) > tasks:
            await asyncio.sleep(0.01)


@each("status", [301, 302, 303, 307, 308])
async def test_nobody_is_followed_with_the_key(status: int, upstream: Upstream) -> None:
    key = {"Authorization": "Bearer sk-of-one-host"}
    async with served() as other:

        async def elsewhere(_server: Server, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 %d Go\r\nLocation: %b\r\n" % (status, other.url.encode()))
            writer.write(b"Content-Length: 0\r\n\r\n")

        async with served(elsewhere) as server:
            async with upstream.post(Address(server.url, key), b"{}") as answer:
                assert answer.status == status
            fetched = await upstream.fetch(Address(server.url, key), None, 100)
            assert fetched.status == status
        assert other.connections == 0


KEY = "sk-of-the-provider-0123456789"
FAR = "https://far.example.test:8443/v1/responses"


class Proxy:
    """A proxy by hand: it leads everybody to one port, or says something else."""

    def __init__(self, port: int = 0, says: bytes = b"") -> None:
        self.port, self.says = port, says
        self.asked: list[bytes] = []

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection("127.0.0.1", self.port)

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with contextlib.suppress(ConnectionError):
                while data := await source.read(65536):
                    sink.write(data)
                    await sink.drain()
                sink.close()

        await asyncio.gather(copy(reader, forth), copy(back, writer))

    async def http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            self.asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(self.says or b"HTTP/1.1 200 Connection established\r\n\r\n")
            if not self.says:
                await self._lead(reader, writer)
        writer.close()

    async def socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            _, count = await reader.readexactly(2)
            self.asked.append(await reader.readexactly(count))
            writer.write(b"\x05\x02")
            _, size = await reader.readexactly(2)
            user = await reader.readexactly(size)
            size = (await reader.readexactly(1))[0]
            self.asked.append(user + b":" + await reader.readexactly(size))
            writer.write(b"\x01\x00")
            head = await reader.readexactly(5)
            self.asked.append(await reader.readexactly(head[4] + 2))
            writer.write(b"\x05" + (self.says or b"\x00") + b"\x00\x01\x00\x00\x00\x00\x00\x00")
            if not self.says:
                await self._lead(reader, writer)
        writer.close()


async def why_through_proxy(upstream: Upstream, url: str = FAR) -> str:
    headers = {"Authorization": f"Bearer {KEY}"}
    with pytest.raises(Broken) as raised:
        async with asyncio.timeout(60), upstream.post(Address(url, headers), b"{}"):
            pass
    return str(raised.value)


@pytest.mark.parametrize("kind", ["http", "https", "socks5h"])
async def test_a_request_goes_through_with_the_proxys_own_password_only(
    kind: str, upstream: Upstream, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tls=tls) as server:
        proxy = Proxy(int(server.url.split(":")[2].split("/")[0]))
        serve = proxy.socks if kind.startswith("socks") else proxy.http
        context = tls if kind == "https" else None
        listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        async with listening:
            port = listening.sockets[0].getsockname()[1]
            monkeypatch.setenv("https_proxy", f"{kind}://jo%40x:pa%3Ass@127.0.0.1:{port}")
            for _ in range(2):
                assert await read(upstream, FAR) == b"data: 1\n\n"
            assert server.connections == 1
            told = b"".join(proxy.asked)
            assert (b"am9AeDpwYTpzcw==" if kind.startswith("http") else b"jo@x:pa:ss") in told
            for listener in server.writers:
                listener.transport.abort()
        assert KEY.encode() not in b"".join(proxy.asked)


@pytest.mark.parametrize(
    "refusing",
    [
        (
            "http",
            b"HTTP/1.1 407 Auth\r\nContent-Length: 0\r\n\r\n",
            "wants a user and a password (HTTP status 407)",
        ),
        ("http", b"HTTP/1.1 502 Bad\r\n\r\n<html>no</html>", "refused (HTTP status 502)"),
        ("http", b"nonsense\r\n\r\n", "the proxy"),
        ("http", b"", "the proxy"),
        ("https", b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", "refused (HTTP status 403)"),
        ("socks5", b"\x02", "the proxy refused."),
        ("socks5", b"\x05", "the proxy refused."),
    ],
)
async def test_how_a_proxy_refuses_is_one_sentence(
    refusing: tuple[str, bytes, str],
    upstream: Upstream,
    tls: ssl.SSLContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, says, words = refusing
    async with served() as server:
        proxy = Proxy(0, says or b"\r\n")
        serve = proxy.socks if kind.startswith("socks") else proxy.http
        context = tls if kind == "https" else None
        listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        async with listening:
            port = listening.sockets[0].getsockname()[1]
            scheme = "socks5h" if kind == "socks5" else kind
            monkeypatch.setenv("https_proxy", f"{scheme}://user:secret@127.0.0.1:{port}")
            said = await why_through_proxy(upstream)
            assert said.startswith("far.example.test cannot be reached: ")
            assert words in said
            assert "secret" not in said
        assert server.connections == 0


@pytest.mark.parametrize(
    ("no_proxy", "host", "proxied"),
    [
        ("far.example.test", "far.example.test", False),
        (".example.test", "far.example.test", False),
        ("example.test", "far.example.test", False),
        ("*.example.test", "far.example.test", False),
        ("*", "far.example.test", False),
        ("far.example.test:8443", "far.example.test", False),
        ("far.example.test:1", "far.example.test", True),
        ("other.test, FAR.example.test", "far.example.test", False),
        ("ample.test", "far.example.test", True),
        ("10.1.2.3", "10.1.2.3", False),
        ("10.0.0.0/8", "10.1.2.3", False),
        ("10.0.0.0/8", "11.1.2.3", True),
        ("10.9.9.9/8", "10.1.2.3", False),
        ("fd00::/8", "[fd00::1]", False),
        ("[fd00::1]", "[fd00::1]", False),
        ("fd00::1", "[fd00::1]", False),
        ("nonsense/99, ,", "10.1.2.3", True),
    ],
)
def test_for_whom_there_is_no_proxy(
    no_proxy: str, host: str, proxied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example.test:3128")
    monkeypatch.setenv("no_proxy", no_proxy)
    assert bool(proxy_for(f"https://{host}:8443/v1")) is proxied

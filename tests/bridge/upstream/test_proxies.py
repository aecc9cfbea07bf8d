"""Proxies of every kind: what they are told, how they refuse, and for whom there is none."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

import pytest

from tests.bridge.upstream.test_client import read, served
from tui.bridge.upstream.client import Upstream
from tui.bridge.upstream.dialing import proxy_for
from tui.bridge.upstream.errors import BrokenError
from tui.core.wire.address import Address

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


async def why(upstream: Upstream, url: str = FAR) -> str:
    headers = {"Authorization": f"Bearer {KEY}"}
    with pytest.raises(BrokenError) as raised:
        async with asyncio.timeout(5), upstream.post(Address(url, headers), b"{}"):
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
        ("http", b"HTTP/1.1 407 Auth\r\nContent-Length: 0\r\n\r\n", "refused (HTTP status 407)"),
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
            said = await why(upstream)
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

"""Small questions to a server beside the answers of its models: JSON over HTTP, bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import msgspec

from tui.bridge.endpoints.base import Broken, Refused, Target
from tui.core.wire.address import Address, checked
from tui.errors import EndpointError

MOST_BYTES = 8 * 1024 * 1024
"""Of a list of models: the longest ones known have one megabyte."""
DEADLINE_S = 10.0
_BEHIND = ("/chat/completions", "/completions", "/responses", "/messages", "/models")
_SCHEMES = {"ws": "http", "wss": "https"}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A whole HTTP answer."""

    status: int
    body: bytes


class Fetcher(Protocol):
    """Who asks (`bridge.upstream`)."""

    async def fetch(self, address: Address, body: bytes | None, most_bytes: int) -> Fetched:
        """GET, or POST with a body; redirects are not followed. Raises Broken, Refused."""


class Questions:
    """Asks one endpoint's server; the key goes to that host only."""

    def __init__(self, target: Target, fetcher: Fetcher) -> None:
        """Raises Refused: the address is none, or its key would travel in clear text."""
        self.target = target
        self._fetcher = fetcher
        address = _checked(target)
        parts = urlsplit(address.url)
        self.host = parts.hostname or ""
        self._headers = address.headers
        scheme = _SCHEMES.get(parts.scheme, parts.scheme)
        self._parts = parts._replace(scheme=scheme, path=base_path(parts.path))

    async def get(
        self, path: str, query: str = "", headers: Mapping[str, str] | None = None
    ) -> Any:
        """What the API has at a path (``/models``). Raises Refused, Broken."""
        return await self._ask(self._parts.path + path, query, headers)

    async def get_beside(
        self, path: str, query: str = "", headers: Mapping[str, str] | None = None
    ) -> Any:
        """What the server has beside its API (``/api/ps``). Raises Refused, Broken."""
        return await self._ask(self._root() + path, query, headers)

    async def post_beside(self, path: str, body: Mapping[str, Any], deadline_s: float) -> Any:
        """The answer to a JSON object beside the API. Raises Refused, Broken."""
        data = msgspec.json.encode(body)
        return await self._send(self._address(self._root() + path, "", None), data, deadline_s)

    def _root(self) -> str:
        path = self._parts.path
        for tail in ("/openai", "/v1", "/openai/v1"):
            if path.endswith(tail):
                return path.removesuffix(tail)
        return path

    async def _ask(self, path: str, query: str, headers: Mapping[str, str] | None) -> Any:
        return await self._send(self._address(path, query, headers), None, DEADLINE_S)

    def _address(self, path: str, query: str, headers: Mapping[str, str] | None) -> Address:
        joined = "&".join(filter(None, (self._parts.query, query)))
        url = urlunsplit(self._parts._replace(path=path, query=joined))
        return Address(url, {**self._headers, **(headers or {})})

    async def _send(self, address: Address, body: bytes | None, deadline_s: float) -> Any:
        try:
            async with asyncio.timeout(deadline_s):
                fetched = await self._fetcher.fetch(address, body, MOST_BYTES)
        except TimeoutError:
            raise Broken(f"{self.host} did not answer within {deadline_s:.0f} s.") from None
        if not 200 <= fetched.status < 300:
            raise _refused(self.host, fetched.status, self.target.spec.key_env)
        try:
            return msgspec.json.decode(fetched.body)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            page = fetched.body.lstrip()[:1] == b"<"
            what = "a web page" if page else "something that is no JSON"
            words = f"{self.host} answered with {what}: is the url that of an endpoint?"
            raise Refused(502, "not_an_endpoint", words) from None


def base_path(path: str) -> str:
    """The path of the API that an endpoint's path belongs to, without a slash behind it."""
    path = path.rstrip("/")
    for tail in _BEHIND:
        path = path.removesuffix(tail)
    return path or "/v1"


def _checked(target: Target) -> Address:
    """The address with the headers that the kind sends."""
    try:
        if target.spec.kind == "anthropic":
            from tui.bridge.endpoints.anthropic.language import messages_address
            from tui.bridge.endpoints.anthropic.options import VERSION

            return messages_address(target.address, target.spec, {"anthropic-version": VERSION})
        checked(target.address)
    except EndpointError as error:
        raise Refused(400, "invalid_endpoint", str(error)) from error
    return target.address


def _refused(host: str, status: int, variable: str) -> Refused:
    """Why there is no list, in words."""
    if status in (401, 403):
        where = f"check {variable}" if variable else "name its variable in key_env"
        return Refused(status, "invalid_api_key", f"{host} refused the key: {where}.")
    if 300 <= status < 400:
        words = f"{host} redirects to another address: the key is not taken there."
        return Refused(400, "endpoint_redirects", words)
    return Refused(status, "no_models", f"{host} gives no list of its models (HTTP {status}).")

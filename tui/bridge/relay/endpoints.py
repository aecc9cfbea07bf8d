"""What the app says on the bridge's stdin: which endpoints there are, with their keys.

One JSON object a line: ``{"endpoints": {NAME: {"url": "https://HOST/v1/responses", "headers":
{...}}}}``. A later line adds to the earlier ones. Keys come this way because every process of this
user can read a command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, unquote

import msgspec

from tui.core.wire.address import Address, checked
from tui.errors import EndpointError

_BEFORE, _BEHIND = "/v1/endpoints/", "/responses"


class _Given(msgspec.Struct):
    url: str
    headers: dict[str, str] = {}


class _Line(msgspec.Struct):
    endpoints: dict[str, _Given] = {}


def read_endpoints(line: bytes) -> dict[str, Address]:
    """The endpoints that a line names, each with an ``http`` or ``https`` URL.

    Raises EndpointError: no such line, or an address that cannot be used. No key is in the text.
    """
    try:
        told = msgspec.json.decode(line, type=_Line).endpoints
    except (msgspec.DecodeError, UnicodeError):
        # Not the decoder's words: they may quote what the line holds.
        raise EndpointError("A line on the bridge's stdin is not understood.") from None
    return {name: http_address(Address(given.url, given.headers)) for name, given in told.items()}


def http_address(address: Address) -> Address:
    """The same endpoint for HTTP. Raises EndpointError as `core.wire.address.checked`."""
    url = checked(address).url
    return Address(f"http{url.removeprefix('ws')}", address.headers)


def path_of(name: str) -> str:
    """Where the bridge serves an endpoint."""
    return f"{_BEFORE}{quote(name, safe='')}{_BEHIND}"


def endpoint_at(path: str, endpoints: Mapping[str, Address]) -> Address | None:
    """The endpoint that is served at a path; None: there is none."""
    if not (path.startswith(_BEFORE) and path.endswith(_BEHIND)):
        return None
    return endpoints.get(unquote(path[len(_BEFORE) : -len(_BEHIND)]))

"""What the app says on the bridge's stdin: which endpoints there are.

One JSON object a line: ``{"endpoints": {NAME: SPEC}, "variables": {NAME: VALUE}}``, each endpoint
as `endpoints.base.EndpointSpec`. A later line adds to the earlier ones. Variables are as those of
the environment: they hold the endpoints' keys, and come this way because every process of this
user can read a command line and an environment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote, unquote, urlencode, urlsplit

import msgspec

from tui.bridge.endpoints.base import EndpointSpec, Target
from tui.core.wire.address import Address, guarded
from tui.errors import EndpointError

BASE = "/v1/"
_ENDPOINTS = "endpoints/"
RESPONSES, MODELS = "responses", "models"
"""What stands behind a base."""
KeyOf = Callable[[str, EndpointSpec], str]
"""The key of an endpoint, by its name; empty: it has none."""


class Told(msgspec.Struct):
    """What a line says."""

    endpoints: dict[str, EndpointSpec] = {}
    variables: dict[str, str] = {}

    def __repr__(self) -> str:
        # The variables hold keys.
        return f"Told({sorted(self.endpoints)})"


def read_told(line: bytes) -> Told:
    """The endpoints that a line names, with the variables that their keys are in.

    Raises EndpointError: no such line. No key is in the text.
    """
    try:
        return msgspec.json.decode(line, type=Told)
    except (msgspec.DecodeError, UnicodeError):
        # Not the decoder's words: they may quote what the line holds.
        raise EndpointError("A line on the bridge's stdin is not understood.") from None


def target(name: str, spec: EndpointSpec, key: str) -> Target:
    """An endpoint with its key: as a bearer token in Authorization, bare in any other header.

    Raises EndpointError: that is no address, or the key would travel in clear text.
    """
    headers = dict(spec.headers)
    if key:
        bearer = spec.key_header.lower() == "authorization"
        headers[spec.key_header] = f"Bearer {key}" if bearer else key
    url = spec.url
    if spec.query:
        joint = "&" if urlsplit(url).query else "?"
        url += joint + urlencode(spec.query)
    return Target(name, spec, guarded(Address(url, headers)))


def path_of(name: str) -> str:
    """Where the bridge serves an endpoint."""
    return f"{BASE}{_ENDPOINTS}{quote(name, safe='')}/{RESPONSES}"


class Place(NamedTuple):
    """What a path means: an endpoint, or all of them (None), and what is wanted of it."""

    endpoint: str | None
    wanted: str


def place_at(path: str) -> Place | None:
    """Read a path, with or without a query; None: it is below no base."""
    path = path.partition("?")[0]
    if not path.startswith(BASE):
        return None
    below = path[len(BASE) :]
    if not below.startswith(_ENDPOINTS):
        return Place(None, below)
    name, _, wanted = below[len(_ENDPOINTS) :].partition("/")
    return Place(unquote(name), wanted)

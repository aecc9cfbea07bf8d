"""Which endpoints the app names on the bridge's stdin, at which paths they are, and their keys.

One JSON object a line: ``{"endpoints": {NAME: SPEC}, "variables": {NAME: VALUE}}``, each endpoint
as `endpoints.base.EndpointSpec`. A later line adds to the earlier ones. Variables are as those of
the environment: they hold the endpoints' keys, and come this way because every process of this
user can read a command line and an environment. A key that is in none of them is looked for in the
system's keyring, under the service ``duetto`` and the endpoint's or its provider's name; that
library is loaded then, never before.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlencode, urlsplit

import msgspec

from tui.bridge.endpoints.base import EndpointSpec, Target
from tui.core.typed_data import from_json
from tui.core.wire.address import Address, guarded
from tui.errors import EndpointError, UsageError

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

BASE = "/v1/"
_ENDPOINTS = "endpoints/"
RESPONSES, MODELS = "responses", "models"
"""What stands behind a base."""


class EndpointLine(msgspec.Struct):
    """What a line says."""

    endpoints: dict[str, EndpointSpec] = {}
    variables: dict[str, str] = {}

    def __repr__(self) -> str:
        # The variables hold keys.
        return f"Told({sorted(self.endpoints)})"


def read_endpoint_line(line: bytes) -> EndpointLine:
    """The endpoints that a line names, with the variables that their keys are in.

    Raises EndpointError: no such line. No key is in the text.
    """
    try:
        return from_json(line, EndpointLine)
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


class RequestPath(NamedTuple):
    """What a path means: an endpoint, or all of them (None), and what is wanted of it."""

    endpoint: str | None
    wanted: str


def parse_path(path: str) -> RequestPath | None:
    """Read a path, with or without a query; None: it is below no base.

    It may be a whole address, as one is sent to proxies: a server takes that, too (RFC 9112).
    """
    if path.startswith(("http://", "https://")):
        path = "/" + path.partition("://")[2].partition("/")[2]
    path = path.partition("?")[0]
    if not path.startswith(BASE):
        return None
    below = path[len(BASE) :]
    if not below.startswith(_ENDPOINTS):
        return RequestPath(None, below)
    name, _, wanted = below[len(_ENDPOINTS) :].partition("/")
    return RequestPath(unquote(name), wanted)


SERVICE = "duetto"
PATIENCE_S = 60.0
"""The system may ask the user to unlock the keyring."""
LOOK_S = 4.0
"""Who only looks for a key waits so long: nobody may be there to unlock it."""
T = TypeVar("T")


def key_of(name: str, spec: EndpointSpec, environment: Mapping[str, str]) -> str:
    """The key of an endpoint; empty: it wants none, or there is none."""
    if not spec.key_env:
        return ""
    return environment.get(spec.key_env, "").strip() or stored_key((name, spec.provider))


def stored_key(users: tuple[str, ...], patience_s: float = LOOK_S) -> str:
    """The first key that the keyring has under one of these names; empty: none. Never raises."""

    def look() -> str:
        import keyring

        found = (keyring.get_password(SERVICE, user) for user in users if user)
        return next((key.strip() for key in found if key and key.strip()), "")

    with contextlib.suppress(UsageError):
        return _patiently(look, patience_s)
    return ""


def keyring_title() -> str:
    """The keyring of this system as its users know it; empty: there is none. Never raises."""

    def look() -> str:
        return _backend().name

    with contextlib.suppress(UsageError):
        return _patiently(look, LOOK_S)
    return ""


class NoKeyringError(Exception):
    """As keyring's own one: what there is keeps keys in a file that everybody can read."""


def _backend() -> KeyringBackend:
    """Where keys are kept; never in a plain file. Raises NoKeyringError."""
    import keyring

    chosen = keyring.get_keyring()
    # of several the first one that can takes the key
    first = next(iter(getattr(chosen, "backends", ())), chosen)
    if first.priority <= 0 or "plaintext" in type(first).__name__.lower():
        raise NoKeyringError
    return chosen


def store(user: str, key: str) -> None:
    """Put a key into the keyring. Raises UsageError: there is none, or it is locked."""

    def put() -> None:
        _backend().set_password(SERVICE, user, key)

    _patiently(put, PATIENCE_S)


def remove(user: str) -> bool:
    """Take a key out of the keyring; False: it was not there. Raises UsageError."""

    def take() -> bool:
        import keyring

        if keyring.get_password(SERVICE, user) is None:
            return False
        keyring.delete_password(SERVICE, user)
        return True

    return _patiently(take, PATIENCE_S)


def _patiently(work: Callable[[], T], patience_s: float) -> T:
    """Do it in a thread and wait so long. Raises UsageError: it cannot be done.

    The backends raise what they like; their words are not repeated, they may quote an entry.
    """
    ended: list[T | BaseException] = []

    async def said() -> tuple[T | BaseException]:
        async def tried() -> T:
            return work()

        # not an except: which errors there are depends on the backend
        return await asyncio.gather(tried(), return_exceptions=True)

    thread = threading.Thread(
        target=lambda: ended.extend(asyncio.run(said())), daemon=True, name="keyring"
    )
    thread.start()
    thread.join(patience_s)
    if not ended:
        raise UsageError("the system's keyring does not answer: unlock it, then try again")
    end = ended[0]
    if not isinstance(end, BaseException):
        return end
    name = type(end).__name__
    if name in ("NoKeyringError", "InitError", "ModuleNotFoundError"):
        raise UsageError(
            "this system has no keyring that could be used: set the provider's environment "
            "variable instead (duetto doctor names it)"
        )
    raise UsageError(f"the system's keyring refused ({name}): is it unlocked?")

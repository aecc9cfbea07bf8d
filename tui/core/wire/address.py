"""Where an endpoint is, whether a key may travel there, by which proxy, and whom to trust.

One rule for the WebSocket and for HTTP. ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` replace the system's
authorities, as OpenSSL has it (a default context reads them by itself). The certificates of
``REQUESTS_CA_BUNDLE`` and ``NODE_EXTRA_CA_CERTS`` are added: whoever sits behind a company's proxy
has set one of them for other tools already.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, urljoin, urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from tui.core.wire.masking import is_secret_name
from tui.errors import EndpointError

if TYPE_CHECKING:
    import ssl

_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
_SOCKETS = ("ws", "wss")
_ENDPOINT = "/responses"
_SURE_CHARS = 12
"""A header's value that is as long may be a key, whatever the header's name says."""


class Address(Struct, frozen=True):
    """A Responses WebSocket endpoint and the headers of its upgrade request."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    compression: bool | None = None
    """permessage-deflate; None: as the connection thinks best (beyond this machine only)."""

    def __repr__(self) -> str:
        # Headers hold keys; a traceback or a log line must not.
        return f"Address({shown(self.url)!r})"


def checked(address: Address) -> Address:
    """The address as it can be dialled: with a ``ws`` or ``wss`` URL.

    A base URL (``https://HOST/v1``) is completed as PROTOCOL section 1 says. A WebSocket's URL is
    taken as it is, unless it plainly is a base: without a path, or ending in ``/v1``.

    Raises EndpointError if it is no such URL, if a header cannot be sent, or if a key would
    travel in clear text beyond this machine.
    """
    parts = _split(address.url)
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname:
        raise EndpointError(
            f"{shown(address.url)} is not a server's address: use https://HOST/v1 or "
            "wss://HOST/v1/responses, or http://127.0.0.1:PORT/v1 for a server on this machine."
        )
    _guard(parts, address.headers, ("wss", "ws"))
    completed = parts._replace(scheme=scheme, path=_completed(parts))
    return replace(address, url=completed.geturl())


def guarded(address: Address) -> Address:
    """The address of an HTTP endpoint as it is, if it may be asked.

    Raises EndpointError as `checked` does.
    """
    parts = _split(address.url)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise EndpointError(
            f"{shown(address.url)} is not an endpoint's address: use https://HOST/v1, or "
            "http://127.0.0.1:PORT/v1 for a server on this machine."
        )
    _guard(parts, address.headers, ("wss", "ws") if parts.scheme in _SOCKETS else ("https", "http"))
    return address


def secrets_in(address: Address) -> list[str]:
    """What of an address nobody may repeat: keys in headers and in the query, a password.

    What is short and has a harmless name (``X-Team: blue``, ``api-version=preview``) is a word.
    """
    found: list[str] = []
    for name, value in address.headers.items():
        if is_secret_name(name) or len(value) >= _SURE_CHARS:
            found += [value.removeprefix("Bearer "), value.rpartition(" ")[2]]
    try:
        parts = urlsplit(address.url)
    except ValueError:
        return found
    for name, value in parse_qsl(parts.query):
        if is_secret_name(name):
            found.append(value)
    return [secret for secret in [*found, parts.password or ""] if secret]


def is_loopback(host: str) -> bool:
    """Whether this host can only be this machine."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        number = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = number.ipv4_mapped if isinstance(number, ipaddress.IPv6Address) else None
    return (mapped or number).is_loopback


def shown(url: str) -> str:
    """The URL for a screen or a log: without user, password and query."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the address"
    host = f"[{host}]" if ":" in host else host
    if not parts.netloc and "@" in parts.path:
        return "the address"
    place = f"://{host}{port}" if parts.netloc or not parts.path else ":"
    text = f"{parts.scheme}{place}{parts.path}" if parts.scheme else parts.path
    return "".join(char if char.isprintable() else "?" for char in text)


def redirect_shown(url: str, location: str | None) -> str:
    """Where a redirect from ``url`` leads, in words for a screen."""
    if not location:
        return "another address"
    try:
        return shown(urljoin(url, location))
    except ValueError:
        return "an address that is not valid"


def _guard(parts: SplitResult, headers: Mapping[str, str], schemes: tuple[str, str]) -> None:
    """Raises EndpointError: a header cannot be sent, or a key would be seen on its way.

    ``schemes`` is what to use instead of what.
    """
    for name, value in headers.items():
        if not value.isprintable() or not value.isascii() or not name.isascii():
            raise EndpointError(
                f"The header {name!r} for {parts.hostname} holds a line break or a character that "
                "cannot be sent: check the key (was it copied whole, on one line?)."
            )
    clear = parts.scheme in ("ws", "http") and not is_loopback(parts.hostname or "")
    if clear and _holds_secret(parts, headers):
        raise EndpointError(
            f"The key for {parts.hostname} would travel in clear text: use {schemes[0]}:// instead "
            f"of {schemes[1]}://, or remove the key."
        )


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        # Reading the port is what checks it.
        if not re.search(r"[\s\x00-\x1f]", parts.hostname or ""):
            return parts if parts.port != 0 else parts._replace(scheme="")
    except ValueError:
        pass  # whose words quote what may be half a password
    raise EndpointError(f"{shown(url)} is not a valid address: use https://HOST/v1.")


def _completed(parts: SplitResult) -> str:
    """The path with ``/responses`` behind it, if it is that of a base URL."""
    path = parts.path.rstrip("/")
    if parts.scheme in _SOCKETS and path and not path.endswith("/v1"):
        return parts.path
    return path if path.endswith(_ENDPOINT) else path + _ENDPOINT


def _holds_secret(parts: SplitResult, headers: Mapping[str, str]) -> bool:
    names = [*headers, *(name for name, _ in parse_qsl(parts.query))]
    return (
        any(map(is_secret_name, names)) or parts.password is not None or parts.username is not None
    )


_ORDERS = {
    "wss": ("wss", "socks", "https", "all"),
    "https": ("wss", "socks", "https", "all"),
    "ws": ("ws", "socks", "https", "http", "all"),
    "http": ("ws", "socks", "http", "all"),
}
"""RFC 6455, 4.1: a WebSocket goes by the proxy for HTTPS, for its tunnel goes anywhere."""


def chosen_proxy(url: str, proxies: Mapping[str, str]) -> str:
    """The proxy for a URL, with its scheme; empty: none.

    ``proxies`` are as `urllib.request.getproxies` gives them. Whether the host is one that needs
    no proxy at all is the caller's question.
    """
    for kind in _ORDERS.get(urlsplit(url).scheme, ()):
        proxy = proxies.get(kind)
        if proxy and "://" not in proxy:
            proxy = f"http://{proxy}"
        if proxy:
            # The settings of some systems give a SOCKS proxy the scheme of any other.
            plain = kind == "socks" and proxy.startswith("http://")
            return f"socks5h://{proxy.removeprefix('http://')}" if plain else proxy
    return ""


def spares_proxy(host: str, proxies: Mapping[str, str]) -> bool:
    """Whether ``NO_PROXY`` names a host in a form that `urllib.request.proxy_bypass` knows not.

    Those are networks (``10.0.0.0/8``), addresses of IPv6 and ``*.example.org``, as curl and Go
    take them.
    """
    named = [entry.strip().lower() for entry in proxies.get("no", "").split(",")]
    if any(entry.startswith("*.") and host.lower().endswith(entry[1:]) for entry in named):
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return any(address in network for network in map(_network, named) if network is not None)


def _network(entry: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return None


def is_socks(proxy: str) -> bool:
    """Whether it is a SOCKS proxy."""
    return proxy.lower().startswith("socks")


REPLACING = ("SSL_CERT_FILE", "SSL_CERT_DIR")
ADDING = ("REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
AUTHORITY_VARIABLES = (*REPLACING, *ADDING)


def trust_added_authorities(context: ssl.SSLContext, environment: Mapping[str, str]) -> None:
    """Have a context, made with the system's authorities, trust the added ones too.

    A file that cannot be read is another tool's: `authorities_advice` tells of it if it was needed.
    """
    for path in filter(None, (environment.get(name) for name in ADDING)):
        try:
            context.load_verify_locations(path)
        except OSError:  # of which `ssl.SSLError` is one
            with suppress(OSError):
                context.load_verify_locations(capath=path)


def authorities_advice(environment: Mapping[str, str], readable: Callable[[str], bool]) -> str:
    """What to do about a certificate that is not trusted, as the end of a sentence."""
    wrong = [
        f"{name} names {path}, which cannot be read"
        for name in AUTHORITY_VARIABLES
        if (path := environment.get(name, "")) and not readable(path)
    ]
    return f"{'; '.join(wrong)}." if wrong else "for a private authority set SSL_CERT_FILE."

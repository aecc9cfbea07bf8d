"""Which proxy of the environment leads to a server: one rule for the WebSocket and for HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

_ORDERS = {
    "wss": ("wss", "socks", "https", "all"),
    "https": ("wss", "socks", "https", "all"),
    "ws": ("ws", "socks", "https", "http", "all"),
    "http": ("ws", "socks", "http", "all"),
}
"""RFC 6455, 4.1: a WebSocket goes by the proxy for HTTPS, for its tunnel goes anywhere."""
NO_SOCKS = (
    "The system's proxy is a SOCKS proxy. A WebSocket goes through one only with the package "
    "python-socks (install python-socks[asyncio]), HTTP+SSE not at all: set HTTPS_PROXY to an "
    "HTTP proxy."
)
"""Said whichever of the two did not go through."""


def chosen(url: str, proxies: Mapping[str, str]) -> str:
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


def is_socks(proxy: str) -> bool:
    """Whether it is a SOCKS proxy."""
    return proxy.lower().startswith("socks")

"""Which proxy of the environment leads to a server: one rule for the WebSocket and for HTTP."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

_ORDERS = {
    "wss": ("wss", "socks", "https", "all"),
    "https": ("wss", "socks", "https", "all"),
    "ws": ("ws", "socks", "https", "http", "all"),
    "http": ("ws", "socks", "http", "all"),
}
"""RFC 6455, 4.1: a WebSocket goes by the proxy for HTTPS, for its tunnel goes anywhere."""


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


def spared(host: str, proxies: Mapping[str, str]) -> bool:
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

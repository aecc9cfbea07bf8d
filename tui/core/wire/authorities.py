"""Which authorities a TLS connection trusts: one rule for the WebSocket and for HTTP.

``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` replace the system's, as OpenSSL has it (a default context
reads them by itself). The certificates of ``REQUESTS_CA_BUNDLE`` and ``NODE_EXTRA_CA_CERTS`` are
added: whoever sits behind a company's proxy has set one of them for other tools already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

REPLACING = ("SSL_CERT_FILE", "SSL_CERT_DIR")
ADDING = ("REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
NAMES = (*REPLACING, *ADDING)


class _Context(Protocol):
    """What of `ssl.SSLContext` is needed here."""

    def load_verify_locations(self, cafile: str | None = None, capath: str | None = None) -> None:
        """Trust the certificates of a file, or of a folder as OpenSSL lays it out."""


def add_to(context: _Context, environment: Mapping[str, str]) -> None:
    """Have a context, made with the system's authorities, trust the added ones too.

    A file that cannot be read is another tool's: `advice` tells of it if it was needed.
    """
    for path in filter(None, (environment.get(name) for name in ADDING)):
        try:
            context.load_verify_locations(path)
        except OSError:  # of which `ssl.SSLError` is one
            _add_folder(context, path)


def advice(environment: Mapping[str, str], readable: Callable[[str], bool]) -> str:
    """What to do about a certificate that is not trusted, as the end of a sentence."""
    wrong = [
        f"{name} names {path}, which cannot be read"
        for name in NAMES
        if (path := environment.get(name, "")) and not readable(path)
    ]
    return f"{'; '.join(wrong)}." if wrong else "for a private authority set SSL_CERT_FILE."


def _add_folder(context: _Context, path: str) -> None:
    try:
        context.load_verify_locations(capath=path)
    except OSError:
        return

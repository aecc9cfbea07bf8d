"""Which authorities a TLS connection trusts: the system's, and those named in the environment.

``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` replace the system's, as OpenSSL has it. The certificates of
``REQUESTS_CA_BUNDLE`` and ``NODE_EXTRA_CA_CERTS`` are added: whoever sits behind a company's proxy
has set one of them for other tools already.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from functools import cache

REPLACING = ("SSL_CERT_FILE", "SSL_CERT_DIR")
ADDING = ("REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")


async def context() -> ssl.SSLContext:
    """The TLS settings of a client; made once per environment, in a thread (it takes 30 ms)."""
    named = tuple(os.environ.get(name, "") for name in (*REPLACING, *ADDING))
    return await asyncio.to_thread(_context, named)


def unreadable() -> str:
    """The variables that name a file or folder that is not there, in words; else empty."""
    wrong = [
        f"{name} names {path}, which cannot be read"
        for name in (*REPLACING, *ADDING)
        if (path := os.environ.get(name, "")) and not os.access(path, os.R_OK)
    ]
    return "; ".join(wrong)


@cache
def _context(named: tuple[str, ...]) -> ssl.SSLContext:
    made = ssl.create_default_context()
    for path in named[len(REPLACING) :]:
        if path:
            try:
                made.load_verify_locations(path)
            except (OSError, ssl.SSLError):
                continue  # another tool's; `unreadable` tells if the certificate is not trusted
    return made

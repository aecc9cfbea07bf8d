"""The TLS settings of a client; which authorities it trusts is `core.wire.authorities`'s rule."""

from __future__ import annotations

import asyncio
import os
import ssl
from functools import cache

from tui.core.wire.address import AUTHORITY_VARIABLES, authorities_advice, trust_added_authorities


async def context() -> ssl.SSLContext:
    """The TLS settings of a client; made once per environment, in a thread (it takes 30 ms)."""
    return await asyncio.to_thread(
        _context, tuple(os.environ.get(name, "") for name in AUTHORITY_VARIABLES)
    )


def to_do() -> str:
    """What to do about a certificate that is not trusted, as the end of a sentence."""
    return authorities_advice(os.environ, lambda path: os.access(path, os.R_OK))


@cache
def _context(named: tuple[str, ...]) -> ssl.SSLContext:
    made = ssl.create_default_context()
    trust_added_authorities(made, dict(zip(AUTHORITY_VARIABLES, named, strict=True)))
    return made

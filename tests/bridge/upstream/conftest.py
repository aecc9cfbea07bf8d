"""The client of providers, and an authority that it trusts."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trustme

from tui.bridge.upstream.client import Upstream


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    made = Upstream()
    yield made
    await made.close()


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    made = trustme.CA()
    made.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return made


@pytest.fixture
def tls(authority: trustme.CA) -> ssl.SSLContext:
    """Of a server at 127.0.0.1, which is far.example.test too."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1", "far.example.test").configure_cert(context)
    return context

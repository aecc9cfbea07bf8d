"""Certificates for loopback, made anew for every run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tui.errors import DuettoError


@dataclass(frozen=True, slots=True)
class Certificates:
    """Two PEM files."""

    authority: Path
    """What a client trusts."""
    server: Path
    """Certificate and key of the server."""


def make(folder: Path) -> Certificates:
    """Write them into a folder that only the user can read. Raises DuettoError: no trustme."""
    try:
        import trustme
    except ImportError:
        raise DuettoError(
            "The benchmark makes its certificates with trustme, which is not installed: "
            "pip install trustme."
        ) from None
    files = Certificates(folder / "authority.pem", folder / "server.pem")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(files.authority))
    pair = authority.issue_cert("localhost", "127.0.0.1")
    pair.private_key_and_cert_chain_pem.write_to_path(str(files.server))
    return files

"""A keyring for real programs under test: ``PYTHON_KEYRING_BACKEND`` names it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend


class FileKeyring(KeyringBackend):
    """Keeps its entries in the file that ``TEST_KEYRING`` names, so that a test can look."""

    priority = 1
    name = "the test's keyring"

    def get_password(self, service: str, username: str) -> str | None:
        return self._entries().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        _file().write_text(json.dumps({**self._entries(), f"{service} {username}": password}))

    def delete_password(self, service: str, username: str) -> None:
        entries = self._entries()
        del entries[f"{service} {username}"]
        _file().write_text(json.dumps(entries))

    def _entries(self) -> dict[str, str]:
        return dict(json.loads(_file().read_text())) if _file().exists() else {}


def _file() -> Path:
    return Path(os.environ["TEST_KEYRING"])

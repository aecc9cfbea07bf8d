"""Logging as it was, a keyring in memory, `duetto apply` within the process."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend

from tests.support.apply_runs import Apply, runner
from tui.settings import Paths


@pytest.fixture(autouse=True)
def logger() -> Iterator[logging.Logger]:
    """Ours, without the handlers of other tests; it and asyncio's as before afterwards."""
    ours, loop = logging.getLogger("tui"), logging.getLogger("asyncio")
    before = [(log, log.handlers, log.propagate, log.level) for log in (ours, loop)]
    ours.handlers = []
    yield ours
    for handler in ours.handlers:
        with contextlib.suppress(OSError):
            handler.close()
    for log, handlers, propagate, level in before:
        log.handlers, log.propagate, log.level = handlers, propagate, level


class Memory(KeyringBackend):
    """A keyring in a dict."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[tuple[str, str], str] = {}
        self.looks = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.looks += 1
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


@pytest.fixture
def ring() -> Iterator[Memory]:
    before, ring = keyring.get_keyring(), Memory()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths.find({"DUETTO_HOME": str(tmp_path)})


@pytest.fixture
def apply(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Apply:
    return runner(capfd, monkeypatch, tmp_path / "home")

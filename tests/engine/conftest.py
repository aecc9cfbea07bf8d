from __future__ import annotations

import pytest

from tests.support.fakes import World
from tui.engine import recovery


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between tries."""
    monkeypatch.setattr(recovery, "FIRST_WAIT_S", 0.0)


@pytest.fixture
async def world() -> World:
    """A session in a workspace without files."""
    return World()

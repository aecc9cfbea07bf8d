from __future__ import annotations

import pytest

from tests.support.fakes import World
from tui.engine import recovery, verification


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine changes nothing of what runs."""
    monkeypatch.setattr(verification, "_PLAN_S", 60.0)


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between tries."""
    monkeypatch.setattr(recovery, "FIRST_WAIT_S", 0.0)


@pytest.fixture
async def world() -> World:
    """A session in a workspace without files."""
    return World()

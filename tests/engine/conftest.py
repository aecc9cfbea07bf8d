from __future__ import annotations

import pytest

from tui.engine import recovery


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between tries."""
    monkeypatch.setattr(recovery, "FIRST_WAIT_S", 0.0)

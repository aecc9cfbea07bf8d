"""What tests of the screen begin with."""

from __future__ import annotations

import importlib

import pytest

from tests.support.scripted_session import ScriptedSession
from tui.ui.editor import cursor, editing

importlib.import_module("tests.support.scripted_app")  # with it pilots wait until all is painted


@pytest.fixture(autouse=True)
def any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a busy one nor its terminal changes anything of what is typed, clicked and seen."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(editing, "PAUSE_S", 60.0)
    monkeypatch.setattr(cursor, "DOUBLE_CLICK_S", 60.0)


@pytest.fixture
def session() -> ScriptedSession:
    """An empty conversation."""
    return ScriptedSession()

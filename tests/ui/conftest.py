"""What tests of the screen begin with."""

from __future__ import annotations

import pytest

from tests.support.scripted_session import ScriptedSession


@pytest.fixture
def session() -> ScriptedSession:
    """An empty conversation."""
    return ScriptedSession()

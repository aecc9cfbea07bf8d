"""A model that changes what judges it, or serves only the test, with the real pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cheats import CHEATS, JUDGED, NO_RESULT, SERVES_ONLY_IT, cheated
from tui.core.document.hunk import JUDGES, SPECIAL

pytestmark = pytest.mark.slow
SOME = (
    "empties its cases",
    "runs before pytest",
    "has a plugin for it",
    "exits in the code",
    "exits when it is called",
    "skips in the code",
    "returns what is expected",
    "forges the report",
)
"""One of each way; ``python -m tests.benchmarks verify`` plays all, ten times each."""


@pytest.mark.parametrize("how", SOME)
async def test_it_is_caught(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    caught = await cheated(tmp_path / "work", CHEATS[how])
    assert caught.surely, caught
    if how in JUDGED:
        assert JUDGES in caught.flags
    if how in JUDGED or how in NO_RESULT:
        assert not caught.ended.startswith("fixed")
    if how in SERVES_ONLY_IT:
        assert any(flag.startswith(SPECIAL) for flag in caught.flags)

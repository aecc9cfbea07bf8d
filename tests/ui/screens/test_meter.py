"""``/meter`` says what each figure of the status line is now, and what it means."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.meter import MeterView
from tui.engine.notices import Status
from tui.ui.meter_report import EXPLAINED, meter_report
from tui.ui.screens.meter import MeterScreen
from tui.ui.widgets.line_fields import DEFAULT, FIELDS
from tui.ui.widgets.standing import Scene

DOCS = Path(__file__).parents[3] / "docs" / "meter.md"


def test_every_field_is_explained_here_and_in_the_docs() -> None:
    assert set(EXPLAINED) == set(FIELDS)
    docs = DOCS.read_text()
    for name, words in EXPLAINED.items():
        assert f"| `{{{name}}}` | {words} |" in docs, name
    assert DEFAULT in docs


@pytest.mark.parametrize("width", [32, 76])
def test_what_was_not_measured_is_not_said(width: int) -> None:
    shown = meter_report(Scene(Status(), MeterView(), 0), width).plain
    assert "  ttft          nothing now\n" in shown
    assert all(len(row) <= width for row in shown.splitlines())


async def test_it_is_live_and_can_be_left() -> None:
    session = ScriptedSession()
    session.measured(512, 0.5)
    async with running(session, (80, 24)) as (app, pilot):
        app.bench.run_slash("/meter")
        await settled(session, pilot)
        screen = app.screen
        assert isinstance(screen, MeterScreen)
        shown = str(screen.query_one("#status-report", Static).content)
        assert "ttft          84 ms" in shown
        assert "ghost         5%, 9.7 s behind" in shown
        await pilot.press("escape")
        assert app.screen is app.bench

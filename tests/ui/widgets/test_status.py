"""The status line in the app: what it shows follows the session, and the clock where it must."""

from __future__ import annotations

import pytest

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.wire.limits import PAUSE, Limit
from tui.ui.app import DuettoApp
from tui.ui.widgets.line_fields import template_of


def line(app: DuettoApp) -> str:
    return app.bench.status_line.render_line(0).text


async def test_a_limit_counts_down_while_nothing_else_happens_and_then_all_is_still() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        bar = app.bench.status_line
        assert not bar._counts(), "nothing in it goes on by itself"
        session.status.limits = (Limit("requests", 2, 60, session.now_s + 42),)
        await settled(session, pilot)
        assert "2 of 60 requests left, 42 s" in line(app)
        session.now_s += 30
        bar._look()
        assert "2 of 60 requests left, 12 s" in line(app)
        assert bar._counts()
        session.now_s += 12
        bar._look()
        assert "requests" not in line(app)
        assert not bar._counts()


async def test_a_server_that_asks_to_wait_is_told_at_any_width() -> None:
    session = ScriptedSession()
    session.status.limits = (Limit(PAUSE, 0, None, session.now_s + 3600),)
    async with running(session, (120, 36)) as (app, _):
        assert "the server asks to wait 60 min" in line(app)
    async with running(session, (41, 12)) as (app, _):
        assert "wait 60 min" in line(app)


async def test_another_model_than_was_asked_is_told_where_there_is_room_for_little() -> None:
    session = ScriptedSession()
    session.measured(512, 0.5)
    session.status.served_model = "rehearsal-deep"
    async with running(session, (41, 20)) as (app, _):
        assert "↪ rehearsal-deep" in line(app)
    async with running(session, (80, 24)) as (app, pilot):
        assert "rehearsal-fast → rehearsal-deep" in line(app)
        session.status.served_model = "rehearsal-fast-2026-11-01"
        await settled(session, pilot)
        assert "→" not in line(app), "a dated name of the same model is the same"


@pytest.mark.parametrize("width", [40, 80, 200])
async def test_a_line_of_ones_own_is_followed_at_once(width: int) -> None:
    session = ScriptedSession()
    async with running(session, (width, 24)) as (app, _):
        app.bench.status_line.follow(template_of("{workspace} {branch}{fill}{clock}")[0])
        shown = line(app)
        assert shown.startswith(" ledger main*")
        assert shown[-6:].strip().count(":") == 1
        assert len(shown) == width
        assert app.bench.status_line._counts(), "the time goes on"

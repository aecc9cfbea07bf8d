from __future__ import annotations

import pytest

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.ui.app import DuettoApp
from tui.ui.widgets.bar import Bar


def row(app: DuettoApp, name: str) -> str:
    return app.bench.query_one(f"#{name}", Bar).render_line(0).text


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50), (41, 12)])
async def test_bars_are_exactly_one_row(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session, size) as (app, _):
        for name in ("header", "status", "keys", "hint"):
            bar = app.bench.query_one(f"#{name}", Bar)
            assert bar.render_line(0).cell_length == bar.size.width


async def test_the_header_lights_who_answers_and_says_rehearsal() -> None:
    session = ScriptedSession()
    session.status.rehearsal = True
    async with running(session) as (app, pilot):
        shown = row(app, "header")
        for part in (
            "duetto",
            "ledger/",
            "main*",
            "REHEARSAL",
            "fast rehearsal-fast · low",
            "deep rehearsal-deep",
        ):
            assert part in shown, part
        assert "▸ ↯ fast" in shown
        assert "▸ ◆" not in shown
        await pilot.press("f2")
        await settled(session, pilot)
        shown = row(app, "header")
        assert "▸ ◆ deep" in shown
        assert "▸ ↯" not in shown
    async with running(session, (80, 24)) as (app, _):
        assert "deep rehearsal-deep" in row(app, "header")
        assert "fast" not in row(app, "header")


async def test_both_models_of_the_rehearsal_stand_in_eighty_columns() -> None:
    session = ScriptedSession()
    session.status.rehearsal = True
    session.status.efforts.clear()
    async with running(session, (80, 24)) as (app, _):
        shown = row(app, "header")
        assert "REHEARSAL  ▸ ↯ fast rehearsal-fast  ◆ deep rehearsal-deep" in shown
        assert "ledger/" in shown


async def test_who_answers_is_said_in_forty_columns_too() -> None:
    session = ScriptedSession()
    session.status.rehearsal = True
    async with running(session, (40, 20)) as (app, pilot):
        assert row(app, "header").rstrip().endswith("REHEARSAL  ▸ ↯ fast")
        await pilot.press("f2")
        await settled(session, pilot)
        shown = row(app, "header")
        assert shown.rstrip().endswith("REHEARSAL  ▸ ◆ deep")
        assert "ledger/" in shown


async def test_auto_accept_is_said_as_long_as_it_is_on() -> None:
    session = ScriptedSession()
    async with running(session, (80, 24)) as (app, pilot):
        assert "AUTO" not in row(app, "header")
        for on, said in ((True, "AUTO-ACCEPT"), (False, "duetto")):
            session.status.auto_accept = on
            session.changed()
            await settled(session, pilot)
            assert said in row(app, "header")
        assert "AUTO" not in row(app, "header")


async def test_the_status_line_says_how_it_ended() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.status.stopped = "stopped after 512 tokens, 3 ms"
        session.status.verdict = "failed"
        await settled(session, pilot)
        assert "■ stopped after 512 tokens, 3 ms" in row(app, "status")
        assert "✗ tests failed" in row(app, "status")
        session.status.connection = "lost"
        session.status.running = "pytest -q"
        await settled(session, pilot)
        assert "○ connection lost" in row(app, "status")
        assert "$ pytest -q …" in row(app, "status")


async def test_the_footer_follows_the_state_and_the_focus() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        assert "Esc stop" not in row(app, "keys")
        session.status.busy = True
        session.say("patch", speaker="fast")
        session.hunk(Stage.LANDED, 3)
        await settled(session, pilot)
        assert "Esc stop" in row(app, "keys")
        assert "Alt+A accept all" in row(app, "keys")
        await pilot.press("alt+j")
        assert row(app, "keys").startswith(" Esc stop  a accept  r reject")
        session.open("ledger/cache.py")
        await settled(session, pilot)
        await pilot.press("f6")
        assert "Ctrl+Z undo" in row(app, "keys")


@pytest.mark.parametrize(
    ("draft", "label"),
    [
        ("", "send"),
        ("words", "send"),
        ("/fa", "run  /fast"),
        ("/nonsense", "run  unknown command"),
        ("!ls", "run  as a command"),
        ("see @cac", "send"),
    ],
)
async def test_the_label_says_what_enter_does(draft: str, label: str) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        app.bench.prompt_box.prompt.restore(draft)
        await pilot.pause()
        assert label in row(app, "hint")


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
@pytest.mark.parametrize("busy", [False, True])
async def test_the_footer_names_the_help_where_other_keys_need_the_room_too(
    size: tuple[int, int], busy: bool
) -> None:
    session = ScriptedSession()
    exercise(session)
    session.status.busy = busy
    async with running(session, size) as (app, pilot):
        for pane in ("conversation", "editor"):
            app.bench.action_pane("conversation" if pane == "conversation" else "editor")
            app.bench.action_pane("conversation" if pane == "conversation" else "editor")
            await pilot.pause()
            shown = row(app, "keys")
            assert busy or "F1 help" in shown
            assert len(shown) == size[0]
            assert ("Esc stop" in shown) is busy

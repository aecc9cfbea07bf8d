"""What `/status`, `/meter` and the help say."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.snapshots.rooms.status_line import connected
from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tests.support.tables import each
from tui.core.wire.endpoint_facts import SocketView
from tui.engine.notices import Status
from tui.engine.ports import Abilities
from tui.ui.app import DuettoApp
from tui.ui.screens.help import HelpScreen, help_content
from tui.ui.screens.status import EXPLAINED, MeterScreen, status_report
from tui.ui.widgets.line_template import DEFAULT, FIELDS


def text(app: DuettoApp) -> str:
    return str(app.screen.query_one("#status-report", Static).content)


async def asked(pilot: Pilot[int]) -> None:
    """Type the command."""
    await pilot.press(*"/status", "enter")
    await pilot.pause()
    await pilot.pause()


async def test_it_shows_the_figures_and_esc_closes_it() -> None:
    session = connected()
    session.can = Abilities(steer=True, interrupt=False)
    async with running(session, (80, 24)) as (app, pilot):
        await asked(pilot)
        shown = text(app)
        for words in (
            "12 min       1 ms   1.2 MB  34.1 kB",
            "main busy, deep",
            "12 requests, 11 with the new items only · 1 reconnect",
            "127.0.0.1:41873/v1/responses",
            "◐ retiring HTTP",
            "1 request, 0 with the new items only · 0 reconnects",
            "why    the server refused the WebSocket",
        ):
            assert words in shown, words
        assert "steer      ✓ yes" in shown
        assert "interrupt  ✗ no" in shown
        assert "lanes      · not tried" in shown
        await pilot.press("escape")
        assert app.screen is app.bench


@each("width", [32, 40, 48, 69, 84, 120])
def test_no_row_is_wider_than_the_screen(width: int) -> None:
    long = SocketView(
        "a-very-long-endpoint-name-of-a-team",
        "h" * 200 + "/v1/responses",
        "websocket",
        "connecting",
        tuple(f"attempt-{number}*" for number in range(16)),
        360_000,
        12.5,
        999_949,
        10**12,
        1,
        99_999,
        99_998,
        100,
    )
    status = Status(models={"fast": "m" * 90, "deep": "d"}, efforts={"fast": "xhigh"})
    status.endpoint, status.served_model, status.served_tier = "e" * 60, "s" * 90, "priority"
    status.rehearsal = True
    status.auto, status.advice = {"fast": "the last change spans 12 files"}, "advice right 7 of 9"
    said = status_report(status, Abilities(), [*connected().sockets, long], width).plain
    for words in ("auto xhigh", "12 files", "7 of 9"):
        assert words in " ".join(said.split())
    rows = said.split("\n")
    assert max(len(row) for row in rows) <= width


DOCS = Path(__file__).parents[3] / "docs" / "meter.md"


def test_every_field_is_explained_here_and_in_the_docs() -> None:
    assert set(EXPLAINED) == set(FIELDS)
    docs = DOCS.read_text()
    for name, words in EXPLAINED.items():
        assert f"| `{{{name}}}` | {words} |" in docs, name
    assert DEFAULT in docs


async def test_it_is_live_and_can_be_left(session: ScriptedSession) -> None:
    session.measured(512, 0.5)
    async with running(session, (80, 24)) as (app, pilot):
        app.bench.slash.run("/meter")
        await settled(session, pilot)
        screen = app.screen
        assert isinstance(screen, MeterScreen)
        shown = str(screen.query_one("#status-report", Static).content)
        assert "ttft          84 ms" in shown
        assert "ghost         5%, 9.7 s behind" in shown
        await pilot.press("escape")
        assert app.screen is app.bench


def shown(app: DuettoApp) -> str:
    assert isinstance(app.screen, HelpScreen)
    return str(app.screen.query_one("#help-text").render())


async def test_it_begins_with_the_place_where_one_is(session: ScriptedSession) -> None:
    session.open("ledger/cache.py")
    async with running(session) as (app, pilot):
        await pilot.press("f1")
        await pilot.pause()
        assert shown(app).startswith("In the prompt")
        await pilot.press("f1")
        await pilot.pause()
        assert app.screen is app.bench
        app.bench.pane_actions.enter_editor()
        await pilot.press("f1")
        await pilot.pause()
        assert shown(app).startswith("In the editor")


@pytest.mark.slow
async def test_what_is_typed_is_looked_for_and_esc_first_forgets_it() -> None:
    async with running(ScriptedSession(), (80, 24)) as (app, pilot):
        await pilot.press("f1", *"tests run")
        await pilot.pause()
        assert "Run the project's tests" in shown(app)
        assert "Save the file" not in shown(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "Save the file" in shown(app)
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is app.bench


@each(
    "wanted, found",
    [
        ("ctrl+s", "Save the file"),
        ("CTRL+N V", "Run the project's tests"),
        ("review_turn", "Review the whole turn"),
        ("/theme", "Change the colours"),
        ("file tree folder", "Open the file; open or close the folder"),
    ],
)
def test_keys_names_words_and_places_are_found(wanted: str, found: str) -> None:
    assert found in help_content(200, wanted=wanted).plain


def test_every_row_fits() -> None:
    for width in (30, 40, 76, 120):
        for line in help_content(width).plain.splitlines():
            assert len(line) <= width, line

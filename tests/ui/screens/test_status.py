"""``/status``: the figures of the sockets, live, and in plain text for the clipboard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.core.meter import Cost
from tui.core.wire.limits import Limit
from tui.core.wire.traffic import SocketView
from tui.engine.intents import Interrupt
from tui.engine.notices import Status
from tui.engine.ports import Abilities
from tui.ui.app import DuettoApp
from tui.ui.screens import status as status_screen
from tui.ui.screens.status import StatusScreen
from tui.ui.status_report import amount, span, status_report

OPEN = SocketView(
    "rehearsal",
    "127.0.0.1:41873/v1/responses",
    "websocket",
    "open",
    ("main*", "deep"),
    754,
    0.0312,
    1_234_567,
    34_123,
    12_000,
    12,
    11,
    1,
)
FALLEN = SocketView(
    "azure",
    "127.0.0.1:4/v1/endpoints/azure/responses",
    "http",
    "retiring",
    (),
    3,
    None,
    0,
    0,
    0,
    1,
    0,
    0,
    "the server refused the WebSocket",
)


def text(app: DuettoApp) -> str:
    return str(app.screen.query_one("#status-report", Static).content)


async def until(true: Callable[[], bool], pilot: Pilot[int]) -> None:
    """Have frames until it is true; a hundred at most."""
    for _ in range(100):
        if true():
            return
        await pilot.pause(0.02)
    raise AssertionError("it did not come true")


async def asked(pilot: Pilot[int]) -> None:
    """Type the command."""
    await pilot.press(*"/status", "enter")
    await pilot.pause()
    await pilot.pause()


async def test_it_shows_the_figures_and_esc_closes_it() -> None:
    session = ScriptedSession()
    session.sockets = [OPEN, FALLEN]
    session.can = Abilities(steer=True, interrupt=False)
    async with running(session, (80, 24)) as (app, pilot):
        await asked(pilot)
        shown = text(app)
        for words in (
            "12 min      31 ms   1.2 MB  34.1 kB",
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


async def test_it_is_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_screen, "_LOOK_S", 0.02)
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        await asked(pilot)
        assert "none now: the next prompt opens one" in text(app)
        session.sockets = [OPEN]
        await until(lambda: "● open" in text(app), pilot)
        session.status.retry_s = 7.4
        await until(lambda: "again in 8 s" in text(app), pilot)
        session.status.limits = (Limit("requests", 40, 60),)
        await until(lambda: "Limit: 40 of 60 requests left." in text(app), pilot)


async def test_esc_stops_an_answer_before_it_closes_the_screen() -> None:
    session = ScriptedSession()
    session.status.busy = True
    async with running(session) as (app, pilot):
        await asked(pilot)
        await pilot.press("escape")
        assert session.intents == [Interrupt()]
        assert isinstance(app.screen_stack[-1], StatusScreen)
        await pilot.press("escape")
        assert not isinstance(app.screen_stack[-1], StatusScreen)


async def test_all_of_it_is_copied_as_plain_text() -> None:
    session = ScriptedSession()
    session.sockets = [OPEN]
    async with running(session) as (app, pilot):
        await asked(pilot)
        await pilot.press("c")
        assert app.clipboard.startswith("Models\n")
        assert "127.0.0.1:41873/v1/responses" in app.clipboard


@pytest.mark.parametrize("width", [32, 40, 48, 69, 84, 120])
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
    rows = status_report(status, Abilities(), [OPEN, FALLEN, long], width).plain.split("\n")
    assert max(len(row) for row in rows) <= width


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (Cost(0.0041, 1.5), "  $0.0041 for this turn, $1.50 in this session\n"),
        (Cost(0.2, 0.2, estimated=True), "  about $0.200 for this turn, $0.200 in this session\n"),
        (Cost(None, 0.2, session_whole=False), "  at least $0.200 in this session\n"),
        (
            Cost(None, 0.2, session_whole=False, unknown=True, session_unknown=True),
            "  price unknown for this turn, at least $0.200 in this session\n",
        ),
        (Cost(unknown=True, session_unknown=True), "  price unknown for this turn\n"),
        (Cost(session_unknown=True), "  price unknown for this session\n"),
    ],
)
def test_what_it_cost(cost: Cost, words: str) -> None:
    assert words in status_report(Status(), Abilities(), [], 70, cost).plain
    assert "session" not in status_report(Status(), Abilities(), [], 70, Cost()).plain


def test_what_the_server_refuses_is_said() -> None:
    status = Status(models={"fast": "m"}, served_model="m", left_out="prompt_cache_key")
    told = status_report(status, Abilities(), [], 70).plain
    assert "not sent, for the server refuses it: prompt_cache_key" in told


def test_what_was_served_is_not_what_was_asked() -> None:
    status = Status(
        models={"fast": "astra"}, endpoint="e", served_model="other", served_tier="flex"
    )
    assert "served: other · flex" in status_report(status, Abilities(), [], 70).plain
    status.served_model = "astra"
    assert "served as asked · flex" in status_report(status, Abilities(), [], 70).plain
    status.served_model = ""
    assert (
        "the server has not said what it uses" in status_report(status, Abilities(), [], 70).plain
    )


def test_only_what_is_so_is_said() -> None:
    status = Status(endpoint="e", transport="http", connection="offline")
    shown = status_report(status, Abilities(), [replace(FALLEN, why="", lanes=())], 100).plain
    assert "e is offline\n" in shown
    assert "why" not in shown
    assert "lanes  none\n" in shown
    status.connection = "ready"
    assert "e is ready by HTTP\n" in status_report(status, Abilities(), [], 100).plain


def test_the_counts_of_an_endpoint_are_told_once() -> None:
    both = [OPEN, replace(OPEN, state="retiring")]
    shown = status_report(Status(), Abilities(), both, 70).plain
    assert shown.count("12 requests") == 1
    assert shown.count("main busy") == 2


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (119.4, "119 s"),
        (120, "2 min"),
        (7199, "119 min"),
        (7500, "2 h 05"),
        (400_000, "4 days"),
    ],
)
def test_ages_are_short(seconds: float, words: str) -> None:
    assert span(seconds) == words


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_951, "1.0 MB"),
        (64 * 2**20, "67.1 MB"),
        (3 * 10**12, "3000.0 GB"),
    ],
)
def test_sizes_are_short(size_bytes: int, words: str) -> None:
    assert amount(size_bytes) == words


@pytest.mark.parametrize("width", [38, 60, 120])
def test_a_stand_in_and_the_tier_are_told(width: int) -> None:
    status = Status(
        models={"fast": "spark"},
        tiers={"fast": "priority"},
        endpoint="groq",
        served_model="claude-x",
        served_tier="standard",
        served_endpoint="anthropic",
        fallback_reason="groq is overloaded (HTTP 503).",
    )
    view = replace(OPEN, endpoint="groq", transport="bridge", address="https://api.groq.com/v1")
    said = status_report(status, Abilities(), [view], width).plain
    words = " ".join(said.split())
    assert "spark · priority" in words
    assert "served: claude-x" in words
    assert "a fallback: groq is overloaded (HTTP 503)." in words
    assert "bridge" in words
    assert all(len(row) <= width for row in said.splitlines())

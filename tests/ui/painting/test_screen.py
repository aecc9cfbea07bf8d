"""What is written to the terminal makes it show what the widgets show, whatever happened before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import pyte
import pytest
from rich.color import Color
from rich.segment import Segment
from textual import events
from textual.app import App
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.strip import Strip

from tests.support.scripted_app import running, settled, until
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp
from tui.ui.editor.overview import Overview
from tui.ui.editor.sides import Tabs
from tui.ui.key_queue import KeyQueue, TypedKey
from tui.ui.painting import ink, screen
from tui.ui.painting import screen as painting
from tui.ui.painting.ink import Ink
from tui.ui.widgets.painted import set_dim

Cell = tuple[str, str, str, bool]
"""Character, colours as pyte names them, bold."""


class Glass:
    """Takes the frames in place of a terminal."""

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self.screen)
        self.frames: list[str] = []

    def take(self, app: App[object], text: str, cursor: Offset) -> None:
        """See `terminal.write_frame`."""
        self.frames.append(text)
        self._stream.feed(text)

    def rows(self) -> list[list[Cell]]:
        """All cells; the second half of a wide one is empty."""
        buffer, columns = self.screen.buffer, self.screen.columns
        found = []
        for y in range(self.screen.lines):
            cells = (buffer[y][x] for x in range(columns))
            found.append([(cell.data, cell.fg, cell.bg, cell.bold) for cell in cells])
        return found


@pytest.fixture
def glass(monkeypatch: pytest.MonkeyPatch) -> Glass:
    """A terminal of 120 x 36 under the app."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    write = ink.row_bytes

    def anew(segments: Iterable[Segment], ink: Ink) -> str:
        """A style keeps the codes for the first terminal it was written to: another test's."""
        row = list(segments)
        for style in {style for _, style, _ in row if style is not None}:
            style._ansi = None
        return write(row, ink)

    first_seen: dict[int, Strip] = {}
    bytes_of = ink.steady_bytes

    def unknown(strip: Strip, x: int) -> str:
        """A strip keeps its bytes, and some strips are kept from test to test."""
        if id(strip) not in first_seen:
            first_seen[id(strip)] = strip
            strip._render_cache = None
        return bytes_of(strip, x)

    monkeypatch.setattr(ink, "row_bytes", anew)
    monkeypatch.setattr(screen, "steady_bytes", unknown)
    found = Glass(120, 36)
    monkeypatch.setattr(painting, "write_frame", found.take)
    return found


def held(app: DuettoApp) -> list[list[Cell]]:
    """The same of the widgets, painted from nothing."""
    rows = []
    for strip in app.screen._compositor.render_strips():
        cells: list[Cell] = []
        for text, style, _ in strip:
            colours = (_name(style.color), _name(style.bgcolor))
            for character in text:
                cells.append((character, *colours, bool(style.bold)))
                if pyte.screens.wcwidth(character) == 2:
                    cells.append(("", *colours, bool(style.bold)))
        rows.append(cells)
    return rows


def _name(colour: Color | None) -> str:
    return "default" if colour is None or colour.triplet is None else colour.triplet.hex[1:]


def assert_alike(app: DuettoApp, glass: Glass) -> None:
    shown, wanted = glass.rows(), held(app)
    for y, (have, want) in enumerate(zip(shown, wanted, strict=True)):
        words = "".join(cell[0] for cell in have), "".join(cell[0] for cell in want)
        assert words[0] == words[1], f"row {y}"
        assert have == want, f"colours of row {y}"


async def still(app: DuettoApp, session: ScriptedSession, pilot: Pilot[int]) -> None:
    """All is painted: nothing is damaged or to be laid out."""
    await settled(session, pilot)
    await until(pilot, lambda: app.bench._due is None and not app.bench._damaged)


async def test_a_terminal_that_is_behind_gets_one_frame_when_it_is_not(
    glass: Glass, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, behind = ScriptedSession(), True
    asked: list[Callable[[], None]] = []

    def is_behind(app: App[object], again: Callable[[], None]) -> bool:
        if behind:
            asked.append(again)
        return behind

    async with running(session) as (app, pilot):
        block = session.say("text", speaker="fast", state="open")
        await still(app, session, pilot)
        monkeypatch.setattr(painting, "is_behind", is_behind)
        glass.frames.clear()
        for number in range(20):
            session.stream(block, f"w{number} ")
            await settled(session, pilot)
        assert glass.frames == []
        count = len(asked)
        await pilot.pause(0.1)
        assert len(asked) == count  # nobody looks again and again
        behind = False
        asked[-1]()
        await still(app, session, pilot)
        assert "w19" in "".join(glass.frames)
        assert len(glass.frames) <= 2
        assert_alike(app, glass)


async def test_what_the_terminal_lost_is_written_again(glass: Glass) -> None:
    """Its window was another size for a moment, and the app never saw it (SIGWINCH is merged)."""
    session = ScriptedSession()
    app = DuettoApp(session.as_session(), workspace="/ledger")
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: glass.rows() == held(app))
        glass.screen.resize(5, 20)
        glass.screen.resize(36, 120)
        app.refresh()
        await until(pilot, lambda: glass.rows() == held(app))


async def test_a_key_is_seen_before_what_else_is_to_be_painted(glass: Glass) -> None:
    session = ScriptedSession()
    session.open("ledger/cache.py")
    async with running(session) as (app, pilot):
        queue = KeyQueue(app.post_message, asyncio.get_running_loop())
        queue.first = app.session.input_first
        for pane in ("alt+2", "alt+1"):
            await pilot.press(pane, "z")
            await still(app, session, pilot)
            glass.frames.clear()
            set_dim(app.bench.header, dim=pane == "alt+2")
            queue.add(TypedKey(events.Key("q", "q")))
            await until(pilot, lambda: "ledger/" in "".join(glass.frames))
            first = next(number for number, text in enumerate(glass.frames) if "ledger/" in text)
            assert any("q" in text for text in glass.frames[:first]), pane
        await still(app, session, pilot)
        assert_alike(app, glass)


async def test_what_a_frame_changes_beside_the_text_is_painted_with_it(glass: Glass) -> None:
    session = ScriptedSession()
    session.open("ledger/cache.py")
    async with running(session) as (app, pilot):
        await still(app, session, pilot)
        overview, tabs = app.query_one(Overview), app.query_one(Tabs)
        glass.frames.clear()
        app.bench.begin_frame()
        overview.show(100, 30, 500, [])
        tabs.note("Ln 101", "")
        app.bench.paint_now()
        assert len(glass.frames) == 1
        assert_alike(app, glass)

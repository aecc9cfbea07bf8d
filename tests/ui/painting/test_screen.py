"""What is written to the terminal makes it show what the widgets show, whatever happened before."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable

import pyte
import pytest
from rich.color import Color
from rich.segment import Segment
from textual import events
from textual.app import App
from textual.geometry import Offset, Size
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from tests.support.scripted_app import exercise, running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.turn import Block
from tui.engine.notices import Notices
from tui.ui.app import DuettoApp
from tui.ui.painting import codes, picture, steady, terminal
from tui.ui.painting import screen as painting
from tui.ui.painting.ink import Ink

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
    write = codes.row_bytes

    def anew(segments: Iterable[Segment], ink: Ink) -> str:
        """A style keeps the codes for the first terminal it was written to: another test's."""
        row = list(segments)
        for style in {style for _, style, _ in row if style is not None}:
            style._ansi = None
        return write(row, ink)

    first_seen: dict[int, Strip] = {}
    bytes_of = steady.steady_bytes

    def unknown(strip: Strip, x: int) -> str:
        """A strip keeps its bytes, and some strips are kept from test to test."""
        if id(strip) not in first_seen:
            first_seen[id(strip)] = strip
            strip._render_cache = None
        return bytes_of(strip, x)

    monkeypatch.setattr(steady, "row_bytes", anew)
    monkeypatch.setattr(picture, "steady_bytes", unknown)
    found = Glass(120, 36)
    monkeypatch.setattr(painting, "write_frame", found.take)
    return found


def held(app: DuettoApp) -> list[list[Cell]]:
    """The same of the widgets, painted from nothing."""
    rows = []
    for strip in app.screen._compositor.render_strips():
        cells: list[Cell] = []
        for text, style, _ in strip:
            assert style is not None
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
    for _ in range(200):
        if app.bench._due is None and not app.bench._damaged:
            return
        await pilot.pause(0.005)
    raise AssertionError("it never comes to rest")


async def test_the_first_paint_is_whole(glass: Glass) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await still(app, session, pilot)
        assert_alike(app, glass)


@pytest.mark.parametrize("seed", range(4))
async def test_after_anything_the_terminal_shows_what_the_widgets_hold(
    glass: Glass, seed: int
) -> None:
    chance, session = random.Random(seed), ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        block = session.say("text", speaker="fast", state="open")
        steps = _steps(app, session, pilot, chance, glass)
        for _ in range(16):
            step = chance.choice(steps)
            await step(block)
            if chance.random() < 0.5:
                session.stream(block, chance.choice(_PIECES))
            await still(app, session, pilot)
            assert_alike(app, glass)


_PIECES = ("a word ", "new paragraph\n\n", "```python\ndef f(): ...\n```\n", "日本語 ", "- item\n")


def _steps(
    app: DuettoApp,
    session: ScriptedSession,
    pilot: Pilot[int],
    chance: random.Random,
    glass: Glass,
) -> list[Callable[[Block], Awaitable[None]]]:
    async def stream(block: Block) -> None:
        for _ in range(chance.randrange(30)):
            session.stream(block, chance.choice(_PIECES))

    async def key(block: Block) -> None:
        await pilot.press(chance.choice(("f6", "pageup", "end", "a", "left", "shift+tab", "x")))

    async def resize(block: Block) -> None:
        size = chance.choice(((120, 36), (80, 24), (60, 15), (41, 13), (200, 50)))
        glass.screen.resize(size[1], size[0])
        await pilot.resize_terminal(*size)

    async def say(block: Block) -> None:
        app.notify("Something happened.", timeout=chance.choice((0.01, 60)))

    async def unsay(block: Block) -> None:
        app.clear_notifications()

    async def theme(block: Block) -> None:
        await pilot.pause(0.2)
        app.theme = chance.choice(("dusk", "paper"))
        await pilot.pause(0.05)

    async def other_screen(block: Block) -> None:
        app.action_help()
        await pilot.pause()
        session.stream(block, "while it is covered ")
        await settled(session, pilot)
        await pilot.press("escape")
        await pilot.pause(0.05)

    return [stream, stream, key, key, resize, say, unsay, theme, other_screen]


async def test_a_frame_writes_what_differs_only(glass: Glass) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        block = session.say("text", speaker="fast", state="open")
        session.stream(block, "hello")
        await still(app, session, pilot)
        glass.frames.clear()
        session.stream(block, " world")
        await still(app, session, pilot)
        assert sum(map(len, glass.frames)) < 400
        assert "world" in "".join(glass.frames)
        glass.frames.clear()
        await pilot.press("z")
        await still(app, session, pilot)
        assert sum(map(len, glass.frames)) < 900


async def test_while_nothing_happens_nothing_is_written(glass: Glass) -> None:
    session = ScriptedSession()
    exercise(session)
    async with running(session) as (app, pilot):
        await pilot.press("z")
        await still(app, session, pilot)
        glass.frames.clear()
        await pilot.pause(1.2)  # a cursor that blinks would have blinked twice
        assert glass.frames == []
        assert app.bench._due is None


async def test_a_frame_is_painted_in_the_turn_that_took_it_up(glass: Glass) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        block = session.say("text", speaker="fast", state="open")
        await still(app, session, pilot)
        glass.frames.clear()
        session.stream(block, "at once")
        app._paint()
        assert "at once" in "".join(glass.frames)


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


async def test_a_hundred_sizes_while_it_streams_end_in_the_right_picture(glass: Glass) -> None:
    session, chance = ScriptedSession(), random.Random(1)
    exercise(session)
    async with running(session) as (app, pilot):
        block = session.say("text", speaker="fast", state="open")
        for number in range(100):
            columns, rows = chance.randrange(20, 240), chance.randrange(5, 80)
            size = Size(columns, rows)
            session.stream(block, f"word {number} and some more of it\n\n")
            if number % 3 == 0:
                app.post_message(events.Resize(size, size))
            app._paint()
            await pilot.pause(0)
        glass.screen.resize(30, 100)
        await pilot.resize_terminal(100, 30)
        await still(app, session, pilot)
        assert_alike(app, glass)
        assert any("word 99" in row for row in glass.screen.display)


async def test_what_breaks_while_painting_is_seen_by_the_app(
    glass: Glass, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(y: int) -> None:
        raise RuntimeError("no such colour")

    async def breaks() -> None:
        async with running(ScriptedSession()) as (app, pilot):
            monkeypatch.setattr(app.bench.transcript, "render_line", broken)
            app.bench.transcript.refresh()
            for _ in range(100):
                await pilot.pause(0.01)

    with pytest.raises(RuntimeError, match="no such colour"):
        await breaks()


async def test_the_session_is_drained_but_not_painted_under_another_screen(glass: Glass) -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        block = session.say("text", speaker="fast", state="open")
        app.push_screen(Screen())
        await pilot.pause(0.05)
        glass.frames.clear()
        session.stream(block, "unseen")
        await settled(session, pilot)
        assert glass.frames == []
        app.pop_screen()
        await still(app, session, pilot)
        assert "unseen" in "".join(glass.frames)
        assert_alike(app, glass)


def test_textuals_names_are_where_they_were() -> None:
    for name in ("_on_timer_update", "_compositor_refresh", "_refresh_layout", "_on_idle"):
        assert callable(getattr(Screen, name)), name
    assert callable(terminal.write_frame)
    assert Notices().transcript_from is None


async def test_what_the_terminal_lost_is_written_again(glass: Glass) -> None:
    """Its window was another size for a moment, and the app never saw it (SIGWINCH is merged)."""
    session = ScriptedSession()
    app = DuettoApp(session.as_session(), workspace="/ledger")
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause(0.05)
        glass.screen.resize(5, 20)
        glass.screen.resize(36, 120)
        app.refresh()
        await pilot.pause(0.05)
        assert glass.rows() == held(app)

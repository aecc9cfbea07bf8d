"""The first start: what was found, three ways to begin, and nothing without being asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

import pytest
from textual.pilot import Pilot

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp
from tui.ui.first_run.port import Choice, Found, Listed, Source
from tui.ui.first_run.screen import FirstRunScreen
from tui.ui.first_run.sheet import Sheet

OLLAMA = Source("ollama", "Ollama", "2 models on 127.0.0.1:11434", ("qwen3:8b", "qwen3:32b"))
GROQ = Source("groq", "Groq", "GROQ_API_KEY is set", asks="asks api.groq.com, with GROQ_API_KEY")
SIZES = [(40, 12), (40, 20), (80, 24), (120, 36), (200, 50)]


class Outside:
    """Port: what a test has found."""

    config_file = "~/.config/duetto/config.toml"
    here = "~/ledger"
    under: Literal["practice", "here"] = "practice"

    def __init__(self, *sources: Source) -> None:
        self.sources = sources
        self.found_all = asyncio.Event()
        self.found_all.set()
        self.answer = Listed(("fast-one", "deep-one"))
        self.answers = asyncio.Event()
        self.answers.set()
        self.asked: list[str] = []
        self.written: list[str] = []
        self.wrong = ""
        self.chosen: list[Choice] = []
        self.went_on = 0

    async def look(self, tell: Callable[[Found], None]) -> tuple[Source, ...]:
        tell(Found("Ollama", "looking…", "looking"))
        await self.found_all.wait()
        tell(Found("Ollama", "nobody listens", "nothing"))
        for source in self.sources:
            tell(Found(source.title, source.words, "found"))
        tell(Found("git", "2.43.0", "found"))
        return self.sources

    async def models(self, source: Source) -> Listed:
        self.asked.append(source.name)
        await self.answers.wait()
        return self.answer

    def config(self, source: Source, fast: str, deep: str) -> str:
        return f'[models.fast]\nname = "{fast}"\n[models.deep]\nname = "{deep}"\n'

    def write(self, text: str) -> str:
        if not self.wrong:
            self.written.append(text)
        return self.wrong

    def choose(self, choice: Choice) -> None:
        self.chosen.append(choice)

    def then(self) -> None:
        self.went_on += 1


class Seat:
    """Somebody in front of the screen."""

    def __init__(self, app: DuettoApp, pilot: Pilot[int], port: Outside) -> None:
        self.app, self.pilot, self.port = app, pilot, port
        self.screen = FirstRunScreen(port, port.then)

    async def press(self, *keys: str) -> str:
        await self.pilot.press(*keys)
        await self.pilot.pause()
        return self.screen.text

    @property
    def is_gone(self) -> bool:
        return self.app.screen is self.app.bench


@asynccontextmanager
async def seated(port: Outside, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Seat]:
    async with running(ScriptedSession(), size) as (app, pilot):
        seat = Seat(app, pilot, port)
        app.push_screen(seat.screen)
        await pilot.pause(0.05)
        await pilot.pause()
        yield seat


async def test_it_tells_what_was_found_and_uses_nothing_of_it() -> None:
    port = Outside(OLLAMA, GROQ)
    async with seated(port) as seat:
        text = seat.screen.text
        assert "2 models on 127.0.0.1:11434" in text
        assert "GROQ_API_KEY is set" in text
        assert "Nothing of it is used before you say so." in text
        assert (port.asked, port.written, port.chosen) == ([], [], [])


@pytest.mark.parametrize("size", SIZES)
async def test_three_ways_in_every_window(size: tuple[int, int]) -> None:
    async with seated(Outside(OLLAMA, GROQ), size) as seat:
        for way in ("1  Practice", "2  Connect a model", "3  Just look around"):
            assert way in seat.screen.text
        rows = seat.screen.text.splitlines()
        assert len(rows) <= size[1]
        assert max(map(len, rows)) <= seat.screen.query_one(Sheet).size.width, "it is cut off"
        assert "Esc" in rows[-1] + rows[-2]


@pytest.mark.parametrize(
    ("keys", "choice"),
    [(["enter"], "practice"), (["1"], "practice"), (["3"], "here"), (["escape"], "look")],
)
async def test_a_way_is_chosen_by_its_key(keys: list[str], choice: Choice) -> None:
    port = Outside()
    async with seated(port) as seat:
        await seat.press(*keys)
        assert port.chosen == [choice]
        assert port.went_on == 1
        assert seat.is_gone


async def test_a_server_of_this_machine_is_connected_and_shown_before_it_is_written() -> None:
    port = Outside(OLLAMA)
    async with seated(port) as seat:
        assert "the fast model" in await seat.press("2")
        assert "the deep model" in await seat.press("8", "b", "enter")
        shown = await seat.press("down", "enter")
        assert "~/.config/duetto/config.toml will be:" in shown
        assert 'name = "qwen3:8b"' in shown
        assert 'name = "qwen3:32b"' in shown
        assert port.written == []
        await seat.press("enter")
        assert len(port.written) == 1
        assert port.chosen == ["connected"]
        assert port.asked == [], "it had named its models already"


async def test_a_provider_is_asked_only_when_it_was_chosen() -> None:
    port = Outside(GROQ)
    async with seated(port) as seat:
        shown = await seat.press("2")
        assert "asks api.groq.com, with GROQ_API_KEY" in shown
        assert port.asked == []
        assert "fast-one" in await seat.press("enter")
        assert port.asked == ["groq"]


async def test_a_key_that_is_wrong_is_said_and_another_way_is_open() -> None:
    port = Outside(GROQ, OLLAMA)
    port.answer = Listed((), "api.groq.com refused the key: check GROQ_API_KEY.")
    async with seated(port) as seat:
        shown = await seat.press("2", "1")
        assert "refused the key" in shown
        assert "Ollama" in shown
        assert "the fast model" in await seat.press("2")


async def test_a_provider_that_hangs_can_be_left() -> None:
    port = Outside(GROQ, OLLAMA)
    port.answers.clear()
    async with seated(port) as seat:
        assert "Asking Groq" in await seat.press("2", "1")
        assert "1  Practice" in await seat.press("escape")
        port.answers.set()
        await seat.pilot.pause()
        assert "1  Practice" in seat.screen.text, "its late answer changes nothing"


async def test_the_practice_does_not_wait_for_the_search() -> None:
    port = Outside(OLLAMA)
    port.found_all.clear()
    async with seated(port) as seat:
        assert "looking…" in seat.screen.text
        await seat.press("enter")
        assert port.chosen == ["practice"]


async def test_who_connects_before_all_is_found_waits_a_moment() -> None:
    port = Outside(OLLAMA)
    port.found_all.clear()
    async with seated(port) as seat:
        assert "Asking this machine" in await seat.press("2")
        port.found_all.set()
        await seat.pilot.pause(0.05)
        assert "the fast model" in seat.screen.text


async def test_a_row_can_be_clicked() -> None:
    port = Outside(OLLAMA)
    async with seated(port) as seat:
        rows = seat.screen.text.splitlines()
        at = next(number for number, row in enumerate(rows) if "2  Connect" in row)
        await seat.pilot.click("#first-run", offset=(20, at))
        await seat.pilot.pause()
        assert "the fast model" in seat.screen.text


async def test_other_colours_come_at_once() -> None:
    async with seated(Outside(OLLAMA)) as seat:
        sheet = seat.screen.query_one(Sheet)
        rows = [sheet.render_line(y) for y in range(12)]
        seat.app.theme = "paper"
        await seat.pilot.pause(0.05)
        assert all(before != sheet.render_line(y) for y, before in enumerate(rows))


async def test_what_is_found_under_the_help_is_there_afterwards() -> None:
    port = Outside(OLLAMA)
    port.found_all.clear()
    async with seated(port) as seat:
        seat.app.action_help()
        await seat.pilot.pause()
        port.found_all.set()
        await seat.pilot.pause(0.05)
        await seat.press("escape")
        await seat.pilot.pause()
        assert "2 models on 127.0.0.1:11434" in seat.screen.text
        assert seat.app.screen is seat.screen


async def test_where_nothing_was_found_it_says_how() -> None:
    async with seated(Outside()) as seat:
        assert "duetto --endpoint NAME|URL" in await seat.press("2")
        assert "1  Practice" in await seat.press("escape")


async def test_back_is_one_page_at_a_time_and_the_filter_first() -> None:
    async with seated(Outside(OLLAMA, GROQ)) as seat:
        await seat.press("2", "1", "enter")
        assert "32b" in await seat.press("3", "2")
        assert "type to filter" in await seat.press("escape")
        assert "the fast model" in await seat.press("escape")
        assert "who shall answer" in await seat.press("escape")
        assert "1  Practice" in await seat.press("escape")
        assert not seat.is_gone


async def test_settings_that_cannot_be_written_are_on_the_clipboard() -> None:
    port = Outside(OLLAMA)
    port.wrong = "config.toml cannot be written: Permission denied."
    async with seated(port) as seat:
        shown = await seat.press("2", "enter", "enter", "enter")
        assert "Permission denied" in shown
        assert "clipboard" in shown
        assert "[models.fast]" in seat.app.clipboard
        assert port.chosen == []


async def test_foreign_names_do_not_act_on_the_screen() -> None:
    nasty = Source("ollama", "Ollama", "1 model", ("[red]bad\x1b[2J\nname",))
    async with seated(Outside(nasty)) as seat:
        shown = await seat.press("2")
        assert "\x1b" not in shown
        assert "[red]bad" in shown


async def test_many_findings_leave_room_for_the_ways() -> None:
    keys = [
        Source(f"p{n}", f"Provider {n}", f"P{n}_API_KEY is set", asks="asks") for n in range(30)
    ]
    async with seated(Outside(*keys)) as seat:
        assert "and more" in seat.screen.text
        assert "3  Just look around" in seat.screen.text
        assert "Esc" in seat.screen.text


async def test_a_window_that_changes_is_written_anew() -> None:
    async with seated(Outside(OLLAMA, GROQ), (120, 36)) as seat:
        await seat.pilot.resize_terminal(40, 12)
        await seat.pilot.pause(0.05)
        assert max(map(len, seat.screen.text.splitlines())) <= 40
        await seat.pilot.resize_terminal(120, 36)
        await seat.pilot.pause(0.05)
        assert "On this machine" in seat.screen.text

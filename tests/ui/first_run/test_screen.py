"""The first start: what was found, three ways to begin, and nothing without being asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp
from tui.ui.first_run.pages import Chooser, Item
from tui.ui.first_run.port import Choice, FoundHere, Listed, ModelSource
from tui.ui.first_run.screen import FirstRunScreen, RowSheet

OLLAMA = ModelSource("ollama", "Ollama", "2 models on 127.0.0.1:11434", ("qwen3:8b", "qwen3:32b"))


GROQ = ModelSource(
    "groq", "Groq", "GROQ_API_KEY is set", asks="asks api.groq.com, with GROQ_API_KEY"
)


SIZES = [(40, 12), (120, 36)]


class Outside:
    """Port: what a test has found."""

    config_file = "~/.config/duetto/config.toml"
    here = "~/ledger"
    under: Literal["practice", "here"] = "practice"

    def __init__(self, *sources: ModelSource) -> None:
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

    async def look(self, tell: Callable[[FoundHere], None]) -> tuple[ModelSource, ...]:
        tell(FoundHere("Ollama", "looking…", "looking"))
        await self.found_all.wait()
        tell(FoundHere("Ollama", "nobody listens", "nothing"))
        for source in self.sources:
            tell(FoundHere(source.title, source.words, "found"))
        tell(FoundHere("git", "2.43.0", "found"))
        return self.sources

    async def models(self, source: ModelSource) -> Listed:
        self.asked.append(source.name)
        await self.answers.wait()
        return self.answer

    def config(self, source: ModelSource, fast: str, deep: str) -> str:
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


@pytest.mark.parametrize("size", SIZES)
async def test_three_ways_in_every_window(size: tuple[int, int]) -> None:
    async with seated(Outside(OLLAMA, GROQ), size) as seat:
        for way in ("1  Practice", "2  This folder", "3  Connect a model"):
            assert way in seat.screen.text
        rows = seat.screen.text.splitlines()
        assert len(rows) <= size[1]
        assert max(map(len, rows)) <= seat.screen.query_one(RowSheet).size.width, "it is cut off"
        assert "Esc" in rows[-1] + rows[-2]


@pytest.mark.parametrize(
    ("keys", "choice"),
    [(["enter"], "practice"), (["1"], "practice"), (["2"], "here"), (["escape"], "look")],
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
        assert "the fast model" in await seat.press("3")
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
        shown = await seat.press("3")
        assert "asks api.groq.com, with GROQ_API_KEY" in shown
        assert port.asked == []
        assert "fast-one" in await seat.press("enter")
        assert port.asked == ["groq"]


async def test_a_provider_that_hangs_can_be_left() -> None:
    port = Outside(GROQ, OLLAMA)
    port.answers.clear()
    async with seated(port) as seat:
        assert "Asking Groq" in await seat.press("3", "1")
        assert "1  Practice" in await seat.press("escape")
        port.answers.set()
        await seat.pilot.pause()
        assert "1  Practice" in seat.screen.text, "its late answer changes nothing"


async def test_settings_that_cannot_be_written_are_on_the_clipboard() -> None:
    port = Outside(OLLAMA)
    port.wrong = "config.toml cannot be written: Permission denied."
    async with seated(port) as seat:
        shown = await seat.press("3", "enter", "enter", "enter")
        assert "Permission denied" in shown
        assert "clipboard" in shown
        assert "[models.fast]" in seat.app.clipboard
        assert port.chosen == []


async def test_foreign_names_do_not_act_on_the_screen() -> None:
    nasty = ModelSource("ollama", "Ollama", "1 model", ("[red]bad\x1b[2J\nname",))
    async with seated(Outside(nasty)) as seat:
        shown = await seat.press("3")
        assert "\x1b" not in shown
        assert "[red]bad" in shown


THREE = [Item("a", "Ollama"), Item("b", "Groq"), Item("c", "Mistral large")]


def test_a_digit_chooses_its_row_and_no_other() -> None:
    chooser = Chooser(THREE)
    assert chooser.type("2")
    assert chooser.chosen == THREE[1]
    assert not chooser.type("4")
    assert not chooser.type("0")
    assert not chooser.type("x")
    assert not chooser.type("²"), "a digit for Unicode, no number"
    assert chooser.chosen == THREE[1]


def test_letters_cut_a_long_list_down_and_come_back() -> None:
    chooser = Chooser(THREE, filtered=True)
    for character in "lar mis":
        assert not chooser.type(character)
    assert chooser.shown == [THREE[2]]
    chooser.type("z")
    assert chooser.chosen is None
    while chooser.erase():
        pass
    assert chooser.shown == THREE


@given(st.integers(1, 60), st.integers(-5, 100), st.integers(-3, 30))
def test_the_lit_row_is_always_seen(count: int, step: int, rows: int) -> None:
    chooser = Chooser([Item(str(number), str(number)) for number in range(count)])
    chooser.step(step)
    window = chooser.window(rows)
    assert chooser.at in window
    assert len(window) <= max(rows, 1)

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
from tests.ui.connect.test_screen import OLLAMA
from tui.engine.connecting import FoundHere, ModelSource
from tui.ui.app import DuettoApp
from tui.ui.connect.sheet import RowSheet
from tui.ui.first_run.screen import Choice, FirstRunScreen

GROQ = ModelSource(
    "groq", "Groq", "GROQ_API_KEY is set", asks="asks api.groq.com, with GROQ_API_KEY"
)


SIZES = [(40, 12), (120, 36)]


class Outside:
    """Port: what a test has found."""

    here = "~/ledger"
    under: Literal["practice", "here"] = "practice"

    def __init__(self, *sources: ModelSource) -> None:
        self.sources = sources
        self.chosen: list[Choice] = []
        self.went_on = 0
        self.connects: list[Callable[[bool], None]] = []
        self.found_all = asyncio.Event()
        self.found_all.set()

    async def look(self, tell: Callable[[FoundHere], None]) -> tuple[ModelSource, ...]:
        tell(FoundHere("Ollama", "looking…", "looking"))
        await self.found_all.wait()
        tell(FoundHere("Ollama", "nothing listening", "nothing"))
        for source in self.sources:
            tell(FoundHere(source.title, source.words, "found"))
        tell(FoundHere("git", "2.43.0", "found"))
        return self.sources

    def choose(self, choice: Choice) -> None:
        self.chosen.append(choice)

    def then(self) -> None:
        self.went_on += 1


class Seat:
    """Somebody in front of the screen."""

    def __init__(self, app: DuettoApp, pilot: Pilot[int], port: Outside) -> None:
        self.app, self.pilot, self.port = app, pilot, port
        self.screen = FirstRunScreen(port, port.then, port.connects.append)

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


async def test_connecting_ends_the_first_run_and_leaving_it_does_not() -> None:
    port = Outside(OLLAMA)
    async with seated(port) as seat:
        assert "Ollama" in await seat.press("3")
        port.connects[0](False)
        assert not seat.is_gone
        assert port.chosen == []
        port.connects[0](True)
        await seat.pilot.pause()
        assert seat.is_gone
        assert port.chosen == ["connected"]

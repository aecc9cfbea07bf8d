"""Connecting on the screen: page by page, back from each, and nothing kept before the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.engine.connecting import (
    Connecting,
    ConnectOutcome,
    FoundHere,
    Listed,
    Measured,
    ModelSource,
    Plan,
    PlannedLine,
)
from tui.engine.intents import UseModel
from tui.engine.ports import ModelOffer
from tui.ui.app import DuettoApp
from tui.ui.connect.screen import ConnectScreen
from tui.ui.connect.sheet import RowSheet

KEY = "gsk-correct-horse-battery"
OLLAMA = ModelSource(
    "ollama",
    "Ollama",
    "2 models on 127.0.0.1:11434",
    (ModelOffer("ollama", "qwen3:8b", 40960), ModelOffer("ollama", "qwen3:32b", 131072)),
)
GROQ = ModelSource("groq", "Groq", "needs a key", needs_key=True, ready=False)
OTHER = ModelSource("", "Another server", "by its address", needs_address=True, ready=False)
MODELS = (ModelOffer("groq", "gpt-oss-120b", 131072), ModelOffer("groq", "qwen-3-32b", 131072))
SIZES = [(80, 24), (120, 40), (40, 12)]


class Outside:
    """Port: what a test lets happen."""

    config_file = "~/.config/duetto/config.toml"

    def __init__(self, *sources: ModelSource) -> None:
        self.sources = sources or (OLLAMA, GROQ, OTHER)
        self.listed = Listed(MODELS)
        self.answers = asyncio.Event()
        self.answers.set()
        self.measured: tuple[Measured, ...] = ()
        self.wrong = ""
        self.notes: tuple[str, ...] = ()
        self.asked: list[Connecting] = []
        self.written: list[Connecting] = []

    async def look(self, tell: Callable[[FoundHere], None]) -> tuple[ModelSource, ...]:
        return self.sources

    async def models(self, chosen: Connecting) -> Listed:
        if chosen.source.models:
            return Listed(chosen.source.models)
        self.asked.append(chosen)
        await self.answers.wait()
        return self.listed

    async def test(self, chosen: Connecting, tell: Callable[[Measured], None]) -> None:
        for _, model in chosen.models:
            tell(Measured(model))
        await self.answers.wait()
        for _, model in chosen.models:
            wrong = "refused: no such model" if model == "broken" else ""
            tell(Measured(model, wrong=wrong) if wrong else Measured(model, 0.084, 1043.0, 80))

    async def plan(self, chosen: Connecting) -> Plan:
        lines = [PlannedLine("+", f'name = "{model}"') for _, model in chosen.models]
        return Plan(tuple(lines), "The key goes into the system's keyring." if chosen.key else "")

    async def write(self, chosen: Connecting) -> ConnectOutcome:
        if self.wrong:
            return ConnectOutcome(wrong=self.wrong)
        self.written.append(chosen)
        return ConnectOutcome(chosen.source.name, notes=self.notes)


class Seat:
    """Somebody in front of the screen."""

    def __init__(self, app: DuettoApp, pilot: Pilot[int], session: ScriptedSession) -> None:
        self.app, self.pilot, self.session = app, pilot, session

    @property
    def text(self) -> str:
        screen = self.app.screen
        return screen.text if isinstance(screen, ConnectScreen) else ""

    @property
    def uses(self) -> list[UseModel]:
        return [one for one in self.session.intents if isinstance(one, UseModel)]

    async def press(self, *keys: str) -> str:
        await self.pilot.press(*keys)
        await self.pilot.pause()
        return self.text

    async def paste(self, text: str) -> str:
        self.app.screen.post_message(Paste(text))
        await self.pilot.pause()
        return self.text


@asynccontextmanager
async def seated(
    port: Outside, size: tuple[int, int] = (80, 24), wanted: str = ""
) -> AsyncIterator[Seat]:
    session = ScriptedSession()
    async with running(session, size) as (app, pilot):
        app.connecting = lambda: port
        app.action_connect(wanted)
        await pilot.pause(0.05)
        await pilot.pause()
        yield Seat(app, pilot, session)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_from_a_key_to_what_answers_at_once(size: tuple[int, int]) -> None:
    port = Outside()
    async with seated(port, size) as seat:

        def whole(text: str) -> str:
            rows = text.splitlines()
            assert len(rows) <= size[1]
            width = seat.app.screen.query_one(RowSheet).size.width
            assert max(len(row.rstrip()) for row in rows) <= width, "it is cut off"
            return text

        assert "Groq" in whole(seat.text)
        assert "The key for Groq" in whole(await seat.press(*"groq", "enter"))
        shown = whole(await seat.paste(f"{KEY}\n"))
        assert f"{len(KEY)} characters" in shown
        assert "gpt-oss" in whole(await seat.press("enter"))
        whole(await seat.press(*"gpt", "enter"))
        shown = whole(await seat.press(*"qwen", "enter"))
        assert "1,043 tokens/s" in shown
        assert "84 ms" in shown.replace("\n", " ")
        assert '+ name = "gpt-oss-120b"' in whole(await seat.press("enter"))
        assert port.written == []
        assert await seat.press("enter") == ""
        assert port.written[0].key == KEY
        assert [(use.role, use.endpoint, use.model) for use in seat.uses] == [
            ("fast", "groq", "gpt-oss-120b"),
            ("deep", "groq", "qwen-3-32b"),
        ]


@pytest.mark.slow
async def test_esc_goes_back_from_every_page_and_leaves_no_trace() -> None:
    port = Outside()
    way = ["enter", "enter", "enter", "enter", "enter"]  # Ollama, fast, deep, test, the lines
    for steps in range(len(way)):
        async with seated(port) as seat:
            pages = [seat.text]
            for key in way[:steps]:
                pages.append(await seat.press(key))
            for page in reversed(pages[:-1]):
                assert await seat.press("escape") == page
            assert await seat.press("escape") == ""
            assert seat.uses == []
    assert port.written == []


async def test_a_key_that_is_refused_is_said_beside_the_field_and_forgotten() -> None:
    port = Outside()
    port.listed = Listed((), "api.groq.com refused this key.", "key")
    async with seated(port) as seat:
        await seat.press(*"groq", "enter")
        assert "not a key" in (await seat.press("a", " ", "b", "enter"))
        await seat.press("ctrl+u")
        await seat.paste("gsk-wrong")
        rows = (await seat.press("enter")).splitlines()
        at = next(at for at, row in enumerate(rows) if row.strip().startswith("Key"))
        assert "refused this key" in rows[at + 1]
        assert "characters" not in rows[at]
        assert KEY not in seat.text


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("groq", "The key for Groq"),
        ("OLLAMA", "The fast model"),
        ("grok", "There is no provider grok. Did you mean groq?"),
        ("http://127.0.0.1:8000/v1", "Its key, if it wants one"),
    ],
)
async def test_who_was_named_is_not_asked_for_again(wanted: str, says: str) -> None:
    async with seated(Outside(), wanted=wanted) as seat:
        assert says in seat.text
        await seat.press("escape")
        assert ("The server's address" if ":" in wanted else "Which provider?") in seat.text or (
            wanted == "grok"
        )


async def test_a_server_that_hangs_can_be_left() -> None:
    port = Outside(GROQ, OLLAMA)
    port.answers.clear()
    async with seated(port) as seat:
        await seat.press(*"groq", "enter")
        await seat.paste(KEY)
        assert "Asking Groq" in await seat.press("enter")
        assert "The key for Groq" in await seat.press("escape")
        port.answers.set()
        await seat.pilot.pause()
        assert "The key for Groq" in seat.text, "its late answer changes nothing"


async def test_names_are_typed_where_there_is_no_list() -> None:
    port = Outside()
    port.listed = Listed((), "It gives no list: type the model's name.", is_typed=True)
    async with seated(port) as seat:
        await seat.press(*"another", "enter")
        assert "the server's address" in await seat.press("enter")
        await seat.paste("https://gw.example/v1")
        assert "if it wants one" in await seat.press("enter")
        assert "type the model's name" in await seat.press("enter")
        await seat.press(*"my-model", "enter")
        assert "my-model" in await seat.press("enter")
        assert port.asked[0].url == "https://gw.example/v1"


async def test_a_model_that_does_not_answer_is_said_and_can_be_taken_all_the_same() -> None:
    broken = ModelSource("o", "Ollama", "", (ModelOffer("o", "broken"),))
    async with seated(Outside(broken)) as seat:
        await seat.press("enter", "enter")
        shown = await seat.press("enter")
        assert "refused: no such model" in shown
        assert "go on all the same" in shown


async def test_what_cannot_be_written_and_what_is_left_to_do_are_said() -> None:
    port = Outside()
    port.wrong = "config.toml cannot be written: Permission denied."
    async with seated(port) as seat:
        shown = await seat.press("enter", "enter", "enter", "enter", "enter")
        assert "Permission denied" in shown
        assert seat.uses == []
        port.wrong, port.notes = "", ("Set it before the next start:", "read -rs K && export K")
        assert "export K" in await seat.press("enter")
        await seat.press("c")
        assert seat.app.clipboard == "read -rs K && export K"
        assert await seat.press("enter") == ""
        assert len(seat.uses) == 2


async def test_foreign_names_do_not_act_on_the_screen() -> None:
    nasty = ModelSource("o", "O", "1 model", (ModelOffer("o", "[red]bad\x1b[2J\nname"),))
    async with seated(Outside(nasty)) as seat:
        shown = await seat.press("enter")
        assert "\x1b" not in shown
        assert "[red]bad" in shown

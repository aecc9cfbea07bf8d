"""The guide on the screen: a panel over the prompt that follows what is done."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.engine.intents import Interrupt, Throttle
from tui.ui.app import DuettoApp
from tui.ui.guide.guide import Ending, Guide
from tui.ui.guide.panel import GuidePanel

PROMPT = "make the cache safe for threads"


class Stand:
    """A guide over a scripted session."""

    def __init__(self, session: ScriptedSession, app: DuettoApp, pilot: Pilot[int]) -> None:
        self.session, self.app, self.pilot = session, app, pilot
        self.endings: list[Ending] = []
        self.guide = Guide(app.bench, self.endings.append)

    async def settle(self) -> None:
        self.session.now_s += 5.0
        await settled(self.session, self.pilot)

    async def asked(self) -> None:
        """The prompt went out, and streams."""
        self.session.say("user", PROMPT)
        self.session.status.busy, self.session.status.outcome = True, ""
        self.session.status.stopped = ""
        await self.settle()

    async def landed(self) -> None:
        self.session.say("patch", speaker="fast")
        self.session.hunk(Stage.LANDED, 7, added=1)
        await self.settle()

    async def stopped(self) -> None:
        self.session.submit(Interrupt())
        self.session.say("note", "stopped after 512 tokens, 3 ms", state="cut")
        self.session.status.outcome = "interrupted"
        await self.settle()

    @property
    def throttles(self) -> list[float | None]:
        return [one.tokens_s for one in self.session.intents if isinstance(one, Throttle)]


@asynccontextmanager
async def guided(size: tuple[int, int] = (120, 36)) -> AsyncIterator[Stand]:
    session = ScriptedSession()
    session.status.prompts = [PROMPT, "use a plain Lock"]
    session.status.suggestion = PROMPT
    async with running(session, size) as (app, pilot):
        stand = Stand(session, app, pilot)
        stand.guide.begin()
        await stand.settle()
        yield stand


async def test_it_follows_from_the_prompt_to_the_other_model() -> None:
    async with guided() as stand:
        assert "1 of 6 · ask for a change" in stand.guide.text
        assert "Tab takes the suggestion" in stand.guide.text
        await stand.pilot.press("tab")
        await stand.settle()
        assert "Enter sends it." in stand.guide.text
        await stand.asked()
        assert "2 of 6 · watch it land" in stand.guide.text
        await stand.landed()
        assert "Esc stops it" in stand.guide.text
        await stand.stopped()
        assert "Stopped after 512 tokens, 3 ms." in stand.guide.text
        await stand.asked()
        stand.session.status.busy, stand.session.status.outcome = False, "completed"
        await stand.settle()
        assert "accepts all hunks" in stand.guide.text
        await stand.pilot.press("alt+a")
        await stand.settle()
        assert "Accepted: the file is written." in stand.guide.text
        await stand.pilot.press("f2")
        await stand.settle()
        assert "That was the guide" in stand.guide.text
        assert stand.endings == ["done"]
        await stand.pilot.press("escape")
        await stand.settle()
        assert stand.app.bench.guide is None
        assert stand.endings == ["done"]


async def test_it_slows_the_model_down_until_it_was_stopped() -> None:
    async with guided() as stand:
        await stand.asked()
        await stand.landed()
        stand.session.status.throttle = 50
        assert stand.throttles == [50]
        await stand.stopped()
        assert stand.throttles == [50, None]


async def test_a_pace_that_the_user_chose_is_left_alone() -> None:
    async with guided() as stand:
        stand.session.status.throttle = 200
        await stand.asked()
        await stand.landed()
        await stand.stopped()
        assert stand.throttles == [50]


async def test_the_key_that_leaves_has_to_be_pressed_twice() -> None:
    async with guided() as stand:
        await stand.pilot.press("escape")
        assert "Esc again leaves the guide" in stand.guide.text
        assert stand.app.bench.guide is stand.guide
        await stand.pilot.press("escape")
        assert stand.app.bench.guide is None
        assert stand.endings == ["left"]
        stand.session.status.throttle = 50


async def test_going_on_takes_the_way_out_back() -> None:
    async with guided() as stand:
        await stand.pilot.press("escape")
        await stand.asked()
        await stand.landed()
        await stand.stopped()
        await stand.pilot.press("escape")
        assert stand.app.bench.guide is stand.guide


async def test_an_esc_that_comes_a_blink_too_late_does_not_leave() -> None:
    async with guided() as stand:
        await stand.asked()
        await stand.landed()
        stand.session.status.busy, stand.session.status.outcome = False, "completed"
        await settled(stand.session, stand.pilot)
        for _ in range(3):
            await stand.pilot.press("escape")
        assert stand.app.bench.guide is stand.guide
        assert "no harm done" in stand.guide.text


async def test_a_draft_is_not_touched() -> None:
    async with guided() as stand:
        await stand.pilot.press(*"my own words")
        await stand.settle()
        assert stand.app.bench.prompt_box.draft == "my own words"
        assert "Enter sends it." in stand.guide.text


async def test_where_there_is_one_model_none_is_to_be_changed() -> None:
    async with guided() as stand:
        del stand.session.status.models["deep"]
        guide = Guide(stand.app.bench, stand.endings.append)
        guide.begin()
        assert guide.lesson.skipped == {"switch"}


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (60, 16), (200, 50)])
async def test_there_is_room_for_the_prompt_and_the_conversation(size: tuple[int, int]) -> None:
    async with guided(size) as stand:
        bench = stand.app.bench
        assert "Tab takes the" in stand.guide.text
        assert bench.prompt_box.region.bottom <= size[1] - 2
        assert bench.prompt_box.prompt.region.height >= 1
        assert bench.transcript.region.height >= 2


async def test_a_window_that_gets_lower_only_has_fewer_rows_for_it() -> None:
    async with guided((120, 40)) as stand:
        await stand.asked()
        tall = stand.guide.text.count("\n")
        await stand.pilot.resize_terminal(120, 14)
        await stand.settle()
        low = stand.guide.text.count("\n")
        assert low < tall
        await stand.pilot.resize_terminal(120, 40)
        await stand.settle()
        assert stand.guide.text.count("\n") == tall


async def test_a_window_that_shrinks_gets_a_smaller_panel() -> None:
    async with guided((120, 40)) as stand:
        tall = stand.guide.text.count("\n")
        await stand.pilot.resize_terminal(40, 12)
        await stand.settle()
        assert stand.guide.text.count("\n") < tall
        assert stand.app.bench.transcript.region.height >= 2


async def test_all_of_it_in_the_smallest_window() -> None:
    async with guided((40, 12)) as stand:
        await stand.asked()
        await stand.landed()
        assert "Esc stops it" in stand.guide.text
        await stand.stopped()
        assert "Enter sends it" in " ".join(stand.guide.text.split())


async def test_it_says_the_same_in_other_colours() -> None:
    async with guided() as stand:
        panel = stand.app.bench.query_one(GuidePanel)
        before, colours = stand.guide.text, panel.render_line(0)
        stand.app.theme = "paper"
        await stand.settle()
        assert stand.guide.text == before
        assert panel.render_line(0) != colours

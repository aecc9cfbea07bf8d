"""The guide: what it has seen, what it says, and its panel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.document.hunk import Stage
from tui.engine.intents import Interrupt
from tui.engine.notices import Ask
from tui.ui import keymap
from tui.ui.app import DuettoApp
from tui.ui.guide.guide import Ending, Guide
from tui.ui.guide.lesson import STEPS, Figures, Lesson, LessonView
from tui.ui.guide.pages import TO_RUN, GuideContext, said


class Pupil:
    """Somebody who does things; the lesson looks after each."""

    def __init__(self) -> None:
        self.lesson = Lesson()
        self.sight = LessonView(10.0)
        self.lesson.begin(self.sight)

    def sees(self, **changes: object) -> str | None:
        """A second later this is so; returns the step that is next."""
        self.sight = replace(self.sight, now_s=self.sight.now_s + 1.0, **changes)
        self.lesson.look(self.sight)
        return self.lesson.step

    def asks(self) -> str | None:
        return self.sees(prompts=self.sight.prompts + 1, busy=True, outcome="", stopped="")

    def lands(self) -> str | None:
        return self.sees(landed=1, pending=True, tokens_s=50.0, ttft_s=0.07)

    def stops(self) -> str | None:
        self.sees(stops=self.sight.stops + 1, stopped="stopped after 9 tokens, 0.4 ms")
        return self.sees(busy=False, outcome="interrupted")

    def gets_it_all(self, tokens_s: float = 1000.0) -> str | None:
        return self.sees(busy=False, outcome="completed", tokens_s=tokens_s)


def test_the_steps_in_their_order() -> None:
    pupil = Pupil()
    assert pupil.lesson.step == "prompt"
    assert pupil.lesson.slow
    assert pupil.asks() == "watch"
    assert pupil.lands() == "stop"
    assert pupil.lesson.slow
    assert pupil.stops() == "redirect"
    assert not pupil.lesson.slow
    assert pupil.asks() == "accept"
    assert pupil.gets_it_all() == "accept"
    assert pupil.sees(accepted=True, pending=False) == "run"
    pupil.asks()
    assert pupil.sees(asks=True) == "run"
    assert pupil.sees(asks=False, ran=True) == "run"
    assert pupil.gets_it_all() == "switch"
    assert pupil.sees(role="deep") == "mend"
    assert pupil.sees(role="fast", verdict="passed") == "mend", "it judges something older"
    pupil.asks()
    pupil.sees(verdict="")
    pupil.gets_it_all()
    assert not pupil.lesson.red
    assert pupil.sees(verifies=True) == "mend"
    assert pupil.sees(verifies=False, verdict="failed") == "mend"
    assert pupil.lesson.red
    pupil.asks()
    assert pupil.sees(busy=False, outcome="completed") == "mend", "it is the verdict of before"
    assert pupil.sees(verifies=True, verdict="") == "mend"
    assert pupil.sees(verifies=False, verdict="passed") is None
    assert pupil.lesson.figures.mended_s == 3.0


def test_where_the_tests_cannot_judge_the_last_step_is_left_out() -> None:
    pupil = Pupil()
    pupil.lesson.done.update(STEPS[:-1])
    pupil.sees()
    pupil.asks()
    pupil.gets_it_all()
    pupil.sees(verifies=True)
    assert pupil.sees(verifies=False, verdict="error") is None


def test_an_answer_that_is_handed_to_the_other_model_was_not_stopped() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.sees(stops=1, stopped="stopped after 25 tokens, 0.1 ms", role="deep")
    assert pupil.lands() == "stop"
    assert pupil.lesson.slow
    assert pupil.gets_it_all() == "stop"
    assert pupil.lesson.missed == 1
    assert pupil.asks() == "stop"
    assert pupil.stops() == "redirect"
    assert pupil.lesson.figures.stopped == "stopped after 9 tokens, 0.4 ms"


def test_who_never_stops_goes_on_without() -> None:
    pupil = Pupil()
    pupil.asks()
    pupil.lands()
    pupil.gets_it_all(50.0)
    pupil.asks()
    assert pupil.gets_it_all(50.0) == "accept"
    assert pupil.lesson.skipped == {"stop"}
    assert "Not stopped. Esc does it whenever" in words_of(pupil.lesson)
    assert pupil.sees(accepted=True) == "run"
    pupil.asks()
    assert pupil.gets_it_all(50.0) == "switch"
    assert pupil.lesson.skipped == {"stop", "run"}
    assert pupil.sees(role="deep") == "mend"


NOTHING_YET, EMPTY = LessonView(), GuideContext()


def words_of(lesson: Lesson, place: GuideContext = EMPTY) -> str:
    page = said(lesson, place)
    to_do = "".join(text for text, _ in page.to_do)
    return "\n".join((page.title, page.happened, to_do, page.why))


def at(step: str, sight: LessonView = NOTHING_YET) -> Lesson:
    """A lesson that has come to this step."""
    before = STEPS[: STEPS.index(step)]
    return Lesson(done=set(before), sight=sight)


def test_the_gap_is_said_as_it_was_measured() -> None:
    lesson = at("accept", LessonView(prompts=2, outcome="completed", pending=True))
    lesson.figures = Figures(slow_tokens_s=50.0, own_tokens_s=1000.0)
    assert "1,000 tokens/s, 20 times as fast" in words_of(lesson)


@pytest.fixture
def remapped() -> Iterator[None]:
    """F9 accepts, and the key for the other model was taken away."""
    assert keymap.use({"global": {"accept": "f9", "switch": ""}}) == []
    yield
    keymap.use({})


@pytest.mark.usefixtures("remapped")
def test_remapped_keys_are_said_as_they_are() -> None:
    pending = LessonView(prompts=2, outcome="completed", pending=True)
    assert "F9 or Ctrl+N a accepts all hunks" in words_of(at("accept", pending))


PROMPT = "make the cache safe for threads"


class Stand:
    """A guide over a scripted session."""

    def __init__(self, session: ScriptedSession, app: DuettoApp, pilot: Pilot[int]) -> None:
        self.session, self.app, self.pilot = session, app, pilot
        self.endings: list[Ending] = []
        bench = app.bench
        parts = (session, bench.prompt_box, bench.panes)
        self.guide = Guide(*parts, self.endings.append)

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


@asynccontextmanager
async def guided(size: tuple[int, int] = (120, 36)) -> AsyncIterator[Stand]:
    session = ScriptedSession()
    session.status.prompts = [PROMPT, "use a plain Lock"]
    session.status.suggestion = PROMPT
    async with running(session, size) as (app, pilot):
        stand = Stand(session, app, pilot)
        app.bench.begin_guide(stand.guide)
        await stand.settle()
        yield stand


async def test_it_follows_from_the_prompt_to_the_other_model() -> None:
    async with guided() as stand:
        assert "1 of 8 · ask for a change" in stand.guide.text
        assert "Tab takes the suggestion" in stand.guide.text
        await stand.pilot.press("tab")
        await stand.settle()
        assert "Enter sends it." in stand.guide.text
        stand.app.bench.prompt_box.prompt.write("")
        await stand.asked()
        assert "2 of 8 · watch it land" in stand.guide.text
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
        assert stand.app.bench.prompt_box.prompt.text == TO_RUN
        assert "Enter sends it." in stand.guide.text
        await stand.asked()
        stand.session.status.asks.append(Ask(1, "Run x?", "", ("Once", "No"), command="x"))
        await stand.settle()
        assert "It asks first" in stand.guide.text
        stand.session.status.asks.clear()
        stand.session.say("run").turn = 1
        stand.session.status.busy, stand.session.status.outcome = False, "completed"
        await stand.settle()
        assert "It asked before it ran anything." in stand.guide.text
        await stand.pilot.press("f2")
        await stand.settle()
        assert "That was the guide" in stand.guide.text
        assert stand.endings == ["done"]
        await stand.pilot.press("escape")
        await stand.settle()
        assert not stand.guide.running
        assert stand.endings == ["done"]


async def test_the_key_that_leaves_has_to_be_pressed_twice() -> None:
    async with guided() as stand:
        await stand.pilot.press("escape")
        assert "Esc again leaves the guide" in stand.guide.text
        assert stand.guide.running
        await stand.pilot.press("escape")
        assert not stand.guide.running
        assert stand.endings == ["left"]
        stand.session.status.throttle = 50

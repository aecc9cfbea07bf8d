"""The first start: what was found, who shall answer, and the guide through an exercise."""

from __future__ import annotations

from typing import Literal

from tests.support.gallery import LOW, Scene, Show
from tests.support.scripted_session import ScriptedSession
from tests.ui.connect.test_screen import Outside as Connecting
from tests.ui.first_run.test_screen import GROQ, OLLAMA, Outside
from tests.ui.guide.test_lesson import PROMPT
from tui.core.document.hunk import Stage
from tui.core.wire.events import Usage
from tui.engine.intents import Interrupt
from tui.ui.first_run.screen import FirstRunScreen
from tui.ui.guide.guide import Guide
from tui.ui.guide.pages import TO_MEND, TO_RUN


async def open_with(show: Show, port: Outside) -> None:
    """The screen over the app."""
    show.app.push_screen(FirstRunScreen(port, port.then, port.connects.append))
    await show.settle()
    await show.pilot.pause(0.1)


async def found(show: Show) -> None:
    """A server of this machine and a provider's key."""
    await open_with(show, Outside(OLLAMA, GROQ))


async def nothing(show: Show) -> None:
    """Neither servers nor keys."""
    await open_with(show, Outside())


async def looking(show: Show) -> None:
    """Not everybody has answered yet."""
    port = Outside(OLLAMA)
    port.found_all.clear()
    await open_with(show, port)


async def connecting(show: Show) -> None:
    """Which provider."""
    port = Connecting()
    show.app.connecting = lambda: port
    show.app.action_connect()
    await show.settle()
    await show.pilot.pause(0.1)


def practice() -> ScriptedSession:
    """The practice, with an exercise offered."""
    session = ScriptedSession()
    session.status.rehearsal = True
    session.status.prompts = [PROMPT, "use a plain Lock"]
    session.status.suggestion = PROMPT
    session.open("ledger/cache.py")
    return session


async def step_1(show: Show) -> None:
    """Ask for a change."""
    bench = show.app.bench
    parts = (bench.session, bench.prompt_box, bench.panes)
    bench.begin_guide(Guide(*parts, lambda ending: None))
    await show.settle()


async def asked(show: Show, tokens: int, seconds: float) -> None:
    """A prompt went out, and so much came."""
    session, status = show.session, show.session.status
    session.now_s += 4.0
    session.say("user", PROMPT)
    status.busy, status.outcome, status.stopped = True, "", ""
    await show.settle()
    session.measured(tokens, seconds, counted=False)
    session.say("patch", speaker="fast")
    session.hunk(Stage.LANDED, 7, added=1)
    await show.settle()


async def step_2(show: Show) -> None:
    """It lands, at the pace of models that one waits for."""
    await step_1(show)
    await asked(show, 120, 2.4)


async def step_3(show: Show) -> None:
    """It was stopped."""
    await step_2(show)
    session, words = show.session, "stopped after 120 tokens, 3 ms"
    session.submit(Interrupt())
    session.meter.stop(session.now_s)
    session.say("note", words, state="cut")
    session.status.stopped, session.status.outcome = words, "interrupted"
    await show.settle()


async def step_4(show: Show) -> None:
    """Another answer is whole."""
    await step_3(show)
    await asked(show, 820, 0.8)
    session = show.session
    session.meter.usage(session.now_s, Usage(12_000, 820, None, 0))
    session.meter.stop(session.now_s)
    session.status.busy, session.status.outcome = False, "completed"
    await show.settle()


async def step_5(show: Show) -> None:
    """Accepted."""
    await step_4(show)
    show.session.now_s += 2.0
    await show.press("alt+a")


async def step_7(show: Show) -> None:
    """The tests were run, and the other model has answered."""
    await step_5(show)
    session, status = show.session, show.session.status
    show.app.bench.prompt_box.prompt.write("")
    session.say("user", TO_RUN)
    status.busy, status.outcome = True, ""
    await show.settle()
    session.say("run", "3 passed\n[exit 0 after 0.3 s]\n", title="pytest").turn = 1
    status.busy, status.outcome = False, "completed"
    await show.settle()
    show.session.status.served_model = "rehearsal-deep"
    await show.press("f2")


async def step_8(show: Show) -> None:
    """A mistake was found by the tests, before it was accepted."""
    await step_7(show)
    session, status = show.session, show.session.status
    status.served_model = "rehearsal-fast"
    await show.press("f2")
    show.app.bench.prompt_box.prompt.write("")
    session.say("user", TO_MEND)
    status.verdict = ""
    await show.settle()
    await tested(show, "failed")


async def the_end(show: Show) -> None:
    """All steps are done; what was measured is told."""
    await step_8(show)
    session = show.session
    session.say("user", "Fix the failed test of pytest")
    await show.settle()
    session.now_s += 1.5
    await tested(show, "passed")


async def tested(show: Show, verdict: Literal["passed", "failed"]) -> None:
    """The tests ran on the screen."""
    status = show.session.status
    status.running = "pytest -q"
    await show.settle()
    status.running, status.verdict, status.can_send_failure = "", verdict, verdict == "failed"
    await show.settle()


SCENES = (
    Scene("first-run", ScriptedSession, begin=found),
    Scene("first-run-nothing", ScriptedSession, begin=nothing),
    Scene("first-run-looking", ScriptedSession, size=LOW, begin=looking),
    Scene("connect-who", ScriptedSession, begin=connecting),
    Scene("connect-model", ScriptedSession, ("enter",), begin=connecting),
    Scene("connect-tested", ScriptedSession, ("enter", "enter", "enter"), begin=connecting),
    Scene("connect-lines", ScriptedSession, ("enter", "enter", "enter", "enter"), begin=connecting),
    Scene("guide-1", practice, begin=step_1),
    Scene("guide-3", practice, begin=step_3),
    Scene("guide-5", practice, size=LOW, begin=step_5),
    Scene("guide-8", practice, begin=step_8),
    Scene("guide-end", practice, begin=the_end),
)

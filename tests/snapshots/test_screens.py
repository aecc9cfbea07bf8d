"""Pictures of the screen; clock, cursor and meter stand still (tests.support.scripted_app)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from tests.support.scripted_app import exercise, scripted_app
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.core.wire.traffic import SocketView
from tui.engine.notices import Ask
from tui.engine.ports import Abilities
from tui.ui.theme import theme_names

Compare = Callable[..., bool]
SIZES = [(80, 24), (120, 36)]
sizes = pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x36"])


def keys(session: ScriptedSession, *pressed: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Press these when the first frame is painted."""

    async def run(pilot: Pilot[int]) -> None:
        session.changed()
        await pilot.pause(0.1)
        for key in pressed:
            await pilot.press(key)
        await pilot.pause(0.1)

    return run


@sizes
def test_the_first_screen(snap_compare: Compare, size: tuple[int, int]) -> None:
    """An empty conversation with an exercise offered in the prompt."""
    session = ScriptedSession()
    session.status.rehearsal = True
    session.status.prompts = ["make the cache safe for threads", "add a size limit"]
    session.status.suggestion = session.status.prompts[0]
    session.open("ledger/cache.py")
    app = scripted_app(session)
    assert snap_compare(app, terminal_size=size, run_before=keys(session))


@sizes
def test_a_reviewed_turn(snap_compare: Compare, size: tuple[int, int]) -> None:
    """A turn with an answer, a card under review, and a failed test run."""
    session = ScriptedSession()
    exercise(session)
    app = scripted_app(session)
    assert snap_compare(app, terminal_size=size, run_before=keys(session, "alt+j"))


@sizes
def test_while_it_streams(snap_compare: Compare, size: tuple[int, int]) -> None:
    """An answer that is still coming, a hunk that lands, a queued message, a draft."""
    session = ScriptedSession()
    session.say("user", "make the cache safe for threads")
    session.say("reasoning", "Mutations first", speaker="fast", state="open")
    session.say("text", "I'll guard every **mutation", speaker="fast", state="open")
    session.say("patch", speaker="fast", state="open")
    session.hunk(Stage.LANDED, 7, added=1, removed=1)
    session.hunk(Stage.LANDING, 11, added=3)
    session.open("ledger/cache.py")
    session.status.busy = True
    session.status.queued = ["then write a test for it"]
    session.measured(300, 0.3, counted=False)
    app = scripted_app(session)
    run = keys(session, "n", "o", "space", "R", "L", "o", "c", "k")
    assert snap_compare(app, terminal_size=size, run_before=run)


def test_a_question(snap_compare: Compare) -> None:
    """A question above the prompt; the safe refusal is chosen."""
    session = ScriptedSession()
    session.say("user", "deploy it")
    session.status.asks = [
        Ask(
            1,
            "Run the command of this workspace?",
            "make test",
            ("run it this time", "run it always", "do not run it"),
        )
    ]
    assert snap_compare(scripted_app(session), terminal_size=(80, 24), run_before=keys(session))


def streaming() -> ScriptedSession:
    """An answer that streams, with steering texts and a queue."""
    session = ScriptedSession()
    session.say("user", "make the cache safe for threads")
    session.say("text", "I'll guard every mutation", speaker="fast", state="open")
    session.open("ledger/cache.py")
    status = session.status
    status.busy = True
    status.steering = ["a plain Lock, and only in put", "keep the public names"]
    status.steering_fates = ["accepted", "pending"]
    status.queued = ["then write a test for it", "and say in the README that the cache is safe"]
    session.measured(300, 0.3, counted=False)
    return session


@sizes
def test_the_queue(snap_compare: Compare, size: tuple[int, int]) -> None:
    """The focus is in the queue; over it what was steered with."""
    session = streaming()
    run = keys(session, "alt+q", "up")
    assert snap_compare(scripted_app(session), terminal_size=size, run_before=run)


@sizes
def test_a_queued_message_is_edited(snap_compare: Compare, size: tuple[int, int]) -> None:
    """Its text stands in the prompt, and the label says what brings it back."""
    session = streaming()
    run = keys(session, "alt+q", "e", "!")
    assert snap_compare(scripted_app(session), terminal_size=size, run_before=run)


def test_waiting_for_the_next_try(snap_compare: Compare) -> None:
    """The countdown, where the connection stands."""
    session = streaming()
    session.status.connection, session.status.retry_s = "lost", 11.0
    assert snap_compare(scripted_app(session), terminal_size=(80, 24), run_before=keys(session))


@sizes
def test_status(snap_compare: Compare, size: tuple[int, int]) -> None:
    """Models, abilities and two sockets, one of them by HTTP."""
    session = ScriptedSession()
    session.status.transport = "http"
    session.can = Abilities(steer=True, interrupt=True, prewarm=False)
    session.sockets = [
        SocketView(
            endpoint="rehearsal",
            address="127.0.0.1:41873/v1/responses",
            transport="websocket",
            state="open",
            lanes=("main*", "deep"),
            age_s=754,
            round_trip_s=0.0007,
            bytes_in=1_234_567,
            bytes_out=34_123,
            frames_in=12_000,
            requests=12,
            continued=11,
            reconnects=1,
        ),
        SocketView(
            "azure",
            "127.0.0.1:41873/v1/endpoints/azure/responses",
            "http",
            "retiring",
            (),
            3700,
            None,
            0,
            640,
            0,
            1,
            0,
            0,
            "the server refused the WebSocket; it is asked for again now and then",
        ),
    ]
    run = keys(session, *"/status", "enter")
    assert snap_compare(scripted_app(session), terminal_size=size, run_before=run)


def test_help(snap_compare: Compare) -> None:
    """All keys and commands."""
    session = ScriptedSession()
    app = scripted_app(session)
    assert snap_compare(app, terminal_size=(120, 36), run_before=keys(session, "f1"))


def test_leaving(snap_compare: Compare) -> None:
    """The question before hunks are left behind."""
    session = ScriptedSession()
    session.hunk(Stage.LANDED, 7)
    app = scripted_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=keys(session, "ctrl+q"))


def test_too_small(snap_compare: Compare) -> None:
    """One clear sentence."""
    session = ScriptedSession()
    assert snap_compare(scripted_app(session), terminal_size=(38, 10), run_before=keys(session))


@pytest.mark.parametrize("name", theme_names())
def test_every_theme(snap_compare: Compare, name: str) -> None:
    """The same turn in each theme."""
    session = ScriptedSession()
    exercise(session)
    app = scripted_app(session, name)
    assert snap_compare(app, terminal_size=(120, 36), run_before=keys(session))

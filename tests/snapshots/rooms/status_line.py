"""The status line: connection, limits, who serves, and what is measured."""

from __future__ import annotations

from tests.engine.test_stats_words import cycle, told
from tests.snapshots.sessions import streaming, whole
from tests.support.gallery import Scene, Show
from tests.support.scripted_session import ScriptedSession
from tui.core.cycles import CycleReport
from tui.core.wire.endpoint_facts import SocketView
from tui.core.wire.rate_limits import PAUSE, Limit
from tui.engine.notices import Trouble
from tui.engine.ports import Abilities
from tui.ui.widgets.line_template import template_of

OWN_LINE = "{rate} tok/s  {spark:10}[  {cost}]{fill}{workspace!} {branch}  {connection}"


def retrying() -> ScriptedSession:
    """The countdown to the next try, where the connection stands."""
    session = streaming()
    session.status.connection, session.status.retry_s = "lost", 11.0
    return session


def offline() -> ScriptedSession:
    """Nobody listens."""
    session = ScriptedSession()
    session.status.connection, session.status.round_trip_ms = "offline", None
    session.open("ledger/cache.py")
    return session


def limited() -> ScriptedSession:
    """Little is left of a rate limit."""
    session = whole()
    session.status.limits = (Limit("requests", 2, 60, session.now_s + 42),)
    return session


def paused() -> ScriptedSession:
    """The server asks to be left alone."""
    session = whole()
    session.status.limits = (Limit(PAUSE, 0, None, session.now_s + 95),)
    return session


def other() -> ScriptedSession:
    """Another model and tier answered than were asked."""
    session = whole()
    session.status.served_model = "rehearsal-deep"
    session.status.tiers, session.status.served_tier = {"fast": "priority"}, "default"
    return session


def throttled() -> ScriptedSession:
    """The model was slowed down by the user."""
    session = ScriptedSession()
    session.say("user", "make the cache safe for threads")
    session.say("text", "I'll guard every mutation", speaker="fast", state="open")
    session.status.busy, session.status.throttle = True, 50
    session.measured(100, 2.0, counted=False)
    return session


def connected() -> ScriptedSession:
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
            "the server refused the WebSocket; it is tried again now and then",
        ),
    ]
    return session


async def of_ones_own(show: Show) -> None:
    """The settings have a line."""
    show.app.bench.status_line.follow(template_of(OWN_LINE)[0])
    await show.settle()


async def unreachable(show: Show) -> None:
    """What was told when it could not be reached."""
    why = "nothing listening on 127.0.0.1:41873"
    show.session.state.trouble(
        Trouble("The endpoint cannot be reached", why, "start it, then send again")
    )
    await show.settle()


class Weeks:
    """A store with two mornings in it."""

    async def stats(self, since_ms: int) -> CycleReport:
        mornings = [cycle(n, hour, rate) for n, hour, rate in MORNINGS]
        return told(*mornings, felt=2.0)


MORNINGS = [(n, 8 + n // 4 + 24 * (n % 2), 1_100.0 - 90 * (n // 4)) for n in range(24)]


def counted_weeks() -> ScriptedSession:
    """Sessions are kept."""
    session = whole()
    session.kept = Weeks()
    return session


SCENES = (
    Scene("next-try", retrying),
    Scene("offline", offline, begin=unreachable),
    Scene("limited", limited),
    Scene("paused", paused),
    Scene("another-served", other),
    Scene("throttled", throttled),
    Scene("own-line", whole, begin=of_ones_own),
    Scene("status", connected, (*"/status", "enter")),
    Scene("meter", whole, (*"/meter", "enter")),
    Scene("stats", counted_weeks, (*"/stats", "enter")),
)

"""Every screen and state that is pictured."""

from __future__ import annotations

from tests.support.gallery import Scene
from tests.support.review_session import ReviewSession
from tests.support.scripted_app import exercise
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.core.wire.traffic import SocketView
from tui.engine.notices import Ask
from tui.engine.ports import Abilities


def first() -> ScriptedSession:
    """An empty conversation with an exercise offered in the prompt."""
    session = ScriptedSession()
    session.status.rehearsal = True
    session.status.prompts = ["make the cache safe for threads", "add a size limit"]
    session.status.suggestion = session.status.prompts[0]
    session.open("ledger/cache.py")
    return session


def whole() -> ScriptedSession:
    """A turn with an answer, a card and a failed test run."""
    session = ScriptedSession()
    exercise(session)
    return session


def landing() -> ScriptedSession:
    """An answer that is still coming, a hunk that lands, a queued message."""
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
    return session


def asking() -> ScriptedSession:
    """A question above the prompt; the safe refusal is chosen."""
    session = ScriptedSession()
    session.say("user", "deploy it")
    answers = ("run it this time", "run it always", "do not run it")
    session.status.asks = [Ask(1, "Run the command of this workspace?", "make test", answers)]
    return session


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


def retrying() -> ScriptedSession:
    """The countdown to the next try, where the connection stands."""
    session = streaming()
    session.status.connection, session.status.retry_s = "lost", 11.0
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
            "the server refused the WebSocket; it is asked for again now and then",
        ),
    ]
    return session


def undecided() -> ScriptedSession:
    """A hunk that nobody decided on."""
    session = ScriptedSession()
    session.hunk(Stage.LANDED, 7)
    return session


def turn() -> ReviewSession:
    """Hunks that landed and one that was refused, in four files."""
    session = ReviewSession()
    session.open("ledger/cache.py")
    session.turn_of()
    return session


SMALL = ((40, 12), (40, 20))

SCENES = (
    Scene("first", first),
    Scene("turn", whole),
    Scene("turn-under-review", whole, ("alt+j",)),
    Scene("turn-in-the-editor", whole, ("alt+2",)),
    Scene("landing", landing, tuple("no RLock")),
    Scene("question", asking),
    Scene("queue", streaming, ("alt+q", "up")),
    Scene("queue-edited", streaming, ("alt+q", "e", "!")),
    Scene("next-try", retrying),
    Scene("status", connected, (*"/status", "enter")),
    Scene("help", whole, ("f1",)),
    Scene("palette", whole, ("ctrl+p",)),
    Scene("finder", whole, ("ctrl+o",)),
    Scene("find", whole, ("alt+2", "ctrl+f", *"self")),
    Scene("outline", whole, ("alt+2", "ctrl+t")),
    Scene("tree", whole, ("f4",)),
    Scene("split", whole, ("alt+p",)),
    Scene("leaving", undecided, ("ctrl+q",)),
    Scene("review", turn, ("f7", "a", "r")),
    Scene("review-end", turn, ("f7", "s", "end")),
    Scene("review-why", turn, ("f7", "w")),
    Scene("diff", turn, ("f7", "d")),
    Scene("too-small", ScriptedSession, sizes=((38, 10),)),
    Scene("narrow-turn", whole, sizes=SMALL),
    Scene("narrow-review", turn, ("f7", "a", "r"), sizes=SMALL),
    Scene("narrow-help", whole, ("f1",), sizes=SMALL),
)

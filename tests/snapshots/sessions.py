"""Sessions that scenes of several rooms begin with."""

from __future__ import annotations

from tests.support.review_session import ReviewSession
from tests.support.scripted_app import exercise
from tests.support.scripted_session import ScriptedSession
from tui.core.document.hunk import Stage


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


def turn() -> ReviewSession:
    """Hunks that landed and one that was refused, in four files."""
    session = ReviewSession()
    session.open("ledger/cache.py")
    session.turn_of()
    return session

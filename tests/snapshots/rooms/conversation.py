"""The conversation: answers, folds, cards, failures, searching and copying."""

from __future__ import annotations

from tests.snapshots.sessions import first, landing, turn, whole
from tests.support.gallery import LOW, NARROW, Scene, Show
from tests.support.review_session import ReviewSession
from tests.support.scripted_session import ScriptedSession
from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import Stage
from tui.engine.notices import Trouble

MARKDOWN = """## What there is, and what I would do

Three workers share *one* cache; only `put` and `clear` **change** it. ~~No lock~~ is no choice:

| lock | reentrant | cost of `put` | remarks |
|:-----|:---------:|--------------:|---------|
| `Lock` | no | 90 ns | enough, if nothing that holds it calls another that takes it |
| `RLock` | yes | 110 ns | forgives that |
| none | | 60 ns | loses values |

1. make the lock
   - in `__init__`, before anything else
   - never replaced
2. take it
   - [x] in `put`
   - [ ] in `clear`, which is short but is called from another thread when the process ends

> A lock that is held for long is a queue.

See [the docs](https://docs.python.org/3/library/threading.html) <b>and</b> this:

---

```python
with self._lock:
    self._items[key] = val"""
FAILURE = (
    "The model could not answer: 529 overloaded_error: the server has more to do than it can\n"
    "send the prompt again, or answer with the other model"
)


def formatted() -> ScriptedSession:
    """All that Markdown has, up to a code block that is still being written."""
    session = ScriptedSession()
    session.say("user", "which lock, and why?")
    session.say("text", MARKDOWN, speaker="fast", state="open")
    session.status.busy = True
    session.measured(300, 0.3, counted=False)
    return session


def called() -> ScriptedSession:
    """Reasoning, and calls that are one row; one of them failed."""
    session = ScriptedSession()
    session.say("user", "who else uses the cache?")
    session.say(
        "reasoning",
        "The cache is made in two places.\nMutations first, then eviction; then who reads.",
        speaker="fast",
    )
    session.say("tool", "42 lines", title="read_file ledger/cache.py", speaker="fast")
    session.say("tool", "7 matches in 3 files", title="search Cache(", speaker="fast")
    session.say("tool", "it is not there", title="read_file old.py", speaker="fast", state="failed")
    session.say("text", "Only `ledger/report.py` does.", speaker="fast")
    session.measured(300, 0.3)
    return session


def failed() -> ScriptedSession:
    """The server could not, and what can be done."""
    session = ScriptedSession()
    session.say("user", "make the cache safe for threads")
    session.say("note", FAILURE, state="failed")
    session.status.outcome = "failed"
    return session


def stopped() -> ScriptedSession:
    """An answer that was stopped; what had landed stays."""
    session = ScriptedSession()
    session.say("user", "make the cache safe for threads")
    session.say("text", "I'll guard every mutation with one lock, and", speaker="fast", state="cut")
    session.say("patch", speaker="fast", state="cut")
    session.hunk(Stage.LANDED, 7, added=1, removed=1)
    session.hunk(Stage.CUT, 11, added=2)
    session.say("note", "stopped after 512 tokens, 3 ms", state="cut")
    session.open("ledger/cache.py")
    session.status.stopped = "stopped after 512 tokens, 3 ms"
    session.status.outcome = "interrupted"
    session.measured(512, 0.5)
    return session


def stages() -> ScriptedSession:
    """A card with a hunk of every stage."""
    session = ScriptedSession()
    session.say("user", "tidy up")
    session.say("patch", speaker="fast", state="open")
    for line, stage in enumerate(Stage):
        session.hunk(stage, None if stage is Stage.REFUSED else line, added=2, removed=1)
    session.workspace.hunk_list.by_id(1).flags += ("indentation was changed",)
    session.open("ledger/cache.py")
    return session


def thinking() -> ScriptedSession:
    """The deep model, while it thinks."""
    session = ScriptedSession()
    session.status.role, session.status.busy = "deep", True
    session.status.efforts = {"fast": "low", "deep": "high"}
    session.say("user", "why do two workers sometimes see an old value?")
    said = "A value may be read between the check and the write. Which readers hold a lock?"
    session.say("reasoning", said, speaker="deep", state="open")
    session.status.served_model = "rehearsal-deep"
    session.measured(120, 2.4, counted=False)
    return session


def unfolding() -> ReviewSession:
    """Hunks that landed, under the prompt that asked for them."""
    session = turn()
    session.say("user", "make the cache safe for threads")
    session.state.add(Block(BlockKind.PATCH, 1, "", "fast", "call_1", "done"))
    return session


async def told(show: Show) -> None:
    """What the conversation cannot say is told over it."""
    show.session.state.trouble(
        Trouble("The file cannot be written", "no write permission", "change it, then Ctrl+S")
    )
    await show.settle()


SCENES = (
    Scene("first", first),
    Scene("welcome", ScriptedSession, size=NARROW),
    Scene("turn", whole),
    Scene("turn-narrow", whole, size=NARROW),
    Scene("landing", landing, tuple("no RLock")),
    Scene("markdown", formatted),
    Scene("calls", called),
    Scene("calls-unfolded", called, ("alt+1", "enter", "up", "enter"), LOW),
    Scene("card-unfolded", unfolding, ("alt+1", "down", "down", "space")),
    Scene("run-unfolded", whole, ("alt+1", "G", "enter")),
    Scene("stages", stages, ("alt+1",)),
    Scene("thinking", thinking),
    Scene("stopped", stopped),
    Scene("failed", failed),
    Scene("searched-in-vain", whole, ("alt+1", "ctrl+f", *"zebra"), LOW),
    Scene("told", whole, begin=told),
)

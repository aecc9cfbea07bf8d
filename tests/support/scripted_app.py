"""The app over a scripted session, with everything that moves by itself standing still."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

from textual import app as textual_app
from textual import pilot as textual_pilot
from textual._context import active_app
from textual._wait import wait_for_idle
from textual.pilot import Pilot

from tests.support.scripted_session import ScriptedSession
from tui.core.document.hunk import Decision, Stage
from tui.ui.app import DuettoApp

ANSWER = """I'll guard every mutation with **one lock**, and keep `put` short.

1. `__init__` makes the lock
2. `put` takes it

```python
def put(self, key: str, value: bytes) -> None:
    with self._lock:
        self._items[key] = value
```
"""
OUTPUT = """tests/test_cache.py::test_put FAILED
  File "ledger/cache.py", line 12, in put
E   assert 1 == 2
tests/test_cache.py:14: AssertionError
1 failed, 3 passed in 0.12s
"""


async def _idle(min_sleep: float = 0.02, max_sleep: float = 1.0) -> None:
    """Textual's, and then until the loop has nothing to do and the screen nothing to paint.

    It takes a process that a busy machine gives no time for one that has nothing to do.
    """
    await wait_for_idle(min_sleep, max_sleep)
    loop: Any = asyncio.get_running_loop()
    for _ in range(1000):
        await asyncio.sleep(0)
        if loop._ready:
            continue
        if not _is_due(active_app.get(None)):
            break
        await asyncio.sleep(0.001)


def _is_due(app: Any) -> bool:
    """A frame, a layout or a repaint comes by itself."""
    stack = [] if app is None else app._screen_stack
    frame, screen = getattr(app, "_frame", None), stack[-1] if stack else None
    return (frame is not None and frame._handle is not None) or (
        screen is not None and getattr(screen, "_due", None) is not None
    )


textual_app.wait_for_idle = textual_pilot.wait_for_idle = _idle


def scripted_app(session: ScriptedSession, theme_name: str = "dusk") -> DuettoApp:
    """The app; the cursor does not blink."""
    session.status.branch = "main*"
    app = DuettoApp(session.as_session(), theme_name=theme_name, workspace="/home/u/ledger")
    app.bench.prompt_box.prompt.cursor_blink = False
    return app


@asynccontextmanager
async def running(
    session: ScriptedSession, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[DuettoApp, Pilot[int]]]:
    """The running app and its pilot."""
    app = scripted_app(session)
    async with app.run_test(size=size) as pilot:
        await settled(session, pilot)
        yield app, pilot


async def settled(session: ScriptedSession, pilot: Pilot[int]) -> None:
    """Have a frame and let it be painted."""
    frame = getattr(pilot.app, "_frame", None)
    count = 0 if frame is None else frame.count
    session.changed()
    if frame is not None:
        await until(pilot, lambda: frame.count > count or frame._stopped)
    await pilot.pause()


async def until(pilot: Pilot[Any], true: Callable[[], object], seconds: float = 60.0) -> None:
    """Let the app work until something is so; the deadline only fails the test."""
    end_s = monotonic() + seconds
    while not true():
        assert monotonic() < end_s, "it did not come to pass"
        await pilot.pause(0.01)


def exercise(session: ScriptedSession) -> None:
    """A turn with everything in it: reasoning, tools, an answer, a card, a failed run."""
    session.say("user", "make the cache safe for threads; three workers share it")
    session.say("reasoning", "Mutations first, then eviction.", speaker="fast")
    session.say("tool", "42 lines", title="read_file ledger/cache.py", speaker="fast")
    session.say("text", ANSWER, speaker="fast")
    session.say("patch", speaker="fast")
    session.hunk(Stage.LANDED, 0, added=1).decision = Decision.ACCEPTED
    session.hunk(Stage.LANDED, 7, added=3, removed=1)
    session.hunk(Stage.LANDED, 11, added=9, removed=2).flags += ("indentation was changed",)
    session.say("run", OUTPUT, title="python -m pytest -q", state="failed")
    session.open("ledger/cache.py")
    session.status.rehearsal = True
    session.status.verdict = "failed"
    session.status.can_send_failure = True
    session.measured(512, 0.5)

"""Supervised tasks: none dies in silence, all end with the session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine

from tui.engine.notices import Trouble
from tui.engine.session_state import SessionState
from tui.errors import DuettoError

_log = logging.getLogger(__name__)


class Supervisor:
    """Holds the tasks of a session."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._tasks: set[asyncio.Task[None]] = set()

    def start(
        self,
        work: Coroutine[object, object, None],
        name: str,
        on_broken: Callable[[], None] = lambda: None,
    ) -> asyncio.Task[None]:
        """Run to the end; an error becomes a Trouble, a bug is logged as well.

        After either ``on_broken`` is called, so that nobody waits for what will not come.
        """
        guarded = self._guarded(work, name, on_broken)
        task = asyncio.get_running_loop().create_task(guarded, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # one that is cancelled before its first step would complain that it never ran
        task.add_done_callback(lambda _: work.close())
        return task

    async def close(self) -> None:
        """Cancel all and wait for their ends."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(
        self, work: Coroutine[object, object, None], name: str, on_broken: Callable[[], None]
    ) -> None:
        try:
            await work
        except DuettoError as error:
            self._state.trouble(Trouble(f"{name} failed", str(error)))
            on_broken()
        except Exception:
            _log.exception("task %s broke", name)
            self._state.trouble(
                Trouble(f"{name} broke off", "an internal error; details are in the log")
            )
            on_broken()

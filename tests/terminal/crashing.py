"""duetto with a fault in it, named by the first argument; most break when a draft is typed.

For `test_ways_out` and `test_rescue`. What runs is the command line that stands behind the fault.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from tui.cli import process
from tui.cli.main import main
from tui.engine.session import Session
from tui.ui.app import DuettoApp
from tui.ui.screens.workbench import Workbench

_tasks: list[asyncio.Task[None]] = []


def broken(*_: object) -> None:
    """Stands in for a handler of the screen."""
    raise ZeroDivisionError("a fault of ours")


def in_timer(self: Workbench, message: object) -> None:
    """A fault in a callback of the app's."""
    self.set_timer(0.01, broken)


def in_paint(self: Workbench, message: object) -> None:
    """A fault while a frame is painted."""
    DuettoApp._paint = broken
    self.app.call_later(broken)


def exits(self: Workbench, message: object) -> None:
    """Somebody ends the interpreter."""
    sys.exit(3)


def loop_hangs(self: Workbench, message: object) -> None:
    """The event loop never gets its turn again, in the middle of a frame."""
    process.END_S = 0.5
    self.app._driver.when_taken(broken)  # the next frame waits until there is room
    with suppress(BlockingIOError):  # full: the rest of a frame waits for its turn
        os.write(2, b"\x1b[?2026h")
    Path("it hangs").touch()
    while True:
        time.sleep(0.01)


async def thread_hangs() -> None:
    """A thread that the loop waits for is never done."""
    asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)


async def task_hangs() -> None:
    """A task is not impressed by being cancelled."""

    async def goes_on() -> None:
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)

    _tasks.append(asyncio.create_task(goes_on()))


async def session_hangs() -> None:
    """The session's end is never over."""
    await asyncio.Event().wait()


HANGING = {
    "thread_hangs": thread_hangs,
    "task_hangs": task_hangs,
    "session_hangs": session_hangs,
}
FAULTS = {
    "in_handler": ("on_draft_changed", broken),
    "in_timer": ("on_draft_changed", in_timer),
    "in_paint": ("on_draft_changed", in_paint),
    "exit_in_handler": ("on_draft_changed", exits),
    "loop_hangs": ("on_draft_changed", loop_hangs),
    "while_composing": ("compose", broken),
}


def hang_at_the_end(fault: str) -> None:
    """Have something hang from the session's end on."""
    process.END_S = 0.5
    close = Session.close

    async def closed(self: Session) -> None:
        await HANGING[fault]()
        await close(self)

    Session.close = closed


if __name__ == "__main__":
    fault = sys.argv.pop(1) if len(sys.argv) > 1 else "in_handler"
    if fault in FAULTS:
        setattr(Workbench, *FAULTS[fault])
    else:
        hang_at_the_end(fault)
    main()

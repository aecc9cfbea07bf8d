"""Processes beside the app: programs of others, and our own for work that would hold up its screen.

Those of our own end with their stdin, so that none can outlive the app.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LINE_BYTES = 4 << 20
"""Of what it says, a line at most."""
GRACE_S = 1.0
"""Between the end of its stdin and a kill."""
_OWN_FOLDER = Path(__file__).resolve().parents[1]
"""Its working directory: the one that `tui` lies in, never the user's workspace."""


async def spawned(*command: str, **options: Any) -> Process:
    """As `asyncio.create_subprocess_exec`, which is never done where a loop's end cancels it.

    Before it raises `CancelledError` it kills the process, and waits until that has closed its
    pipes: for ever, if the task that connects them was cancelled as well.
    """
    starting = asyncio.ensure_future(asyncio.create_subprocess_exec(*command, **options))
    try:
        return await asyncio.shield(starting)
    finally:
        while not starting.done():
            starting.cancel()  # the second time it waits no longer
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)


async def started(module: str, *arguments: str, environment: Mapping[str, str]) -> Process:
    """Start ``python -m module``. No key is in ``environment``. Raises OSError."""
    return await spawned(
        *(sys.executable, "-m", module, *arguments),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        cwd=_OWN_FOLDER,
        env={name: value for name, value in environment.items() if name != "PYTHONSAFEPATH"},
        start_new_session=True,
        limit=LINE_BYTES,
    )


async def ended(process: Process) -> None:
    """End it, by its stdin or by a kill."""
    if process.returncode is not None:
        return
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), GRACE_S)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()

"""A process can be given up at any moment of its start."""

from __future__ import annotations

import ast
import asyncio
import os
import sys
import threading
from asyncio.subprocess import PIPE
from contextlib import suppress

import pytest

from tests.support.sources import ROOT
from tests.support.terminal import children_of
from tui import own_process

PYTHONS_OWN = {"create_subprocess_exec", "create_subprocess_shell", "subprocess_exec"}
READER = (sys.executable, "-c", "input()")


@pytest.mark.parametrize("turns", range(8))
def test_a_loop_ends_while_a_process_starts(turns: int) -> None:
    """All tasks are cancelled at once then, those of asyncio that connect its pipes, too."""

    async def begun() -> None:
        starting = asyncio.create_task(
            own_process.spawned(*READER, stdin=PIPE, stdout=PIPE, stderr=PIPE)
        )
        for _ in range(turns):
            await asyncio.sleep(0)
        assert starting  # is left to the loop's end

    ending = threading.Thread(target=lambda: asyncio.run(begun()), daemon=True)
    ending.start()
    ending.join(30)
    assert not ending.is_alive()


@pytest.mark.parametrize("turns", range(8))
async def test_a_start_that_is_given_up_leaves_no_process(turns: int) -> None:
    before = set(children_of(os.getpid()))
    starting = asyncio.create_task(
        own_process.spawned(*READER, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    )
    for _ in range(turns):
        await asyncio.sleep(0)
    starting.cancel()
    with suppress(asyncio.CancelledError):
        process = await starting  # it was there already
        process.kill()
        await process.wait()
    while set(children_of(os.getpid())) - before:
        await asyncio.sleep(0.01)


@pytest.mark.slow
def test_all_processes_start_so() -> None:
    """Python's own way hangs where it is cancelled at the wrong moment."""
    found = [
        str(file.relative_to(ROOT))
        for file in (ROOT / "tui").rglob("*.py")
        if file.name != "own_process.py"
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in PYTHONS_OWN
    ]
    assert not found

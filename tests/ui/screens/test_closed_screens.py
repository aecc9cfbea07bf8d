"""What a closed screen showed is let go."""

from __future__ import annotations

import gc
import weakref

import pytest

from tests.support.review_screen import reviewing
from tests.support.scripted_app import until
from tui.ui.screens.workbench import Workbench


@pytest.mark.slow
@pytest.mark.parametrize("key_or_command", ["f7", "f1", "ctrl+p", "/theme", "/status", "/diff"])
async def test_nothing_holds_a_screen_that_was_closed(key_or_command: str) -> None:
    async with reviewing() as (_session, _, pilot):
        bench = pilot.app.screen_stack[0]
        assert isinstance(bench, Workbench)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is bench)
        if key_or_command.startswith("/"):
            bench.slash.run(key_or_command)
        else:
            await pilot.press(key_or_command)
        await until(pilot, lambda: pilot.app.screen is not bench)
        closed = weakref.ref(pilot.app.screen)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is bench)
        await until(pilot, lambda: gc.collect() >= 0 and closed() is None)

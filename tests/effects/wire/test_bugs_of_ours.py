"""A bug of ours on the wire's way: the turn ends all the same, and the last handler hears of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.effects.wire.host import Desk, hosting, states
from tui.core.wire.client.lane import Lane


async def test_a_bug_in_the_protocol_does_not_leave_a_turn_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: heard.append(context))
    async with hosting() as host:
        desk = Desk(host)
        wire, log = desk.lane("main")
        await desk.ask(wire, log, "slow")

        def broken(*args: object, **kwargs: object) -> None:
            raise TypeError("a bug")

        monkeypatch.setattr(Lane, "receive", broken)
        monkeypatch.setattr(Lane, "lost", broken)
        host.go.set()
        async with asyncio.timeout(30):
            while states(log)[-1] != "closed":
                await asyncio.sleep(0.01)
        assert wire.state == "closed"
        assert any(isinstance(context.get("exception"), TypeError) for context in heard)
        monkeypatch.undo()

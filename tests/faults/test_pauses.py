"""A laptop that is shut while a turn runs, and opened hours later (issue 3, item 7)."""

from __future__ import annotations

import asyncio

import pytest

from tests.effects.wire.host import LeapingClock
from tests.support.fault_stand import FINE, seated
from tests.support.nasty_server import Nasty, nasty
from tests.support.nasty_steps import Step
from tests.support.server_words import called, function_call, turn
from tests.support.sockets import at as address_of
from tui.core.files import FileRead
from tui.effects.wire.endpoint import Endpoint


@pytest.mark.parametrize("round_trips", [1, 3])
async def test_shut_while_a_tool_runs_the_next_round_goes_over_a_new_socket(
    round_trips: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[Step]] = [
        turn(number, *called(function_call("read_file", '{"path":"notes.txt"}', f"c{number}")))
        for number in range(round_trips)
    ]
    server, clock = Nasty([*calls, FINE], echo=True), LeapingClock()
    async with nasty(server) as url:
        endpoint = Endpoint("scripted", address_of(url), clock)
        async with seated(endpoint, server) as at:
            read = at.files.read

            def asleep(path: str) -> FileRead:
                clock.ahead_s += 3600.0 * (path == "notes.txt")
                return read(path)

            monkeypatch.setattr(at.files, "read", asleep)
            await at.seat.ask("go")
            assert (at.whole, at.troubles, at.notes) == (["fine"], [], [])
            assert server.connections == 1 + round_trips
            assert at.files.reads["notes.txt"] == round_trips
            later = server.requests[1:]
            assert all("previous_response_id" not in request for request in later)
            await at.goes_on()


async def test_shut_between_turns_the_next_prompt_goes_over_a_new_socket() -> None:
    server, clock = Nasty([FINE], echo=True), LeapingClock()
    async with nasty(server) as url:
        endpoint = Endpoint("scripted", address_of(url), clock)
        async with seated(endpoint, server) as at:
            await at.seat.ask("go")
            clock.ahead_s = 3600.0
            await asyncio.sleep(0)
            await at.goes_on()
            assert (server.connections, at.troubles, at.notes) == (2, [], [])

"""Errors in the stream, and answers that leave things out (PROTOCOL sections 3 and 4)."""

from __future__ import annotations

from typing import Any

from tests.support.fault_stand import FINE, PATCHED, stand
from tests.support.nasty_server import Nasty
from tests.support.nasty_steps import Close, Step
from tests.support.server_words import (
    called,
    created,
    error,
    failed,
    function_call,
    patch_call,
    spoken,
    turn,
)
from tests.support.tables import each
from tests.support.turns import PATCH

ONE = spoken("one", "msg_one")
READ = function_call("read_file", '{"path":"notes.txt"}')
LIMIT = error(400, "websocket_connection_limit_reached", "60 minutes")
NOT_FOUND = error(400, "previous_response_not_found", "gone")


async def test_a_parent_that_is_gone_is_said_in_full_on_the_same_socket() -> None:
    server = Nasty([FINE, FINE, FINE], echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        server.script = [FINE, [NOT_FOUND], turn(2, *spoken("two", "msg_two"))]
        await at.seat.ask("again")
        assert (at.whole, at.troubles, at.notes) == (["fine", "two"], [], [])
        assert (len(server.requests), server.connections, at.waits) == (3, 1, [])
        assert "previous_response_id" in server.requests[1]
        assert "previous_response_id" not in server.requests[2]
        await at.goes_on()
        assert server.requests[3]["previous_response_id"] == "resp_2"


async def test_a_parent_that_is_gone_after_a_tool_runs_no_tool_twice() -> None:
    round_trip: list[list[Step]] = [turn(1, *called(READ)), [NOT_FOUND], FINE]
    server = Nasty(round_trip, echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        assert (at.whole, at.troubles, at.notes) == (["fine"], [], [])
        assert at.files.reads["notes.txt"] == 1
        await at.goes_on()


@each(
    "before, whole",
    [
        ([], ["fine"]),
        ([created("resp_1")], ["fine"]),
        ([created("resp_1"), *ONE], ["one", "fine"]),
        ([created("resp_1"), *ONE, *called(READ)], ["one", "fine"]),
    ],
)
@each("named", [True, False])
async def test_the_age_limit_on_a_busy_socket(
    before: list[Step], whole: list[str], named: bool
) -> None:
    limit = {**LIMIT, "stream_id": "main"} if named else LIMIT
    server = Nasty([[*before, limit, Close(1000)], FINE])
    server.echo = named
    async with stand(server) as at:
        await at.seat.ask("go")
        assert (at.whole, at.troubles, at.notes) == (whole, [], [])
        assert (len(server.requests), server.connections, at.waits) == (2, 2, [])
        await at.goes_on()


@each("goodbye", [[LIMIT, Close(1000)], [LIMIT], [Close(1000)]])
async def test_the_age_limit_on_an_idle_socket(goodbye: list[Step]) -> None:
    server = Nasty([[*FINE, *goodbye]], echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        await at.goes_on()
        assert (at.troubles, at.notes) == ([], [])
        assert server.connections == 2


async def test_a_server_that_ends_every_connection_for_its_age_is_left_in_the_end() -> None:
    old: list[Step] = [created("resp_1"), LIMIT, Close(1000)]
    server = Nasty([*[old] * 20, FINE], echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        assert at.session.status.outcome == "failed"
        assert len(at.troubles) == 1
        assert len(server.requests) == 7
        await at.goes_on()


@each("code", ["invalid_api_key", None])
async def test_a_key_refused_in_the_stream_is_told_once(code: str | None) -> None:
    server = Nasty([[error(401, code, "no such key")]], echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        assert (len(server.requests), len(at.troubles)) == (1, 1)
        assert "refused the key" in at.troubles[0]
        await at.goes_on()


@each(
    "event",
    [error(500, "server_error", "x"), error(503, None, "x"), failed("server_error", "x", "resp_1")],
)
async def test_a_server_error_costs_a_dial_and_nothing_else(event: dict[str, Any]) -> None:
    server = Nasty([[created("resp_1"), *ONE, *called(patch_call(PATCH)), event], FINE], echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        assert (at.whole, at.troubles, at.text) == (["one", "fine"], [], PATCHED)
        assert (len(server.requests), server.connections) == (2, 2)
        assert "previous_response_id" not in server.requests[1]
        await at.goes_on()

"""A socket that ends at every point of a response, in every way: nothing is lost, nothing twice.

PROTOCOL.md section 4 (which close means what) and section 11 (what is sent again).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import cycle, product
from typing import Any

import pytest

from tests.effects.wire.host import LeapingClock
from tests.support.fault_stand import FINE, HASTY, PATCHED, PATCHES, seated, stand
from tests.support.nasty_server import Nasty, nasty
from tests.support.nasty_steps import (
    Close,
    Ending,
    Fin,
    HalfOpen,
    Reset,
    Script,
    Step,
    Wait,
)
from tests.support.server_words import (
    added,
    begun,
    called,
    completed,
    created,
    delta,
    function_call,
    message,
    patch_call,
    spoken,
    turn,
)
from tests.support.sockets import at as address_of
from tests.support.tables import each
from tests.support.turns import CACHE, PATCH
from tui.core.document.hunk import Stage
from tui.core.files import FileRead
from tui.effects.wire.endpoint import Endpoint
from tui.engine import intents

READ = function_call("read_file", '{"path":"notes.txt"}')
OPENING = {**message("", "msg_2"), "content": []}
ONE = spoken("one", "msg_one")


@dataclass(frozen=True)
class Point:
    """A point of a response, and what is to come of a break there."""

    name: str
    before: tuple[Step, ...]
    """What is said before the break."""
    after: Script = (FINE,)
    """What is answered to the requests that follow."""
    whole: tuple[str, ...] = ("fine",)
    """Every message that the conversation shows as whole."""
    partial: str = ""
    """What it shows as broken off."""
    reads: int = 0
    """So often was the tool run."""
    patched: bool = False
    finished: int = 0
    """So many items of the broken response are sent again."""
    torn: bool = False
    """It breaks within an item, and the conversation says so."""


def point(name: str, *before: Any, **more: Any) -> Point:
    return Point(name, before, **more)


POINTS = [
    point("before created"),
    point("after created", created("resp_1")),
    point("in a message", created("resp_1"), added(OPENING), delta("hal", "msg_2"), partial="hal",
        torn=True),
    point("after a message", created("resp_1"), *ONE, whole=("one", "fine"), finished=1),
    point("in the second message", created("resp_1"), *ONE, added(OPENING), delta("hal", "msg_2"),
        whole=("one", "fine"), partial="hal", finished=1, torn=True),
    point("in arguments", created("resp_1"), *begun(READ, 0.5), torn=True),
    point("after a call", created("resp_1"), *called(READ), reads=1, finished=1),
    point("in a patch", created("resp_1"), *begun(patch_call(PATCH), 0.7),
        after=([*PATCHES, completed("resp_patch")], FINE), patched=True, torn=True),
    point("after a patch", created("resp_1"), *called(patch_call(PATCH)), patched=True,
        finished=1),
    point("before the terminal", created("resp_1"), *ONE, *called(READ),
        *called(patch_call(PATCH, "call_p")), whole=("one", "fine"), reads=1, patched=True,
        finished=3),
    point("in the round after a call", after=(FINE,), reads=1, finished=1),
]  # fmt: skip
PASSING: list[Ending] = [Reset(), Fin(), *map(Close, (1000, 1001, 1011, 1012, 1013))]
HOPELESS: list[Ending] = [Close(1008), Close(1009)]
MEETINGS = [*product(POINTS[4:5], PASSING), *zip(POINTS, cycle(PASSING))]
"""Every ending at one point, and one at every point."""


def scripted(where: Point, ending: Ending) -> Script:
    first: list[Step] = [*where.before, ending]
    if where.name == "in the round after a call":
        return [turn(0, *called(READ)), [created("resp_1"), ending], *where.after]
    return [first, *where.after]


@each("where, ending", MEETINGS)
async def test_a_break_that_passes_is_mended(where: Point, ending: Ending) -> None:
    script = scripted(where, ending)
    server = Nasty(script, echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        assert at.session.status.outcome == "completed"
        assert at.troubles == []
        assert (len(server.requests), server.connections) == (len(script), 2)
        assert at.whole == list(where.whole)
        assert at.broken == [where.partial] * bool(where.partial)
        assert [note.partition(": ")[2] for note in at.notes] == (
            ["trying again (1 of 5)"] * where.torn
        )
        assert at.files.reads["notes.txt"] == where.reads
        assert at.text == (PATCHED if where.patched else CACHE)
        stages = [hunk.stage for hunk in at.session.workspace.hunks]
        assert stages.count(Stage.LANDED) == where.patched
        again = server.requests[-1 if not where.patched or where.finished else 1]
        assert "previous_response_id" not in again
        ids = [item.get("id") for item in again["input"] if item.get("id")]
        assert len(ids) == where.finished
        assert server.faults == []
        await at.goes_on()
        assert at.files.data["cache.py"] == CACHE.encode()


@each("where, ending", [*zip(POINTS[:-1], cycle(HOPELESS))])
async def test_a_break_that_would_come_again_is_told(where: Point, ending: Ending) -> None:
    server = Nasty([[*where.before, ending]], echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        assert at.session.status.outcome == "failed"
        assert (len(server.requests), len(at.troubles)) == (1, 1)
        assert at.whole == [text for text in where.whole if text != "fine"]
        assert at.broken == [where.partial] * bool(where.partial)
        # What nothing has come of yet is put back to be sent again.
        assert at.session.status.unsent == ("" if where.finished else "go")
        assert at.text == (PATCHED if where.patched and where.finished else CACHE)
        await at.goes_on()
        assert server.connections == 2


@each("ending", [Reset(), Fin(), Close(1000), Close(1008)])
async def test_a_socket_that_ends_between_turns_is_nobodys_concern(ending: Ending) -> None:
    server = Nasty([[*FINE, ending]], echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        await at.seat.until(lambda: at.session.status.connection != "ready")
        await at.goes_on()
        assert (at.troubles, at.notes, server.connections) == ([], [], 2)
        assert "previous_response_id" not in server.requests[1]
        assert [item["id"] for item in server.requests[1]["input"] if "id" in item] == ["msg_fine"]


async def test_of_a_patch_that_breaks_in_the_second_file_the_first_stays_once() -> None:
    head, tail = PATCH.split("*** End Patch")[0], "*** Add File: new.txt\n+one\n+two\n"
    whole = patch_call(f"{head}{tail}*** End Patch\n")
    rest = patch_call(f"*** Begin Patch\n{tail}*** End Patch\n", "call_rest")
    again: list[Step] = [created("resp_2"), *called(rest), completed("resp_2")]
    server = Nasty([[created("resp_1"), *begun(whole, 0.93), Reset()], again, FINE], echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        assert (at.session.status.outcome, at.troubles) == ("completed", [])
        assert at.text == PATCHED
        assert at.session.workspace.open("new.txt").text() == "one\ntwo\n"
        outputs = [i for i in server.requests[1]["input"] if i["type"].endswith("_output")]
        assert len(outputs) == 1
        assert "cache.py" in outputs[0]["output"]
        await at.goes_on()


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


@pytest.mark.slow
@each(
    "before, whole",
    [
        ([], ["fine"]),
        ([created("resp_1")], ["fine"]),
        ([created("resp_1"), *ONE], ["one", "fine"]),
        ([created("resp_1"), *ONE, *called(patch_call(PATCH))], ["one", "fine"]),
    ],
)
async def test_a_pulled_cable_is_noticed_and_mended(before: list[Step], whole: list[str]) -> None:
    server = Nasty([[*before, HalfOpen()], FINE], echo=True)
    async with stand(server, options=HASTY) as at:
        await at.seat.ask("go")
        assert (at.session.status.outcome, at.whole, at.troubles) == ("completed", whole, [])
        assert (len(server.requests), server.connections) == (2, 2)
        assert (at.text == PATCHED) == (len(before) > 5)
        await at.goes_on()


async def test_a_cable_pulled_between_turns_costs_a_dial() -> None:
    server = Nasty([[*FINE, HalfOpen()]], echo=True)
    async with stand(server, options=HASTY) as at:
        await at.seat.ask("go")
        await at.goes_on()
        assert (at.troubles, server.connections) == ([], 2)


async def test_pongs_alone_do_not_make_an_answer() -> None:
    server = Nasty([[created("resp_1"), *ONE, Wait(20)], FINE], echo=True)
    async with stand(server, options=HASTY) as at:
        await at.seat.ask("go")
        assert (at.whole, server.connections, at.troubles) == (["one", "fine"], 2, [])
        await at.goes_on()


@pytest.mark.slow
@each("where", range(5))
async def test_a_stall_is_waited_out(where: int) -> None:
    steps: list[Step] = turn(1, *ONE)
    steps.insert(where, Wait(0.4))
    server = Nasty([steps], echo=True)
    async with stand(server, options=HASTY) as at:
        await at.seat.ask("go")
        assert (at.whole, server.connections, at.troubles) == (["one"], 1, [])


async def test_esc_in_a_stall_frees_the_prompt() -> None:
    server = Nasty([[created("resp_1"), delta("hal", "msg_1"), HalfOpen()], FINE], echo=True)
    async with stand(server) as at:
        at.session.submit(intents.Prompt("go"))
        await at.seat.until(lambda: "hal" in at.seat.said())
        at.session.submit(intents.Interrupt())
        await at.seat.until(lambda: not at.session.status.busy)
        assert at.session.status.outcome == "interrupted"
        await at.goes_on()

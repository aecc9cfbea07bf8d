"""A socket that ends at every point of a response, in every way: nothing is lost, nothing twice.

PROTOCOL.md section 4 (which close means what) and section 11 (what is sent again).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, product
from typing import Any

import pytest

from tests.support.fault_stand import FINE, PATCHED, PATCHES, stand
from tests.support.nasty_server import Nasty
from tests.support.nasty_steps import Close, Ending, Fin, Reset, Script, Step
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
from tests.support.tables import each
from tests.support.turns import CACHE, PATCH
from tui.core.document.hunk import Stage

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


async def test_a_break_that_comes_each_time_is_told_after_five_tries() -> None:
    tries = [[created(f"resp_{n}"), *spoken("one", f"msg_{n}"), Reset()] for n in range(6)]
    server = Nasty(tries, echo=True)
    async with stand(server) as at:
        await at.seat.ask("go")
        assert at.session.status.outcome == "failed"
        assert (len(server.requests), len(at.troubles)) == (6, 1)
        assert at.waits == pytest.approx([0.2, 0.4, 0.8, 0.6, 1.0, 0.2, 1.0, 1.0, 1.0])
        assert len(server.inputs[5]) == len(server.inputs[0]) + 5
        assert server.faults == []

"""Sockets that fall silent without an end, and those that are only slow (PROTOCOL section 10)."""

from __future__ import annotations

from tests.support.fault_stand import FINE, HASTY, PATCHED, stand
from tests.support.nasty_server import Nasty, nasty
from tests.support.nasty_steps import HalfOpen, NoPongs, Step, Storm, Wait, dribbling
from tests.support.server_words import (
    called,
    completed,
    created,
    delta,
    patch_call,
    spoken,
    turn,
)
from tests.support.tables import each
from tests.support.turns import PATCH
from tui.engine import intents

ONE = spoken("one", "msg_one")


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


async def test_a_server_that_answers_no_pings_but_speaks_is_alive() -> None:
    noise = Storm(delta("x", "msg_x"), 12, gap_s=0.06)
    server = Nasty([[NoPongs(), created("resp_1"), noise, completed("resp_1")]], echo=True)
    async with stand(server, options=HASTY) as at:
        assert await at.seat.ask("go") == "x" * 12
        assert (server.connections, at.session.status.outcome) == (1, "completed")


async def test_pongs_alone_do_not_make_an_answer() -> None:
    server = Nasty([[created("resp_1"), *ONE, Wait(20)], FINE], echo=True)
    async with stand(server, options=HASTY) as at:
        await at.seat.ask("go")
        assert (at.whole, server.connections, at.troubles) == (["one", "fine"], 2, [])
        await at.goes_on()


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


@each("echo", [True, False])
async def test_a_line_that_dribbles(echo: bool) -> None:
    text = "fine – " + "é漢🙂" * 40
    steps: list[Step] = [
        created("resp_1"),
        *spoken(text, "msg_one"),
        *called(patch_call(PATCH)),
        completed("resp_1"),
    ]
    server = Nasty([steps, FINE], echo=echo)
    async with nasty(server) as direct, dribbling(direct) as url, stand(server, url=url) as at:
        await at.seat.ask("go")
        assert (at.whole, at.troubles, at.text) == ([text, "fine"], [], PATCHED)
        assert server.connections == 1
        await at.goes_on()

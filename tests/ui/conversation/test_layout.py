"""Stops: the rows on which keys act, found however long the conversation is."""

from __future__ import annotations

import time

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession


async def test_a_key_that_finds_no_stop_costs_the_same_in_a_long_conversation() -> None:
    costs = {}
    for turns in (20, 5000):
        session = ScriptedSession()
        for turn in range(turns):
            session.say("user", f"a prompt of some length that is never folded {turn} " * 4)
            session.say("text", f"answer {turn}\n\n" * 3, speaker="fast")
        async with running(session) as (app, _):
            rows = app.bench.transcript.rows
            spent = []
            for _ in range(9):
                start = time.process_time()
                assert list(rows.stops()) == list(rows.stops(rows.total, back=True)) == []
                spent.append(time.process_time() - start)
            costs[turns] = sorted(spent)[4]
    assert costs[5000] < 3 * costs[20] + 0.001


async def test_what_breaks_off_far_above_or_is_long_in_another_width_is_a_stop() -> None:
    session = ScriptedSession()
    session.say("user", ("word " * 14 + "\n") * 12)
    block = session.say("text", "so far", speaker="fast", state="open")
    for _ in range(100):
        session.say("user", "prompt")
        session.say("text", "answer", speaker="fast")
    async with running(session, (199, 30)) as (app, pilot):
        rows = app.bench.transcript.rows
        assert list(rows.stops()) == []
        session.board.close(block, "failed")
        await settled(session, pilot)
        assert [stop.view for stop in rows.stops()] == [1]
        await pilot.resize_terminal(60, 30)
        while rows.scene.width > 60:
            await settled(session, pilot)
        assert [stop.view for stop in rows.stops()] == [0, 1]
        assert [stop.view for stop in rows.stops(rows.total, back=True)] == [1, 0]

"""Long answers are taken up in slices, and in pages."""

from __future__ import annotations

import itertools
import time

import pytest

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.ui.conversation import text_view
from tui.ui.conversation.layout import Layout
from tui.ui.rows import Row

LONG = "A line of an answer that came all at once.\n\n" * 4000


async def test_an_answer_that_ends_while_the_screen_is_behind_is_taken_up_in_slices() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        block = session.say("text", speaker="fast", state="open")
        session.stream(block, LONG)
        app._paint()
        session.board.close(block)
        spent = []
        while app.bench.transcript.behind is not None:
            start = time.process_time()
            app._paint()
            spent.append(time.process_time() - start)
        assert len(spent) > 5
        assert sum(sorted(spent)[-2:]) < sum(spent) / 2
        view = app.bench.transcript.rows.views[-1]
        assert len(view.pages) > 8
        assert view.pages[-1].view is view
        await settled(session, pilot)
        shown = [app.bench.transcript.render_line(y).text for y in range(30)]
        assert any("all at once" in row for row in shown)


@pytest.mark.parametrize("text", ["[" * 20_000, "![a](" * 4000, "*a " * 7000], ids=len)
async def test_an_answer_full_of_signs_is_taken_up_as_the_clock_allows(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = itertools.count()
    monkeypatch.setattr(text_view, "thread_time", lambda: next(looks) / 250)
    session = ScriptedSession()
    async with running(session) as (app, _):
        session.stream(session.say("text", speaker="fast", state="open"), text)
        app._paint()
        view = app.bench.transcript.rows.views[-1]
        assert isinstance(view, text_view.TextView)
        assert 0 < view._read < 1000
        assert view.behind


async def test_an_answer_that_is_over_is_made_again_as_the_clock_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text, looks = LONG[:4_000], itertools.count()
    monkeypatch.setattr(text_view, "thread_time", lambda: next(looks) / 250)
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.say("text", text, speaker="fast")
        app._paint()
        app.bench.transcript.recolour()
        view = app.bench.transcript.rows.views[-1]
        assert isinstance(view, text_view.TextView)
        assert 0 < view._read < len(text) / 4
        while app.bench.transcript.behind is not None:
            await pilot.pause()  # the frames that take up the rest come by themselves
        assert view._read == len(text)


async def test_two_answers_that_are_behind_are_taken_up_one_after_the_other() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        session.say("text", LONG, speaker="fast")
        session.say("text", LONG + "the last one", speaker="deep")
        session.say("user", "and on")
        await settled(session, pilot)
        for _ in range(60):
            app._paint()
        rows = app.bench.transcript.rows
        assert app.bench.transcript.behind is None
        assert_counted(rows)
        assert not_none(rows.row(rows.total - 3)).strip.text.rstrip().endswith("the last one")


async def test_a_long_answer_that_is_first_looked_at_has_pages() -> None:
    session = ScriptedSession()
    session.say("text", LONG + "the end of the long one", speaker="fast")
    for _ in range(100):
        session.say("user", "prompt")
        session.say("text", "answer", speaker="fast")
    async with running(session) as (app, pilot):
        pane = app.bench.transcript
        rows = pane.rows
        assert len(rows.views[0].pages) == 1
        first = rows.views[1].first
        pane.go_to(rows.pages.start(first) - 5)
        await settled(session, pilot)
        assert len(rows.views[0].pages) > 8
        assert_counted(rows)


def not_none(row: Row | None) -> Row:
    assert row is not None
    return row


def assert_counted(rows: Layout) -> None:
    """Every view knows where its pages are, and every page where its rows are."""
    at = total = 0
    for view in rows.views:
        assert view.first == at
        for page in view.pages:
            assert rows.pages[at] is page
            assert rows.pages.start(at) == total
            total += page.height
            at += 1
    assert (len(rows.pages), rows.total) == (at, total)

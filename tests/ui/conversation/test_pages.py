"""A long conversation costs what is in sight: pages are made when they are looked at."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.core.edits.hunk import Stage
from tui.core.turn import Block, BlockKind
from tui.engine.notices import Notices
from tui.ui.app import DuettoApp
from tui.ui.conversation.layout import Layout
from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.conversation.text_view import TextView
from tui.ui.conversation.views import Page, Scene
from tui.ui.rows import Row

PIECES = (
    "A paragraph of some words that goes on.\n\n",
    "# Heading\n\n",
    "- one\n- two\n\n",
    "1. first\n\n   more of it\n\n2. second\n\n",
    "```python\ndef f(x):\n    return x\n```\n\n",
    "```\n" + "plain\n" * 40 + "```\n",
    "words without an end ",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "> quoted\n\n",
    "日本語 and émoji 👩‍🚀\n",
)


def text_of(row: Row) -> str:
    return row.strip.text.rstrip()


def whole(text: str, width: int) -> list[str]:
    """The rows of a text that was never cut into pages."""
    scene = Scene(width=width)
    stream = MarkdownStream(width - 3)
    stream.feed(text)
    stream.finish()
    return [text_of(Row(line, scene.width)) for line in stream.rows]


def remade(page: Page) -> list[str]:
    page.view.make(page.number)
    assert page.rows is not None
    assert page.height == len(page.rows)
    return [text_of(row) for row in page.rows]


def made(view: TextView) -> list[str]:
    """The rows of all pages, each made from its own part of the text."""
    rows: list[str] = []
    for page in view.pages:
        page.rows = None
        rows += remade(page)
    return rows


def read(text: str, sizes: list[int], width: int = 80) -> TextView:
    """A view of a text that came in pieces of these sizes, one a frame."""
    block = Block(BlockKind.TEXT, 1)
    view = TextView(block, 0, Scene(width=width), Block(BlockKind.TEXT, 1))
    at = number = 0
    while at < len(text):
        size = sizes[number % len(sizes)]
        block.append(text[at : at + size])
        view.sync()
        at, number = at + size, number + 1
    block.state = "done"
    for _ in range(50):
        view.sync()
    return view


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=12),
    st.integers(1, 60),
    st.lists(st.integers(1, 4000), min_size=1, max_size=5),
)
def test_pages_hold_the_rows_of_the_whole_text(
    pieces: list[str], times: int, sizes: list[int]
) -> None:
    text = "".join(pieces) * times
    view = read(text, sizes)
    assert letters(made(view)) == letters(whole(text, 80))


def letters(rows: list[str]) -> str:
    """All that is said: a paragraph of 3,000 characters is broken elsewhere in other pieces."""
    return "".join("".join(rows).split())


def test_a_long_answer_has_pages_and_the_same_rows() -> None:
    text = "".join(PIECES[:5]) * 200
    view = read(text, [64])
    assert len(view.pages) > 3
    assert made(view)[1:] == whole(text, 80)


def test_a_page_may_end_within_a_long_fence() -> None:
    text = "before\n\n```python\n" + "x = 1\n" * 9000 + "```\n\nafter\n"
    view = read(text, [700])
    assert len(view.pages) >= 2
    rows = made(view)
    assert rows.count("   x = 1") == 9000
    assert [row for row in rows if row.strip()][-1] == "  after"


def answers(session: ScriptedSession, turns: int) -> None:
    for turn in range(turns):
        session.say("user", f"prompt {turn}")
        session.say("text", f"answer {turn}\n\n" * 3, speaker="fast")


async def frame(app: DuettoApp, session: ScriptedSession, pilot: Pilot[int]) -> None:
    await settled(session, pilot)
    await pilot.pause(0.02)


async def test_of_a_long_conversation_only_what_is_in_sight_is_made() -> None:
    session = ScriptedSession()
    answers(session, 5000)
    async with running(session) as (app, _):
        rows = app.bench.transcript.rows
        fresh = sum(page.rows is not None for view in rows.views for page in view.pages)
        assert fresh <= 80
        assert rows.total > 20_000
        last = [app.bench.transcript.render_line(y).text for y in range(30)]
        assert any("answer 4999" in row for row in last)


async def test_a_new_width_wraps_what_is_in_sight_only() -> None:
    session = ScriptedSession()
    answers(session, 3000)
    async with running(session) as (app, pilot):
        rows = app.bench.transcript.rows
        for width in (100, 130, 90, 150):
            await pilot.resize_terminal(width, 36)
            await frame(app, session, pilot)
            pages = [page for view in rows.views for page in view.pages]
            assert 2 < sum(page.fresh for page in pages) < 120


async def test_the_row_at_the_top_stays_while_it_is_read() -> None:
    session = ScriptedSession()
    answers(session, 300)
    async with running(session, (120, 30)) as (app, pilot):
        pane = app.bench.transcript
        pane.go_to(pane.rows.total // 2)
        await frame(app, session, pilot)
        before = [pane.render_line(y).text for y in range(pane.size.height)]
        for _ in range(40):  # what is above is made, and turns out to be higher or lower
            pane.rows.settle(pane.size.height, end=False)
            list(pane.rows.stops(pane.top, back=True))
        after = [pane.render_line(y).text for y in range(pane.size.height)]
        assert after == before


async def test_scrolling_through_guesses_misses_and_repeats_nothing() -> None:
    session = ScriptedSession()
    answers(session, 120)
    async with running(session, (120, 30)) as (app, pilot):
        pane = app.bench.transcript
        await pilot.resize_terminal(90, 30)
        await frame(app, session, pilot)
        seen: list[int] = []
        for _ in range(2000):
            for y in reversed(range(pane.size.height)):
                row = pane.render_line(y).text
                if "prompt " in row:
                    number = int(row.split("prompt ")[1].split()[0])
                    if number not in seen:
                        seen.append(number)
            if pane.top == 0:
                break
            pane.go_to(pane.top - 3)
        assert seen == list(reversed(range(120)))


async def test_rows_that_nobody_looks_at_are_let_go_of() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        for turn in range(30):
            session.say("user", f"prompt {turn}")
            block = session.say("text", speaker="fast", state="open")
            for _ in range(60):
                session.stream(block, "A paragraph.\n\n" * 20)
                app._paint()
            session.board.close(block)
            await frame(app, session, pilot)
        rows = app.bench.transcript.rows
        kept = sum(len(page.rows or ()) for view in rows.views for page in view.pages)
        assert rows.total > 30_000
        assert kept < 6_000


async def test_a_frame_of_a_long_conversation_costs_what_one_of_a_short_one_does() -> None:
    costs = {}
    for turns in (5, 5000):
        session = ScriptedSession()
        answers(session, turns)
        async with running(session) as (app, pilot):
            block = session.say("text", speaker="fast", state="open")
            await frame(app, session, pilot)
            spent = []
            for _ in range(60):
                session.stream(block, "some more words and a line\n")
                start = time.process_time()
                app._paint()
                spent.append(time.process_time() - start)
                await pilot.pause(0)
            costs[turns] = sorted(spent)[len(spent) // 2]
    assert costs[5000] < 2.5 * costs[5] + 0.001


async def test_stops_are_found_up_and_down_through_pages_that_were_never_made() -> None:
    session = ScriptedSession()
    for turn in range(200):
        session.say("reasoning", f"thought {turn}", speaker="fast")
        session.say("text", "word\n\n" * 4, speaker="fast")
    async with running(session) as (app, _):
        rows: Layout = app.bench.transcript.rows
        up = [stop.view for stop in rows.stops(rows.total, back=True)]
        down = [stop.view for stop in rows.stops()]
        assert down == [2 * turn for turn in range(200)]
        assert up == down[::-1]


async def test_review_finds_the_one_open_hunk_far_above() -> None:
    session = ScriptedSession()
    session.say("patch", speaker="fast")
    session.hunk(Stage.LANDED, 7, added=3, removed=1)
    answers(session, 400)
    async with running(session) as (app, pilot):
        assert app.bench.transcript.select_pending()
        await frame(app, session, pilot)
        shown = [app.bench.transcript.render_line(y).text for y in range(30)]
        assert any("pending" in row for row in shown)


def is_behind(app: DuettoApp) -> bool:
    return app.bench.transcript.behind is not None


async def test_a_burst_is_taken_up_over_several_frames() -> None:
    session = ScriptedSession()
    async with running(session) as (app, pilot):
        block = session.say("text", speaker="fast", state="open")
        session.stream(block, "A line of an answer that came all at once.\n\n" * 4000)
        app._paint()
        assert is_behind(app)
        for _ in range(200):
            await pilot.pause(0.02)
            if not is_behind(app):
                break
        assert not is_behind(app)
        session.stream(block, "the very end")
        await frame(app, session, pilot)
        rows = [app.bench.transcript.render_line(y).text for y in range(30)]
        assert any("the very end" in row for row in rows)


@pytest.mark.parametrize("seed", range(5))
async def test_starts_and_heights_agree_after_anything(seed: int) -> None:
    chance, session = random.Random(seed), ScriptedSession()
    async with running(session) as (app, pilot):
        rows = app.bench.transcript.rows
        blocks = [session.say("text", speaker="fast", state="open")]
        for _ in range(60):
            roll = chance.random()
            if roll < 0.3:
                blocks.append(session.say("text", speaker="fast", state="open"))
            elif roll < 0.4:
                session.say("run", "line\n" * 30, title="make", state="done")
            elif roll < 0.5:
                await pilot.resize_terminal(chance.randrange(60, 140), 30)
            elif roll < 0.6:
                session.board.close(chance.choice(blocks), chance.choice(("done", "failed")))
            else:
                block = chance.choice(blocks)
                if block.state == "open":
                    session.stream(block, chance.choice(PIECES) * chance.randrange(1, 80))
            app.bench.sync(Notices(transcript_from=0))
            pages = [page for view in rows.views for page in view.pages]
            assert rows.total == sum(page.height for page in pages)
            assert len(rows.pages) == len(pages)
            assert [view.first for view in rows.views] == sorted(v.first for v in rows.views)
            app.bench.transcript.go_to(chance.randrange(rows.total + 1))

"""Search in the conversation: every match is lit and counted, however it was written."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp
from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.conversation.search import Search
from tui.ui.conversation.seeking import Needle
from tui.ui.rows import Row


def rows_of(text: str, width: int = 40) -> list[Row]:
    stream = MarkdownStream(width - 3)
    stream.feed(text)
    stream.finish()
    return [Row(line, width) for line in stream.rows]


def found(words: str, text: str, width: int = 40) -> list[str]:
    """What is lit of each match, its rows one after the other."""
    rows = rows_of(text, width)
    return [
        " ".join(rows[span.row].strip.crop(span.start, span.end).text for span in match)
        for match in Needle(words).matches(rows)
    ]


def test_emphasis_and_code_do_not_hide_words() -> None:
    assert found("one lock", "with **one** `lock` only") == ["one lock"]


def test_a_match_goes_over_the_end_of_a_row() -> None:
    text = "word " * 7 + "the long way round"
    assert found("long way round", text, 48) == ["long way round"]


def test_wide_characters_are_lit_whole() -> None:
    assert found("日本", "some 日本語 text") == ["日本"]


def test_a_capital_letter_asks_for_itself() -> None:
    assert found("rlock", "RLock and rlock") == ["RLock", "rlock"]
    assert found("RLock", "RLock and rlock") == ["RLock"]


def test_what_is_looked_for_is_no_pattern() -> None:
    assert found("a.b(", "a.b( axb(") == ["a.b("]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40), st.text(alphabet="ab*_`[]() |-\n日é\x1b", max_size=200))
def test_anything_can_be_looked_for_in_anything(words: str, text: str) -> None:
    rows = rows_of(text)
    for match in Needle(words).matches(rows):
        for span in match:
            assert 0 <= span.row < len(rows)
            assert span.start < span.end


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["lock", "**one**", "`put`", "[a](b)", "\n\n", "x_y"]), max_size=12)
)
def test_a_source_that_is_passed_over_has_no_match(parts: list[str]) -> None:
    text = " ".join(parts)
    for words in ("one", "lock", "put x_y", "a (b)", "lock one"):
        needle = Needle(words)
        if needle.matches(rows_of(text, 400)):
            assert needle.may_be_in(text)


def turns(session: ScriptedSession, count: int) -> None:
    for turn in range(count):
        session.say("user", f"prompt {turn}")
        session.say("text", f"The **answer** {turn} is here.\n\n" * 2, speaker="fast")


def lit_rows(app: DuettoApp) -> list[str]:
    pane = app.bench.transcript
    assert pane.lights is not None
    return [
        pane.render_line(y).text[:-1].strip()
        for y in range(pane.size.height)
        if pane.lights(pane.top + y)
    ]


def told(app: DuettoApp) -> str:
    return str(app.bench.query_one("#search-bar .count").render()).strip()


async def looked_for(pilot: Pilot[int], app: DuettoApp, words: str) -> Search:
    app.bench.transcript.search_for(words)
    search = app.bench.transcript._search
    assert search is not None
    while search.tally.waiting:
        await pilot.pause(0.01)
    await pilot.pause()
    return search


async def test_words_are_counted_lit_and_stepped_through() -> None:
    session = ScriptedSession()
    turns(session, 30)
    async with running(session, (120, 30)) as (app, pilot):
        await pilot.press("shift+tab", "ctrl+f")
        await pilot.press(*"answer 1")
        await looked_for(pilot, app, "")
        assert told(app) == "1 of 22"
        assert "The answer 19 is here." in lit_rows(app)
        await pilot.press("enter", "up")
        assert told(app) == "3 of 22"
        assert "The answer 18 is here." in lit_rows(app)
        await pilot.press("down")
        assert told(app) == "2 of 22"
        await pilot.press("down", "down")
        assert told(app) == "22 of 22", "from the newest on to the oldest"
        await pilot.press("escape")
        assert not app.bench.transcript.searching
        assert app.bench.transcript.lights is None
        assert app.bench.focused is app.bench.transcript


async def test_what_is_folded_is_found_and_unfolded() -> None:
    session = ScriptedSession()
    session.say("run", "".join(f"line {n}\n" for n in range(40)), title="make test")
    session.say("reasoning", "First the mutations.\nThen the eviction.", speaker="fast")
    turns(session, 20)
    async with running(session, (120, 40)) as (app, pilot):
        await looked_for(pilot, app, "line 7")
        assert lit_rows(app) == ["│ line 7"]
        await looked_for(pilot, app, "then the eviction")
        assert lit_rows(app) == ["▎ Then the eviction."]


async def test_what_is_not_there_is_said() -> None:
    session = ScriptedSession()
    turns(session, 3)
    async with running(session) as (app, pilot):
        await looked_for(pilot, app, "nowhere")
        assert told(app) == "not found"
        await pilot.press("up", "down", "enter")
        assert told(app) == "not found"


async def test_what_comes_while_it_is_looked_for_is_counted_and_lit() -> None:
    session = ScriptedSession()
    turns(session, 3)
    async with running(session) as (app, pilot):
        search = await looked_for(pilot, app, "eviction")
        block = session.say("text", "the evic", speaker="fast", state="open")
        await settled(session, pilot)
        session.stream(block, "tion\n\n")
        session.board.close(block)
        await settled(session, pilot)
        while search.tally.waiting:
            await pilot.pause(0.05)
        assert search.tally.total == 1
        await pilot.press("enter")
        assert "the eviction" in lit_rows(app)


async def test_what_came_while_the_bar_was_closed_is_found() -> None:
    session = ScriptedSession()
    turns(session, 3)
    async with running(session) as (app, pilot):
        await looked_for(pilot, app, "eviction")
        await pilot.press("escape")
        session.say("text", "the eviction", speaker="fast")
        await settled(session, pilot)
        await pilot.press("ctrl+f")
        await looked_for(pilot, app, "")
        assert told(app) == "1 of 1"


async def test_a_new_conversation_is_searched_anew() -> None:
    session = ScriptedSession()
    turns(session, 3)
    async with running(session) as (app, pilot):
        search = await looked_for(pilot, app, "answer")
        session.transcript.blocks.clear()
        session.say("text", "another answer", speaker="fast")
        await settled(session, pilot)
        while search.tally.waiting:
            await pilot.pause(0.05)
        assert search.tally.total == 1
        await pilot.press("enter", "enter")
        assert "another answer" in lit_rows(app)


async def test_thousands_of_turns_are_counted_in_slices_that_no_key_waits_for() -> None:
    session = ScriptedSession()
    turns(session, 4000)
    async with running(session) as (app, pilot):
        pane = app.bench.transcript
        await looked_for(pilot, app, "nowhere to be found")
        search = Search(pane.rows)
        before = pane.rows.total
        search.look_for("answer 39")
        spent = []
        while search.tally.waiting:
            start = time.process_time()
            search.tally.slice()
            spent.append(time.process_time() - start)
        assert search.tally.total == 2 * 111
        assert sorted(spent)[len(spent) // 2] < 0.05
        assert pane.rows.total == before, "nothing moves while it is counted"


async def test_it_opens_from_the_prompt_and_from_the_editor() -> None:
    session = ScriptedSession()
    turns(session, 3)
    async with running(session, (90, 30)) as (app, pilot):
        await pilot.press("alt+slash", *"answer 2", "tab")
        assert app.bench.focused is app.bench.transcript
        assert lit_rows(app)
        await pilot.press("escape", "i", "ctrl+f")
        assert app.bench.transcript.searching
        # what is typed next is meant for the prompt: in the conversation r rejects a hunk
        await pilot.press("escape", *"rename it")
        assert app.bench.prompt_box.prompt.text == "rename it"
        await pilot.press("ctrl+f", "ctrl+f")
        await pilot.press("escape", "alt+2", "alt+2", "alt+slash")
        assert app.bench.panes.in_sight("conversation")
        assert app.bench.transcript.searching


@pytest.mark.parametrize(("width", "said"), [(80, True), (60, False)])
async def test_the_keys_stand_beside_it_whenever_there_is_room(width: int, said: bool) -> None:
    session = ScriptedSession()
    turns(session, 3)
    async with running(session, (width, 24)) as (app, pilot):
        for _ in range(2):
            await pilot.press("shift+tab", "ctrl+f")
            await pilot.pause(0.05)
            await pilot.pause()
            assert bool(app.bench.query_one("#search-bar .hint").region) is said
            await pilot.press("escape")

"""TranscriptSearch in the conversation: every match is lit and counted, however it was written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tests.support.tables import each
from tui.core.conversation import Block, BlockKind
from tui.ui.app import DuettoApp
from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.conversation.search import SearchPattern, TranscriptSearch, count_in_block
from tui.ui.conversation.text_view import TextView
from tui.ui.conversation.views import ViewContext
from tui.ui.styled_text import StyledRow


def rows_of(text: str, width: int = 40) -> list[StyledRow]:
    stream = MarkdownStream(width - 3)
    stream.feed(text)
    stream.finish()
    return [StyledRow(line, width) for line in stream.rows]


def found(words: str, text: str, width: int = 40) -> list[str]:
    """What is lit of each match, its rows one after the other."""
    rows = rows_of(text, width)
    return [
        " ".join(rows[span.row].strip.crop(span.start, span.end).text for span in match)
        for match in SearchPattern(words).matches(rows)
    ]


@settings(max_examples=60)
@given(st.text(max_size=40), st.text(alphabet="ab*_`[]() |-\n日é\x1b", max_size=200))
def test_anything_can_be_looked_for_in_anything(words: str, text: str) -> None:
    rows = rows_of(text)
    for match in SearchPattern(words).matches(rows):
        for span in match:
            assert 0 <= span.row < len(rows)
            assert span.start < span.end


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["lock", "**one**", "`put`", "[a](b)", "\n\n", "x_y"]), max_size=12)
)
def test_a_source_that_is_passed_over_has_no_match(parts: list[str]) -> None:
    text = " ".join(parts)
    for words in ("one", "lock", "put x_y", "a (b)", "lock one"):
        needle = SearchPattern(words)
        if needle.matches(rows_of(text, 400)):
            assert needle.may_be_in(text)


@each("text", ["a **word** of many\n" * 20_000, "word " * 80_000])
def test_a_long_answer_is_counted_part_by_part(text: str) -> None:
    block = Block(BlockKind.TEXT, 1)
    block.append(text)
    block.state = "done"
    view = TextView(block, 0, ViewContext(width=80), Block(BlockKind.TEXT, 1))
    found = list(count_in_block(view, SearchPattern("word")))
    assert sum(found) == text.count("word")
    assert max(found) < sum(found) / 4


def turns(session: ScriptedSession, count: int) -> None:
    for turn in range(count):
        session.say("user", f"prompt {turn}")
        session.say("text", f"The **answer** {turn} is here.\n\n" * 2, speaker="fast")


def lit_rows(app: DuettoApp) -> list[str]:
    pane = app.bench.transcript
    assert pane.search_bar is not None
    highlights = pane.search_bar.control.highlights
    return [
        pane.render_line(y).text[:-1].strip()
        for y in range(pane.size.height)
        if highlights(pane.viewport.top + y)
    ]


def is_open(app: DuettoApp) -> bool:
    bar = app.bench.transcript.search_bar
    return bar is not None and bar.control.is_open


def told(app: DuettoApp) -> str:
    return str(app.bench.query_one("#search-bar .count").render()).strip()


async def looked_for(pilot: Pilot[int], app: DuettoApp, words: str) -> TranscriptSearch:
    app.bench.transcript.action_search()
    bar = app.bench.transcript.search_bar
    assert bar is not None
    bar.field.value = words or bar.field.value
    await pilot.pause()
    search = bar.control.search
    while search.counts.waiting:
        await pilot.pause(0.01)
    await pilot.pause()
    return search


async def test_words_are_counted_lit_and_stepped_through(session: ScriptedSession) -> None:
    turns(session, 30)
    async with running(session, (120, 30)) as (app, pilot):
        await pilot.press("alt+1", "ctrl+f")
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
        assert not is_open(app)
        assert not lit_rows(app)
        assert app.bench.focused is app.bench.transcript


async def test_what_is_folded_is_found_and_unfolded(session: ScriptedSession) -> None:
    session.say("run", "".join(f"line {n}\n" for n in range(40)), title="make test")
    session.say("reasoning", "First the mutations.\nThen the eviction.", speaker="fast")
    turns(session, 20)
    async with running(session, (120, 40)) as (app, pilot):
        await looked_for(pilot, app, "line 7")
        assert lit_rows(app) == ["│ line 7"]
        await looked_for(pilot, app, "then the eviction")
        assert lit_rows(app) == ["▎ Then the eviction."]


@pytest.mark.slow
async def test_it_opens_from_the_prompt_and_from_the_editor(session: ScriptedSession) -> None:
    turns(session, 3)
    async with running(session, (90, 30)) as (app, pilot):
        await pilot.press("alt+slash", *"answer 2", "tab")
        assert app.bench.focused is app.bench.transcript
        assert lit_rows(app)
        await pilot.press("escape", "i", "ctrl+f")
        assert is_open(app)
        # what is typed next is meant for the prompt: in the conversation r rejects a hunk
        await pilot.press("escape", *"rename it")
        assert app.bench.prompt_box.prompt.text == "rename it"
        await pilot.press("ctrl+f", "ctrl+f")
        await pilot.press("escape", "alt+2", "alt+2", "alt+slash")
        assert app.bench.panes.in_sight("conversation")
        assert is_open(app)

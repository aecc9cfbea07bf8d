"""What a model thinks, unfolded while it comes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from tests.support.scripted_app import running
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp
from tui.ui.conversation.reasoning import WrappedStream
from tui.ui.rows import Line

WIDTH = 20
PIECES = st.lists(
    st.sampled_from(["a", "word ", "\n", "\n\n", " ", "\t", "ü漢", "long" * 9, "\r\n"])
)


def shown(app: DuettoApp) -> list[str]:
    """The rows of the conversation that are in sight, without the scroll bar."""
    pane = app.bench.transcript
    rows = (pane.render_line(y).text for y in range(pane.size.height))
    return [row[:-1].rstrip() for row in rows]


def wrapped(*pieces: str) -> list[str]:
    stream = WrappedStream(WIDTH, Style.null(), ("", Style.null()))
    for piece in pieces:
        first = stream.feed(piece)
        assert 0 <= first <= len(stream.rows)
    return [words(row) for row in stream.rows]


def words(row: Line) -> str:
    return "".join(text for text, _ in row.pieces)


@given(PIECES)
def test_in_pieces_or_at_once(pieces: list[str]) -> None:
    assert wrapped(*pieces) == wrapped("".join(pieces))


@given(PIECES, PIECES)
def test_rows_before_the_first_that_changed_stay(some: list[str], more: list[str]) -> None:
    stream = WrappedStream(WIDTH, Style.null(), ("", Style.null()))
    stream.feed("".join(some))
    before = list(stream.rows)
    first = stream.feed("".join(more))
    assert stream.rows[:first] == before[:first]


def test_a_long_paragraph_is_wrapped_like_a_short_one() -> None:
    text = "some words of it " * 2_000
    pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
    assert wrapped(*pieces) == wrapped(text)


def test_no_piece_costs_what_came_before_it() -> None:
    """Only the open paragraph is wrapped again: rows made for a piece are few."""
    stream = WrappedStream(WIDTH, Style.null(), ("", Style.null()))
    for _ in range(5_000):
        first = stream.feed("some words of a thought ")
        assert len(stream.rows) - first < 300
    assert len(stream.rows) > 5_000


async def test_it_grows_while_it_is_unfolded() -> None:
    session = ScriptedSession()
    block = session.say("reasoning", "First the mutations.\n", speaker="fast", state="open")
    async with running(session) as (app, pilot):
        app.bench.transcript.focus()
        await pilot.press("enter")
        assert "  ∴ thinking ▾" in shown(app)
        session.stream(block, "Then the evic")
        await pilot.pause(0.05)
        session.stream(block, "tion.\nAt last")
        await pilot.pause(0.05)
        rows = shown(app)
        assert [row for row in rows if "▎" in row] == [
            "  ▎ First the mutations.",
            "  ▎ Then the eviction.",
            "  ▎ At last",
        ]

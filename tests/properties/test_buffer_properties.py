"""Properties of the buffer against a plain string."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.core.text.buffer import Buffer, plain_text
from tui.core.text.change_set import Position

TEXT = st.text(alphabet="ab\n\r\x0cé", max_size=12)
EDITS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), TEXT), max_size=12)
SAFE = st.text(alphabet="ab\né", max_size=12)
SAFE_EDITS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), SAFE), max_size=12)


def position(buffer: Buffer, offset: int) -> Position:
    """The position at an offset into the text (an ending is one step per character)."""
    for line, (text, ending) in enumerate(zip(buffer.lines, buffer.endings, strict=True)):
        if offset <= len(text):
            return (line, offset)
        offset -= len(text) + len(ending)
        if offset < 0:
            return (line + 1, 0)
    return buffer.end


def offset(buffer: Buffer, at: Position) -> int:
    """The inverse of `position`."""
    before = zip(buffer.lines[: at[0]], buffer.endings[: at[0]], strict=True)
    return sum(len(text) + len(ending) for text, ending in before) + at[1]


@given(TEXT, EDITS)
def test_a_buffer_is_its_text(text: str, edits: list[tuple[int, int, str]]) -> None:
    """Any edits: same text as a string, line changes replay, all undone is the first text."""
    buffer = Buffer("f", text)
    assert buffer.encode() == text.encode()
    text = plain_text(text)
    plain, counts, undo = text, [len(buffer.lines)], []
    for first, second, new in edits:
        start = position(buffer, min(first, second))
        end = position(buffer, max(first, second))
        low, high = offset(buffer, start), offset(buffer, end)
        plain = plain[:low] + new + plain[high:]
        undo.append(buffer.replace(start, end, new))
        assert buffer.text() == plain
        change = (buffer.changes_since(buffer.revision - 1) or [])[0]
        counts.append(counts[-1] + change.n_new - change.n_old)
        assert len(buffer.lines) == counts[-1]
    for change_made in reversed(undo):
        buffer.replace(change_made.start, change_made.new_end, change_made.old_text)
    assert buffer.text() == text


@given(SAFE, st.integers(0, 12), st.booleans(), SAFE_EDITS)
def test_a_mark_outside_the_edits_keeps_its_neighbours(
    text: str, at: int, right: bool, edits: list[tuple[int, int, str]]
) -> None:
    """A mark never leaves the text, and edits behind it do not move it."""
    buffer = Buffer("f", text)
    here = position(buffer, at)
    mark = buffer.mark(*here, right=right)
    for first, second, new in edits:
        start, end = sorted((position(buffer, first), position(buffer, second)))
        before = mark.position
        buffer.replace(start, end, new)
        if start > before:
            assert mark.position == before
        assert buffer.clamp(mark.position) == mark.position

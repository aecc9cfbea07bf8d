"""Text of a block: read from where one stopped, however it came and however long ago."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.core.conversation import Block, BlockKind


def grown(pieces: list[str]) -> Block:
    block = Block(BlockKind.TEXT, 1)
    for piece in pieces:
        block.append(piece)
    return block


@given(st.lists(st.text(max_size=9), max_size=900), st.data())
def test_any_part_is_that_of_the_whole(pieces: list[str], data: st.DataObject) -> None:
    block, text = grown(pieces), "".join(pieces)
    assert (block.text, block.length) == (text, len(text))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert block.text_between(start, end) == text[start:end]
    assert block.text_since(start) == text[start:]


def test_another_text_takes_the_place_of_all() -> None:
    block = grown(["x"] * 1000)
    block.say("stopped")
    block.append(".")
    assert (block.text, block.length) == ("stopped.", 8)

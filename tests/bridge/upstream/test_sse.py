"""Server-sent events out of bytes that are cut anywhere."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.bridge.upstream.sse import Message, OversizeError, SseParser

LINE = st.binary(max_size=12).filter(lambda line: not set(b"\n\r{") & set(line))
ENDING = st.sampled_from([b"\n", b"\r\n", b"\r"])


def parsed(stream: bytes, *cuts: int) -> list[Message]:
    parser, messages = SseParser(), []
    edges = [0, *sorted(cuts), len(stream)]
    for begin, end in itertools.pairwise(edges):
        messages += parser.feed(stream[begin:end])
    return messages + parser.end()


def test_an_error_in_a_field_of_that_name() -> None:
    told = b'data: {"a": 1}\n\nerror: {"code": 500}\n\nerror: not this\n\n'
    assert parsed(told) == [Message("", b'{"a": 1}'), Message("error", b' {"code": 500}')]


def test_text_behind_the_last_message_is_kept() -> None:
    parser = SseParser()
    parser.feed(b"Early words\ndata: {}\n\n: a sign of life\nid: 1\nBad gateway\n\nTry")
    parser.end()
    assert parser.stray == b"Bad gateway\nTry\n"


def test_text_before_an_object_is_not_behind_the_last_message() -> None:
    parser = SseParser()
    parser.feed(b"model is loading\n")
    assert parser.astray
    assert parser.feed(b'{"a": 1}\n') == [Message("", b'{"a": 1}')]
    assert not parser.astray


@given(
    st.lists(st.tuples(st.sampled_from([b"", b"e1"]), st.lists(LINE, min_size=1)), min_size=1),
    ENDING,
    st.data(),
)
def test_any_cut_gives_the_same_messages(
    told: list[tuple[bytes, list[bytes]]], ending: bytes, data: st.DataObject
) -> None:
    stream = b": a comment" + ending + ending
    for event, lines in told:
        stream += (b"event: " + event + ending) if event else b""
        stream += b"".join(b"data: " + line + ending for line in lines)
        stream += b"id: 1" + ending + ending
    wanted = [Message(event.decode(), b"\n".join(lines)) for event, lines in told]
    cuts = data.draw(st.lists(st.integers(0, len(stream))))
    assert parsed(stream) == wanted
    assert parsed(stream, *cuts) == wanted
    assert parsed(stream, *range(len(stream))) == wanted


def test_a_message_without_end_is_refused() -> None:
    parser = SseParser(most_bytes=1000)
    for _ in range(50):
        assert len(parser.feed(b"data: " + b"x" * 900 + b"\n\n")) == 1
    for _ in range(3):
        parser.feed(b"data: " + b"x" * 300 + b"\n")
    with pytest.raises(OversizeError):
        parser.feed(b"data: " + b"x" * 300 + b"\n")
    parser = SseParser(most_bytes=1000)
    with pytest.raises(OversizeError):
        parser.feed(b":" * 1001)

"""Server-sent events out of bytes that are cut anywhere."""

from __future__ import annotations

import itertools
import time

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


def test_objects_without_an_empty_line_between_them() -> None:
    told = b'data: {"a": 1}\ndata: {"b":\ndata: 2}\ndata: [DONE]\n'
    parser = SseParser()
    assert parser.feed(told[:24]) == []
    assert parser.feed(told[24:]) == [Message("", b'{"a": 1}'), Message("", b'{"b":\n2}')]
    assert parser.end() == [Message("", b"[DONE]")]


def test_an_error_in_a_field_of_that_name() -> None:
    told = b'data: {"a": 1}\n\nerror: {"code": 500}\n\nerror: not this\n\n'
    assert parsed(told) == [Message("", b'{"a": 1}'), Message("error", b' {"code": 500}')]


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


@pytest.mark.parametrize(
    ("stream", "messages"),
    [
        (b"data:x\n\n", [Message("", b"x")]),
        (b"data:  x\n\n", [Message("", b" x")]),
        (b"\xef\xbb\xbfdata: x\n\n", [Message("", b"x")]),
        (b"data\n\n", [Message("", b"")]),
        (b"data: x", [Message("", b"x")]),
        (b"data: x\n", [Message("", b"x")]),
        (b"event: only\n\ndata: y\n\n", [Message("", b"y")]),
        (b":ping\r\n\r\n: x\r\rdata: y\r\r", [Message("", b"y")]),
        (b"retry: 10\nid: 4\nunknown: z\ndata: y\n\n", [Message("", b"y")]),
        (b"event: \xff\ndata: \xc3\xa9\n\n", [Message("\ufffd", b"\xc3\xa9")]),
        (b"", []),
    ],
)
def test_what_servers_write(stream: bytes, messages: list[Message]) -> None:
    assert parsed(stream) == messages
    assert parsed(stream, *range(len(stream))) == messages


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


def test_a_message_in_many_pieces_costs_no_more_than_its_bytes() -> None:
    def seconds(pieces: int) -> float:
        parser = SseParser()
        began_s = time.process_time()
        for _ in range(pieces):
            parser.feed(b"y" * 100)
        parser.feed(b"\n\n")
        return time.process_time() - began_s

    seconds(1000)
    assert seconds(200_000) < 40 * max(seconds(20_000), 0.002)

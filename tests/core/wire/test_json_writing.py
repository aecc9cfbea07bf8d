"""What travels is JSON that the other side can read."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import msgspec

from tests.support.tables import each
from tui.core.wire import json_writing
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.json_reading import mended_json
from tui.core.wire.json_writing import STEP_CHARS, LongFrame, frame_or_long, request_body


def test_half_a_character_that_a_user_pasted_is_valid_json() -> None:
    client = ClientProtocol()
    client.create({"model": "m", "input": [{"text": "caf\udce9 \ud83d"}]})
    (text,) = client.data_to_send()
    assert "\\u" not in text
    assert json.loads(text)["input"] == [{"text": "caf\ufffd \ufffd"}]


LONG = "a line\n" * 50_000
NESTED: list[Any] = [{"deep": [[[LONG]]], "é": None}, 1.5, True]


VALUES = [
    LONG,
    LONG + "\ud83d",
    ["x"] * 20_000,
    {f"k{n}": [n] for n in range(9000)},
    {LONG: LONG},
    NESTED,
]


@each("value", VALUES)
def test_a_long_event_is_written_in_short_pieces_and_reads_the_same(value: Any) -> None:
    event = {"type": "x", "sequence_number": 3, "item": value}
    told = frame_or_long(event)
    assert isinstance(told, LongFrame)
    pieces = list(told.pieces())
    assert json.loads(b"".join(pieces)) == event
    assert json.loads(str(told)) == event
    assert max(map(len, pieces)) <= 7 * STEP_CHARS


@each("value", VALUES)
def test_a_long_request_is_written_in_short_calls_and_reads_the_same(value: Any) -> None:
    """Each holds up all threads."""
    sizes: list[int] = []

    def encode(part: object) -> bytes:
        written = msgspec.json.encode(part)
        sizes.append(len(written))
        return written

    with (
        patch.object(json_writing, "_encode", encode),
        patch.object(json_writing, "_AT_ONCE", (2**14, 1000)),
    ):
        body = request_body({"input": [value]})
    assert json.loads(body) == mended_json({"input": [value]})
    assert max(sizes) <= 7 * STEP_CHARS

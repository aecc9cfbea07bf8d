"""What a message takes once it is read."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.steps import finished
from tui.core.wire import json_reading
from tui.core.wire.client_events import Invalid, decode_client
from tui.core.wire.json_reading import Scale, read_in_steps, too_heavy

CROWDED, DEEP = "with more than 200,000 values", "nested more than 128 levels deep"
TEXTS = [
    ("[" + "[],[]," * 100_000 + "[]]", CROWDED),
    ("[" + '{"a":1},' * 150_000 + "1]", CROWDED),
    ('["' + '","' * 250_000 + '"]', CROWDED),
    ('"' * 1_000_000, CROWDED),
    ('{"a":"' + ",[{" * 200_000 + '"}', ""),
    ('{"a":"' + '\\",[{\\\\' * 100_000 + '"}', ""),
    ('{"a":"' + "[" * 500_000, ""),  # a string without an end
    ('{"a":"' + "\\" * 65_538 + '",' + "[" * 500, DEEP),
    ("[" * 2_000, DEEP),
    ('{"a":' * 2_000 + "1", DEEP),
    ('{"a":"' + "é" * 2_000 + '","b":' + "[" * 127 + "]" * 127 + "}", ""),
    ('{"a":"' + "é" * 2_000 + '","b":' + "[" * 128 + "]" * 128 + "}", DEEP),
    ("[" + "[[[]]]," * 30_000 + "[]]", ""),
    ("[" * 500 + "]" * 500, ""),  # short: no decoder minds
    ("", ""),
]


@each("text, words", TEXTS)
def test_depth_and_values_are_told_and_what_is_in_strings_is_not(text: str, words: str) -> None:
    words = words if len(text) > json_reading.UNWEIGHED_BYTES else ""
    assert too_heavy(text, json_reading.MOST_REQUEST_VALUES) == words


@each("text, words", TEXTS)
@given(cut=st.integers(1, json_reading.PIECE_BYTES))
@settings(max_examples=2)
def test_a_text_weighs_the_same_wherever_it_is_cut(text: str, words: str, cut: int) -> None:
    data = text.encode()[-2 * json_reading.PIECE_BYTES :]
    found = set()
    for size in (cut, json_reading.PIECE_BYTES, 4 * json_reading.PIECE_BYTES):
        scale = Scale(2000)
        pieces = (data[at : at + size] for at in range(0, len(data), size))
        found.add(next(filter(None, map(scale.too_heavy, pieces)), "").partition(" than ")[0])
    # a text that is both too deep and too crowded is called what was seen first
    assert len(found) == 1 or "" not in found


@each("nonsense", ["[]," * 2_000_000 + "[]", "[" * 5_000 + "]" * 5_000])
def test_a_heavy_message_is_refused_before_it_is_read(nonsense: str) -> None:
    refused = decode_client('{"type":"response.create","input":[' + nonsense + "]}")
    assert isinstance(refused, Invalid)
    assert refused.message.startswith("The message is ")


def test_small_values_weigh_more_than_their_text() -> None:
    value: dict[str, list[list[int]]] = {"a": [[] for _ in range(200_000)]}
    text = json.dumps(value)
    assert finished(read_in_steps(text)) > 20 * len(text)
    prose = json.dumps({"a": "x, y, " * 200_000})
    assert finished(read_in_steps(prose)) < len(prose) + 1000

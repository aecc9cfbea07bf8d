"""What a message takes once it is read."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.steps import finished
from tui.core.wire import json_reading
from tui.core.wire.client_events import Invalid, decode_client
from tui.core.wire.events import Delta, ErrorEvent, Failed, Unknown, decode_in_steps, decode_server
from tui.core.wire.json_reading import (
    STEP_BYTES,
    STEP_VALUES,
    Scale,
    mended_json,
    read_in_steps,
    too_heavy,
)

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


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
LONG = 3 * STEP_BYTES
STRINGS = {
    "letters": "a" * LONG,
    "line ends": "\\n" * LONG,
    "backslashes": "\\\\" * LONG,
    "quotes": '\\"' * LONG,
    "signs in UTF-8": "xé€😀" * LONG,
    "escaped signs": "x\\u00e9\\ud83d\\ude00" * LONG,
    "signs that every step parts": "aaaaa" + "x\\u00e9\\ud83d\\ude00" * LONG,
    "halves": "x\\ud83d" * LONG,
    "many short": '","'.join("\\n" * 40 for _ in range(5000)),
}
TEXTS_STEPWISE = {
    **{name: f'["{text}"]' for name, text in STRINGS.items()},
    "long keys": json.dumps({f"{number}\n" * 9000: 1 for number in range(5)}),
    "numbers": json.dumps([[-1, 2.5, 3e-9] for _ in range(9000)]),
    "empty": json.dumps([[[], {}]] * 9000),
    "blanks": "[" + f"{' ' * 50_000}1," * 20 + "1]",
    "keys": json.dumps({f"k{number}": {} for number in range(9000)}),
}


def steps_of(text: str, **how: Any) -> tuple[Any, list[int], list[int]]:
    """The value; the bytes and the tokens of each step."""
    reader: Any = json_reading._JsonReader(text.encode(), mends=how.pop("mends", True))
    tokens, took = reader._token, [0]

    def counted() -> bytes:
        took[0] += 1
        return tokens()

    reader._token = counted
    reading, read_bytes, tokens_read, at = reader.value(how.get("pieced", "")), [], [], 0
    while True:
        took[0] = 0
        try:
            next(reading)
        except StopIteration as end:
            return end.value, [*read_bytes, reader._at - at], [*tokens_read, took[0]]
        read_bytes.append(reader._at - at)
        tokens_read.append(took[0])
        at = reader._at


@settings(max_examples=30)
@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_any_value_is_read_as_the_standard_library_reads_it(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert steps_of(text)[0] == json.loads(text)


@each("tail", ["\xe9", "\u20ac", "\U0001f600", "\xe9" * 100_000 + "\u20ac\U0001f600", "\ud83d"])
def test_a_text_of_megabytes_is_exact_whatever_comes_late_in_it(tail: str) -> None:
    text = "a line\n" * 300_000 + tail + "the end" * 100_000
    wanted = text.replace("\ud83d", "\ufffd")
    found = finished(json_reading.read(json.dumps({"a": text}).encode()))["a"]
    assert found == wanted
    assert hash(found) == hash(wanted)
    assert sys.getsizeof(found) == sys.getsizeof(wanted)


@pytest.mark.parametrize("name", TEXTS_STEPWISE)
def test_each_step_handles_few_bytes_and_few_values(name: str) -> None:
    text = TEXTS_STEPWISE[name]
    value, sizes, tokens = steps_of(text)
    assert value == mended_json(json.loads(text))
    assert max(sizes) <= 3 * STEP_BYTES
    assert max(tokens) <= 6 * STEP_VALUES
    assert len(sizes) <= 3 + len(text.encode()) / STEP_BYTES + sum(tokens) / STEP_VALUES, "crumbs"


@pytest.mark.parametrize("name", STRINGS)
def test_a_long_delta_is_the_same_text_in_several_short_ones(name: str) -> None:
    text = STRINGS[name].replace('","', "")
    start = '{"type":"response.output_text.delta","item_id":"m","delta":"'
    told = decode_in_steps(f'{start}{text}"}}'.encode())
    deltas = [event.delta for event in told if isinstance(event, Delta)]
    assert max(map(len, deltas)) <= max(STEP_BYTES, json_reading.AT_ONCE_BYTES)
    joined = "".join(deltas).encode("utf-16", "surrogatepass")  # a sign may be parted
    assert joined.decode("utf-16", "surrogatepass") == json.loads(f'"{text}"')


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1", "[1,]", '{"a"}', '{"a":}', '{"a":1,}', "{1:2}", '["a', '["\\x"]', "[1}",
     "nul", "01", "1.", "+1", "[1]2", '["\n"]', "]", ",", '{"a":1]', "9" * 500,
     f"[{' ' * (STEP_BYTES + 1)}1]"],
)  # fmt: skip
def test_what_is_no_json_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="blanks in a row" if "  " in text else r"."):
        steps_of(text)
    long = f'{{"type":"response.completed","a":"{"a" * json_reading.AT_ONCE_BYTES}","b":{text}'
    assert [*filter(None, decode_in_steps(long.encode()))] == []


@pytest.mark.parametrize(
    "rest",
    ['"delta":"ab","type":"response.custom.delta"', '"type":"x","delta":"\\ud83d"',
     '"type":"response.completed","response":{"id":"r"}', '"type":"error","message":"\\ud83d"'],
)  # fmt: skip
def test_a_long_event_is_read_as_a_short_one(rest: str) -> None:
    text = f'{{"padding":[{"0," * 9}0],{rest}}}'
    long = text.replace("[", "[" + '"' + "a" * json_reading.AT_ONCE_BYTES + '",')
    short, *_ = (event for event in decode_in_steps(long.encode()) if event is not None)
    expected = decode_server(text)
    for event in (short, expected):
        if isinstance(event, Unknown):
            event.raw.pop("padding")
    assert short == expected


@each("kind", ["error", "response.failed"])
def test_an_error_of_megabytes_is_cut(kind: str) -> None:
    error = {"message": "bad " * 10**6, "code": "c" * 10**6}
    told = {"error": error} if kind == "error" else {"response": {"error": error}}
    event = decode_server(json.dumps({"type": kind, **told}))
    assert isinstance(event, ErrorEvent | Failed)
    assert len(event.message) == len(event.code) == 10_000

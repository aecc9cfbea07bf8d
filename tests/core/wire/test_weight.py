"""What a message takes once it is read."""

from __future__ import annotations

import json
import time

import pytest

from tui.core.wire import weight
from tui.core.wire.client_events import Invalid, decode_client
from tui.core.wire.weight import is_crowded, read_bytes


@pytest.mark.parametrize(
    ("text", "crowded"),
    [
        ("[" + "[],[]," * 400_000 + "[]]", True),
        ("[" + '{"a":1},' * 600_000 + "1]", True),
        ('{"a":"' + ",[{" * 1_000_000 + '"}', False),
        ('{"a":"' + '\\",[{\\\\' * 500_000 + '"}', False),
        ('{"a":"' + "[" * 3_000_000, True),  # a string without an end
        ("", False),
    ],
)
def test_values_are_counted_and_what_is_in_strings_is_not(text: str, crowded: bool) -> None:
    began_s = time.process_time()
    assert is_crowded(text) is crowded
    assert time.process_time() - began_s < 2


def test_a_crowded_message_is_refused_before_it_is_read() -> None:
    text = '{"type":"response.create","input":[' + "[]," * 2_000_000 + "[]]}"
    refused = decode_client(text)
    assert isinstance(refused, Invalid)
    assert "values" in refused.message


def test_small_values_weigh_more_than_their_text() -> None:
    value: dict[str, list[list[int]]] = {"a": [[] for _ in range(200_000)]}
    text = json.dumps(value)
    assert read_bytes(text, value) > 20 * len(text)
    prose = json.dumps({"a": "x, y, " * 200_000})
    assert read_bytes(prose, json.loads(prose)) < len(prose) + 1000


def test_few_values_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight, "_VALUE_BYTES", 10**9)
    assert read_bytes('{"a":[1,2]}', {"a": [1, 2]}) == 11

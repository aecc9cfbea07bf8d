"""Decoding what a server says."""

from __future__ import annotations

import json
from typing import Any

from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.events import decode_server


def decoded(**fields: Any) -> events.Event | None:
    return decode_server(json.dumps(fields))


@each("response", [None, [], "x", 5])
def test_a_broken_end_is_an_end_all_the_same(response: object) -> None:
    assert isinstance(decoded(type="response.completed", response=response), events.Completed)


@each(
    "usage, expected",
    [
        (None, None),
        ({}, None),
        ({"input_tokens": 3, "output_tokens": 4}, events.Usage(3, 4)),
        ({"input_tokens": "x", "output_tokens": 4}, events.Usage(0, 4)),
        (
            {
                "input_tokens": 3,
                "input_tokens_details": {"cached_tokens": 1},
                "output_tokens": 4.0,
                "output_tokens_details": {"reasoning_tokens": 0},
            },
            events.Usage(3, 4, 1, 0),
        ),
        ({"input_tokens": -3, "output_tokens": True}, None),
    ],
)
def test_usage_is_read_leniently(usage: object, expected: events.Usage | None) -> None:
    assert events.usage_of({"usage": usage}) == expected

"""What is left of a rate limit, in the words of each server; nothing is guessed at."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tables import each
from tui.bridge.endpoints.openai_responses.stream import ResponsesReader
from tui.bridge.upstream.sse import Message
from tui.core.wire.address import Address
from tui.core.wire.events import ErrorEvent, decode_server
from tui.core.wire.rate_limits import (
    PAUSE,
    Limit,
    limits_in,
    limits_of,
    limits_of_event,
    retry_after_s,
    sentences,
    tightest,
)
from tui.core.wire.refusals import refusal
from tui.core.wire.server.protocol import ServerProtocol

NOW = 1000.0


@each(
    "headers, limits",
    [
        (
            {
                "x-ratelimit-limit-requests": "60",
                "x-ratelimit-remaining-requests": "3",
                "x-ratelimit-reset-requests": "6m0s",
            },
            [Limit("requests", 3, 60, 1360)],
        ),
        (
            {"X-RateLimit-Remaining-Tokens-Minute": "9", "X-RateLimit-Reset-Tokens-Minute": "20ms"},
            [Limit("tokens minute", 9, None, 1000.02)],
        ),
        (
            {
                "anthropic-ratelimit-input-tokens-limit": "40000",
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "12.5",
            },
            [Limit("input tokens", 0, 40_000, 1012.5)],
        ),
        (
            {"ratelimit-limit": "100, 100;w=60", "ratelimit-remaining": "7"},
            [Limit("", 7, 100)],
        ),
        ({"RateLimit": '"burst";r=5;t=30, "daily";r=900'}, [Limit("burst", 5, None, 1030)]),
        ({"RateLimit": "limit=9, remaining=4, reset=3"}, [Limit("", 4, 9, 1003)]),
        (
            {"anthropic-ratelimit-tokens-remaining": "5", "anthropic-ratelimit-tokens-reset": "Z"},
            [Limit("tokens", 5)],
        ),
        ({"x-ratelimit-remaining": "5", "x-ratelimit-reset": "1795000005"}, [Limit("", 5)]),
        ({"x-ratelimit-remaining": "many", "x-ratelimit-reset": "5"}, []),
        ({"x-ratelimit-limit": "5"}, []),
        ({"content-type": "x", "retry-after": "7"}, []),
    ],
)
def test_headers(headers: dict[str, str], limits: list[Limit]) -> None:
    assert list(limits_of(headers, NOW))[:1] == limits
    assert list(limits_in(json.dumps(headers), NOW))[:1] == limits


def test_codex_tells_shares() -> None:
    window = {"used_percent": 97.5, "window_minutes": 300, "resets_in_seconds": 60}
    raw = {"type": "codex.rate_limits", "rate_limits": {"primary": window, "secondary": None}}
    assert limits_of_event(raw, NOW) == (Limit("% of 5 h", 2.5, 100, 1060),)
    assert limits_of_event({"type": "codex.rate_limits", "plan": "x"}, NOW) == ()


def test_the_tightest_is_the_one_that_is_felt_first_and_was_not_lifted() -> None:
    roomy, tight = Limit("tokens", 900, 1000, 1060.0), Limit("requests", 1, 60, 1030.0)
    assert tightest((roomy, tight), NOW) == tight
    assert tightest((roomy, tight), 1031.0) == roomy
    assert tightest((roomy, tight), 1061.0) is None
    assert tightest((Limit("requests", 5),), NOW) is None, "of how many is not known"
    assert tightest((Limit("requests", 0),), NOW) == Limit("requests", 0)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.sampled_from(["ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset-a", "b"]), _JSON
    ),
    _JSON,
)
def test_nothing_that_a_server_says_breaks_it(headers: dict[str, object], raw: object) -> None:
    for one in limits_of(headers, NOW):
        assert one.remaining >= 0
    limits_of_event({"rate_limits": raw}, NOW)
    limits_of_event({"rate_limits": {"primary": raw}}, NOW)
    limits_in(str(raw), NOW)


def test_limits_in_words_and_what_was_lifted_is_not_said() -> None:
    told = (
        Limit("requests", 40, 60, NOW + 42),
        Limit("tokens", 0, 12_000, NOW + 300),
        Limit("% of 5 h", 30, 100),
        Limit(PAUSE, 0, None, NOW + 7),
        Limit("input tokens", 0, 10, NOW - 1),
    )
    assert sentences(told, NOW) == [
        "Limit: 40 of 60 requests left, all of it again in 42 s.",
        "Limit: 0 of 12,000 tokens left, all of it again in 5 min.",
        "Limit: 30% of 5 h left.",
        "The server says to wait 7 s.",
    ]


NOON = "Sat, 21 Nov 2026 12:00:00 GMT"
LATER = "Sat, 21 Nov 2026 12:00:30 GMT"
SAID = [
    ({"Retry-After": "7"}, 7.0),
    ({"retry-after": " 1.5 "}, 1.5),
    ({"RETRY-AFTER": "0"}, 0.0),
    ({"Retry-After": LATER, "Date": NOON}, 30.0),
    ({"Retry-After": "Sat, 21 Nov 2026 11:00:00 GMT", "date": NOON}, 0.0),
    ({"Retry-After": "soon"}, None),
    ({"Retry-After": "-3"}, None),
    ({"Retry-After": "inf"}, None),
    ({"Retry-After": "nan"}, None),
    ({"Retry-After": ""}, None),
    ({"Date": NOON}, None),
    ({}, None),
]


@each("headers, seconds", SAID)
def test_every_reader_hears_the_same(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds
    assert refusal(Address("wss://h.example/"), 429, b"", headers).retry_after_s == seconds
    lower = {name.lower(): value for name, value in headers.items()}
    assert ErrorEvent(429, headers=lower).retry_after_s == seconds
    server = ServerProtocol()
    server.receive_text('{"type":"response.create","model":"m","input":"hi"}')
    (run,) = server.accept()
    told = {"type": "error", "error": {"code": "rate_limit_exceeded", "headers": headers}}
    ResponsesReader(run, Address("http://x/", {})).hear(Message("", json.dumps(told).encode()))
    passed = decode_server(server.data_to_send()[-1])
    assert isinstance(passed, ErrorEvent)
    assert passed.retry_after_s == seconds

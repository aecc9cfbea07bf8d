"""How long to wait, and how much is left, in the words of each provider."""

from __future__ import annotations

import json

import pytest

from tui.bridge.upstream.rate_limits import left, pause_s

NOW_S = 1_795_000_000.0


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"Retry-After": "7", "x-ratelimit-remaining-requests": "0"}, 7),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "6m0s"}, None),
        (
            {
                "x-ratelimit-remaining-requests-day": "0",
                "x-ratelimit-reset-requests-day": "33011.4",
                "x-ratelimit-remaining-tokens-minute": "0",
                "x-ratelimit-reset-tokens-minute": "11.4",
            },
            33011.4,
        ),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-11-18T11:06:50Z",
            },
            10,
        ),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795000005000"}, 5),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1795000005"}, 5),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}, 1),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 400}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": ""}, None),
        ({"x-ratelimit-remaining": "0"}, None),
        ({}, None),
    ],
)
def test_pauses(headers: dict[str, str], pause: float | None) -> None:
    found = pause_s(headers, NOW_S)
    assert found == (None if pause is None else pytest.approx(pause))


@pytest.mark.parametrize(
    ("reset", "told"),
    [
        ("6m0s", "360"),
        ("20ms", "0.02"),
        ("11.4", "11.4"),
        ("1795000005", "5"),
        ("2026-11-18T11:06:50Z", "10"),
        ("soon", "soon"),
    ],
)
def test_when_a_limit_is_lifted_is_told_in_seconds(reset: str, told: str) -> None:
    name = "anthropic-ratelimit-tokens-reset"
    assert json.loads(left({name: reset}, NOW_S)) == {name: told}

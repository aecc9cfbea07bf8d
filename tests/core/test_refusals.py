"""What servers say when they say no."""

from __future__ import annotations

import pytest

from tui.core.address import Address
from tui.core.refusals import close_words, refusal
from tui.errors import EXIT_UNREACHABLE, KeyRefused

ADDRESS = Address("wss://h.example/v1/responses", {"Authorization": "Bearer sk-secret"})


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_its_own_error(status: int) -> None:
    error = refusal(ADDRESS, status, b'{"error":{"message":"Incorrect key sk-secret"}}', None)
    assert isinstance(error, KeyRefused)
    assert error.exit_code == EXIT_UNREACHABLE
    assert str(error).endswith('It says: "Incorrect key ..."')


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (200, "not a Responses WebSocket endpoint"),
        (404, "/v1/responses"),
        (405, "/v1/responses"),
        (426, "another protocol"),
        (429, "try again"),
        (500, "try again"),
    ],
)
def test_other_statuses_say_what_came_back_and_what_to_do(status: int, words: str) -> None:
    text = str(refusal(ADDRESS, status, b"", None))
    assert f"HTTP {status}" in text
    assert words in text
    assert "It says" not in text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"plain words", "plain words"),
        (b'{"detail":"x"}', '{"detail":"x"}'),
        (b'{"error":"just words"}', "just words"),
        (b'"text"', "text"),
        (b"<html>a page</html>", ""),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"a\x1b[31m\nb", "a [31m b"),
        (b"[" * 4000, "[" * 160),
    ],
)
def test_what_it_says_is_short_and_inert(body: bytes, said: str) -> None:
    text = str(refusal(ADDRESS, 400, body, None))
    assert (f'It says: "{said}"' in text) if said else ("It says" not in text)


def test_a_redirect_names_its_goal_without_its_query() -> None:
    text = str(refusal(ADDRESS, 307, b"", "wss://other.example/v1?token=1"))
    assert "wss://other.example/v1 " in text
    assert "token" not in text


@pytest.mark.parametrize(
    ("code", "reason", "words"),
    [
        (1000, "", "the server closed the connection"),
        (1011, "keepalive ping timeout", "an internal error (keepalive ping timeout)"),
        (1009, "", "too big"),
        (4000, "a\x1b[0m", "code 4000 (a[0m)"),
    ],
)
def test_closes_are_put_in_words(code: int, reason: str, words: str) -> None:
    assert close_words(code, reason).endswith(words) or words in close_words(code, reason)

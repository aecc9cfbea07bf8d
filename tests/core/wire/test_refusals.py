"""What servers say when they say no."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.wire.address import Address
from tui.core.wire.events import ErrorEvent, Failed, Incomplete, SteerNews
from tui.core.wire.refusals import (
    UNUSABLE_CODE,
    discreet,
    lost_code,
    lost_words,
    refusal,
)
from tui.errors import EXIT_UNREACHABLE, KeyRefused

ADDRESS = Address("wss://h.example/v1/responses", {"Authorization": "Bearer sk-secret"})


@each("status", [401, 403])
def test_a_refused_key_is_its_own_error(status: int) -> None:
    error = refusal(ADDRESS, status, b'{"error":{"message":"Incorrect key sk-secret"}}', {})
    assert isinstance(error, KeyRefused)
    assert error.exit_code == EXIT_UNREACHABLE
    assert str(error).endswith('It says: "Incorrect key [key]****"')


@each(
    "status, words",
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
    text = str(refusal(ADDRESS, status, b"", {}))
    assert f"HTTP {status}" in text
    assert words in text
    assert "It says" not in text


@each(
    "body, said",
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
    text = str(refusal(ADDRESS, 400, body, {}))
    assert (f'It says: "{said}"' in text) if said else ("It says" not in text)


def test_a_redirect_names_its_goal_without_its_query() -> None:
    text = str(refusal(ADDRESS, 307, b"", {"Location": "wss://other.example/v1?token=1"}))
    assert "wss://other.example/v1 " in text
    assert "token" not in text


def test_a_key_that_was_never_sent_is_not_one_that_was_refused() -> None:
    open_address = Address("ws://127.0.0.1:9/v1/responses", {"X-Team": "blue"})
    words = str(refusal(open_address, 401, b"", {}))
    assert "wants a key (HTTP 401), and none was sent" in words
    assert "--key-env" in words
    assert "refused the key (HTTP 401)" in str(refusal(ADDRESS, 401, b"", {}))
    assert "refused the key (HTTP 403)" in str(refusal(KEYS, 403, b"", {}))


def test_no_error_repeats_the_key() -> None:
    event = discreet(ErrorEvent(401, "invalid_api_key", "Incorrect key sk-secret"), ADDRESS)
    assert isinstance(event, ErrorEvent)
    assert event.message == "Incorrect key [key]****"
    error = {"code": "server_error", "message": "for sk-secret"}
    end = discreet(Failed({"id": "r", "error": error}), ADDRESS)
    assert isinstance(end, Failed)
    assert (end.response_id, end.code, end.message) == ("r", "server_error", "for [key]****")
    assert "sk-secret" not in lost_words((1008, "bad sk-secret"), None, ADDRESS)


KEYS = Address(
    "wss://h.example/v1?api-version=preview&code-key=query/key+9",
    {"api-key": "pa/ss+word", "X-Own": "my-own-long-token", "X-Team": "blue"},
)


@each(
    "said",
    [
        "pa/ss+word",
        "pa%2Fss%2bword",
        "pa\\/ss\\u002bword",
        "cGEvc3Mrd29yZA==",
        "dTpwYS9zcyt3b3Jk",
        "my-own-long-token",
        "query/key 9",
    ],
)
def test_no_form_of_a_key_is_said_by_anything_that_ends_or_refuses(said: str) -> None:
    """In an error's message, code and place, a reason, a close, a refusal, a redirect."""
    text = f"for {said}!"
    long = "x" * 112 + said  # what is cut is masked before
    end = {"id": "r", "error": {"code": text, "message": text}}
    told = [
        discreet(ErrorEvent(401, text, text, text), KEYS),
        discreet(Failed(end), KEYS),
        discreet(Incomplete({"id": "r", "incomplete_details": {"reason": text}}), KEYS),
        discreet(SteerNews(1, "returned", "mine", text), KEYS),
        lost_words((1008, long), None, KEYS),
        refusal(KEYS, 401, text.encode(), {}),
        refusal(KEYS, 307, b"", {"Location": f"wss://other.example/{said}"}),
    ]
    for one in told:
        assert said[:8] not in str(one)
        assert "[key" in str(one)


def test_words_of_an_address_are_no_keys() -> None:
    words = "the preview of team blue: authorization failed"
    assert words in lost_words((1008, words), None, KEYS)


def test_who_found_fault_with_a_socket() -> None:
    assert lost_code(1011, 1011) == 1011
    assert lost_code(None, 1009) == UNUSABLE_CODE
    assert lost_code(None, None) is None
    assert "too big" in lost_words(None, 1009, ADDRESS)
    assert "broke the WebSocket protocol" in lost_words(None, 1007, ADDRESS)
    assert lost_words(None, None, ADDRESS) == "the connection broke"

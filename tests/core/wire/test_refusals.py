"""What servers say when they say no."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.wire.address import Address
from tui.core.wire.events import ErrorEvent, Failed, Incomplete, SteerNews
from tui.core.wire.refusals import (
    UNUSABLE_CODE,
    RefusedFields,
    discreet,
    fields_refused,
    lost_code,
    lost_words,
    refusal,
    without,
)
from tui.errors import EXIT_UNREACHABLE, KeyRefused

ADDRESS = Address("wss://h.example/v1/responses", {"Authorization": "Bearer sk-secret"})


def test_a_403_without_a_word_refuses_the_key_that_was_sent() -> None:
    """As LiteLLM's proxy answers an upgrade."""
    assert isinstance(refusal(ADDRESS, 403, b"", {}), KeyRefused)


@each("status", [401, 403])
def test_a_refused_key_is_its_own_error(status: int) -> None:
    error = refusal(ADDRESS, status, b'{"error":{"message":"Incorrect key sk-secret"}}', {})
    assert isinstance(error, KeyRefused)
    assert error.exit_code == EXIT_UNREACHABLE
    assert str(error).endswith('It says: "Incorrect key [key]****"')


@each(
    "where, body",
    [
        (ADDRESS, b"<html><title>Corporate\n Proxy</title>"),
        (ADDRESS, b"Corporate Proxy"),
        (Address("ws://127.0.0.1/v1/responses", {}), b""),
    ],
)
def test_a_403_with_words_of_no_api_is_not_about_the_key(where: Address, body: bytes) -> None:
    error = refusal(where, 403, body, {})
    assert not isinstance(error, KeyRefused)
    assert error.http_may_work
    assert "not about the key" in str(error)
    assert ('saying "Corporate Proxy"' in str(error)) == bool(body)


@each("words", ["Your country is not supported", "Forbidden"])
def test_a_403_of_an_api_that_names_no_key_is_told_by_its_words(words: str) -> None:
    error = refusal(ADDRESS, 403, f'{{"error":{{"message":"{words}"}}}}'.encode(), {})
    assert not isinstance(error, KeyRefused)
    assert error.http_may_work
    assert str(error).endswith(f'refused the request (HTTP 403). It says: "{words}"')


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
        (b"<html><title>a &amp; b</title></html>", "a & b"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"a\x1b[31m\nb", "a [31m b"),
        (b"[" * 4000, "[" * 160),
    ],
)
def test_what_it_says_is_short_and_inert(body: bytes, said: str) -> None:
    text = str(refusal(ADDRESS, 400, body, {}))
    assert (f'It says: "{said}"' in text) if said else ("It says" not in text)


def test_a_redirect_names_its_goal_without_its_query() -> None:
    assert "to wss://h.example/v2 " in str(refusal(ADDRESS, 301, b"", {"Location": "/v2"}))
    text = str(refusal(ADDRESS, 307, b"", {"Location": "//other.example/v1?token=1"}))
    assert "wss://other.example/v1 " in text
    assert "token" not in text
    text = str(refusal(ADDRESS, 302, b"", {"Location": "https://[::1"}))
    assert "redirects to an address that is not valid (HTTP 302)" in text


def test_a_key_that_was_never_sent_is_not_one_that_was_refused() -> None:
    open_address = Address("ws://127.0.0.1:9/v1/responses", {"X-Team": "blue"})
    words = str(refusal(open_address, 401, b"", {}))
    assert "wants a key (HTTP 401), and none was sent" in words
    assert "--key-env" in words
    assert "refused the key (HTTP 401)" in str(refusal(ADDRESS, 401, b"", {}))
    assert "refused the key (HTTP 403)" in str(refusal(KEYS, 403, b"{}", {}))


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


BODY: dict[str, Any] = {
    "model": "m",
    "input": [{"type": "message", "phase": "x", "content": [{"type": "input_text", "text": "a"}]}],
    "prompt_cache_key": "k",
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "reasoning": {"effort": "high", "summary": "auto"},
    "service_tier": "fast",
    "tools": [{"type": "function", "name": "r", "strict": True, "parameters": {}}],
    "parallel_tool_calls": True,
    "text": {"verbosity": "low"},
    "user": "u",
    "stream": True,
}
LITELLM = (
    "litellm.UnsupportedParamsError: anthropic does not support parameters: {}, for model=claude. "
    "To drop these, set `litellm.drop_params=True` or for proxy:\n\n`litellm_settings:\n "
    "drop_params: true`\n. If you want to use these params dynamically send "
    "allowed_openai_params={} in your request."
)
VERTEX = (
    'litellm.BadRequestError: VertexAIException BadRequestError - b\'{"type":"error","error":'
    '{"type":"invalid_request_error","message":"prompt_cache_key: Extra inputs are not permitted"},'
    '"request_id":"req_1"}\'. Received Model Group=claude'
)


@each(
    "words, param, fields",
    [
        (LITELLM.format(*["['prompt_cache_key']"] * 2), "", "prompt_cache_key"),
        (LITELLM.format(*["{'prompt_cache_key': 'thread-1'}"] * 2), "", "prompt_cache_key"),
        (LITELLM.format(*["['store', 'user']"] * 2), "", "store user"),
        ("Unknown parameter: 'reasoning.summary'.", "reasoning.summary", "reasoning.summary"),
        ("Unknown parameter: 'reasoning.summary'.", "", "reasoning.summary"),
        ("Unsupported parameter: text", "", "text"),
        ("Unsupported parameter: 'text.verbosity' is not supported.", "", "text.verbosity"),
        ("Unrecognized request argument supplied: store", "", "store"),
        ("Unrecognized request arguments supplied: store and user", "", "store user"),
        ("prompt_cache_key: Extra inputs are not permitted", "", "prompt_cache_key"),
        ("body.create.store: Extra inputs are not permitted", "", "store"),
        ("tools.0.function.strict: Extra inputs are not permitted", "", "tools.*.strict"),
        ("Additional properties are not allowed ('store' was unexpected)", "", "store"),
        ("Additional properties are not allowed ('user', 'store' were unexpected)", "",
         "user store"),
        ("Argument not supported on this model: promptCacheKey", "", "prompt_cache_key"),
        ("create() got an unexpected keyword argument 'service_tier'", "", "service_tier"),
        ("property 'parallel_tool_calls' is unsupported", "", "parallel_tool_calls"),
        ('json: unknown field "user"', "", "user"),
        ("unknown field `user`, expected one of `model`, `store`", "", "user"),
        ("Reasoning is mandatory for this endpoint and cannot be disabled.", "", "reasoning"),
        ("unsupported_parameter No.", "store", "store"),
        ("'store' is not a valid parameter for this endpoint.", "", "store"),
        ("Property 'store' is not expected to be here.", "", "store"),
        ("The field 'user' is no longer supported.", "", "user"),
        ("Unrecognized key(s) in object: 'user', 'store'", "", "user store"),
        ("extra_forbidden body.store", "", "store"),
        ("The request does not match its schema: additional property store is not allowed", "",
         "store"),
        (VERTEX, "", "prompt_cache_key"),
        ("Encrypted content is not supported with this model.", "include", "include"),
        ("Unknown parameter: 'input[0].phase'.", "input[0].phase", "input.*.phase"),
        # what a request means nothing without, whatever the server says
        ("Unsupported parameter: 'model'", "model", ""),
        ("This model does not support tools.", "tools", ""),
        ("Unknown parameter: 'input[0].content'.", "input[0].content", ""),
        ("messages: Extra inputs are not permitted", "", ""),
        # another complaint
        ("The user is not allowed to do this.", "", ""),
        ("Missing required parameter: 'store'.", "store", ""),
        ("Unsupported value: 'reasoning.effort' does not support 'high'.", "reasoning.effort", ""),
        ("unsupported_value No.", "service_tier", ""),
        ("Invalid value: 'fast'. Supported values are: 'auto'.", "service_tier", ""),
        ("Unknown parameter: 'seed'.", "seed", ""),
        ("", "", ""),
    ],
)  # fmt: skip
def test_the_fields_that_a_refusal_names(words: str, param: str, fields: str) -> None:
    assert fields_refused(words, param, BODY) == tuple(fields.split())


@given(
    st.lists(st.sampled_from([*BODY, *"'\"`:,.[]{}()=", "Unknown", "parameter", "is not supported",
                              "input[0].content", "tools.0.name", "and", " ", "\n"])),
    st.sampled_from(["", *BODY, "input[0].type", "tools", "a.b.c", "[", "..."]),
    st.booleans(),
)  # fmt: skip
def test_whatever_a_server_says_the_request_stays_one(
    words: list[str], param: str, values: bool
) -> None:
    fields = fields_refused(" ".join(words), param, BODY, values=values)
    left = without(BODY, fields)
    for name in ("model", "stream"):
        assert left[name] == BODY[name]
    assert left["input"][0]["content"] == BODY["input"][0]["content"]
    assert left["tools"][0]["name"] == "r"


@pytest.mark.slow
def test_long_words_are_read_in_no_time() -> None:
    words = "Unknown parameter: " + "user store text include " * 5_000
    begun = time.process_time()
    fields_refused(words, "", BODY)
    long_s = time.process_time() - begun
    begun = time.process_time()
    for _ in range(50):
        fields_refused(words[:400], "", BODY)
    assert long_s < 3 * (time.process_time() - begun) + 0.01


def test_a_body_without_fields() -> None:
    fields = ("store", "reasoning.summary", "tools.*.strict", "text.verbosity", "gone.at.all")
    left = without(BODY, fields)
    assert left["reasoning"] == {"effort": "high"}
    assert left["tools"] == [{"type": "function", "name": "r", "parameters": {}}]
    assert {*BODY} - {*left} == {"store", "text"}, "a table of which nothing is left goes, too"
    assert BODY["reasoning"]["summary"] == "auto"
    assert left["input"] is BODY["input"], "what is not concerned is not copied"


def test_nothing_is_learnt_twice_and_not_without_end() -> None:
    refused = RefusedFields()
    assert refused.learn("m", ["store"])
    assert not refused.learn("m", ["store"])
    assert not refused.learn("m", [])
    assert refused.of("m") == ("store",)
    for number in range(1000):
        refused.learn("m", [f"field{number}"])
        refused.learn(f"model-{number}", ["store"])
    assert len(refused.of("m")) < 100
    assert refused.of("model-0") == ()

"""Which field a server's words name, and a request without it."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.wire.refused_fields import RefusedFields, fields_refused, without

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

"""A model's window: what a refusal tells of it, what counts, what room an answer leaves."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.tokens import TokenScale, Window, is_too_long, tokens, tokens_of, window_told

OPENAI = "Your input exceeds the context window of this model. Please adjust your input."
VLLM = (
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
    "(4500 in the messages, 500 in the completion)."
)
VLLM_ANSWER = (
    "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context "
    "length is 8192 tokens and your request has 4000 input tokens (5000 > 8192 - 4000)."
)
TGI = "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500"
GEMINI = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
XAI = "This model's maximum prompt length is 131072 but the request contains 200000 tokens."
LLAMA = "request (9000 tokens) exceeds the available context size (4,096 tokens), try increasing it"
GROQ = "Request too large for model m on tokens per minute (TPM): Limit 6000, Requested 9000"
CLAUDE = "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease"
TGI_INPUT = "Input validation error: `inputs` must have less than 1024 tokens. Given: 1500"
MISTRAL = "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"
COHERE = "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000"
QWEN = "Range of input length should be [1, 129024]"
MINIMAX = "invalid params, context window exceeds limit (2013)"  # the number is an error's
KIMI = "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)"
VLLM_MODEL = "The decoder prompt (length 21535) is longer than the maximum model length of 16384."
CEREBRAS = "Please reduce the length of the messages. Current length is 9000 while limit is 8192"
LIMIT = "Input tokens exceed the configured limit of 272000 tokens. Your messages: 300001 tokens."


@each(
    "code, message, window",
    [
        ("context_length_exceeded", OPENAI, None),
        ("context_length_exceeded", LIMIT, 272_000),
        ("invalid_request_error", VLLM, 4096),
        ("context_length_exceeded", TGI, 4096),
        ("invalid_argument", GEMINI, 1_048_576),
        ("", VLLM_ANSWER, 8192),
        ("", TGI, 4096),
        ("", TGI_INPUT, 1024),
        ("invalid_request_error", CLAUDE, 200_000),
        ("", MISTRAL, 32_768),
        ("", COHERE, 4081),
        ("", QWEN, 129_024),
        ("", XAI, 131_072),
        ("", LLAMA, 4096),
        ("", MINIMAX, None),
        ("invalid_request_error", KIMI, 262_144),
        ("BadRequestError", VLLM_MODEL, 16_384),
        ("", CEREBRAS, 8192),
        ("", "Prompt too long; please shorten your conversation.", None),
        ("", "Prompt exceeds max length", None),
        ("", "Prompt length (9000) exceeds maximum input length (8192). See the log.", 8192),
        ("", "Input exceeds the maximum length of 1048576 characters.", None),
        ("", "prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        ("", "This request has about 9,000 tokens, but m has a context window of 8,192", 8192),
    ],
)
def test_refusals_that_tell_of_a_window(code: str, message: str, window: int | None) -> None:
    assert is_too_long(code, message)
    assert window_told(message) == window


@each(
    "code, message",
    [
        ("rate_limit_exceeded", GROQ),
        ("invalid_request_error", "Unknown parameter: 'include'."),
        ("server_error", "try again"),
        ("", "the name of a function exceeds max length 64"),
        ("", "max_tokens is too large: 200000. This model takes at most 16384 completion tokens"),
        ("", "`max_tokens`: 20000 > 8192, which is the maximum allowed number of output tokens"),
        ("", ""),
    ],
)
def test_others_say_nothing_of_a_window(code: str, message: str) -> None:
    assert not is_too_long(code, message)


def test_room_is_left_for_an_answer() -> None:
    assert Window(2048).room() == 1792
    assert Window(4_000_000, 64_000).room() == 3_936_000
    assert Window(8000, 1000).room() == 7000
    assert Window(8000).room(wanted=2000) == 6000
    assert Window(8000).room(wanted=100_000) == 4000
    assert Window().room() is None


def test_what_is_sealed_costs_nothing_and_images_by_their_number() -> None:
    message = {"type": "message", "content": [{"text": "one two"}, {"text": "three"}]}
    assert tokens_of(message) == tokens("one two") + tokens("three")
    assert tokens_of({"type": "reasoning", "id": "x" * 99, "encrypted_content": "x" * 999}) == 0
    assert tokens_of({"type": "input_image", "image_url": "x" * 1_000_000}) == 800


def test_what_a_server_counted_is_the_scale_from_then_on() -> None:
    scale = TokenScale()
    assert scale.tokens(10_000) == 10_000
    assert scale.surely(10_000) == 7500
    scale.count(100, 1)  # too little to tell
    assert not scale.counted
    scale.count(10_000, 20_000)
    assert scale.tokens(10_000) == 20_000
    assert scale.surely(10_000) == 18_400

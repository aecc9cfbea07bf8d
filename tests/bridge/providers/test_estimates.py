"""About how many tokens a request has, and what it costs to say so."""

from __future__ import annotations

import time

import pytest

from tests.bridge.providers.test_windows import said
from tui.bridge.endpoints.base import Asked
from tui.bridge.providers.estimates import Texts, estimated_tokens, texts_of


def test_what_is_counted() -> None:
    assert estimated_tokens(said(4000)) == 1000  # its role and kind are no text
    wide = Asked("m", {}, [{"role": "user", "content": "漢" * 1000}])
    assert estimated_tokens(wide) == 1000
    image = {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 1_000_000}
    assert estimated_tokens(Asked("m", {}, [{"role": "user", "content": [image]}])) < 200
    sealed = {"type": "reasoning", "encrypted_content": "A" * 100_000, "summary": []}
    assert estimated_tokens(Asked("m", {}, [sealed])) == 0
    tools = [{"type": "function", "name": "f", "description": "d" * 4000, "parameters": {}}]
    whole = Asked("m", {"instructions": "i" * 4000, "tools": tools}, [])
    assert 2000 <= estimated_tokens(whole) < 2100


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # as the tokenizers of Llama 3, Qwen 3 and Gemma count them, give or take
        ("The quick brown fox jumps over the lazy dog. ", 10),
        ("def read(path: str) -> bytes:\n    return open(path, 'rb').read()\n", 20),
        ("9f86d081884c7d659a2feaa0c55ad015", 22),
        ("Съешь же ещё этих мягких французских булок. ", 18),
        ("今日は良い天気ですね。", 9),
    ],
)
async def test_the_most_it_may_be_is_no_less_and_not_far_more(text: str, tokens: int) -> None:
    texts = Texts([text * 50], 0)
    assert 0.85 * tokens * 50 <= await texts.most() <= 1.8 * tokens * 50
    assert texts.likely <= await texts.most()


def test_one_letter_that_is_not_ascii_costs_next_to_nothing() -> None:
    def took_s(text: str) -> float:
        asked = Asked("m", {}, [{"role": "user", "content": text}])
        began = time.process_time()
        assert texts_of(asked).likely
        return time.process_time() - began

    assert min(took_s("é" + "a" * 4_000_000) for _ in range(3)) < 0.04

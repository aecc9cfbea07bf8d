"""How many tokens an answer took, in the words of whichever server says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tui.core.wire.events import Usage

_WRITTEN = ("cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")
"""What went into a cache: OpenRouter's, LiteLLM's and Anthropic's words."""

_FOUND = (
    "prompt_cache_hit_tokens",  # DeepSeek
    "cached_tokens",  # Moonshot, Together
    "cache_read_input_tokens",  # Claude behind gateways
    "num_cached_tokens",  # Mistral
    "cached_prompt_tokens",
    "cache_read_tokens",
)
"""What was found in a cache, where the details do not say it."""


def usage_in(chunk: Mapping[str, Any]) -> Usage | None:
    """The count in a chunk or a whole answer; None: it has none."""
    groq, timings = chunk.get("x_groq"), chunk.get("timings")
    for holder in (chunk, groq, *_choices(chunk)):
        told = holder.get("usage") if isinstance(holder, dict) else None
        if isinstance(told, dict) and (usage := _counted(told)) is not None:
            return usage
    return _timed(timings) if isinstance(timings, dict) else None


def _counted(told: Mapping[str, Any]) -> Usage | None:
    tokens_in = _number(told, "prompt_tokens", "input_tokens")
    tokens_out = _number(told, "completion_tokens", "output_tokens")
    if tokens_in is None and tokens_out is None:
        return None
    tokens_in, tokens_out = tokens_in or 0, tokens_out or 0
    cached = _number(told.get("prompt_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _number(told.get("input_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _number(told, *_FOUND)
    written = _number(told.get("prompt_tokens_details"), *_WRITTEN)
    if written is None:
        written = _number(told, *_WRITTEN)
    reasoning = _number(told.get("completion_tokens_details"), "reasoning_tokens")
    if reasoning is None:
        reasoning = _number(told, "reasoning_tokens")
    beyond = (_number(told, "total_tokens") or 0) - tokens_in - tokens_out
    if beyond > 0:
        # xAI and Google count thoughts in the total only.
        tokens_out += beyond
        reasoning = beyond if reasoning is None else reasoning
    return Usage(tokens_in, tokens_out, cached, reasoning, written)


def _timed(timings: Mapping[str, Any]) -> Usage | None:
    """llama.cpp: ``prompt_n`` are the tokens that were not in its cache."""
    fresh, cached = _number(timings, "prompt_n"), _number(timings, "cache_n")
    said = _number(timings, "predicted_n")
    if fresh is None or said is None:
        return None
    return Usage(fresh + (cached or 0), said, cached)


def _choices(chunk: Mapping[str, Any]) -> list[Any]:
    listed = chunk.get("choices")
    return listed[:1] if isinstance(listed, list) else []


def _number(source: object, *keys: str) -> int | None:
    for key in keys:
        value = source.get(key) if isinstance(source, dict) else None
        usable = isinstance(value, int | float) and not isinstance(value, bool)
        if usable and value is not None and 0 <= value < 1e15:
            return int(value)
    return None

"""How many tokens a response took, as its server counted them."""

from __future__ import annotations

from typing import Any

import msgspec


class Usage(msgspec.Struct, frozen=True):
    """Tokens as the server counted them; None where it does not say."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_tokens: int | None = None
    """Of the input, what was put into a cache: it costs more where that is counted."""
    estimated: bool = False
    """Nobody counted: it is made of characters (the bridge's, for an answer that was cut)."""


def usage_of(response: dict[str, Any]) -> Usage | None:
    """The usage of a terminal event's response; None if there is none."""
    usage = response.get("usage")
    if not isinstance(usage, dict):
        return None
    tokens_in, tokens_out = _count(usage, "input_tokens"), _count(usage, "output_tokens")
    if tokens_in is None and tokens_out is None:
        return None
    details = usage.get("input_tokens_details")
    return Usage(
        tokens_in or 0,
        tokens_out or 0,
        _count(details, "cached_tokens"),
        _count(usage.get("output_tokens_details"), "reasoning_tokens"),
        _count(details, "cache_write_tokens"),
        usage.get("estimated") is True,
    )


def _count(source: object, key: str) -> int | None:
    value = source.get(key) if isinstance(source, dict) else None
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e15
    return int(value) if usable and value is not None else None

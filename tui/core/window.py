"""A model's window: how much it takes, how much a request says, what a refusal tells of both.

Tokens are estimated (`core.tokens`), and the estimate is put right by what the same model's server
counted last (`TokenScale`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct, json

from tui.core.text.patterns import pattern
from tui.core.tokens import tokens

_UNCOUNTED = frozenset({"type", "id", "role", "status", "call_id", "encrypted_content", "phase"})
_IMAGES = frozenset({"input_image", "image_url", "input_file"})
_IMAGE_TOKENS = 800
_LEAST_TOKENS = 500
"""What a server counted of less tells nothing about how it counts."""
_SURE, _SURE_COUNTED = 0.75, 0.92
"""The part of an estimate that is surely there: before a server has counted, and after."""
_EIGHTH = 8


class Window(Struct, frozen=True):
    """What a model takes, in tokens; None: not known."""

    tokens: int | None = None
    """Input and output together."""
    output: int | None = None
    """Most that one answer may have."""

    def room(self, wanted: int | None = None) -> int | None:
        """For input, when an answer of this many tokens (None: its own choice) is to fit, too."""
        if self.tokens is None:
            return None
        eighth = self.tokens // _EIGHTH
        answer = min(self.output or eighth, eighth) if wanted is None else wanted
        return self.tokens - min(answer, self.tokens // 2)


class TokenScale(Struct):
    """How many tokens a model's server counts for each that is estimated."""

    factor: float = 1.0
    counted: bool = False
    """A server has said so."""

    def tokens(self, estimated: int) -> int:
        """The likely number."""
        return round(estimated * self.factor)

    def surely(self, estimated: int) -> int:
        """What it hardly is less than."""
        return int(self.tokens(estimated) * (_SURE_COUNTED if self.counted else _SURE))

    def count(self, estimated: int, tokens: int) -> None:
        """A server counted so many tokens of what was estimated."""
        if estimated >= _LEAST_TOKENS and tokens > 0:
            self.factor = min(max(tokens / estimated, 0.5), 3.0)
            self.counted = True

    def too_many(self, estimated: int, window: int) -> bool:
        """A server counted more than its window; True: from now on that is surely too much."""
        self.count(estimated, int(max(window, self.tokens(estimated)) / _SURE_COUNTED) + 2)
        return self.surely(estimated) > window


def tokens_of(said: object) -> int:
    """An estimate of all that counts in a part of a request."""
    count, waiting = 0, [said]
    while waiting:  # no recursion: an item may be nested as deep as its reader let it
        part = waiting.pop()
        if isinstance(part, str):
            count += tokens(part)
        elif isinstance(part, Mapping):
            if part.get("type") in _IMAGES:
                count += _IMAGE_TOKENS
            else:
                waiting += [value for name, value in part.items() if name not in _UNCOUNTED]
        elif isinstance(part, list | tuple):
            waiting += part
    return count


def head_tokens(head: Mapping[str, Any]) -> int:
    """The same of what a request says beside its items."""
    tools, instructions = head.get("tools"), head.get("instructions")
    beside = _tokens(json.encode(tools).decode()) if tools else 0
    return beside + (_tokens(instructions) if isinstance(instructions, str) else 0)


_tokens = lru_cache(maxsize=8)(tokens)
"""The same head goes out with each request."""


_NUMBER = r"(\d[\d,_]{2,11})"
_LIMITS = tuple(
    pattern(words)
    for words in (
        rf"(?i)context limit[^\d]{{0,8}}[\d,_]+ \+ [\d,_]+ > ?{_NUMBER}",
        rf"(?i)context[ _-](?:length|size|window)(?: is| of)?(?: only)?:? ?\(?{_NUMBER}",
        rf"(?i)\b(?:with|only) {_NUMBER} maximum context",
        rf"(?i)(?:maximum|max_?)[a-z _]{{0,30}}(?:length|tokens?|size|window|len|allowed)"
        rf"[^\d>]{{0,40}}{_NUMBER}",
        rf"(?i)context[ _-](?:length|size|window)[^\d]{{0,30}}{_NUMBER}",
        rf"(?i)\binput length should be \[\d+, ?{_NUMBER}",
        rf"(?i)(?:\bmust have less than|\bcannot exceed) {_NUMBER}",
        rf"(?i)(?:\bn_ctx|\blimit of|\bat most|\bmaximum of|<=|> ?)[^\d]{{0,8}}{_NUMBER}",
    )
)
_OF_TIME = pattern(r"(?i)per (?:minute|day|hour)|\b[TR]P[MD]\b|rate.limit")
_TOO_LONG = pattern(
    r"(?i)context[ _-](?:length|limit|size|window)|prompt is too long|input is too long"
    r"|too many (?:input )?tokens|maximum (?:prompt|number of tokens)|reduce the length"
    r"|`inputs`(?: tokens \+ `max_new_tokens`)? must (?:be|have)|\binput length should be \["
)
LEAST_WINDOW = 256
"""Tokens; a smaller number in a refusal means something else."""


def is_too_long(code: str, message: str) -> bool:
    """Whether a refusal says that the request does not fit the model's window."""
    if _OF_TIME.search(message):
        return False
    return code == "context_length_exceeded" or _TOO_LONG.search(message) is not None


def window_told(message: str) -> int | None:
    """The window that a refusal names; None: it names none."""
    for limit in _LIMITS:
        for found in limit.finditer(message):
            number = int(found[1].replace(",", "").replace("_", ""))
            if number >= LEAST_WINDOW:
                return number
    return None

"""About how many tokens a text has, where nobody has counted them.

Two answers: what is likely of words and code in English, in no time, and one that hardly any
tokenizer goes beyond. Letters that are not ASCII are told by what they take in UTF-8: half a token
for two bytes (Cyrillic, Greek, Arabic), a whole one for three (Hindi, Chinese).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from tui.bridge.endpoints.base import Asked

CHARS_PER_TOKEN = 4
DENSEST = 3
"""Hardly anything has so many times the tokens that are likely."""
IMAGE_TOKENS = 85
"""The least that an image costs anywhere."""
_SLICE_CHARS = 65_536
"""So much is looked at in one go (a few ms), others have their turn behind it."""
_BEYOND_ASCII = bytes(range(128, 256))
_DENSE = re.compile(
    r"[A-Z]?[a-z]{1,7}|[A-Z]{1,3}|[0-9]{1,2}|\n[ \t]*|[ \t]{2,}|[!-/:-@\[-`{-~]{1,2}"
)
"""What is about a token of its own in code, numbers, hexadecimal digits and words."""
_UNCOUNTED = frozenset({"type", "id", "role", "status", "call_id", "encrypted_content", "phase"})


class Texts(NamedTuple):
    """What of a request costs tokens: sealed things and names of fields do not."""

    said: list[str]
    images: int

    @property
    def likely(self) -> int:
        """Tokens of words and code in English: four characters each."""
        plain = beyond = 0
        for text in self.said:
            ascii_chars, more = _sizes(text)
            plain, beyond = plain + ascii_chars, beyond + more
        return plain // CHARS_PER_TOKEN + beyond // 2 + self.images * IMAGE_TOKENS

    async def most(self) -> int:
        """Tokens, in whatever it is written: numbers, keys, dense code. No less than `likely`."""
        tokens = 0
        for text in self.said:
            for at in range(0, len(text), _SLICE_CHARS):
                piece = text[at : at + _SLICE_CHARS]
                tokens += len(_DENSE.findall(piece)) + _sizes(piece)[1] // 2
                if len(piece) == _SLICE_CHARS:
                    await asyncio.sleep(0)
        return max(tokens + self.images * IMAGE_TOKENS, self.likely)


def texts_of(asked: Asked) -> Texts:
    """The instructions, the conversation and the tools of a request."""
    said: list[str] = []
    images = 0
    waiting: list[Any] = [asked.request.get("instructions"), list(asked.items)]
    while waiting:  # no recursion: a request may be nested as deep as its reader let it
        part = waiting.pop()
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, Mapping):
            if part.get("type") in ("input_image", "image_url", "input_file"):
                images += 1
            else:
                waiting += _values(part)
        elif isinstance(part, list | tuple):
            waiting += part
    if tools := asked.request.get("tools"):
        said.append(msgspec.json.encode(tools).decode())
    return Texts(said, images)


def estimated_tokens(asked: Asked) -> int:
    """About how many tokens the request's input has: instructions, tools and the conversation."""
    return texts_of(asked).likely


def _values(item: Mapping[str, Any]) -> Iterable[Any]:
    return [value for name, value in item.items() if name not in _UNCOUNTED]


def _sizes(text: str) -> tuple[int, int]:
    """ASCII characters, and the bytes that the others have beyond one for each of them.

    Never character by character: that would hold up everybody else.
    """
    if text.isascii():
        return len(text), 0
    data = text.encode("utf-8", "surrogatepass")
    return len(data.translate(None, _BEYOND_ASCII)), len(data) - len(text)

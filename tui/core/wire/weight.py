"""How much memory a JSON text takes once it is read: of empty lists it is thirty times the text.

Texts of models are mostly long strings, which take what they are long; so their punctuation is
counted first, which is as fast as reading memory, and looked at closely only where there is much.
"""

from __future__ import annotations

import re
from typing import Any

MOST_VALUES = 1_000_000
"""In one message: more is no conversation. They take up to 250 MB."""
_VALUE_BYTES = 120
_FEW = 100_000
_STRING = re.compile(r'"(?:[^"\\]+|\\.)*+"')


def is_crowded(text: str) -> bool:
    """Whether a JSON text holds more than `MOST_VALUES`."""
    if _punctuation(text) <= MOST_VALUES:
        return False
    return _punctuation(_STRING.sub("", text)) > MOST_VALUES


def read_bytes(text: str, value: object) -> int:
    """About what a JSON text takes when it was read as ``value``."""
    if _punctuation(text) <= _FEW:
        return len(text)
    count = 0
    rest: list[Any] = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, dict | list):
            count += 1 + len(part)
            inner = part.values() if isinstance(part, dict) else part
            rest.extend(one for one in inner if isinstance(one, dict | list))
    return len(text) + count * _VALUE_BYTES


def _punctuation(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")

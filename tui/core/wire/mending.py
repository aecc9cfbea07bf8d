"""Text made storable: what JSON may escape but UTF-8 cannot hold."""

from __future__ import annotations

from typing import Any


def mended(text: str) -> str:
    """Parted pairs joined, lone halves replaced."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def mended_json(value: Any) -> Any:
    """The same for every string inside a decoded JSON value."""
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, list):
        return [mended_json(part) for part in value]
    if isinstance(value, dict):
        return {mended(str(key)): mended_json(part) for key, part in value.items()}
    return value

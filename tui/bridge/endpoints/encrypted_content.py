"""What a provider wants back of its model's thoughts, as our clients carry it.

Clients of the Responses API keep a reasoning item's `encrypted_content` unread and send it back
with the conversation. What other languages want back (signed thinking blocks, a text of thoughts)
travels in there, with the name of who made it: thoughts of another kind or of another model are
left out of a request, for their provider would refuse them or take them for the model's own.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import msgspec

from tui.core.wire.json_writing import is_long, request

MOST_CHARS, MOST_VALUES = 2**20, 10_000
"""The longest thoughts have half as many characters."""
PREFIX = "duetto1."
"""No provider's own content begins like this: a full stop is in no base64."""

COMPACTED = (
    "(An earlier part of the conversation was sealed by its provider: it is not known here.)"
)
"""What stands for a ``compaction`` item, which nobody but its provider can read."""


def is_compacted(item: Mapping[str, Any]) -> bool:
    """Whether an item is a sealed beginning of the conversation."""
    return str(item.get("type")) in ("compaction", "compaction_summary", "context_compaction")


def seal(kind: str, model: str, payload: Mapping[str, Any]) -> str:
    """The `encrypted_content` for what ``model`` of an endpoint of this kind wants back.

    ``payload`` is JSON; it is not secret: it is the client's own conversation. Of a payload that
    no model thinks nothing is carried: empty.
    """
    if is_long(payload, MOST_CHARS, MOST_VALUES):
        return ""
    told = request({"kind": kind, "model": model, "payload": dict(payload)}).encode()
    return PREFIX + base64.urlsafe_b64encode(told).decode("ascii").rstrip("=")


def is_sealed(text: object) -> bool:
    """Whether a bridge made this `encrypted_content`, for whichever kind: no provider knows it."""
    return isinstance(text, str) and text.startswith(PREFIX)


def unseal(kind: str, model: str, text: object) -> dict[str, Any] | None:
    """What was sealed for this kind and model; None: another made it, or nobody, or it is torn."""
    if not isinstance(text, str) or not text.startswith(PREFIX):
        return None
    try:
        raw = text.removeprefix(PREFIX).encode("ascii")
        told = msgspec.json.decode(base64.b64decode(raw + b"=" * (-len(raw) % 4), b"-_", True))
    except (binascii.Error, msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not isinstance(told, dict) or (told.get("kind"), told.get("model")) != (kind, model):
        return None
    payload = told.get("payload")
    return payload if isinstance(payload, dict) else None

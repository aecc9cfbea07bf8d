"""Thoughts that go back to the model that had them, in the form that its provider wants.

They travel in reasoning items (`endpoints.carried`). A payload holds ``back`` (the field in which
the thoughts in the item's own text came), ``details`` (OpenRouter's blocks) or ``call`` (what
Google signs a call with: it belongs to the call behind it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tui.bridge.endpoints.base import Unusable
from tui.bridge.endpoints.carried import unseal

FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Where servers put the thoughts of a message."""
_MOST_CHARS = 32 * 1024 * 1024
_JOINED = ("text", "summary", "data")
"""What of a block of thoughts streams in pieces."""


class Thoughts:
    """The thoughts of the message that is being built."""

    def __init__(self, kind: str, model: str, field: str) -> None:
        """``field``: see `Dialect.reasoning_back`."""
        self._kind = kind
        self._model = model
        self._field = field
        self._came = ""
        """The field in which the thoughts came."""
        self._texts: list[str] = []
        self._details: list[Any] = []
        self._call: dict[str, Any] = {}

    def payload(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """What a reasoning item carries; empty: nothing, or others' thoughts."""
        return unseal(self._kind, self._model, item.get("encrypted_content")) or {}

    def take(self, payload: Mapping[str, Any], item: Mapping[str, Any]) -> None:
        """A reasoning item and what it carries."""
        came = payload.get("back")
        if isinstance(came, str) and came in FIELDS:
            self._came = came
            self._texts.append(_text_of(item))
        details, call = payload.get("details"), payload.get("call")
        if isinstance(details, list):
            self._details += details
        if isinstance(call, dict):
            self._call = call

    def of_call(self) -> dict[str, Any]:
        """What the call that comes now is signed with."""
        call, self._call = self._call, {}
        return call

    def of_message(self, *, has_calls: bool) -> dict[str, Any]:
        """What the message that ends now has of thoughts."""
        told: dict[str, Any] = {}
        text = "\n\n".join(filter(None, self._texts))
        field = self._field
        if field == "auto":
            field = self._came if has_calls and not self._details else ""
        if field and (text or (has_calls and self._field == "reasoning_content")):
            # DeepSeek wants the field with every call, also where another model made it.
            told[field] = text
        if self._details:
            told["reasoning_details"] = self._details
        self._texts, self._details, self._call, self._came = [], [], {}, ""
        return told

    @staticmethod
    def add_to(message: dict[str, Any], told: Mapping[str, Any]) -> None:
        """Put them into the message."""
        fields = dict(told)
        thinking = fields.pop("thinking", "")
        if thinking:
            block = {"type": "thinking", "thinking": [{"type": "text", "text": thinking}]}
            text = message["content"]
            message["content"] = [block, *([{"type": "text", "text": text}] if text else [])]
        message.update(fields)


class Details:
    """OpenRouter's blocks of thoughts, put together from their pieces."""

    def __init__(self) -> None:
        self._blocks: dict[Any, dict[str, Any]] = {}
        self._pieces: dict[Any, dict[str, list[str]]] = {}
        self._chars = 0

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def take(self, listed: list[Any]) -> str:
        """More of them; returns what of it can be shown. Raises Broken: it is far too much."""
        shown: list[str] = []
        for told in listed:
            if not isinstance(told, dict):
                continue
            at = str(told.get("index")), str(told.get("type"))
            block = self._blocks.setdefault(at, {})
            for key, value in told.items():
                self._chars += len(value) if isinstance(value, str) else 1
                if self._chars > _MOST_CHARS:
                    raise Unusable("The model's thoughts do not come to an end: they were stopped.")
                if key in _JOINED and isinstance(value, str):
                    self._pieces.setdefault(at, {}).setdefault(key, []).append(value)
                    shown.append("" if key == "data" else value)
                elif value is not None:
                    block[key] = value
        return "".join(shown)

    def whole(self) -> list[dict[str, Any]]:
        """The blocks as they go back."""
        return [
            {**block, **{key: "".join(said) for key, said in self._pieces.get(at, {}).items()}}
            for at, block in self._blocks.items()
        ]


def _text_of(item: Mapping[str, Any]) -> str:
    """What a reasoning item says: the model's own words, else the summary."""
    for key in ("content", "summary"):
        listed = item.get(key)
        texts = [
            part["text"]
            for part in (listed if isinstance(listed, list) else [])
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
        if texts:
            return "\n\n".join(texts)
    return ""

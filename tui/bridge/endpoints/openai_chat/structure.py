"""Structured output: ``text.format`` of a request, as far as the provider knows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tui.bridge.endpoints.base import Asked
from tui.bridge.endpoints.openai_chat.dialect import Dialect
from tui.core.wire import json_writing

_MEMBERS = ("name", "description", "schema", "strict")


def response_format(asked: Asked, dialect: Dialect) -> dict[str, Any] | None:
    """The body's ``response_format``; None: it has none."""
    wanted = _wanted(asked)
    kind = wanted.get("type")
    if kind not in ("json_schema", "json_object") or not dialect.response_format:
        return None
    if kind == "json_object" or dialect.response_format == "json_object":
        return {"type": "json_object"}
    nested = wanted.get("json_schema")  # as Chat Completions itself has it
    told = nested if isinstance(nested, dict) else wanted
    schema = {key: told[key] for key in _MEMBERS if told.get(key) is not None}
    return {"type": "json_schema", "json_schema": {"name": "answer", **schema}}


def structure_in_words(asked: Asked, dialect: Dialect) -> str:
    """What the model has to be told in words, because the provider does not see to it."""
    wanted = _wanted(asked)
    kind = wanted.get("type")
    if kind not in ("json_schema", "json_object"):
        return ""
    if kind == "json_object":
        return "" if dialect.response_format else "Answer with one JSON object and nothing else."
    if dialect.response_format == "json_schema":
        return ""
    schema = wanted.get("schema")
    told = json_writing.request(schema if isinstance(schema, dict) else {})
    return f"Answer with JSON that matches this JSON schema, and with nothing else:\n{told}"


def _wanted(asked: Asked) -> Mapping[str, Any]:
    text = asked.request.get("text")
    wanted = text.get("format") if isinstance(text, dict) else None
    return wanted if isinstance(wanted, dict) else {}

"""Schemas of tools' parameters as providers take them.

Tools come from anywhere, and their schemas with them. Providers want an object with properties;
OpenAI and Anthropic refuse alternatives at its top, which say no more than what goes together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

Schema = dict[str, Any]
_ALL, _ANY = "allOf", ("anyOf", "oneOf")
_NO_TOP = (_ALL, *_ANY, "not", "enum", "const", "if", "then", "else")
DISPENSABLE = frozenset(
    (
        "$schema", "$id", "$comment", "additionalProperties", "unevaluatedProperties", "const",
        "contentEncoding", "contentMediaType", "default", "dependentRequired", "deprecated",
        "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "maxItems", "maxLength",
        "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum",
        "multipleOf", "not", "pattern", "patternProperties", "propertyNames", "readOnly",
        "title", "uniqueItems", "writeOnly",
    )
)  # fmt: skip
"""Keywords without which a schema says less, and nothing wrong."""
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords under which the keys are names, not keywords."""
_DATA = ("enum", "const", "default", "examples", "example")


def flat(schema: Mapping[str, Any]) -> Schema:
    """The schema of an object with properties; alternatives at the top are merged into one."""
    told = {key: value for key, value in schema.items() if key not in _NO_TOP}
    properties: Schema = {}
    needed: dict[str, None] = {}
    for part, always in _parts(schema):
        given, wanted = part.get("properties"), part.get("required")
        if isinstance(given, dict):
            properties = {**given, **properties}
        if always and isinstance(wanted, list):
            needed |= {name: None for name in wanted if isinstance(name, str)}
    told |= {"type": "object", "properties": properties}
    told.pop("required", None)
    if needed:
        told["required"] = list(needed)
    return told


def without(schema: Any, keywords: Set[str]) -> Any:
    """The schema without these keywords, wherever they are; names of properties are none."""
    if isinstance(schema, list):
        return [without(one, keywords) for one in schema]
    if not isinstance(schema, dict):
        return schema
    told: Schema = {}
    for key, value in schema.items():
        if key in keywords:
            continue
        if key in _DATA:
            told[key] = value
        elif key in _NAMED and isinstance(value, dict):
            told[key] = {name: without(one, keywords) for name, one in value.items()}
        else:
            told[key] = without(value, keywords)
    return told


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """The schema and those that it is put together from, with whether they always hold."""
    yield schema, True
    for key in (_ALL, *_ANY):
        listed = schema.get(key)
        for one in listed if isinstance(listed, list) else []:
            if isinstance(one, Mapping):
                yield one, key == _ALL

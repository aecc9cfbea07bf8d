"""Schemas of tools as providers take them."""

from __future__ import annotations

from typing import Any

from tests.support.tables import each
from tui.bridge.endpoints.tools import flat, without

A, B = {"type": "string"}, {"type": "integer"}


@each('schema, wanted', [
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object", "properties": None}, {"type": "object", "properties": {}}),
        ({"type": ["object", "null"]}, {"type": "object", "properties": {}}),
        # one of two is needed, as tools from elsewhere say it
        (
            {
                "type": "object", "properties": {"a": A, "b": B},
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
            },
            {"type": "object", "properties": {"a": A, "b": B}},
        ),
        # a union
        (
            {"oneOf": [{"properties": {"a": A}, "required": ["a"]}, {"properties": {"b": B}}]},
            {"type": "object", "properties": {"a": A, "b": B}},
        ),
        # all of them
        (
            {"required": ["a"], "allOf": [{"properties": {"a": A}}, {"required": ["b"]}]},
            {"type": "object", "properties": {"a": A}, "required": ["a", "b"]},
        ),
        # what is further down stays as it is
        (
            {"properties": {"a": {"anyOf": [A, B]}}, "additionalProperties": False, "$defs": {}},
            {
                "type": "object", "properties": {"a": {"anyOf": [A, B]}},
                "additionalProperties": False, "$defs": {},
            },
        ),
    ])  # fmt: skip
def test_an_object_with_properties(schema: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert flat(schema) == wanted


def test_keywords_go_and_names_stay() -> None:
    schema = {
        "$schema": "x",
        "properties": {
            "format": {"type": "string", "format": "uri"},
            "l": {"items": {"format": 1}},
        },
        "default": {"format": 1},
        "$defs": {"format": {"anyOf": [{"format": 1, "type": "string"}]}},
    }
    assert without(schema, {"$schema", "format"}) == {
        "properties": {"format": {"type": "string"}, "l": {"items": {}}},
        "default": {"format": 1},
        "$defs": {"format": {"anyOf": [{"type": "string"}]}},
    }

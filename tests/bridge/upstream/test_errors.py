"""Errors in the forms that servers give them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.tables import each
from tui.bridge.upstream.errors import ErrorBody, error_in, excerpt

FIELD = {"loc": ["body", "messages", 0, "name"], "msg": "Extra inputs are not permitted"}
RAW = json.dumps({"error": {"message": "context too long"}})


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (
            {"error": {"message": "No.", "type": "t", "code": "c", "param": "p"}},
            ErrorBody("c", "No.", "p"),
        ),
        ({"error": {"message": "No.", "type": "t", "code": None}}, ErrorBody("t", "No.")),
        ({"error": {"message": "No.", "code": 503, "type": "t"}}, ErrorBody("t", "No.", "", 503)),
        ({"error": "model 'x' not found"}, ErrorBody("", "model 'x' not found")),
        ({"message": "No.", "type": "t", "code": "c", "param": "p"}, ErrorBody("c", "No.", "p")),
        ({"detail": "No."}, ErrorBody("", "No.")),
        (
            {"detail": [FIELD]},
            ErrorBody("", "body.messages.0.name: Extra inputs are not permitted"),
        ),
        (
            {"object": "error", "message": {"detail": [FIELD]}, "code": None},
            ErrorBody("", "body.messages.0.name: Extra inputs are not permitted"),
        ),
        (
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {"raw": RAW},
                }
            },
            ErrorBody("", "Provider returned error (context too long)", "", 400),
        ),
        (
            {"error": {"message": "Provider returned error", "metadata": {"raw": "Too long."}}},
            ErrorBody("", "Provider returned error (Too long.)"),
        ),
        ({"error": {"message": "No.", "metadata": {"raw": "<html>"}}}, ErrorBody("", "No.")),
        ({}, ErrorBody("", "")),
    ],
)
def test_forms(said: dict[str, Any], complaint: ErrorBody) -> None:
    assert error_in(said) == complaint


@each(
    "body, words",
    [
        (b"Bad\r\n  gateway\n", "Bad gateway"),
        (b"[ERROR] Out of memory", "[ERROR] Out of memory"),
        (b"\n<!DOCTYPE html><html><title lang='en'>503 &amp; more\n</title>", "503 & more"),
        (b"<html><body>Sign in</body></html>", ""),
        (b'{"error": 1', ""),
        (b'["error"]', ""),
        (b"a " * 70 + b"the key is sk-1234567890", "a " * 70 + "the key is"),
        ("\u4f60".encode() * 1000, "\u4f60" * 160),
    ],
)
def test_what_a_body_that_is_no_json_says(body: bytes, words: str) -> None:
    assert excerpt(body) == words

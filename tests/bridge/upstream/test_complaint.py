"""Errors in the forms that servers give them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tui.bridge.upstream.error_bodies import Complaint, complaint_in

FIELD = {"loc": ["body", "messages", 0, "name"], "msg": "Extra inputs are not permitted"}
RAW = json.dumps({"error": {"message": "context too long"}})


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (
            {"error": {"message": "No.", "type": "t", "code": "c", "param": "p"}},
            Complaint("c", "No.", "p"),
        ),
        ({"error": {"message": "No.", "type": "t", "code": None}}, Complaint("t", "No.")),
        ({"error": {"message": "No.", "code": 503, "type": "t"}}, Complaint("t", "No.", "", 503)),
        ({"error": "model 'x' not found"}, Complaint("", "model 'x' not found")),
        ({"message": "No.", "type": "t", "code": "c", "param": "p"}, Complaint("c", "No.", "p")),
        ({"detail": "No."}, Complaint("", "No.")),
        (
            {"detail": [FIELD]},
            Complaint("", "body.messages.0.name: Extra inputs are not permitted"),
        ),
        (
            {"object": "error", "message": {"detail": [FIELD]}, "code": None},
            Complaint("", "body.messages.0.name: Extra inputs are not permitted"),
        ),
        (
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {"raw": RAW},
                }
            },
            Complaint("", "Provider returned error (context too long)", "", 400),
        ),
        (
            {"error": {"message": "Provider returned error", "metadata": {"raw": "Too long."}}},
            Complaint("", "Provider returned error (Too long.)"),
        ),
        ({"error": {"message": "No.", "metadata": {"raw": "<html>"}}}, Complaint("", "No.")),
        ({}, Complaint("", "")),
    ],
)
def test_forms(said: dict[str, Any], complaint: Complaint) -> None:
    assert complaint_in(said) == complaint

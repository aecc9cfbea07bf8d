"""The findings as text for a person and as JSON for a program."""

from __future__ import annotations

from typing import Any

from tests.benchmarks.edit import report as common
from tests.benchmarks.edit.figures import Findings
from tests.benchmarks.edit.targets import Check

METHOD = (
    "Three processes on loopback, without TLS: a provider's stand-in that answers at once and at a"
    " given pace, the real bridge, and clients that only count tokens in the bytes that come, so"
    " that their own cost is next to nothing. Where the system lets us choose, the bridge has one"
    " core, and the others have the rest.",
    "The first token is timed from the write of the request to the read that holds it, for the"
    " same request sent to the provider directly and to the bridge in turn, each on a kept"
    " connection; medians. CPU is all processor time of the bridge's process, user and system;"
    " what is added is that, and what the bridge's client spends more than the provider's.",
    "Under load each stream has a socket of its own and an event a token. An interrupt is timed"
    " from the client's write to the moment at which the provider sees its connection closed.",
)
"""How the figures come about."""


def as_json(findings: Findings, found: list[Check]) -> dict[str, Any]:
    """Everything; the units are in the figures' names."""
    return {**common.as_json(findings, found), "method": list(METHOD)}


def as_text(findings: Findings, found: list[Check]) -> str:
    """A block a figure, then what was missed."""
    return common.as_text(findings, found, METHOD)

"""The share of a session's input that its provider had been sent before, as the head of a request.

Providers keep what a request begins with, and read it again at a tenth to a half of the price and
in no time. So each request should begin with the whole of the last one.
"""

from __future__ import annotations

import asyncio

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tests.support.cached_session import TURNS, WAYS, measured

SHARE, BREAKS = "input that was sent before %", "requests that begin anew"
METHOD = (
    "The real session, sockets, bridge and languages; user, model and provider are scripted. Of"
    " each body that the provider's server read, in the order in which it reads (tools,"
    " instructions, messages), the longest head counts that an earlier request of the session had,"
    " too; on a chain that of what the server holds and is sent. With Anthropic a head counts only"
    " as far as a mark for the cache keeps it, looked for over 20 blocks. The first request counts"
    " as all new.",
)


def bound(spot: Spot) -> Bound:
    """The target of a figure."""
    return Bound(90.0, at_least=True) if spot.figure == SHARE else Bound(0)


def measure(*, quick: bool, tell: Tell) -> Findings:
    """Measure every language; ``quick``: some turns less, which have a larger share of new."""
    findings = Findings(METHOD, bound, quick=quick)
    with findings.timed():
        for name, way in WAYS.items():
            tell(name)
            head = asyncio.run(measured(way, 20 if quick else TURNS))
            findings.add(Spot(SHARE, f"{name}, {head.requests} requests"), 100 * head.share)
            findings.add(Spot(BREAKS, name), len(head.breaks))
    return findings

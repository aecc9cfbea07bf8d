"""The findings as text for a person and as JSON for a program."""

from __future__ import annotations

import os
import platform
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import tui
from tests.benchmarks.transport.plan import Findings, TokenFigures, TurnFigures
from tests.benchmarks.transport.targets import Check, judged, missed, spared

METHOD = (
    "TLS on loopback. A proxy adds the round trip: one to connect, half of it each way, slow start "
    "from ten segments and its restart after idle time as in Linux, no loss, no limit to the "
    "bandwidth. The model answers at once.",
    "sse-*: aiohttp, read line by line, json.loads of each event. ws-*: duetto's own wire, up to "
    "the event that the engine gets. The client is alone in its process.",
    "TTFT: from the call that sends to the first text that is handed on. Overhead: TTFT beyond one "
    "round trip. Sent: TCP payload of a turn from the client, counted by the proxy, with TLS.",
    "Tokens: every event is a TLS record of its own; without pace they come in full segments.",
    "Idle: a tool of 400 ms between two turns whose answers last 500 ms; CPU up to the first text "
    "there. All figures are medians; the transports take turns, in blocks or one by one.",
)
"""How the figures come about, a sentence or three each."""
COLUMNS = 100


def as_json(findings: Findings, found: list[Check]) -> dict[str, Any]:
    """Everything; milliseconds, microseconds and bytes as the names say."""
    return {
        "version": tui.__version__,
        "machine": machine(),
        "quick": findings.quick,
        "seconds": round(findings.seconds, 1),
        "method": list(METHOD),
        "turns": [_rounded(asdict(one)) for one in findings.turns],
        "tokens": [_rounded(asdict(one)) for one in findings.tokens],
        "targets": [_rounded(asdict(one)) for one in found],
        "judged": len(judged(found)),
        "reached": len(judged(found)) - len(missed(found)),
        "missed": len(missed(found)),
        "not_judged": spared(found),
    }


def machine() -> dict[str, Any]:
    """What it ran on, without a name."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def as_text(findings: Findings, found: list[Check]) -> str:
    """Tables, then the targets."""
    lines = [*_turns(findings.turns), "", *_tokens(findings.tokens), "", *_targets(found)]
    place = machine()
    lines += [
        "",
        *(textwrap.fill(words, COLUMNS) for words in METHOD),
        f"{place['cores']} cores, {place['system']} {place['machine']}, Python {place['python']}, "
        f"{findings.seconds:.0f} s{', quick' if findings.quick else ''}.",
    ]
    return "\n".join(lines)


def _turns(turns: tuple[TurnFigures, ...]) -> Iterator[str]:
    yield (
        f"{'RTT ms':>6} {'kB':>4} {'idle ms':>7}  {'transport':<15} {'TTFT ms':>8} "
        f"{'overhead ms':>11} {'sent bytes':>10} {'client CPU ms':>13}"
    )
    place = None
    for one in turns:
        here = (one.round_trip_ms, one.history_kb, one.idle_ms)
        words = f"{here[0]:>6} {here[1]:>4} {here[2]:>7}" if here != place else " " * 19
        place = here
        yield (
            f"{words}  {one.transport:<15} {one.ttft_ms:8.1f} {one.overhead_ms:11.1f} "
            f"{one.sent_bytes:10,} {one.cpu_ms:13.2f}"
        )


def _tokens(tokens: tuple[TokenFigures, ...]) -> Iterator[str]:
    yield f"{'tokens/s':>12}  {'client':<24} {'client CPU us a token':>21} {'wall us':>9}"
    for one in tokens:
        rate = f"{one.rate:,}" if one.rate else "without pace"
        yield f"{rate:>12}  {one.client:<24} {one.cpu_us:21.2f} {one.wall_us:9.2f}"


def _targets(found: list[Check]) -> Iterator[str]:
    for check in found:
        if check.kind == "saved":
            less = "less" if check.value >= 0 else "more"
            words = f"{abs(check.value) * 100:.1f} % {less} (at least {check.bound * 100:.0f} %)"
        else:
            words = f"{check.value:.3f} times (at most {check.bound:g})"
        note = f", not judged: {check.note}" if check.note else ""
        mark = {"ok": "ok", "missed": "MISSED", "not judged": "-"}[check.verdict]
        yield f"{mark:<6}  {check.target}, {check.where}: {words}{note}"
    of = len(judged(found))
    yield f"{of - len(missed(found))} of {of} places that are judged are reached."
    for reason, count in spared(found).items():
        yield f"{count} not judged: {reason}."


def _rounded(figures: dict[str, Any]) -> dict[str, Any]:
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in figures.items()
    }

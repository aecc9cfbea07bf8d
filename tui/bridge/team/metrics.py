"""What a team's bridge counts. Nothing here is of a user: no name, no text, no key.

Plain numbers, which cost next to nothing while tokens come; `exposition` makes Prometheus's text
of them when it is asked for.
"""

from __future__ import annotations

import bisect
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

BUCKETS_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 30.0, 60.0, 120.0, 300.0)
MOST_LABELS = 200
"""Different values of one label; what comes later is counted as ``other``: whoever asks may name
any model, and each new name would be kept for good."""
_OTHER = "other"


@dataclass(slots=True)
class Histogram:
    """How often what time was taken, in seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))
    """Of each bucket by itself; the last has no end."""
    sum_s: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect.bisect_left(BUCKETS_S, seconds)] += 1
        self.sum_s += seconds


@dataclass(frozen=True, slots=True)
class Account:
    """One response that has ended, as it is counted and logged."""

    endpoint: str
    kind: str
    provider: str
    model: str
    status: str
    code: str
    """Of the error or the reason; empty: it completed."""
    tokens: Mapping[str, int]
    """By direction: input, output, and what of them was cached or reasoning."""
    seconds: float
    ttft_s: float | None


class Metrics:
    """The counters since the bridge began."""

    def __init__(self) -> None:
        self.connections = 0
        """Let in, ever."""
        self.turned_away: Counter[str] = Counter()
        """By reason: upgrades and pages."""
        self.responses: Counter[tuple[str, ...]] = Counter()
        """By endpoint, model, status."""
        self.tokens: Counter[tuple[str, ...]] = Counter()
        """By endpoint, model, direction."""
        self.errors: Counter[tuple[str, ...]] = Counter()
        """By endpoint, kind, provider, code."""
        self.ttft: defaultdict[tuple[str, ...], Histogram] = defaultdict(Histogram)
        """By endpoint, model."""
        self.durations: defaultdict[tuple[str, ...], Histogram] = defaultdict(Histogram)
        """By endpoint, model."""
        self._labels: defaultdict[str, set[str]] = defaultdict(set)

    def count(self, account: Account) -> None:
        """Count a response that has ended."""
        # a model that nobody answered for is a word of the client
        answered = account.status not in ("refused", "abandoned")
        model = self._bounded("model", account.model) if answered else ""
        at = (account.endpoint, model)
        self.responses[*at, account.status] += 1
        for direction, tokens in account.tokens.items():
            self.tokens[*at, direction] += tokens
        if account.status in ("refused", "failed"):
            code = self._bounded("code", account.code)
            self.errors[account.endpoint, account.kind, account.provider, code] += 1
        if account.ttft_s is not None:
            self.ttft[at].observe(account.ttft_s)
        if answered:
            self.durations[at].observe(account.seconds)

    def _bounded(self, label: str, value: str) -> str:
        known = self._labels[label]
        if value in known or len(known) < MOST_LABELS:
            known.add(value[:100])
            return value[:100]
        return _OTHER


def tokens_of(usage: Any) -> dict[str, int]:
    """The tokens of a response's ``usage``, by direction; a provider may have written anything."""
    if not isinstance(usage, dict):
        return {}
    found = {
        "input": usage.get("input_tokens"),
        "output": usage.get("output_tokens"),
        "cached": _detail(usage, "input_tokens_details", "cached_tokens"),
        "reasoning": _detail(usage, "output_tokens_details", "reasoning_tokens"),
    }
    return {
        name: int(tokens)
        for name, tokens in found.items()
        if isinstance(tokens, (int, float)) and 0 < tokens < 1e12
    }


def _detail(usage: dict[str, Any], group: str, name: str) -> Any:
    details = usage.get(group)
    return details.get(name) if isinstance(details, dict) else None

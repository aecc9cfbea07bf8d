"""What a team's bridge counts. Nothing here is of a user: no name, no text, no key.

Plain numbers, which cost next to nothing while tokens come; `exposition` writes them as Prometheus
reads them, when it is asked.
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

if TYPE_CHECKING:
    from prometheus_client.core import Metric

BUCKETS_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 30.0, 60.0, 120.0, 300.0)
MOST_LABELS = 200
"""Different values of one label; what comes later is counted as ``other``: whoever asks may name
any model, and each new name would be kept for good."""
_OTHER = "other"


class Histogram(Struct):
    """How often what time was taken, in seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))
    """Of each bucket by itself; the last has no end."""
    sum_s: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect.bisect_left(BUCKETS_S, seconds)] += 1
        self.sum_s += seconds


class ResponseRecord(Struct, frozen=True):
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

    def count(self, record: ResponseRecord) -> None:
        """Count a response that has ended."""
        # a model that nobody answered for is a word of the client
        answered = record.status not in ("refused", "abandoned")
        model = self._bounded("model", record.model) if answered else ""
        at = (record.endpoint, model)
        self.responses[*at, record.status] += 1
        for direction, tokens in record.tokens.items():
            self.tokens[*at, direction] += tokens
        if record.status in ("refused", "failed"):
            code = self._bounded("code", record.code)
            self.errors[record.endpoint, record.kind, record.provider, code] += 1
        if record.ttft_s is not None:
            self.ttft[at].observe(record.ttft_s)
        if answered:
            self.durations[at].observe(record.seconds)

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


_BY_MODEL = ("endpoint", "model")
_WHAT = {
    "connections": "Connections that are open.",
    "responses_in_flight": "Responses that run.",
    "users": "Users that may come in.",
    "users_connected": "Users with an open connection.",
    "draining": "1 while the bridge waits for its last responses.",
    "users_file_ok": "0 while the file of users cannot be read; who was known still is.",
    "certificate_ends_seconds": "When the certificate ends, in Unix seconds; 0: there is none.",
    "log_lines_dropped": "Lines of the log that could not be written.",
}
"""What the gauges are."""


def exposition(metrics: Metrics, gauges: Mapping[str, float]) -> tuple[bytes, str]:
    """The figures as Prometheus reads them, and their content type.

    ``gauges``: what there is now, by name. The library is loaded at the first call: 50 ms.
    """
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    from prometheus_client.process_collector import ProcessCollector

    registry = CollectorRegistry(auto_describe=False)
    collector: Any = type("Figures", (), {"collect": lambda _self: _families(metrics, gauges)})()
    registry.register(collector)
    ProcessCollector(registry=registry)
    return generate_latest(registry), CONTENT_TYPE_LATEST


def _families(counted: Metrics, gauges: Mapping[str, float]) -> Iterator[Metric]:
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
    )

    for name, value in gauges.items():
        yield GaugeMetricFamily(f"duetto_{name}", _WHAT.get(name, name), value=value)
    away: dict[tuple[str, ...], int]
    away = {(reason,): count for reason, count in counted.turned_away.items()}
    counters: list[tuple[str, str, tuple[str, ...], Mapping[tuple[str, ...], int]]] = [
        ("connections_opened", "Connections let in, ever.", (), {(): counted.connections}),
        ("turned_away", "Requests not let in.", ("reason",), away),
        ("responses", "Responses that have ended.", (*_BY_MODEL, "status"), counted.responses),
        (
            "tokens",
            "Tokens as providers count them; input holds cached, output holds reasoning.",
            (*_BY_MODEL, "direction"),
            counted.tokens,
        ),
        (
            "errors",
            "Responses that were refused or failed.",
            ("endpoint", "kind", "provider", "code"),
            counted.errors,
        ),
    ]
    for name, what, labels, counts in counters:
        counter = CounterMetricFamily(f"duetto_{name}", what, labels=labels)
        for values, count in list(counts.items()):
            counter.add_metric(values, count)
        yield counter
    ends = [*map(str, BUCKETS_S), "+Inf"]
    for name, what, taken in (
        ("ttft_seconds", "From a request to the first text of its answer.", counted.ttft),
        ("response_seconds", "From a request to its end.", counted.durations),
    ):
        family = HistogramMetricFamily(f"duetto_{name}", what, labels=_BY_MODEL)
        for values, histogram in list(taken.items()):
            buckets = list(zip(ends, itertools.accumulate(histogram.counts), strict=True))
            family.add_metric(values, buckets, histogram.sum_s)
        yield family

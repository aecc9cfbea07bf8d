"""The figures as Prometheus reads them. Imported when they are first asked for: it takes 50 ms."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from tui.bridge.team.metrics import BUCKETS_S, Histogram, Metrics

_BY_MODEL = ("endpoint", "model")


def exposition(metrics: Metrics, gauges: Mapping[str, float]) -> tuple[bytes, str]:
    """The page and its content type; ``gauges``: what there is now, by name."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(metrics, gauges))
    ProcessCollector(registry=registry)
    return generate_latest(registry), CONTENT_TYPE_LATEST


class _Figures(Collector):
    def __init__(self, metrics: Metrics, gauges: Mapping[str, float]) -> None:
        self._metrics = metrics
        self._gauges = gauges

    def collect(self) -> Iterable[Metric]:
        counted = self._metrics
        for name, (value, what) in _described(self._gauges):
            yield GaugeMetricFamily(f"duetto_{name}", what, value=value)
        came = CounterMetricFamily("duetto_connections_opened", "Connections let in, ever.")
        came.add_metric((), counted.connections)
        yield came
        away: dict[tuple[str, ...], int] = {
            (reason,): count for reason, count in counted.turned_away.items()
        }
        yield _counter("turned_away", "Requests not let in.", ("reason",), away)
        words = "Responses that have ended."
        yield _counter("responses", words, (*_BY_MODEL, "status"), counted.responses)
        words = "Tokens as providers count them; input holds cached, output holds reasoning."
        yield _counter("tokens", words, (*_BY_MODEL, "direction"), counted.tokens)
        words = "Responses that were refused or failed."
        yield _counter("errors", words, ("endpoint", "kind", "provider", "code"), counted.errors)
        words = "From a request to the first text of its answer."
        yield _histogram("ttft_seconds", words, counted.ttft)
        yield _histogram("response_seconds", "From a request to its end.", counted.durations)


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


def _described(gauges: Mapping[str, float]) -> Iterable[tuple[str, tuple[float, str]]]:
    return ((name, (value, _WHAT.get(name, name))) for name, value in gauges.items())


def _counter(
    name: str, words: str, labels: tuple[str, ...], counts: Mapping[tuple[str, ...], int]
) -> Metric:
    family = CounterMetricFamily(f"duetto_{name}", words, labels=labels)
    for values, count in list(counts.items()):
        family.add_metric(values, count)
    return family


def _histogram(name: str, words: str, taken: Mapping[tuple[str, ...], Histogram]) -> Metric:
    family = HistogramMetricFamily(f"duetto_{name}", words, labels=_BY_MODEL)
    ends = [*map(str, BUCKETS_S), "+Inf"]
    for values, histogram in list(taken.items()):
        buckets = list(zip(ends, itertools.accumulate(histogram.counts), strict=True))
        family.add_metric(values, buckets, histogram.sum_s)
    return family

from __future__ import annotations

import pytest

from tui.bridge.team.exposition import exposition
from tui.bridge.team.metrics import BUCKETS_S, MOST_LABELS, Account, Histogram, Metrics, tokens_of


def account(model: str = "m", status: str = "completed", code: str = "") -> Account:
    return Account("near", "openai-chat", "vllm", model, status, code, {"output": 3}, 1.0, 0.3)


def test_names_that_clients_make_up_do_not_fill_the_memory() -> None:
    metrics = Metrics()
    for number in range(3 * MOST_LABELS):
        metrics.count(account(f"model-{number}"))
        metrics.count(account(f"unknown-{number}", "refused", f"code-{number}"))
    assert len(metrics.responses) == MOST_LABELS + 2
    assert metrics.responses["near", "other", "completed"] == 2 * MOST_LABELS
    assert metrics.responses["near", "", "refused"] == 3 * MOST_LABELS
    assert len(metrics.errors) == MOST_LABELS + 1
    assert len(metrics.ttft) == MOST_LABELS + 2


def test_a_name_is_no_page() -> None:
    metrics = Metrics()
    metrics.count(account("x" * 10_000 + '"\n# injected 1\n'))
    metrics.count(account('a"} 1\nduetto_forged 7\n'))
    page = exposition(metrics, {})[0].decode()
    assert not any(line.startswith(("duetto_forged", "# injected")) for line in page.splitlines())
    assert max(map(len, page.splitlines())) < 400


def test_a_histogram_counts_up_to_each_bound() -> None:
    metrics, histogram = Metrics(), Histogram()
    for seconds in (0.05, 0.06, 1000.0):
        histogram.observe(seconds)
    metrics.ttft["near", "m"] = histogram
    page = exposition(metrics, {})[0].decode()
    at = 'duetto_ttft_seconds_bucket{endpoint="near",le='
    assert f'{at}"0.05",model="m"}} 1.0' in page
    assert f'{at}"0.1",model="m"}} 2.0' in page
    assert f'{at}"{BUCKETS_S[-1]}",model="m"}} 2.0' in page
    assert f'{at}"+Inf",model="m"}} 3.0' in page


@pytest.mark.parametrize(
    "usage",
    [None, [], "x", {"input_tokens": "9"}, {"input_tokens": -1}, {"output_tokens": float("nan")},
     {"input_tokens_details": []}, {"output_tokens": 1e300}],
)  # fmt: skip
def test_usage_that_is_none_counts_nothing(usage: object) -> None:
    assert tokens_of(usage) == {}


def test_usage_is_read_by_direction() -> None:
    usage = {
        "input_tokens": 11,
        "output_tokens": 7,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    assert tokens_of(usage) == {"input": 11, "output": 7, "cached": 4}

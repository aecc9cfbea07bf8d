from __future__ import annotations

from tui.bridge.team.metrics import MOST_LABELS, Metrics, ResponseRecord


def record(model: str = "m", status: str = "completed", code: str = "") -> ResponseRecord:
    return ResponseRecord(
        "near", "openai-chat", "vllm", model, status, code, {"output": 3}, 1.0, 0.3
    )


def test_names_that_clients_make_up_do_not_fill_the_memory() -> None:
    metrics = Metrics()
    for number in range(3 * MOST_LABELS):
        metrics.count(record(f"model-{number}"))
        metrics.count(record(f"unknown-{number}", "refused", f"code-{number}"))
    assert len(metrics.responses) == MOST_LABELS + 2
    assert metrics.responses["near", "other", "completed"] == 2 * MOST_LABELS
    assert metrics.responses["near", "", "refused"] == 3 * MOST_LABELS
    assert len(metrics.errors) == MOST_LABELS + 1
    assert len(metrics.ttft) == MOST_LABELS + 2

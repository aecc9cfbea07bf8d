"""What parsing costs: time grows with the text, memory with nothing (EDITS section 3, I5)."""

from __future__ import annotations

import json
import time
import tracemalloc

import pytest

from tests.support.edit_streams import pieces
from tests.support.tables import each
from tui.core.edit_stream import Channel, Format, parser_for

LINE = "    value = compute(first, second)  # and a comment\n"
HEADS: dict[Format, tuple[str, str, str]] = {
    "apply_patch": ("*** Begin Patch\n*** Update File: a.py\n@@\n", "+", "*** End Patch\n"),
    "search_replace": ("a.py\n<<<<<<< SEARCH\nx\n=======\n", "", ">>>>>>> REPLACE\n"),
    "unified_diff": ("--- a/a.py\n+++ b/a.py\n@@ ... @@\n-x\n", "+", ""),
    "whole_file": ("a.py\n```python\n", "", "```\n"),
}


def stream(fmt: Format, body: str) -> str:
    head, prefix, tail = HEADS[fmt]
    return head + "".join(prefix + line for line in body.splitlines(keepends=True)) + tail


def spent_s(text: str, fmt: Format, channel: Channel, size: int, frame: int = 0) -> float:
    """CPU seconds, the best of three; ``frame``: deltas between two looks at the tail."""
    if channel == "function":
        text = json.dumps({"input": text})
    deltas = pieces(text, size)
    best = 9e9
    for _ in range(3):
        parser = parser_for(fmt, channel)
        started = time.process_time()
        for number, delta in enumerate(deltas):
            parser.feed(delta)
            if frame and number % frame == 0:
                parser.tail()
        parser.finish(cut=False)
        best = min(best, time.process_time() - started)
    return best


@pytest.mark.slow
@pytest.mark.case("A03")
def test_a_long_line_of_prose_is_linear():
    half = spent_s("x " * 100_000, "auto", "text", 4)
    assert spent_s("x " * 200_000, "auto", "text", 4) < 4 * half + 0.05


@pytest.mark.slow
@pytest.mark.case("A03")
@each(
    "fmt, head",
    [
        ("apply_patch", "*** Begin Patch\n*** Update File: a.py\n@@\n-"),
        ("search_replace", "a.py\n<<<<<<< SEARCH\n"),
        ("unified_diff", "--- a/a.py\n+++ b/a.py\n@@ ... @@\n-"),
    ],
)
def test_a_long_line_that_is_not_painted_is_linear_too_if_every_delta_is_looked_at(fmt, head):
    half = spent_s(f"{head}{'x' * 400_000}\n", fmt, "custom", 4, 1)
    assert spent_s(f"{head}{'x' * 800_000}\n", fmt, "custom", 4, 1) < 3 * half + 0.05


@pytest.mark.slow
@pytest.mark.case("A03")
def test_blank_lines_that_wait_in_a_diff_are_linear():
    head = "--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n"
    half = spent_s(head + "\n" * 10_000, "unified_diff", "custom", 200)
    assert spent_s(head + "\n" * 20_000, "unified_diff", "custom", 200) < 3 * half + 0.05


@each("channel", ["custom", "function", "text"])
@each("fmt", HEADS)
def test_a_parser_keeps_nothing_of_what_it_said(fmt, channel):
    """Memory does not grow with the edit, nor with the number of deltas."""
    text = stream(fmt, LINE * 800)[:-30]
    if channel == "function":
        text = json.dumps({"input": text})[:-30]
    parser = parser_for(fmt, channel)
    tracemalloc.start()
    try:
        for delta in pieces(text, 4):
            parser.feed(delta)
        kept_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept_bytes < 20_000, f"{kept_bytes} of {len(text)}"

"""What parsing costs: time grows with the text, memory with nothing (EDITS section 3, I5)."""

from __future__ import annotations

import json
import time
import tracemalloc

import pytest

from tests.support.edit_streams import pieces
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


@pytest.mark.case("A03", "J03")
@pytest.mark.parametrize("channel", ["custom", "function", "text"])
@pytest.mark.parametrize("fmt", HEADS)
def test_one_long_line_is_linear(fmt, channel):
    """A03: one 400 kB line in 4-character deltas, the tail looked at 100 times."""
    half = spent_s(stream(fmt, "x" * 200_000 + "\n"), fmt, channel, 4, 500)
    whole = spent_s(stream(fmt, "x" * 400_000 + "\n"), fmt, channel, 4, 1000)
    assert whole < 4 * half + 0.05


@pytest.mark.case("A03")
def test_a_long_line_of_prose_is_linear():
    half = spent_s("x " * 100_000, "auto", "text", 4)
    assert spent_s("x " * 200_000, "auto", "text", 4) < 4 * half + 0.05


@pytest.mark.case("A03")
@pytest.mark.parametrize(
    ("fmt", "head"),
    [
        ("apply_patch", "*** Begin Patch\n*** Update File: a.py\n@@\n-"),
        ("search_replace", "a.py\n<<<<<<< SEARCH\n"),
        ("unified_diff", "--- a/a.py\n+++ b/a.py\n@@ ... @@\n-"),
    ],
)
def test_a_long_line_that_is_not_painted_is_linear_too_if_every_delta_is_looked_at(fmt, head):
    half = spent_s(f"{head}{'x' * 400_000}\n", fmt, "custom", 4, 1)
    assert spent_s(f"{head}{'x' * 800_000}\n", fmt, "custom", 4, 1) < 3 * half + 0.05


@pytest.mark.case("A03")
def test_blank_lines_that_wait_in_a_diff_are_linear():
    head = "--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n"
    half = spent_s(head + "\n" * 10_000, "unified_diff", "custom", 200)
    assert spent_s(head + "\n" * 20_000, "unified_diff", "custom", 200) < 3 * half + 0.05


@pytest.mark.case("J01")
@pytest.mark.parametrize("size", [1, 4, 64])
@pytest.mark.parametrize("fmt", HEADS)
def test_the_last_line_costs_what_the_first_did(fmt, size):
    """Cost per delta does not grow with the edit."""
    short = spent_s(stream(fmt, LINE * 500), fmt, "custom", size)
    assert spent_s(stream(fmt, LINE * 4000), fmt, "custom", size) < 20 * short + 0.05


@pytest.mark.parametrize("channel", ["custom", "function", "text"])
@pytest.mark.parametrize("fmt", HEADS)
def test_a_parser_keeps_nothing_of_what_it_said(fmt, channel):
    """Memory does not grow with the edit, nor with the number of deltas."""
    text = stream(fmt, LINE * 4000)[:-30]
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
    assert kept_bytes < 40_000, f"{kept_bytes} of {len(text)}"


def test_megabytes_a_second():
    """5 MB/s at 4 characters are the target of `duetto bench edit`; half of it fails here."""
    for fmt in HEADS:
        text = stream(fmt, LINE * 4000)
        for channel in ("custom", "function", "text"):
            rate = len(text) / spent_s(text, fmt, channel, 4) / 1e6
            assert rate > 2.5, (fmt, channel, rate)
    assert 400_000 / spent_s("Some words. " * 33_334, "auto", "text", 4) / 1e6 > 2.5

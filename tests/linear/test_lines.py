from __future__ import annotations

import pytest

from tests.support.linear_stage import LinearStage
from tui.linear.lines import broken, cells


@pytest.mark.parametrize("width", [20, 33, 80])
def test_prose_is_broken_between_words_only(width: int) -> None:
    text = "a screen reader that goes by rows would then read half a word " * 4
    rows = list(broken(text.strip(), width))
    assert " ".join(rows) == text.strip()
    assert max(map(len, rows)) <= width


def test_what_has_no_blank_is_left_to_the_terminal() -> None:
    assert list(broken("x" * 90, 40)) == ["x" * 90]
    assert list(broken("see " + "x" * 90 + " there", 40)) == ["see", "x" * 90, "there"]


def test_wide_characters_count_twice() -> None:
    assert cells("日本") == 4
    assert next(iter(broken("日本 " * 10, 20))) == "日本 日本 日本 日本"


def test_no_terminal_no_breaks_and_a_tiny_one_neither() -> None:
    for width in (None, 0, 5):
        assert list(broken("word " * 50, width)) == ["word " * 50]


def test_code_is_never_broken() -> None:
    stage = LinearStage()
    stage.heard.width = 30
    line = "    value = compute(one, two, three, four, five, six)"
    stage.session.say("text", f"Look at this, it is what I would write here:\n```\n{line}\n```\n")
    assert stage.look().splitlines() == [
        "Look at this, it is what I",
        "would write here:",
        "Code:",
        line,
        "End of code.",
    ]


def test_a_line_of_output_that_never_ends_is_cut() -> None:
    stage = LinearStage()
    stage.session.say("run", "x" * 5_000 + "\n", title="cat big")
    assert "4,500 more characters: /output reads all" in stage.look()
    assert "x" * 5_000 in stage.enter("/output")

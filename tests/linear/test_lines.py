from __future__ import annotations

from tests.support.linear_stage import LinearStage
from tui.linear.speech import broken, cells


def test_wide_characters_count_twice() -> None:
    assert cells("日本") == 4
    assert next(iter(broken("日本 " * 10, 20))) == "日本 日本 日本 日本"


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

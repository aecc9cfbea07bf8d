from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.linear_stage import LinearStage
from tests.support.tables import each
from tui.core.conversation import Block, BlockKind
from tui.linear.narrator import ReadingPace, RunNarrator, Speech, broken, cells, sentence

ANSWER = """I'll guard every mutation with one lock, and nothing else. That keeps reads cheap.
It costs 0.3 s at most, e.g. on a phone.

## What **changes**

1. `put` takes the lock. `get` does not, since a dict's read is atomic in CPython.
2. **Nothing** else.


```python
def put(self):
    with self._lock:

        pass. And More
```
Done.
"""


def spoken(*texts: str) -> list[str]:
    speech = Speech()
    lines = [line for text in texts for line in speech.take(text)]
    return [*lines, *speech.rest()]


@given(st.lists(st.integers(0, len(ANSWER)), max_size=12))
def test_however_it_comes_the_lines_are_the_same(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(ANSWER)]
    parts = [ANSWER[a:b] for a, b in pairwise(ends)]
    assert spoken(*parts) == spoken(ANSWER)


def test_code_that_was_cut_off_ends_in_words() -> None:
    said = spoken("```js\nlet a = 1;\nlet b")
    assert said == ["Code, js:", "let a = 1;", "let b", "End of code."]


@pytest.mark.parametrize("word", ["x", "xy "])
def test_a_line_without_an_end_is_cut_at_a_blank_if_there_is_one(word: str) -> None:
    lines = spoken(word * 1000)
    assert "".join(lines).replace(" ", "") == (word * 1000).replace(" ", "")
    assert all(len(line) <= 400 for line in lines) or word == "x"


@pytest.mark.parametrize(
    "line",
    [
        "x" * 20_000,
        "a" * 450 + " " + "words and words. " * 200,
        "One sentence " + "that goes on " * 60 + "to its end. Then another one follows it here.",
        "He said so! " * 300,
    ],
    ids=["one word", "an address before words", "a long sentence", "short ones"],
)
def test_long_lines_are_cut_alike_however_they_come(line: str) -> None:
    at_once, bit_by_bit = Speech(), Speech()
    whole = at_once.take(line + "\n") + at_once.rest()
    found = [one for start in range(0, len(line), 37) for one in bit_by_bit.take(line[start:][:37])]
    assert whole == found + bit_by_bit.rest()
    assert max(map(len, whole)) <= 4000


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


def test_a_sentence_begins_with_a_capital_and_a_path_as_it_is() -> None:
    assert sentence("the tests ran") == "The tests ran."
    assert sentence("a.txt was moved to c.txt: it is edited there now").startswith("a.txt was")
    assert sentence("switched to deep.") == "Switched to deep."


@each("outputs", [False, True])
def test_of_two_commands_side_by_side_each_end_says_whose_it_is(outputs: bool) -> None:
    pace = ReadingPace(outputs=outputs)
    blocks = [Block(BlockKind.RUN, 0, name) for name in ("ruff check", "pytest -q")]
    lint, tests = (RunNarrator(block, pace) for block in blocks)
    assert [*lint.news(), *tests.news()] == ["Running: ruff check", "Running: pytest -q"]
    for block in blocks:
        block.say("[exit 0 after 0.1 s]\n")
        block.state = "done"
    assert lint.news() == ["From ruff check:", "[exit 0 after 0.1 s]"]
    assert tests.news() == ["From pytest -q:", "[exit 0 after 0.1 s]"]


def test_one_command_alone_says_its_name_once() -> None:
    block, pace = Block(BlockKind.RUN, 0, "pytest -q"), ReadingPace()
    narrator = RunNarrator(block, pace)
    assert narrator.news() == ["Running: pytest -q"]
    block.say("[exit 0 after 0.1 s]\n")
    block.state = "done"
    assert narrator.news() == ["[exit 0 after 0.1 s]"]

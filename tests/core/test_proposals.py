"""Which model a prompt is better asked of: only where one's own turns say so, and surely."""

from __future__ import annotations

import random
from collections.abc import Iterable

from tests.support.tables import case
from tui.core.proposals import JudgedTurn, Proposals, kind_of

MODELS = {"fast": "quick-1", "deep": "slow-1"}
PROMPT = "fix the parser in a.py and b.py"
KIND = "fixes in several files"


def turns(
    role: str, right: int, count: int, seconds: float = 10.0, proposed: str = ""
) -> list[JudgedTurn]:
    name = MODELS[role]
    return [
        JudgedTurn(KIND, role, name, number < right, seconds, proposed) for number in range(count)
    ]


def said(*past: Iterable[JudgedTurn], role: str = "fast") -> tuple[str, str] | None:
    """Who is proposed, and why."""
    found = Proposals(turn for some in past for turn in some).of(PROMPT, role, MODELS)
    return None if found is None else (found.role, found.words)


def test_a_prompt_is_of_a_kind_by_its_first_verb_its_files_or_its_length() -> None:
    for prompt, kind in (
        ("Fix the crash", "fixes"),
        ("please could you fix @a.py and tui/b.py", "fixes in several files"),
        ("fix a.py, and a.py again", "fixes"),
        ("Add a test for slugs", "tests"),
        ("add a flag", "additions"),
        ("why does it hang?", "questions"),
        ("rename Cache to Store in cache.py and main.py", "renames in several files"),
        ("fix `a.py`, (tui/b.py) and 3.14, e.g. now. Then go.", "fixes in several files"),
        ("fix a.py, i.e. by 3.14", "fixes"),
        ("extract a helper", "changes"),
        ("slugs", "short prompts"),
        ("the words of it " * 40, "long prompts"),
        ("", "short prompts"),
        ("x " * 100_000 + "fix", "long prompts"),
    ):
        with case(prompt, kind):
            assert kind_of(prompt) == kind


def test_a_prompt_in_any_language_is_of_a_kind_by_its_question_mark_or_its_files() -> None:
    for prompt, kind in (
        ("warum hängt es?", "questions"),
        ("なぜ止まるのですか？直して", "questions"),
        ("لماذا يتوقف؟", "questions"),
        ("does it hang?", "questions"),
        ("can you add a flag?", "additions"),
        ("siehe https://x.test/a?b=1 und a.py", "short prompts"),
        ("修复a.py和b.py", "short prompts in several files"),
        ("mach «übung.py», „prüfung.py“ neu", "short prompts in several files"),
        ("修复a.py，即a.py", "short prompts"),
        ("почини кэш", "short prompts"),
    ):
        with case(prompt, kind):
            assert kind_of(prompt) == kind


def test_the_model_that_is_right_far_more_often_is_proposed() -> None:
    words = "10 of 12 right, fast 3 of 10 · fixes in several files"
    assert said(turns("fast", 3, 10), turns("deep", 10, 12)) == ("deep", words)
    assert said(turns("fast", 3, 10), turns("deep", 10, 12), role="deep") is None


def test_the_quicker_one_is_proposed_where_it_is_as_often_right() -> None:
    past = (turns("fast", 9, 10, 4.2), turns("deep", 9, 10, 31))
    words = "in 4.2 s, deep 31 s · 9 of 10 right · fixes in several files"
    assert said(*past, role="deep") == ("fast", words)
    assert said(*past) is None


def test_nothing_is_said_of_few_turns_of_another_kind_or_of_a_model_that_is_gone() -> None:
    assert said() is None
    assert said(turns("fast", 0, 7), turns("deep", 20, 20)) is None
    other = Proposals([*turns("fast", 0, 20), *turns("deep", 20, 20)])
    assert other.of(PROMPT, "fast", {**MODELS, "deep": "slow-0"}) is None
    assert other.of("fix a.py", "fast", MODELS) is None
    assert other.of(PROMPT, "fast", {"fast": "quick-1"}) is None


def test_equal_models_are_hardly_ever_told_apart() -> None:
    dice = random.Random(22)
    wrong = 0
    for _ in range(2000):
        share, count = dice.uniform(0.1, 0.9), dice.randint(8, 50)
        past = [
            JudgedTurn(KIND, role, model, dice.random() < share, None)
            for role, model in MODELS.items()
            for _ in range(count)
        ]
        wrong += said(past) is not None
    assert wrong / 2000 < 0.06


def test_it_says_how_often_it_was_right() -> None:
    past = [
        *turns("deep", 10, 12, proposed="deep"),  # taken
        *turns("fast", 3, 10, proposed="deep"),  # not taken: right where the answer was wrong
    ]
    assert Proposals(past).advice == "advice right 17 of 22"
    found = said(past)
    assert found is not None
    assert found[1].endswith("several files · advice right 17 of 22")
    assert Proposals(turns("fast", 3, 10)).advice == ""

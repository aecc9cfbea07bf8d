"""Many tries at one prompt: how they are asked for, ranked, and counted."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from tui.core.attempts import (
    MOST,
    AttemptPlan,
    JudgedRun,
    Result,
    Tally,
    Verdict,
    passes_at,
    ranked,
    read_plan,
    read_race,
)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("5 make it fast", AttemptPlan(5, "make it fast")),
        ("make it fast", AttemptPlan(5, "make it fast")),
        ("3", AttemptPlan(3, "")),
        ("", AttemptPlan(5, "")),
        ("4 --models a,b --all mend  it", AttemptPlan(4, "mend  it", ("a", "b"), all=True)),
        ("4 --temperature=0.2,1 x", AttemptPlan(4, "x", temperatures=(0.2, 1.0))),
        ("2 use --all of them", AttemptPlan(2, "use --all of them")),
        ("2nd line is wrong", AttemptPlan(5, "2nd line is wrong")),
    ],
)
def test_what_is_asked_for(words: str, wanted: AttemptPlan) -> None:
    assert read_plan(words) == wanted


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("0 x", "ask for 2 to 256"),
        ("1 x", "One is a prompt as any other"),
        ("-3 x", "ask for 2 to 256"),
        ("--3 x", "--3 attempts cannot be made"),
        ("1.5 x", "1.5 attempts cannot be made"),
        ("5x x", "5x attempts cannot be made"),
        ("1e3 x", "1e3 attempts cannot be made"),
        ("500 x", "at most 256"),
        ("99999999999999999999 x", "at most 256"),
        ("3 --temperature hot x", "from 0 to 2"),
        ("3 --temperature 7 x", "from 0 to 2"),
        ("3 --temperature nan x", "from 0 to 2"),
        ("3 --models , x", "--models needs a value"),
        ("3 --models", "--models needs a value"),
        ("2 --models a,b,c x", "3 models need at least as many attempts"),
        ("3 --modles a x", "There is no --modles"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(words: str, said: str) -> None:
    problem = read_plan(words)
    assert isinstance(problem, str)
    assert said in problem
    assert problem.endswith(".")


def test_models_and_temperatures_are_taken_in_turn() -> None:
    wanted = AttemptPlan(4, "x", ("a", "b"), (0.2, 1.0))
    assert [(wanted.model(n), wanted.temperature(n)) for n in range(1, 5)] == [
        ("a", 0.2),
        ("b", 0.2),
        ("a", 1.0),
        ("b", 1.0),
    ]
    assert (AttemptPlan(2, "x").model(2), AttemptPlan(2, "x").temperature(2)) == ("", None)


def result(
    number: int, verdict: Verdict = "passed", lines: int = 1, **more: tuple[str, ...]
) -> Result:
    return replace(Result(number, verdict, added=lines, texts=b"%d" % number), **more)


def order(*results: Result) -> list[tuple[int, str]]:
    return [(one.result.number, one.reason) for one in ranked(results)]


def test_the_verdict_goes_before_what_broke_and_that_before_the_size() -> None:
    found = order(
        result(1, "failed", 1, broke=("test_a", "test_b", "test_c")),
        result(2, "failed", 9, failed=("test_old",)),
        Result(3, why="the model answered nothing"),
        result(4, "passed", 9),
        result(5, "passed", 2),
        result(6, "timeout"),
        result(7, "same", failed=("test_old",)),
        result(8, "failed", 1, broke=("test_a",), failed=("test_old",)),
        Result(9),
    )
    assert found == [
        (5, "passes"),
        (4, "passes, with 9 changed lines against 2"),
        (7, "breaks nothing, mends nothing: 1 test fails as before"),
        (2, "test_old still fails, with 9 changed lines against 1"),
        (8, "breaks test_a and test_old still fails"),
        (1, "breaks test_a, test_b and 1 more"),
        (6, "did not come to an end in time"),
        (3, "the model answered nothing"),
        (9, "it changed nothing"),
    ]


def test_equal_ones_stand_in_their_order_and_equal_texts_are_said() -> None:
    twin = Result(3, "passed", added=1, texts=b"1")
    assert order(result(2), twin, result(1)) == [
        (1, "passes"),
        (2, "passes, the same size as 1, which came first"),
        (3, "the same text as 1"),
    ]


def test_only_what_passes_wins() -> None:
    assert [one.wins for one in ranked([result(1), result(2, lines=0)])] == [True, False]
    others: tuple[Verdict, ...] = ("", "same", "failed", "error", "timeout")
    for verdict in others:
        assert not any(one.wins for one in ranked([result(1, verdict), result(2, verdict)]))
    assert not ranked([Result(1, "passed")])[0].wins, "it is the text as it was"
    assert order(result(1, "")) == [(1, "not judged")]


def test_changes_of_what_judges_do_not_count_and_that_is_said() -> None:
    assert order(result(1, uncounted=("test_a.py",))) == [
        (1, "passes, without its changes of test_a.py")
    ]


def test_the_estimate_of_a_whole_run_is_that_of_all_draws() -> None:
    assert passes_at(1, 5, 1) == pytest.approx(0.2)
    assert passes_at(5, 5, 1) == 1.0
    assert passes_at(2, 4, 1) == pytest.approx(0.5)
    assert passes_at(3, 5, 0) == 0.0
    with pytest.raises(ValueError, match="cannot be drawn"):
        passes_at(6, 5, 1)


@pytest.mark.parametrize("first", [False, True])
def test_the_session_s_estimate_is_unbiased_also_where_the_first_green_one_ends_it(
    first: bool,
) -> None:
    random, tally, share = Random(1), Tally(), 0.2
    for _ in range(4000):
        greens = tuple(random.random() < share for _ in range(5))
        if first and any(greens):
            tally.add(JudgedRun(greens[: greens.index(True) + 1], whole=False))
        else:
            tally.add(JudgedRun(greens, whole=not first))
    for k in (1, 3, 5):
        told, runs = tally.at(k)
        assert runs == 4000
        assert told == pytest.approx(1 - (1 - share) ** k, abs=0.03)


def test_the_tally_in_words() -> None:
    tally = Tally()
    assert tally.words(5) == ""
    tally.add(JudgedRun((), whole=True))
    assert tally.words(5) == ""
    tally.add(JudgedRun((True, False, False, False, False), whole=True))
    assert tally.words(5) == "pass@1 20 % (1 run) · pass@5 100 % (1 run)"
    tally.add(JudgedRun((False, False), whole=False))
    assert tally.words(5) == "pass@1 10 % (2 runs) · pass@5 100 % (1 run)"
    assert MOST >= 250


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("mend  it", {"models": ("fast", "deep")}),
        ("--models a,b mend  it", {"models": ("a", "b")}),
        ("--effort high,low mend  it", {"efforts": ("high", "low")}),
        (
            "--effort=high --tier off,flex mend  it",
            {"efforts": ("high",), "tiers": ("", "flex")},
        ),
        (
            "--throttle off,50 --models deep mend  it",
            {"throttles": (None, 50.0), "models": ("deep",)},
        ),
        ("--throttle 50 mend  it", {"throttles": (50.0,), "models": ("fast", "deep")}),
    ],
)
def test_who_races(words: str, wanted: dict[str, object]) -> None:
    plan = AttemptPlan(2, "mend  it", all=True, race=True)
    assert read_race(words) == replace(plan, **wanted)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "A race needs a prompt"),
        ("--effort low,high", "A race needs a prompt"),
        ("--models a x", "Both sides would be the same"),
        ("--models a,a --effort low,low x", "Both sides would be the same"),
        ("--models a,b,c x", "A race has two sides: --models takes one value for both, or two."),
        ("--effort loud,low x", "Effort is one of none, minimal"),
        ("--tier a%,b x", "A tier is one word"),
        ("--throttle 0,50 x", "from 1 to 20000, or off"),
        ("--throttle fast,50 x", "from 1 to 20000, or off"),
        ("--temperature 1 x", "There is no --temperature"),
    ],
)
def test_what_is_no_race_is_said(words: str, said: str) -> None:
    wrong = read_race(words)
    assert isinstance(wrong, str)
    assert said in wrong

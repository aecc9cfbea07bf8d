"""Which hunks make a test fail: any oracle, against all that brute force would find."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Collection
from itertools import combinations
from math import ceil, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.blame import Blame, Outcome, Subset, Trial, outcome_of, reason_of
from tui.core.run_report import FailedTest, RunReport

Oracle = Callable[[Subset], Outcome]


class Runs:
    """Answers what a search asks, and counts."""

    def __init__(self, oracle: Oracle, hunks: Collection[int], width: int = 1) -> None:
        self.blame = Blame(hunks, width)
        self.asked: list[Trial] = []
        work = self.blame.trials()
        try:
            batch = next(work)
            while True:
                assert 0 < len(batch) <= max(width, 2)
                self.asked += batch
                batch = work.send([oracle(trial.hunks) for trial in batch])
        except StopIteration:
            pass

    @property
    def found(self) -> list[Subset]:
        """The hunks of each finding."""
        return [one.hunks for one in self.blame.culprits]


def fails(*sets: Collection[int], test: str = "test_a") -> Oracle:
    """The test fails where all hunks of one of these sets are."""
    wrong = [frozenset(one) for one in sets]

    def oracle(subset: Subset) -> Outcome:
        return Outcome({test: "AssertionError"} if any(one <= subset for one in wrong) else {})

    return oracle


@pytest.mark.parametrize("count", [1, 3, 10, 40])
def test_one_wrong_hunk_is_found_wherever_it_lies(count: int) -> None:
    for wrong in range(1, count + 1):
        runs = Runs(fails([wrong]), range(1, count + 1))
        assert runs.found == [{wrong}]
        fixed = 5  # none, all twice; and what was found and what it is found by, once more
        assert len(runs.asked) <= ceil(log2(count)) + 1 + fixed


@pytest.mark.parametrize("count", [3, 10, 40])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_two_that_only_fail_together_are_found(count: int, width: int) -> None:
    rng = random.Random(count)
    for _ in range(100):
        pair = frozenset(rng.sample(range(1, count + 1), 2))
        runs = Runs(fails(pair), range(1, count + 1), width)
        assert runs.found == [pair]


def test_runs_side_by_side_make_less_rounds() -> None:
    rounds = [0, 0]
    for place, width in enumerate((1, 4)):
        blame = Blame(range(81), width)
        work = blame.trials()
        batch = next(work)
        try:
            while True:
                rounds[place] += 1
                batch = work.send([fails([70])(trial.hunks) for trial in batch])
        except StopIteration:
            pass
    assert rounds[1] < rounds[0] - 2


sets = st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=4), min_size=1, max_size=4)


@given(sets, st.integers(1, 4))
def test_what_is_found_is_enough_and_nothing_of_it_can_go(
    wrong: list[set[int]], width: int
) -> None:
    oracle = fails(*wrong)
    (found,) = Runs(oracle, range(7), width).found
    smallest = [
        frozenset(one)
        for size in range(8)
        for one in combinations(range(7), size)
        if oracle(frozenset(one)).failed
        and not any(oracle(frozenset(one) - {each}).failed for each in one)
    ]
    assert found in smallest


@given(
    st.permutations(range(8)),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=4),
    st.integers(0, 7),
    st.integers(1, 3),
)
def test_hunks_that_need_others_do_not_lead_astray(
    order: list[int], needs: list[tuple[int, int]], wrong: int, width: int
) -> None:
    """A hunk without one that it needs is a syntax error, or fails in another way."""

    def oracle(subset: Subset) -> Outcome:
        for hunk, needed in needs:
            if hunk in subset and needed not in subset:
                return Outcome({"test_a": "NameError"}) if hunk % 2 else Outcome(unclear=True)
        return fails([wrong])(subset)

    runs = Runs(oracle, order, width)
    (found,) = runs.blame.culprits
    assert oracle(found.hunks | found.needed).failed == {"test_a": "AssertionError"}
    together = {wrong}
    for _ in needs:
        together |= {b for a, b in needs if a in together}
        together |= {a for a, b in needs if b in together}
    assert wrong in found.hunks
    assert found.hunks <= together


def test_where_two_halves_only_work_together_both_are_named() -> None:
    def oracle(subset: Subset) -> Outcome:
        if len(subset & {3, 7}) == 1:
            return Outcome(unclear=True)
        return fails([3, 7])(subset)

    assert Runs(oracle, range(10)).found == [{3, 7}]


def test_a_hunk_that_needs_another_is_blamed_alone() -> None:
    def oracle(subset: Subset) -> Outcome:
        if 2 in subset and 1 not in subset:
            return Outcome({"test_a": "NameError"})
        return fails([2])(subset)

    runs = Runs(oracle, [1, 2, 3, 4, 5])
    (found,) = runs.blame.culprits
    assert (found.hunks, found.needed) == ({2}, {1})


def test_what_cured_tests_is_found_the_same_way() -> None:
    def oracle(subset: Subset) -> Outcome:
        return Outcome({} if {4, 9} <= subset else {"test_a": "KeyError"})

    runs = Runs(oracle, range(20), 2)
    assert runs.blame.cured
    assert runs.found == [{4, 9}]


def test_each_failing_test_has_its_hunk_and_shares_the_runs() -> None:
    def oracle(subset: Subset) -> Outcome:
        wrong = {5: ["test_a", "test_b"], 17: ["test_c"]}
        return Outcome({test: "E" for hunk in sorted(subset & {5, 17}) for test in wrong[hunk]})

    runs = Runs(oracle, range(40))
    assert [(one.tests, one.hunks) for one in runs.blame.culprits] == [
        (("test_a", "test_b"), {5}),
        (("test_c",), {17}),
    ]
    assert len(runs.asked) < 25


def test_tests_that_failed_before_are_not_blamed_on_anything() -> None:
    def oracle(subset: Subset) -> Outcome:
        return Outcome({"old": "E"} | dict(fails([2])(subset).failed))

    runs = Runs(oracle, range(5))
    assert runs.blame.before == ("old",)
    assert [(one.tests, one.hunks) for one in runs.blame.culprits] == [(("test_a",), {2})]


def test_a_flaky_test_is_said_to_be_flaky() -> None:
    turns = iter(range(1000))

    def oracle(subset: Subset) -> Outcome:
        again = next(turns) == 2  # none, all, all again
        flaky = {"flaky": "E"} if len(subset) == 6 and not again else {}
        return Outcome(flaky | dict(fails([2])(subset).failed))

    runs = Runs(oracle, range(6))
    assert runs.blame.flaky == ["flaky"]
    assert [(one.tests, one.hunks) for one in runs.blame.culprits] == [(("test_a",), {2})]


def test_a_run_that_was_seen_before_counts_as_the_first_of_two() -> None:
    blame = Blame(range(6), seen=Outcome({"test_a": "AssertionError", "flaky": "E"}))
    asked: list[Trial] = []
    work = blame.trials()
    batch = next(work)
    with contextlib.suppress(StopIteration):
        while True:
            asked += batch
            batch = work.send([fails([2])(trial.hunks) for trial in batch])
    assert [one.hunks for one in blame.culprits] == [{2}]
    assert blame.flaky == ["flaky"]
    assert not any(trial.again and len(trial.hunks) == 6 for trial in asked)


@given(st.randoms(use_true_random=False), st.integers(1, 3))
def test_chance_ends_the_search_like_anything_else(rng: random.Random, width: int) -> None:
    def oracle(subset: Subset) -> Outcome:
        failed = {name: rng.choice("xy") for name in "abc" if rng.random() < 0.5}
        return Outcome(failed, unclear=rng.random() < 0.2)

    runs = Runs(oracle, range(12), width)
    assert len(runs.asked) < 1000


def test_nothing_is_said_where_a_run_with_all_or_none_could_not_judge() -> None:
    runs = Runs(lambda subset: Outcome(unclear=not subset), range(3))
    assert runs.blame.unclear
    assert not runs.found


def test_a_report_and_an_exit_status_are_an_outcome() -> None:
    failed = (FailedTest("test_a", message="assert 3 == 4"),)
    assert outcome_of(RunReport(failed), passed=False).failed == {"test_a": "AssertionError"}
    assert outcome_of(RunReport(failed), passed=True).failed, "a report counts, whatever the exit"
    assert outcome_of(RunReport(), passed=False).failed == {"": ""}
    assert outcome_of(RunReport(), passed=True) == Outcome()
    assert outcome_of(RunReport(fault="pytest is not installed"), passed=False).unclear


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("assert 3 == 4", "AssertionError: assert 5 == 4"),
        ("builtins.KeyError: 'a'", "KeyError: 'b'"),
        ("expected 12 items", "expected 13 items"),
    ],
)
def test_equal_reasons(one: str, other: str) -> None:
    assert reason_of(one) == reason_of(other)
    assert reason_of(one) != reason_of("NameError: name 'x' is not defined")

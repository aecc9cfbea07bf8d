"""The estimates of `tests.benchmarks gap` against what is known, and its tasks and its judge."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.__main__ import bench
from tests.benchmarks.gap import curve, machinery, sampling, tables
from tests.benchmarks.gap.checking import judging
from tests.benchmarks.gap.curve import CHOOSERS, Law, Try, estimate
from tests.benchmarks.gap.machinery import Run
from tests.benchmarks.gap.sampling import Begun, Ended, Sample, Samples, steps
from tests.benchmarks.gap.tasks import HARDEST, Task, load
from tests.support.charts import Chart, Line
from tests.support.gguf import LLAMA, gguf
from tui.bridge.rehearsal.scripts import load_scripts
from tui.errors import DuettoError

WRONG = "\n    return 1"
tries = st.lists(
    st.builds(
        Try,
        right=st.booleans(),
        shown=st.booleans(),
        size=st.integers(1, 3),
        tokens=st.just(5),
        seconds=st.just(0.1),
    ),
    min_size=2,
    max_size=6,
)


def lucky(p: float, n: int, random: Random) -> list[Try]:
    """Tries of a stand-in that is right with p, and longer where it is wrong."""
    rights = [random.random() < p for _ in range(n)]
    return [Try(right, right, 10 - right, 5, 0.0) for right in rights]


@pytest.mark.parametrize("p", [0.02, 0.2, 0.6])
@pytest.mark.parametrize("k", [1, 5, 20])
def test_pass_at_k_of_a_stand_in_is_what_its_luck_says(p: float, k: int) -> None:
    random, known = Random(22), 1 - (1 - p) ** k
    found = [estimate(curve.pass_at, k, lucky(p, 100, random)) for _ in range(200)]
    shares = [one.share for one in found]
    spread = statistics.stdev(shares)
    assert statistics.mean(shares) == pytest.approx(known, abs=3 * spread / math.sqrt(200))
    # the error that one run knows is about the one that many runs show
    told = math.sqrt(statistics.mean(one.error**2 for one in found))
    assert 0.85 * spread <= told <= 1.5 * spread + 1e-6


@given(tries, st.data())
def test_a_choice_of_k_is_the_mean_over_all_draws(own: list[Try], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(own)))
    draws = list(itertools.combinations(own, k))

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    def share(chosen: list[Try]) -> float:
        return mean([one.right for one in chosen]) if chosen else 0.0

    shortest = [[one for one in d if one.size == min(t.size for t in d)] for d in draws]
    known = {
        "any of k is right": mean([any(one.right for one in d) for d in draws]),
        "the verifier's choice": mean([share([one for one in d if one.shown]) for d in draws]),
        "the shortest": mean([share(chosen) for chosen in shortest]),
        "a random one": mean([share(list(d)) for d in draws]),
    }
    assert {name: chooser(k, own) for name, chooser in CHOOSERS.items()} == pytest.approx(known)


def test_the_law_is_found_again() -> None:
    law = Law(-2.5, -0.4)
    found = curve.law((k, law.at(k)) for k in (1, 2, 5, 10, 50))
    assert found is not None
    assert (found.a, found.b) == pytest.approx((law.a, law.b))
    assert curve.law([(1, 0.0), (2, 1.0)]) is None


def test_the_tasks_have_answers_that_are_right_and_are_not_solved_by_nothing() -> None:
    tasks = load()
    assert len({one.name for one in tasks}) == len(tasks) == 40
    assert sum(one.grade == HARDEST for one in tasks) == 10
    with judging(confined=False) as judge:
        for one in tasks:
            assert judge.verdict(one, one.solved.removeprefix(one.prompt)).right, one.name
            for wrong in ("\n    pass", WRONG, "\n    return True"):
                assert not judge.verdict(one, wrong).right, one.name


def test_a_try_ends_with_its_function() -> None:
    task = load()[0]
    said = "\n    return a + b\n\n\n```\nThat is all.\n    return 3"
    assert task.source(said) == f"{task.prompt}\n    return a + b\n"


def test_what_ends_the_process_is_not_right_and_what_was_tried_is_not_tried_again() -> None:
    task = load()[0]
    with judging(confined=False) as judge:
        for said in ("\n    import os; os._exit(0)", "\n    return (", "\n    raise SystemExit"):
            assert not judge.verdict(task, said).right
        asked = judge.asked
        assert not judge.verdict(task, "\n    return (  ").right
        assert judge.asked == asked


@pytest.mark.slow
def test_a_try_that_does_not_end_or_takes_all_memory_is_wrong(tmp_path: Path) -> None:
    task, witness = load()[0], tmp_path / "written"
    with judging() as judge:
        for said in (
            "\n    while True: pass",
            "\n    return len([0] * 10**10) or 5",
            f"\n    open({str(witness)!r}, 'w').write('x')\n    return a + b",
            "\n    import socket; socket.create_connection(('127.0.0.1', 9)); return a + b",
        ):
            assert not judge.verdict(task, said).right
        assert judge.verdict(task, "\n    return a + b").right
    assert not witness.exists()


def test_every_task_gets_some_tries_before_any_gets_many() -> None:
    want = {"easy": 20, "hard": 40}
    asked = list(steps(Counter(), want))
    assert asked[:4] == [("easy", 0, 8), ("easy", 8, 8), ("hard", 0, 8), ("hard", 8, 8)]
    assert sum(count for name, _, count in asked if name == "hard") == 40
    again = list(steps(Counter(easy=20, hard=13), want))
    assert again[0] == ("hard", 13, 3)
    assert sum(count for *_, count in again) == 27


def test_samples_are_kept_line_by_line_and_one_that_was_cut_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    kept = Samples(file)
    kept.add(Begun(model="m.gguf", date="", machine="", load=0.5))
    kept.add(Sample("add", "return a + b", 7, ms=140.0))
    kept.add(Sample("add", "return a", 7))
    kept.add(Ended(tokens=70, seconds=2.0, load=0.5))
    with file.open("ab") as cut:
        cut.write(b'\n["add","ret')
    again = Samples(file)
    assert [one.text for one in again.tries()] == ["return a"]
    assert [one.tokens_s for one in tables.speeds(again)][:2] == pytest.approx([50.0, 35.0])
    again.add(Sample("add", "return b", 7))
    assert [one.text for one in Samples(file).tries()] == ["return a", "return b"]


def test_gemma_is_used_only_by_who_accepts_its_terms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "_lacks_llama", lambda: False)
    said = {key.replace("llama", "gemma3"): value for key, value in LLAMA.items()}
    file = gguf(tmp_path / "gemma.gguf", {**said, "general.architecture": "gemma3"})
    with pytest.raises(DuettoError, match="--accept-gemma-terms"):
        sampling.model_file(file, gemma=False)
    assert sampling.model_file(file, gemma=True) == file
    other = gguf(tmp_path / "llama.gguf")
    assert sampling.model_file(other, gemma=False) == other
    other.write_bytes(other.read_bytes()[:100])
    with pytest.raises(DuettoError, match="cut off"):
        sampling.model_file(other, gemma=False)


def test_fewer_tries_fit_into_less_time_and_none_into_none() -> None:
    own = [Try(True, True, 9, 50, 0.0)] * 20
    assert [tables.tries_in(seconds, 100, own) for seconds in (0.4, 0.5, 5, 60)] == [0, 1, 10, 20]
    assert tables.in_time({"a": own}, 100, 0.4) == 0
    assert tables.in_time({"a": own}, 100, 0.5) == 1


def test_a_picture_has_all_lines_and_is_well_formed() -> None:
    lines = [Line(name, [(1, 20.0, 2.0), (100, 60.0, 5.0)]) for name in ("a < b", "c")]
    root = ElementTree.fromstring(Chart("x & y", "tries", lines).svg())
    words = {one.text for one in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"x & y", "a < b", "c", "10", "60 %"} <= words
    assert len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))) == 2


@pytest.mark.slow
def test_the_tries_that_are_kept_are_judged_anew() -> None:
    ran = CliRunner().invoke(bench, ["gap", "model"])
    assert ran.exit_code == 0, ran.output
    assert "any of k is right" in ran.output
    assert "SmolLM2-135M" in ran.output
    assert "| merge_sorted" in ran.output


def test_a_task_says_what_is_shown() -> None:
    task = Task(1, "def one():", "Return 1.", ("one() == 1",), (), "return 1")
    assert (
        task.prompt == 'def one():\n    """Return 1.\n\n    For example:\n    one() == 1\n    """'
    )


def rehearsed(**more: object) -> Run:
    """A run of the first exercise."""
    plain = Run(load_scripts()[0].name, 4_000, "one try", 0, True, 2.0, 0.5, "2026-11-29")
    return msgspec.structs.replace(plain, **more)


def test_every_exercise_is_run_once_at_every_speed_and_way_before_any_is_run_twice() -> None:
    asked = list(machinery.cells([], 2))
    once = len(load_scripts()) * len(tables.THROTTLED) * len(machinery.WAYS)
    assert [draw for draw, *_ in asked] == [0] * once + [1] * once
    left = list(machinery.cells([rehearsed()], 1))
    assert len(left) == once - 1
    assert left == asked[1:once]


def test_the_table_of_the_rehearsal_says_that_it_is_scripted() -> None:
    runs = [rehearsed(), rehearsed(draw=1, green=False, seconds=4.0), rehearsed(tokens_s=50)]
    told = machinery.table(runs)
    assert told.note.startswith("Scripted:")
    assert [row[:3] for row in told.rows][-1] == ("4,000", "1 of 2, 3.0 s", "")
    assert told.rows[0][1] == "1 of 1, 2.0 s"


@pytest.mark.slow
def test_an_exercise_is_run_with_real_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = load_scripts()[0]
    ways = [(0, way, script, 4_000) for way in ("fixes", "3 attempts")]
    monkeypatch.setattr(machinery, "cells", lambda have, draws: iter(ways))
    machinery.run(tmp_path / "runs.jsonl", 1, lambda what: None)
    runs = machinery.kept(tmp_path / "runs.jsonl")
    assert [(one.way, one.green) for one in runs] == [("fixes", True), ("3 attempts", True)]

"""Hunks are listed by number, read as text, and decided on by commands."""

from __future__ import annotations

import pytest

from tests.support.linear_stage import LinearStage
from tests.support.tables import case
from tui.core.document.hunk import Decision, Stage
from tui.engine.intents import PlaceHunk
from tui.linear.reading import picked
from tui.linear.words import numbers_words


@pytest.fixture
def stage() -> LinearStage:
    stage = LinearStage()
    stage.look()
    stage.patched()
    return stage


def test_a_hunk_is_read_with_headings_in_words_and_signs_before_its_lines(
    stage: LinearStage,
) -> None:
    assert stage.enter("/review 1").splitlines() == [
        "Hunk 1: slug.py, line 4, 2 removed, 2 added; pending.",
        "Under line 1:",
        "  import re",
        "Removed lines 4 to 5:",
        "- def slug(text):",
        "-     return text.lower()",
        "Added lines 4 to 5:",
        "+ def slug(text, most=40):",
        "+     return text.lower()[:most]",
        "/accept NUMBERS keeps them, /reject NUMBERS WORDS rejects them.",
    ]


def test_accepting_one_writes_it_and_says_what_is_left(stage: LinearStage) -> None:
    assert stage.enter("/accept 1") == "Accepted hunk 1.\n1 hunk left.\n"
    assert "most=40" in stage.session.files["slug.py"]
    assert "new.py" not in stage.session.files
    assert stage.enter("/accept") == "Accepted hunk 2.\nNo hunk is waiting.\n"
    assert stage.session.files["new.py"] == "VALUE = 1\n"


def test_to_accept_all_leaves_out_what_was_cut(stage: LinearStage) -> None:
    stage.session.workspace.hunks[0].stage = Stage.CUT
    said = stage.enter("/accept all")
    assert "Hunk 1 was cut, and is left out: /accept 1 keeps it as it stands" in said
    assert "Accepted hunk 2.\n1 hunk left." in said
    assert "most" not in stage.session.files["slug.py"]
    assert "cut, kept as it stands until you go on" in stage.enter("/hunks")
    assert "Accepted hunk 1." in stage.enter("/accept 1")
    assert "most=40" in stage.session.files["slug.py"]


def test_a_hunk_says_that_it_was_redone_and_what_its_tests_say(stage: LinearStage) -> None:
    stage.session.workspace.hunks[0].redone = "redone from hunk 7 · ✗ 1 failed"
    assert "; pending, redone from hunk 7 · 1 failed." in stage.enter("/hunks")


def test_rejecting_takes_words_along(stage: LinearStage) -> None:
    assert "Rejected hunk 1." in stage.enter("/reject 1 keep it, as it is")
    assert "most" not in stage.session.files["slug.py"]
    assert "rejected" in stage.enter("/hunks all")


def test_which_hunks_are_meant(stage: LinearStage) -> None:
    for argument, ids, rest in (
        ("1", [1], ""),
        ("2 1", [2, 1], ""),
        ("1,2", [1, 2], ""),
        ("1-2", [1, 2], ""),
        ("1 not so, please", [1], "not so, please"),
        ("1, 2 too long", [1, 2], "too long"),
        ("all", [1, 2], ""),
        ("all of it is wrong", [1, 2], "of it is wrong"),
        ("new.py", [2], ""),
        ("@slug.py use a set", [1], "use a set"),
    ):
        with case(argument, ids, rest):
            found = picked(argument, stage.session.workspace)
            assert not isinstance(found, str), found
            assert ([hunk.id for hunk in found.hunks], found.rest) == (ids, rest)


def test_what_cannot_be_done_is_said_and_nothing_is_decided(stage: LinearStage) -> None:
    for command, said in (
        ("/accept 7", "There is no hunk 7; /hunks all lists those of the last turn."),
        ("/accept", "2 hunks wait; say which: a number, a file, or all."),
        ("/accept other.py", "2 hunks wait; say which: a number, a file, or all."),
        ("/accept 1-99999999", "1-99999999 is too many at once."),
        ("/accept 1 please", "'please' names no hunk. Say numbers, a file, or all."),
        ("/place 1 1", "Hunk 1 does not wait for a place."),
        ("/place one", "Say the hunk and the place: /place HUNK PLACE; /review reads both."),
    ):
        with case(command, said):
            assert stage.enter(command) == f"{said}\n"
            assert {hunk.decision for hunk in stage.session.workspace.hunks} == {Decision.PENDING}


def test_an_ambiguous_hunk_names_its_places_by_number() -> None:
    stage = LinearStage(files={"a.py": "x = 1\ny\nx = 1\n"})
    said = stage.patched(
        "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"
    )
    assert "fits in several places" in said
    assert "1 hunk waits for your decision" in said
    read = stage.enter("/review")
    assert "/place 1 1 is line 1: x = 1" in read
    assert "/place 1 2 is line 3: x = 1" in read
    assert stage.enter("/place 1 3") == "Hunk 1 has places 1 to 2.\n"
    stage.enter("/place 1 2")
    assert stage.session.intents[-1] == PlaceHunk(1, 2)


def test_a_long_list_comes_in_parts() -> None:
    many = "".join(f"+line {number}\n" for number in range(100))
    stage = LinearStage()
    stage.patched(f"*** Begin Patch\n*** Add File: long.txt\n{many}*** End Patch\n")
    first = stage.enter("/review").splitlines()
    assert first[-1] == "63 more lines: /more goes on."
    second, third = stage.enter("/more").splitlines(), stage.enter("/more").splitlines()
    assert second[-1] == "23 more lines: /more goes on."
    lines = [line for line in [*first, *second, *third] if line.startswith("+ ")]
    assert lines == [f"+ line {number}" for number in range(100)]
    assert stage.enter("/more") == "There is no more.\n"


@pytest.mark.parametrize(
    ("numbers", "said"),
    [([1], "1"), ([2, 1], "1 to 2"), ([1, 2, 3, 5, 7, 8], "1 to 3, 5, 7 to 8"), ([], "")],
)
def test_many_numbers_are_said_in_few_words(numbers: list[int], said: str) -> None:
    assert numbers_words(numbers) == said

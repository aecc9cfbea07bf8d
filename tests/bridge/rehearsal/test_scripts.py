from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.rehearsed import Conversation, fresh_files, run_tests, write_files
from tests.support.tables import each
from tui.bridge.rehearsal.answers import AnswerStyle, best_match
from tui.bridge.rehearsal.scripts import Script, likeness, load_scripts

SCRIPTS = {script.name: script for script in load_scripts()}


@each("script", SCRIPTS.values())
def test_every_wording_means_its_exercise(script: object) -> None:
    from tui.bridge.rehearsal.scripts import Script

    assert isinstance(script, Script)
    for text in [script.prompt, *script.also, script.prompt.upper() + "!!", f"solve {script.test}"]:
        assert best_match(text) is script, text


@each(
    "typed, exercise",
    [
        ("please make this cache thread safe", "cache"),
        ("teh cahce has a rcae with threads", "cache"),
        ("could you limit slugs to a maximum length?", "names"),
        ("we lose cents when we split", "money"),
        ("quoted commas break the parser", "importer"),
        ("both reports should share one amount format", "report"),
        ("show currencies in the statement", "accounts"),
        ("write a new module for hashtags", "tags"),
        ("duplicates() takes for ever, speed it up", "duplicates"),
        ("fix tests/test_names.py", "names"),
    ],
)
def test_people_say_it_in_their_own_words(typed: str, exercise: str) -> None:
    found = best_match(typed)
    assert found is not None
    assert found.name == exercise


@each("typed", ["Fix split, so that no cent gets LOST!", "fix spilt so that no cnet gets lost"])
def test_case_punctuation_and_typos_cost_little(typed: str) -> None:
    assert likeness(typed, "fix split so that no cent gets lost") > 0.85


ALL_SCRIPTS = load_scripts()
each_script = pytest.mark.parametrize("script", ALL_SCRIPTS, ids=lambda script: script.name)


def passes(script: Script, files: dict[str, str], root: Path) -> tuple[bool, str]:
    """Whether the exercise's tests pass with these files, and what they said."""
    root.mkdir()
    write_files(root, files)
    result = run_tests(root, script.test)
    return result.returncode == 0, result.stdout + result.stderr


def test_there_are_eight_exercises_with_prompts_of_their_own() -> None:
    assert len(ALL_SCRIPTS) == 8
    assert len({script.prompt for script in ALL_SCRIPTS}) == 8
    assert sum(bool(script.asks) for script in ALL_SCRIPTS) >= 2


def test_every_version_names_a_state_for_each_region() -> None:
    for script in ALL_SCRIPTS:
        for version in script.versions.values():
            assert len(version.states) == len(script.regions)
            for region, state in zip(script.regions, version.states, strict=True):
                assert state in region.states
            assert set(version.asks) <= set(script.asks)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["unittest", "pytest"])
def test_the_workspace_fails_as_it_comes(tmp_path: Path, by: str) -> None:
    write_files(tmp_path, fresh_files())
    result = run_tests(tmp_path, by=by)
    assert result.returncode == 1
    for script in ALL_SCRIPTS:
        assert script.test in result.stdout + result.stderr, script.name


@pytest.mark.slow
@pytest.mark.parametrize("by", ["unittest", "pytest"])
def test_only_what_was_begun_is_tested_where_nothing_is_named(tmp_path: Path, by: str) -> None:
    talk = Conversation(AnswerStyle(deep=True), shown=tuple(ALL_SCRIPTS[0].paths))
    talk.ask(ALL_SCRIPTS[0].prompt)
    write_files(tmp_path, talk.files)
    assert run_tests(tmp_path, by=by).returncode == 0
    every = [script.test for script in ALL_SCRIPTS]
    arguments = ["--all-exercises"] if by == "pytest" else every
    assert run_tests(tmp_path, *arguments, by=by).returncode == 1


@pytest.mark.slow
@each_script
def test_the_deep_model_is_right_the_first_time(script: Script, tmp_path: Path) -> None:
    talk = Conversation(AnswerStyle(deep=True), shown=tuple(script.paths))
    talk.ask(script.prompt)
    assert len(talk.patches) == 1
    assert talk.read == []
    right, output = passes(script, talk.files, tmp_path / "w")
    assert right, output


@pytest.mark.slow
@each_script
def test_the_fast_model_is_wrong_first_and_right_when_told(script: Script, tmp_path: Path) -> None:
    talk = Conversation(AnswerStyle(mistakes=1.0), shown=tuple(script.paths))
    talk.ask(script.prompt)
    right, output = passes(script, talk.files, tmp_path / "first")
    assert not right
    assert script.test in output
    talk.ask(f"The tests fail:\n\n{output}")
    assert len(talk.patches) == 1
    right, output = passes(script, talk.files, tmp_path / "second")
    assert right, output


@pytest.mark.slow
@each_script
def test_the_fast_model_is_right_at_once_where_it_does_not_slip(
    script: Script, tmp_path: Path
) -> None:
    talk = Conversation(AnswerStyle(mistakes=0.0), shown=tuple(script.paths))
    talk.ask(script.prompt)
    right, output = passes(script, talk.files, tmp_path / "w")
    assert right, output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exercise", "redirect"),
    [
        ("cache", "use a plain Lock"),
        ("cache", "only in put"),
        ("cache", "use a plain Lock, and only in put"),
        ("importer", "use the csv module instead"),
        ("importer", "write it by hand, please"),
        ("names", "cut at a word boundary"),
        ("names", "a hard cut is fine"),
    ],
)
def test_a_redirect_changes_the_answer_and_the_tests_pass(
    exercise: str, redirect: str, tmp_path: Path
) -> None:
    script = next(script for script in ALL_SCRIPTS if script.name == exercise)
    talk = Conversation(shown=tuple(script.paths))
    talk.ask(script.prompt)
    talk.ask(redirect)
    right, output = passes(script, talk.files, tmp_path / "w")
    assert right, output
    wanted = script.version_for(script.asked(redirect))
    for region, state in zip(script.regions, wanted.states, strict=True):
        assert region.states[state].strip("\n") in talk.files[region.path]


@pytest.mark.slow
def test_all_exercises_in_one_conversation_without_open_files(tmp_path: Path) -> None:
    talk = Conversation(AnswerStyle(deep=True))
    for script in ALL_SCRIPTS:
        talk.ask(script.prompt)
        assert talk.patches, script.name
    write_files(tmp_path, talk.files)
    result = run_tests(tmp_path, *(script.test for script in ALL_SCRIPTS))
    assert result.returncode == 0, result.stderr

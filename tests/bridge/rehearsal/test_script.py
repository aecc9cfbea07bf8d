from __future__ import annotations

import pytest

from tui.bridge.rehearsal.director import best_match
from tui.bridge.rehearsal.script import load_scripts

SCRIPTS = {script.name: script for script in load_scripts()}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=lambda script: script.name)
def test_every_wording_means_its_exercise(script: object) -> None:
    from tui.bridge.rehearsal.script import Script

    assert isinstance(script, Script)
    for text in [script.prompt, *script.also, script.prompt.upper() + "!!", f"solve {script.test}"]:
        assert best_match(text) is script, text


@pytest.mark.parametrize(
    ("typed", "exercise"),
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


@pytest.mark.parametrize(
    "typed",
    [
        "hello",
        "",
        "what is the capital of France?",
        "write a web server in Rust",
        "refactor",
        "fix it",
    ],
)
def test_anything_else_means_none(typed: str) -> None:
    assert best_match(typed) is None


def test_wishes_add_up_and_take_each_other_back() -> None:
    cache = SCRIPTS["cache"]
    plain = cache.asked("use a plain Lock")
    assert plain == {"plain"}
    both = cache.asked("and only in put", plain)
    assert both == {"plain", "put"}
    assert cache.version_for(both) is cache.versions["plain_put"]
    assert cache.asked("no, an RLock after all", both) == {"reentrant", "put"}
    assert cache.version_for(frozenset({"reentrant", "put"})) is cache.versions["put"]
    assert cache.version_for(frozenset()) is cache.versions["solution"]
    assert cache.asked("make it nicer", both) == both

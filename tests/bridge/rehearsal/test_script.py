from __future__ import annotations

from tests.support.tables import each
from tui.bridge.rehearsal.answers import best_match
from tui.bridge.rehearsal.scripts import load_scripts

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

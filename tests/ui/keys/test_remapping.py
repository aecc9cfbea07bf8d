"""Keys of the user's own: what is granted, what is refused, and with which words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tables import each
from tui.ui import keymap
from tui.ui.keymap import KEYMAP, SHIPPED, actions, hints, key_name, rows, shown
from tui.ui.keys.remapping import MOST_WAYS, remapped
from tui.ui.keys.table import SCOPES, Key, Scope


@pytest.fixture(autouse=True)
def as_shipped() -> Iterator[None]:
    """Every test begins and ends with duetto's own keys."""
    yield
    keymap.use({})


def keys_of(action: str, scope: Scope = "global") -> tuple[str, ...]:
    return next(key.keys for key in rows(scope) if key.name == action)


def refused(wishes: dict[str, Any]) -> dict[str, str]:
    return {".".join(one.path): one.words for one in keymap.use(wishes)}


def test_one_key_several_none() -> None:
    assert refused({"global": {"verify": "Ctrl+B", "switch": ["F9", "Alt+M"], "effort": ""}}) == {}
    assert keys_of("verify") == ("ctrl+b",)
    assert keys_of("switch") == ("f9", "alt+m")
    assert keys_of("effort") == ()


def test_footer_and_texts_follow() -> None:
    keymap.use({"global": {"verify": "Ctrl+B", "open_file": ""}})
    footer = dict(hints({"idle"}, "global"))
    assert footer["Ctrl+B"] == "verify"
    assert "F5" not in footer
    assert "open" not in footer.values(), "what has no key is not promised one"
    assert shown("verify") == "Ctrl+B"


def test_an_action_without_a_key_is_shown_with_the_way_that_is_left() -> None:
    keymap.use({"global": {"verify": ""}})
    assert shown("verify") == "Ctrl+N v"
    keymap.use({"global": {"verify": "", "leader": "F9"}})
    assert shown("verify") == "F9 v"


def test_two_actions_swap_their_keys() -> None:
    assert refused({"prompt": {"newline": "Enter", "send": "Ctrl+J"}}) == {}
    assert actions("prompt")["enter"] == "newline"
    assert actions("prompt")["ctrl+j"] == "send"


def test_a_key_that_is_taken_is_refused_and_all_else_holds() -> None:
    said = refused({"global": {"verify": "Ctrl+S", "effort": "Ctrl+B"}})
    assert list(said) == ["global.verify"]
    assert said["global.verify"].startswith('Ctrl+S is the key of "save" everywhere;')
    assert keys_of("verify") == ("f5", "alt+v")
    assert keys_of("effort") == ("ctrl+b",)


def test_what_fails_with_the_one_it_leaned_on_is_refused_too() -> None:
    said = refused({"global": {"verify": "Ctrl+S", "save": "Ctrl+P"}})
    assert set(said) == {"global.verify", "global.save"}
    assert keys_of("save") == ("ctrl+s",)


def test_the_later_one_of_two_is_refused() -> None:
    said = refused({"global": {"verify": "F9", "effort": "F9"}})
    assert said == {
        "global.effort": 'F9 is the key of "verify" everywhere;'
        " take another one, or give that action another first"
    }


def test_places_that_are_never_meant_at_once_may_share_a_key() -> None:
    assert refused({"prompt": {"steer": "Ctrl+T"}, "editor": {"outline": "Ctrl+T"}}) == {}


@each(
    "scope, action, key",
    [
        ("prompt", "steer", "Ctrl+P"),
        ("conversation", "activate", "a"),
        ("diff", "layout", "f"),
        ("diff", "layout", "Ctrl+Q"),
        ("files", "leave", "Ctrl+F"),
    ],
)
def test_places_that_are_meant_at_once_may_not(scope: str, action: str, key: str) -> None:
    assert list(refused({scope: {action: key}})) == [f"{scope}.{action}"]


@each("key", ["Esc", "Ctrl+C", "Ctrl+B Esc", "^C"])
def test_stopping_keeps_its_keys(key: str) -> None:
    said = refused({"global": {"verify": key}})
    assert "stops the answer, always" in said["global.verify"]


def test_stopping_may_have_more_keys_and_none_less() -> None:
    assert refused({"global": {"interrupt": ["Esc", "Ctrl+B"]}}) == {}
    assert "must keep Esc" in refused({"global": {"interrupt": "Ctrl+B"}})["global.interrupt"]
    assert "must keep Ctrl+C" in refused({"global": {"cancel": ""}})["global.cancel"]
    assert "must keep Esc" in refused({"diff": {"close": "q"}})["diff.close"]


@each(
    "scope, action, key",
    [
        ("global", "verify", "v"),
        ("global", "verify", "Ä"),
        ("global", "verify", "Space"),
        ("global", "verify", "Enter"),
        ("global", "verify", "x v"),
        ("prompt", "steer", "Backspace"),
        ("editor", "find", "Down"),
        ("files", "leave", "x"),
    ],
)
def test_nothing_takes_the_keys_that_type(scope: str, action: str, key: str) -> None:
    assert "is needed for typing" in refused({scope: {action: key}})[f"{scope}.{action}"]


def test_keys_one_after_the_other() -> None:
    assert refused({"global": {"verify": "Ctrl+K v", "effort": "Ctrl+K e x"}}) == {}
    assert shown("verify") == "Ctrl+K v"
    found = keymap.behind(("ctrl+k",), ("global",))
    assert {presses: key.name for presses, key in found.items()} == {
        ("v",): "verify",
        ("e", "x"): "effort",
    }


def test_a_key_that_would_shadow_longer_ones_is_refused() -> None:
    said = refused({"global": {"verify": "Ctrl+S v"}})
    assert said["global.verify"].startswith("Ctrl+S v could never be typed, since Ctrl+S alone is")
    said = refused({"global": {"verify": "Ctrl+K v", "effort": "Ctrl+K"}})
    assert said["global.effort"].startswith("Ctrl+K begins Ctrl+K v, the keys of")
    said = refused({"global": {"verify": "Ctrl+K v", "effort": "Ctrl+K v x"}})
    assert "could never be typed" in said["global.effort"]
    said = refused({"global": {"save": ["Ctrl+K", "Ctrl+K x"]}})
    assert "Ctrl+K x" in said["global.save"], "one of its own counts like one of another"


def test_behind_the_leader_the_users_key_comes_first() -> None:
    assert refused({"global": {"verify": "leader t"}}) == {}
    found = keymap.behind(("leader",), ("global",))
    assert found[("t",)].name == "verify"
    assert found[("T",)].name == "tree", "what had the letter is still there"
    assert shown("verify") == "Ctrl+N t"


def test_sentences_name_the_keys_of_today() -> None:
    keymap.use({"prompt": {"send": "Ctrl+B"}, "files": {"open_beside": "Ctrl+K"}})
    said = {f"{scope}.{key.name}": key.help for scope in SCOPES for key in rows(scope)}
    assert "Ctrl+B takes it" in said["prompt.search_past"]
    assert "Ctrl+B or Tab puts it back" in said["queue.edit_queued"]
    assert "Enter opens, Ctrl+K opens beside" in said["global.tree"]
    assert not any("{" in words for words in said.values())


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"promt": {"send": "x"}}, 'is no place for keys; did you mean "prompt"?'),
    ({"prompt": {"sned": "x"}}, 'is no action of [keys.prompt]; did you mean "send"?'),
    ({"prompt": {"verify": "x"}}, "is no action of [keys.prompt]; it belongs to [keys.global]"),
    (
        {"review": {"accept": "x"}},
        "it belongs to [keys.global]; here are accept_all, accept_hunk, ",
    ),
    ({"leader": "Ctrl+X"}, "needed for typing everywhere, to cut or paste; take another one"),
    ({"global": {"zzzzzz": "x"}}, "docs/keys.md lists them all"),
    ({"verify": 3}, 'is neither a key as "ctrl+x" nor a list of keys'),
    ({"verify": [1]}, "is neither a key"),
    ({"global": {"verify": {"a": "b"}}}, "is neither a key"),
    ({"verify": ["Ctrl+B", ""]}, '"" names no key'),
    ({"verify": [f"F{n}" for n in range(9, 10 + MOST_WAYS)]}, f"more than {MOST_WAYS} keys"),
    ({"verify": "leader"}, "is the leader key itself"),
    ({"leader": "Ctrl+K x"}, "is more than one key"),
    ({"verify": "Ctrl+Foo"}, '"Ctrl+Foo" names no key'),
    ({"verify": "\x1b[31m"}, "holds a control character"),
]


@each("wishes, words", WRONG)
def test_what_is_wrong_is_said_and_nothing_changes(wishes: dict[str, Any], words: str) -> None:
    (said,) = keymap.use({**wishes, "effort": "Ctrl+B"})
    assert words in said.words
    assert f"{said.words}".isprintable()
    assert keys_of("effort") == ("ctrl+b",)
    for scope in SCOPES:
        for key in rows(scope):
            if key.name != "effort":
                assert key in KEYMAP, key.name


NAMES = sorted({(key.scope, key.name) for key in SHIPPED})
SOME_KEYS = st.sampled_from(
    [
        *("Ctrl+B", "Ctrl+K", "Ctrl+K f", "Ctrl+K f g", "Ctrl+S", "Ctrl+P", "Ctrl+N", "Alt+A"),
        *("F9", "F2", "Esc", "Ctrl+C", "Enter", "Tab", "a", "j", "Ä", "", "nonsense"),
        *("leader t", "leader t x"),
    ]
)


@settings(max_examples=75)
@given(st.dictionaries(st.sampled_from(NAMES), st.lists(SOME_KEYS, max_size=3), max_size=6))
def test_whatever_is_wished_no_key_means_two_things(wishes: dict[Any, list[str]]) -> None:
    tables: dict[str, dict[str, list[str]]] = {}
    for (scope, name), keys in wishes.items():
        tables.setdefault(scope, {})[name] = keys
    table, said = remapped(SHIPPED, tables)
    assert len(table) == len(SHIPPED)
    for one in said:
        assert one.path in wishes
    for scope in SCOPES:
        assert clashes([key for key in table if key.scope == scope]) == []
    assert clashes([key for key in table if key.scope in ("global", "prompt")]) == []
    assert clashes([key for key in table if key.scope in ("global", "editor", "files")]) == []
    assert next(key.keys for key in table if key.name == "interrupt").count("escape") == 1


def clashes(table: list[Key]) -> list[str]:
    """Keys of one place that are another one's, or begin it."""
    claims = [(key.split(), row.name) for row in table for key in row.keys]
    return [
        f"{key_name(' '.join(one))}: {name} and {other_name}"
        for (one, name), (other, other_name) in combinations(claims, 2)
        if name != other_name and one[: len(other)] == other[: len(one)]
    ]

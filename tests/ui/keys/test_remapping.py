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
from tui.ui.keymap import KEYMAP, hints, key_name, rows, shown
from tui.ui.keys.remapping import MOST_WAYS, remapped
from tui.ui.keys.spelling import spelled
from tui.ui.keys.table import SCOPES, SHIPPED, Key, Scope


@pytest.fixture(autouse=True)
def as_shipped() -> Iterator[None]:
    """Every test begins and ends with duetto's own keys."""
    yield
    keymap.use({})


def keys_of(action: str, scope: Scope = "global") -> tuple[str, ...]:
    return next(key.keys for key in rows(scope) if key.name == action)


def refused(wishes: dict[str, Any]) -> dict[str, str]:
    return {".".join(one.path): one.words for one in keymap.use(wishes)}


STOPS, TYPES = "stops the answer, always", "is needed for typing"
ANSWERED: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"global": {"verify": "Ctrl+B", "switch": ["F9", "Alt+M"], "effort": ""}}, {}),
    ({"prompt": {"newline": "Enter", "send": "Ctrl+J"}}, {}),  # two actions swap their keys
    # places that are never meant at once may share a key
    ({"prompt": {"steer": "Ctrl+T"}, "editor": {"outline": "Ctrl+T"}}, {}),
    ({"prompt": {"steer": "Ctrl+P"}}, {"prompt.steer": "is the key of"}),
    ({"conversation": {"activate": "a"}}, {"conversation.activate": "is the key of"}),
    ({"diff": {"layout": "f"}}, {"diff.layout": "is the key of"}),
    ({"diff": {"layout": "Ctrl+Q"}}, {"diff.layout": "is the key of"}),
    ({"files": {"leave": "Ctrl+F"}}, {"files.leave": "is the key of"}),
    (
        {"global": {"verify": "Ctrl+S", "effort": "Ctrl+B"}},
        {"global.verify": 'Ctrl+S is the key of "save" everywhere;'},
    ),
    # what fails with the one it leaned on
    ({"global": {"verify": "Ctrl+S", "save": "Ctrl+P"}}, {"global.verify": "", "global.save": ""}),
    (
        {"global": {"verify": "F9", "effort": "F9"}},
        {"global.effort": "take another one, or give that action another first"},
    ),
    *(({"global": {"verify": key}}, {"global.verify": STOPS}) for key in ("Esc", "Ctrl+C", "^C")),
    ({"global": {"verify": "Ctrl+B Esc"}}, {"global.verify": STOPS}),
    ({"global": {"interrupt": ["Esc", "Ctrl+B"]}}, {}),
    ({"global": {"interrupt": "Ctrl+B"}}, {"global.interrupt": "must keep Esc"}),
    ({"global": {"cancel": ""}}, {"global.cancel": "must keep Ctrl+C"}),
    ({"diff": {"close": "q"}}, {"diff.close": "must keep Esc"}),
    *(
        ({"global": {"verify": key}}, {"global.verify": TYPES})
        for key in ("v", "Ä", "Space", "Enter", "x v")
    ),
    ({"prompt": {"steer": "Backspace"}}, {"prompt.steer": TYPES}),
    ({"editor": {"find": "Down"}}, {"editor.find": TYPES}),
    ({"files": {"leave": "x"}}, {"files.leave": TYPES}),
    (
        {"global": {"verify": "Ctrl+S v"}},
        {"global.verify": "Ctrl+S v could never be typed, since Ctrl+S alone is"},
    ),
    (
        {"global": {"verify": "Ctrl+K v", "effort": "Ctrl+K"}},
        {"global.effort": "Ctrl+K begins Ctrl+K v, the keys of"},
    ),
    (
        {"global": {"verify": "Ctrl+K v", "effort": "Ctrl+K v x"}},
        {"global.effort": "could never be typed"},
    ),
    # one of its own counts like one of another
    ({"global": {"save": ["Ctrl+K", "Ctrl+K x"]}}, {"global.save": "Ctrl+K x"}),
]


@each("wishes, said", ANSWERED)
def test_what_is_refused_has_its_own_key_and_all_else_is_granted(
    wishes: dict[str, Any], said: dict[str, str]
) -> None:
    keymap.use({})
    shipped = {(s, a): keys_of(a, s) for s, table in wishes.items() for a in table}
    found = refused(wishes)
    assert found.keys() == said.keys()
    assert all(words in found[path] for path, words in said.items())
    for scope, table in wishes.items():
        for action, keys in table.items():
            wanted = [keys] * bool(keys) if isinstance(keys, str) else keys
            granted = tuple(map(spelled, wanted))
            kept = f"{scope}.{action}" in said
            assert keys_of(action, scope) == (shipped[scope, action] if kept else granted)


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


def test_keys_one_after_the_other() -> None:
    assert refused({"global": {"verify": "Ctrl+K v", "effort": "Ctrl+K e x"}}) == {}
    assert shown("verify") == "Ctrl+K v"
    found = keymap.behind(("ctrl+k",), ("global",))
    assert {presses: key.name for presses, key in found.items()} == {
        ("v",): "verify",
        ("e", "x"): "effort",
    }


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
    ({"promt": {"send": "x"}}, 'is not a place for keys; did you mean "prompt"?'),
    ({"prompt": {"sned": "x"}}, 'is not an action of [keys.prompt]; did you mean "send"?'),
    ({"prompt": {"verify": "x"}}, "is not an action of [keys.prompt]; it belongs to [keys.global]"),
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

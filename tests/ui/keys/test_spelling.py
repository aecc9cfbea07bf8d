"""Keys as people write them become those that terminals send, and the other way round."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.ui.keys.spelling import NoSuchKey, key_name, needs_kitty, spelled

WRITTEN = {
    "Ctrl+X": "ctrl+x",
    "ctrl-x": "ctrl+x",
    "C-x": "ctrl+x",
    "^x": "ctrl+x",
    "<C-x>": "ctrl+x",
    "Control+X": "ctrl+x",
    "Strg+X": "ctrl+x",
    "a": "a",
    "A": "A",
    "Shift+a": "A",
    "Alt+A": "alt+a",
    "Option+m": "alt+m",
    "M-m": "alt+m",
    "Alt+Shift+A": "alt+shift+a",
    "Shift+Alt+Up": "alt+shift+up",
    "Ctrl+Alt+X": "alt+ctrl+x",
    "F12": "f12",
    "PgDn": "pagedown",
    "ctrl+page-down": "ctrl+pagedown",
    "return": "enter",
    "Esc": "escape",
    "Del": "delete",
    "↑": "up",
    "Shift+Tab": "shift+tab",
    "ctrl+space": "ctrl+@",
    "Ctrl+/": "ctrl+slash",
    "Ctrl+_": "ctrl+underscore",
    "ctrl++": "ctrl+plus",
    "Ctrl+-": "ctrl+minus",
    "-": "minus",
    "+": "plus",
    "?": "question_mark",
    "full_stop": "full_stop",
    "ä": "ä",
    "a\u0308": "ä",
    "Alt+Ä": "alt+ä",
    "€": "euro_sign",
    "ctrl+ф": "ctrl+ф",
    "ctrl+k f": "ctrl+k f",
    " Leader   X ": "leader X",
    "<leader> t x": "leader t x",
}
WRONG = {
    "": "names no key",
    "  ": "is a blank; the key's name is Space",
    "ctrl": "needs a key behind it, as Ctrl+X has",
    "Ctrl+": "needs a key behind it",
    "NUL": "names no key",
    "entr": "did you mean Enter?",
    "ctrl+foo": "names no key",
    "f25": "did you mean F",
    "f2,alt+m": 'write several keys as a list, ["f2", "alt+m"]',
    "ctrl+i": "is Tab in most terminals; write Tab",
    "ctrl+m": "is Enter in most terminals",
    "ctrl+[": "is Esc in most terminals",
    "shift+1": "depends on the keyboard: write it",
    "ab": "names no key",
    "äö": "is more than one character; a key types one",
    "👨\u200d👩\u200d👧": "holds a character that cannot be seen",
    "\u200b": "holds a character that cannot be seen",
    "\ud7fc": "holds a character that cannot be seen",
    "\x1b[A": "holds a control character",
    "a b c d e": "is more than 4 keys",
    "x leader": "has the leader key in its middle",
    "x" * 1_000_000: "is too long",
}


@each("written, key", WRITTEN.items())
def test_what_people_write(written: str, key: str) -> None:
    assert spelled(written) == key


@each("written, words", WRONG.items())
def test_what_is_no_key_is_refused_with_a_sentence(written: str, words: str) -> None:
    with pytest.raises(NoSuchKey) as refused:
        spelled(written)
    assert words in str(refused.value)


@given(st.text(max_size=40))
@example("😍")
def test_anything_is_a_key_or_refused_and_a_key_is_shown_as_it_is_read(written: str) -> None:
    try:
        key = spelled(written)
    except NoSuchKey:
        return
    assert key_name(key).isprintable()
    assert spelled(key_name(key)) == key
    assert spelled(key) == key


@each("key", ["ctrl+shift+t", "super+k", "ctrl+1", "ctrl+enter", "shift+enter"])
def test_some_come_only_with_the_kitty_protocol(key: str) -> None:
    assert needs_kitty(key)
    assert needs_kitty(f"ctrl+k {key}")

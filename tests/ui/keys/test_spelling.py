"""Keys as people write them become those that terminals send, and the other way round."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textual import events

from tests.support.keyboard import sent_for
from tui.ui.key_words import KeyWords
from tui.ui.keymap import KEYMAP
from tui.ui.keys.spelling import NoSuchKey, key_name, needs_kitty, quoted, spelled, twins
from tui.ui.terminal.input_stream import InputStream

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


@pytest.mark.parametrize(("written", "key"), WRITTEN.items())
def test_what_people_write(written: str, key: str) -> None:
    assert spelled(written) == key


@pytest.mark.parametrize(("written", "words"), WRONG.items(), ids=lambda text: text[:20])
def test_what_is_no_key_is_refused_with_a_sentence(written: str, words: str) -> None:
    with pytest.raises(NoSuchKey) as refused:
        spelled(written)
    assert words in str(refused.value)


@pytest.mark.parametrize("key", sorted({key for row in KEYMAP for key in row.keys}))
def test_what_is_shown_can_be_written(key: str) -> None:
    assert spelled(key_name(key)) == key
    assert spelled(key) == key


@pytest.mark.parametrize("key", ["Ctrl+Space", "Ctrl+B", "Alt+.", "Ä", "€", "Alt+ä", "?", "Alt+-"])
def test_terminals_send_what_was_spelled(key: str) -> None:
    name = spelled(key)
    bytes_sent = {"ctrl+@": "\0", "alt+full_stop": "\x1b.", "alt+minus": "\x1b-", "alt+ä": "\x1bä"}
    bytes_sent |= {"euro_sign": "€", "question_mark": "?"}
    stream = InputStream()
    tokens = stream.feed(bytes_sent.get(name) or sent_for(name), 0.0)
    found = KeyWords().messages([*tokens, *stream.expire(1.0)])
    assert [item.key for item in found if isinstance(item, events.Key)] == [name]


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


def test_one_key_that_two_kinds_of_terminals_send_differently() -> None:
    assert twins("ctrl+slash") == ("ctrl+slash", "ctrl+underscore")
    assert twins("ctrl+@") == ("ctrl+@", "ctrl+space")
    assert twins("a") == ("a",)


@pytest.mark.parametrize("key", ["ctrl+shift+t", "super+k", "ctrl+1", "ctrl+enter", "shift+enter"])
def test_some_come_only_with_the_kitty_protocol(key: str) -> None:
    assert needs_kitty(key)
    assert needs_kitty(f"ctrl+k {key}")


@pytest.mark.parametrize(
    "key", ["ctrl+t", "alt+enter", "shift+tab", "f5", "ctrl+pagedown", "ctrl+@"]
)
def test_others_come_from_every_terminal(key: str) -> None:
    assert not needs_kitty(key)


def test_what_was_written_is_inert_where_it_is_quoted() -> None:
    assert quoted("\x1b[31mred").isprintable()
    assert len(quoted("x" * 5_000)) < 100

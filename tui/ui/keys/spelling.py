"""How keys are written: Textual's names, and those that people use.

Inside, a key has Textual's name (``ctrl+backslash``), and keys to be pressed one after the other
stand with blanks between them (``ctrl+k f``). `key_name` says that as people write it, `spelled`
reads what people write: any case, ``Ctrl-X``, ``^X``, ``C-x``, ``Option+M``, ``PgDn``, ``Ä``.
"""

from __future__ import annotations

import re
import unicodedata
from difflib import get_close_matches
from functools import lru_cache

from textual.keys import KEY_NAME_REPLACEMENTS, REPLACED_KEYS, key_to_character

from tui.core.inert_text import inert
from tui.core.text.patterns import pattern

MOST_KEYS = 4
"""Keys of one after the other."""
_MOST_CHARS = 80
LEADER = "leader"
"""Stands for the leader key, whatever it is."""

_NAMES = {
    "escape": "Esc",
    "enter": "Enter",
    "space": "Space",
    "tab": "Tab",
    "backspace": "Backspace",
    "delete": "Del",
    "insert": "Ins",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "ctrl": "Ctrl",
    "alt": "Alt",
    "shift": "Shift",
    "super": "Super",
    "hyper": "Hyper",
    LEADER: "Leader",
}
_LASTS = frozenset(_NAMES) - {"ctrl", "alt", "shift", "super", "hyper"}
_LASTS |= {f"f{number}" for number in range(1, 25)}
_MODIFIERS = {
    "ctrl": ("control", "ctl", "strg", "c"),
    "alt": ("option", "opt", "meta", "m", "a"),
    "shift": ("s",),
    "super": ("cmd", "command", "win"),
    "hyper": (),
}
"""In the order in which Textual writes them, below."""
_MODIFIER_OF = {word: name for name, words in _MODIFIERS.items() for word in (name, *words)}
_ORDER = ("alt", "ctrl", "hyper", "shift", "super")
_LAST_OF = {
    "esc": "escape",
    "return": "enter",
    "cr": "enter",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "page_up": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "page_down": "pagedown",
    "spacebar": "space",
    "bs": "backspace",
    "bksp": "backspace",
    "arrowup": "up",
    "arrowdown": "down",
    "arrowleft": "left",
    "arrowright": "right",
    "↑": "up",
    "↓": "down",
    "←": "left",
    "→": "right",
    "dot": "full_stop",
    "period": "full_stop",
    "dash": "minus",
    "hyphen": "minus",
}
_MODIFIER = pattern(
    rf"(?P<word>{'|'.join(sorted(_MODIFIER_OF, key=len, reverse=True))})[+-](?=.)", re.IGNORECASE
)
_SAME_BYTE = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+left_square_bracket": "escape",
    "ctrl+h": "backspace",
    "ctrl+question_mark": "backspace",
}
"""Terminals send one byte for both."""
_SIGNS = {
    name: unicodedata.lookup(whole.replace("hyphen_minus", "hyphen-minus").replace("_", " "))
    for name, whole in REPLACED_KEYS.items()
}
_TWINS = {"ctrl+@": "ctrl+space", "ctrl+slash": "ctrl+underscore"}
"""What terminals with the Kitty protocol send in one way, and all others in another."""
_SENT_AS = {"ctrl+space": "ctrl+@", "ctrl+at": "ctrl+@", "ctrl+2": "ctrl+@"}
_SHOWN_AS = {"ctrl+@": "Ctrl+Space"}


class NoSuchKey(ValueError):
    """What was written names no key; the message is a sentence for people, without its end."""


@lru_cache(maxsize=1024)
def key_name(key: str) -> str:
    """A key as people write it: ``ctrl+j`` is ``Ctrl+J``, ``f2`` is ``F2``, ``a`` is ``a``."""
    return " ".join(map(_one_name, key.split()))


def _one_name(key: str) -> str:
    if key in _SHOWN_AS:
        return _SHOWN_AS[key]
    *modifiers, last = key.split("+")
    plain = _NAMES.get(last)
    if plain is None:
        character = _character(last) or last
        plain = character.upper() if _is_capital(character, modifiers) else character
    return "+".join([*(_NAMES.get(name, name.title()) for name in _told(modifiers)), plain])


def _character(name: str) -> str | None:
    """The character that a key of this name types."""
    return _SIGNS.get(name) or key_to_character(name)


def _is_capital(word: str, modifiers: list[str]) -> bool:
    """Function keys, and letters with a modifier."""
    return len(word.upper()) == len(word) and bool(modifiers or len(word) > 1)


def _told(modifiers: list[str]) -> list[str]:
    """Ctrl first, as people say it."""
    order = ("ctrl", "alt", "shift")
    return sorted(modifiers, key=lambda name: order.index(name) if name in order else -1)


def spelled(written: str) -> str:
    """Textual's names of the keys that were written. Raises NoSuchKey."""
    if len(written) > _MOST_CHARS:
        raise NoSuchKey("is too long for a key")
    if any(unicodedata.category(character) == "Cc" for character in written):
        raise NoSuchKey("holds a control character; write its name, as Ctrl+X")
    presses = [_press(word) for word in unicodedata.normalize("NFC", written).split()]
    if not presses and written:
        raise NoSuchKey("is a blank; the key's name is Space")
    if not presses:
        raise NoSuchKey("names no key")
    if len(presses) > MOST_KEYS:
        raise NoSuchKey(f"is more than {MOST_KEYS} keys, one after the other")
    if LEADER in presses[1:] or any("leader" in key.split("+")[1:] for key in presses):
        raise NoSuchKey("has the leader key in its middle; it can only be the first one")
    return " ".join(presses)


def _press(word: str) -> str:
    """One key."""
    rest = word[1:-1] if len(word) > 2 and word[0] == "<" and word[-1] == ">" else word
    modifiers: set[str] = set()
    if len(rest) == 2 and rest[0] == "^":
        modifiers, rest = {"ctrl"}, rest[1]
    while found := _MODIFIER.match(rest):
        modifiers.add(_MODIFIER_OF[found["word"].lower()])
        rest = rest[found.end() :]
    return _joined(modifiers, _last(rest, word))


def _last(rest: str, word: str) -> str:
    """The key itself, without Ctrl, Alt and Shift."""
    if not rest.isprintable():
        raise NoSuchKey("holds a character that cannot be seen; no key types it")
    if len(rest) == 1 and rest not in _LAST_OF:
        key = character_key(rest)
        if len(key) > 1 and _character(key) is None:  # its name has a hyphen that Textual loses
            raise NoSuchKey("is a sign whose key has no name of its own; take another one")
        return key
    name = rest.lower().replace("-", "_")
    name = _LAST_OF.get(name, name)
    if name in _LASTS:
        return name
    character = _character(name) if len(name) > 1 else None
    if character is not None and character.isprintable():
        return character_key(character)
    if not rest.isascii() and len(rest) < 4:
        raise NoSuchKey("is more than one character; a key types one")
    if name.rstrip("+_") in _MODIFIER_OF:
        raise NoSuchKey("needs a key behind it, as Ctrl+X has")
    near = get_close_matches(name, [*_LASTS, *_LAST_OF], 1)
    hint = f"; did you mean {key_name(_LAST_OF.get(near[0], near[0]))}?" if near else ""
    if "," in rest:
        hint = '; write several keys as a list, ["f2", "alt+m"]'
    raise NoSuchKey(f"names no key{hint or ', as Ctrl+X, Alt+M, F2 or PgDn do'}")


def character_key(character: str) -> str:
    """Textual's name of the key that types a character."""
    if character.isalnum() or not (name := unicodedata.name(character, "")):
        return character
    name = name.lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


def _joined(modifiers: set[str], last: str) -> str:
    """As Textual names what terminals send for it."""
    lower = last.lower()
    if len(last) == 1 and len(lower) == 1 and modifiers and modifiers != {"shift"}:
        last = lower  # Ctrl+X is Ctrl and x
    elif modifiers == {"shift"} and last not in _LASTS:
        if len(last.upper()) != 1 or not last.isalpha():
            raise NoSuchKey("types another character, which one depends on the keyboard: write it")
        modifiers, last = set(), last.upper()
    key = "+".join([*(name for name in _ORDER if name in modifiers), last])
    if key in _SAME_BYTE:
        same = key_name(_SAME_BYTE[key])
        raise NoSuchKey(f"is {same} in most terminals; write {same}, or take another key")
    return _SENT_AS.get(key, key)


def twins(key: str) -> tuple[str, ...]:
    """The key, and what other terminals send for it."""
    twin = _TWINS.get(key)
    return (key,) if twin is None else (key, twin)


def needs_kitty(key: str) -> bool:
    """True if only terminals that speak the Kitty protocol can send it."""
    return any(map(_one_needs_kitty, key.split()))


def _one_needs_kitty(press: str) -> bool:
    *modifiers, last = press.split("+")
    known = set(modifiers)
    if known & {"super", "hyper"}:
        return True
    if len(last) == 1 and "ctrl" in known:
        return "shift" in known or not ("a" <= last <= "z" or last == "@")
    if last in ("enter", "tab", "backspace", "escape", "space"):
        return bool(known - {"alt"}) and press != "shift+tab"
    symbols = ("backslash", "right_square_bracket", "circumflex_accent", "underscore")
    named = last not in _LASTS and len(last) > 1
    return "ctrl" in known and named and last not in symbols


def quoted(written: str) -> str:
    """What was written, safe to show, and short."""
    text = inert(written)
    return f'"{text if len(text) <= _MOST_CHARS else text[:_MOST_CHARS] + "…"}"'

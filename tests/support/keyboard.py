"""What terminals send for keys, and which keys every keyboard and terminal has."""

from __future__ import annotations

from tui.ui.keys.spelling import needs_kitty

SENT = {
    "semicolon": ";",
    "apostrophe": "'",
    "quotation_mark": '"',
    "full_stop": ".",
    "minus": "-",
    "comma": ",",
    "slash": "/",
    "underscore": "_",
    "right_square_bracket": "]",
    "backslash": "\\",
    "enter": "\r",
    "up": "\x1b[1;{}A",
    "down": "\x1b[1;{}B",
    "pageup": "\x1b[5;{}~",
    "pagedown": "\x1b[6;{}~",
}
PLAIN = {
    "escape": "\x1b",
    "enter": "\r",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "space": " ",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "delete": "\x1b[3~",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
    "f7": "\x1b[18~",
    "shift+enter": "\x1b[13;2u",
    "shift+f5": "\x1b[15;2~",
    "alt+shift+v": "\x1bV",
    "ctrl+slash": "\x1b[47;5u",
    "ctrl+shift+z": "\x1b[122;6u",
}
MODIFIERS = {"alt": 3, "ctrl": 5}


def sent_for(key: str) -> str:
    """What a terminal sends for a key."""
    if key in PLAIN:
        return PLAIN[key]
    modifier, _, last = key.rpartition("+")
    if not modifier:
        return SENT.get(last, last)
    if last in ("up", "down", "pageup", "pagedown"):
        return SENT[last].format(MODIFIERS[modifier])
    character = SENT.get(last, last)
    return f"\x1b{character}" if modifier == "alt" else chr(ord(character.upper()) - 64)


def is_plain(key: str) -> bool:
    """No function key, no Alt, nothing that needs the Kitty protocol."""
    presses = key.split()
    named = any(press.startswith("alt+") or press[0] == "f" != press for press in presses)
    return not named and not needs_kitty(key)

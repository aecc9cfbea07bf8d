"""The parts of README.md that are made from code: ``python -m tests.readme`` writes them."""

from __future__ import annotations

import re

from tests.support.sources import ROOT
from tui.ui.keymap import key_name, rows
from tui.ui.keys.key import SCOPE_TITLES, SCOPES, Scope

README = ROOT / "README.md"
ONE_ROW: tuple[Scope, ...] = ("turn", "diff")
KEYS = re.compile(r"(?<=<!-- keys: )(?P<intro>[^\n]*-->\n).*?(?=<!-- end of keys -->)", re.S)


def keys_table() -> str:
    """The keymap as a table, one row an action; a screen of its own has one row for all."""
    lines = ["| | Keys | |", "|---|---|---|"]
    for scope in SCOPES:
        title = SCOPE_TITLES[scope]
        if scope in ONE_ROW:
            lines.append(f"| {title} | F1 lists them | {_in_one_row(scope)} |")
            continue
        for key in rows(scope):
            keys = ", ".join(f"`{key_name(name)}`" for name in key.keys)
            lines.append(f"| {title} | {keys} | {key.help.replace('|', '/')} |")
            title = ""
    return "\n".join(lines) + "\n"


def _in_one_row(scope: Scope) -> str:
    """Keys and what they do, of all actions that have a word of their own."""
    said = [f"`{key_name(key.keys[0])}` {_short(key.help)}" for key in rows(scope)]
    return "; ".join(said)


def _short(words: str) -> str:
    """Up to the first semicolon, without a capital."""
    first = words.partition(";")[0].replace("|", "/")
    return first[0].lower() + first[1:]


def with_keys(text: str) -> str:
    """README's text with the table as the keymap has it now."""
    return KEYS.sub(lambda found: found["intro"] + keys_table(), text)


def shell_block(text: str, marker: str) -> str:
    """The command in the first shell block after a marker."""
    after = text.partition(f"<!-- {marker} -->")[2]
    found = re.search(r"```sh\n(.*?)\n```", after, re.S)
    assert found is not None, f"README.md has no command after <!-- {marker} -->"
    return found[1]


if __name__ == "__main__":
    README.write_text(with_keys(README.read_text()))

"""The parts of README.md and docs/keys.md that are made from code: ``python -m tests.readme``."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.sources import ROOT
from tui.ui.keymap import key_name, leader_keys, row_of, rows, ways
from tui.ui.keys.table import SCOPE_TITLES, SCOPES, Key, Scope

README = ROOT / "README.md"
ALL_KEYS = ROOT / "docs" / "keys.md"
FIRST: tuple[tuple[Scope, str], ...] = (
    ("prompt", "send"),
    ("prompt", "complete"),
    ("prompt", "steer"),
    ("global", "interrupt"),
    ("review", "accept_hunk"),
    ("review", "reject_hunk"),
    ("global", "accept"),
    ("global", "question"),
    ("prompt", "mode"),
    ("global", "switch"),
    ("global", "verify"),
    ("global", "help"),
)
"""What README.md shows: enough for the first day."""
PART = re.compile(
    r"<!-- (?P<name>keys|all keys): (?P<intro>[^\n]*-->\n).*?(?=<!-- end of keys -->)", re.S
)


def first_keys() -> str:
    """The keys of the first day, as a table."""
    lines = ["| Keys | |", "|---|---|"]
    for scope, action in FIRST:
        key = row_of(action, scope)
        assert key is not None, action
        where = "" if scope in ("global", "prompt") else f" ({_lower(SCOPE_TITLES[scope])})"
        lines.append(f"| {_keys(key)} | {_cell(key.help)}{where} |")
    return "\n".join(lines) + "\n"


def all_keys() -> str:
    """The whole keymap, a table for each scope."""
    lines: list[str] = []
    leader = key_name(leader_keys()[0])
    for scope in SCOPES:
        lines += ["", f"### {SCOPE_TITLES[scope]}: `[keys.{scope}]`", ""]
        lines += [f"| Action | Keys | Behind {leader} | |", "|---|---|---|---|"]
        for key in rows(scope):
            led = [name.split(" ", 1)[1] for name in ways(key) if name.startswith(f"{leader} ")]
            behind = ", ".join(f"`{name}`" for name in led)
            lines.append(f"| {key.name} | {_keys(key)} | {behind} | {_cell(key.help)} |")
    return "\n".join(lines) + "\n\n"


def _keys(key: Key) -> str:
    return ", ".join(f"`{key_name(name)}`" for name in key.keys)


def _cell(words: str) -> str:
    return words.replace("|", "/")


def _lower(words: str) -> str:
    return words[0].lower() + words[1:]


def with_keys(text: str) -> str:
    """A text with its table of keys as the keymap has it now."""

    def made(found: re.Match[str]) -> str:
        begun = f"<!-- {found['name']}: {found['intro']}"
        return begun + (first_keys() if found["name"] == "keys" else all_keys())

    return PART.sub(made, text)


def shell_block(text: str, marker: str) -> str:
    """The command in the first shell block after a marker."""
    after = text.partition(f"<!-- {marker} -->")[2]
    found = re.search(r"```sh\n(.*?)\n```", after, re.S)
    assert found is not None, f"README.md has no command after <!-- {marker} -->"
    return found[1]


def write(file: Path) -> None:
    """Bring one file up to date."""
    file.write_text(with_keys(file.read_text()))


if __name__ == "__main__":
    write(README)
    write(ALL_KEYS)

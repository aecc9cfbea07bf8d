"""The user's own keys: ``[keys]`` of ``config.toml`` goes into the keymap at the start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tui import toml_lines, toml_tables
from tui.settings import Settings

if TYPE_CHECKING:
    from tui.cli.finding import Finding


def use_keys(settings: Settings, file: Path) -> list[str]:
    """Have these keys; returns what is wrong: ``FILE line N: keys.SCOPE.ACTION WORDS``."""
    if not settings.keys:
        return []
    from tui.ui import keymap

    refused = keymap.use(settings.keys)
    if not refused:
        return []
    text = toml_tables.read_again(file)
    return [
        f"{file} line {toml_lines.line_of(text, ('keys', *one.path))}:"
        f" keys.{'.'.join(one.path)}: {one.words}"
        for one in refused
    ]


def own_key_findings(settings: Settings, file: Path) -> Iterator[Finding]:
    """What ``duetto doctor`` says of them; nothing where there are none."""
    if not settings.keys:
        return
    from tui.cli.finding import Finding

    complaints = use_keys(settings, file)
    for complaint in complaints:
        yield Finding("keyboard", "fix", complaint, "docs/keys.md names all actions")
    from tui.ui.keymap import KEYMAP, key_name, rows
    from tui.ui.keys.spelling import needs_kitty
    from tui.ui.keys.table import SCOPES

    changed = [key for scope in SCOPES for key in rows(scope) if key not in KEYMAP]
    if not complaints:
        plural = "s have keys" if len(changed) != 1 else " has keys"
        yield Finding("keyboard", "ok", f"{len(changed)} action{plural} of your own")
    for key in changed:
        if key.keys and all(map(needs_kitty, key.keys)):
            names = ", ".join(map(key_name, key.keys))
            words = f"{names} ({key.name}) comes only from terminals with the Kitty protocol"
            yield Finding("keyboard", "note", words, "give it another key too, for the others")

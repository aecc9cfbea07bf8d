"""The user's own keys: ``[keys]`` of ``config.toml`` goes into the keymap at the start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tui import toml_lines, toml_tables
from tui.settings import Settings

if TYPE_CHECKING:
    from tui.cli.finding import Finding
    from tui.engine.notices import Trouble

_MOST_SAID = 3
"""Complaints that are told at the start; ``duetto doctor`` lists them all."""


def use_keys(settings: Settings, file: Path) -> list[str]:
    """Have these keys; returns what is wrong: ``FILE line N: keys.SCOPE.ACTION WORDS``."""
    if not settings.keys:
        return []
    from tui.ui import keymap

    refused = keymap.use(settings.keys)
    if not refused:
        return []
    text = toml_tables.read(file, required=False) or ""
    return [
        f"{file} line {toml_lines.line_of(text, ('keys', *one.path))}:"
        f" keys.{'.'.join(one.path)}: {one.words}"
        for one in refused
    ]


def trouble_with(complaints: list[str]) -> Trouble | None:
    """What is said of them at the start; None if there are none."""
    if not complaints:
        return None
    from tui.engine.notices import Trouble

    count, more = len(complaints), len(complaints) - _MOST_SAID
    what = "A key of your settings is not used" if count == 1 else f"{count} keys are not used"
    why = "\n".join(complaints[:_MOST_SAID]) + (f"\nand {more} more" if more > 0 else "")
    step = "these actions keep their usual keys; duetto doctor lists what is wrong"
    return Trouble(what, why, step, severity="warning")


def own_key_findings(settings: Settings, file: Path) -> Iterator[Finding]:
    """What ``duetto doctor`` says of them; nothing where there are none."""
    if not settings.keys:
        return
    from tui.cli.finding import Finding

    complaints = use_keys(settings, file)
    for complaint in complaints:
        yield Finding("keyboard", "fix", complaint, "docs/keys.md names all actions")
    from tui.ui.keymap import KEYMAP, key_name, rows
    from tui.ui.keys.key import SCOPES
    from tui.ui.keys.spelling import needs_kitty

    changed = [key for scope in SCOPES for key in rows(scope) if key not in KEYMAP]
    if not complaints:
        plural = "s have keys" if len(changed) != 1 else " has keys"
        yield Finding("keyboard", "ok", f"{len(changed)} action{plural} of your own")
    for key in changed:
        if key.keys and all(map(needs_kitty, key.keys)):
            names = ", ".join(map(key_name, key.keys))
            words = f"{names} ({key.name}) comes only from terminals with the Kitty protocol"
            yield Finding("keyboard", "note", words, "give it another key too, for the others")

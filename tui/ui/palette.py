"""What the command palette offers: the slash commands, every key's action, the themes.

Whoever knows what they want and not its key finds both here: the key stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from textual.app import SystemCommand

from tui.ui import theme
from tui.ui.commands import COMMANDS
from tui.ui.keymap import key_name, rows
from tui.ui.keys.key import Key, Scope
from tui.ui.screens.workbench import Workbench

_SCOPES: tuple[Scope, ...] = ("global", "editor")
"""Whose actions make sense from wherever the palette was called."""
_KEYS_ONLY = frozenset({"interrupt", "cancel", "app.command_palette"})
"""What they do depends on what lies in front; the palette would be in front."""
_ACTION_OF = {"undo": "undo_turn", "review": "review_turn", "help": "app.help", "quit": "app.quit"}
"""Slash commands whose key's action has another name."""


def offers(bench: Workbench) -> Iterator[SystemCommand]:
    """Everything that can be chosen; the palette sorts it by its first word."""
    found = {key.action: key for scope in _SCOPES for key in rows(scope) if scope == "global"}
    said = set()
    for command in COMMANDS:
        if command.argument:
            continue
        action = _ACTION_OF.get(command.name, command.name)
        key = found.get(action)
        said.add(action)
        yield SystemCommand(
            f"/{command.name}",
            command.help + (f" ({_names(key)})" if key is not None else ""),
            lambda name=command.name: bench.run_slash(f"/{name}"),
        )
    for scope in _SCOPES:
        for key in rows(scope):
            if key.action in _KEYS_ONLY or (scope == "global" and key.action in said):
                continue
            yield SystemCommand(_title(key), _names(key), lambda key=key: _run(bench, key))
    for name in theme.theme_names():
        title = theme.cached_theme(name).title
        yield SystemCommand(
            f"Theme: {title}", "Change the colours", lambda name=name: _colour(bench, name)
        )


def _title(key: Key) -> str:
    """The action's name and its sentence, without what belongs to another key."""
    word = key.action.partition("(")[0].replace("_", " ").capitalize()
    sentence = key.help.partition(";")[0].partition(" (")[0]
    return f"{word}: {sentence}"


def _names(key: Key) -> str:
    return ", ".join(key_name(name) for name in key.keys)


def _run(bench: Workbench, key: Key) -> None:
    """Do what the key does; an action of the editor is seen there."""
    if key.scope == "editor":
        bench.enter_editor()
        bench.app.call_later(bench.editor.run_action, key.action)
    else:
        bench.app.call_later(bench.run_action, key.action)


def _colour(bench: Workbench, name: str) -> None:
    bench.app.theme = name

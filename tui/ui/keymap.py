"""Every key of duetto in ONE table: bindings, footer, help screen and docs read it.

Its rows stand in `tui.ui.keys`, by scope. A row names an action; the widget or screen of its scope
has the method ``action_<action>``. Each row with a function key has a second way without one,
since not every keyboard has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from textual.binding import Binding, BindingType

from tui.ui.keys.browsing import BROWSING
from tui.ui.keys.conversation import CONVERSATION
from tui.ui.keys.editing import EDITING
from tui.ui.keys.everywhere import EVERYWHERE
from tui.ui.keys.key import Key, Scope, When
from tui.ui.keys.prompting import PROMPTING
from tui.ui.keys.reviewing import REVIEWING

KEYMAP: tuple[Key, ...] = (*EVERYWHERE, *PROMPTING, *CONVERSATION, *REVIEWING, *EDITING, *BROWSING)
"""The table. Rows of scope ``editor`` belong to the editor's widgets."""


def rows(scope: Scope) -> Iterator[Key]:
    """The rows of one scope, in the order of the table."""
    return (key for key in KEYMAP if key.scope == scope)


def actions(scope: Scope) -> dict[str, str]:
    """Key -> action of one scope, for widgets that must see a key before Textual does."""
    return {name: key.action for key in rows(scope) for name in key.keys}


def bindings(*scopes: Scope) -> list[BindingType]:
    """Textual bindings for the ``BINDINGS`` of the widget or screen that owns these scopes."""
    return [
        Binding(",".join(key.keys), key.action, key.help, show=False, priority=key.priority)
        for scope in scopes
        for key in rows(scope)
    ]


_NAMES = {
    "escape": "Esc",
    "enter": "Enter",
    "space": "Space",
    "tab": "Tab",
    "backspace": "Backspace",
    "delete": "Del",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "full_stop": ".",
    "comma": ",",
    "underscore": "_",
    "slash": "/",
    "backslash": "\\",
    "right_square_bracket": "]",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "ctrl": "Ctrl",
    "alt": "Alt",
    "shift": "Shift",
}


def key_name(key: str) -> str:
    """A key as people write it: ``ctrl+j`` is ``Ctrl+J``, ``f2`` is ``F2``."""
    *modifiers, last = key.split("+")
    plain = _NAMES.get(last) or (last.upper() if modifiers or len(last) > 1 else last)
    return "+".join([*(_NAMES.get(name, name.title()) for name in modifiers), plain])


def shown(action: str, scope: Scope = "global", most: int = 1) -> str:
    """The keys of an action as people write them, for texts: ``F7``, with ``most=2`` ``F7 Alt+D``.

    Empty if it has none. Whoever shows a key asks here, since keys can be changed: ask when the
    text is made, not when the module is loaded.
    """
    found = next((key for key in rows(scope) if key.action == action), None)
    return " ".join(map(key_name, found.keys[:most])) if found is not None else ""


def hints(
    states: set[When], *scopes: Scope, labels: Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    """Key and label of what the footer shows in these states, in the order of ``scopes``.

    ``labels`` says by action what it does now, where the table's word is not enough. What
    stops an answer comes first, always.
    """
    shown = [
        key
        for scope in scopes
        for key in rows(scope)
        if key.footer and (key.when == "always" or key.when in states)
    ]
    shown.sort(key=lambda key: key.action != "interrupt")
    said = labels or {}
    return [(key_name(key.keys[0]), said.get(key.action, key.footer)) for key in shown]

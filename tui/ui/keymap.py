"""Every key of duetto in ONE table: bindings, footer, help screen, palette and docs read it.

Its rows stand in `tui.ui.keys.table`. A row names an action; the widget or screen of its scope
has the method ``action_<action>``. Each row with a function key has a second way without one,
since not every keyboard has them. `use` puts the user's own keys into it, best before the classes
are loaded that bind them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from textual.binding import Binding, BindingType
from textual.dom import DOMNode

from tui.core.text.patterns import pattern
from tui.ui.keys.spelling import LEADER
from tui.ui.keys.spelling import key_name as spelled_name
from tui.ui.keys.table import SCOPES, SHIPPED, Key, Scope, When

if TYPE_CHECKING:
    from typing import Any

    from textual.screen import Screen

    from tui.ui.keys.remapping import RefusedKey


NEVER_LED = frozenset({"interrupt", "cancel", "app.leader"})
"""Actions that are not behind the leader key: what they do depends on what lies in front."""
_NAMED = pattern(r"\{(?:(\w+)\.)?(\w+)\}")
"""In a sentence: the key of an action ``{name}``, of another scope ``{scope.name}``."""


def _resolved(table: Sequence[Key]) -> tuple[Key, ...]:
    """The table with the keys that rows take from others, and with their names in the sentences."""
    by_name: dict[tuple[str, str], Key] = {(key.scope, key.name): key for key in table}

    def named(found: re.Match[str]) -> str:
        scope, name = found.groups("global")
        keys = by_name[scope, name].keys
        return spelled_name(keys[0]) if keys else f"its key ({name})"

    def whole(key: Key) -> Key:
        keys = (*key.keys, *(by_name["global", key.like].keys if key.like else ()))
        return key._replace(keys=tuple(dict.fromkeys(keys)), help=_NAMED.sub(named, key.help))

    return tuple(map(whole, table))


KEYMAP: tuple[Key, ...] = _resolved(SHIPPED)
"""The table as it is shipped. Rows of scope ``editor`` belong to the editor's widgets."""


class _Now:
    """The table with the user's keys, and what was made of it."""

    def __init__(self) -> None:
        self.table = KEYMAP
        self.actions: dict[Scope, dict[str, str]] = {scope: {} for scope in SCOPES}
        self.made: list[tuple[list[BindingType], Callable[[], list[BindingType]]]] = []
        """Lists of bindings that classes have, and how they are made."""
        self.fill()

    def fill(self) -> None:
        """Make everything anew, in place: who has it, has the new one."""
        for scope, found in self.actions.items():
            here = [key for key in self.table if key.scope == scope]
            found.clear()
            found.update((name, key.action) for key in here for name in key.keys)
            found.update((stand_in(key), key.action) for key in here)
        for made, make in self.made:
            made[:] = make()

    def keep(self, make: Callable[[], list[BindingType]]) -> list[BindingType]:
        """A list of bindings that changes with the table."""
        made = make()
        self.made.append((made, make))
        return made


def stand_in(key: Key) -> str:
    """A key that no keyboard has: the widget that gets it does what this row says."""
    return f"{key.scope}:{key.action}"


_now = _Now()


def use(requests: Mapping[str, object]) -> list[RefusedKey]:
    """Have these keys from now on (``[keys]`` of the settings); what is not granted is returned."""
    refused: list[RefusedKey] = []
    table: Sequence[Key] = SHIPPED
    if requests:
        from tui.ui.keys.remapping import remapped  # few have keys of their own

        table, refused = remapped(SHIPPED, requests)
    _now.table = _resolved(table)
    _now.fill()
    if _now.made:
        _merge_again(DOMNode)
    return refused


def _merge_again(kind: type[DOMNode]) -> None:
    """Classes that were there before have the bindings of today."""
    kind._merged_bindings = kind._merge_bindings()
    for heir in kind.__subclasses__():
        _merge_again(heir)


def rows(scope: Scope) -> Iterator[Key]:
    """The rows of one scope, in the order of the table."""
    return (key for key in _now.table if key.scope == scope)


def actions(scope: Scope) -> Mapping[str, str]:
    """Key -> action of one scope, for widgets that must see a key before Textual does.

    It changes with the keys: keep it, don't copy it.
    """
    return _now.actions[scope]


def bindings(*scopes: Scope, by: str = "") -> list[BindingType]:
    """Textual bindings for the ``BINDINGS`` of the widget or screen that owns these scopes.

    ``by`` names an action that gets the row's: ``command('accept')``. What the app itself does is
    bound by the app (`app_bindings`), over every screen.
    """

    def action(key: Key) -> str:
        return f"{by}({key.action!r})" if by else key.action

    return _now.keep(
        lambda: [
            Binding(",".join(single), action(key), key.help, show=False, priority=key.priority)
            for scope in scopes
            for key in rows(scope)
            if (single := _single(key)) and not key.action.startswith("app.")
        ]
    )


def app_bindings() -> list[BindingType]:
    """Bindings of the app: what works over every screen, and the beginnings of chords."""
    return _now.keep(
        lambda: [
            Binding("escape,ctrl+c", "stop_first", show=False, priority=True),
            *(
                Binding(",".join(single), key.action, key.help, show=False, priority=True)
                for key in rows("global")
                if (single := _single(key)) and key.action.startswith("app.")
            ),
            *(
                Binding(first, f"app.chord({first!r})", show=False, priority=True)
                for first in _begun()
            ),
        ]
    )


def echo(name: str, action: str, scope: Scope = "global") -> list[BindingType]:
    """Bindings for a screen that is left by the keys that opened it: they do ``action`` there."""
    return _now.keep(
        lambda: [
            Binding(",".join(single), action, show=False, priority=True)
            for key in rows(scope)
            if key.name == name and (single := _single(key))
        ]
    )


def _single(key: Key) -> list[str]:
    """Its keys that are not keys one after the other."""
    return [name for name in key.keys if " " not in name]


def _begun() -> list[str]:
    """The first keys of chords, but for the leader key."""
    chords = (name.split() for key in _now.table for name in key.keys if " " in name)
    return list(dict.fromkeys(first for first, *_ in chords if first != LEADER))


def leader_keys() -> tuple[str, ...]:
    """The leader key, and others that do the same."""
    return next((key.keys for key in rows("global") if key.action == "app.leader"), ())


def behind(begun: Sequence[str], scopes: Sequence[Scope]) -> dict[tuple[str, ...], Key]:
    """The keys that may follow those that were pressed, and what they do in these scopes.

    ``begun`` starts with `LEADER` or with the first key of a chord. Behind the leader is what every
    key with Alt does, on the same key without Alt: one rule to learn, and a way for keyboards and
    terminals that have no Alt. Of two scopes with one letter the nearer has it, the earlier one.
    """
    found: dict[tuple[str, ...], Key] = {}
    here = [row for scope in scopes for row in rows(scope)]
    for row in here:
        for key in row.keys:
            presses = tuple(key.split())
            if len(presses) > len(begun) and presses[: len(begun)] == tuple(begun):
                found.setdefault(presses[len(begun) :], row)
    if tuple(begun) == (LEADER,):
        letters = {(row.scope, row.action): leader_letter(row) for row in KEYMAP}
        for row in here:
            own = letters[row.scope, row.action]
            taken = {presses[0] for presses in found}
            press = next((one for one in (own, own.upper()) if one and one not in taken), "")
            if press:
                found[(press,)] = row
    return found


def leader_letter(row: Key) -> str:
    """Its key behind the leader, by the table as it is shipped; empty: it needs none."""
    if row.action in NEVER_LED:
        return ""
    alone = (key.removeprefix("alt+") for key in row.keys if key.startswith("alt+"))
    return next((last for last in alone if "+" not in last and " " not in last), "")


def key_name(key: str) -> str:
    """A key as people write it: ``ctrl+j`` is ``Ctrl+J``, ``f2`` is ``F2``."""
    first, blank, rest = key.partition(" ")
    if blank and first == LEADER and (leaders := leader_keys()):
        key = f"{leaders[0]} {rest}"
    return spelled_name(key)


def row_of(action: str, scope: Scope = "global") -> Key | None:
    """The row of an action, by the name of its method or by that in ``config.toml``."""
    return next((key for key in rows(scope) if action in (key.action, key.name)), None)


def ways(key: Key) -> list[str]:
    """All keys that do it, as people write them, that behind the leader key last."""
    names = [key_name(name) for name in key.keys]
    if key.action not in NEVER_LED and (leaders := leader_keys()):
        found = behind((LEADER,), (key.scope,) if key.scope == "global" else (key.scope, "global"))
        led = [presses for presses, row in found.items() if row == key]
        names += [key_name(" ".join((leaders[0], *presses))) for presses in led]
    return list(dict.fromkeys(names))


def shown(action: str, scope: Scope = "global", most: int = 1) -> str:
    """The keys of an action as people write them, for texts: ``F7``, with ``most=2`` ``F7 Alt+D``.

    Of an action without a key the way behind the leader key; empty if there is none. Whoever
    shows a key asks here, since keys can be changed: ask when the text is made, not when the
    module is loaded.
    """
    if (key := row_of(action, scope)) is None:
        return ""
    return " ".join(map(key_name, key.keys[:most])) if key.keys else "".join(ways(key)[:1])


def way_out(screen: Screen[Any]) -> str:
    """What Esc does now on a screen over the workbench."""
    stops = getattr(screen.app, "stops_first", False)
    return "Esc stops the answer" if stops else "Esc closes"


def hints(
    states: set[When], *scopes: Scope, labels: Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    """Key and label of what the footer shows in these states, in the order of ``scopes``.

    ``labels`` says by action what it does now, where the table's word is not enough; nothing: it
    is not shown. What stops an answer comes first, always.
    """
    shown = [
        key
        for scope in scopes
        for key in rows(scope)
        if key.footer and key.keys and (key.when == "always" or key.when in states)
    ]
    shown.sort(key=lambda key: key.action != "interrupt")
    said = labels or {}
    told = ((key_name(key.keys[0]), said.get(key.action, key.footer)) for key in shown)
    return [(name, label) for name, label in told if label]

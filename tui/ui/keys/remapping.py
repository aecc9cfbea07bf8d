"""The user's own keys (``[keys.SCOPE]`` of ``config.toml``) put into the table.

A request is taken whole or refused whole, with a sentence: then its action keeps the keys that it
had, and all other requests stand. Two actions may have one key where they are never meant at once
(the prompt and the editor). Nothing may take Esc and Ctrl+C from stopping, nor the keys that type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from tui.ui.keys.spelling import LEADER, NoSuchKey, key_name, quoted, spelled, twins
from tui.ui.keys.table import SCOPE_TITLES, SCOPES, Key, Scope

MOST_WAYS = 8
"""Keys of one action."""
_NAMED = 8
"""Actions of a scope that are named to who asked for another one."""
_STOPPING = ("escape", "ctrl+c")
"""Keys that stay with the actions that have them."""
_MOVING = frozenset({"left", "right", "home", "end", "backspace", "delete", "space"})
_STEPPING = frozenset({"up", "down", "enter", "tab", "shift+tab", "pageup", "pagedown"})
_CLIPBOARD = frozenset({"ctrl+x", "ctrl+v"})
_NEEDED: dict[Scope, frozenset[str]] = {
    "global": _MOVING | _STEPPING | _CLIPBOARD,
    "prompt": _MOVING | _CLIPBOARD,
    "editor": _MOVING | _STEPPING | _CLIPBOARD,
    "files": frozenset({"backspace", "up", "down", "left", "right"}),
}
"""Where text is typed: the keys, besides characters, without which nobody can."""
_ALONE = ("turn", "diff", "rewind")
"""Scopes of screens of their own."""
_TOGETHER: tuple[frozenset[Scope], ...] = (
    frozenset({"conversation", "command"}),
    frozenset({"conversation", "review"}),
    frozenset({"command", "review"}),
    frozenset({"turn", "diff"}),
    frozenset({"rewind", "diff"}),
    frozenset({"editor", "files"}),
    *(frozenset[Scope]({"global", scope}) for scope in SCOPES if scope not in _ALONE),
)
"""Scopes whose keys can be meant at the same time."""


class RefusedKey(NamedTuple):
    """A request that was not granted."""

    path: tuple[str, ...]
    """Where it stands, below ``keys``."""
    words: str
    """What is wrong; what to do."""


class _KeyRequest(NamedTuple):
    row: int
    keys: tuple[str, ...]
    path: tuple[str, ...]


def remapped(
    table: Sequence[Key], requests: Mapping[str, object]
) -> tuple[tuple[Key, ...], list[RefusedKey]]:
    """The table with these requests, and those that are not granted, in the order of the file."""
    refused: list[RefusedKey] = []
    granted: list[_KeyRequest] = []
    for path, value in _flat(requests, refused):
        found = _read(table, path, value)
        if isinstance(found, RefusedKey):
            refused.append(found)
        elif any(found.row == other.row for other in granted):
            refused.append(RefusedKey(path, "was said before; remove one of the two"))
        else:
            granted.append(found)
    while True:
        put = _put(table, granted)
        if (clash := _clash(put, granted)) is None:
            break
        loser, words = clash
        granted.remove(loser)
        refused.append(RefusedKey(loser.path, words))
    order = [path for path, _ in _flat(requests, [])]
    refused.sort(key=lambda one: order.index(one.path) if one.path in order else -1)
    return put, refused


def _flat(
    requests: Mapping[str, object], refused: list[RefusedKey]
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Path and value of every request; what stands in ``[keys]`` itself is meant everywhere."""
    for first, value in requests.items():
        if not isinstance(value, Mapping):
            yield (first,), value
        elif first in SCOPES:
            for name, keys in value.items():
                yield (first, str(name)), keys
        else:
            words = f"is not a place for keys{_near(first, SCOPES)} (there are {', '.join(SCOPES)})"
            refused.append(RefusedKey((first,), words))


def _read(table: Sequence[Key], path: tuple[str, ...], value: object) -> _KeyRequest | RefusedKey:
    """A request by itself."""
    scope, name = path if len(path) == 2 else ("global", path[0])
    at = next((i for i, key in enumerate(table) if (key.scope, key.name) == (scope, name)), None)
    if at is None:
        return RefusedKey(path, _no_action(table, scope, name))
    written = [value] if isinstance(value, str) else value
    if not isinstance(written, list) or not all(isinstance(one, str) for one in written):
        return RefusedKey(path, 'is neither a key as "ctrl+x" nor a list of keys; "" is none')
    if len(written) > MOST_WAYS:
        return RefusedKey(path, f"has more than {MOST_WAYS} keys")
    row, keys = table[at], list[str]()
    for one in written:
        if not one and len(written) == 1:
            break
        try:
            key = spelled(one)
        except NoSuchKey as error:
            return RefusedKey(path, f"{quoted(one)} {error}")
        if words := _not_for(row, key):
            return RefusedKey(path, f"{quoted(one)} {words}")
        keys += twins(key)
    for kept in _STOPPING:
        if kept in row.keys and kept not in keys:
            return RefusedKey(path, f"must keep {key_name(kept)} among its keys, as a way out")
    return _KeyRequest(at, tuple(dict.fromkeys(keys)), path)


def _no_action(table: Sequence[Key], scope: str, name: str) -> str:
    elsewhere = [key.scope for key in table if key.name == name]
    names = [key.name for key in table if key.scope == scope]
    near = _near(name, names)
    first = get_close_matches(name, names, _NAMED, 0.3)
    some = ", ".join(list(dict.fromkeys([*first, *names]))[:_NAMED])
    some += "; docs/keys.md lists them all" if len(names) > _NAMED else ""
    if elsewhere:
        where = " and ".join(f"[keys.{other}]" for other in elsewhere)
        return f"is not an action of [keys.{scope}]; it belongs to {where}; here are {some}"
    return f"is not an action of [keys.{scope}]{near or f'; here are {some}'}"


def _near(name: str, known: Sequence[str]) -> str:
    found = get_close_matches(name, known, 1)
    return f'; did you mean "{found[0]}"?' if found else ""


def _not_for(row: Key, key: str) -> str:
    """Why this row cannot have this key, whatever the others have."""
    first, *others = key.split()
    for press in (first, *others):
        if press in _STOPPING and (others or press not in row.keys):
            return f"is not free: {key_name(press)} stops the answer, always"
    if first == LEADER and not others:
        return "is the leader key itself; write the key behind it too, as in leader x"
    if others and (row.action == "app.leader" or set(_STOPPING) & set(row.keys)):
        return "is more than one key; this must be one"
    typing = row.scope in _NEEDED
    if typing and first in _CLIPBOARD & _NEEDED[row.scope]:
        return f"is needed for typing {_where(row.scope)}, to cut or paste; take another one"
    if typing and (first in _NEEDED[row.scope] or not ("+" in first or _is_named(first))):
        return f"is needed for typing {_where(row.scope)}; take one with Ctrl or Alt, or an F key"
    return ""


def _is_named(press: str) -> bool:
    """Whether the key alone types no character."""
    named = _MOVING | _STEPPING | {"escape", "insert", LEADER}
    return press in named or re.fullmatch(r"f\d+", press) is not None


def _where(scope: Scope) -> str:
    title = SCOPE_TITLES[scope]
    return title[0].lower() + title[1:]


def _put(table: Sequence[Key], requests: Sequence[_KeyRequest]) -> tuple[Key, ...]:
    """The table with the requests; a chord from the leader key begins with its name."""
    rows = list(table)
    for request in requests:
        row = rows[request.row]
        first = row.scope in ("global", "editor")  # before the keys that every editor has
        rows[request.row] = row._replace(keys=request.keys, priority=row.priority or first)
    leaders = next((key.keys for key in rows if key.action == "app.leader"), ())
    for request in requests:
        row = rows[request.row]
        rows[request.row] = row._replace(keys=tuple(_led(key, leaders) for key in row.keys))
    return tuple(rows)


def _led(key: str, leaders: Sequence[str]) -> str:
    first, blank, rest = key.partition(" ")
    return f"{LEADER} {rest}" if blank and first in leaders else key


class _Claim(NamedTuple):
    """A key that a row has, by a request or from the start."""

    presses: tuple[str, ...]
    row: Key
    request: int
    """Its place among the requests; -1: none."""


def _claims(table: Sequence[Key], requests: Sequence[_KeyRequest]) -> Iterator[_Claim]:
    by_row = {request.row: at for at, request in enumerate(requests)}
    everywhere = {key.name: at for at, key in enumerate(table) if key.scope == "global"}
    for at, row in enumerate(table):
        for key in row.keys:
            yield _Claim(tuple(key.split()), row, by_row.get(at, -1))
        if row.like:
            source = everywhere[row.like]
            for key in table[source].keys:
                if key not in row.keys:
                    yield _Claim(tuple(key.split()), row, by_row.get(source, -1))


def _clash(table: Sequence[Key], requests: Sequence[_KeyRequest]) -> tuple[_KeyRequest, str] | None:
    """A request that cannot stand beside the others, and why."""
    begun: dict[str, list[_Claim]] = {}
    leads = any(key.action == "app.leader" and key.keys for key in table)
    for claim in _claims(table, requests):
        begun.setdefault(claim.presses[0], []).append(claim)
        if claim.presses[0] == LEADER and not leads and claim.request >= 0:
            return requests[
                claim.request
            ], "begins with the leader key, which you have switched off"
    for claims in begun.values():
        for at, one in enumerate(claims):
            for other in claims[:at]:
                if (one.request >= 0 or other.request >= 0) and _in_each_others_way(one, other):
                    loser, winner = (one, other) if one.request > other.request else (other, one)
                    return requests[loser.request], _why(loser, winner)
    return None


def _in_each_others_way(one: _Claim, other: _Claim) -> bool:
    length = min(len(one.presses), len(other.presses))
    same = one.presses[:length] == other.presses[:length]
    two = one.row is not other.row or len(one.presses) != len(other.presses)
    return same and two and _meant_at_once(one.row, other.row)


def _meant_at_once(one: Key, other: Key) -> bool:
    if one.action == other.action and {one.like, other.like} & {one.name, other.name}:
        return False
    everywhere = [key.action.startswith("app.") and key.scope == "global" for key in (one, other)]
    scopes = frozenset({one.scope, other.scope})
    return any(everywhere) or len(scopes) == 1 or scopes in _TOGETHER


def _why(loser: _Claim, winner: _Claim) -> str:
    lost, won = (key_name(" ".join(claim.presses)) for claim in (loser, winner))
    there = f'"{winner.row.name}" {_where(winner.row.scope)}'
    if lost == won:
        return f"{lost} is the key of {there}; take another one, or give that action another first"
    if len(loser.presses) > len(winner.presses):
        return f"{lost} could never be typed, since {won} alone is the key of {there}"
    return f"{lost} begins {won}, the keys of {there}; take another one"

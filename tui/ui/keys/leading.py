"""What stands behind a key that others follow: the leader key, and the beginnings of chords.

Behind the leader is what every key with Alt does, on the same key without Alt: one rule to learn,
and a way for keyboards and terminals that have no Alt. The user's own chords stand beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tui.ui.keys.key import Key, Scope
from tui.ui.keys.spelling import LEADER

NEVER = frozenset({"interrupt", "cancel", "app.leader"})
"""What they do depends on what lies in front: the list would."""


def letter(row: Key) -> str:
    """Its key behind the leader, by the table as it is shipped; empty: it needs none."""
    if row.letter or row.action in NEVER:
        return row.letter
    alone = (key.removeprefix("alt+") for key in row.keys if key.startswith("alt+"))
    return next((last for last in alone if "+" not in last and " " not in last), "")


def behind(
    begun: Sequence[str], table: Sequence[Key], shipped: Sequence[Key], scopes: Sequence[Scope]
) -> dict[tuple[str, ...], Key]:
    """The keys that may follow those that were pressed, and what they do in these scopes.

    ``begun`` starts with `LEADER` or with the first key of a chord. Of two scopes with one letter
    the nearer has it, which is the earlier one.
    """
    found: dict[tuple[str, ...], Key] = {}
    here = [row for scope in scopes for row in table if row.scope == scope]
    for row in here:
        for key in row.keys:
            presses = tuple(key.split())
            if len(presses) > len(begun) and presses[: len(begun)] == tuple(begun):
                found.setdefault(presses[len(begun) :], row)
    if tuple(begun) == (LEADER,):
        letters = {(row.scope, row.action): letter(row) for row in shipped}
        for row in here:
            own = letters.get((row.scope, row.action), "")
            for press in (own, own.upper()):
                if press and _is_free(press, found):
                    found[(press,)] = row
                    break
    return found


def _is_free(press: str, found: dict[tuple[str, ...], Key]) -> bool:
    return all(presses[0] != press for presses in found)

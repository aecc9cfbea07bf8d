"""Which hunks are meant: numbers, a file, or all."""

from __future__ import annotations

import re
from typing import NamedTuple

from tui.core.edits.hunk import Hunk
from tui.core.edits.roster import waits
from tui.core.edits.workspace import Workspace
from tui.linear.words import counted

_NUMBERS = re.compile(r"[\s,]*(\d{1,9})(?:-(\d{1,9}))?(?=[\s,]|$)")
_MOST = 10_000


class Picked(NamedTuple):
    """What is meant, and what was said behind it."""

    hunks: list[Hunk]
    rest: str = ""


def waiting(workspace: Workspace) -> list[Hunk]:
    """The hunks that wait for the user, in order."""
    return [hunk for hunk in workspace.roster.unsettled() if waits(hunk)]


def picked(argument: str, workspace: Workspace) -> Picked | str:
    """The hunks that an argument names, or what is wrong with it.

    Nothing named means the only one that waits.
    """
    found = waiting(workspace)
    first, _, rest = argument.strip().partition(" ")
    if first == "all":
        return Picked(found, rest.strip()) if found else "No hunk waits for a decision."
    if _NUMBERS.match(argument):
        return _numbered(argument, workspace)
    path = first.removeprefix("@")
    mine = [hunk for hunk in found if path and path in (hunk.path, hunk.target)]
    if mine:
        return Picked(mine, rest.strip())
    if len(found) == 1:
        return Picked(found, argument.strip())
    if not found:
        return "No hunk waits for a decision."
    return f"{counted(len(found), 'hunk')} wait; say which: a number, a file, or all."


def _numbered(argument: str, workspace: Workspace) -> Picked | str:
    """``1``, ``1 3``, ``1,3``, ``1-3``, and words behind them."""
    hunks: list[Hunk] = []
    at = 0
    while number := _NUMBERS.match(argument, at):
        at = number.end()
        first, last = int(number[1]), int(number[2] or number[1])
        if last - first > _MOST:
            return f"{number[0].strip(' ,')} is too much at once."
        for one in range(first, last + 1):
            if one not in workspace.roster:
                return f"There is no hunk {one}; /hunks all lists those of the last turn."
            hunks.append(workspace.roster.by_id(one))
    return Picked(list(dict.fromkeys(hunks)), argument[at:].strip(" ,"))

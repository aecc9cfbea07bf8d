"""How a quoted block's indentation differs from the file's, if it does so uniformly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class IndentChange:
    """Turns the indentation that a patch has into the one that the file has."""

    add: str = ""
    """Put before every line."""
    remove: str = ""
    """Taken off every line."""
    tab_width: int = 0
    """Spaces a tab; 0 if tabs stay tabs."""
    to_tabs: bool = False
    """Spaces become tabs (else tabs become spaces), if `tab_width`."""
    first: IndentChange | None = None
    """Of the first line, where only that one differs."""
    was: int = field(default=0, compare=False)
    """Characters of indentation that the first line of the patch had, for the words."""

    def apply(self, line: str) -> str:
        """Re-indent one line; blank lines stay as they are."""
        if not line.strip():
            return line
        if self.tab_width:
            body = line.lstrip(" \t")
            indent = line[: len(line) - len(body)]
            return self._tabs(indent) + body
        return self.add + line.removeprefix(self.remove)

    def words(self) -> str:
        """What is done, for a flag."""
        if self.tab_width:
            return "re-indented: tabs and spaces differ"
        if self.first and not self.add:
            return "re-indented the first line"
        return f"re-indented {self.was}->{self.was + len(self.add) - len(self.remove)}"

    def _tabs(self, indent: str) -> str:
        columns = len(indent.expandtabs(self.tab_width))
        if not self.to_tabs:
            return " " * columns
        return "\t" * (columns // self.tab_width) + " " * (columns % self.tab_width)


SAME = IndentChange()


def indent_change(file: Sequence[str], patch: Sequence[str]) -> IndentChange | None:
    """The one change that turns the patch's indentation into the file's; None if there is none.

    The first line may differ from the rest: models cut its indentation off.
    """
    pairs = [
        (indentation(ours), indentation(theirs))
        for ours, theirs in zip(file, patch, strict=True)
        if theirs.strip()
    ]
    if not pairs:
        return SAME
    changes = [_one(ours, theirs) for ours, theirs in pairs]
    rest = changes[1:]
    if changes[0] is not None and all(change == changes[0] for change in rest):
        return changes[0]
    if rest and rest[0] is not None and changes[0] is not None and not pairs[0][1]:
        if not rest[0].remove and all(change == rest[0] for change in rest):
            return IndentChange(rest[0].add, first=changes[0], was=rest[0].was)
        return None
    return _tabs_change(pairs)


def stands_right(file: Sequence[str], old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether new lines are indented as the file is, and not as the lines that are quoted.

    Their first line says it; else those that are quoted again do.
    """
    first, quoted = _first(new), _first(old)
    if quoted is None or first is None:
        return False
    depth = indentation(new[first])
    if depth in (indentation(old[quoted]), indentation(file[quoted])):
        return depth != indentation(old[quoted])
    ours = {line.strip(): indentation(there) for line, there in zip(old, file, strict=True)}
    theirs = {line.strip(): indentation(line) for line in old}
    again = [line for line in new if line.strip() and line.strip() in ours]
    return bool(again) and all(
        indentation(line) == ours[line.strip()] != theirs[line.strip()] for line in again
    )


def _first(lines: Sequence[str]) -> int | None:
    """The first line that is not blank."""
    return next((at for at, line in enumerate(lines) if line.strip()), None)


def indentation(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def _one(ours: str, theirs: str) -> IndentChange | None:
    if ours.endswith(theirs):
        return IndentChange(add=ours[: len(ours) - len(theirs)], was=len(theirs))
    if theirs.endswith(ours):
        return IndentChange(remove=theirs[: len(theirs) - len(ours)], was=len(theirs))
    return None


def _tabs_change(pairs: list[tuple[str, str]]) -> IndentChange | None:
    for width in (4, 2, 8, 3):
        for to_tabs in (True, False):
            change = IndentChange(tab_width=width, to_tabs=to_tabs)
            if all(change.apply(theirs + "x") == ours + "x" for ours, theirs in pairs):
                return change
    return None

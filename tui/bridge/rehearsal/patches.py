"""Writes the patch that takes a file's text to the wanted states, in the format asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct, field

from tui.bridge.rehearsal.scripts import ORIGINAL, FileRegion

CONTEXT_LINES = 3
_MOST_CONTEXT_LINES = 12


class WrittenChange(Struct, frozen=True):
    """Replace some lines."""

    first: int
    removed: int
    added: tuple[str, ...]


class FilePlan(Struct):
    """What is to be done to one file."""

    path: str
    text: str | None
    """None: the file does not exist yet."""
    changes: list[WrittenChange] = field(default_factory=list)
    lost: list[FileRegion] = field(default_factory=list)
    """Regions whose text is none of those that the script knows."""
    found: set[str] = field(default_factory=set)
    """The states in which the regions are now."""


def plan_file(path: str, text: str | None, wanted: Sequence[tuple[FileRegion, str]]) -> FilePlan:
    """Find every region of a file and what takes it to its wanted state."""
    plan = FilePlan(path, text)
    lines = lines_of(text or "")
    for region, state in wanted:
        target = lines_of(region.states[state])
        place = _find(lines, region)
        if place is None:
            plan.lost.append(region)
            continue
        current, first = place
        plan.found.add(current)
        change = _change(first, lines_of(region.states[current]), target)
        if change is not None:
            plan.changes.append(change)
    plan.changes.sort(key=lambda change: change.first)
    return plan


def lines_of(text: str) -> list[str]:
    """The lines without their endings; only a newline parts them."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _find(lines: Sequence[str], region: FileRegion) -> tuple[str, int] | None:
    """The state that the region is in, and its first line.

    Longer states are tried first: the original is often a part of what replaces it.
    """
    known = [(name, lines_of(text)) for name, text in region.states.items()]
    for name, block in sorted(known, key=lambda state: -len(state[1])):
        if not block:
            continue
        places = occurrences(lines, block)
        if len(places) == 1:
            return name, places[0]
    if not region.states[ORIGINAL] and not lines:
        return ORIGINAL, 0
    return None


def occurrences(lines: Sequence[str], block: Sequence[str]) -> list[int]:
    """Where a block of lines lies."""
    size, head = len(block), block[0]
    return [
        first
        for first in range(len(lines) - size + 1)
        if lines[first] == head and list(lines[first : first + size]) == list(block)
    ]


def _change(first: int, old: Sequence[str], new: Sequence[str]) -> WrittenChange | None:
    """The lines that differ; None if none does."""
    if list(old) == list(new):
        return None
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    added = tuple(new[same : len(new) - tail])
    return WrittenChange(first + same, len(old) - same - tail, added)


class PatchSection(Struct, frozen=True):
    """Some lines of a file with what becomes of them."""

    first: int
    """Row of the first old line."""
    ops: tuple[tuple[Literal[" ", "-", "+"], str], ...]

    @property
    def old(self) -> list[str]:
        """The lines that stand there now."""
        return [line for op, line in self.ops if op != "+"]

    @property
    def new(self) -> list[str]:
        """The lines that shall stand there."""
        return [line for op, line in self.ops if op != "-"]


def sections_of(plan: FilePlan) -> list[PatchSection]:
    """The sections of one file; changes whose context meets share a section."""
    lines = lines_of(plan.text or "")
    groups: list[list[WrittenChange]] = []
    for change in plan.changes:
        last = groups[-1][-1] if groups else None
        near = last is not None and change.first - last.first - last.removed <= 2 * CONTEXT_LINES
        if near:
            groups[-1].append(change)
        else:
            groups.append([change])
    written: list[PatchSection] = []
    done = 0
    for group in groups:
        written.append(_section(lines, group, done))
        done = group[-1].first + group[-1].removed
    return written


def new_lines(plan: FilePlan) -> list[str]:
    """The whole file as it shall be."""
    lines = lines_of(plan.text or "")
    for change in reversed(plan.changes):
        lines[change.first : change.first + change.removed] = change.added
    return lines


def _section(lines: Sequence[str], group: Sequence[WrittenChange], done: int) -> PatchSection:
    """One section with enough context to be unique; the lines before ``done`` are taken."""
    first, last = group[0].first, group[-1].first + group[-1].removed
    context = CONTEXT_LINES
    while True:
        top, bottom = max(first - context, done), min(last + context, len(lines))
        block = lines[top:bottom]
        if not block or context >= _MOST_CONTEXT_LINES or len(occurrences(lines, block)) == 1:
            break
        context += 1
    ops: list[tuple[Literal[" ", "-", "+"], str]] = []
    at = top
    for change in group:
        ops += [(" ", line) for line in lines[at : change.first]]
        ops += [("-", line) for line in lines[change.first : change.first + change.removed]]
        ops += [("+", line) for line in change.added]
        at = change.first + change.removed
    ops += [(" ", line) for line in lines[at:bottom]]
    return PatchSection(top, tuple(ops))


Notation = Literal["apply_patch", "search_replace", "unified_diff", "whole_file"]

_MARKS: dict[str, Notation] = {
    "*** Begin Patch": "apply_patch",
    "<<<<<<< SEARCH": "search_replace",
    "SEARCH/REPLACE": "search_replace",
    "unified diff": "unified_diff",
    "the whole file, from its first line": "whole_file",
    "whole texts": "whole_file",
    "its whole text": "whole_file",
}
"""What in a request's words names a format."""
_NAMED = (
    re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+?)\s*$", re.MULTILINE),
    re.compile(r"^\+\+\+ (?:b/)?(?!/dev/null)(\S.*?)\s*$", re.MULTILINE),
    re.compile(r"^(\S[^\n]*)\n(?:`{3,}[^\n]*\n)?<{5,9} ?SEARCH", re.MULTILINE),
    re.compile(r"^(\w[\w./-]*\.\w+)\n`{3,}[^\n]*\n(?!<{5,9} ?SEARCH)", re.MULTILINE),
)


def asked_notation(*texts: str) -> Notation:
    """The format that these words ask for, the first of them that names one."""
    for text in texts:
        found = [(at, name) for mark, name in _MARKS.items() if (at := text.find(mark)) >= 0]
        if found:
            return min(found)[1]
    return "apply_patch"


def patched_paths(text: str) -> set[str]:
    """The files that a patch in any format names."""
    return {path for pattern in _NAMED for path in pattern.findall(text)}


def write_patch(plans: Sequence[FilePlan], notation: Notation = "apply_patch") -> str:
    """The patch for all files; empty if nothing is to be changed."""
    changed = [plan for plan in plans if plan.changes]
    if not changed:
        return ""
    lines = [line for plan in changed for line in _WRITERS[notation](plan)]
    if notation == "apply_patch":
        lines = ["*** Begin Patch", *lines, "*** End Patch"]
    return "\n".join(lines) + "\n"


def in_prose(patch: str, notation: Notation) -> str:
    """A patch as it stands in a message."""
    return f"```diff\n{patch}```\n" if notation == "unified_diff" else patch


def _apply_patch(plan: FilePlan) -> list[str]:
    if plan.text is None:
        return [f"*** Add File: {plan.path}", *("+" + line for line in new_lines(plan))]
    lines = [f"*** Update File: {plan.path}"]
    for section in sections_of(plan):
        lines += ["@@", *_prefixed(section)]
    return lines


def _search_replace(plan: FilePlan) -> list[str]:
    if plan.text is None:
        return [plan.path, "<<<<<<< SEARCH", "=======", *new_lines(plan), ">>>>>>> REPLACE", ""]
    lines = []
    for section in sections_of(plan):
        lines += [plan.path, "<<<<<<< SEARCH", *section.old]
        lines += ["=======", *section.new, ">>>>>>> REPLACE", ""]
    return lines


def _unified_diff(plan: FilePlan) -> list[str]:
    old = "/dev/null" if plan.text is None else f"a/{plan.path}"
    lines = [f"--- {old}", f"+++ b/{plan.path}"]
    shift = 0
    for section in sections_of(plan):
        before, after = len(section.old), len(section.new)
        first = section.first + (before > 0)
        now = section.first + shift + (after > 0)
        lines.append(f"@@ -{first},{before} +{now},{after} @@")
        lines += _prefixed(section)
        shift += after - before
    if plan.text and not plan.text.endswith("\n"):
        lines += _unended(plan, lines)
    return lines


def _unended(plan: FilePlan, lines: list[str]) -> list[str]:
    """The mark behind the last line of a file without a newline, if the diff ends with it."""
    last = lines_of(plan.text or "")[-1:]
    ends = bool(last) and lines[-1] == f" {last[0]}"
    return ["\\ No newline at end of file"] if ends else []


def _whole_file(plan: FilePlan) -> list[str]:
    body = new_lines(plan)
    longest = max((len(run) for run in re.findall(r"`{3,}", "\n".join(body))), default=2)
    fence = "`" * (longest + 1)
    return [plan.path, fence, *body, fence, ""]


def _prefixed(section: PatchSection) -> list[str]:
    return [op + line for op, line in section.ops]


_WRITERS: dict[Notation, Callable[[FilePlan], list[str]]] = {
    "apply_patch": _apply_patch,
    "search_replace": _search_replace,
    "unified_diff": _unified_diff,
    "whole_file": _whole_file,
}

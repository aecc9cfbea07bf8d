"""Writes a patch in the format that a request asks for, as real models write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from tui.bridge.rehearsal.patch_writer import FilePlan, Section, lines_of, new_lines, sections_of

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


def _prefixed(section: Section) -> list[str]:
    return [op + line for op, line in section.ops]


_WRITERS: dict[Notation, Callable[[FilePlan], list[str]]] = {
    "apply_patch": _apply_patch,
    "search_replace": _search_replace,
    "unified_diff": _unified_diff,
    "whole_file": _whole_file,
}

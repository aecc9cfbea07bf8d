"""The same edits of a file in every notation in which a model may tell them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from hypothesis import strategies as st

from tests.support.patches import Edit, patch_of
from tui.core.edit_stream.events import Notation

NOTATIONS: tuple[Notation, ...] = get_args(Notation)
notations = st.sampled_from(NOTATIONS)


def told(
    fmt: Notation, lines: Sequence[str], edits: Sequence[Edit], context: int, path: str
) -> str:
    """What streams so that these edits of these lines are made."""
    if fmt == "search_replace":
        return blocks_of(lines, edits, context, path)
    if fmt == "unified_diff":
        return diff_of(lines, edits, context, path)
    if fmt == "whole_file":
        body = "".join(f"{line}\n" for line in edited(lines, edits))
        return f"{path}\n````\n{body}````\n"
    return patch_of(lines, edits, context, path)


def edited(lines: Sequence[str], edits: Sequence[Edit]) -> list[str]:
    """The lines with all edits made."""
    out = list(lines)
    for edit in reversed(edits):
        out[edit.first : edit.last] = edit.new
    return out


def blocks_of(lines: Sequence[str], edits: Sequence[Edit], context: int, path: str) -> str:
    """SEARCH/REPLACE blocks."""
    out: list[str] = []
    for edit in edits:
        before, after = around(lines, edit, context)
        old = lines[edit.first : edit.last]
        out += [path, "<<<<<<< SEARCH", *before, *old, *after]
        out += ["=======", *before, *edit.new, *after, ">>>>>>> REPLACE"]
    return "".join(f"{line}\n" for line in out)


def diff_of(lines: Sequence[str], edits: Sequence[Edit], context: int, path: str) -> str:
    """A unified diff with right numbers."""
    out, shift = [f"--- a/{path}", f"+++ b/{path}"], 0
    for edit in edits:
        before, after = around(lines, edit, context)
        old = len(before) + edit.last - edit.first + len(after)
        new = old - (edit.last - edit.first) + len(edit.new)
        first = edit.first - len(before) + (old > 0)
        out.append(f"@@ -{first},{old} +{first + shift},{new} @@")
        out += [f" {line}" for line in before]
        out += [f"-{line}" for line in lines[edit.first : edit.last]]
        out += [f"+{line}" for line in edit.new]
        out += [f" {line}" for line in after]
        shift += new - old
    return "".join(f"{line}\n" for line in out)


def around(lines: Sequence[str], edit: Edit, context: int) -> tuple[Sequence[str], Sequence[str]]:
    """The lines of context before and behind an edit."""
    return lines[max(0, edit.first - context) : edit.first], lines[edit.last : edit.last + context]

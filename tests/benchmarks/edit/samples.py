"""Files, and edits of them in every format, made in code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from tests.benchmarks.screen.replay_text import EDITED, FUNCTION, FUNCTION_LINES
from tui.core.edit_stream.events import Notation

FORMATS: tuple[Notation, ...] = get_args(Notation)
CONTEXT_LINES = 3
ALIKE = ("def same(self) -> None:", '    """The same."""', "    return None", "")
"""A function that looks like many others."""
COMMENT = "\u8ba1\u7b97\u7b2c {} \u4e2a\u503c"
"""Of a line; it says which value is computed."""


@dataclass(frozen=True, slots=True)
class Change:
    """Lines ``first`` to ``last``, 0-based and without the last, become ``new``."""

    first: int
    last: int
    new: tuple[str, ...]


def source(count: int) -> list[str]:
    """So many lines of Python; some of each function stand nowhere else."""
    lines: list[str] = []
    for number in range(count // FUNCTION_LINES + 1):
        lines += FUNCTION.format(number).splitlines()
    return lines[:count]


def commented(count: int) -> list[str]:
    """The same with a comment in Chinese at the end of each line that has text."""
    numbered = enumerate(source(count))
    return [f"{line}  # {COMMENT.format(number)}" if line else "" for number, line in numbered]


def alike(count: int) -> list[str]:
    """So many lines in which each function looks like all others."""
    lines = list(ALIKE) * (count // len(ALIKE) + 1)
    return lines[:count]


def text_of(lines: Sequence[str]) -> str:
    """A file of these lines."""
    return "".join(f"{line}\n" for line in lines)


def changed(lines: Sequence[str], changes: Sequence[Change]) -> list[str]:
    """The lines with all changes, which are in order, made."""
    out = list(lines)
    for change in reversed(changes):
        out[change.first : change.last] = change.new
    return out


def spread(lines: Sequence[str], count: int, added: int = 1) -> list[Change]:
    """So many changes, evenly over the file: a line is replaced by ``added`` lines."""
    step = len(lines) // count
    return [
        Change(
            at := step * number + min(step - 1, CONTEXT_LINES + 1),
            at + 1,
            tuple(f"    changed_{number}_{line} = self.work({line})" for line in range(added)),
        )
        for number in range(count)
    ]


def patch(
    fmt: Notation, lines: Sequence[str], changes: Sequence[Change], path: str = EDITED
) -> str:
    """The changes as a model writes them, each with `CONTEXT_LINES` of context on both sides."""
    if fmt == "apply_patch":
        body = "".join(f"@@\n{part}" for part in _sections(lines, changes))
        return f"*** Begin Patch\n*** Update File: {path}\n{body}*** End Patch\n"
    if fmt == "search_replace":
        return "".join(f"{path}\n{block}" for block in _blocks(lines, changes))
    if fmt == "unified_diff":
        return f"--- a/{path}\n+++ b/{path}\n{''.join(_hunks(lines, changes))}"
    return f"{path}\n```python\n{text_of(changed(lines, changes))}```\n"


def arguments(text: str) -> str:
    """A patch as the arguments of a function call."""
    return json.dumps({"input": text})


def _around(change: Change, count: int) -> tuple[range, range]:
    before = range(max(0, change.first - CONTEXT_LINES), change.first)
    return before, range(change.last, min(count, change.last + CONTEXT_LINES))


def _sections(lines: Sequence[str], changes: Sequence[Change]) -> Iterator[str]:
    """The lines of V4A and of unified diffs, one section a change."""
    for change in changes:
        before, behind = _around(change, len(lines))
        rows = [f" {lines[row]}\n" for row in before]
        rows += [f"-{line}\n" for line in lines[change.first : change.last]]
        rows += [f"+{line}\n" for line in change.new]
        yield "".join([*rows, *(f" {lines[row]}\n" for row in behind)])


def _hunks(lines: Sequence[str], changes: Sequence[Change]) -> Iterator[str]:
    """Sections with a header that counts right."""
    shift = 0
    for change, body in zip(changes, _sections(lines, changes), strict=True):
        before, behind = _around(change, len(lines))
        old = behind.stop - before.start
        new = old - (change.last - change.first) + len(change.new)
        yield f"@@ -{before.start + 1},{old} +{before.start + shift + 1},{new} @@\n{body}"
        shift += new - old


def _blocks(lines: Sequence[str], changes: Sequence[Change]) -> Iterator[str]:
    """SEARCH/REPLACE blocks."""
    for change in changes:
        before, behind = _around(change, len(lines))
        head, tail = text_of([lines[r] for r in before]), text_of([lines[r] for r in behind])
        old, new = text_of(lines[change.first : change.last]), text_of(change.new)
        yield (f"<<<<<<< SEARCH\n{head}{old}{tail}=======\n{head}{new}{tail}>>>>>>> REPLACE\n")

r"""Replacing what was found: one match, or all of them as one change.

For plain text the replacement is taken as it is. For a regular expression ``\1``, ``$1``,
``\g<name>``, ``${name}`` and ``$0`` stand for what the groups matched, ``\n`` and ``\t`` for a
new line and a tab, ``$$`` and ``\\`` for the signs themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from tui.core.text.buffer import Buffer
from tui.ui.editor.changes import TextEdit, Typing, as_in
from tui.ui.finding.search import MOST_IN_LINE, TOO_SLOW, Pattern, Span, TextSearch

GROUP = "replace"
"""The undo group's kind."""
_MANY_LINES = 200
"""Above, neighbouring lines are replaced together: an edit costs 20 us, an undo as much."""
_CHUNK = 100
"""Lines between two looks at the clock."""
_PART = re.compile(
    r"\\g<(\w+)>|\\(\d{1,2})|\$\{(\w+)\}|\$(\d{1,2})|(\$&)|\\([ntr\\$])|(\$\$)", re.ASCII
)
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "$": "$"}

Marked = Callable[[int], bool]
"""True for a line that has a mark of its own beside it, so that it is to be replaced alone."""


class Template:
    """What a match is replaced by."""

    def __init__(self, text: str, pattern: Pattern) -> None:
        """Read the text for one pattern.

        Raises:
            ValueError: it names a group that the pattern does not have; the text says so.
        """
        self._parts: list[str | int] = [text]
        """Plain text, and the numbers of groups."""
        if pattern.query.regex:
            self._parts = list(_parts(text, pattern))
        parts = [part for part in self._parts if isinstance(part, str)]
        self.constant = "".join(parts) if len(parts) == len(self._parts) else None
        """The replacement of every match; None if it depends on the match."""

    def expand(self, match: re.Match[str]) -> str:
        """The replacement of one match; a group that matched nothing is empty."""
        return "".join(
            part if isinstance(part, str) else match.group(part) or "" for part in self._parts
        )


class AllReplaced(NamedTuple):
    """Every match replaced."""

    typing: Typing
    matches: int
    lines: int


def replace_one(search: TextSearch, buffer: Buffer, text: str) -> Typing | None:
    """Replace the match that was gone to; None if it is gone.

    Raises:
        ValueError: the replacement makes no sense, in words.
    """
    pattern, now = search.pattern, search.now
    if pattern is None or now is None or now[1:] not in search.spans(now[0]):
        return None
    template = Template(text, pattern)
    row, start, end = now
    for match in pattern.matches(buffer.lines[row]):
        if match.span() == (start, end):
            new = as_in(buffer, template.expand(match))
            return Typing((TextEdit((row, start), (row, end), new),), GROUP)
    return None


def replace_all(
    search: TextSearch, buffer: Buffer, text: str, marked: Marked
) -> Iterator[AllReplaced | None]:
    """Replace all matches, as one step to undo: None again and again, then the change.

    The buffer must not change meanwhile.

    Raises:
        ValueError: the replacement makes no sense, or the pattern takes too long; in words.
    """
    pattern = search.pattern
    if pattern is None:
        yield AllReplaced(Typing((), GROUP), 0, 0)
        return
    template = Template(text, pattern)
    first, last = search.within or ((0, 0), buffer.end)
    edits: list[TextEdit] = []
    count = 0
    try:
        for row in range(first[0], last[0] + 1):
            if row % _CHUNK == 0:
                yield None
            spans = search.spans(row)
            if len(spans) == MOST_IN_LINE or (spans and template.constant is None):
                edit, found = _by_matches(buffer, row, template, search)
            elif spans:
                edit, found = _by_spans(buffer, row, spans, template.constant or ""), len(spans)
            else:
                continue
            count += found
            edits.append(edit)
    except TimeoutError:
        raise ValueError(TOO_SLOW) from None
    if search.error:
        raise ValueError(search.error)
    lines = len(edits)
    if lines > _MANY_LINES:
        edits = list(_together(buffer, edits, marked))
    yield AllReplaced(Typing(tuple(reversed(edits)), GROUP, keep_selection=True), count, lines)


def _by_spans(buffer: Buffer, row: int, spans: tuple[Span, ...], new: str) -> TextEdit:
    """One edit for all matches of a line, all replaced by the same text."""
    line, at = buffer.lines[row], spans[0][0]
    parts: list[str] = []
    for start, end in spans:
        parts += (line[at:start], new)
        at = end
    return TextEdit((row, spans[0][0]), (row, at), as_in(buffer, "".join(parts)))


def _by_matches(
    buffer: Buffer, row: int, template: Template, search: TextSearch
) -> tuple[TextEdit, int]:
    """One edit for all matches of a line, by what their groups matched; and how many they are."""
    line, pattern = buffer.lines[row], search.pattern
    parts: list[str] = []
    count, first, at = 0, 0, 0
    for match in pattern.matches(line) if pattern is not None else ():
        start, end = match.span()
        if search.covers(row, (start, end)):
            if not count:
                first = at = start
            parts += (line[at:start], template.expand(match))
            at = end
            count += 1
    return TextEdit((row, first), (row, at), as_in(buffer, "".join(parts))), count


def _together(buffer: Buffer, edits: Iterable[TextEdit], marked: Marked) -> Iterable[TextEdit]:
    """Edits of neighbouring lines as one, except beside what a mark belongs to."""
    run: list[TextEdit] = []
    for edit in edits:
        row = edit.start[0]
        if marked(row):
            yield from _joined(buffer, run)
            run = []
            yield edit
        elif run and run[-1].end[0] == row - 1:
            run.append(edit)
        else:
            yield from _joined(buffer, run)
            run = [edit]
    yield from _joined(buffer, run)


def _joined(buffer: Buffer, run: list[TextEdit]) -> Iterable[TextEdit]:
    if len(run) < 2:
        yield from run
        return
    parts = [run[0].text]
    for before, edit in pairwise(run):
        parts.append(buffer.slice(before.end, edit.start))
        parts.append(edit.text)
    yield TextEdit(run[0].start, run[-1].end, "".join(parts))


def _parts(text: str, pattern: Pattern) -> Iterable[str | int]:
    at = 0
    for found in _PART.finditer(text):
        yield text[at : found.start()]
        at = found.end()
        name, number, curly, dollar, whole, sign, dollars = found.groups()
        if sign is not None:
            yield _SIGNS[sign]
        elif dollars is not None:
            yield "$"
        else:
            yield 0 if whole else _group(name or number or curly or dollar, pattern)
    yield text[at:]


def _group(name: str, pattern: Pattern) -> int:
    """The number of a group by its name or number. Raises ValueError."""
    number = int(name) if name.isdecimal() else pattern.names.get(name, -1)
    if not 0 <= number <= pattern.groups:
        raise ValueError(f"the pattern has no group {name}")
    return number

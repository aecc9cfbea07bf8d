"""What is looked at when all of a section is painted, before it lands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby

from tui.core.document.documents import Documents, Maker
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import PLACED, Hunk, Kind
from tui.core.document.waiting_places import OpenSection
from tui.core.files import is_ignore_file, why_private
from tui.core.patches.painter import Group, Painter
from tui.core.text.change_set import Author
from tui.core.text.indent import stands_right
from tui.core.text.rows import file_rows

_COMMENT = re.compile(r"^\s*(?:#+|//+|/\*+|<!--|--+|;+|%+|\*+|\{/\*|\()\s*")
_DOTS = r"(?:\.{3}|\u2026)"
_LEFT = (
    r"\b(?:rest|existing|remain\w*|unchanged|omitted|snip\w*|truncated|as before|the same"
    r"|same as (?:before|above)"
    r"|(?:other|previous|same|more|old|original|your|keep\w*|skip\w*)\s+(?:the\s+)?"
    r"(?:code|lines?|methods?|functions?|imports?|class(?:es)?|fields?|tests?|content|stuff|here))\b"
)
"""What was left out, or that it stays: not the dots of "Load more..."."""
_BARE = re.compile(rf"^\s*{_DOTS}\s+.*{_LEFT}", re.IGNORECASE)
"""With a blank behind the dots: ``...rest,`` is JavaScript."""
_DOTTED = re.compile(rf"^{_DOTS}.*{_LEFT}|{_LEFT}[^.\u2026]*{_DOTS}\W*$", re.IGNORECASE)
"""Of a comment behind its sign: the dots begin it or end it."""
_SAID = re.compile(
    r"\b(?:rest of (?:the |this |your |my )?\w+|remaining \w+|existing \w+"
    r"|(?:remains?|stays?|is|are|left) (?:the same|unchanged|as (?:before|is|it is|they are))"
    r"|unchanged|same as (?:before|above)|omitted|no changes?|goes here)\b",
    re.IGNORECASE,
)
_LONGEST_CHARS = 200


def is_placeholder(line: str, *, shorter: bool = False) -> bool:
    """True if a line says that text is left out here.

    Without dots only a comment is one, and only where the text became ``shorter``: such words are
    in ordinary comments too. A bare ``...`` is none, it is Python.
    """
    dots = "..." in line or "\u2026" in line
    if not (dots or shorter) or len(line) > _LONGEST_CHARS:
        return False
    sign = _COMMENT.match(line)
    if sign is None:
        return dots and _BARE.match(line) is not None
    said = line[sign.end() :]
    return (dots and _DOTTED.search(said) is not None) or (
        shorter and (_SAID.search(said) is not None or (dots and not said.strip(" .\u2026*/->)}")))
    )


_AROUND = 200
"""Lines above and below that say what a file is indented with."""
_TABS = re.compile(r" *\t")
LEFT_OUT = "placeholder: a line says that the rest is elsewhere"


def landed_before(documents: Documents, record: FileRecord, painter: Painter, told: int) -> str:
    """Why a section is one that has landed already; empty if it is new (EDIT-CASES A18).

    A call that is replayed after a reconnect finds what it has written, and so does a hunk that
    a patch has twice. Where lines went away, its old lines are mostly not there any more; where
    lines were only put in, they still are, and the same hunk of the same turn stands right there.
    Within one call only what says the same again (``told``) is a repetition: by two anchors, or
    with other lines around them, the same lines are meant twice (B09).
    """
    met = [_landed(record, painter, group) for group in painter.groups]
    if not met or None in met:
        return ""
    for other, group in zip(met, painter.groups, strict=True):
        same_call = other is not None and other.call_id == group.hunk.call_id
        if other is not None and same_call and other.told != told:
            return ""
    line = min(other.start.line for other in met if other and other.start) + 1
    return f"already applied: its lines are in the file at line {line}"


def stand_right(
    lines: Sequence[str], row: int, ops: Sequence[tuple[str, str, Hunk | None]]
) -> bool:
    """Whether what replaces removed lines is indented as the file is, not as these are quoted.

    Beside context that is quoted alike, another depth is a change that is meant.
    """
    if any(op == "=" and text.strip() for op, text, _ in ops):
        return False
    said: list[bool] = []
    for changed, run in groupby(ops, lambda one: one[0] != "="):
        group = list(run)
        old = [text for op, text, _ in group if op != "+"]
        new = [text for op, text, _ in group if op == "+"]
        if changed and old and new:
            said.append(stands_right(lines[row : row + len(old)], old, new))
        row += len(old)
    return bool(said) and all(said)


def other_indent(
    record: FileRecord, painter: Painter, ops: Sequence[tuple[str, str, Hunk | None]]
) -> list[str]:
    """The flag of added lines that are indented with tabs where the file has blanks, or not so."""
    added = [painter.indented(text) for op, text, _ in ops if op == "+" and text.strip()]
    tabbed, blanked = _tabbed(added), _blanked(added)
    base = painter.base
    if (not tabbed or _tabbed(base)) and (not blanked or _blanked(base)):
        return []
    lines, row, end = record.buffer.lines, painter.row, painter.end

    def near() -> Iterator[str]:
        around = chain(
            range(max(0, row - _AROUND), row), range(end, min(end + _AROUND, len(lines)))
        )
        return chain(base, map(lines.__getitem__, around))

    if tabbed and not _tabbed(near()) and _blanked(near()):
        return ["its new lines are indented with tabs, the file with blanks"]
    if blanked and not _blanked(near()) and _tabbed(near()):
        return ["its new lines are indented with blanks, the file with tabs"]
    return []


def other_ends(painter: Painter, ops: Sequence[tuple[str, str, Hunk | None]]) -> list[str]:
    """The flag of added lines whose ends may not be meant, as those that are quoted are not right.

    Either blanks were put on, or they were cut off: then a blank line, or one of the file that
    comes again, may have lost them.
    """
    new = [text for op, text, _ in ops if op == "+"]
    old = [text for op, text, _ in ops if op != "+"]
    there = [line.rstrip("\r\n") for line in painter.base]
    if not new or old == there:
        return []
    if len(old) == len(there):
        pairs = [(text, line) for text, line in zip(old, there, strict=True) if text != line]
        old, there = [text for text, _ in pairs], [line for _, line in pairs]
    if any(map(_end_of, new)) and set(map(_end_of, old)) - {"", *map(_end_of, there)}:
        return ["lines end with blanks that are not in the file"]
    hidden = {line.strip() for line in there if _end_of(line)}
    if any(text.strip() in hidden and not _end_of(text) for text in new):
        return ["blanks at the ends of lines are not quoted as the file has them"]
    return []


def _end_of(line: str) -> str:
    """The blanks at its end."""
    return line[len(line.rstrip(" \t")) :]


def _tabbed(lines: Iterable[str]) -> bool:
    return any(map(_TABS.match, lines))


def _blanked(lines: Iterable[str]) -> bool:
    return any(line.startswith("  ") for line in lines)


def stands_behind(
    record: FileRecord, painter: Painter, ops: Sequence[tuple[str, str, Hunk | None]]
) -> str:
    """Why a section is done already: right behind the lines that it ends with stand the same.

    Only where these are all that it changes; a context line behind them would say where they
    belong. What another hunk of the same call put there is meant, too (B09).
    """
    added = next((n for n, (op, *_) in enumerate(reversed(ops)) if op != "+"), len(ops))
    if not added:
        return ""
    lines = [painter.indented(text) for _, text, _ in ops[len(ops) - added :]]
    if any(op != "=" for op, *_ in ops[: len(ops) - added]) or not any(map(str.strip, lines)):
        return ""
    row = painter.end
    if record.buffer.lines[row : row + added] != lines:
        return ""
    calls = {other.call_id for other in record.live.near(row, row + added)}
    if any(group.hunk.call_id in calls for group in painter.groups):
        return ""
    line = painter.row + len(painter.tags) - added + 1
    return f"already applied, its new text is already in the file at line {line}"


def stands_twice(
    record: FileRecord, painter: Painter, ops: Sequence[tuple[str, str, Hunk | None]]
) -> list[str]:
    """The flag of an insertion that the file seems to have: right above or below it, as said.

    What is put in may begin or end like the lines around it; then its context fits again once it
    is there, and nothing tells a second copy from the same patch twice.
    """
    if "-" in painter.tags:
        return []
    runs = [(op, list(run)) for op, run in groupby(ops, lambda one: one[0])]
    kinds = "".join(op for op, _ in runs)
    if kinds not in ("=+", "+=", "=+="):
        return []
    lead, added, tail = (
        [painter.indented(text) if op == "+" else text for _, text, _ in run]
        for op, run in (
            runs[0] if kinds[0] == "=" else ("=", []),
            runs[kinds.index("+")],
            runs[-1] if kinds[-1] == "=" else ("=", []),
        )
    )
    lines, row, count = record.buffer.lines, painter.row + len(lead), len(added)
    above, below = row - count, row + 2 * count
    twice = (
        above >= len(lead)
        and lines[above:row] == added
        and _alike(lines[above - len(lead) : above], lead)
    ) or (lines[row + count : below] == added and _alike(lines[below : below + len(tail)], tail))
    if not twice or not any(map(str.strip, added)):
        return []
    return ["the same lines stand right beside it: it may have been applied already"]


def _alike(lines: Sequence[str], others: Sequence[str]) -> bool:
    return [line.rstrip() for line in lines] == [line.rstrip() for line in others]


def leaves_out(ops: Sequence[tuple[str, str, Hunk | None]]) -> list[str]:
    """The flag of a section whose new lines say that text is left out there (EDITS.md 8)."""
    new = [text for op, text, _ in ops if op == "+" and is_placeholder(text)]
    if not new or set(new) <= {text for op, text, _ in ops if op != "+"}:
        return []
    return [LEFT_OUT]


def end_bare(
    documents: Documents, record: FileRecord, painter: Painter, owner: OpenSection | None
) -> None:
    """The last line that was added ends without a newline, if it is the file's last one."""
    buffer = record.buffer
    group = painter.groups[-1]
    row = painter.row + group.last - 1
    if not group.hunk.agent or row != file_rows(buffer) - 1 or not buffer.endings[row]:
        return
    where = ((row, len(buffer.lines[row])), (row + 1, 0))
    documents.apply_own(record, where, "", Maker(Author.MODEL, group.hunk, owner))
    group.hunk.agent = group.hunk.agent[:-1].removesuffix("\r")


def _landed(record: FileRecord, painter: Painter, group: Group) -> Hunk | None:
    """The same hunk, if it stands where this group is painted."""
    first, last = painter.row + group.first, painter.row + group.last
    wanted = (group.hunk.turn, "".join(group.base), "".join(group.agent))
    for other in record.live.near(first, last) if group.agent else ():
        if other.start is None or other.end is None:
            continue
        begin, end = other.start.line, other.end.line
        if (other.turn, other.base, other.agent) != wanted:
            continue
        if group.base:
            if begin <= first and first + len(group.base) <= end:
                return other
        elif end == first or begin == last:
            # what an earlier hunk of this very patch wrote may be quoted, to go on behind it
            quotes = painter.row < end and begin < painter.end
            if not (quotes and other.call_id == group.hunk.call_id):
                return other
    return None


LEAST_LINES = 10
"""Of a shorter file the half is soon gone."""


def flag_private(documents: Documents, hunks: Sequence[Hunk], call_id: str) -> None:
    """Flag what touches a secret by its name, or what says which files are ignored.

    A model need not have seen a file to give it another name, under which it is no secret.
    ``call_id`` is that of the hunks: of very many none is looked at where no name is odd.
    """
    targets = {hunk.target for hunk in documents.removals if hunk.call_id == call_id}
    names = {*documents.hunk_list.files_of(call_id), *targets}
    odd = {path for path in names if path and _private_flag([path])}
    for hunk in hunks if odd else ():
        if odd & {hunk.path, hunk.target}:
            _flag(hunk, _private_flag([path for path in (hunk.path, hunk.target) if path]))


OUTSIDE = "outside of the lines that you asked to have changed"


def flag_outside(documents: Documents, hunks: Sequence[Hunk]) -> None:
    """Flag what is not within the lines that the change was asked for, if it was for some."""
    asked = documents.asked_lines
    for hunk in hunks if asked is not None else ():
        placed = hunk.start is not None and hunk.end is not None and hunk.kind is Kind.EDIT
        here = asked is not None and hunk.path == asked.buffer.path
        if placed and here and asked is not None:
            assert hunk.start is not None
            assert hunk.end is not None
            here = asked.hold((hunk.start.line, hunk.end.line))
        if not here or hunk.kind is not Kind.EDIT:
            _flag(hunk, OUTSIDE)


LOST_CHARACTER = "\ufffd"
"""Stands for NUL and for half a character: no text can hold these."""


def flag_lost(hunks: Sequence[Hunk]) -> None:
    """Flag what put in more of these than it took out."""
    for hunk in hunks:
        if hunk.agent.count(LOST_CHARACTER) > hunk.base.count(LOST_CHARACTER):
            _flag(hunk, "a character that no text can hold was replaced by U+FFFD")


def _private_flag(paths: list[str]) -> str:
    reason = next(filter(None, map(why_private, paths)), "")
    if reason:
        return f"a private file: {reason}"
    return "it says which files are ignored" if any(map(is_ignore_file, paths)) else ""


def flag_shrunken(documents: Documents, hunks: Sequence[Hunk], call_id: str) -> None:
    """Flag the hunks that take lines away, if more than half of a file's lines go."""
    paths = documents.hunk_list.files_of(call_id)
    by_path: dict[str, list[Hunk]] = {
        path: [] for path in paths if _may_be_shrunken(documents, path)
    }
    for hunk in hunks if by_path else ():
        landed = hunk.kind is not Kind.DELETE and hunk.stage in PLACED
        if landed and hunk.path in by_path:
            by_path[hunk.path].append(hunk)
    for path, shrinking in by_path.items():
        gone = sum(hunk.removed - hunk.added for hunk in shrinking)
        before = gone + _rows(documents, path)
        if before < LEAST_LINES or 2 * gone <= before:
            continue
        for hunk in shrinking:
            if hunk.removed > hunk.added:
                _flag(hunk, f"shrink: {gone} of {before} lines of the file go")


def _flag(hunk: Hunk, words: str) -> None:
    if words not in hunk.flags:  # a patch that was cut and went on ends twice
        hunk.flags += (words,)


def _may_be_shrunken(documents: Documents, path: str) -> bool:
    """Whether hunks took more lines away than there are now, whatever they added."""
    return sum(tally.removed for tally in documents.hunk_list.in_file(path)) > _rows(
        documents, path
    )


def _rows(documents: Documents, path: str) -> int:
    record = documents.records.get(path)
    return file_rows(record.buffer) if record is not None else 0

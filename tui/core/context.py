"""What a request says besides the user's words: the open files and what changed since.

The memory of what was sent lives here, so that on a chain only buffers whose text changed are
quoted again; a request that starts over quotes them all. Everything is stated from the records
as they are now (EDITS.md section 10), never from what the model asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct

from tui.core.attachments import span_words
from tui.core.document.file_record import UserChange
from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.document.report import HunkAccount, Presence, QuoteQuota, shown
from tui.core.files import GitMove, counted, file_block, first_of
from tui.core.steps import Work, finished, in_parts
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.core.text.diff import blocks

WHOLE_LIMIT_CHARS = 60_000
"""Longer files are quoted around the cursor only."""
WINDOW_CHARS = 30_000
TOTAL_LIMIT_CHARS = 240_000
"""For all files of one request."""
_HEADER_CHARS = 300
"""What stands around a quoted part."""
Rows = tuple[int, int]
"""The first and the last one."""


class FileInContext(Struct, frozen=True):
    """A buffer that the user has open or that a hunk waits in."""

    buffer: Buffer
    active: bool = False
    cursor: Position | None = None
    selection: tuple[Position, Position] | None = None
    private: str = ""
    """Why its text is not sent; empty if it is."""
    read_only: str = ""
    """Why nobody may edit it, as a sentence."""
    view: bool = False
    """Its text cannot be quoted: it is a part of the file, or a picture of its bytes."""
    attached: bool = False
    """A prompt named it; while it is as it was sent, nothing is said of it."""
    lines: tuple[int, int] | None = None
    """First and last line that are attached, 1-based, as they are now; None: all."""
    called: str = ""
    """What the user named; empty: its path and lines."""

    @property
    def name(self) -> str:
        """Its path, with the lines that are meant; the same when these are others."""
        if self.called:
            return self.called
        path = self.buffer.path
        return path if self.lines is None else f"{path}:{span_words(self.lines)}"


class CutAnswer(Struct, frozen=True):
    """An answer that did not come to its end."""

    turn: int
    chars: int
    """Output that had arrived."""
    how: str = "was interrupted by the user"


class PatchInProse(Struct, frozen=True):
    """A patch that came in a message: there is no call to answer."""

    hunks: Sequence[Hunk]
    failure: str
    """Why it is none, or was read only so far; empty if nothing is wrong."""
    was_cut: bool


class Changes(Struct):
    """What happened since the last request."""

    edits: Sequence[UserChange] = ()
    formatted: Sequence[UserChange] = ()
    """What the formatter changed after a save."""
    others: Sequence[UserChange] = ()
    """What other programs changed on the disk, in files that the model knows."""
    moves: Sequence[GitMove] = ()
    """What git did to the files on the disk."""
    hunks: Sequence[Hunk] = ()
    """Those that are not as the model was told: landed, cut, decided on, taken back."""
    cut: CutAnswer | None = None
    """The last answer, if it did not come to its end."""
    kept: bool = False
    """The cut answer left something in the buffers."""
    prose: Sequence[PatchInProse] = ()
    appeared: Sequence[str] = ()
    """Paths that the file list did not have."""
    vanished: Sequence[str] = ()
    ended: Sequence[str] = ()
    """Commands of the background that ended, in words."""


class Context:
    """Quotes the open files; remembers which text of a file was sent."""

    def __init__(self) -> None:
        self._sent: dict[str, _SentText] = {}
        """By what a file, or some lines of it, are called."""
        self._told: set[_ToldChange] = set()
        self._said: set[str] = set()
        """Why files are not quoted, as it was told."""
        self._cut: list[tuple[str, Rows, int]] = []

    def told(self, changes: Iterable[UserChange]) -> None:
        """The next message stands behind one that quotes these: it does not say them again."""
        self._told |= {_ToldChange.of(change) for change in changes}

    def forget(self) -> None:
        """The next message quotes all files."""
        self._sent, self._told, self._said = {}, set(), set()

    def message(
        self, files: Sequence[FileInContext], *, full: bool, room: int = TOTAL_LIMIT_CHARS
    ) -> str:
        """The open files that the model has not seen like this; empty if there are none.

        ``room``: characters that they may take.
        """
        if full:
            self.forget()
        quoted, named = self._files(files, min(room, TOTAL_LIMIT_CHARS))
        self._told = set()
        parts = []
        if quoted:
            parts.append("Open files, as they stand in the editor now:\n" + "\n".join(quoted))
        if named:
            parts.append("\n".join(named))
        return "\n\n".join(parts)

    def take_cut(self) -> list[tuple[str, Rows, int]]:
        """Of which files only some lines were quoted since it was asked last: path, lines, all."""
        cut, self._cut = self._cut, []
        return cut

    def _files(self, files: Sequence[FileInContext], left: int) -> tuple[list[str], list[str]]:
        quoted: list[str] = []
        named: list[str] = []
        for file in sorted(files, key=lambda f: (not f.active, f.buffer.path)):
            path = file.buffer.path
            if why := _unquoted(file):
                if not (file.attached and why in self._said):
                    named.append(why)
                self._said.add(why)
            elif known := self._knows(file):
                if not file.attached:
                    named.append(f"{path} is {known}{_where(file)}.")
            else:
                rows = quoted_rows(file, left - _HEADER_CHARS)
                block = self._changed(file) or quote(file, rows)
                if len(block) > left:
                    named.append(f"{file.name} is open; too long to quote here, use read_file.")
                    continue
                left -= len(block)
                self._sent[file.name] = _SentText.of(file, rows)
                quoted.append(block)
                if rows != _wanted(file) and block.startswith("<file"):
                    named.append(self._say_cut(file, rows))
        return quoted, named

    def _say_cut(self, file: FileInContext, rows: Rows) -> str:
        path, count = file.buffer.path, file.buffer.line_count
        lines = (rows[0] + 1, rows[1] + 1)
        self._cut.append((path, lines, count))
        return f"Of {path} only lines {span_words(lines)} of {count} are quoted; read_file has all."

    def is_new(self, file: FileInContext) -> bool:
        """Whether nothing of it was sent."""
        return file.name not in self._sent

    def _knows(self, file: FileInContext) -> str:
        """How a text stands to what the model was sent; of lines that are attached only these.

        Empty: it has to be told.
        """
        sent, buffer = self._sent.get(file.name), file.buffer
        if sent is None or sent.buffer != id(buffer) or not sent.has(file.selection):
            return ""
        if sent.revision == buffer.revision:
            return "unchanged since you last saw it"
        ends_told = any(one.path == buffer.path and one.old == one.new for one in self._told)
        if not sent.lines or (sent.returns != _returns(file) and not ends_told):
            return ""
        new = _lines_of(file)
        changed = (
            _ToldChange(buffer.path, tuple(sent.lines[a:b]), tuple(new[c:d]))
            for a, b, c, d in blocks(sent.lines, new)
        )
        if not self._told.issuperset(changed):
            return ""
        self._sent[file.name] = _SentText.of(file, sent.rows)
        return "as you last saw it, with the changes told above"

    def _changed(self, file: FileInContext) -> str:
        """How a text differs from what was sent; empty: it is better sent anew."""
        sent = self._sent.get(file.name)
        if sent is None or not sent.lines or sent.returns != _returns(file):
            return ""
        new, above = _lines_of(file), (file.lines or (1, 1))[0]
        parts = [
            f"@@ -{one.old_first + above},{one.old_last - one.old_first}"
            f" +{one.new_first + above},{one.new_last - one.new_first} @@\n"
            + "".join(f"-{line}\n" for line in sent.lines[one.old_first : one.old_last])
            + "".join(f"+{line}\n" for line in new[one.new_first : one.new_last])
            for one in blocks(sent.lines, new)
        ]
        text = "".join(parts)
        if not parts or 2 * len(text) > sum(map(len, new)):
            return ""
        return file_block(file.buffer.path, text, tag="changed", **_attributes(file))


class _ToldChange(NamedTuple):
    """A changed region, as a message to the model quoted it."""

    path: str
    old: Sequence[str]
    new: Sequence[str]

    @classmethod
    def of(cls, change: UserChange) -> _ToldChange:
        old, new = change.old_text.splitlines(), change.new_text.splitlines()
        return cls(change.path, tuple(old), tuple(new))


class _SentText(NamedTuple):
    """What a model was sent of a file."""

    buffer: int
    """Its identity."""
    revision: int
    rows: Rows
    lines: Sequence[str]
    """A difference is told from them; none: the text is too long for that."""
    returns: int
    """How many of its endings have a carriage return."""

    @classmethod
    def of(cls, file: FileInContext, rows: Rows) -> _SentText:
        whole = file.attached or rows == _wanted(file)
        lines = _lines_of(file) if whole else ()
        return cls(id(file.buffer), file.buffer.revision, rows, lines, _returns(file))

    def has(self, selection: tuple[Position, Position] | None) -> bool:
        """Whether lines that are selected now are among those that were quoted."""
        if selection is None or self.lines or selection[0] == selection[1]:
            return True
        (first, _), (last, _) = sorted(selection)
        return self.rows[0] <= first and last <= self.rows[1]


def _unquoted(file: FileInContext) -> str:
    """Why a file is not quoted, in words; empty: it is."""
    how = f"{file.buffer.path} is {'attached' if file.attached else 'open'} but"
    if file.view:
        return f"{how} cannot be quoted: {file.read_only}."
    if file.private:
        return f"{how} its text is not sent: {file.private}. read_file asks the user for it."
    return ""


def _returns(file: FileInContext) -> int:
    return file.buffer.endings.count("\r\n")


def _lines_of(file: FileInContext) -> Sequence[str]:
    lines = file.buffer.lines
    return lines.copy() if file.lines is None else lines[file.lines[0] - 1 : file.lines[1]]


def quote(file: FileInContext, rows: Rows | None = None) -> str:
    """A file's block: whole, or the part around the cursor if it is long."""
    buffer, attributes = file.buffer, _attributes(file)
    first, last = quoted_rows(file) if rows is None else rows
    if file.read_only:
        attributes["writable"] = "no"
    if file.lines is None and (first, last) == (0, buffer.line_count - 1):
        return file_block(buffer.path, buffer.text(), **attributes)
    text = buffer.slice((first, 0), (last, len(buffer.lines[last])))
    attributes |= {"from_": str(first + 1), "to": str(last + 1), "lines": str(buffer.line_count)}
    return file_block(buffer.path, text, **attributes)


def _attributes(file: FileInContext) -> dict[str, str]:
    """What a block says of its file: how it is open, and where the user is in it."""
    found = {"state": "attached" if file.attached else "active" if file.active else "open"}
    if file.cursor is not None:
        found["cursor"] = place(file.cursor)
    if file.selection is not None and file.selection[0] != file.selection[1]:
        found["selection"] = "-".join(place(p) for p in sorted(file.selection))
    return found


def _wanted(file: FileInContext) -> Rows:
    """The rows that would be quoted if there were room."""
    count = file.buffer.line_count
    return (
        (0, count - 1) if file.lines is None else (file.lines[0] - 1, min(file.lines[1], count) - 1)
    )


def quoted_rows(file: FileInContext, room: int = TOTAL_LIMIT_CHARS) -> Rows:
    """The rows that are quoted: all, or some around the selection or the cursor."""
    buffer, (first, last) = file.buffer, _wanted(file)
    limit = room if file.lines is not None else min(room, WHOLE_LIMIT_CHARS)
    if last - first < limit:  # each line has an ending
        lines = buffer.lines if file.lines is None else buffer.lines[first : last + 1]
        if sum(map(len, lines)) + len(lines) <= limit:
            return first, last
    row = file.cursor[0] if file.cursor else 0
    if file.selection is not None and file.selection[0] != file.selection[1]:
        row = sorted(file.selection)[0][0]
    return window(buffer, min(max(row, first), last), min(room, WINDOW_CHARS), (first, last))


def window(buffer: Buffer, line: int, chars: int = WINDOW_CHARS, rows: Rows | None = None) -> Rows:
    """First and last line around ``line`` that fit ``chars``; at least that line.

    ``rows``: none but these.
    """
    top, bottom = rows or (0, buffer.line_count - 1)
    first = last = min(max(line, top), bottom)
    size = len(buffer.lines[first])
    while True:
        grown = False
        if first > top and size + len(buffer.lines[first - 1]) < chars:
            first -= 1
            size += len(buffer.lines[first]) + 1
            grown = True
        if last < bottom and size + len(buffer.lines[last + 1]) < chars:
            last += 1
            size += len(buffer.lines[last]) + 1
            grown = True
        if not grown:
            return first, last


def place(position: Position) -> str:
    """A position as people count: line and column from 1."""
    return f"{position[0] + 1}:{position[1] + 1}"


def _where(file: FileInContext) -> str:
    words = " (active" if file.active else " (open"
    if file.cursor is not None:
        words += f", cursor {place(file.cursor)}"
    if file.selection is not None and file.selection[0] != file.selection[1]:
        words += ", selection " + "-".join(place(p) for p in sorted(file.selection))
    return words + ")"


def hunks_message(changes: Changes, account: HunkAccount) -> Work[list[str]]:
    """What `changes_message` says of answers and hunks; nothing is changed by it."""
    parts = []
    if changes.cut is not None:
        parts.append(_cut_words(changes.cut, changes.hunks, kept=changes.kept))
    for patch in changes.prose:
        parts.append((yield from _prose_words(patch, account)))
    if changes.hunks:
        keeps = yield from account.keeps_any(changes.hunks)
        head = "Your hunks as they stand now" + (
            "; do not send kept hunks again:" if keeps else ":"
        )
        parts.append("\n".join([head, *(yield from account.of(changes.hunks))]))
    return parts


def changes_message(
    changes: Changes, account: HunkAccount, of_hunks: Sequence[str] | None = None
) -> str:
    """What changed since the last request, one paragraph a kind; empty if nothing did.

    ``of_hunks``: what `hunks_message` says, where it is known.
    """
    parts = list(finished(hunks_message(changes, account)) if of_hunks is None else of_hunks)
    if changes.edits:
        edits = _edits(changes.edits, account.quota)
        parts.append("\n".join(["The user edited meanwhile:", *edits]))
    if changes.formatted:
        head = "The formatter changed this after a save; the user did not:"
        parts.append("\n".join([head, *_edits(changes.formatted, account.quota)]))
    if changes.others:
        head = "Another program changed this on the disk; the user did not:"
        parts.append("\n".join([head, *_edits(changes.others, account.quota)]))
    parts += [
        f"git changed these files on the disk ({shown(move.words)}): {_some(move.paths)}. "
        "What you know of them may be outdated: read again what you need."
        for move in changes.moves
    ]
    if changes.appeared:
        parts.append("New files: " + _some(changes.appeared))
    if changes.vanished:
        parts.append("Files that are gone: " + _some(changes.vanished))
    if changes.ended:
        parts.append("Ended in the background: " + "; ".join(changes.ended))
    return "\n\n".join(filter(None, parts))


def _cut_words(cut: CutAnswer, hunks: Iterable[Hunk], *, kept: bool) -> str:
    head = f"Your last answer {cut.how} after {cut.chars} characters."
    told = any(hunk.turn == cut.turn for hunk in hunks)
    return head if told or kept else f"{head}\nNone of it changed a file."


def _prose_words(patch: PatchInProse, account: HunkAccount) -> Work[str]:
    """Of a patch in a message, what its hunks do not say."""
    whole = not (patch.failure or patch.was_cut)
    if whole and not (yield from account.lost(patch.hunks)):
        return ""
    words = yield from account.headline(patch.hunks, patch.failure, was_cut=patch.was_cut)
    return f"In your message, {words}"


def user_edit(edit: UserChange, quota: QuoteQuota) -> str:
    """One region that the user changed, as removed and added lines."""
    removed, added = edit.old_text.splitlines(), edit.new_text.splitlines()
    where = f"{shown(edit.path)} at line {edit.first_line + 1}"
    if removed == added:  # perhaps of the whole file
        ends = f"from {_ends(edit.old_text)} to {_ends(edit.new_text)}"
        return f"{where}: of {counted(len(added), 'line')} only the endings changed, {ends}"
    quoted = [f"{sign}{line}" for sign, lines in (("-", removed), ("+", added)) for line in lines]
    return f"{where}:\n" + quota.take("\n".join(quoted))


def _ends(text: str) -> str:
    """The endings of its lines, in words."""
    rest = text.replace("\r\n", "")
    found = ["CRLF"] * ("\r\n" in text) + ["LF"] * ("\n" in rest) + ["CR"] * ("\r" in rest)
    return " and ".join(found) or "none"


def _edits(edits: Sequence[UserChange], quota: QuoteQuota) -> list[str]:
    """Regions that somebody changed: quoted as far as they may be, the others by their lines."""
    parts: list[str] = []
    places: dict[str, list[str]] = {}
    for edit in edits:
        if quota.left > 0:
            parts.append(user_edit(edit, quota))
        else:
            places.setdefault(edit.path, []).append(str(edit.first_line + 1))
    for path, lines in islice(places.items(), _MOST_NAMED):
        where = f"line {lines[0]}" if len(lines) == 1 else f"lines {_some(lines)}"
        parts.append(f"{shown(path)} at {where} (not quoted here; use read_file)")
    if len(places) > _MOST_NAMED:
        parts.append(f"and {len(places) - _MOST_NAMED} more files (use read_file)")
    return parts


_MOST_NAMED = 100
"""Files of which only the places that changed are named."""


def _some(paths: Sequence[str]) -> str:
    return first_of([*map(shown, paths)], _MOST_NAMED)


State = tuple[Stage, Decision, str, Presence]
States = dict[int, State]
"""By the hunks' ids."""
NOTHING: Mapping[int, State] = MappingProxyType({})


class Told:
    """The state of every hunk as the model of this conversation knows it."""

    def __init__(self, presence: Callable[[Hunk], Presence] = lambda hunk: Presence.WHOLE) -> None:
        """``presence`` says if a hunk's text still is in its file."""
        self._presence = presence
        self._kinds: list[State] = [_FRESH]
        self._numbers = {_FRESH: 0}
        """What is known of a hunk, of any number of them once, and its place among that."""
        self._known = array("I")
        """By the hunks' ids, the number of what is known of each."""
        self._revision = -1

    def mark(self, hunks: Iterable[Hunk]) -> None:
        """The model is told of these as they are now."""
        self.know(finished(self.states(hunks)), self._revision)

    def forget(self, hunks: Iterable[Hunk]) -> None:
        """The model knows no more of these than that they landed."""
        landed: State = (Stage.LANDED, Decision.PENDING, "", Presence.WHOLE)
        self.know({hunk.id: landed for hunk in hunks}, -1)

    def states(self, hunks: Iterable[Hunk]) -> Work[States]:
        """What `mark` notes, and changes nothing."""
        states: States = {}
        for part in in_parts(hunks):
            for hunk in part:
                states[hunk.id] = self._kinds[self._number(self._state(hunk))]
            yield len(part)
        return states

    def know(self, states: Mapping[int, State], revision: int) -> None:
        """The model is told this, and of all that was new at ``revision``."""
        if states and (lacking := max(states) + 1 - len(self._known)) > 0:
            self._known.extend([0] * lacking)
        for hunk_id, state in states.items():
            self._known[hunk_id] = self._number(state)
        self._revision = revision

    def news(
        self, hunks: Iterable[Hunk], revision: int, told: Mapping[int, State] = NOTHING
    ) -> Work[list[Hunk]]:
        """The hunks that are not as the model knows them, in order; one that lands is none yet.

        ``revision`` grows with stages, decisions and what others write in hunks: while it is the
        same there is nothing new. ``told``: what the model is told before.
        """
        news: list[Hunk] = []
        for part in in_parts(hunks if revision != self._revision else ()):
            news += [
                hunk
                for hunk in part
                if not hunk.comes_in
                and told.get(hunk.id, self._knows(hunk.id)) != self._state(hunk)
            ]
            yield len(part)
        return news

    def taken_back(
        self, hunks: Iterable[Hunk], told: Mapping[int, State] = NOTHING
    ) -> Work[frozenset[int]]:
        """Ids of those that are pending, and of which the model knows a decision."""
        ids: list[int] = []
        for part in in_parts(hunks):
            for hunk in part:
                known = told.get(hunk.id, self._knows(hunk.id))
                back = known[1] is not Decision.PENDING
                ids += [hunk.id] if back and hunk.decision is Decision.PENDING else []
            yield len(part)
        return frozenset(ids)

    def _knows(self, hunk_id: int) -> State:
        """What the model knows of a hunk."""
        return self._kinds[self._known[hunk_id]] if hunk_id < len(self._known) else _FRESH

    def _number(self, state: State) -> int:
        if (number := self._numbers.get(state)) is None:
            number = self._numbers[state] = len(self._kinds)
            self._kinds.append(state)
        return number

    def _state(self, hunk: Hunk) -> State:
        """What is said of it; of one that was rejected only whether its text is in the file."""
        out = hunk.decision is Decision.REJECTED and not hunk.stands_edited
        stage = Stage.REFUSED if out else hunk.stage
        return (stage, hunk.decision, hunk.words, self._presence(hunk))


_FRESH: State = (Stage.READING, Decision.PENDING, "", Presence.WHOLE)

"""What a model is told of its hunks: from their records as they stand, not from what it sent.

EDITS.md section 10: every hunk by its number with what became of it and where it is now, every
file with its hash and whether that lies on the disk, the text of the regions that are not what
the patch says, and never ``reverted`` unless the hash says so (cline#10927). The user or the disk
may take a hunk's lines away without a decision: nobody may be told that its text is kept. Of a
private file (`Private`) nothing is quoted, and not its hash either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from itertools import groupby

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord, Layer, UserChange
from tui.core.document.hunk import (
    OPEN,
    PLACED,
    REPLACED,
    TAKEN_BACK,
    UNDONE,
    Decision,
    Hunk,
    Kind,
    Stage,
)
from tui.core.files import counted
from tui.core.steps import Work, in_parts
from tui.core.text.change_set import Author
from tui.core.text.patterns import pattern
from tui.core.text.rows import file_rows, row_count, rows_text

_IN = (Decision.PENDING, Decision.ACCEPTED)
_WHO = {Author.USER: "the user", Author.DISK: "another program", Author.TOOL: "the formatter"}


class Presence(StrEnum):
    """What became of the text of a hunk that is placed."""

    WHOLE = "whole"
    """As the model wrote it, or wrote over it itself."""
    EDITED = "edited"
    """Somebody else changed a part of it."""
    GONE = "gone"
    """The old text is back, or nothing is left."""


def presence(documents: Documents, hunk: Hunk) -> Presence:
    """How a hunk's text stands now. Cheap for those in which nobody else has written."""
    layer = documents.layers.get(hunk.id)
    if layer is None or layer.changed_by is None or hunk.kind not in (Kind.EDIT, Kind.ADD):
        return Presence.WHOLE
    record = documents.records.get(hunk.path)
    if record is None or record.gone or hunk not in record.live:
        return Presence.WHOLE
    now = _rows(record, hunk)
    if now == hunk.agent:
        return Presence.GONE if not now and _is_back(record, hunk) else Presence.WHOLE
    above = [one for one in reversed(layer.above) if one in record.live]
    if any(_rows(record, one) == one.agent for one in above):
        return Presence.WHOLE
    if not now or now == hunk.base:
        return Presence.GONE
    by_disk = layer.changed_by is Author.DISK
    return Presence.GONE if by_disk and _is_old(hunk, now) else Presence.EDITED


def is_kept(documents: Documents, hunk: Hunk) -> bool:
    """True if its text is in the buffer, and nobody has rejected it."""
    placed = hunk.stage in PLACED and hunk.decision in _IN
    return placed and presence(documents, hunk) is not Presence.GONE


def odd_ones(documents: Documents, hunks: Iterable[Hunk]) -> Work[list[Hunk]]:
    """The hunks of which more is to be said than whether they are accepted.

    All others landed whole, nothing is odd about them, and nobody wrote in their lines since:
    of a hundred thousand hunks that is all that is looked at one by one.
    """
    layers, landed, rejected = documents.layers, Stage.LANDED, Decision.REJECTED
    found: list[Hunk] = []
    for part in in_parts(hunks):
        found += [
            hunk
            for hunk in part
            if hunk.stage is not landed
            or hunk.flags
            or hunk.decision is rejected
            or ((layer := layers.get(hunk.id)) is not None and (layer.changed_by or layer.above))
        ]
        yield len(part)
    return found


def not_kept(documents: Documents, hunks: Iterable[Hunk]) -> Work[list[Hunk]]:
    """The hunks of which the text is not in the buffer, or that the user has rejected."""
    lost: list[Hunk] = []
    for part in in_parts((yield from odd_ones(documents, hunks))):
        lost += [hunk for hunk in part if not is_kept(documents, hunk)]
        yield len(part)
    return lost


def any_kept(documents: Documents, hunks: Iterable[Hunk]) -> Work[bool]:
    """True if the text of one is in its buffer, and nobody has rejected it."""
    for part in in_parts(hunks):
        if any(is_kept(documents, hunk) for hunk in part):
            return True
        yield len(part)
    return False


def changed_by(documents: Documents, hunk: Hunk) -> str:
    """Who wrote last in a hunk's lines; empty if nobody but models did."""
    who = documents.layers[hunk.id].changed_by
    return _WHO.get(who, "") if who else ""


def _rows(record: FileRecord, hunk: Hunk) -> str:
    if hunk.start is None or hunk.end is None:
        return ""
    return rows_text(record.buffer, hunk.start.line, hunk.end.line)


def _is_back(record: FileRecord, hunk: Hunk) -> bool:
    """True if the lines that a hunk took out stand where they were."""
    if hunk.start is None or not hunk.base:
        return False
    at, count = hunk.start.line, row_count(hunk.base)
    beside = ((max(0, at - count), at), (at, at + count))
    return any(rows_text(record.buffer, first, last) == hunk.base for first, last in beside)


def _is_old(hunk: Hunk, now: str) -> bool:
    """True for rows, drawn together by a change around them, that have the old lines only."""
    lines = set(now.splitlines())
    new = set(hunk.agent.splitlines()) - set(hunk.base.splitlines())
    old = f"\n{hunk.base}" in f"\n{now}" if hunk.base else False
    return old and bool(new or not hunk.agent) and not new & lines


Private = Callable[[str], str]
"""Why nothing of a path may be quoted; empty if it may."""
QUOTE_CHARS = 6000
"""About 1,500 tokens: what is quoted of the changed regions at most, in one message."""
SHA_CHARS = 8
"""Of the SHA-256 of a file's bytes, in hexadecimal digits."""
_AROUND = 2
LINES_CHARS = 12_000
"""What is said of the hunks one by one at most, in one message; then they are counted."""
_QUOTES = pattern("; line [0-9]+ of the file has |; the indentation differs |, first ['\"]")
"""Where in a reason the quotations begin."""
_OF_USER = pattern("^you ")
"""Reasons are written for the user."""
_RANGES = 60
"""Of the hunks that are only counted, so many groups are named."""
_IT_IS_OUT = "it is not in the file"
_LAST_CHARS = 100
"""Of the line in which a hunk was cut, so many at its end are quoted beside it."""
_MANY = 20
"""From so many hunks of a file on, neighbours of which all went well share a line."""


def open_to_all(path: str) -> str:
    """No file is private."""
    return ""


class QuoteQuota:
    """Characters that may still be quoted in a message."""

    def __init__(self, left: int = QUOTE_CHARS) -> None:
        self.left = left

    def take(self, text: str) -> str:
        """The text, cut to what is left."""
        if not text:
            return ""
        if self.left <= 0:
            return "(not quoted here; use read_file)"
        cut = text if len(text) <= self.left else text[: self.left] + "\n(cut)"
        self.left -= len(text)
        return cut


class HunkAccount:
    """Says what hunks are now; one for each message, for what it quotes is limited."""

    def __init__(self, documents: Documents, private: Private = open_to_all) -> None:
        self.quota = QuoteQuota()
        self._room = LINES_CHARS
        self._reasons = QuoteQuota(QUOTE_CHARS // 2)
        """The part of the quota that reasons may take: what is there now is of more use."""
        self.before: Callable[[str], str | None] = lambda path: None
        """The hash that a file had before the model's edits (empty: there was no such file)."""
        self.again: frozenset[int] = frozenset()
        """Ids of hunks of which a decision was told that the user has taken back."""
        self.differs: Callable[[str], Iterable[UserChange]] = lambda path: ()
        """What others changed in a file and the same message tells, line by line."""
        self._documents = documents
        self._private = private

    def of(self, hunks: Sequence[Hunk], odd: Sequence[Hunk] | None = None) -> Work[list[str]]:
        """A line for each file and hunk, then the current text where it is not as expected.

        ``odd``: what `odd_ones` says of them, where it is known.
        """
        parts: list[str] = []
        groups: dict[str, list[Hunk]] = {}
        for some in in_parts(hunks):
            for hunk in some:
                groups.setdefault(hunk.path, []).append(hunk)
            yield len(some)
        if odd is None:
            odd = yield from odd_ones(self._documents, hunks)
        among = frozenset(odd)
        for path, group in groups.items():
            parts.append(f"{(yield from self.file(path, group))}:")
            parts += yield from self._lines(group, among)
        return parts + (yield from self.regions(odd))

    def keeps_any(self, hunks: Iterable[Hunk]) -> Work[bool]:
        """True if the text of one is in its buffer, and nobody has rejected it."""
        return any_kept(self._documents, hunks)

    def lost(self, hunks: Iterable[Hunk]) -> Work[list[Hunk]]:
        """Those of which the text is not in the buffer, or that the user has rejected."""
        return not_kept(self._documents, hunks)

    def headline(self, hunks: Sequence[Hunk], failure: str, *, was_cut: bool) -> Work[str]:
        """What became of a patch as a whole, in a line."""
        out = yield from self.lost(hunks)
        return headline(hunks, out, failure, was_cut=was_cut)

    def file(self, path: str, hunks: Sequence[Hunk] = ()) -> Work[str]:
        """A file's name with its state and hash; of these hunks, whether it is as before them."""
        record = self._documents.records.get(path)
        if record is not None and record.gone:
            return f"{shown(path)} ({self._why_gone(hunks)})"
        if record is None or record.view or self._private(path):
            return shown(path)
        sha = file_sha(record)
        state = "saved" if record.disk is not None and _on_disk(record) else "unsaved"
        words = [state, f"sha {sha}"]
        others = [shown(name) for name, real in self._documents.links.items() if real == path]
        words += [f"written as '{other}'" for other in others]
        out = hunks and not (yield from any_kept(self._documents, list(record.live)))
        if out and any(hunk.decision is Decision.REJECTED for hunk in hunks):
            before = self.before(path)
            if before is not None and before == sha:
                words.append("reverted: byte for byte as before your edits")
        return f"{shown(path)} ({', '.join(words)})"

    def line(self, hunk: Hunk) -> str:
        """One hunk as it stands."""
        quotable = hunk.path not in self._documents.records or not self._private(hunk.path)
        words = hunk_words(self._documents, hunk, private=not quotable)
        quotes = None if hunk.stage in PLACED else _QUOTES.search(words)
        if quotes is not None and self._reasons.left > 0:
            self._reasons.left -= len(words) - quotes.start()
            self.quota.left -= len(words) - quotes.start()
        elif quotes is not None:
            words = words[: quotes.start()]
        return f"  hunk {hunk.id} {words}{self._taken_back(hunk)}"

    def _taken_back(self, hunk: Hunk) -> str:
        """What is said behind the state of a hunk of which the model knows a decision."""
        back = hunk.id in self.again and hunk.decision is Decision.PENDING
        return ", the user took the decision back" if back else ""

    def regions(self, hunks: Iterable[Hunk]) -> Work[list[str]]:
        """The current text where a hunk is placed loosely, in part, not at all, or was edited."""
        wanted: dict[str, list[tuple[int, int]]] = {}
        for part in in_parts(hunks):
            for hunk in part:
                if (span := self._region(hunk)) is not None:
                    wanted.setdefault(hunk.path, []).append(span)
            yield len(part)
        parts: list[str] = []
        for path, spans in wanted.items():
            for first, last in _joined(spans):
                if self.quota.left <= 0:
                    return [*parts, "More is changed than is quoted here; use read_file."]
                text = rows_text(self._documents.records[path].buffer, first, last)
                if text:
                    where = f"Current text of {shown(path)}, {row_words(first, last)}"
                    parts.append(f"{where}:\n{self.quota.take(text.rstrip(chr(10)))}")
        return parts

    def _region(self, hunk: Hunk) -> tuple[int, int] | None:
        """The rows to be quoted for a hunk, with some around; None: nothing is."""
        record = self._documents.records.get(hunk.path)
        if record is None or record.view or record.gone or self._private(hunk.path):
            return None
        span = _odd_rows(record, hunk, self._documents.layers[hunk.id])
        if span is None or (_is_as_sent(hunk) and _is_within(span, self.differs(hunk.path))):
            return None
        return max(0, span[0] - _AROUND), min(file_rows(record.buffer), span[1] + _AROUND)

    def _lines(self, hunks: Sequence[Hunk], odd: frozenset[Hunk]) -> Work[list[str]]:
        """A line a hunk; of very many, one for neighbours that all went well, in the end counts.

        ``odd``: those of which there may be more to say.
        """
        parts: list[str] = []
        rest: list[Hunk] = []

        def state(hunk: Hunk) -> str:
            words = _KEPT.get(hunk.decision, "")
            if hunk in odd:
                words = _state_if_smooth(self._documents, hunk)
            return words + self._taken_back(hunk) if words else ""

        runs: list[tuple[str, list[Hunk], _Numbers]] = []
        for part in in_parts(hunks):
            for smooth, found in groupby(part, state):
                some = list(found)
                if not runs or runs[-1][0] != smooth:
                    runs.append((smooth, [], _Numbers()))
                runs[-1][1].extend(some)
                runs[-1][2].take([hunk.id for hunk in some])
            yield len(part)
        for smooth, run, numbers in runs:
            if smooth and len(run) > 1 and len(hunks) >= _MANY and self._room > 0:
                parts.append(f"  {numbers} {smooth}")
                self._room -= len(parts[-1])
                continue
            for hunk in run:
                if self._room > 0:
                    parts.append(self.line(hunk))
                    self._room -= len(parts[-1])
                else:
                    rest.append(hunk)
        return parts + (yield from _counted(self._documents, rest))

    def _why_gone(self, hunks: Iterable[Hunk]) -> str:
        """Why there is no file at a path; that it was deleted only if it was."""
        took = {hunk.kind for hunk in hunks if is_kept(self._documents, hunk)}
        if Kind.DELETE in took:
            return "deleted"
        return "moved" if Kind.MOVE in took else "no such file"


def landing_report(
    documents: Documents,
    hunks: Sequence[Hunk],
    failure: str,
    was_cut: bool,
    private: Private = open_to_all,
) -> Work[str]:
    """What became of one patch; ``failure`` says why it is none, empty if it is one."""
    odd = yield from odd_ones(documents, hunks)
    out = yield from not_kept(documents, odd)
    head = headline(hunks, out, failure, was_cut=was_cut)
    parts = [head, *(yield from HunkAccount(documents, private).of(hunks, odd))]
    if len(out) < len(hunks) and (failure or was_cut or out):
        parts.append("Do not resend the hunks that are kept.")
    if any(hunk.stage is Stage.CANDIDATES for hunk in out):
        parts.append("Do not resend the hunks that the user is asked about.")
    return "\n".join(parts)


def headline(hunks: Sequence[Hunk], out: Sequence[Hunk], failure: str, *, was_cut: bool) -> str:
    """What became of a patch as a whole, in a line; ``out``: those of which nothing is kept."""
    count = len(hunks)
    placed = count - len(out)
    all_of = counted(count, "hunk")
    if failure:
        head = f"the patch is not valid, {failure}; nothing behind that was read"
    elif was_cut:
        head = "the patch was interrupted"
    else:
        head = "the patch was read"
        if hunks and placed == count:
            pending = any(hunk.decision is Decision.PENDING for hunk in hunks)
            return f"{head}: placed, {'pending review' if pending else 'accepted'} ({all_of})"
    return f"{head}: {placed} of {all_of} placed"


def hunk_words(documents: Documents, hunk: Hunk, *, private: bool = False) -> str:
    """A hunk in words: what became of it, and where it is now."""
    what = _WHAT.get(hunk.kind, "")
    if hunk.kind is Kind.MOVE:
        what = f"(the move to {shown(hunk.target)}) "
    stays = hunk.stands_edited
    if hunk.decision is Decision.REJECTED:
        where = "it is in the file as the user edited it" if stays else _IT_IS_OUT
        if hunk.stage is Stage.CUT:
            who = "" if hunk.reason == TAKEN_BACK else " by the user"
            said = f': "{shown(hunk.words)}"' if hunk.words not in ("", UNDONE) else ""
            return f"{what}{_cut_words(hunk)}, taken back{who}{said}; {where}"
        if hunk.words == UNDONE:
            return f"{what}taken back by the user; {where}"
        said = f': "{shown(hunk.words)}"' if hunk.words else ""
        said = f": {REPLACED}" if hunk.words == REPLACED else said
        return f"{what}rejected by the user{said}; {where}"
    if stays and hunk.start and hunk.end:
        rows = row_words(hunk.start.line, hunk.end.line)
        return f"{what}in the file as the user edited it, pending review, now {rows}"
    if hunk.stage is Stage.CANDIDATES and hunk.candidates:
        reason = "" if private else f": {hunk.reason}"
        return f"{what}not applied yet, the user is asked where{reason}"
    if hunk.stage in OPEN:
        return f"{what}still being placed"
    if hunk.stage not in PLACED:
        reason = hunk.stage.value if private else hunk.reason or hunk.stage.value
        reason = _OF_USER.sub("the user ", reason)
        cut = f", {_cut_words(hunk)}" if reason.startswith("incomplete:") else ""
        return f"{what}NOT applied: {reason}{cut}"
    words = ", ".join(_placed_words(documents, hunk))
    if hunk.stage is Stage.CUT and hunk.agent and not private and "as it stood" in words:
        words += f': "...{shown(hunk.agent.splitlines()[-1])[-_LAST_CHARS:]}"'
    return f"{what}{words}"


def _cut_words(hunk: Hunk) -> str:
    return f"cut after -{hunk.removed}/+{hunk.added} lines"


def _placed_words(documents: Documents, hunk: Hunk) -> list[str]:
    """What is said of a hunk that is placed: if its text is there, whose it is, where it is."""
    decision = "accepted" if hunk.decision is Decision.ACCEPTED else "pending review"
    now, who = presence(documents, hunk), changed_by(documents, hunk)
    if now is Presence.GONE:
        return [f"not in the file any more: {who} changed it", decision, *hunk.flags]
    words = ["kept", decision]
    if now is Presence.EDITED:
        words.insert(1, f"edited since by {who}")
    if hunk.stage is Stage.CUT and hunk.decision is Decision.ACCEPTED:
        how = "finished by the user" if now is Presence.EDITED else "kept by the user as it stood"
        words = [_cut_words(hunk), how]
    elif hunk.stage is Stage.CUT:
        words = [_cut_words(hunk), "not decided on by the user"]
    elif hunk.reason:
        words.append(hunk.reason)
    if hunk.kind is Kind.EDIT and hunk.start and hunk.end:
        words.append(f"now {row_words(hunk.start.line, hunk.end.line)}")
    return [*words, *hunk.flags]


_KEPT = {Decision.ACCEPTED: "kept, accepted", Decision.PENDING: "kept, pending review"}
_WHAT = {Kind.ADD: "(the whole file) ", Kind.DELETE: "(the deletion) "}


def file_sha(record: FileRecord) -> str:
    """The hash of a file as it stands in the editor, hunks and all."""
    return sha_of(record.buffer.encode())


def sha_of(data: bytes | None) -> str:
    """The first digits of the SHA-256 of a file's bytes; empty if there is no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()[:SHA_CHARS]


def row_words(first: int, last: int) -> str:
    """Rows ``first`` to ``last`` (0-based, the last not included) as people count lines."""
    if last <= first:
        return f"before line {first + 1}"
    return f"line {last}" if last == first + 1 else f"lines {first + 1}-{last}"


def shown(path: str) -> str:
    """A path with nothing in it that is not to be seen."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in path)


def _on_disk(record: FileRecord) -> bool:
    return record.buffer.encode() == record.disk


def _odd_rows(record: FileRecord, hunk: Hunk, layer: Layer) -> tuple[int, int] | None:
    """The rows to be quoted for a hunk; None: it is what the patch says, or nowhere near."""
    if hunk.kind is not Kind.EDIT:
        return None
    if hunk.stage in PLACED and hunk.start is not None and hunk.end is not None:
        alone = layer.changed_by is None and not layer.above
        plain = alone and not hunk.flags and hunk.stage is Stage.LANDED
        if hunk.decision is Decision.REJECTED or plain:
            return None
        first, last = hunk.start.line, hunk.end.line
        edited = rows_text(record.buffer, first, last) != hunk.agent
        odd = hunk.flags or edited or hunk.stage is Stage.CUT
        return (first, last) if odd else None
    if hunk.stage is Stage.CONFLICT and hunk.start is not None and hunk.end is not None:
        return hunk.start.line, hunk.end.line
    if hunk.stage in (Stage.REFUSED, Stage.CONFLICT) and hunk.near is not None:
        first = min(hunk.near, file_rows(record.buffer))
        return first, first + max(1, hunk.base.count("\n"))
    return None


def _is_as_sent(hunk: Hunk) -> bool:
    """True if a hunk landed as the patch says; it is odd only by what was done to it since."""
    return hunk.stage is Stage.LANDED and not hunk.flags


def _is_within(span: tuple[int, int], changes: Iterable[UserChange]) -> bool:
    """True if one of these changes is in, or at, these rows."""
    rows = ((one.first_line, one.first_line + row_count(one.new_text)) for one in changes)
    return any(first <= span[1] and span[0] <= last for first, last in rows)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that touch made one: no line is quoted twice."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def _counted(documents: Documents, hunks: Sequence[Hunk]) -> Work[list[str]]:
    """Hunks by what became of them: their numbers and no more."""
    states: dict[str, _Numbers] = {}
    for some in in_parts(hunks):
        for hunk in some:
            states.setdefault(_state(documents, hunk), _Numbers()).take((hunk.id,))
        yield len(some)
    return [f"  {numbers} {state}" for state, numbers in states.items()]


class _Numbers:
    """Many hunks by their numbers: no group has one in it that is not meant."""

    def __init__(self) -> None:
        self._groups: list[list[int]] = []
        """The first and the last of each."""

    def take(self, ids: Iterable[int]) -> None:
        """These, too."""
        groups = self._groups
        for number in ids:
            if groups and number == groups[-1][1] + 1:
                groups[-1][1] = number
            else:
                groups.append([number, number])

    def __str__(self) -> str:
        count = sum([last - first + 1 for first, last in self._groups])
        named = self._groups[:_RANGES]
        names = [f"{first}-{last}" if last > first else f"{first}" for first, last in named]
        more = ["..."] if len(self._groups) > _RANGES else []
        return f"hunks {', '.join(names + more)} ({count} of them)"


def _state(documents: Documents, hunk: Hunk) -> str:
    """What became of a hunk, in few words."""
    if hunk.decision is Decision.REJECTED:
        return "rejected by the user; they are not in the file"
    if hunk.stage is Stage.CANDIDATES and hunk.candidates:
        return "not applied yet, the user is asked where"
    if hunk.stage in OPEN:
        return "still being placed"
    if hunk.stage not in PLACED:
        return "NOT applied"
    if (now := presence(documents, hunk)) is not Presence.WHOLE:
        gone = f"not in the file any more: {changed_by(documents, hunk)} changed them"
        return gone if now is Presence.GONE else "kept, edited since"
    return _KEPT[hunk.decision]


def _state_if_smooth(documents: Documents, hunk: Hunk) -> str:
    """A hunk's state in words if there is nothing more to say of it; empty if there is."""
    if hunk.decision is Decision.REJECTED and hunk.kind is Kind.EDIT and not hunk.stands_edited:
        return hunk_words(documents, hunk).replace(_IT_IS_OUT, "they are not in the file")
    if hunk.stage is not Stage.LANDED or hunk.flags or hunk.decision is Decision.REJECTED:
        return ""
    return _state(documents, hunk) if presence(documents, hunk) is Presence.WHOLE else ""

"""One file of the workspace: what stands beside its text, and how its hunks lie on each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from msgspec import Struct, field

from tui.core.document.hunk import Decision, Hunk
from tui.core.document.hunk_list import HunkIndex
from tui.core.document.line_notes import LineNotes
from tui.core.document.undo_log import UndoLog
from tui.core.document.waiting_places import OpenSection, PendingShifts, WaitingSection, nearest
from tui.core.steps import Work
from tui.core.text.buffer import Buffer, ended
from tui.core.text.change_set import Author
from tui.core.text.diff import line_changes
from tui.core.text.line_index import LineIndex
from tui.core.text.rows import keep_ends, rows_text, touched_span, whole_text
from tui.core.text.weave import StillWeave, Weave
from tui.core.text.woven_pieces import WovenEdit


class UserChange(Struct, frozen=True):
    """A region that the user changed since the last take."""

    path: str
    first_line: int
    """0-based, in the text as it is now."""
    old_text: str
    new_text: str


def changes_of(path: str, before: str, now: str) -> list[UserChange]:
    """The regions in which two texts of a file differ."""
    changes = line_changes(before, now).placed()
    return [UserChange(path, at[0], one.old_text, one.new_text) for one, at, _ in changes]


class EditsSince:
    """The edits that were made, undone or done again since somebody was told of the text."""

    def __init__(self) -> None:
        self._were_on: dict[Hashable, bool] = {}
        """What edits are known by in the weave -> whether they were in the text then."""
        self._newline = ""
        """What all lines ended with then; empty: with what they end with now."""

    def __bool__(self) -> bool:
        return bool(self._were_on or self._newline)

    def note(self, key: Hashable, *, was_on: bool) -> None:
        """An edit is made or switched."""
        self._were_on.setdefault(key, was_on)

    def end_lines(self, before: str) -> None:
        """All lines, which ended so, end in another way from now on."""
        self._newline = self._newline or before

    def forget(self) -> None:
        """Somebody is told how the text is now."""
        self._were_on.clear()
        self._newline = ""

    def copy(self) -> EditsSince:
        """The same, as it is now."""
        same = EditsSince()
        same._were_on |= self._were_on
        return same

    def before(self, weave: Weave, text: str) -> str:
        """The whole text without these edits: with those of all others."""
        return weave.without(self._changed(weave), text)

    def take(self, weave: Weave, buffer: Buffer) -> list[UserChange]:
        """What really differs in rows, and forget it."""
        found = self.look(weave, buffer)
        if self._newline not in ("", buffer.newline):
            text = whole_text(buffer)
            found.append(UserChange(buffer.path, 0, ended(text, self._newline), text))
        self.forget()
        return found

    def look(self, weave: Weave, buffer: Buffer) -> list[UserChange]:
        """What really differs in rows."""
        edits = self._changed(weave)
        changes = weave.switching(edits)
        before = keep_ends(weave.without(edits, buffer.text())) if changes else []
        regions: list[tuple[int, int, int]] = []
        for back in changes:
            row, n_old, n_new = touched_span(buffer, back.inverse)
            first, last, more = row, row + n_new, n_old - n_new
            if regions and first <= regions[-1][1]:
                first, end, before_it = regions.pop()
                last, more = max(last, end), more + before_it
            regions.append((first, last, more))
        found: list[UserChange] = []
        shift = 0
        for first, last, more in regions:
            old = "".join(before[first + shift : last + shift + more])
            new = rows_text(buffer, first, last)
            found += [UserChange(buffer.path, first, old, new)] if old != new else []
            shift += more
        return found

    def _changed(self, weave: Weave) -> set[WovenEdit]:
        known = ((weave.edit(key), was_on) for key, was_on in self._were_on.items())
        return {edit for edit, was_on in known if edit is not None and edit.on is not was_on}


class FileRecord(Struct, eq=False):
    """One file of the workspace: its buffer and all that stands beside it."""

    path: str
    buffer: Buffer
    disk: bytes | None
    """What lies on the disk as far as we know; None: nothing."""
    undo_log: UndoLog = field(default_factory=UndoLog)
    by_user: EditsSince = field(default_factory=EditsSince)
    by_tool: EditsSince = field(default_factory=EditsSince)
    """What a formatter changed since these were last taken."""
    by_disk: EditsSince = field(default_factory=EditsSince)
    """What other programs changed since these were last taken."""
    by_others: EditsSince = field(default_factory=EditsSince)
    """What was changed since the model was sent the text, by everybody but the model."""
    times_told: int = 0
    """What is changed later is another edit."""
    live: HunkIndex = field(default_factory=HunkIndex)
    """Hunks whose text stands in the buffer, in the order in which they landed."""
    off: HunkIndex = field(default_factory=HunkIndex)
    """Hunks that a decision took out of the text: where they stood."""
    notes: LineNotes | None = None
    """What is noted on its lines; None: never anything."""
    made: list[Hunk] = field(default_factory=list)
    """Hunks that made the file, or all of its text."""
    sections: list[OpenSection] = field(default_factory=list)
    """Those that are landing; a later one ends before the earlier ones go on."""
    waiting: list[WaitingSection] = field(default_factory=list)
    shifts: PendingShifts = field(default_factory=PendingShifts)
    """Changes that their places have not followed."""
    deletion: Hunk | None = None
    """The pending deletion of the file."""
    moving: Hunk | None = None
    """The pending move of the file."""
    gone: bool = False
    """An accepted deletion or move: nothing belongs at this path."""
    accepted: int = 0
    """Which state the decisions are in that change what belongs on the disk."""
    decisions: int = 0
    """How many such states there have been: a new one has a new number."""
    synced: tuple[int, int] | None = None
    """The user's state and `accepted` that lie on the disk; None: they never did."""
    planned: tuple[bytes | None, tuple[int, int], list[Hunk]] | None = None
    held: list[Hunk] = field(default_factory=list)
    """Undecided hunks with what was typed in them: the disk has neither."""
    undecided: dict[Hunk, tuple[int, int]] = field(default_factory=dict)
    """Accepted, but not yet written -> `accepted` before and after each was."""
    read_only: str = ""
    """Why nobody may edit it, as a sentence; empty if it may be edited."""
    view: bool = False
    """Its text is a part of the file or a picture of its bytes: never written, never quoted."""
    seen: int = 0
    """Of a view, the hash of the bytes that were looked at."""
    named: bool = False
    """The user gave the name of a file that was not there: it stays open while it is empty."""
    changed_behind: int = 0
    """The newest hunk there was when another program changed the file last; 0: none did."""
    _weave: Weave | None = None
    _index: LineIndex | None = None
    _offered: dict[int, int] = field(default_factory=dict)
    """First rows of the places of sections that wait -> rows of the highest of these."""
    _offers: tuple[int, list[WaitingSection]] = (-1, [])
    """For which revision of the text, and for which sections, these were gathered."""

    @property
    def landing(self) -> OpenSection | None:
        """The section that is landing; of several the newest."""
        return self.sections[-1] if self.sections else None

    @property
    def version(self) -> tuple[int, int]:
        """What belongs on the disk, as a number of the user's state and of the decisions."""
        return (self.undo_log.state, self.accepted)

    @property
    def saved(self) -> bool:
        """True if all that the user typed and accepted lies on the disk."""
        held = any(hunk.undecided and hunk in self.live for hunk in self.held)
        return self.version == self.synced and not held

    @property
    def typed_on_disk(self) -> bool:
        """True if all that the user typed lies on the disk, be it that what was accepted does not.

        What is typed in a hunk that waits does not count as that.
        """
        return self.synced is not None and self.synced[0] == self.undo_log.state and not self.held

    def decide(self) -> tuple[int, int]:
        """A decision changes what belongs on the disk; returns the states before and after."""
        before, self.decisions = self.accepted, self.decisions + 1
        self.accepted = self.decisions
        return before, self.accepted

    def undecide(self, states: tuple[int, int]) -> None:
        """A decision is undone: the state before it is back, if none came since."""
        if self.accepted == states[1]:
            self.accepted = states[0]
        else:
            self.decide()

    @property
    def watched(self) -> bool:
        """True if somebody follows each change of the text: marks, undo, regions, places."""
        edited = self.by_user or self.by_tool or self.by_disk or self.by_others
        return bool(self.buffer.marked or self.undo_log or edited or self.waiting)

    @property
    def blank(self) -> bool:
        """True for a new file that the user has named and typed nothing into."""
        return self.named and self.disk is None and self.version == self.synced and not self.live

    @property
    def weave(self) -> Weave:
        """What was done to the text, each edit of which can be switched off; begun when asked."""
        if self._weave is None:
            self._weave = Weave(self.buffer.end, self.buffer.newline)
        return self._weave

    def set_weave(self, weave: Weave) -> None:
        """The text is that of another record, woven like this."""
        self._weave = weave

    def still_weave(self) -> StillWeave:
        """The weave as it stands now."""
        return StillWeave(self.weave)

    @property
    def index(self) -> LineIndex:
        """Where lines occur, built when first asked for."""
        if self._index is None:
            self._index = LineIndex(self.buffer)
        return self._index

    def end_lines(self, newline: str, author: Author) -> None:
        """The text's lines, and those of its hunks, end in another way: that is no edit of them."""
        (self.by_tool if author is Author.TOOL else self.by_disk).end_lines(self.buffer.newline)
        self.buffer.end_lines(newline)
        self.weave.end_lines(newline)
        for hunk in (*self.live, *self.off):
            hunk.base, hunk.agent = ended(hunk.base, newline), ended(hunk.agent, newline)
        self._index = None

    def begin_anew(self) -> None:
        """The text is another one, that nobody has touched."""
        self.undo_log, self.by_user, self.by_others = UndoLog(), EditsSince(), EditsSince()
        self.by_tool, self.by_disk = EditsSince(), EditsSince()
        self._weave = None

    def note(self, author: Author, key: Hashable, *, was_on: bool = False) -> None:
        """Somebody makes or switches the edit that is known by a key."""
        if author is not Author.MODEL:
            self.by_others.note(key, was_on=was_on)
        since = {Author.USER: self.by_user, Author.TOOL: self.by_tool, Author.DISK: self.by_disk}
        if author in since:
            since[author].note(key, was_on=was_on)

    def sent(self) -> str:
        """The whole text as the model was sent it, with what it changed since."""
        text = whole_text(self.buffer)
        return self.by_others.before(self.weave, text) if self.by_others else text

    def forget(self) -> None:
        """No more sections come for now: keep little of what finds their places."""
        if self._index is not None:
            self._index.forget()

    def letting_go(self) -> Work[None]:
        """Keep nothing that finds places, unless sections come or wait for one; with pauses."""
        if not (self.sections or self.waiting):
            self._index = None
        if self._weave is not None:
            yield from self._weave.folding()

    @property
    def offered(self) -> dict[int, int]:
        """First rows at which sections that wait could stand -> rows of the highest of these.

        While sections only come, each is looked at once.
        """
        self.shifts.follow(self.waiting)
        (revision, known), count = self._offers, len(self._offers[1])
        if revision != self.buffer.revision or self.waiting[:count] != known:
            self._offered, count = {}, 0
        for section in self.waiting[count:]:
            for row in nearest(section.hunks[0].candidates):
                self._offered[row] = max(self._offered.get(row, 0), section.height)
        if count != len(self.waiting) or revision != self.buffer.revision:
            self._offers = self.buffer.revision, [*self.waiting]
        return self._offered

    @property
    def addition(self) -> Hunk | None:
        """The pending hunk that made this file."""
        pending = (hunk for hunk in self.made if hunk.decision is Decision.PENDING)
        return next((hunk for hunk in pending if hunk in self.live), None)


class Layer(Struct):
    """How a hunk lies on others: needed to take it off exactly."""

    below: Sequence[Hunk] = ()
    """Hunks that it changed the text of."""
    above: list[Hunk] | tuple[()] = ()
    """Hunks that changed its text. Most have none: no list is kept for them."""
    record: FileRecord | None = None
    """The file that an accepted deletion, move or a rejected addition took away."""
    state: int = 0
    """The user's state of the text that a deletion takes away, or an accepted move replaced."""
    over: FileRecord | None = None
    """The file that an accepted move replaced."""
    replaces: bytes | None = None
    """What lay at a move's target when it was proposed; None: nothing."""
    made_file: bool = False
    """An ADD whose file was not there: without it there is none."""
    changed_by: Author | None = None
    """Who, beside models, wrote last in its lines."""

    def goes_under(self, hunk: Hunk) -> None:
        """A newer hunk changed its text."""
        if self.above:
            self.above.append(hunk)
        else:
            self.above = [hunk]


class _None(Layer):
    """That of a hunk of which nothing is noted; shared, so nothing may be."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"ask for a layer of its own to note {name}")


class Layers(dict[int, Layer]):
    """Layers by the ids of their hunks; of most hunks nothing is to be noted, so none is kept."""

    _NONE = _None()

    def __missing__(self, hunk_id: int) -> Layer:
        """That of a hunk of which nothing is noted: to be read only."""
        return self._NONE

    def own(self, hunk: Hunk) -> Layer:
        """The layer of a hunk, to be written in."""
        return self.setdefault(hunk.id, Layer())


Older = tuple[Hunk, int, int]
"""An older hunk, and its rows among the old lines of a newer one's section."""


def lay(layers: Layers, hunk: Hunk, old: tuple[int, int], older: Iterable[Older]) -> None:
    """Note which older hunks a new one lies on, which replaced ``old``, lines of the section."""
    low, high = old
    below = [
        one
        for one, start, end in older
        if max(start, low) < min(end, high) or start < low == high < end or low < start < high
    ]
    if below or hunk.id in layers:
        layers.own(hunk).below = below
    for one in below:
        layers.own(one).goes_under(hunk)


def stood_near(record: FileRecord, edits: Iterable[WovenEdit]) -> list[Hunk]:
    """The hunks that edits which are to be switched touch, those that are off, too."""
    found: dict[Hunk, None] = {}
    for change in record.weave.switching(edits):
        rows = change.start[0] - 1, change.old_end[0] + 1
        found.update(dict.fromkeys([*record.live.near(*rows), *record.off.near(*rows)]))
    return list(found)


def _is_no_hunk(edit: WovenEdit) -> bool:
    return not isinstance(edit.key, Hunk)


def stand(record: FileRecord, hunks: Iterable[Hunk]) -> None:
    """Hunks stand in the rows where what they put in and took out is now."""
    for hunk in hunks:
        edit = record.weave.edit(hunk)
        place = record.weave.range(edit, _is_no_hunk) if edit is not None else None
        if place is not None and hunk.start is not None and hunk.end is not None:
            (first, begin), (last, col) = place
            if not begin and edit is not None and _has_line_above(hunk, edit):
                first = min(first, hunk.start.line)
            hunk.start.line, hunk.end.line = first, last + bool(col)


def _has_line_above(hunk: Hunk, edit: WovenEdit) -> bool:
    """True if a hunk was handed on the file's last line, which had no end, as its first."""
    base, agent = hunk.base, hunk.agent
    if base[-1:] in ("", "\n") or not agent.startswith((f"{base}\n", f"{base}\r\n")):
        return False
    own = sum(piece.rows for piece in edit.pieces if piece.by is edit)
    return own < agent.count("\n") - base.count("\n")


def in_order(record: FileRecord, rows: tuple[int, int]) -> list[Hunk]:
    """The hunks that touch rows, those that a decision took out too, as they are in the text."""
    hunks = [*record.live.near(*rows), *record.off.near(*rows)]
    places = [(one.start.line, one.end.line) for one in hunks if one.start and one.end]
    often = Counter(places)
    tied = [hunk for hunk, place in zip(hunks, places, strict=True) if often[place] > 1]
    edits = {edit: hunk for hunk in tied if (edit := record.weave.edit(hunk))}
    ranks = {edits[edit]: at for at, edit in enumerate(record.weave.in_order(edits))}
    placed = zip(places, [ranks.get(hunk, -1) for hunk in hunks], range(len(hunks)), strict=True)
    return [hunks[at] for _, _, at in sorted(placed)]

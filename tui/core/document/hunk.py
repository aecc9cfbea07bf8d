"""Hunks: what a model changed, where it stands, what the user said of it (PRODUCT.md)."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import ClassVar, cast

from tui.core.text.anchors import RowAnchor
from tui.core.text.buffer import Mark


class Stage(StrEnum):
    """How far a hunk has come."""

    READING = "reading"
    CANDIDATES = "candidates"
    LOCATED = "located"
    LANDING = "landing"
    LANDED = "landed"
    CUT = "cut"
    """The stream ended inside it: it stays as it is painted, for the user to decide on."""
    CONFLICT = "conflict"
    """The user or the disk changed what the hunk was about to change."""
    REFUSED = "refused"
    """Not applied by us; `Hunk.reason` says why."""


PLACED = frozenset({Stage.LANDED, Stage.CUT})
"""Stages in which the hunk's text is in the buffer and can be decided on."""
OPEN = frozenset({Stage.READING, Stage.CANDIDATES, Stage.LOCATED, Stage.LANDING})
"""Stages of a hunk that is still being generated."""


class Decision(StrEnum):
    """What the user said of a hunk."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Kind(StrEnum):
    """What a hunk does to its file."""

    EDIT = "edit"
    ADD = "add"
    """The whole file is new (or overwritten, then flagged)."""
    DELETE = "delete"
    MOVE = "move"
    """The file goes to `Hunk.target`; its edits are hunks of their own."""


UNDONE = "undone"
"""The words of a rejection by which a whole turn was taken back."""
REPLACED = "the file on the disk was taken instead"
"""The words of a rejection by which the user took what another program wrote."""
TAKEN_BACK = "taken back as you went on"
"""The reason of a hunk that was cut and not decided on when the next instruction was given."""
UNPAINTED = "cut before anything of it was painted"
CUT_WAYS = "a keeps it as it stands, e finishes it by hand, r takes it back"
"""What the user can say of a hunk that was cut."""
BREAKS = "breaks "
"""What a flag begins with that names tests: they fail because of the hunk."""
JUDGES = "changes what judges it"
"""The flag of a hunk that was to mend code, and changed its tests."""
SPECIAL = "may be made for the test: "
"""What a flag begins with of a hunk that was to mend code, and looks as if it mended one case."""
BLAMES = (BREAKS, JUDGES)
"""What the flags of a red hunk begin with."""
EDITED = "you changed what this hunk wrote, so it was not taken back"
"""The reason of a conflict in which the text of a hunk stands, as the user edited it."""


REDOING, REDONE = "redoing", "redone from hunk "
"""What `Hunk.redone` begins with while a hunk is made anew, and for the one that came of that."""

RED = "✗ "
"""In `Hunk.redone` before what the tests say, where they failed."""


class Need(IntEnum):
    """What a hunk still needs."""

    NOTHING = 0
    """It is decided, or nothing of it is to be decided."""
    END = 1
    """It still comes in, or is accepted and in conflict."""
    LOOK = 2
    """The user's choice of a place, or what is to stay of a conflict or of a hunk that was cut."""
    DECISION = 3
    """To be accepted or rejected, be it with all others."""


class HunkTally:
    """How many hunks need what, and their lines: told of each change, so that nobody recounts."""

    __slots__ = ("added", "needs", "news", "removed", "whole")

    def __init__(self, whole: HunkTally | None = None) -> None:
        """``whole``: the tally of which this one is a part."""
        self.whole = whole
        self.needs = [0, 0, 0, 0]
        """By `Need`."""
        self.added = 0
        self.removed = 0
        self.news: dict[int, Hunk] | None = None if whole is None else whole.news
        """Those of which something has changed, until somebody who wants to know takes them."""

    @property
    def total(self) -> int:
        """How many hunks."""
        return sum(self.needs)

    @property
    def waiting(self) -> int:
        """How many still come in, or wait for the user."""
        return sum(self.needs[Need.END :])

    def count(self, hunk: Hunk, by: int) -> None:
        """Take a hunk in (``by`` 1) or out (-1), as it was noted last."""
        if self.news is not None:
            self.news[hunk.id] = hunk
        tally: HunkTally | None = self
        while tally is not None:
            tally.needs[hunk.need] += by
            tally.added += by * hunk.added
            tally.removed += by * hunk.removed
            tally = tally.whole

    def changed(self, before: Need, now: Need) -> None:
        """A hunk needs something else now."""
        tally: HunkTally | None = self
        while tally is not None:
            tally.needs[before] -= 1
            tally.needs[now] += 1
            tally = tally.whole


Woven = tuple[tuple[int, int, int], ...]
"""Where removed lines stood among the new ones: behind how many of these, and which lines of the
old text they are (first, and the one behind the last)."""


@dataclass(eq=False, slots=True)
class Hunk:
    """One contiguous change: the unit that lands, is reviewed and is cut."""

    need: Need = field(default=Need.END, init=False, repr=False)
    """Kept with each change of what it follows from."""
    tally: HunkTally | None = field(default=None, init=False, repr=False)
    """Who counts it; what is set below asks for it."""
    id: int
    """Unique in the workspace, counted from 1."""
    turn: int
    call_id: str
    """The tool call it came in; ``"text"`` where it came in prose."""
    path: str
    kind: Kind = Kind.EDIT
    stage: Stage = Stage.READING
    decision: Decision = Decision.PENDING
    section: int = 0
    """Which section (``@@`` chunk) of the patch, counted from 1 over the patch."""
    base: str = ""
    """The text that it replaces, with line endings as in the file."""
    agent: str = ""
    """The text that the model put there, with line endings."""
    woven: Woven | None = None
    """None: all lines of ``base`` were removed, above the new ones."""
    frozen: bool = False
    """The stream ended in its section: it is shown as it was then."""
    start: Mark | None = None
    end: Mark | None = None
    """Where it stands now, first line and line behind the last; None until located."""
    target: str = ""
    """Where a MOVE goes."""
    flags: tuple[str, ...] = ()
    """Why a person must look (EDITS.md section 8), in words; empty if nothing is odd."""
    reason: str = ""
    """Why it was refused or is in conflict."""
    candidates: Sequence[int] = ()
    """First lines (0-based) at which it could stand, while that is not decided; see `Places`."""
    near: int | None = None
    """First line (0-based) of the closest window of a section that was not found, or where one
    in conflict would have stood: told and shown only."""
    words: str = ""
    """What the user said when rejecting it."""
    redone: str = ""
    """How far it is that it is made anew, or that it was, and what the tests say of it."""
    added: int = 0
    removed: int = 0
    told: int = field(default=0, repr=False)
    """What its section said, as a hash: anchors, context and changes."""

    @property
    def is_blamed(self) -> bool:
        """True if tests fail because of it, or it changed them to pass."""
        return any(flag.startswith(BLAMES) for flag in self.flags)

    @property
    def is_redoing(self) -> bool:
        """True while it is made anew."""
        return self.redone.startswith(REDOING)

    @property
    def redone_from(self) -> str:
        """That it was made anew, and from which hunk, without what its tests say; empty: not."""
        return self.redone.partition(" · ")[0] if self.redone.startswith(REDONE) else ""

    @property
    def stand(self) -> RowAnchor[Hunk] | None:
        """Where it stands, if its marks move with a buffer."""
        place = _START(self)
        return place if isinstance(place, RowAnchor) else None

    def stand_in(self, stand: RowAnchor[Hunk]) -> None:
        """Its marks are those of an anchor from now on, until others are set."""
        self.start = self.end = cast(Mark, stand)

    @property
    def decidable(self) -> bool:
        """True if it can be accepted or rejected now."""
        return self.stage in PLACED and self.decision is Decision.PENDING

    @property
    def stands_edited(self) -> bool:
        """True if the user edited what it wrote, and that was to go: it stands there so."""
        stands = self.stage is Stage.CONFLICT and self.reason == EDITED
        return stands and self.kind in (Kind.EDIT, Kind.ADD) and self.start is not None

    @property
    def undecided(self) -> bool:
        """True if its text, where it is in the buffer, does not belong on the disk.

        So it is, too, for one that could not be taken out, as the user had typed in it.
        """
        placed = self.stage in PLACED or self.stage is Stage.CONFLICT
        return placed and self.decision is Decision.PENDING

    @property
    def placeable(self) -> bool:
        """True if it waits for the user to choose one of its candidates."""
        return self.stage is Stage.CANDIDATES and bool(self.candidates and self.reason)

    @property
    def comes_in(self) -> bool:
        """True if there is nothing to say of it yet: more comes, and the user cannot choose."""
        return self.stage in OPEN and not self.placeable

    @property
    def is_out(self) -> bool:
        """True if it came, but its text is not in the buffer: it may be looked at and copied."""
        out = self.stage in (Stage.REFUSED, Stage.CONFLICT)
        out = out or (self.decision is Decision.REJECTED and self.kind in (Kind.EDIT, Kind.ADD))
        return (out or self.placeable) and bool(self.agent or self.base)


def landing_lines(hunks: Iterable[Hunk]) -> dict[int, int]:
    """Id -> its line, from 1, of those of a file that land: the lines struck above have none."""
    found: dict[int, int] = {}
    struck = 0
    for hunk in hunks:
        if hunk.stage is Stage.LANDING and hunk.start is not None:
            found[hunk.id] = hunk.start.line + 1 - struck
            struck += hunk.removed
    return found


def need_of(hunk: Hunk) -> Need:
    """What a hunk needs, from its stage and decision."""
    if hunk.decision is Decision.REJECTED:
        return Need.NOTHING
    if hunk.stage in PLACED and hunk.decision is not Decision.PENDING:
        return Need.NOTHING
    if hunk.stage in PLACED:
        return Need.LOOK if hunk.stage is Stage.CUT else Need.DECISION
    if hunk.stage is Stage.CONFLICT:
        return Need.LOOK if hunk.decision is Decision.PENDING else Need.END
    if hunk.stage in OPEN:
        return Need.LOOK if hunk.placeable else Need.END
    return Need.NOTHING


def _noted(name: str) -> property:
    """An attribute from which it follows what a hunk needs: the tally hears of that."""
    slot = vars(Hunk)[name]
    keep = slot.__set__

    def change(hunk: Hunk, value: object) -> None:
        keep(hunk, value)
        tally, before = hunk.tally, hunk.need
        if tally is not None and tally.news is not None:
            tally.news[hunk.id] = hunk
        if tally is not None and (now := need_of(hunk)) is not before:
            hunk.need = now
            tally.changed(before, now)

    return property(slot.__get__, change)


def _counted(name: str) -> property:
    """A number of lines: the tally hears of each change."""
    slot = vars(Hunk)[name]
    now, keep = slot.__get__, slot.__set__

    def change(hunk: Hunk, value: int) -> None:
        tally: HunkTally | None = hunk.tally
        by = value - now(hunk) if tally is not None else 0
        keep(hunk, value)
        while tally is not None:
            setattr(tally, name, getattr(tally, name) + by)
            tally = tally.whole

    return property(now, change)


def _mark(name: str, *, right: bool) -> property:
    """A mark, or the one of an anchor."""
    slot = vars(Hunk)[name]
    kept = slot.__get__

    def mark(hunk: Hunk) -> Mark | None:
        place: Mark | RowAnchor[Hunk] | None = kept(hunk)
        return place.edge(right=right) if isinstance(place, RowAnchor) else place

    return property(mark, slot.__set__)


def _folding(name: str, at: int) -> property:
    """What may lie in a fold."""
    slot = vars(Hunk)[name]
    kept = slot.__get__

    def value(hunk: Hunk) -> object:
        found = kept(hunk)
        return found.of(hunk.id)[at] if type(found) is Fold else found

    return property(value, slot.__set__)


class Fold:
    """The texts of many hunks as bytes; those that were asked for last are kept at hand."""

    __slots__ = ("_data",)
    _open: ClassVar[dict[Fold, dict[int, tuple[str, str, int]]]] = {}

    def __init__(self, hunks: Sequence[Hunk]) -> None:
        import zlib  # hardly a session needs it

        texts = {hunk.id: (hunk.base, hunk.agent, hunk.told) for hunk in hunks}
        self._data = zlib.compress(marshal.dumps(texts), 1)

    def of(self, hunk_id: int) -> tuple[str, str, int]:
        """What a hunk replaced, what the model put there, and what its section said."""
        texts = Fold._open.get(self)
        if texts is None:
            import zlib

            texts = marshal.loads(zlib.decompress(self._data))
            Fold._open = {**dict([*Fold._open.items()][-_AT_HAND:]), self: texts}
        return texts[hunk_id]

    @classmethod
    def close(cls) -> None:
        """Keep none at hand."""
        cls._open = {}


_AT_HAND = 7


def fold(hunks: Iterable[Hunk]) -> None:
    """Keep the texts of those that have landed, or never will, as bytes until they are wanted."""
    able = [one for one in hunks if one.stage not in OPEN and not isinstance(_BASE(one), Fold)]
    if able:
        folded = Fold(able)
        for put in _FOLDED:
            for hunk in able:
                put(hunk, folded)


_BASE: Callable[[Hunk], object] = vars(Hunk)["base"].__get__
_START: Callable[[Hunk], object] = vars(Hunk)["start"].__get__
_FOLDED = [vars(Hunk)[_name].__set__ for _name in ("base", "agent", "told")]
for _at, _name in enumerate(("base", "agent", "told")):
    setattr(Hunk, _name, _folding(_name, _at))
for _name, _right in (("start", False), ("end", True)):
    setattr(Hunk, _name, _mark(_name, right=_right))
for _name in ("stage", "decision", "candidates", "reason", "flags"):
    setattr(Hunk, _name, _noted(_name))
for _name in ("added", "removed"):
    setattr(Hunk, _name, _counted(_name))

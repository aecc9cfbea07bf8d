"""What stands beside a file's text: the disk's bytes, the user's history, hunks, sections."""

from __future__ import annotations

from dataclasses import dataclass, field

from tui.core.edits.drift import Drift
from tui.core.edits.hunk import Decision, Hunk
from tui.core.edits.journal import History
from tui.core.edits.open_section import OpenSection, WaitingSection
from tui.core.edits.places import nearest
from tui.core.edits.standing import Standing
from tui.core.edits.user_regions import UserRegions
from tui.core.text.buffer import Buffer
from tui.core.text.line_index import LineIndex


@dataclass(eq=False, slots=True)
class FileRecord:
    """One file of the workspace: its buffer and all that stands beside it."""

    path: str
    buffer: Buffer
    disk: bytes | None
    """What lies on the disk as far as we know; None: nothing."""
    history: History = field(default_factory=History)
    regions: UserRegions = field(default_factory=UserRegions)
    tool_regions: UserRegions = field(default_factory=UserRegions)
    """What a formatter changed since somebody asked."""
    since: UserRegions = field(default_factory=UserRegions)
    """What was changed since the model was sent the text, by everybody but the model."""
    live: Standing = field(default_factory=Standing)
    """Hunks whose text stands in the buffer, in the order in which they landed."""
    off: Standing = field(default_factory=Standing)
    """Hunks that a decision took out of the text: where they stood."""
    made: list[Hunk] = field(default_factory=list)
    """Hunks that made the file, or all of its text."""
    sections: list[OpenSection] = field(default_factory=list)
    """Those that are landing; a later one ends before the earlier ones go on."""
    waiting: list[WaitingSection] = field(default_factory=list)
    drift: Drift = field(default_factory=Drift)
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
        return (self.history.state, self.accepted)

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
        return self.synced is not None and self.synced[0] == self.history.state and not self.held

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
        regions = self.regions or self.tool_regions or self.since
        return bool(self.buffer.marked or self.history or regions or self.waiting)

    @property
    def blank(self) -> bool:
        """True for a new file that the user has named and typed nothing into."""
        return self.named and self.disk is None and self.version == self.synced and not self.live

    @property
    def index(self) -> LineIndex:
        """Where lines occur, built when first asked for."""
        if self._index is None:
            self._index = LineIndex(self.buffer)
        return self._index

    def forget(self) -> None:
        """No more sections come for now: keep little of what finds their places."""
        if self._index is not None:
            self._index.forget()

    def let_go(self) -> None:
        """Keep nothing that finds places, unless sections come or wait for one."""
        if not (self.sections or self.waiting):
            self._index = None

    @property
    def offered(self) -> dict[int, int]:
        """First rows at which sections that wait could stand -> rows of the highest of these.

        While sections only come, each is looked at once.
        """
        self.drift.follow(self.waiting)
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

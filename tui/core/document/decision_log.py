"""What was decided, in order: what undo and redo of decisions work on (EDITS.md section 8).

A decision of the user's is an entry; what it did to one hunk is a step, with all that is
needed to undo it exactly. Hunks that a decision took out of a text keep their place: they stand
in `FileRecord.off`, whose marks move with every change as those of the others do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import partial
from io import BytesIO
from types import BuiltinFunctionType, MethodType
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from msgspec import Struct, field

from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.document.waiting_places import Places
from tui.core.steps import Work, finished
from tui.core.text.buffer import ended

if TYPE_CHECKING:
    from tui.core.document.file_record import FileRecord
    from tui.core.document.waiting_places import WaitingSection
    from tui.core.text.buffer import Mark


T = TypeVar("T")
_VALUES = (
    *(int, str, bytes, tuple, list, dict, set, type(None), Enum),
    *(type, partial, MethodType, BuiltinFunctionType),
)
"""Values, and how a method is said."""


class Packed(Generic[T]):
    """A list of objects, of which what lives on without them stays as it is: it is pointed to."""

    def __init__(self, things: list[T], own: set[type]) -> None:
        """``own``: classes whose objects nothing else refers to; they may come back as copies."""
        import pickle  # hardly a session needs them
        import zlib

        self._others: list[object] = []
        others, places = self._others, dict[int, int]()

        class Packer(pickle.Pickler):
            def persistent_id(self, thing: object) -> int | None:
                """Where a thing that lives on is kept; None: it becomes bytes."""
                if isinstance(thing, _VALUES) or type(thing) in own:
                    return None
                if (at := places.get(id(thing))) is None:
                    at = places[id(thing)] = len(others)
                    others.append(thing)
                return at

        out = BytesIO()
        Packer(out, 5).dump(things)
        self._data = zlib.compress(out.getvalue(), 1)

    def things(self) -> list[T]:
        """The list, as it was."""
        import pickle
        import zlib

        others = self._others

        class Unpacker(pickle.Unpickler):
            def persistent_load(self, at: int) -> object:
                """What lives on."""
                return others[at]

        found: list[T] = Unpacker(BytesIO(zlib.decompress(self._data))).load()
        return found


Verb = Literal["accept", "reject", "cut", "turn", "rewind", "place"]
"""``cut``: what was cut was taken back as the next instruction came; ``turn``: a whole turn was
taken back; ``rewind``: that and all turns behind it, or a part of these; ``place``: one of several
places was chosen."""
_WORDS = {
    "accept": "accepting",
    "reject": "rejecting",
    "cut": "taking back",
    "turn": "taking back",
    "rewind": "rewinding",
    "place": "choosing a place for",
}


PACKED = 200
"""Steps that become bytes together."""


class Stood(NamedTuple):
    """How a hunk stood beside another one: rows counted from that one's first row."""

    first: int
    last: int
    base: str
    agent: str

    def ending(self, newline: str) -> Stood:
        """The same, with lines that end so."""
        return self._replace(base=ended(self.base, newline), agent=ended(self.agent, newline))


class Beside(NamedTuple):
    """A hunk beside one that was taken off: before that, and after it."""

    hunk: Hunk
    before: Stood
    after: Stood


class TakenOff(Struct):
    """What a decision took out of a text."""

    text: str
    """What stood there."""
    left: str
    """What was put in its place."""
    rank: int
    """Its place in the order of landing."""
    beside: list[Beside]
    closed: bool = False
    """Nothing was left of the file: its buffer was closed."""


class Held(NamedTuple):
    """How a hunk waited for a choice of its place."""

    hunk: Hunk
    stage: Stage
    reason: str
    base: str
    agent: str
    flags: tuple[str, ...]
    numbers: tuple[int, int]
    """Lines added and removed."""


class Placing(NamedTuple):
    """What a choice of a place did."""

    held: list[Held]
    hunks: list[Hunk]
    """What the section became."""
    chosen: int
    """Which of the candidates."""
    down: int
    """How far below it the first hunk stands."""


class DecisionStep(Struct):
    """What one decision did to one hunk."""

    hunk: Hunk
    was: Decision
    stage: Stage
    reason: str
    words: str
    record: FileRecord | None
    """The file that it is about, wherever that goes."""
    disk: bytes | None = None
    """What lay on the disk for the record, where the hunk makes its file or takes it away."""
    became: Decision = Decision.PENDING
    version: tuple[int, int] | None = None
    """`FileRecord.accepted` before and after, where that changed."""
    unwritten: tuple[int, int] | None = None
    """It was accepted and not yet written: `FileRecord.accepted` before and after that."""
    stuck: bool = False
    """It could not be done: the hunk is in conflict, and pending as it was."""
    off: TakenOff | None = None
    waiting: WaitingSection | None = None
    """The section that waited for a choice of its place, and was given up or placed."""
    placing: Placing | None = None
    candidates: Sequence[int] = ()
    """Where that section could have stood."""
    places: Sequence[Mark] = ()
    """The nearest of these, where it was placed; they move with the text."""
    revision: int = 0
    """Of the text in which it could have stood there."""
    rank: int | None = None
    """It stood in the text and was in conflict; the text stayed, it does not stand there."""


class DecisionEntry(Struct, eq=False):
    """One decision of the user's, about any number of hunks."""

    verb: Verb
    words: str = ""
    turn: int = 0
    whole: bool = False
    """What the user had changed in the hunks went with them."""
    tried: bool = False
    """It could not be undone: the next try passes over it."""
    remade: list[Hunk] = field(default_factory=list)
    """What came in the place of a hunk that was rejected: it goes where that is undone."""
    away: DecisionEntry | None = None
    """How that went."""
    _packed: list[tuple[list[Hunk], Packed[DecisionStep]]] = field(default_factory=list)
    _steps: list[DecisionStep] = field(default_factory=list)
    """Those behind the packed ones."""

    @property
    def hunks(self) -> list[Hunk]:
        """The hunks that it was about, in the order in which they were decided on."""
        packed = [hunk for hunks, _ in self._packed for hunk in hunks]
        return packed + [step.hunk for step in self._steps]

    @property
    def size(self) -> int:
        """How many hunks it was about."""
        return sum(len(hunks) for hunks, _ in self._packed) + len(self._steps)

    @property
    def steps(self) -> list[DecisionStep]:
        """What was done to each of them."""
        finished(self.unpacking())
        return self._steps

    @steps.setter
    def steps(self, steps: list[DecisionStep]) -> None:
        self._packed, self._steps = [], steps

    def twin(self, steps: list[DecisionStep]) -> DecisionEntry:
        """The same decision on other hunks."""
        return DecisionEntry(self.verb, self.words, self.turn, self.whole, _steps=steps)

    def add(self, step: DecisionStep) -> None:
        """One more; of very many those before it become bytes, a section's together."""
        steps = self._steps
        another = step.waiting is None or step.waiting is not steps[-1].waiting if steps else False
        if len(steps) >= PACKED and another:
            own = {type(one) for step in steps for one in (step, step.off, step.waiting)}
            packed = Packed(steps, own | {Places})
            self._packed.append(([one.hunk for one in steps], packed))
            self._steps = steps = []
        steps.append(step)

    def unpacking(self) -> Work[None]:
        """Have all steps as objects again."""
        while self._packed:
            self._steps = self._packed[-1][1].things() + self._steps
            self._packed.pop()
            yield PACKED

    @property
    def summary(self) -> str:
        """What was done, in words: ``accepting 3 hunks of a.py``."""
        if self.verb == "turn":
            return f"taking turn {self.turn} back"
        hunks = self.hunks
        paths = list(dict.fromkeys(hunk.path for hunk in hunks))
        what = f"{len(hunks)} hunks" if len(hunks) != 1 else f"hunk {hunks[0].id}"
        where = f" of {paths[0]}" if len(paths) == 1 else f" in {len(paths)} files"
        return f"{'redoing' if self.remade else _WORDS[self.verb]} {what}{where}"


class DecisionLog:
    """The decisions that can be undone, and those that were undone; newest last."""

    def __init__(self) -> None:
        self.done: list[DecisionEntry] = []
        self.undone: list[DecisionEntry] = []
        self.stays: list[str] = []
        """Why hunks of the decision that was undone or redone last stay as they are, in words."""
        self.made = 0
        """Hunks that were decided on, or of which a decision was undone, of late."""
        self.enough = False
        """The decision that is being made ends after this hunk; the others stay as they are."""
        self._open: DecisionEntry | None = None

    @contextmanager
    def entry(self, entry: DecisionEntry, *, again: bool = False) -> Iterator[DecisionEntry]:
        """What is decided inside is one decision; ``again``: it is what was undone last."""
        self._open = entry
        try:
            yield entry
        finally:
            self._open = None
            if entry.size:
                self.done.append(entry)
                if not again:
                    self.undone.clear()

    def note(self, step: DecisionStep) -> None:
        """A hunk was decided on."""
        self.made += 1
        if self._open is not None:
            self._open.add(step)

    def end_lines(self, record: FileRecord, newline: str) -> None:
        """The lines of a file end in another way: so do those that decisions took out of it."""
        steps = [step for entry in (*self.done, *self.undone) for step in entry.steps]
        for step in steps:
            if (off := step.off) is None or step.record is not record:
                continue
            off.text, off.left = ended(off.text, newline), ended(off.left, newline)
            off.beside = [
                Beside(one.hunk, one.before.ending(newline), one.after.ending(newline))
                for one in off.beside
            ]

    def forget(self, hunks: Collection[Hunk]) -> None:
        """The last decision on these came to nothing: it could not be written."""
        gone = set(hunks)
        for entry in reversed(self.done):
            if not gone:
                break
            about = gone.intersection(entry.hunks)
            if about:
                entry.steps = [step for step in entry.steps if step.hunk not in about]
            gone -= about
        self.done = [entry for entry in self.done if entry.hunks]

    def lose(self, hunk: Hunk) -> None:
        """A hunk makes room for another one: what was decided on it cannot be undone or redone."""
        for entries in (self.done, self.undone):
            for entry in entries:
                if hunk in entry.hunks:
                    entry.steps = [step for step in entry.steps if step.hunk is not hunk]
            entries[:] = [entry for entry in entries if entry.hunks]

    def keeping(self, hunk: object) -> DecisionStep | None:
        """What kept the text of a rejected hunk in the file, as it was in conflict."""
        about = (entry for entry in reversed(self.done) if hunk in entry.hunks)
        steps = (step for entry in about for step in entry.steps if step.hunk is hunk)
        return next((step for step in steps if step.rank is not None and step.version), None)

    def bring_up(self, hunk_id: int) -> None:
        """Make the taking back of what was cut, of which this hunk was, the last decision."""
        for entry in self.done if hunk_id else ():
            if entry.verb == "cut" and any(hunk.id == hunk_id for hunk in entry.hunks):
                self.done.remove(entry)
                self.done.append(entry)
                return

    def last(self, *, again: bool = False) -> DecisionEntry | None:
        """What an undo (or a redo) would be about; None if there is nothing."""
        if not again:
            return self.done[-1] if self.done else None
        if self.undone:
            return self.undone[-1]
        turned = bool(self.done) and self.done[-1].verb == "turn"
        return self.done[-1] if turned else None

"""What is stored of a session: the records that are written, and the session as it is read back.

A session is a row of records, counted from 1, which together make it up. Any beginning of that row
is a session as it was at some moment, so a duetto that is killed leaves one behind. A field is only
ever added at the end, with a default: the files of older versions stay readable.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct, field

from tui.core.conversation import (
    BlockKind,
    BlockState,
    EntryKind,
    HistoryEntry,
    Item,
    user_item,
)
from tui.core.document.file_record import UserChange
from tui.core.document.hunk import Decision, Kind, Stage, Woven
from tui.core.document.line_notes import KeptNote
from tui.core.files import GitMove
from tui.core.run_report import RunReport
from tui.core.typed_data import from_json, from_msgpack

SessionKind = Literal["app", "linear", "exec", "practice", "rehearsal"]
Moment = Literal["before", "after"]
"""``before``: as a turn found it; ``after``: as it was written."""
Author = Literal["", "user", "auto"]
"""Who decided on a hunk; empty: nobody, or the next instruction took it back."""


class _Record(Struct, frozen=True, array_like=True, tag=True):
    """One of them."""


class Began(_Record, frozen=True):
    """A session begins; of a forked one all that was taken over follows as records of its own."""

    folder: str
    kind: SessionKind
    version: str
    """Of duetto."""
    parent: str = ""
    parent_turn: int = 0
    """The last turn that was taken over of it."""


class Resumed(_Record, frozen=True):
    """It goes on in another process."""

    folder: str
    version: str


class Named(_Record, frozen=True):
    """The user names it."""

    name: str


class TurnBegan(_Record, frozen=True):
    """A prompt is about to be sent; what it says is a block, too."""

    number: int
    text: str
    role: str
    model: str
    endpoint: str
    effort: str = ""
    tier: str = ""
    mode: str = ""


class RequestSent(_Record, frozen=True):
    """A request is about to leave; its items are the entries that stand at this moment."""

    number: int
    """Counted over the session."""
    turn: int
    chained: bool
    """It continues what the server has, so that only new items were sent."""
    head: str = ""
    """The blob of all that it says beside its items."""


class TurnFigures(Struct, frozen=True, array_like=True):
    """What a turn took."""

    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    estimated: bool = True
    """No server counted."""
    usd: float | None = None
    ttft_s: float | None = None
    tokens_s: float | None = None
    seconds: float = 0.0
    tool_s: float = 0.0
    last_s: float = 0.0
    """From the prompt until the last piece of output."""
    context: int | None = None
    """Tokens of the conversation when it ended."""
    first_s: float | None = None
    """From the prompt until the first piece of output."""
    hunk_s: float | None = None
    """From the prompt until the first line of an edit stood in a file."""


class TurnEnded(_Record, frozen=True):
    """A turn is over."""

    number: int
    outcome: str
    served_model: str = ""
    served_tier: str = ""
    figures: TurnFigures = TurnFigures()
    beside: bool = False
    """A lane did it: the figures are those of the turn before it, which the screen still shows."""


class EntryMade(_Record, frozen=True):
    """An item of the history came, or says something else from now on."""

    id: int
    """Counted from 1 over the session."""
    place: float
    """Entries stand in this order."""
    kind: EntryKind
    origin: str
    item: bytes
    """As `item_as_kept` has it."""
    turn: int = 0
    """The last one that had begun."""
    image: str = ""
    """The blob of the image that it shows: the item says all but its bytes."""
    aside: bool = False
    """It does not stand in the conversation; a rewind may have it stand."""

    def entry(self, data: Callable[[str], bytes | None]) -> HistoryEntry:
        """It stands again; ``data`` gives the bytes of a blob. Raises ValueError: damaged."""
        item = self.said
        entry = HistoryEntry(self.kind, item, self.origin, turn=self.turn)
        if self.kind == "summary":
            from tui.core.compaction import last_turn  # where there is one

            entry.turn = last_turn(entry.text) or self.turn
        if self.image:
            from tui.core.images import image_item, image_of  # where there is one

            found = data(self.image)
            entry.image = None if found is None else image_of(item, self.image, found)
            if entry.image is not None and found is not None:
                entry.item = image_item(entry.image, found)
            else:
                entry.item = user_item(f"{entry.text}. The image itself is lost.")
        return entry

    @property
    def said(self) -> Item:
        """The item."""
        if not self.item.startswith(b"{"):
            return from_msgpack(self.item, Item)
        try:
            return from_json(self.item, Item)
        except msgspec.DecodeError:  # as `item_as_json` had to write it
            found: Item = json.loads(self.item)
            return found


def sha_of(data: bytes) -> str:
    """What a blob of these bytes is called."""
    return hashlib.sha256(data).hexdigest()


_LONG_CHARS = 64_000


def item_as_kept(item: Item) -> bytes:
    """An item as JSON; one of a long text as MessagePack.

    Of 3.5 million characters that JSON escapes that takes 1 ms, where JSON takes 20.
    """
    content = item.get("content")
    parts = content if isinstance(content, list) else ()
    texts = [*item.values(), *(part.get("text") for part in parts if isinstance(part, dict))]
    if any(isinstance(text, str) and len(text) > _LONG_CHARS for text in texts):
        with suppress(UnicodeEncodeError, OverflowError):
            return msgspec.msgpack.encode(item)
    return item_as_json(item)


def item_as_json(item: Item) -> bytes:
    """The same, whatever a server put into it."""
    try:
        return msgspec.json.encode(item)
    except (UnicodeEncodeError, OverflowError):  # half a character, a very large number
        return json.dumps(item).encode("ascii")


class KeptEntry(NamedTuple):
    """An item of the history as it is kept."""

    entry: HistoryEntry
    item: Item
    id: int
    place: float
    turn: int


class EntryGone(_Record, frozen=True):
    """An item of the history was withdrawn; what was sent with it stays known."""

    id: int


class BlockSaid(_Record, frozen=True):
    """A block of the conversation: what it says from character ``start`` on."""

    at: int
    """Its index."""
    turn: int
    kind: BlockKind
    title: str
    speaker: str
    call_id: str
    state: BlockState
    start: int
    text: str
    report: RunReport | None = None


class HunkMade(_Record, frozen=True):
    """A hunk is there, whole or cut: all of it. It replaces what was stored under its id."""

    id: int
    turn: int
    call_id: str
    path: str
    kind: Kind
    stage: Stage
    decision: Decision
    section: int
    base: str
    agent: str
    line: int | None = None
    """Its first row, 0-based, as it stands; None: nowhere."""
    woven: Woven | None = None
    frozen: bool = False
    target: str = ""
    flags: tuple[str, ...] = ()
    reason: str = ""
    candidates: tuple[int, ...] = ()
    near: int | None = None
    words: str = ""
    author: Author = ""
    added: int = 0
    removed: int = 0
    told: int = 0
    above: tuple[str, ...] = ()
    """The lines above it when it landed, without their endings."""
    below: tuple[str, ...] = ()
    typed: str | None = None
    """What stood in its lines when the session ended, where the user had typed in them."""
    redone: str = ""
    """From which hunk it was made anew, in words."""


class HunksAre(_Record, frozen=True):
    """These hunks were decided on, or are at another stage."""

    ids: tuple[int, ...]
    stage: Stage
    decision: Decision
    reason: str = ""
    words: str = ""
    author: Author = ""


class HunkGone(_Record, frozen=True):
    """A hunk came to nothing."""

    id: int


class FileKept(_Record, frozen=True):
    """The bytes of a file at a moment."""

    turn: int
    path: str
    moment: Moment
    blob: str
    """Their SHA-256 in hexadecimal digits; empty: there is no such file."""


class BlobKept(_Record, frozen=True):
    """Bytes that records name by their SHA-256, in hexadecimal digits."""

    sha: str
    data: bytes


class CommandBegan(_Record, frozen=True):
    """A command is about to run."""

    number: int
    """Counted over the session."""
    turn: int
    call_id: str
    line: str
    folder: str
    mode: str
    confined: str
    """What it may do, in words; empty: all that the user may."""
    consent: str
    """Why it may run: what the user answered, or the rule."""


class CommandEnded(_Record, frozen=True):
    """A command has ended; its output is in its block."""

    number: int
    status: int | None
    seconds: float
    how: Literal["", "stopped", "timeout"] = ""


class Judged(_Record, frozen=True):
    """The tests ran."""

    turn: int
    command: str
    """Empty: all that judges the project ran, on what the screen shows."""
    verdict: str
    seconds: float
    report: RunReport | None = None


class Happened(_Record, frozen=True):
    """A moment of a turn.

    ``what`` is prompt, sent, token, hunk, last, interrupt, redirect, steer, switch or answer;
    cleared: a new conversation has begun; tabs: the detail is `OpenTabs` as JSON; notes: it is
    `AllNotes`; attached: `AllAttached`; efforts: `AllEfforts`; changes: `AllChanges`; said:
    `AllSaid`; delegates: `AllDelegates`; rewound: `Rewound`, about to be done; rewind done,
    forward: its number; proposed: the role that was; felt: by how many times the user says that
    the work was faster; cost: US dollars of a response; reserved: the least that a request costs,
    until it is answered.
    """

    turn: int
    what: str
    detail: str = ""
    s: float | None = None
    """On the process's own clock, where it was before the record was made."""


class OpenTabs(Struct, frozen=True, array_like=True):
    """Which files are open."""

    active: str = ""
    places: tuple[tuple[str, int, int], ...] = ()
    """Each with the row and column of its cursor."""


class AllNotes(Struct, frozen=True, array_like=True):
    """The notes on lines."""

    notes: tuple[KeptNote, ...] = ()


class KeptDelegate(Struct, frozen=True, array_like=True):
    """What is delegated, as far as it came."""

    number: int
    prompt: str
    role: str
    entries: tuple[EntryMade, ...] = ()
    """What was said in its lane."""
    whole: bool = False
    """What was said before that began is in it, or was nothing."""
    files: tuple[tuple[str, bytes | None, bytes | None], ...] = ()
    """Path, what its lane found there, and what it made of that; None: no such file."""
    said: str = ""
    """The last message of its model."""
    done: bool = False
    """It has only to come home."""


class AllDelegates(Struct, frozen=True, array_like=True):
    """All that is delegated and not over."""

    of: tuple[KeptDelegate, ...] = ()


class LeftDelegate(Struct, frozen=True):
    """What was delegated in an earlier session, and did not come home."""

    session: str
    """Its id: it works on there."""
    number: int
    prompt: str
    done: bool
    """It has only to come home."""


class AllAttached(Struct, frozen=True, array_like=True):
    """What requests have, or leave out, beside what was said."""

    parts: tuple[tuple[str, int, int, int], ...] = ()
    """Files with the first and last line that are attached, 1-based (0: all), and the turn."""
    pins: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Open files, and other parts, that are not sent."""
    untold: tuple[str, ...] = ()
    """What is to be said of pinned words, and was not sent yet."""
    lines: tuple[tuple[int, int], ...] = ()
    """Where the lines of each part are by now; a part is called by those that were named."""


class AllEfforts(Struct, frozen=True, array_like=True):
    """How much the models are asked to think from the next turn on."""

    of: tuple[tuple[str, str, str], ...] = ()
    """Role, model and effort; empty: the server's own choice; ``auto high``: that is high now."""


class AllChanges(Struct, frozen=True, array_like=True):
    """What was saved of files, and the model was not told of."""

    edits: tuple[UserChange, ...] = ()
    formatted: tuple[UserChange, ...] = ()


class SaidChanges(Struct, frozen=True, array_like=True):
    """What one request told of what changed in files beside the model's hunks."""

    turn: int
    edits: tuple[UserChange, ...] = ()
    formatted: tuple[UserChange, ...] = ()
    others: tuple[UserChange, ...] = ()
    moves: tuple[GitMove, ...] = ()

    @property
    def size(self) -> int:
        """Characters, about."""
        quoted = (*self.edits, *self.formatted, *self.others)
        return sum(len(one.old_text) + len(one.new_text) for one in quoted) + sum(
            len(path) for move in self.moves for path in move.paths
        )


class AllSaid(Struct, frozen=True, array_like=True):
    """What the last requests told so."""

    of: tuple[SaidChanges, ...] = ()
    again: tuple[SaidChanges, ...] = ()
    """In turns that were rewound: the next request tells it again."""


class FileSwap(Struct, frozen=True, array_like=True):
    """A file, and the blobs of its bytes before and after; empty: there is none."""

    path: str
    was: str
    then: str


class HunkWas(Struct, frozen=True, array_like=True):
    """How a hunk was before it was taken back."""

    id: int
    stage: Stage
    decision: Decision


class Rewound(Struct, frozen=True, array_like=True):
    """Turns, or their hunks, were taken back."""

    number: int
    """Counted over the session."""
    turn: int
    """The first of them."""
    last: int
    """The last one."""
    hunk: int = 0
    """It goes back to before this one; 0: to before the turn."""
    talk: bool = False
    """The conversation, too."""
    files: tuple[FileSwap, ...] = ()
    hunks: tuple[HunkWas, ...] = ()
    entries: tuple[int, ...] = ()
    """Ids of those that went out of the conversation."""
    notes: tuple[tuple[int, int], ...] = ()
    """Ids of notes on lines that wait again, and the turns with which they went."""
    restored: tuple[int, ...] = ()
    """Ids of the entries for which a summary stood, and that stand themselves from then on."""


class Ended(_Record, frozen=True):
    """duetto was left in peace."""


Record = (
    Began
    | Resumed
    | Named
    | TurnBegan
    | RequestSent
    | TurnEnded
    | EntryMade
    | EntryGone
    | BlockSaid
    | HunkMade
    | HunksAre
    | HunkGone
    | FileKept
    | BlobKept
    | CommandBegan
    | CommandEnded
    | Judged
    | Happened
    | Ended
)


class StoredRecord(Struct, frozen=True, array_like=True):
    """A record with its number and when it was made."""

    seq: int
    ms: int
    """Unix time; it jumps with the clock of the machine."""
    s: float
    """Seconds of the process's own clock, which only grows."""
    record: Record


class SessionLine(Struct, frozen=True):
    """A session as a list of them shows it."""

    id: str
    folder: str
    kind: SessionKind
    name: str
    """As the user named it; empty: not at all."""
    first_words: str
    began_ms: int
    last_ms: int
    ended: bool
    """It was left in peace."""
    turns: int
    open_hunks: int
    """Those that wait for a decision, or to be placed."""
    parent: str = ""
    parent_turn: int = 0
    alive: bool = False
    """A duetto is in it now."""


class FoundText(Struct, frozen=True):
    """Where words were found."""

    session: SessionLine
    turn: int
    block: int
    """Its index."""
    text: str
    """Of the block."""


class StoredTurn(Struct, frozen=True):
    """A turn, as far as it came."""

    began: TurnBegan
    ended: TurnEnded | None
    began_ms: int


class StoredRewind(Struct, frozen=True):
    """A rewind that was not taken back."""

    told: Rewound
    entries: tuple[EntryMade, ...] = ()
    """What went out of the conversation."""
    done: bool = True
    """False: duetto was killed before all files were written."""


class StoredSession(Struct, frozen=True):
    """All that is needed to go on with a session."""

    line: SessionLine
    seq: int
    """The number of the last record."""
    turns: tuple[StoredTurn, ...] = ()
    entries: tuple[EntryMade, ...] = ()
    """Those that stand, in their order."""
    entry_count: int = 0
    """Of all that there ever were."""
    blocks: tuple[BlockSaid, ...] = ()
    """In order, each whole."""
    first: int = 0
    """So many blocks before them are not read, nor anything that only a request needs."""
    usd: float = 0.0
    """What all turns cost, as far as that is known."""
    hunks: tuple[HunkMade, ...] = ()
    """By id, as they are now."""
    files: dict[str, FileKept] = field(default_factory=dict)
    """Path -> the newest that is known of it."""
    commands: int = 0
    requests: int = 0
    untold: frozenset[int] = frozenset()
    """Ids of the hunks that changed after the last request."""
    unwritten: frozenset[int] = frozenset()
    """Ids of those that were accepted, and of whose file nothing was written since."""
    running: frozenset[str] = frozenset()
    """Calls of commands that had begun, and of which no end is known."""
    tabs: OpenTabs = OpenTabs()
    is_empty: bool = False
    """Nothing of it is said to a model any more, as after ``/clear``."""
    lost: int = 0
    """So many rows of it cannot be read any more."""
    notes: tuple[KeptNote, ...] = ()
    """Those on lines."""
    texts: tuple[tuple[int, FileKept], ...] = ()
    """All that is known of files, each with the number of its record."""
    changed: dict[int, int] = field(default_factory=dict)
    """Id of a hunk -> the number of the last record that changed it."""
    rewinds: tuple[StoredRewind, ...] = ()
    """In order."""
    attached: AllAttached = AllAttached()
    efforts: AllEfforts = AllEfforts()
    changes: AllChanges = AllChanges()
    said: AllSaid = AllSaid()
    delegates: AllDelegates = AllDelegates()

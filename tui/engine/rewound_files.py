"""What becomes of files without some hunks: shown before a rewind, and then done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from tui.core.document.disk_plan import held_in
from tui.core.document.hunk import Decision, Hunk, Kind, Stage
from tui.core.document.hunk_list import waits
from tui.core.document.past_texts import KnownText, PastHunk, text_of, without
from tui.core.document.review import is_undoable
from tui.core.document.workspace import Workspace
from tui.core.files import counted
from tui.core.session_record import FileKept, HunkMade
from tui.engine.intents import Part
from tui.engine.ports import WorkspaceFiles
from tui.errors import EditRefused

if TYPE_CHECKING:
    from tui.engine.resuming import Resuming

NAMED = 4
_NOT_KEPT = "what it was before is not kept"


class RewoundFile(Struct):
    """What becomes of a file."""

    path: str
    now: str | None
    """Its text; None: there is no file."""
    then: str | None
    others: bool = False
    """Another program changed it since."""
    stays: str = ""
    """Why some of it stays as it is, as a sentence; empty: all goes back."""
    stuck: frozenset[int] = frozenset()
    """Ids of the hunks that stay."""
    known: bool = True
    """False: what it was is not."""

    @property
    def words(self) -> str:
        """What happens to it as a whole; empty: only lines of it change."""
        if self.now is None and self.then is not None:
            return "comes back"
        return "goes" if self.then is None and self.now is not None else ""


class RewindPlan(Struct):
    """What a rewind would do."""

    turn: int
    hunk: int
    last: int
    part: Part
    files: list[RewoundFile] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    """What was asked in the turns that go out of the conversation."""
    commands: int = 0
    """So many commands ran in them; what they did stays."""

    @property
    def place(self) -> str:
        """Where it leads, in words."""
        return f"before hunk {self.hunk}" if self.hunk else f"before turn {self.turn}"

    @property
    def turns(self) -> str:
        """Which turns it is about, in words."""
        return f"turn {self.turn}" if self.turn == self.last else f"turns {self.turn}-{self.last}"


class PastTurn(Struct, frozen=True):
    """A turn as a list of them shows it."""

    number: int
    text: str
    hunks: int = 0
    files: int = 0
    rewound: bool = False


def turn_words(turn: PastTurn) -> str:
    """What a turn left, in words."""
    if turn.rewound:
        return "rewound"
    if not turn.hunks:
        return "no file changed"
    plural = "s" * (turn.hunks != 1)
    where = f"in {turn.files} files" if turn.files > 1 else "in 1 file"
    return f"{turn.hunks} hunk{plural} {where}"


def preview_words(plan: RewindPlan) -> list[str]:
    """What a rewind would do, the most telling first."""
    words = [f"to {plan.place}"]
    if plan.part != "talk":
        count = len(plan.files)
        words.append(counted(count, "file") if count else "no file changes")
    if plan.part == "files":
        words.append("the conversation stays")
    elif plan.hunk:
        words.append("the conversation ends there")
    elif plan.prompts:
        count = len(plan.prompts)
        words.append(f"{counted(count, 'turn')} out of the conversation")
    if plan.part == "talk":
        words.append("files stay")
    if plan.commands and plan.part != "talk":
        ran = counted(plan.commands, "command")
        words.append(f"what {ran} did stays")
    return words


class RewoundFiles:
    """Works out what files are without hunks, of this start and of earlier ones."""

    def __init__(self, workspace: Workspace, files: WorkspaceFiles) -> None:
        self._workspace, self._documents = workspace, workspace.documents
        self._files_of = files
        self.resuming: Resuming | None = None
        """The session that goes on."""

    def chosen(self, turn: int, hunk: int) -> list[Hunk]:
        """The hunks from a turn on, or from one of them on."""
        hunks = self._workspace.hunks
        return [one for one in hunks if (one.id >= hunk if hunk else one.turn >= turn)]

    def standing(self, hunks: Iterable[Hunk]) -> list[Hunk]:
        """Those of which something is in the texts, or waits."""
        return [one for one in hunks if is_undoable(self._documents, one) or waits(one)]

    def past(self, hunks: Iterable[Hunk]) -> dict[int, HunkMade]:
        """Those that an earlier start wrote, as they were."""
        known = {one.id: one for one in self.resuming.stored.hunks} if self.resuming else {}
        return {
            one.id: replace(known[one.id], path=one.path)
            for one in hunks
            if one.id in known
            and one.decision is Decision.ACCEPTED
            and one.stage is not Stage.REFUSED
            and not is_undoable(self._documents, one)
        }

    async def files(self, chosen: Sequence[Hunk]) -> dict[str, RewoundFile]:
        """By path, what is another one without these hunks."""
        files: dict[str, RewoundFile] = {}
        for hunk in reversed(self.standing(chosen)):
            await asyncio.sleep(0)  # keys go first
            for path in filter(None, (hunk.path, hunk.target)):
                if path not in files:
                    files[path] = RewoundFile(path, self._now(path), self.without(path, chosen))
            self._undone(files, hunk, chosen)
        past = self.past(chosen)
        for path, taken in (await self._earlier(past, files)).items():
            file = files.setdefault(path, RewoundFile(path, self._now(path), None))
            file.then, file.stays, file.stuck = taken.then, taken.stays, taken.stuck
            file.known = taken.known
        for path, file in files.items():
            if held := sorted(one.id for one in self.held(path, chosen)):
                file.stays, file.stuck = _changed_since(held), file.stuck | {*held}
            ids = [one.id for one in chosen if path in (one.path, one.target)]
            file.others = self._is_others(path, min(ids, default=0))
        return {
            path: file
            for path, file in sorted(files.items())
            if file.now != file.then or file.stays or any(path == one.path for one in chosen)
            if file.now is not None or file.then is not None
        }

    def _undone(self, files: dict[str, RewoundFile], hunk: Hunk, chosen: Sequence[Hunk]) -> None:
        """What the taking back of a deletion or a move does to files as a whole."""
        layer = self._documents.layers[hunk.id]
        if hunk.decision is not Decision.ACCEPTED or layer.record is None:
            return
        if hunk.kind is Kind.DELETE:
            files[hunk.path].then = layer.record.buffer.text()
        elif hunk.kind is Kind.MOVE:
            files[hunk.path].then = files[hunk.target].then
            over = layer.over
            files[hunk.target].then = None if over is None or over.gone else over.buffer.text()

    def _now(self, path: str) -> str | None:
        """The text of a file as it stands in the editor, or on the disk."""
        record = self._documents.records.get(path)
        if record is not None:
            return None if record.gone else record.buffer.text()
        try:
            return text_of(path, self._files_of.read(path).data)
        except EditRefused:
            return ""

    def without(self, path: str, chosen: Sequence[Hunk], *, saved: bool = False) -> str | None:
        """The text of an open file without these hunks; ``saved``: as it would be on the disk."""
        record = self._documents.records.get(path)
        if record is None or record.gone or record.view:
            return self._now(path)
        out = {*chosen} - self.held(path, chosen)
        stays = [one.id for one in record.live if one not in out and not (saved and one.undecided)]
        data = self._workspace.with_hunks(path, stays)
        return text_of(path, data)

    def held(self, path: str, chosen: Iterable[Hunk]) -> set[Hunk]:
        """Those that stay in an open file: what somebody else wrote since would go with them."""
        record, held = self._documents.records.get(path), set[Hunk]()
        if record is None or record.gone or record.view:
            return held
        out = {one for one in chosen if one in record.live}
        while more := held_in(self._documents, path, out - held):
            held.update(more)
        return held

    def _is_others(self, path: str, first: int) -> bool:
        """True if another program changed a file since a hunk came."""
        record = self._documents.records.get(path)
        if path in self._documents.conflicts:
            return True
        if record is not None and first and record.changed_behind >= first:
            return True
        return self.resuming is not None and path in self.resuming.changed

    async def _earlier(
        self, past: Mapping[int, HunkMade], files: Mapping[str, RewoundFile]
    ) -> dict[str, RewoundFile]:
        """What becomes of files that an earlier start wrote."""
        resuming = self.resuming
        if not past or resuming is None:
            return {}
        stored = resuming.stored
        seqs = {one: stored.changed.get(one, 0) for one in past}
        groups: dict[str, list[PastHunk]] = {}
        moves = {one.target: one.path for one in past.values() if one.kind is Kind.MOVE}
        for one in past.values():
            path = one.target if one.kind is Kind.MOVE else one.path
            groups.setdefault(path, []).append(PastHunk(one, seqs[one.id]))
        found: dict[str, RewoundFile] = {}
        for path, hunks in groups.items():
            now = files[path].then if path in files else self.without(path, ())
            origin = moves.get(path, "")
            told = await asyncio.to_thread(_of_one, resuming, hunks, (path, origin), now)
            found |= {one.path: one for one in told}
        return found


def _changed_since(hunk_ids: Sequence[int]) -> str:
    """Why these stay."""
    numbers = ", ".join(map(str, hunk_ids[:NAMED]))
    return f"hunk{'s' * (len(hunk_ids) > 1)} {numbers}: lines were changed since"


def _of_one(
    resuming: Resuming, hunks: list[PastHunk], paths: tuple[str, str], now: str | None
) -> list[RewoundFile]:
    """What becomes of a file, and of where it came from; in a thread."""
    path, origin = paths
    first, ids = min(one.made.turn for one in hunks), frozenset(one.made.id for one in hunks)
    kept = [(seq, one) for seq, one in resuming.stored.texts if one.turn >= first]
    own = [(seq, one) for seq, one in kept if one.path == path]
    over: str | None = None
    try:
        if origin:
            moved = next(one.made for one in hunks if one.made.kind is Kind.MOVE)
            arrived = (seq for seq, one in own if one.moment == "after" and one.turn >= moved.turn)
            came = next(arrived, 0)
            there = _moments(resuming, path, [row for row in own if row[0] < came])
            over = there[0].text if there else None
            own = [row for row in own if row[0] >= came]
            own = [(seq, one) for seq, one in kept if one.path == origin and one.blob] + own
        moments = _moments(resuming, path, own)
    except EditRefused as refused:
        return [RewoundFile(path, now, now, stays=str(refused), stuck=ids, known=False)]
    if not moments:
        return [RewoundFile(path, now, now, stays=_NOT_KEPT, stuck=ids, known=False)]
    taken = without([*moments, KnownText(moments[-1].seq + 1, now)], hunks)
    stays, stuck = "", frozenset(one.id for one in taken.stays)
    if taken.stays:
        stays = _changed_since([one.id for one in taken.stays])
    if not origin:
        return [RewoundFile(path, now, taken.text, stays=stays, stuck=stuck)]
    return [
        RewoundFile(origin, None, taken.text, stays=stays, stuck=stuck),
        RewoundFile(path, now, over or None),
    ]


def _moments(
    resuming: Resuming, path: str, rows: Iterable[tuple[int, FileKept]]
) -> list[KnownText]:
    """The texts that are kept. Raises EditRefused: one is none."""
    found = []
    for seq, one in rows:
        data = resuming.data(one.blob) if one.blob else None
        if data is not None or not one.blob:
            found.append(KnownText(seq, text_of(path, data)))
    return found

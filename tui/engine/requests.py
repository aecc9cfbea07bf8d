"""Composes the requests of a conversation from history, open files and what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate, chain
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from tui.core.context import TOTAL_LIMIT_CHARS as ALL_FILES
from tui.core.context import (
    Changes,
    Context,
    CutAnswer,
    FileInContext,
    PatchInProse,
    States,
    Told,
    changes_message,
    hunks_message,
    quoted_rows,
)
from tui.core.conversation import History, HistoryEntry, Item, user_item
from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord, UserChange
from tui.core.document.hunk import OPEN, Decision, Need
from tui.core.document.hunk_list import HunksOfFile
from tui.core.document.report import HunkAccount, file_sha, presence, sha_of
from tui.core.files import FileRead
from tui.core.inert_text import inert
from tui.core.instructions import (
    HAVE_CHANGED,
    MAP_NAME,
    MAP_TITLE,
    OF_FOLDER,
    RULES_NAME,
    instruction_parts,
    shell_tool_of,
    tools,
)
from tui.core.session_record import AllChanges, AllSaid, SaidChanges
from tui.core.steps import Work, finished, while_same
from tui.core.wire.efforts import EFFORTS, efforts_named, nearest_effort
from tui.core.wire.events import ErrorEvent, Failed
from tui.core.wire.refusals import RefusedFields, fields_refused, without
from tui.engine.attachments import Attachments
from tui.engine.intents import PLAIN, Effort, Role, TurnWay
from tui.engine.open_files import OpenFiles
from tui.engine.ports import PatchTool, Ports, RoleSpec, ShellTool

if TYPE_CHECKING:
    from tui.core.compaction import KnownFacts
    from tui.engine.project import ProjectWords
    from tui.engine.response_items import CutReply

Version = tuple[int, int]
"""Identity and revision of a buffer."""


class Origins:
    """The hash of every file at the beginning of the last turn."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._read = documents.read
        documents.read = self._reading
        self._shas: dict[str, tuple[Version, str]] = {}
        self._first: dict[str, bytes | None] = {}
        """What was read since then of files that nobody had opened before."""

    def begin(self) -> None:
        """A turn begins: what the files are now is what they may be brought back to."""
        self._first = {}
        records = self._documents.records
        self._shas = {path: self._kept(path, record) for path, record in records.items()}

    def sha(self, path: str) -> str | None:
        """The hash of a file then; empty: there was none, None: not known."""
        if path in self._shas:
            return self._shas[path][1]
        return sha_of(self._first[path]) if path in self._first else None

    def _kept(self, path: str, record: FileRecord) -> tuple[Version, str]:
        """Worked out anew only for a text that changed."""
        version = (id(record.buffer), record.buffer.revision)
        known = self._shas.get(path)
        if known is not None and known[0] == version and not record.gone:
            return known
        return version, "" if record.gone or record.view else file_sha(record)

    def _reading(self, path: str) -> FileRead:
        found = self._read(path)
        self._first.setdefault(path, found.data)
        return found


Request = dict[str, object]


LONG_HUNKS = 1000
"""From so many on what is said of them is found out in slices."""
LONG_HISTORY = 4000
"""From so many items on that a model was not shown they are looked at in slices."""
_TRIES = 3


class PatchReport(NamedTuple):
    """What became of a patch, as the answer of its call."""

    entry: HistoryEntry
    item: Item
    states: States
    """What the model knows then."""


_MOST_SAID = 50_000
"""Characters of told changes that are known, should their turns be rewound."""


class HunkNews(NamedTuple):
    """What a request says of hunks, found out while nothing was changed."""

    moment: tuple[object, ...]
    revision: int
    answers: list[PatchReport]
    states: States
    changes: Changes
    account: HunkAccount
    private: Callable[[str], str]
    of_hunks: list[str]


class Requests:
    """What the model is told."""

    def __init__(
        self, ports: Ports, open_files: OpenFiles, conversation: str, *, chaining: bool
    ) -> None:
        self.history = History()
        self.cut: CutAnswer | None = None
        """The last answer that was cut, until the model was told."""
        self.prose: list[PatchInProse] = []
        """Patches that came in messages, until the model was told."""
        self.take_ended: Callable[[], Sequence[str]] = tuple
        """Commands of the background that ended since it was asked last, in words."""
        self.take_notes: Callable[[int], str] = lambda turn: ""
        """The notes on lines that wait, for this turn, in words."""
        self.take_map: Callable[[], str] = str
        """The map of the project, if it was not told yet, in words."""
        self.take_news: Callable[[], Sequence[str]] = tuple
        """What hooks refused since then, a paragraph each."""
        self.files_room: Callable[[RoleSpec, Sequence[str]], int] = lambda spec, texts: ALL_FILES
        """Characters that open files may take in a request to a model, beside these texts."""
        self.said_changes = AllSaid()
        """What the last turns were told of changes in files."""
        self._cut_files: set[str] = set()
        """Those of which the user was told that only a part is sent."""
        self.last_head: Request = {}
        """What the newest request says beside its items."""
        self.told = Told(partial(presence, open_files.workspace.documents))
        self.owed: list[Callable[[], Work[PatchReport]]] = []
        """Each says what became of a patch, in the answer of its call; asked when that is sent:
        after an Esc the user may decide and type for a while before the next prompt."""
        self._gathered: HunkNews | None = None
        """What `prepare` found out for the next request."""
        self._open_files = open_files
        self._context = Context()
        self.attachments = Attachments(open_files, ports)
        self.attachments.turn = lambda: self.history.turn
        open_files.gather = self.attachments.gather
        self._conversation = conversation
        self._chaining = chaining
        self._told_paths: Sequence[str] | None = None
        """The files as they were listed or told last; None: not yet."""
        self._instructions = ""
        self.said: dict[str, str] = {}
        """The instructions by what they are of."""
        self._head_of: tuple[object, ...] = ()
        """Of what kind the head is that was sent last (see `_kind_of`); empty: none was."""
        self._origins = Origins(open_files.workspace.documents)
        self._levels: dict[str, tuple[str, ...]] = {}
        """The efforts that servers named when they refused one, by the models' origins."""
        self._refused: dict[str, RefusedFields] = {}
        """What the endpoints that are dialled do not take, by name."""

    def facts(self) -> list[KnownFacts]:
        """What the user has given to the conversation, for who makes it shorter."""
        said = (entry.image for entry in self.history.whole())
        return self.attachments.facts(image for image in said if image is not None)

    def forget(self) -> None:
        """A new conversation."""
        self.history = History()
        self.cut, self.prose, self.owed = None, [], []
        self._gathered = None
        self.said_changes = AllSaid()
        self._context.forget()
        self._cut_files.clear()
        self.attachments.forget()
        self._open_files.workspace.take_user_changes()
        self._open_files.workspace.take_tool_changes()
        self._open_files.workspace.take_disk_changes()
        self._open_files.outside.forget()
        if self._open_files.project is not None:
            self._open_files.project.forget()
        self.told.mark(self._open_files.workspace.hunks)
        self._instructions, self._head_of = "", ()

    def rewound(self, first: int) -> None:
        """The conversation ends elsewhere now; ``first`` is the first turn that went, or 0."""
        said = self.said_changes.of
        went = tuple(one for one in said if 0 < first <= one.turn)
        self.said_changes = AllSaid(tuple(one for one in said if one not in went), went)
        self.cut, self.prose, self._gathered = None, [], None
        self._context.forget()
        self.attachments.rewound({one.text for one in self.history.entries if one.kind == "note"})
        self.begin_anew()

    def was_changed(self, changes: AllChanges, said: AllSaid) -> None:
        """An earlier start has saved these changes and did not tell them; what it did tell."""
        untold = SaidChanges(0, changes.edits, changes.formatted)
        self.said_changes = AllSaid(said.of, (*said.again, untold))

    def _tell_again(self, changes: Changes, private: Callable[[str], str]) -> None:
        """What was told in turns that were rewound, of files that are not quoted anew."""
        again = self.said_changes.again
        quoted = {file.buffer.path for file in self.shown_files()} if again else set[str]()

        def all_of(
            kind: Callable[[SaidChanges], Sequence[UserChange]], now: Sequence[UserChange]
        ) -> list[UserChange]:
            before = (edit for one in again for edit in kind(one) if edit not in now)
            told = [one for one in before if one.path not in quoted and not private(one.path)]
            return [*told, *now]

        changes.edits = all_of(attrgetter("edits"), changes.edits)
        changes.formatted = all_of(attrgetter("formatted"), changes.formatted)
        changes.others = all_of(attrgetter("others"), changes.others)
        changes.moves = [*(move for one in again for move in one.moves), *changes.moves]
        edits, formatted = tuple(changes.edits), tuple(changes.formatted)
        others, moves = tuple(changes.others), tuple(changes.moves)
        said = SaidChanges(self.history.turn, edits, formatted, others, moves)
        self.said_changes = AllSaid(_newest((*self.said_changes.of, *[said] * bool(said.size))))

    def prompt(
        self, texts: Sequence[str], spec: RoleSpec, head: Request, notes: str = ""
    ) -> Request:
        """The request that begins a turn; each text is a message of its own.

        ``notes`` are those on lines.
        """
        self.continues(spec, head)
        full = not self.stands(spec)
        if full:
            head = self._restarted(spec, head)
        self._tell_news()
        self._origins.begin()
        self.history.context(self._files(spec, texts, full=full))
        for made in self.attachments.take_made():
            self.history.note(made)
        self.attachments.images.say(spec, self.history)
        self.history.note(notes)
        for text in texts:
            self.history.prompt(text)
        return self.history.request(head, spec.origin)

    def go_on(self, spec: RoleSpec, head: Request, texts: Sequence[str] = ()) -> Request:
        """The next request of a turn, after its calls were answered; or the same one again.

        ``texts`` is what the user said meanwhile.
        """
        self.continues(spec, head)
        full = not self.stands(spec)
        if full:
            head = self._restarted(spec, head)
        self._tell_news()
        if full:
            self.history.restart(self._files(spec, texts, full=True))
        for text in texts:
            self.history.prompt(text)
        return self.history.request(head, spec.origin)

    def _files(self, spec: RoleSpec, texts: Sequence[str], *, full: bool) -> str:
        """The files, as far as there is room for them; the user is told of what is left out."""
        room = self.files_room(spec, texts)
        said = self._context.message(self.shown_files(), full=full, room=room)
        for path, (first, last), count in self._context.take_cut():
            if path not in self._cut_files:
                self._cut_files.add(path)
                words = f"of {inert(path)} lines {first:,}-{last:,} of {count:,} are sent"
                self._open_files.state.note(
                    self.history.turn, f"{words}; the model can read the others"
                )
        return said

    def warm(self, spec: RoleSpec, head: Request) -> Request:
        """The request that prepares the server for the first prompt."""
        return self.history.warm(self._restarted(spec, head), spec.origin)

    def ahead(self, spec: RoleSpec) -> tuple[dict[str, str], list[HistoryEntry]]:
        """What the next request says of instructions, and its items without files that are new.

        Nothing is told by that.
        """
        stands, history, project = self.stands(spec), self.history, self._project
        entries = history.entries if stands else history.standing(self._notes_out())
        head, news = dict[str, str](), list[str]()
        if project is not None:
            head, news = project.ahead(None if stands else _notes_in(entries))
        said = self.said if stands else self._instruction_parts(spec, head)
        return said, [*entries, *(HistoryEntry("note", user_item(words)) for words in news)]

    def chains(self, spec: RoleSpec) -> bool:
        """True if this endpoint may be told only what is new."""
        return self._chaining and spec.chaining

    def continues(self, spec: RoleSpec, head: Request) -> bool:
        """True if the next request may be a continuation."""
        if not self.chains(spec):
            self.history.break_chain()
        return self.history.continues(head, spec.origin)

    def head(self, spec: RoleSpec, effort: Effort | None, tier: str) -> Request:
        """Everything of a request beside its input."""
        head: Request = {
            "model": spec.model,
            "instructions": self._instructions,
            "tools": tools(
                self._patch_tool(spec),
                spec.patch_format,
                self._shell_tool(spec),
                recall=self.history.is_compacted,
            ),
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": self._conversation,
        }
        if effort is not None and (known := self.levels(spec)) != ():
            told = effort if known is None else nearest_effort(effort, known)
            head["reasoning"] = {"effort": told, "summary": "auto"}
        if tier:
            head["service_tier"] = tier
        if spec.max_output_tokens is not None:
            head["max_output_tokens"] = spec.max_output_tokens
        if spec.temperature is not None:
            head["temperature"] = spec.temperature
        self.last_head = self._without_refused(spec, head)
        return self.last_head

    def begin_anew(self) -> None:
        """The beginning is another one: the next request says all anew, with the files quoted."""
        self._head_of = ()
        self._cut_files.clear()
        if self._open_files.project is not None:
            self._open_files.project.forget()  # what it said may stand in a message that went

    def _patch_tool(self, spec: RoleSpec) -> PatchTool | None:
        """None: the model is to plan, not to change anything."""
        return None if self._open_files.status.only_reads else spec.patch_tool

    def _shell_tool(self, spec: RoleSpec) -> ShellTool:
        """The shell that a role's model is offered; none where the answer is to change nothing."""
        if self._open_files.status.asking:
            return "none"
        return shell_tool_of(spec.model) if spec.shell_tool == "auto" else spec.shell_tool

    def learns(self, spec: RoleSpec, head: Request, refusal: ErrorEvent | Failed) -> bool:
        """Whether a refusal names fields of what was sent that this request can do without.

        They are left out from now on.
        """
        if self._learns_levels(spec, head, refusal):
            return True
        param = refusal.param if isinstance(refusal, ErrorEvent) else ""
        fields = fields_refused(f"{refusal.code} {refusal.message}", param, head)
        refused = self._refused.setdefault(spec.endpoint, RefusedFields())
        learnt = refused.learn(spec.model, fields)
        if learnt:
            self._open_files.status.left_out = ", ".join(refused.of(spec.model))
        return learnt

    def levels(self, spec: RoleSpec) -> tuple[str, ...] | None:
        """The efforts that a model has: as its server said, else as is known; None: not known."""
        return self._levels.get(spec.origin, spec.efforts)

    def _learns_levels(self, spec: RoleSpec, head: Request, refusal: ErrorEvent | Failed) -> bool:
        """Whether an effort was refused, and others were named: the nearest is asked for now."""
        reasoning = head.get("reasoning")
        asked = str(reasoning.get("effort") or "") if isinstance(reasoning, dict) else ""
        param = refusal.param if isinstance(refusal, ErrorEvent) else ""
        named = efforts_named(f"{param} {refusal.message}", asked) if asked else ()
        if not named or self._levels.get(spec.origin) == named:
            return False
        status = self._open_files.status
        self._levels[spec.origin] = status.levels[spec.role] = named
        for effort in EFFORTS:
            if effort == nearest_effort(asked, named):
                status.efforts[spec.role] = effort
        return True

    def _without_refused(self, spec: RoleSpec, head: Request) -> Request:
        refused = self._refused.get(spec.endpoint)
        return without(head, refused.of(spec.model)) if refused is not None else head

    def stands(self, spec: RoleSpec) -> bool:
        """What was said to this model stays as it is, and news go behind it.

        Also where all is sent again, the provider finds the head that it has read before.
        """
        return self._head_of == self._kind_of(spec)

    def _kind_of(self, spec: RoleSpec) -> tuple[object, ...]:
        """What is another one where a head begins anew: who is asked, and with which tools."""
        return (spec.origin, self._patch_tool(spec), spec.patch_format, self._shell_tool(spec))

    def _restarted(self, spec: RoleSpec, head: Request) -> Request:
        """All is said anew: with the instructions and the files as they should be now."""
        self._head_of = self._kind_of(spec)
        self.history.restart("", self._notes_out())
        self._told_paths = self._open_files.catalogue.paths()
        project, notes = self._project, _notes_in(self.history.entries)
        self.said = self._instruction_parts(spec, {} if project is None else project.head(notes))
        self._instructions = "\n".join(self.said.values())
        self.last_head = {**head, "instructions": self._instructions}
        return self.last_head

    def _notes_out(self) -> tuple[str, ...]:
        """How notes begin that the user left out."""
        left_out = self.attachments.dropped
        notes_out = (MAP_TITLE,) * (MAP_NAME in left_out)
        return notes_out + (OF_FOLDER, HAVE_CHANGED) * (RULES_NAME in left_out)

    def _instruction_parts(self, spec: RoleSpec, of_project: Mapping[str, str]) -> dict[str, str]:
        """The instructions as they are said now, by what they are of."""
        left_out = "listing" in self.attachments.dropped
        return instruction_parts(
            None if left_out else self._open_files.catalogue.paths(),
            of_project,
            self._patch_tool(spec),
            spec.patch_format,
            self._shell_tool(spec),
        )

    def is_long(self, spec: RoleSpec) -> bool:
        """There is so much to say that `prepare` is to be called before the next request."""
        return self._has_news() or self.history.unprepared(spec.origin) > LONG_HISTORY

    def prepare(self, spec: RoleSpec) -> Work[None]:
        """Find out what the next request says; nothing is said or changed yet.

        It pauses, and begins anew where something changes meanwhile, a few times.
        """
        yield from self.history.preparing(spec.origin)
        for _ in range(_TRIES if self._has_news() else 0):
            self._gathered = yield from while_same(self._gather(), self._revision)
            if not self._has_news():
                return

    def _has_news(self) -> bool:
        """There are so many hunks that what is to be said of them is found out ahead."""
        if len(self._open_files.workspace.hunks) < LONG_HUNKS:
            return False
        return self._gathered is None or self._gathered.moment != self._moment()

    def _news(self) -> str:
        """What changed since the last request, in words; from now on the model knows it."""
        workspace, found, self._gathered = self._open_files.workspace, self._gathered, None
        if found is None or found.moment != self._moment():
            found = finished(self._gather())
        for said in found.answers:
            self.history.amend(said.entry, said.item)
        self.told.know(found.states, found.revision)
        self.owed, self.cut, self.prose = [], None, []
        left_out, changes = self.attachments.dropped, found.changes

        def private(path: str) -> str:
            return "left out by the user" if path in left_out else found.private(path)

        changes.ended = self.take_ended()
        edits, formatted = workspace.take_user_changes(), workspace.take_tool_changes()
        outside = self._open_files.outside
        changes.others, changes.moves = outside.take(workspace.take_disk_changes(), private)
        by_git = {path for move in changes.moves for path in move.paths}
        changes.edits = [edit for edit in edits if not private(edit.path)]
        changes.formatted = [edit for edit in formatted if not private(edit.path)]
        self._tell_again(changes, private)
        before, now = self._told_paths, self._open_files.catalogue.paths()
        if before is not None and before is not now:  # a list of thousands, of each lane
            changes.appeared = sorted({*now}.difference(before, by_git))
            changes.vanished = sorted({*before}.difference(now, by_git))
            self._told_paths = now
        words = changes_message(changes, found.account, found.of_hunks)
        whole = found.account.quota.left > 0  # else not all of them are quoted
        edited = (*changes.edits, *changes.formatted, *changes.others)
        self._context.told(edited if whole else ())
        return "\n\n".join(filter(None, (words, *self.take_news())))

    @property
    def _project(self) -> ProjectWords | None:
        project = self._open_files.project
        if project is not None:
            project.without_rules = RULES_NAME in self.attachments.dropped
        return project

    def _tell_news(self) -> None:
        """The map, what changed, and what is new of the project: a note each."""
        self.history.note(self.take_map())
        self.history.note(self._news())
        if (project := self._project) is not None:
            for words in project.news():
                self.history.note(words)

    def _gather(self) -> Work[HunkNews]:
        """All that is to be said of hunks, from what they are now; nothing is changed."""
        workspace, moment, revision = self._open_files.workspace, self._moment(), self._revision()
        private, states = cache(self._open_files.privacy), States()
        answers = []
        for say in self.owed:
            answers.append((yield from say()))
            states |= answers[-1].states
        changes = Changes(cut=self.cut, prose=self.prose)
        changes.hunks = yield from self.told.news(workspace.hunks, revision, states)
        account = HunkAccount(workspace.documents, private)
        account.before = self._origins.sha
        account.differs = cache(lambda path: [*chain(*workspace.untold_changes(path))])
        account.again = yield from self.told.taken_back(changes.hunks, states)
        if self.cut is not None:
            turn = self.cut.turn
            changes.kept = yield from account.keeps_any(
                h for h in workspace.hunks if h.turn == turn
            )
        of_hunks = yield from hunks_message(changes, account)
        states |= yield from self.told.states(changes.hunks)
        return HunkNews(moment, revision, answers, states, changes, account, private, of_hunks)

    def _revision(self) -> int:
        """Grows with what becomes of hunks."""
        return (
            self._open_files.workspace.hunks_revision
            + self._open_files.workspace.documents.rewritten
        )

    def _moment(self) -> tuple[object, ...]:
        """What is another one when something else is to be said."""
        files = [
            (path, id(record.buffer), record.buffer.revision, id(record.disk), record.gone)
            for path, record in self._open_files.workspace.documents.records.items()
        ]
        private = [self._open_files.privacy(path) for path, *_ in files]
        return (self._revision(), len(self.owed), self.cut, len(self.prose), files, private)

    def shown_files(self) -> Sequence[FileInContext]:
        """The tabs, and the buffers in which a hunk waits for the user."""
        open_files = self._open_files
        waiting = {
            path
            for path in open_files.workspace.hunk_list.paths()
            if any(map(_waits, open_files.workspace.hunk_list.in_file(path)))
        }
        paths = [
            *open_files.status.open_paths,
            *sorted(waiting - set(open_files.status.open_paths)),
        ]
        return self.attachments.in_context(paths)

    def new_files(self, spec: RoleSpec) -> Iterator[FileInContext]:
        """Those that the next request quotes for the first time, each with the lines of it."""
        anew = not self.stands(spec)
        room = ALL_FILES if anew else self.files_room(spec, ())
        for file in self.shown_files():
            if file.private or file.view or not (anew or self._context.is_new(file)):
                continue
            first, last = quoted_rows(file, room)
            cut = file.lines is None and last - first + 1 < file.buffer.line_count
            yield replace(file, lines=(first + 1, last + 1), called="") if cut else file


def _notes_in(entries: Iterable[HistoryEntry]) -> list[str]:
    return [entry.text for entry in entries if entry.kind == "note"]


def _newest(said: Sequence[SaidChanges]) -> tuple[SaidChanges, ...]:
    """As many of the last ones as are kept."""
    sizes = accumulate(one.size for one in reversed(said))
    kept = sum(size <= _MOST_SAID for size in sizes)
    return tuple(said[len(said) - kept :])


def _waits(tally: HunksOfFile) -> bool:
    """A hunk of the tally comes in or waits for the user, and none of these is in conflict."""
    if tally.needs[Need.DECISION]:
        return True
    return tally.waiting > 0 and any(
        hunk.stage in OPEN and hunk.decision is Decision.PENDING for hunk in tally.hunks
    )


Outcome = Literal["completed", "interrupted", "failed"]


class TurnLimits(Struct, frozen=True):
    """What one turn may take before it is stopped; None: as much as it needs."""

    rounds: int = 40
    """Responses."""
    tokens: int | None = None
    """Of output."""
    usd: float | None = None
    """As far as the price is known."""
    seconds: float | None = None


class TurnRequest(Struct, frozen=True):
    """What a turn is about."""

    number: int
    text: str
    spec: RoleSpec
    effort: Effort | None
    tier: str
    """Service tier; empty: the server's own choice."""
    throttle: float | None
    limits: TurnLimits = TurnLimits()
    going_on: CutReply | None = None
    """What was cut, with which it goes on."""
    way: TurnWay = PLAIN

    @property
    def role(self) -> Role:
        """Who answers."""
        return self.spec.role

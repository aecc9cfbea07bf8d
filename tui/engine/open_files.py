"""The open files, the list of all files, and which of them may be sent or written unasked.

What others did on the disk to files that the model knows is told once, with who it was. Of open
files the records know it. Of files that the model has only read the text is kept as it was sent:
what the watcher names is read again ahead of the next request, and compared. Where git went
elsewhere meanwhile (another branch, a pull, a rebase, a stash) what it changed is one sentence and
a list.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from tui.core.context import FileInContext
from tui.core.document.file_record import UserChange, changes_of
from tui.core.document.workspace import Workspace
from tui.core.files import FOLDER_WIDE, FileRead, GitMove, GitPlace, decoded, is_ignore_file
from tui.core.text.buffer import Buffer, plain_text
from tui.core.text.change_set import Position
from tui.engine.notices import Trouble
from tui.engine.ports import Ports, WorkspaceFiles
from tui.engine.session_state import SessionState
from tui.errors import EditRefused

if TYPE_CHECKING:
    from tui.core.session_record import OpenTabs
    from tui.engine.project import ProjectWords

MOST_KNOWN = 300
"""Files whose texts are kept; the ones that were sent first go."""
MOST_CHARS = 200_000
"""Of a longer text only that it changed is told."""
_LATE_S = 10.0
"""So long after git was seen to go elsewhere, what comes of its files still is its doing."""
_MANY = 4
"""So many files at once may be git's doing, where its own are not watched."""
_COMMITTED = "commit"
"""What the log of HEAD calls that which changes no file on the disk begins so."""
GIT_FILES = frozenset({".git/HEAD", ".git/index"})


class OutsideChanges:
    """Keeps what the model was sent of files that are not open, and sees what becomes of them."""

    def __init__(self, workspace: Workspace, ports: Ports) -> None:
        self._workspace, self._ports = workspace, ports
        self._known: dict[str, str | None] = {}
        """As the model knows them; None: not any more."""
        self._now: dict[str, str | None] = {}
        """As they were found, where that is something else; None: gone, or no text."""
        self._stirred: set[str] = set()
        """Files that somebody wrote since they were looked at."""
        self._touched: set[str] = set()
        """All files that others changed since the last request."""
        self._edits: dict[str, list[UserChange]] = {}
        self._place: GitPlace | None = None
        self._git_stirred = True
        self._moves: list[GitMove] = []
        self._late: tuple[float, frozenset[str], str] = (0.0, frozenset(), "")
        """Until when files are git's doing that it was seen to change, and what it did."""
        documents = workspace.documents
        self._read, documents.read = documents.read, self._reading

    def forget(self) -> None:
        """A new conversation: the model knows nothing."""
        for held in (self._known, self._now, self._edits):
            held.clear()
        self._touched.clear()
        self._moves.clear()

    def sent(self, path: str, text: str) -> None:
        """The model was sent this text of a file that is not open."""
        self._now.pop(path, None)
        self._edits.pop(path, None)
        self._known.pop(path, None)
        self._known[path] = text
        if len(self._known) > MOST_KNOWN:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._now.pop(oldest, None)

    def changed(self, paths: Iterable[str]) -> None:
        """The watcher names these; none: whatever may have changed."""
        named = set(paths)
        self._git_stirred |= not named or bool(named & GIT_FILES) or len(named) >= _MANY
        self._touched |= named - GIT_FILES
        self._stirred |= (named & self._known.keys()) if named else self._known.keys()

    @property
    def ready(self) -> bool:
        """True if there is nothing to be looked at before a request."""
        asks = self._git_stirred and self._place is not None and self._is_watched
        unseen = self._ports.watch is None and self._known
        return not (self._stirred or asks or unseen or self._now.keys() - self._edits.keys())

    @property
    def _is_watched(self) -> bool:
        return self._ports.watch is not None and self._ports.git is not None

    async def prepare(self) -> None:
        """Look at what was named, and ask git where it is."""
        if self._ports.watch is None:
            self._stirred |= self._known.keys()
        while self._stirred:
            path = self._stirred.pop()
            if path in self._known and path not in self._workspace.buffers:
                self._found(path, await asyncio.to_thread(self._ports.files.read, path))
        for path in list(self._now.keys() - self._edits.keys()):
            before, now = self._known.get(path), self._now[path]
            edits = await asyncio.to_thread(_edits, path, before, now)
            if self._now.get(path) is now and path in self._now:
                self._edits[path] = edits
        if self._git_stirred and self._is_watched and self._ports.git is not None:
            self._git_stirred = False
            git = self._ports.git()
            now_at, before_at = await git.place(), self._place
            self._place = now_at
            if before_at is not None and now_at != before_at:
                self._moved(await git.moved(before_at, now_at))

    def _moved(self, move: GitMove) -> None:
        if all(step.startswith(_COMMITTED) for step in move.words.split("; ")):
            return
        until_s = self._ports.clock.now() + _LATE_S
        self._late = (until_s, frozenset(move.paths), move.words)
        touched = [path for path in move.paths if path in self._touched]
        if touched:
            known = [path for path in touched if path in self._known or self._is_open(path)]
            rest = [path for path in touched if path not in known]
            self._moves.append(GitMove(move.words, (*known, *rest)))

    def _is_open(self, path: str) -> bool:
        return path in self._workspace.buffers

    def take(
        self, of_open: Sequence[UserChange], private: Callable[[str], str]
    ) -> tuple[list[UserChange], list[GitMove]]:
        """What the next request tells of others' changes; ``of_open``: those of open files."""
        until_s, late, words = self._late
        moves, self._moves = self._moves, []
        by_git = {path for move in moves for path in move.paths}
        if self._ports.clock.now() <= until_s:
            fresh = {*self._edits, *(edit.path for edit in of_open)} & late - by_git
            moves += [GitMove(words, sorted(fresh))] if fresh else []
            by_git |= fresh
            self._late = (until_s, late - by_git, words)  # what comes now is another's doing
        told = [edit for edit in of_open if edit.path not in by_git and not private(edit.path)]
        for path, edits in self._edits.items():
            now = self._now.pop(path, None)
            self._known[path] = now
            if now is None or path in by_git or self._is_open(path):
                del self._known[path]
            if path not in by_git and not private(path):
                told += edits
        self._edits = {}
        self._touched.clear()
        return told, moves

    def _reading(self, path: str) -> FileRead:
        """A file may be opened: from then on its record knows what changes."""
        found = self._read(path)
        if path in self._known and path not in self._workspace.buffers:
            self._stirred.discard(path)
            self._found(path, found)
        return found

    def _found(self, path: str, read: FileRead) -> None:
        """What lies there now."""
        if read.refusal:
            return
        try:
            text = None if read.data is None else plain_text(decoded(path, read.data))
        except EditRefused:
            text = None
        self._edits.pop(path, None)
        if text == self._known[path]:
            self._now.pop(path, None)
        else:
            self._now[path] = text


def _edits(path: str, before: str | None, now: str | None) -> list[UserChange]:
    """The regions that differ; of a file that is gone, or very long, one without its text."""
    if before is None or now is None:
        return []  # that a file is gone is told by its name
    if max(len(before), len(now)) > MOST_CHARS:
        return [UserChange(path, 0, "", "(the file is another one: read it again)\n")]
    return changes_of(path, before, now)


NOT_KNOWN = "it is not known yet whether it is ignored"
MOST_LOOKS = 3
"""While files come and go all the time, what is not known is held for private."""


class FileIndex:
    """Which files there are, and which of them are private."""

    def __init__(self, files: WorkspaceFiles, listed: Callable[[], None] = lambda: None) -> None:
        """``listed`` is called when there is another list of all files."""
        self._files = files
        self._tell = listed
        self._paths: list[str] = []
        self._public: frozenset[str] = frozenset()
        self._privacy: dict[str, tuple[str, bool]] = {}
        """Path -> why it is private, and whether it had other names (hard links) then.

        Of those that were looked up one by one.
        """
        self._origins: dict[str, str] = {}
        """Path -> the one that its text was moved from: what was private there stays private."""
        self._doubted: set[str] = set()
        """Paths that changed since the list was made: they, and what lies below, may be links."""
        self._changes = 1
        """Counts what made the list old."""
        self._listed = 0
        """The `changes` of which the list knows."""
        self._rules = 0
        """Counts the changes after which nothing is known any more."""
        self._looking = asyncio.Lock()

    def ready(self, paths: Collection[str] = ()) -> bool:
        """True if the list is up to date, and the privacy of these paths is known."""
        known = all(map(self._is_known, self._with_origins(paths)))
        return self._listed == self._changes and known

    async def prepare(self, paths: Collection[str] = ()) -> None:
        """Look now if need be, in a thread: a large workspace must not hold up the screen."""
        for _ in range(MOST_LOOKS):
            async with self._looking:
                if self.ready(paths):
                    return
                await self._look(self._with_origins(paths))

    def paths(self) -> list[str]:
        """All files that are neither ignored nor secret, sorted; maybe a little old."""
        held = {path for path in self._origins if self.privacy(path)}
        return [path for path in self._paths if path not in held] if held else self._paths

    def moved(self, path: str, target: str) -> None:
        """A text goes to another name, or may soon: it is no less private there."""
        self._origins[target] = self._origins.get(path, path)

    def expire(self, path: str = "") -> None:
        """A file came, went or changed: look again before the next request.

        After a change of an ignore file, or of who knows what, every file is held for private.
        """
        self._changes += 1
        if not path or is_ignore_file(path):
            self._rules += 1
            self._public, self._privacy = frozenset(), {}
            return
        self._doubted.add(path)
        self._privacy = {
            known: looked_up
            for known, looked_up in self._privacy.items()
            if known != path and not known.startswith(path + "/")
        }

    def privacy(self, path: str) -> str:
        """Why a file is not sent to a model without asking; empty if it may be.

        What was not looked up since it changed is private; so is a file that turned out, when it
        was read, to have other names (hard links), until they are looked up.
        """
        if path in self._origins and (reason := self._own_privacy(self._origins[path])):
            return reason
        return self._own_privacy(path)

    def _own_privacy(self, path: str) -> str:
        if not self._is_known(path):
            return NOT_KNOWN
        return self._privacy[path][0] if path in self._privacy else ""

    def _with_origins(self, paths: Collection[str]) -> list[str]:
        return [*paths, *self._origins.values()]

    def _is_known(self, path: str) -> bool:
        linked = path in self._files.linked
        if path in self._privacy:
            return self._privacy[path][1] or not linked
        return not linked and self._is_public(path)

    def _is_public(self, path: str) -> bool:
        """Listed, and nothing has changed there since."""
        if path not in self._public:
            return False
        return not self._doubted or self._doubted.isdisjoint(_above(path))

    async def _look(self, paths: list[str]) -> None:
        changes, rules = self._changes, self._rules
        if self._listed != changes:
            before, self._doubted = self._doubted, set()
            listed = await asyncio.to_thread(self._files.listing)
            if rules != self._rules:
                self._doubted |= before
                return
            other = listed != self._paths
            self._paths, self._public = listed, frozenset(listed)
            self._privacy, self._listed = {}, changes
            if other:
                self._tell()
        changes = self._changes
        if unknown := [p for p in paths if p not in self._privacy or not self._is_known(p)]:
            reasons = await asyncio.to_thread(self._reasons, unknown)
            if self._changes == changes:
                linked = self._files.linked
                self._privacy |= {path: (why, path in linked) for path, why in reasons.items()}

    def _reasons(self, paths: Collection[str]) -> dict[str, str]:
        """In a thread: look these up; of those that are listed only the other names."""
        listed = set(filter(self._is_public, paths))
        rest = [path for path in paths if path not in listed]
        reasons = self._files.privacy_of(rest) if rest else {}
        return reasons | (self._files.links_of(listed) if listed else {})


def _above(path: str) -> list[str]:
    """A path and the folders that it lies in."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


class Deed(Struct, frozen=True):
    """What is asked about, in words."""

    question: str
    """With the path at ``{}``."""
    why: str
    """With the reason at ``{}``."""
    file: str
    folder: str
    always: str
    no: str
    """The choices: for a file, a folder, the workspace for good, and the refusal."""
    consent: str
    """Remembers ``always`` among the commands that are allowed, as one that does nothing."""


SEND = Deed(
    "Send {} to the model?",
    "It is private: {}.",
    "Send it",
    "Send such files in this folder",
    "Always send such files in this workspace",
    "Keep it private",
    ": hard links are sent",
)
SAVE = Deed(
    "Save {} under all of its names?",
    "Take care: {}.",
    "Save it",
    "Save such files in this folder",
    "Always save such files in this workspace",
    "Do not save it",
    ": hard links are saved",
)


class FileConsent:
    """The user's answers, a file each; but once a folder where thousands of files are linked.

    A yes holds for the session, or for good. A no is asked again, but for a folder of which a
    model wants to read: that holds until the next turn.
    """

    def __init__(self, state: SessionState, ports: Ports) -> None:
        self._questions = state.questions
        self._ports = ports
        self._yes: set[tuple[Deed, str]] = set()
        self._no: set[tuple[Deed, str]] = set()
        self._asking: dict[tuple[Deed, str], Future[str]] = {}
        state.before_turn.append(lambda turn: self._no.clear())

    def allows(self, deed: Deed, path: str, reason: str) -> bool:
        """True if the user has said so; ``reason`` is why it has to be asked."""
        always = reason in FOLDER_WIDE and deed.consent in self._ports.consents
        return always or _about(deed, path, reason) in self._yes

    async def ask(self, deed: Deed, path: str, reason: str) -> bool:
        """Ask, unless the answer is known; one question at a time for what it is about."""
        about = _about(deed, path, reason)
        if about in self._no or self.allows(deed, path, reason):
            return about not in self._no
        if about not in self._asking:
            self._asking[about] = self._ask(deed, path, reason)
        try:
            choice = await self._asking[about]
        finally:
            self._asking.pop(about, None)
        if choice == deed.no:
            if deed is SEND and reason in FOLDER_WIDE:
                self._no.add(about)
            return False
        self._yes.add(about)
        if choice == deed.always and deed.consent not in self._ports.consents:
            self._ports.consents.add(deed.consent)
            self._ports.remember_consent(deed.consent)
        return True

    def _ask(self, deed: Deed, path: str, reason: str) -> Future[str]:
        why = deed.why.format(reason)
        choices: tuple[str, ...] = (deed.file, deed.no)
        if reason in FOLDER_WIDE:
            where = f"in {_folder(path)}" if _folder(path) else "beside it"
            why += f" The answer holds for all such files {where}."
            choices = (deed.folder, deed.always, deed.no)
        return self._questions.ask(deed.question.format(path), why, choices)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _about(deed: Deed, path: str, reason: str) -> tuple[Deed, str]:
    """What an answer holds for: a folder (with a slash at its end) or a file."""
    return deed, f"{_folder(path)}/" if reason in FOLDER_WIDE else path


Selection = tuple[Position, Position]


_MOST_TABS = 50
"""So many are opened again when a session goes on."""


class OpenFiles:
    """Tabs and cursors."""

    def __init__(self, state: SessionState, ports: Ports) -> None:
        self.catalogue = FileIndex(ports.files, lambda: state.folders_changed(listing=True))
        self.consents = FileConsent(state, ports)
        self.workspace = state.workspace
        self.status = state.status
        self.first: Callable[[], Awaitable[None]] | None = None
        """What is to be done before the first request; None: nothing."""
        self._preparing = asyncio.Lock()
        """A connection is prepared while the first prompt is: what is once is done by one."""
        self.state = state
        self._cursors: dict[str, tuple[Position, Selection | None]] = {}
        self._said: set[str] = set()
        """Read-only and new files that the user was told of."""
        self._ports = ports
        self.outside = OutsideChanges(state.workspace, ports)
        """What others do to files that the model knows."""
        self.project: ProjectWords | None = None
        """What the project says to the model; None before it was looked at."""
        self.on_listed: Callable[[Sequence[str]], Awaitable[None]] | None = None
        """Called when the files are listed, with what the user is about to say."""
        self.on_changed: Callable[[Iterable[str]], None] = lambda paths: None
        """Told which files others changed; none: any of them."""
        self._named: set[str] = set()
        """Files that were named, or read by the model."""
        self._texts: list[str] = []
        """What may name more of them."""
        self._words: list[str] = []
        """What may attach some."""
        self.gather: Callable[[Sequence[str]], Awaitable[None]] | None = None
        """Attaches what prompts name."""

    def open(
        self, path: str, line: int | None, col: int, *, aside: bool = False, new: bool = False
    ) -> None:
        """Open a file in a tab; a refusal is told.

        It becomes the active one, unless it is opened ``aside`` of another one. ``new``: one that
        is not there yet may be opened too.
        """
        try:
            buffer = self._new(path) if new else self.workspace.open(path)
        except EditRefused as error:
            self.state.trouble(Trouble(f"{path} was not opened", str(error)))
            return
        name = buffer.path  # one file has one name, however it was asked for
        if name not in self.status.open_paths:
            self.status.open_paths.append(name)
        if not aside or not self.status.active_path:
            self.status.active_path = name
            self._introduce(name)
        self.state.retabbed()
        if line is not None:
            target = buffer.clamp((line, col))
            self._cursors[name] = (target, None)
            self.state.goto((name, *target), aside=aside)

    def tabs(self) -> OpenTabs:
        """What is open, as it is kept of a session."""
        from tui.core.session_record import OpenTabs  # after the first paint

        rows = (
            (path, *self._cursors.get(path, ((0, 0), None))[0]) for path in self.status.open_paths
        )
        return OpenTabs(self.status.active_path, tuple(islice(rows, _MOST_TABS)))

    def reopen(self, tabs: OpenTabs) -> None:
        """Open what was open, as far as it is still there; the conversation stays in sight."""
        for path, line, col in tabs.places:
            with suppress(EditRefused):
                self.workspace.open(path)
                self.open(path, line, col, aside=True)
        if tabs.active in self.status.open_paths:
            self.status.active_path = tabs.active

    def _introduce(self, path: str) -> None:
        """Say once, when it comes into sight, what is unusual about a file."""
        why, record = self.workspace.read_only(path), self.workspace.documents.records[path]
        if path in self._said or not (why or record.blank):
            return
        self._said.add(path)
        what, step = ("Read-only", "") if why else (f"{path} is a new file", "saving creates it")
        words = why and f"{why}."
        self.state.trouble(Trouble(what, words, step, severity="information"))

    def _new(self, path: str) -> Buffer:
        """The buffer of a file that may be missing. Raises EditRefused."""
        try:
            return self.workspace.create(path)
        except EditRefused:
            return self.workspace.open(path)

    def close(self, path: str) -> None:
        """Close a tab; its neighbour becomes the active one."""
        paths = self.status.open_paths
        if path not in paths:
            return
        at = paths.index(path)
        paths.remove(path)
        if self.status.active_path == path:
            self.status.active_path = paths[min(at, len(paths) - 1)] if paths else ""
        self.state.retabbed()

    def renamed(self, path: str, name: str) -> None:
        """An open file has another name now: its tab and its cursor stay."""
        self.catalogue.moved(path, name)
        paths = self.status.open_paths
        if name in paths:
            self.close(path)
        elif path in paths:
            paths[paths.index(path)] = name
        if self.status.active_path == path:
            self.status.active_path = name
        if path in self._cursors:
            self._cursors[name] = self._cursors.pop(path)
            self.state.goto((name, *self._cursors[name][0]), aside=name != self.status.active_path)
        self.state.retabbed()

    def cursor(self, path: str, position: Position, selection: Selection | None) -> None:
        """The cursor moved; where it is, is the active file."""
        self._cursors[path] = (position, selection)
        if path != self.status.active_path and path in self.status.open_paths:
            self.status.active_path = path
            self.state.retabbed()

    def begin_as(self, other: OpenFiles) -> None:
        """The cursors stand, and the selections are, where they are there."""
        self._cursors = dict(other._cursors)

    def open_file(self, path: str) -> FileInContext:
        """A buffer as the model is told of it."""
        cursor, selection = self._cursors.get(path, (None, None))
        active = path == self.status.active_path
        return FileInContext(
            self.workspace.buffers[path],
            active=active,
            cursor=cursor if active else None,
            selection=selection if active else None,
            private=self.privacy(path),
            read_only=self.workspace.read_only(path),
            view=self.workspace.documents.quotable(path) is None,
        )

    def mention(self, text: str, words: str) -> None:
        """The user said this: what the project says of the files in it matters.

        ``words``: what of it the user wrote; lines that are quoted beside it attach nothing.
        """
        self._texts.append(text)
        self._words.append(words)

    def matters(self, path: str) -> None:
        """The model has read this file."""
        self._named.add(path)

    async def skill(self, path: str) -> FileRead | str | None:
        """See `ProjectWords.skill`."""
        return None if self.project is None else await self.project.skill(path)

    def paths_that_matter(self) -> set[str]:
        """Files that are open, were named or read, or have hunks."""
        return {*self.status.open_paths, *self.workspace.buffers, *self._named}

    @property
    def ready(self) -> bool:
        """True if a request can be composed without looking at the disk."""
        if self.first is not None or self.project is None or self._texts:
            return False
        if not self.outside.ready:
            return False
        if not self.catalogue.ready(self.workspace.buffers):
            return False
        return self.project.ready(self.paths_that_matter())

    async def prepare(self) -> None:
        """List the files if need be, look at who is private and at what the project says."""
        async with self._preparing:
            if self.first is not None:
                await self.first()
                self.first = None
        await self.outside.prepare()
        await self.catalogue.prepare(self.workspace.buffers)
        if self.project is None:
            from tui.engine.project import ProjectWords  # after the first paint

            self.project = ProjectWords(self.state, self._ports, self.catalogue, self.privacy)
        texts = tuple(self._texts)
        async with self._preparing:
            if self.gather is not None and (words := tuple(self._words)):
                await self.gather(words)
                self._words = [one for one in self._words if one not in words]
        self._named |= await self.project.look(self.paths_that_matter(), texts)
        if self.on_listed is not None:
            await self.on_listed(texts)
        self._texts = [text for text in self._texts if text not in texts]

    def privacy(self, path: str) -> str:
        """Why a file's text is not sent; empty if it may be."""
        reason = self.catalogue.privacy(path)
        return "" if self.consents.allows(SEND, path, reason) else reason

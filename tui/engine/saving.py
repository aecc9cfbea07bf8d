"""What lies on the disk because the user saves or decides: files written together, or none.

First every file is looked at, then the journal has what lies there and what belongs there, then
the new texts are brought to the disk beside the old ones (many at a time: 500 files one after the
other took seconds), then the files are replaced one by one. If one fails, those before it are
taken back; if duetto is killed, the next one finds the journal (`tui.engine.unfinished`).
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tui.core.document.disk_plan import DiskPlan
from tui.core.document.unfinished_writes import State, WriteStep, state_of
from tui.core.document.workspace import Workspace
from tui.core.files import MAX_BYTES, FileRead, Prepared, is_ignore_file
from tui.core.steps import AT_ONCE, Work, finished
from tui.engine import intents
from tui.engine.disk_changes import DiskChanges
from tui.engine.notices import Trouble
from tui.engine.open_files import SAVE
from tui.engine.services import Services
from tui.errors import EditRefused, FileRefused

if TYPE_CHECKING:
    from tui.engine.ports import WorkspaceFiles, WriteLog


class LaterWrites:
    """Sets of files that are written together, in the order in which they were due."""

    def __init__(self) -> None:
        self._sets: list[dict[str, bool]] = []
        """Path -> whether it is written over whatever lies there."""

    def __bool__(self) -> bool:
        """True while something waits."""
        return bool(self._sets)

    @property
    def paths(self) -> frozenset[str]:
        """All that wait."""
        return frozenset(path for one in self._sets for path in one)

    def add(self, forced: Mapping[str, bool]) -> None:
        """These are to be written, all or none; with them what shares a file with them."""
        joined, apart = dict(forced), []
        for one in self._sets:
            if joined.keys().isdisjoint(one):
                apart.append(one)
            else:
                both = {**one, **joined}
                joined = {path: joined.get(path, False) or one.get(path, False) for path in both}
        self._sets = [*apart, joined]

    def take(self, held: Collection[str]) -> list[dict[str, bool]]:
        """Take out the sets of which no file is held any more."""
        ready = [one for one in self._sets if one.keys().isdisjoint(held)]
        self._sets = [one for one in self._sets if not one.keys().isdisjoint(held)]
        return ready


def bring(
    files: WorkspaceFiles,
    plans: Mapping[str, DiskPlan],
    journal: WriteLog | None = None,
    why_not: Callable[[str], str] = lambda path: "",
) -> dict[str, str]:
    """Make the disk what the plans say; returns path -> why it was refused, empty: all is done.

    Every file is looked at before the first one is written. If a write fails all the same,
    those before it are taken back. ``why_not`` is asked of files that were read just now.
    """
    steps, refusals = _steps(files, plans, why_not)
    if refusals or not steps:
        return refusals
    unkept: FileRefused | None = None
    if journal is not None:
        needed = len(steps) > 1  # one file that is replaced whole is old or new by itself
        try:
            journal.begin(steps, files.mark, durable=needed)
        except FileRefused as error:
            if needed:
                return _unkept(steps, error)
            unkept, journal = error, None
    stuck = False
    try:
        texts = {step.path: (step.after, step.before) for step in steps if step.after is not None}
        ready = files.prepare(texts)
        refusals = ready.refusals or _noted(steps, ready, journal, unkept)
        if not refusals:
            steps = [replace(step, in_place=step.path in ready.in_place) for step in steps]
            refusals, stuck = _carried_out(files, steps, journal)
    finally:
        files.end()
    if journal is not None:
        (journal.leave if stuck else journal.end)()
    return refusals


def _noted(
    steps: Sequence[WriteStep],
    ready: Prepared,
    journal: WriteLog | None,
    unkept: FileRefused | None,
) -> dict[str, str]:
    """Have the journal say which files can be found half written; returns why it cannot."""
    if not ready.in_place:
        return {}
    if unkept is not None:
        return _unkept(steps, unkept)
    try:
        if journal is not None:
            journal.over(ready.in_place)
    except FileRefused as error:
        return _unkept(steps, error)
    return {}


def _unkept(steps: Sequence[WriteStep], error: FileRefused) -> dict[str, str]:
    why = f"not written, because {error}; these files are written together or not at all"
    return dict.fromkeys((step.path for step in steps), why)


def _carried_out(
    files: WorkspaceFiles, steps: Sequence[WriteStep], journal: WriteLog | None
) -> tuple[dict[str, str], bool]:
    """Write one file after the other; returns what was refused, all others are old then.

    And whether one came to a stop half way.
    """
    refusals: dict[str, str] = {}
    done: list[WriteStep] = []
    stuck = False
    files.modes.update({step.path: step.mode for step in steps if step.mode is not None})
    for step in steps:
        try:
            if step.after is not None:
                files.write(step.path, step.after, step.before)
            elif step.before is not None:
                files.delete(step.path, step.before)
        except FileRefused as error:
            stuck = not _is_old(files, step)
            half = "; part of it is written: duetto repairs that at its next start"
            refusals[step.path] = f"{error}{half if stuck else ''}"
            break
        done.append(step)
        if journal is not None:
            journal.done(step.path)
    for step in reversed(done) if refusals else ():
        try:
            _put(files, step.path, step.after, step.before)
            files.sweep((), "", step.folders)
        except FileRefused as error:
            refusals[step.path] = f"could not be put back: {error}"
            # what somebody else wrote over it meanwhile is theirs
            stuck |= state_of(step, files.read(step.path)) is not State.OTHER
    return refusals, stuck


def _is_old(files: WorkspaceFiles, step: WriteStep) -> bool:
    """Make sure of it, where a file was to be written in place and the disk failed."""
    read = files.read(step.path)
    if state_of(step, read) not in (State.TORN, State.NEW):
        return True
    try:
        _put(files, step.path, read.data, step.before)
    except FileRefused:
        return False
    return True


def _steps(
    files: WorkspaceFiles, plans: Mapping[str, DiskPlan], why_not: Callable[[str], str]
) -> tuple[list[WriteStep], dict[str, str]]:
    """What is to be written, as the journal keeps it; or why that cannot be, by the path."""
    changing = {path: plan for path, plan in plans.items() if plan.data != plan.expected}
    reads = {path: files.read(path) for path in changing}
    obstacles = {path: _obstacle(path, plan, reads[path]) for path, plan in changing.items()}
    again = _once_more(changing, reads)
    written = {path for path, plan in changing.items() if None not in (plan.data, plan.expected)}
    whys = {
        path: why or again.get(path, "") or (why_not(path) if path in written else "")
        for path, why in obstacles.items()
    }
    if refusals := {path: why for path, why in whys.items() if why}:
        return [], refusals
    changing = {path: plan for path, plan in changing.items() if path not in again}
    modes = {path: reads[path].mode for path in changing}
    steps = [
        WriteStep(
            path,
            plan.expected,
            plan.data,
            plan.hunks,
            files.missing_folders(path) if plan.expected is None else (),
            modes[path] or modes.get(plan.origin),
        )
        for path, plan in changing.items()
    ]
    return steps, {}


def _obstacle(path: str, plan: DiskPlan, read: FileRead) -> str:
    """Why a plan cannot be carried out, as far as can be seen without trying."""
    if read.refusal:
        return read.refusal
    if read.data is None and plan.expected is not None:
        return f"'{path}' was deleted from the disk"
    if read.data is not None and plan.expected is None:
        return f"'{path}' exists now"
    if read.data != plan.expected:
        return f"'{path}' was changed on disk by another program"
    if plan.data is not None and len(plan.data) > MAX_BYTES:
        return f"'{path}' would be larger than 8 MB, and could not be reopened"
    if plan.data is not None and b"\0" in plan.data:
        return f"'{path}' would hold a NUL byte, and could no longer be edited"
    return ""


def _once_more(plans: Mapping[str, DiskPlan], reads: Mapping[str, FileRead]) -> dict[str, str]:
    """Paths that are links to a file which is written by another path already.

    Path -> why that cannot be; empty: the same text belongs there, and it is written once.
    """
    first: dict[tuple[int, int], str] = {}
    again: dict[str, str] = {}
    for path, plan in plans.items():
        place = reads[path].place
        other = path if place is None else first.setdefault(place, path)
        if other != path:
            same = plan.data is not None and plan.data == plans[other].data
            words = f"'{path}' is another name of '{other}', and would get a different text"
            again[path] = "" if same else words
    return again


def _put(files: WorkspaceFiles, path: str, old: bytes | None, new: bytes | None) -> None:
    """Make a file new that is old. Raises FileRefused."""
    if new is not None:
        files.write(path, new, old)
    elif old is not None:
        files.delete(path, old)


LONG_S = 1.0
"""After so much waiting for the formatter it is said."""
_LINKED = "its other names are unknown"
_GONE = "it was deleted on disk, and is not created again without asking"


class Saving:
    """Workspace decides what must lie on the disk; this writes it and reports back."""

    def __init__(self, services: Services, can_ask: bool = False, *, linked: bool = False) -> None:
        """``can_ask``: somebody is there to answer; ``linked``: hard links are written unasked."""
        self._linked = linked
        self._state = services.state
        self._can_ask = can_ask
        self._files = services.ports.files
        self.clock = services.ports.clock
        self._journal = services.ports.journal
        self.catalogue = services.open_files.catalogue
        """Which files there are, and which of them are private."""
        self._workspace: Workspace = services.state.workspace
        self._consents = services.open_files.consents
        self._asking: set[str] = set()
        """Hard links of which the user is asked whether they are to be written."""
        self.looking = 0
        """Looks for the other names of files that are to be written."""
        self._answers: dict[str, str] = {}
        """Hard links that are known: why one is not to be written; empty: it may be."""
        self._told: set[int] = set()
        """Hunks of which it was said that what is typed in them is not saved."""
        self.changes = DiskChanges(services, self._overwrite, can_ask)
        """What others do to the files."""
        self.changes.on_released = self._write_waiting
        self._sleep, self._supervisor = services.ports.sleep, services.supervisor
        self.later = LaterWrites()
        """What is written when the formatter is done: till then hunks stay accepted."""
        self.on_written: Callable[[list[str]], None] = lambda paths: None
        """Called with the paths whose new text lies on the disk."""

    def save(self, intent: intents.SaveFile) -> None:
        """The user saves a file."""
        self._told.clear()
        self.write(intent.path, force=intent.force)
        self._say_what_is_left_out(intent.path)
        self._state.hunks_changed()
        self._state.retabbed()

    def outside(self, paths: Iterable[str]) -> None:
        """Somebody changed files (no path: maybe any open one): take the changes over."""
        self.changes.outside(paths)

    def written_later(self) -> frozenset[str]:
        """Files that are written when the formatter is done, at the latest when duetto ends."""
        return self.later.paths - self._workspace.conflicts - self._asking

    def write(self, *paths: str, force: bool = False) -> None:
        """Bring the disk to what the workspace says: all of these files, or none.

        On a refusal the hunks are pending again. While the formatter is at work on one of them
        nothing is written: what it makes of the old text would take the new one away.
        """
        finished(self.writing(dict.fromkeys(paths, force)))

    def _must_wait(self, forced: dict[str, bool]) -> bool:
        """Whether the formatter is at work on a file: then all are written later."""
        if self.changes.held.keys().isdisjoint(forced):
            return False
        if not self.later:
            self._supervisor.start(self._say_it_takes_long(), "waiting for the formatter")
        self.later.add(forced)
        return True

    async def _say_it_takes_long(self) -> None:
        await self._sleep(LONG_S)
        if paths := sorted(self.written_later()):
            what = f"{paths[0]} is" if not paths[1:] else f"{len(paths)} files are"
            why, step = (
                "the formatter is running on it",
                "it is written when that ends",
            )
            trouble = Trouble(f"{what} not written yet", why, step, severity="information")
            self._state.trouble(trouble)

    def _write_waiting(self) -> None:
        """The formatter is done with some files, or a question about one is answered."""
        asked = self._workspace.conflicts if self._can_ask else ()
        for plans in self.later.take({*self.changes.held, *asked, *self._asking}):
            finished(self.writing(plans))

    def writing(self, forced: dict[str, bool]) -> Work[None]:
        """Write these, with pauses; path -> whether it is written over whatever lies there."""
        if self._must_wait(forced):
            return
        paths = tuple(forced)
        self.changes.settle()
        blocked = [path for path in paths if path in self._workspace.conflicts and not forced[path]]
        if blocked:
            self._blocked(paths, blocked)
            return
        try:
            plans = dict[str, DiskPlan]()
            for path in paths:
                plans[path] = yield from self._plan(path, forced[path])
                yield AT_ONCE  # its bytes took as long
            for path in paths:
                if not forced[path] and self._is_outdated(path, plans[path]):
                    plans[path] = finished(self._plan(path, force=False))
        except EditRefused as error:
            self._state.trouble(Trouble(f"{paths[0]} was not saved", str(error)))
            return
        self._state.witness.decided(writing=True)
        if refusals := bring(self._files, plans, self._journal, self._why_linked):
            linked = [path for path, why in refusals.items() if why == _LINKED]
            if len(linked) == len(refusals):
                self._ask_about(linked, forced)
            else:
                self._refused(paths, {p: why for p, why in refusals.items() if why != _LINKED})
            return
        for path, plan in plans.items():
            if plan.data is None or plan.expected is None or is_ignore_file(path):
                self.catalogue.expire(path)
            self._workspace.written(path, plan.data)
            self._say_what_is_held(path, plan)
        self._state.witness.written(plans)
        changed = [path for path, plan in plans.items() if plan.data not in (None, plan.expected)]
        if changed:
            self.on_written(changed)

    def _why_linked(self, path: str) -> str:
        """Why a file is not written because of its other names; empty if it may be."""
        if self._linked or path not in self._files.linked:
            return ""
        return self._answers.get(path, _LINKED)

    def _ask_about(self, linked: Sequence[str], forced: dict[str, bool]) -> None:
        """Write these when it is known what their hard links lead to, and the user allows it."""
        self.later.add(forced)
        self._asking.update(linked)
        self._supervisor.start(self._settle_links(linked), "asking about hard links")

    async def _settle_links(self, linked: Sequence[str]) -> None:
        try:
            self.looking += 1
            try:
                reasons = await to_thread(self._files.links_of, linked)
            finally:
                self.looking -= 1
            for path, reason in reasons.items():
                allowed = not reason or await self._consents.ask(SAVE, path, reason)
                self._answers[path] = "" if allowed else f"{reason}; you have to allow it"
            self._asking.difference_update(linked)
            self._write_waiting()
        finally:
            self._asking.difference_update(linked)
            for path in linked:
                self._answers.pop(path, None)
        self._state.hunks_changed()
        self._state.retabbed()

    def _overwrite(self, path: str) -> None:
        self.save(intents.SaveFile(path, force=True))
        self._write_waiting()

    def _say_what_is_left_out(self, path: str) -> None:
        """A model writes in this file: what it has written so far is not saved (G06)."""
        record = self._workspace.documents.records.get(path)
        saved = not self._workspace.is_dirty(path) and path not in self._workspace.conflicts
        if saved and record is not None and record.landing is not None:
            why = "a model is writing in it: saved without what is undecided"
            self._state.trouble(Trouble(f"{path} is saved", why, severity="information"))

    def _say_what_is_held(self, path: str, plan: DiskPlan) -> None:
        """What is typed in a hunk that is not decided is on the disk with it, or not at all."""
        held = self._workspace.documents.records[path].held
        if all(hunk.id in self._told for hunk in held):
            return
        self._told.update(hunk.id for hunk in held)
        which = f"hunk {held[0].id}" if not held[1:] else f"{len(held)} hunks"
        why = f"you typed in {which}, and what the model wrote there is not accepted"
        step = "accept or reject it; your text stays in the editor, unsaved, until then"
        done = "was not saved" if plan.data is None else f"is saved without the lines of {which}"
        self._state.warn(f"{path} {done}", why, step)

    def _plan(self, path: str, force: bool) -> Work[DiskPlan]:
        """What is to be written; ``force``: whatever lies there now. Raises EditRefused."""
        plan = yield from self._workspace.planning(path)
        if plan.expected is plan.data is None and self._workspace.documents.records[path].blank:
            plan = DiskPlan(None, b"")
        if force:
            return DiskPlan(self._files.read(path).data, plan.data, plan.hunks)
        return plan

    def _is_outdated(self, path: str, plan: DiskPlan) -> bool:
        """Whether the user, or the disk, changed a file since it was planned."""
        record = self._workspace.documents.records[path]
        same = record.planned is not None and record.planned[1] == record.version
        return not same or plan.expected is not record.disk

    def _blocked(self, paths: Sequence[str], conflicts: list[str]) -> None:
        """Nothing is written while a file on the disk contradicts its buffer."""
        step = self._reopen(paths)
        for path in conflicts:
            read = self._files.read(path)
            if not read.refusal:
                gone = read.data is None
                why = _GONE if gone else "it changed on disk and conflicts with your changes"
                self._state.trouble(Trouble(f"{path} was not saved", why, step))
            self.changes.conflict(path)

    def _refused(self, paths: Sequence[str], refusals: dict[str, str]) -> None:
        step = self._reopen(paths)
        for path, why in refusals.items():
            self._state.trouble(Trouble(f"{path} was not written", why, step))
        self.outside(refusals)

    def _reopen(self, paths: Sequence[str]) -> str:
        """Nothing of these was written; what that means for their hunks, in words."""
        pending = [path for path in paths if self._workspace.write_failed(path)]
        if not pending:
            return ""
        return (
            "nothing was written, the hunks stay pending" if paths[1:] else "its hunks stay pending"
        )

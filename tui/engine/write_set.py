"""Files that are written together: all of them, or none.

First every file is looked at, then the journal has what lies there and what belongs there, then
the new texts are brought to the disk beside the old ones (many at a time: 500 files one after the
other took seconds), then the files are replaced one by one. If one fails, those before it are
taken back; if duetto is killed, the next one finds the journal (`tui.engine.unfinished`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tui.core.edits.disk.disk_plan import DiskPlan
from tui.core.edits.disk.unfinished import State, Step, state_of
from tui.core.file_read import MAX_BYTES, FileRead, Prepared
from tui.errors import FileRefused

if TYPE_CHECKING:
    from tui.engine.ports import Files, WriteJournal


def bring(
    files: Files,
    plans: Mapping[str, DiskPlan],
    journal: WriteJournal | None = None,
    why_not: Callable[[str], str] = lambda path: "",
) -> dict[str, str]:
    """Make the disk what the plans say; returns path -> why it was refused, empty: all is done.

    Every file is looked at before the first one is written. If a write fails all the same,
    those before it are taken back. ``why_not`` is asked of files that were read just now.
    """
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
        return refusals
    changing = {path: plan for path, plan in changing.items() if path not in again}
    if not changing:
        return {}
    return _together(files, _steps(files, changing, reads), journal)


def _together(files: Files, steps: Sequence[Step], journal: WriteJournal | None) -> dict[str, str]:
    """Write these into the journal, make them ready, and carry them out."""
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
    steps: Sequence[Step], ready: Prepared, journal: WriteJournal | None, unkept: FileRefused | None
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


def _unkept(steps: Sequence[Step], error: FileRefused) -> dict[str, str]:
    why = f"not written, as {error}; files are written together only with it"
    return dict.fromkeys((step.path for step in steps), why)


def _carried_out(
    files: Files, steps: Sequence[Step], journal: WriteJournal | None
) -> tuple[dict[str, str], bool]:
    """Write one file after the other; returns what was refused, all others are old then.

    And whether one came to a stop half way.
    """
    refusals: dict[str, str] = {}
    done: list[Step] = []
    stuck = False
    files.modes.update({step.path: step.mode for step in steps if step.mode is not None})
    for step in steps:
        try:
            _bring(files, step.path, step.before, step.after)
        except FileRefused as error:
            stuck = not _is_old(files, step)
            half = "; some of it is written: duetto puts that right when it is started again"
            refusals[step.path] = f"{error}{half if stuck else ''}"
            break
        done.append(step)
        if journal is not None:
            journal.done(step.path)
    for step in reversed(done) if refusals else ():
        try:
            _bring(files, step.path, step.after, step.before)
            files.sweep((), "", step.folders)
        except FileRefused as error:
            refusals[step.path] = f"could not be put back: {error}"
            # what somebody else wrote over it meanwhile is theirs
            stuck |= state_of(step, files.read(step.path)) is not State.OTHER
    return refusals, stuck


def _is_old(files: Files, step: Step) -> bool:
    """Make sure of it, where a file was to be written in place and the disk failed."""
    read = files.read(step.path)
    if state_of(step, read) not in (State.TORN, State.NEW):
        return True
    try:
        _bring(files, step.path, read.data, step.before)
    except FileRefused:
        return False
    return True


def _steps(
    files: Files, plans: Mapping[str, DiskPlan], reads: Mapping[str, FileRead]
) -> list[Step]:
    """What the journal keeps of the plans."""
    modes = {path: reads[path].mode for path in plans}
    return [
        Step(
            path,
            plan.expected,
            plan.data,
            plan.hunks,
            files.missing_folders(path) if plan.expected is None else (),
            modes[path] or modes.get(plan.origin),
        )
        for path, plan in plans.items()
    ]


def _obstacle(path: str, plan: DiskPlan, read: FileRead) -> str:
    """Why a plan cannot be carried out, as far as can be seen without trying."""
    if read.refusal:
        return read.refusal
    if read.data is None and plan.expected is not None:
        return f"'{path}' is gone from the disk"
    if read.data is not None and plan.expected is None:
        return f"'{path}' exists by now"
    if read.data != plan.expected:
        return f"'{path}' was changed on the disk by somebody else"
    if plan.data is not None and len(plan.data) > MAX_BYTES:
        return f"'{path}' would be larger than 8 MB, and could not be opened again"
    if plan.data is not None and b"\0" in plan.data:
        return f"'{path}' would hold a NUL byte, and could not be edited any more"
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
            words = f"'{path}' is another name of '{other}', and was to get another text"
            again[path] = "" if same else words
    return again


def _bring(files: Files, path: str, old: bytes | None, new: bytes | None) -> None:
    """Make a file new that is old. Raises FileRefused."""
    if new is not None:
        files.write(path, new, old)
    elif old is not None:
        files.delete(path, old)

"""Writes of several files that an earlier duetto began and did not end: said, and settled."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from tui.core.document.disk_plan import DiskPlan
from tui.core.document.unfinished_writes import FoundStep, State, Unfinished, found, told
from tui.engine.notices import Trouble
from tui.engine.saving import bring
from tui.errors import FileRefused

if TYPE_CHECKING:
    from tui.engine.ports import WorkspaceFiles, WriteLog
    from tui.engine.session_state import SessionState

Way = Literal["finish", "undo", "keep"]
"""All new, all old, or as it is."""
FINISH = "Write the rest: all of it new"
UNDO = "Take it back: all of it old"
KEEP = "Leave it as it is, and forget it"
LATER = "Decide later: duetto asks at its next start"
WRITE_NEW = "Write what was accepted"
PUT_OLD = "Put back what lay there before"
KEEP_DISK = "Keep what is on the disk"
SHOW = "Show all three versions"
_SHOWN_LINES = 120
"""Of one comparison, in the conversation."""
_WAYS: dict[str, Way] = {
    FINISH: "finish",
    UNDO: "undo",
    KEEP: "keep",
    WRITE_NEW: "finish",
    PUT_OLD: "undo",
    KEEP_DISK: "keep",
}


def look(
    files: WorkspaceFiles, journal: WriteLog, unfinished: Sequence[Unfinished]
) -> list[tuple[Unfinished, list[FoundStep]]]:
    """What was cut short, oldest first, and how its files are found.

    Temporary files are swept up; a file that was half written in place is old again; what is
    new in all its files is closed, as it was only not said to be done. So is what was the
    settling of another one: that one is asked about, and only once.
    """
    left = []
    for one in unfinished:
        findings = _findings(files, one)
        torn = {
            each.step.path: DiskPlan(each.now, each.step.before)
            for each in findings
            if each.state is State.TORN
        }
        if torn and not bring(files, torn):  # it stands in the journal already
            findings = _findings(files, one)
        files.sweep([step.path for step in one.steps], one.mark)
        half = any(each.state is State.TORN for each in findings)
        if all(each.state is State.NEW for each in findings) or (one.again and not half):
            _forget(journal, one)
        elif not one.again:
            left.append((one, findings))
    return left


def settle(
    files: WorkspaceFiles,
    journal: WriteLog,
    left: tuple[Unfinished, Sequence[FoundStep]],
    ways: dict[str, Way],
) -> dict[str, str]:
    """Bring the files to what was chosen for each path; returns path -> why not.

    ``left`` is what the choice was made of: a file that is not as it was found then is refused.
    The journal is kept if something was refused, or if a path has no way.
    """
    (one, findings), plans = left, {}
    files.modes.update({step.path: step.mode for step in one.steps if step.mode is not None})
    for each in findings:
        way = ways.get(each.step.path, "keep")
        want = {"finish": each.step.after, "undo": each.step.before, "keep": each.now}[way]
        if not (way == "keep" or want == each.now):
            plans[each.step.path] = DiskPlan(each.now, want, each.step.hunks)
    try:
        with journal.settling(one.name):
            if refusals := bring(files, plans, journal):
                return refusals
            files.sweep([step.path for step in one.steps], one.mark, _emptied(one, ways))
            if all(step.path in ways for step in one.steps):
                _forget(journal, one)
    except FileRefused as error:
        return dict.fromkeys(ways, str(error))
    return {}


def sentence(findings: Sequence[FoundStep]) -> str:
    """What was found, for who cannot be asked."""
    return f"writing {len(findings)} files was cut short before: {told(findings)}"


def _findings(files: WorkspaceFiles, one: Unfinished) -> list[FoundStep]:
    return found(one.steps, [files.read(step.path) for step in one.steps])


def _emptied(one: Unfinished, ways: dict[str, Way]) -> list[str]:
    """Folders that were made for files which are not there now, outer ones first."""
    folders = dict.fromkeys(
        folder
        for step in one.steps
        for folder in step.folders
        if ways.get(step.path) == "undo" and step.before is None
    )
    return sorted(folders)


def _forget(journal: WriteLog, one: Unfinished) -> None:
    try:
        journal.forget(one.name)
    except FileRefused:
        return  # another duetto was faster


class UnfinishedWrites:
    """Asks the user what is to become of them."""

    def __init__(
        self,
        state: SessionState,
        files: WorkspaceFiles,
        outside: Callable[[Iterable[str]], None],
        can_ask: bool,
    ) -> None:
        """``outside`` takes over what then lies on the disk."""
        self._state = state
        self._files = files
        self._outside = outside
        self._can_ask = can_ask

    async def look(self, journal: WriteLog) -> None:
        """Say at the start what is there, and do what the user chooses."""
        import asyncio  # `duetto apply` needs none

        unfinished = await asyncio.to_thread(journal.unfinished)
        for each in unfinished:  # one after the other: what is done for one may be another's
            for one, findings in look(self._files, journal, [each]):
                if self._can_ask:
                    await self._ask(journal, one, findings)
                else:
                    self._state.warn(sentence(findings))

    async def _ask(self, journal: WriteLog, one: Unfinished, findings: Sequence[FoundStep]) -> None:
        """Let the user choose, and do it."""
        ways = await self._together(findings)
        if ways is None:
            return
        for each in findings:
            if each.state not in (State.NEW, State.OLD):
                await self._alone(each, ways)
        refusals = settle(self._files, journal, (one, findings), ways)
        for path, why in refusals.items():
            step = "duetto asks again at its next start"
            self._state.trouble(Trouble(f"{path} was not written", why, step))
        self._outside({step.path for step in one.steps})
        if not refusals and ways:
            self._state.note(0, f"as you chose: {told(_findings(self._files, one))}")

    async def _together(self, findings: Sequence[FoundStep]) -> dict[str, Way] | None:
        """Ask about the files that are old or new; path -> way. None: later."""
        sure = [each for each in findings if each.state in (State.NEW, State.OLD)]
        if not any(each.state is State.OLD for each in sure):
            return {each.step.path: "keep" for each in sure}
        some_new = any(each.state is State.NEW for each in sure)
        choices = (FINISH, *((UNDO,) if some_new else ()), KEEP, LATER)
        count = f"{len(findings)} files" if findings[1:] else findings[0].step.path
        choice = await self._state.questions.ask(
            f"Writing {count} was cut short when duetto ended: write the rest?",
            f"{told(findings)}.",
            choices,
        )
        way = _WAYS.get(choice)
        return None if way is None else {each.step.path: way for each in sure}

    async def _alone(self, each: FoundStep, ways: dict[str, Way]) -> None:
        """Ask about a file that somebody changed since, of which there are three versions."""
        path = each.step.path
        choice = SHOW
        while choice == SHOW:
            choice = await self._state.questions.ask(
                f"{path} changed before it could be written: which text should stay?",
                "There are three: what lay there, what was accepted, and what is there now.",
                (KEEP_DISK, WRITE_NEW, PUT_OLD, SHOW, LATER),
            )
            if choice == SHOW:
                self._state.note(0, three_versions(each))
        if (way := _WAYS.get(choice)) is not None:
            ways[path] = way


def three_versions(each: FoundStep) -> str:
    """What was accepted and what is on the disk, each against what lay there before."""
    path, before = each.step.path, each.step.before
    accepted = _compared(before, each.step.after, f"{path} (before)", f"{path} (accepted)")
    there = _compared(before, each.now, f"{path} (before)", f"{path} (on the disk)")
    return f"{accepted}\n\n{there}"


def _compared(old: bytes | None, new: bytes | None, old_name: str, new_name: str) -> str:
    if old == new:
        return f"{new_name}: the same as {old_name}"
    if new is None:
        return f"{new_name}: there is no file"
    olds, news = ((side or b"").decode("utf-8", "replace").split("\n") for side in (old, new))
    lines = list(difflib.unified_diff(olds, news, old_name, new_name, lineterm=""))
    more = len(lines) - _SHOWN_LINES
    return "\n".join(lines[:_SHOWN_LINES] + ([f"... {more} more lines"] if more > 0 else []))

"""What the verifiers say of an attempt, beside what they say without it.

An attempt is judged in a shadow with the texts that it began with and its changes, but for those
of files that judge it; with what the user saved since, and without what was taken of others. Its
tests run first; linters and types, which only look at what passes, may find that it broke
something. What the workers of a cluster cannot judge is judged here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from tui.core.attempts import MOST, Result
from tui.core.document.documents import Documents
from tui.core.document.hunk import Hunk
from tui.core.document.workspace import Workspace
from tui.core.files import decoded, digest_of
from tui.core.run_progress import RunProgress
from tui.core.run_report import RunReport, brought_in
from tui.core.text.carried import carried_text
from tui.core.text.diff import blocks
from tui.core.text.rows import keep_ends
from tui.engine.judging import THEY_MEET, JudgingPlaces, judge, judged_apart, seen_alone
from tui.engine.ports import Ports, RunResult, Shadows, VerifyCommand
from tui.engine.verifier_plan import Verdict, verdict_of
from tui.errors import EditRefused, FileRefused

Texts = Mapping[str, bytes | None]
Changes = Mapping[str, tuple[bytes | None, bytes | None]]
"""Path -> what was there, and what is there now; None: there is no such file."""
_THE_TESTS = "the tests"


class _Said(NamedTuple):
    """What one verifier says of texts."""

    verdict: Verdict
    failed: Sequence[str]
    """Each with a name that it has wherever its lines are."""
    report: RunReport
    why: str = ""
    """Why it could not judge."""
    refused: bool = False
    """There are no shadows, for nobody."""


_Run = tuple[RunResult, RunReport]


class AttemptJudge:
    """The verifiers of one run of attempts; any number of attempts is judged side by side."""

    def __init__(
        self,
        ports: Ports,
        commands: Sequence[VerifyCommand],
        texts: Texts,
        say: Callable[[str], object] = lambda words: None,
    ) -> None:
        """``texts`` are those on the screen that are not on the disk, when the attempts begin.

        ``say`` is told why something is judged here and not on the cluster, each reason once.
        """
        self._ports, self._texts = ports, dict(texts)
        self._say, self._told = say, set[str]()
        tests = [one for one in commands if one.kind == "tests"]
        checks = [one for one in commands if one.kind in ("lint", "types")]
        self._commands = (*tests, *checks)
        self._has_tests = bool(tests)
        self._workers = None if ports.workers is None else ports.workers()
        self.at_once = JudgingPlaces(max(ports.side_by_side, 1))
        """Who shares this machine with others has theirs."""
        self._there_at_once = JudgingPlaces(MOST)
        self.disk: Callable[[], Texts] = dict
        """Files as they are on the disk, as far as that is known, for all runs are over it."""
        self.instead: Callable[[], Texts] = dict
        """Files of it that are judged as this says."""
        self._seen: Texts = {}
        """That when it was found out what fails without any attempt."""
        self._before: list[asyncio.Task[_Said]] = []
        self._outdated: list[asyncio.Task[_Said]] = []
        self.spent_s = 0.0
        """What the verifiers took, all runs added."""

    @property
    def judges(self) -> bool:
        """Something can say whether an attempt is right."""
        return self._has_tests and (self._ports.shadows is not None or self._workers is not None)

    def begin(self) -> None:
        """Find out what fails without any attempt, while the first answers stream."""
        self._outdated += self._before
        self._seen = self._disk()
        self._before = [
            asyncio.ensure_future(self._run(command, self._texts, lambda words: None))
            for command in (self._commands if self.judges else ())
        ]

    def _disk(self) -> Texts:
        return {**self.disk(), **self.instead()}

    async def _said_before(self, at: int) -> _Said:
        """What a verifier says without any attempt; anew, if the user saved something since."""
        now = self._disk()
        if any(now.get(path, was) != was for path, was in self._seen.items()):
            self.begin()
        return await asyncio.shield(self._before[at])

    async def end(self) -> None:
        """Nothing is to be judged any more."""
        runs = [*self._before, *self._outdated]
        for task in runs:
            task.cancel()
        await asyncio.gather(*runs, return_exceptions=True)

    def uncounted(self, changes: Changes) -> tuple[str, ...]:
        """The files of these that judge."""
        return tuple(
            sorted(path for path in changes if any(one.judges_by(path) for one in self._commands))
        )

    async def judge(
        self, number: int, changes: Changes, progress: Callable[[str], None] = lambda words: None
    ) -> Result:
        """What it comes to; ``progress`` is told how far its tests are."""
        left_out = self.uncounted(changes)
        texts = {path: now for path, (_, now) in changes.items()}
        added, removed = size_of(changes)
        counted = {path: one for path, one in changes.items() if path not in left_out}

        result = partial(
            Result,
            number,
            added=added,
            removed=removed,
            texts=digest_of(texts) if texts else b"",
            uncounted=left_out,
        )
        if not texts or not self.judges:
            return result("")
        old, mended = list[str](), False
        for at, command in enumerate(self._commands):
            said = await self._said_now(command, counted, progress)
            before = await self._said_before(at)
            if said.verdict not in ("passed", "failed"):
                if command.kind == "tests":
                    return result(said.verdict, why=said.why)
                continue
            if command.kind != "tests" and before.verdict not in ("passed", "failed"):
                continue  # nobody knows which problems are new
            known = set(before.failed)
            fresh = tuple(one for one in said.failed if one not in known)
            if command.kind == "tests":
                old += [one for one in said.failed if one in known]
                mended |= at == 0 and bool(known - set(old))
            fresh += _missing(before.report, said.report) if command.kind == "tests" else ()
            if fresh:
                return result("failed", broke=fresh, failed=tuple(old))
        if not old:
            return result("passed")
        return result("failed" if mended else "same", failed=tuple(old))

    async def _said_now(
        self, command: VerifyCommand, changes: Changes, progress: Callable[[str], None]
    ) -> _Said:
        """What a verifier says of it beside what the user saved in its files, as it comes home.

        Once more, if something was saved while it ran.
        """
        while True:
            saved = self._saved(changes)
            texts = await asyncio.to_thread(_beside, changes, saved)
            said = await self._run(command, {**self._texts, **texts}, progress)
            if saved == self._saved(changes):
                return said

    def _saved(self, changes: Changes) -> Texts:
        """Of its files those that the disk has otherwise than it found them."""
        disk = self._disk()
        found = {path: was for path, (was, _) in changes.items() if path not in self._texts}
        return {path: disk[path] for path, was in found.items() if disk.get(path, was) != was}

    async def _run(
        self, command: VerifyCommand, texts: Texts, progress: Callable[[str], None]
    ) -> _Said:
        here, workers = self._ports.shadows, self._workers
        texts = {**self.instead(), **texts}
        if workers is not None:
            said = await self._said_in(workers, self._there_at_once, command, texts, progress)
            if said.verdict != "error" or here is None or self._ports.workers_only:
                return said
            if said.refused:
                self._workers = None
            self._say_once(f"Judged on this machine, not on the cluster: {said.why}")
        assert here is not None
        return await self._said_in(here(), self.at_once, command, texts, progress)

    def _say_once(self, words: str) -> None:
        if words not in self._told:
            self._told.add(words)
            self._say(words)

    async def _said_in(
        self,
        shadows: Shadows,
        places: JudgingPlaces,
        command: VerifyCommand,
        texts: Texts,
        progress: Callable[[str], None],
    ) -> _Said:
        found = RunProgress(command.progress)

        def feed(data: bytes) -> None:
            found.feed(data)
            progress(found.words)

        try:
            async with places.one() as place:
                run, report = await judge(self._ports.runner, shadows, command, texts, feed)
            if place.met and places is self.at_once and command.kind == "tests":
                run, report = await self._alone(shadows, command, texts, (run, report))
        except FileRefused as error:
            return _Said("error", (), RunReport(), str(error), True)
        self.spent_s += run.seconds
        return _said(command, run, brought_in(report, texts))

    async def _alone(
        self, shadows: Shadows, command: VerifyCommand, texts: Texts, said: _Run
    ) -> _Run:
        """What failed beside others once more, alone."""

        async def look(small: VerifyCommand) -> _Run:
            seen = await judged_apart(self._ports.runner, shadows, small, texts)
            self.spent_s += seen[0].seconds
            return seen

        alone = await seen_alone(self.at_once, command, said, texts, look)
        if alone is not said:
            self._say_once(THEY_MEET)
        return alone


def _said(command: VerifyCommand, run: RunResult, report: RunReport) -> _Said:
    verdict = verdict_of(run, report)
    if run.strayed:
        return _Said("error", (), report, f"the tests used {run.strayed} as it is on the disk")
    if verdict == "failed":
        failed = [_name(command, one.name, one.path, one.message) for one in report.failed]
        if not failed and command.kind != "tests":
            return _Said("error", (), report)
        return _Said(verdict, failed or [_THE_TESTS], report)
    return _Said(verdict, (), report, report.fault or run.error)


def _name(command: VerifyCommand, name: str, path: str, message: str) -> str:
    """By which a failure is known again, and shown."""
    return name if command.kind == "tests" else f"{path} ({command.name}: {message or name})"


def _missing(before: RunReport, now: RunReport) -> tuple[str, ...]:
    """Tests that ran before and do not any more, in words.

    How many there are says nothing: some projects choose their tests by what was changed.
    """
    if before.counts is None or now.counts is None:
        return ()
    if sum(before.counts) and not sum(now.counts):
        return ("all tests: none ran",)
    skipped = now.counts.skipped - before.counts.skipped
    return (f"{skipped} tests: skipped",) if skipped > 0 else ()


def _beside(changes: Changes, saved: Texts) -> Texts:
    """The texts of an attempt, with what was saved in their files since it began."""
    found: dict[str, bytes | None] = {}
    for path, (was, now) in changes.items():
        found[path], disk = now, saved.get(path)
        with suppress(EditRefused):  # no text
            if was is not None and now is not None and disk is not None:
                texts = (decoded(path, data) for data in (was, disk, now))
                found[path] = carried_text(*texts).encode()
    return found


def known_disk(documents: Documents) -> Texts:
    """The files that the session knows, as they are on the disk."""
    return {path: one.disk for path, one in documents.records.items() if not one.view}


class TakenHunks:
    """What was taken of attempts while others of them go on: it is none of what these begin with.

    Elsewhere it may be accepted by then, and lie on the disk.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._ids: dict[str, set[int]] = {}
        self._texts: dict[str, tuple[object, bytes | None]] = {}
        """The files without them, each with what it was worked out from: no key changes it."""

    def add(self, hunks: Iterable[Hunk]) -> None:
        """These were taken, too."""
        for hunk in hunks:
            self._ids.setdefault(hunk.path, set()).add(hunk.id)

    def files(self) -> dict[str, bytes | None]:
        """Their files as they are to be seen: what the user saved is there, these hunks are not."""
        for path, ids in self._ids.items():
            record = self._workspace.documents.records.get(path)
            if record is None:
                continue
            accepted = [one.id for one in record.live if not one.undecided]
            moment = (record.disk, accepted)
            if path in self._texts and self._texts[path][0] == moment:
                continue
            text = record.disk
            if ids.intersection(accepted):
                with suppress(EditRefused):
                    text = self._workspace.with_hunks(path, set(accepted) - ids)
            self._texts[path] = moment, text
        return {path: text for path, (_, text) in self._texts.items()}


def size_of(changes: Changes) -> tuple[int, int]:
    """Lines that were put in and taken out; a binary file counts as one."""
    added = removed = 0
    for was, now in changes.values():
        try:
            old, new = (keep_ends((text or b"").decode()) for text in (was, now))
        except UnicodeDecodeError:
            added, removed = added + (now is not None), removed + (was is not None)
            continue
        for block in blocks(old, new):
            added += block.new_last - block.new_first
            removed += block.old_last - block.old_first
    return added, removed

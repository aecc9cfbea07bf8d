"""What a verdict stands on: the texts of one moment. Where they are others now it is out of date.

It holds again when the texts are the same again, whoever brought them back, and also where what
waited for a decision is on the disk now.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tui.core.conversation import Block
from tui.core.document.disk_plan import StillScreen
from tui.core.document.workspace import Workspace
from tui.core.files import first_of
from tui.core.run_report import RunReport
from tui.engine.services import Services

_QUIET_S = 0.3
"""So long nothing may change before the texts are looked at."""
_ECHO_S = 1.0
"""So long behind a run it may still be told of what that wrote."""


class Ground(Struct, frozen=True):
    """All open texts at one moment; for any thread."""

    screen: StillScreen
    disk: Mapping[str, bytes | None]
    left_out: Sequence[int] = ()
    """Hunks that the screen shows and this has not: they change what judges."""

    @staticmethod
    def of(screen: StillScreen, workspace: Workspace, left_out: Sequence[int] = ()) -> Ground:
        """With what lies on the disk now."""
        records = workspace.documents.records
        disk = {path: record.disk for path, record in records.items() if not record.view}
        return Ground(screen, disk, left_out)

    def texts(
        self, *, on_disk: bool, hunks: Collection[int] | None = None
    ) -> dict[str, bytes | None]:
        """Path -> what a run finds where it runs on the screen, or on the disk.

        On the screen are these of the hunks that wait; None: all.
        """
        return dict(self.disk) if on_disk else {**self.disk, **self.screen.files(hunks)}

    @property
    def words(self) -> str:
        """What is on the screen and not on the disk: ``5 pending hunks and unsaved text``."""
        waiting = len(self.screen.waiting)
        hunks = f"{waiting} pending {'hunk' if waiting == 1 else 'hunks'}" if waiting else ""
        unsaved = self.screen.files(()) and "unsaved text"
        return " and ".join(part for part in (hunks, unsaved) if part)

    @property
    def without(self) -> str:
        """What the screen shows that this has not: ``hunk 7, which changes what judges it``."""
        numbers = ", ".join(map(str, self.left_out))
        if len(self.left_out) > 1:
            return f"hunks {numbers}, which change what judges them"
        return f"hunk {numbers}, which changes what judges it" if numbers else ""


def _moment(workspace: Workspace) -> object:
    """Something else after any change of a text or of what lies on the disk."""
    documents = workspace.documents
    return documents.hunk_list.reviews, [
        (path, id(record.buffer), record.buffer.revision, record.version, id(record.disk))
        for path, record in documents.records.items()
    ]


class VerdictState:
    """Keeps `Status.outdated`, and that of the card, right."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._state = services.state
        self._workspace: Workspace = services.state.workspace
        self._blocks: Sequence[Block] = ()
        self.on_disk = False
        """The verdict was found on the disk, not on the screen."""
        self._ground = Ground(StillScreen(()), {})
        self._seen: object = None
        """The moment in which this was looked at."""
        self.unsure = False
        """Files that are not open were changed while the verifiers ran."""
        self._there: frozenset[str] | None = None
        """The files before a run on the disk, which may make others; None: none runs, or ran."""
        self._made: set[str] = set()
        """What such runs made."""
        self._told: set[str] = set()
        """What of it that was there before was told of: for it a verdict is out of date at once."""
        self._until_s = 0.0
        """So long what is made may be of such a run."""
        self._meanwhile: set[str] = set()
        """What was changed while it runs."""
        self._before: dict[str, bytes | None] = {}
        """Of files that such runs wrote anew, what was in them when it began."""
        self._task: asyncio.Task[None] | None = None
        self.on_outside: Callable[[Iterable[str]], None] = lambda paths: None
        """Told of files that somebody changed on the disk."""
        self.on_unknown: Callable[[], None] = lambda: None
        """Told that files are among them which are not open."""
        services.state.before_drain.append(self._frame)

    def begins(self) -> None:
        """The verifiers start, in a shadow, or on the disk once that is said."""
        self.unsure, self._there = False, None

    async def begins_on_disk(self) -> None:
        """They start on the disk: see which files are there before."""
        catalogue = self._services.open_files.catalogue
        await catalogue.prepare()
        self._there, self._until_s = frozenset(catalogue.paths()), math.inf
        self._before = await asyncio.to_thread(self._texts, [*self._before])

    def _texts(self, paths: Iterable[str]) -> dict[str, bytes | None]:
        return {path: self._services.ports.files.read(path).data for path in paths}

    def ends(self) -> None:
        """The verifiers have ended."""
        self._until_s = self._services.ports.clock.now() + _ECHO_S
        meanwhile, self._meanwhile = self._meanwhile, set()
        self._changed(meanwhile)

    def stands(self, blocks: Sequence[Block], ground: Ground, *, on_disk: bool) -> None:
        """The verdict in these cards was found on this."""
        self._blocks, self._ground, self.on_disk = blocks, ground, on_disk
        self._seen = None
        self._say(outdated=self.unsure)
        if self.unsure:
            self._blocks = ()
        self._frame()

    async def holds(self, left_out: Sequence[int]) -> bool:
        """Whether it stands on all that is there now, but for these hunks; the cards say so."""
        blocks, then = self._blocks, self._ground
        screen = (await self._services.screen()).without(left_out)
        now = Ground.of(screen, self._workspace, left_out)
        same = await asyncio.to_thread(_same, then, now, self.on_disk)
        if not same or not blocks or blocks is not self._blocks or self.unsure:
            return False
        for block in blocks if now.without else ():
            block.report = replace(block.report or RunReport(), left_out=now.without)
            self._state.changed(block)
        self.stands(blocks, now, on_disk=self.on_disk)
        return True

    def forget(self) -> None:
        """There is no verdict any more."""
        self._blocks = ()
        self._say(outdated=False)

    def outside(self, paths: Iterable[str]) -> None:
        """Somebody changed files on the disk: nothing more is known of those that are not open."""
        mark = self._services.ports.files.mark  # of files that saving makes for a moment
        changed = {path for path in paths if mark not in path}
        self.on_outside(changed)
        if others := changed - self._workspace.buffers.keys():
            self.on_unknown()
        if self._there is not None and self._until_s == math.inf:
            self._meanwhile |= others
        else:
            self._changed(others)

    def _changed(self, paths: set[str]) -> None:
        """Files that are not open were changed, by a run on the disk or by somebody else."""
        if self._there is None or self._services.ports.clock.now() > self._until_s:
            self._made -= paths
        else:
            self._made |= paths - self._there
            paths = paths - self._made
            before = {path: self._before.get(path) for path in paths}
            self._before |= before
            paths = {
                path
                for path, now in self._texts(paths).items()
                if now is None or now != before[path]
            }
            if fresh := sorted(paths - self._told):
                self._told |= paths
                why = f"{first_of(fresh, 3)} changed while the tests ran on the disk"
                self._state.note(0, f"The verdict is out of date: {why}")
        if paths:
            self.unsure = True
            if self._blocks:
                self._say(outdated=True)
            self._blocks = ()

    def _frame(self) -> None:
        if not self._blocks or self._task is not None or self._seen == _moment(self._workspace):
            return
        if self._seen is not None:
            self._say(outdated=True)
        self._task = self._services.supervisor.start(self._look(), "looking at a verdict's texts")
        self._task.add_done_callback(self._looked)

    def _looked(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled():
            self._state.wake()

    async def _look(self) -> None:
        """When all is quiet, see whether the texts are those of the verdict."""
        before = self._seen
        while before is not None and before != (moment := _moment(self._workspace)):
            before = moment
            await self._services.ports.sleep(_QUIET_S)
        self._seen = _moment(self._workspace)
        blocks, then, on_disk = self._blocks, self._ground, self.on_disk
        screen = (await self._services.screen()).without(then.left_out)
        now = Ground.of(screen, self._workspace)
        same = await asyncio.to_thread(_same, then, now, on_disk)
        if blocks and blocks is self._blocks:
            self._say(outdated=not same)

    def _say(self, *, outdated: bool) -> None:
        if self._state.status.outdated != outdated:
            self._state.status.outdated = outdated
            self._state.restated()
        for block in self._blocks:
            if block.outdated != outdated:
                block.outdated = outdated
                self._state.changed(block)


def _same(then: Ground, now: Ground, on_disk: bool) -> bool:
    """Whether a run finds the same; a file that was not open then was as it is on the disk now."""
    before, after = then.texts(on_disk=on_disk), now.texts(on_disk=on_disk)
    here = {**before, **after}
    return all(before.get(path, now.disk.get(path)) == after.get(path, here[path]) for path in here)

"""What the front end sees: transcript, status, meter, and the merged notices of what changed.

Everything here is synchronous and cheap: a delta marks a block, and `on_wake` is called once
when the notices go from empty to non-empty.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from tui.core.edits.hunk import Hunk
from tui.core.edits.workspace import Workspace
from tui.core.meter import Meter
from tui.core.turn import Block, BlockKind, BlockState, Transcript
from tui.engine.input_first import InputFirst
from tui.engine.intents import Against
from tui.engine.notices import Notices, Status, Trouble
from tui.engine.questions import Questions

Place = tuple[str, int, int]
"""Path, line and column, 0-based."""


def _nothing() -> None:
    """Before a front end is there, nobody is woken."""


class Board:
    """The engine's side of the notice board."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.transcript = Transcript()
        self.status = Status()
        self.meter = Meter()
        self.on_wake: Callable[[], None] = _nothing
        self.before_drain: list[Callable[[], None]] = []
        """Called once a drain: work that is due once a frame, not once a delta."""
        self.before_turn: list[Callable[[int], None]] = []
        """Called with its number before a turn begins."""
        self.input_first = InputFirst()
        self.questions = Questions(self.status, self.restated)
        self._notices = Notices()
        self._awake = False
        self._hunks_revision = workspace.hunks_revision

    def drain(self) -> Notices:
        """What changed since the last drain."""
        for due in self.before_drain:
            due()
        notices, self._notices = self._notices, Notices()
        self._awake = False
        notices.buffers |= self.workspace.touched()
        if self.workspace.hunks_revision != self._hunks_revision:
            self._hunks_revision = self.workspace.hunks_revision
            notices.hunks = notices.tabs = True
        notices.tabs |= bool(notices.buffers)
        return notices

    def wake(self) -> None:
        """Something changed: have the front end drain, once."""
        if not self._awake:
            self._awake = True
            self.on_wake()

    def wake_again(self) -> None:
        """A front end came: it has not heard of what waits."""
        if self._awake:
            self.on_wake()

    def add(self, block: Block, text: str = "") -> Block:
        """Append a block to the conversation."""
        if text:
            block.append(text)
        self._changed_from(self.transcript.add(block))
        return block

    def note(self, turn: int, text: str, state: BlockState = "done") -> Block:
        """Say in the conversation what happened."""
        return self.add(Block(BlockKind.NOTE, turn, state=state), text)

    def append(self, block: Block, text: str) -> None:
        """Add text to a block; O(1) for the newest blocks."""
        block.append(text)
        self.changed(block)

    def close(self, block: Block, state: BlockState = "done") -> None:
        """A block is finished."""
        if block.state == "open":
            block.state = state
            self.changed(block)

    def half_written(self, turn: int) -> list[Block]:
        """What the turn's newest answer left half-written; what was whole stands."""
        found: list[Block] = []
        for block in reversed(self.transcript.blocks):
            if block.turn != turn or block.kind in (BlockKind.USER, BlockKind.NOTE):
                break
            if block.kind is BlockKind.TEXT and block.state == "cut":
                found.append(block)
        return found

    def supersede(self, blocks: list[Block]) -> None:
        """These broke off, and the same is said again."""
        for block in blocks:
            block.state = "failed"
            self.changed(block)

    def changed(self, block: Block) -> None:
        """A block of the conversation changed."""
        blocks = self.transcript.blocks
        index = len(blocks) - 1
        while index > 0 and blocks[index] is not block:
            index -= 1
        self._changed_from(index)

    def metered(self) -> None:
        """The meter moved."""
        self._notices.meter = True
        self.wake()

    def landed(self, path: str, line: int, hunk: Hunk | None = None) -> None:
        """The model wrote here, in this hunk."""
        self._notices.landing = (path, line)
        if hunk is not None and hunk.path == path:
            self.meter.wrote(hunk, line)
        self.wake()

    def hunks_changed(self) -> None:
        """Stages, decisions or texts changed in the workspace."""
        self._notices.hunks = True
        self.wake()

    def restated(self) -> None:
        """The status changed."""
        self._notices.status = True
        self.wake()

    def retabbed(self) -> None:
        """Open files, the active one or their saved state changed."""
        self._notices.tabs = self._notices.status = True
        self.wake()

    def touched(self, path: str) -> None:
        """The text of a file changed."""
        self._notices.buffers.add(path)
        self._notices.tabs = True
        self.wake()

    def goto(self, place: Place, *, aside: bool = False) -> None:
        """Show this place: the user asked for it.

        ``aside``: once its file is shown; another one is the active one.
        """
        if aside:
            self._notices.gotos_before.append(place)
        else:
            self._notices.goto = place
        self.wake()

    def show_diff(self, path: str, against: Against) -> None:
        """Show a file (empty: the active one) in a diff view: the user asked for it."""
        self._notices.diff = (path or self.status.active_path, against)
        self.wake()

    def folders_changed(
        self, folders: Collection[str] = (), *, git: bool = False, listing: bool = False
    ) -> None:
        """Files came or went in these folders, or what git says or the list of all is new."""
        self._notices.folders.update(folders)
        self._notices.git |= git
        self._notices.listing |= listing
        self.wake()

    def trouble(self, trouble: Trouble) -> None:
        """Tell the user that something went wrong."""
        self._notices.troubles.append(trouble)
        self.wake()

    def _changed_from(self, index: int) -> None:
        first = self._notices.transcript_from
        if first is None or index < first:
            self._notices.transcript_from = index
        self.wake()

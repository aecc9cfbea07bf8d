"""What a review shows, and when it is looked at again: hunks of a turn, those that wait, or a diff.

It is live: what lands shows within a moment, not per token, and at most a share of the time goes
into laying it out.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Literal

from textual.geometry import Size
from textual.screen import Screen
from textual.timer import Timer

from tui.core.document.hunk import Hunk, Need
from tui.core.files import counted
from tui.core.steps import Work
from tui.engine.intents import Against
from tui.engine.session import Session
from tui.ui.review.changes import (
    DiffLoad,
    FileChanges,
    HunkCounts,
    following,
    making,
    next_words,
)
from tui.ui.review.view import DiffView

SPLIT_COLUMNS = 120
"""From this width on both sides stand beside each other, unless the user says otherwise."""
FEWEST_SPLIT = 60
_PAUSE_S, _DIFF_PAUSE_S, _SHARE, _LONG_S = 0.05, 0.5, 8, 0.4
"""After each time hunks or diffs are laid out it rests so long, or so many times as long as that
took; what took longer than this was done in parts, and it rests as long."""


class ReviewContent:
    """Lays out what is to be shown, and knows in words what that is."""

    def __init__(
        self, session: Session, view: DiffView, screen: Screen[None], on_laid: Callable[[], object]
    ) -> None:
        """``screen`` gives its size, timers and workers; ``on_laid`` is called after a layout."""
        self.which: Literal["turn", "pending"] = "turn"
        """Whose hunks are shown."""
        self.against: Against | None = None
        """What the files are compared with; None: hunks are shown."""
        self.path = ""
        """Of the file that is compared; empty: all files."""
        self.from_review = True
        """Behind the last diff comes the review again."""
        self.wanted_split: bool | None = None
        """The user wants both sides beside each other; None: as there is room."""
        self.start_after = 0
        """The hunk behind which the review goes on; 0: at the first one that waits."""
        self.anew = True
        """The next layout chooses where to begin."""
        self.laid_for = Size(0, 0)
        """The size of the screen when it was laid out last."""
        self._session = session
        self._view = view
        self._screen = screen
        self._on_laid = on_laid
        self.load = DiffLoad(session)
        """Makes the diffs."""
        self._timer: Timer | None = None
        self._again_s = self._began_s = 0.0
        self._stopped = False
        self._look_after = False
        """Something changed while the last layout was made."""
        self._loading = False
        """A diff is being worked out."""

    @property
    def decides(self) -> bool:
        """True if hunks are shown; else a diff that is only looked at."""
        return self.against is None

    @property
    def split(self) -> bool:
        """Both sides beside each other."""
        width = self._screen.size.width
        wanted = width >= SPLIT_COLUMNS if self.wanted_split is None else self.wanted_split
        return wanted and width >= FEWEST_SPLIT

    def stop(self) -> None:
        """Nothing is shown any more."""
        self._stopped = True

    def compare(self, against: Against | None) -> None:
        """Show this diff; None: the hunks."""
        self.against, self.anew = against, against is not None
        if against is not None:
            self._view.words = "One moment…"
            self._view.show([])
        self.look()

    def compare_with_next(self) -> None:
        """Compare with the next of disk, HEAD and the turn's start; then show the review again."""
        self.compare(following(self.against, self.from_review))

    # -- laying out

    def look_soon(self) -> None:
        """Lay out anew when that is due: at most a share of the time goes into it."""
        if self._view.laying:
            self._look_after = True
        elif self._timer is None:
            wait_s = max(self._again_s - perf_counter(), 0.0)
            self._timer = self._screen.set_timer(wait_s, self.look) if wait_s else None
            if not wait_s:
                self.look()

    def look(self) -> None:
        """See what there is now, and show it."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._stopped:
            return
        self._began_s = perf_counter()
        self.laid_for = self._screen.size
        self._look_after = False
        if self.against is None:
            self._show(making(self._session.workspace, self._listed(), self._view.cursor.places))
            return
        if not self._loading:
            self._loading = True
            self._screen.run_worker(self._diff(), group="diff")
        self._again_s = self._began_s + _DIFF_PAUSE_S

    async def _diff(self) -> None:
        """Work the diff out, and show it if it is still the one that is wanted."""
        began_s = perf_counter()
        files: list[FileChanges] = []
        wanted: tuple[Against | None, str] | None = None
        while not self._stopped and wanted != (self.against, self.path):
            wanted = against, path = self.against, self.path
            files = [] if against is None else await self.load.files(against, path)
        self._loading = False
        if self.against is not None and not self._stopped:
            self._began_s = began_s
            self._show(files)

    def _show(self, files: Work[list[FileChanges]] | list[FileChanges]) -> None:
        self._view.words = "One moment…"
        self._view.show(files, self._view.options._replace(split=self.split), self._laid)

    def _laid(self) -> None:
        """What there is is shown."""
        view = self._view
        view.words = self._nothing()
        if self.anew and view.cursor.files:
            self.anew = False
            if self.decides:
                if not view.cursor.choose_hunk(self.start_after):
                    view.cursor.step(-1)
                hunk = view.cursor.hunk
                if hunk is not None and not hunk.decidable:
                    view.cursor.next_pending()
        self._on_laid()
        now_s = perf_counter()
        took_s = now_s - self._began_s
        pause_s = _DIFF_PAUSE_S if self.against else _PAUSE_S
        self._again_s = now_s + max(pause_s, min(took_s * _SHARE, _LONG_S), took_s)
        if self._look_after:
            self._look_after = False
            self.look_soon()

    def _listed(self) -> list[Hunk]:
        """The hunks to be shown, in the order in which they came."""
        workspace = self._session.workspace
        if self.which == "pending":
            return workspace.hunk_list.unsettled()
        hunks = workspace.hunks
        rows = range(len(hunks) - 1, -1, -1)
        return hunks[next((row for row in rows if hunks[row].turn != hunks[-1].turn), -1) + 1 :]

    # -- in words

    @property
    def words(self) -> str:
        """What is shown."""
        if self.against is not None:
            count = len(self._view.cursor.files)
            files = counted(count, "file")
            return self.load.words(self.against, files)
        what = "last turn" if self.which == "turn" else "all pending"
        if self._session.status.auto_accept:
            what += " · auto-accept"
        return f"{what} · {_counted(self._view.cursor.laid.counts)}{self._elsewhere()}"

    @property
    def next_words(self) -> str:
        """Where `compare_with_next` leads."""
        return next_words(self.against, self.from_review)

    def _nothing(self) -> str:
        """What is said where there is nothing to show."""
        if self.against is not None:
            return self.load.nothing(self.against, self.path)
        if self.which == "pending":
            return "No hunk is waiting for a decision. t shows the last turn's."
        return "No model has changed a file yet. Its changes are reviewed here as they land."

    def _elsewhere(self) -> str:
        """How many hunks of earlier turns wait, and how to see them."""
        workspace = self._session.workspace
        if self.which == "pending" or not workspace.hunks:
            return ""
        latest = workspace.hunks[-1].turn
        before = (one for one in workspace.hunk_list.in_file(None) if one.hunks[0].turn != latest)
        waiting = sum(one.needs[Need.LOOK] + one.needs[Need.DECISION] for one in before)
        return f" · {waiting:,} from before, t shows them" if waiting else ""


def _counted(counts: HunkCounts) -> str:
    """How many there are, and how they stand."""
    total = counted(counts.total, "hunk")
    told = [(counts.waiting, "pending"), (counts.conflicts, "in conflict")]
    told += [(counts.accepted, "accepted"), (counts.rejected, "rejected")]
    told += [(counts.refused, "refused")]
    parts = [f"{count:,} {word}" for count, word in told if count]
    return " · ".join([total, *parts])

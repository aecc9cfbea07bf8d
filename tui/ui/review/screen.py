"""The screen on which changes are looked at: a whole turn's hunks, or a diff against something.

It is live: what lands shows within a moment, not per token, and what was looked at stays where
it is on the screen.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Literal

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Size
from textual.message import Message
from textual.timer import Timer

from tui.core.edits.hunk import Hunk, Need
from tui.core.edits.workspace import Workspace
from tui.core.steps import Work
from tui.engine.intents import Against
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui.keys.table import Scope, When
from tui.ui.review.bars import FileList, Title, TitleBar
from tui.ui.review.changes import (
    DiffLoad,
    FileChanges,
    HunkCounts,
    against_words,
    following,
    making,
    next_words,
)
from tui.ui.review.decisions import DecidingScreen
from tui.ui.review.view import DiffView
from tui.ui.rows import inert
from tui.ui.sheets import sheet
from tui.ui.widgets.bars import KeysLine

SPLIT_COLUMNS = 120
"""From this width on both sides stand beside each other, unless the user says otherwise."""
_FEWEST_SPLIT = 60
WIDE_COLUMNS = 200
"""From this width on the files have a column of their own."""
_PAUSE_S, _DIFF_PAUSE_S, _SHARE, _LONG_S = 0.05, 0.5, 8, 0.4
"""After each time hunks or diffs are laid out it rests so long, or so many times as long as that
took; what took longer than this was done in parts, and it rests as long."""
Which = Literal["turn", "pending"]


class ReviewScreen(DecidingScreen):
    """Shows the hunks of the last turn, all pending ones, or diffs."""

    CSS_PATH = sheet("review_screen")
    AUTO_FOCUS = "#review-diff"

    def __init__(
        self,
        session: Session,
        tell: Callable[[Message], object],
        *,
        against: Against | None = None,
        path: str = "",
    ) -> None:
        """``tell`` hands the workbench a message; ``against``: a diff (of one file, or of all)."""
        super().__init__()
        self.session = session
        self.view = DiffView(id="review-diff")
        self.scopes: tuple[Scope, ...] = ("turn", "diff")
        self._tell = tell
        self._against = against
        self._path = path
        self._from_review = against is None
        self._came_from = 0
        """The hunk that was chosen before a diff was shown."""
        self.after = 0
        """The hunk behind which the review goes on; 0: at the first one that waits."""
        self._which: Which = "turn"
        self._split: bool | None = None
        self._title = TitleBar(id="review-title")
        self._list = FileList(id="review-files")
        self._keys = KeysLine(id="review-keys")
        self._load = DiffLoad(session)
        self._look_timer: Timer | None = None
        self._look_again_s = self._began_s = 0.0
        self._laid_out = Size(0, 0)
        """The size of the screen for which it was laid out last."""
        self._first = True
        self._left = False
        self._look_after = False
        """Something changed while the last layout was made."""
        self._loading = False
        """A diff is being worked out."""

    @property
    def decides(self) -> bool:
        """True if hunks are shown."""
        return self._against is None

    @property
    def split(self) -> bool:
        """Both sides beside each other."""
        width = self.size.width
        wanted = width >= SPLIT_COLUMNS if self._split is None else self._split
        return wanted and width >= _FEWEST_SPLIT

    def compose(self) -> ComposeResult:
        """Title, files, diff, keys."""
        yield self._title
        with Container(id="review-body"):
            yield self._list
            yield self.view
        yield self._keys

    def on_mount(self) -> None:
        """Show what there is."""
        self.view.words = "One moment…" if self._against else ""
        self.call_after_refresh(self.look)
        self.app.theme_changed_signal.subscribe(self, lambda _: self.recolour())

    def sync(self, notices: Notices) -> None:
        """Take up what changed; called once a frame."""
        if self._left or not self.is_mounted:
            return
        if notices.buffers or (notices.hunks if self.decides else notices.git):
            self._look_soon()
        if notices.status:
            self.update_bars()
        for trouble in notices.troubles:
            if trouble.severity == "information":
                self.say(inert(". ".join(filter(None, (trouble.what, trouble.why)))))

    def recolour(self) -> None:
        """The theme changed."""
        for part in (self._title, self._list, self._keys, self.view):
            part.recolour()

    def leave(self, message: Message | None = None) -> None:
        """Back to the workbench, which gets this message."""
        self._left = True
        self.app.theme_changed_signal.unsubscribe(self)  # it would keep the screen
        self.dismiss()
        if message is not None:
            self._tell(message)

    # -- looking

    def _look_soon(self) -> None:
        """Lay out anew when that is due: at most a share of the time goes into it."""
        if self.view.laying:
            self._look_after = True
        elif self._look_timer is None:
            wait_s = max(self._look_again_s - perf_counter(), 0.0)
            self._look_timer = self.set_timer(wait_s, self.look) if wait_s else None
            if not wait_s:
                self.look()

    def look(self) -> None:
        """See what there is now, and show it."""
        if self._look_timer is not None:
            self._look_timer.stop()
            self._look_timer = None
        if self._left:
            return
        began_s = self._began_s = perf_counter()
        self._laid_out = self.size
        self._look_after = False
        if self._against is None:
            workspace = self.session.workspace
            listed = _listed(workspace, self._which)
            self._show(making(workspace, listed, self.view.places))
        else:
            if not self._loading:
                self._loading = True
                self.run_worker(self._diff(), group="diff")
            self._look_again_s = began_s + _DIFF_PAUSE_S

    async def _diff(self) -> None:
        """Work the diff out, and show it if it is still the one that is wanted."""
        began_s = perf_counter()
        files: list[FileChanges] = []
        wanted: tuple[Against | None, str] | None = None
        while not self._left and wanted != (self._against, self._path):
            wanted = against, path = self._against, self._path
            files = [] if against is None else await self._load.files(against, path)
        self._loading = False
        if self._against is not None and not self._left:
            self._began_s = began_s
            self._show(files)

    def _show(self, files: Work[list[FileChanges]] | list[FileChanges]) -> None:
        self.view.words = "One moment…"
        self.view.show(files, self.view.look._replace(split=self.split), self._laid)

    def _laid(self) -> None:
        """What there is is shown."""
        view = self.view
        view.words = _nothing(self._which, self._against, self._path, self._load.why)
        if self._first and view.files:
            self._first = False
            if self.decides:
                if not view.choose_hunk(self.after):
                    view.step(-1)
                hunk = view.hunk
                if hunk is not None and not hunk.decidable:
                    view.next_pending()
        self.update_bars()
        self._look_again_s = _rested(self._began_s, _DIFF_PAUSE_S if self._against else _PAUSE_S)
        if self._look_after:
            self._look_after = False
            self._look_soon()

    def update_bars(self) -> None:
        """Title, files and footer say what there is now."""
        self._title.say(self._titled())
        self._list.show(self.view.files, self.view.file)
        status = self.session.status
        states: set[When] = {"busy" if status.busy else "idle"}
        hunk = self.view.hunk
        if hunk is not None and (hunk.decidable or hunk.placeable):
            states.add("pending")
        if self.view.laid.counts.waiting or self.view.laid.counts.conflicts:
            states.add("waiting")
        if status.busy or status.retry_s is not None or status.deciding:
            states.add("stoppable")
        scopes: tuple[Scope, ...] = ("turn", "diff") if self.decides else ("diff",)
        if scopes != self.scopes:
            self.scopes = scopes
        labels = {
            "layout": "one column" if self.split else "side by side",
            "accept_hunk": "place" if hunk is not None and hunk.placeable else "accept",
            "close": "stop" if "stoppable" in states else "back",
            "against": next_words(self._against, self._from_review),
        }
        self._keys.show(states, scopes, labels)

    def _titled(self) -> Title:
        files = self.view.files
        counts = self.view.laid.counts
        shown = (counts.added, counts.removed)
        alert = "a question waits: Esc leads to it" if self.session.status.asks else self.said
        if self.session.status.deciding:
            alert = f"{self.session.status.deciding}, Esc stops"
        how = "side by side" if self.split else "one column"
        if self._against is not None:
            count = f"{len(files)} file{'' if len(files) == 1 else 's'}"
            words = f"against {against_words(self._against)} · {count} · only looked at"
            return Title("diff", words, alert, how, *shown)
        if counts.landing:
            alert = alert or "landing…"
        what = "last turn" if self._which == "turn" else "all pending"
        if self.session.status.auto_accept:
            what += " · auto-accept"
        words = f"{what} · {_tally(counts)}{_elsewhere(self.session.workspace, self._which)}"
        return Title("review", words, alert, how, *shown)

    # -- what is shown, and how

    def action_layout(self) -> None:
        """Side by side, or in one column."""
        if self.size.width < _FEWEST_SPLIT:
            self.say(f"Side by side needs {_FEWEST_SPLIT} columns.")
            return
        self._split = not self.split
        self.look()

    def action_context(self) -> None:
        """Whole files, or only what changed."""
        look = self.view.look
        opened: frozenset[tuple[str, int]] = frozenset()
        self.view.relook(look._replace(unfolded=not look.unfolded, opened=opened))

    def action_which_hunks(self) -> None:
        """The last turn's, or all that are pending."""
        if self.decides:
            self._which = "pending" if self._which == "turn" else "turn"
            self._first = True
            self.look()

    def action_against(self) -> None:
        """This file against the next of disk, HEAD and the turn's start; then back."""
        if self._against is None:
            self._path = self.view.file.path if self.view.file is not None else ""
            self._came_from = self.view.hunk.id if self.view.hunk is not None else 0
        self._show_against(following(self._against, self._from_review))

    def show_diff(self, against: Against, path: str) -> None:
        """Show another diff."""
        self._path = path
        self._show_against(against)

    def _show_against(self, against: Against | None) -> None:
        self._against, self._first = against, against is not None
        if against is not None:
            self.view.words = "One moment…"
            self.view.show([])
        self.look()
        if against is None:
            self.view.choose_hunk(self._came_from)

    def action_close(self) -> None:
        """Back to the workbench."""
        self.leave()

    # -- events

    def on_resize(self, event: events.Resize) -> None:
        """Another width may have room for both sides, or for the files beside them."""
        self._list.in_column = event.size.width >= WIDE_COLUMNS
        self.set_class(self._list.in_column, "-wide")
        if event.size != self._laid_out:
            self.call_after_refresh(self.look)

    def on_diff_view_moved(self, message: DiffView.Moved) -> None:
        """The list and the footer follow."""
        message.stop()
        self.update_bars()

    def on_file_list_chosen(self, message: FileList.Chosen) -> None:
        """A file was clicked."""
        message.stop()
        self.view.choose_path(message.path)


def _rested(began_s: float, pause_s: float) -> float:
    """When what began then may be done again; what took long was done in parts."""
    now_s = perf_counter()
    took_s = now_s - began_s
    return now_s + max(pause_s, min(took_s * _SHARE, _LONG_S), took_s)


def _tally(counts: HunkCounts) -> str:
    """How many there are, and how they stand."""
    total = f"{counts.total:,} hunk{'' if counts.total == 1 else 's'}"
    told = [(counts.waiting, "pending"), (counts.conflicts, "in conflict")]
    told += [(counts.accepted, "accepted"), (counts.rejected, "rejected")]
    told += [(counts.refused, "refused")]
    parts = [f"{count:,} {word}" for count, word in told if count]
    return " · ".join([total, *parts])


def _nothing(which: Which, against: Against | None, path: str, why: str) -> str:
    """What is said where there is nothing to show."""
    if against is not None and why:
        return f"Nothing is compared: {why}."
    if against is not None:
        what = f"'{path}'" if path else "Nothing"
        same = "is the same as" if path else "differs from"
        return f"{what} {same} {against_words(against)}."
    if which == "pending":
        return "No hunk waits for a decision. t shows those of the last turn."
    return "No model has changed a file yet. What it changes is reviewed here, as it lands."


def _elsewhere(workspace: Workspace, which: Which) -> str:
    """How many hunks of earlier turns wait, and how to see them."""
    if which == "pending" or not workspace.hunks:
        return ""
    latest = workspace.hunks[-1].turn
    before = (one for one in workspace.roster.in_file(None) if one.hunks[0].turn != latest)
    waiting = sum(one.needs[Need.LOOK] + one.needs[Need.DECISION] for one in before)
    return f" · {waiting:,} from before, t shows them" if waiting else ""


def _listed(workspace: Workspace, which: Which) -> list[Hunk]:
    """The hunks to be shown, in the order in which they came."""
    if which == "pending":
        return workspace.roster.unsettled()
    hunks = workspace.hunks
    rows = range(len(hunks) - 1, -1, -1)
    return hunks[next((row for row in rows if hunks[row].turn != hunks[-1].turn), -1) + 1 :]

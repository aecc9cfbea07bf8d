"""The screen on which changes are looked at: a whole turn's hunks, or a diff against something.

`ReviewContent` says what is shown, `DiffView` shows it, `ReviewDecisions` decides on it.
"""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.timer import Timer

from tui.core.document.hunk import Stage
from tui.engine.intents import Against, UndoTurn
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui.keymap import bindings
from tui.ui.keys.table import Scope, When
from tui.ui.painting.screen import PaintedScreen
from tui.ui.review.bars import FileList, Title, TitleBar
from tui.ui.review.content import FEWEST_SPLIT, ReviewContent
from tui.ui.review.decisions import ReviewDecisions
from tui.ui.review.view import DiffView
from tui.ui.styled_text import inert
from tui.ui.stylesheets import sheet
from tui.ui.widgets.bars import KeysLine

WIDE_COLUMNS = 200
"""From this width on the files have a column of their own."""
_SAID_S = 5.0
_PAGE_OVERLAP = 2
_SIDEWAYS_CELLS = 8
_FAR = 1 << 40


class ReviewScreen(PaintedScreen):
    """Shows the hunks of the last turn, all pending ones, or diffs."""

    CSS_PATH = sheet("review_screen")
    AUTO_FOCUS = "#review-diff"
    BINDINGS = bindings("turn", "diff")

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
        self.content = ReviewContent(session, self.view, self, self.update_bars)
        self.content.against, self.content.path = against, path
        self.content.from_review = against is None
        self.decisions = ReviewDecisions(
            session, self.content, self.view.cursor, self.say, self.leave
        )
        self.scopes: tuple[Scope, ...] = ("turn", "diff")
        self._tell = tell
        self._came_from = 0
        """The hunk that was chosen before a diff was shown."""
        self._title = TitleBar(id="review-title")
        self._list = FileList(id="review-files")
        self._keys = KeysLine(id="review-keys")
        self._said = ""
        """What is told now."""
        self._said_timer: Timer | None = None
        self._left = False

    def compose(self) -> ComposeResult:
        """Title, files, diff, keys."""
        yield self._title
        with Container(id="review-body"):
            yield self._list
            yield self.view
        yield self._keys

    def on_mount(self) -> None:
        """Show what there is."""
        self.view.words = "" if self.content.decides else "One moment…"
        self.call_after_refresh(self.content.look)
        self.app.theme_changed_signal.subscribe(self, lambda _: self.recolour())

    def sync(self, notices: Notices) -> None:
        """Take up what changed; called once a frame."""
        if self._left or not self.is_mounted:
            return
        if notices.buffers or (notices.hunks if self.content.decides else notices.git):
            self.content.look_soon()
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
        self.content.stop()
        self.app.theme_changed_signal.unsubscribe(self)  # it would keep the screen
        self.dismiss()
        if message is not None:
            self._tell(message)

    def say(self, words: str) -> None:
        """Tell something in the title, for a moment: a toast would cover what is looked at."""
        if self._said_timer is not None:
            self._said_timer.stop()
        self._said = words
        self._said_timer = self.set_timer(_SAID_S, lambda: self.say("")) if words else None
        self.update_bars()

    def update_bars(self) -> None:
        """Title, files and footer say what there is now."""
        content, status, counts = self.content, self.session.status, self.view.cursor.laid.counts
        alert = "a question is waiting: Esc goes to it" if status.asks else self._said
        if status.deciding:
            alert = f"{status.deciding}, Esc stops"
        if content.decides and counts.landing:
            alert = alert or "landing…"
        what, how = "review" if content.decides else "diff", "one column"
        if content.split:
            how = "side by side"
        self._title.say(Title(what, content.words, alert, how, counts.added, counts.removed))
        self._list.show(self.view.cursor.files, self.view.cursor.file)
        states: set[When] = {"busy" if status.busy else "idle"}
        hunk = self.view.cursor.hunk
        if hunk is not None and (hunk.decidable or hunk.placeable):
            states.add("pending")
        if counts.waiting or counts.conflicts:
            states.add("waiting")
        if status.busy or status.retry_s is not None or status.deciding:
            states.add("stoppable")
        self.scopes = ("turn", "diff") if content.decides else ("diff",)
        is_cut = hunk is not None and hunk.decidable and hunk.stage is Stage.CUT
        labels = {
            "layout": "one column" if content.split else "side by side",
            "accept_hunk": "place" if hunk is not None and hunk.placeable else "accept",
            **({"accept_hunk": "keep", "reject_hunk": "take back"} if is_cut else {}),
            "close": "stop" if "stoppable" in states else "back",
            "against": content.next_words,
        }
        self._keys.show(states, self.scopes, labels)

    def show_diff(self, against: Against, path: str) -> None:
        """Show another diff."""
        self.content.path = path
        self.content.compare(against)

    # -- events

    def on_resize(self, event: events.Resize) -> None:
        """Another width may have room for both sides, or for the files beside them."""
        self._list.in_column = event.size.width >= WIDE_COLUMNS
        self.set_class(self._list.in_column, "-wide")
        if event.size != self.content.laid_for:
            self.call_after_refresh(self.content.look)

    def on_diff_view_moved(self, message: DiffView.Moved) -> None:
        """The list and the footer follow."""
        message.stop()
        self.update_bars()

    def on_file_list_chosen(self, message: FileList.Chosen) -> None:
        """A file was clicked."""
        message.stop()
        self.view.cursor.choose_path(message.path)

    # -- actions of the scope "turn"

    def action_accept_hunk(self) -> None:
        """Accept the chosen hunk, and choose the next one that waits."""
        self.decisions.accept()

    def action_reject_hunk(self) -> None:
        """Reject the chosen hunk, and choose the next one that waits."""
        self.decisions.reject()

    def action_reject_why(self) -> None:
        """Ask why, then reject."""
        from tui.ui.review.reject_reason import RejectReasonScreen

        if (hunk := self.decisions.to_explain()) is None:
            return

        def answered(words: str | None) -> None:
            if words is not None and self.view.cursor.choose_hunk(hunk.id):
                self.decisions.reject(words)

        self.app.push_screen(RejectReasonScreen(), answered)

    def action_decide_file(self, accept: bool) -> None:
        """Accept or reject what waits in this file."""
        self.decisions.decide_file(accept)

    def action_decide_all(self, accept: bool) -> None:
        """Accept or reject all that waits among what is shown."""
        self.decisions.decide_all(accept)

    def action_take_back(self, what: str) -> None:
        """Take the last ``decision`` back, or the model's last ``turn``."""
        if what == "turn":
            self.session.submit(UndoTurn())
        else:
            self.decisions.undo()

    def action_redo_decision(self) -> None:
        """Bring it back."""
        self.decisions.redo()

    def action_edit_hunk(self) -> None:
        """Go and edit the hunk in the editor; copy the text of one that is not there."""
        if (text := self.decisions.edit()) is not None:
            self.app.copy_to_clipboard(text)

    def action_which_hunks(self) -> None:
        """The last turn's, or all that are pending."""
        if self.content.decides:
            self.content.which = "pending" if self.content.which == "turn" else "turn"
            self.content.anew = True
            self.content.look()

    # -- actions of the scope "diff"

    def action_step(self, count: int) -> None:
        """The next change, or the one before."""
        self.view.cursor.step(count)

    def action_step_file(self, count: int) -> None:
        """The next file, or the one before."""
        self.view.cursor.step_file(count)

    def action_scroll_rows(self, count: int) -> None:
        """Scroll."""
        self.view.cursor.scroll_rows(count)

    def action_scroll_pages(self, pages: int) -> None:
        """Scroll by a page."""
        self.view.cursor.scroll_rows(pages * max(self.view.size.height - _PAGE_OVERLAP, 1))

    def action_scroll_home(self) -> None:
        """The first change."""
        self.view.cursor.step(-_FAR)
        self.view.cursor.scroll_rows(-_FAR)

    def action_scroll_end(self) -> None:
        """The last change."""
        self.view.cursor.step(_FAR)

    def action_sideways(self, steps: int) -> None:
        """Another place of an ambiguous hunk; else scroll sideways."""
        hunk = self.view.cursor.hunk
        if hunk is not None and hunk.placeable:
            now = self.view.cursor.places.get(hunk.id, 0)
            self.view.cursor.places[hunk.id] = (now + steps) % len(hunk.candidates)
            self.content.look()
        else:
            self.view.sideways(steps * _SIDEWAYS_CELLS)

    def action_go(self) -> None:
        """Go to what is chosen in the editor; an ambiguous hunk is placed."""
        self.decisions.go()

    def action_layout(self) -> None:
        """Side by side, or in one column."""
        if self.size.width < FEWEST_SPLIT:
            self.say(f"Side by side needs {FEWEST_SPLIT} columns.")
            return
        self.content.wanted_split = not self.content.split
        self.content.look()

    def action_context(self) -> None:
        """Whole files, or only what changed."""
        options = self.view.options
        self.view.lay_out(options._replace(unfolded=not options.unfolded, opened=frozenset()))

    def action_against(self) -> None:
        """This file against the next of disk, HEAD and the turn's start; then back."""
        cursor = self.view.cursor
        if self.content.decides:
            self.content.path = cursor.file.path if cursor.file is not None else ""
            self._came_from = cursor.hunk.id if cursor.hunk is not None else 0
        self.content.compare_with_next()
        if self.content.decides:
            cursor.choose_hunk(self._came_from)

    def action_close(self) -> None:
        """Back to the workbench."""
        self.leave()

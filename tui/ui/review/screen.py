"""The screen on which changes are looked at: a whole turn's hunks, or a diff against something.

`ReviewContent` says what is shown, `DiffView` shows it, `ReviewDecisions` decides on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from tui.core.document.decision_log import DecisionEntry
from tui.core.document.hunk import CUT_WAYS, TAKEN_BACK, Decision, Hunk, Stage
from tui.engine.intents import (
    Accept,
    Against,
    OpenFile,
    PlaceHunk,
    RedoDecision,
    RedoHunk,
    Reject,
    StopRedoing,
    UndoDecision,
    UndoTurn,
)
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.conversation.hunk_card import MINUS, look
from tui.ui.keymap import bindings
from tui.ui.keys.table import Scope, When
from tui.ui.messages import HunkShown, Wanted
from tui.ui.painting.screen import PaintedScreen
from tui.ui.review.changes import FileChanges
from tui.ui.review.content import FEWEST_SPLIT, ReviewContent
from tui.ui.review.paint import counts
from tui.ui.review.view import DiffCursor, DiffView
from tui.ui.styled_text import Piece, clip, clip_left, inert, make_strip, one_line, spread
from tui.ui.stylesheets import sheet
from tui.ui.widgets.bars import KeysLine
from tui.ui.widgets.painted import Bar, PaintedWidget

_MOST_GLYPHS = 14
_ROOM_FOR_GLYPHS, _ROOM_FOR_HOW = 100, 90
_ROWS_A_FILE_ROW = 5
"""Rows of the screen for each row of the list."""
_FEWEST_ROWS, _MOST_ROWS = 3, 12
_ROWS_IN_COLUMN = 2
"""Of each file where the list is a column: its name, and how its hunks stand."""


class Title(NamedTuple):
    """What the first row says."""

    what: str
    words: str = ""
    alert: str = ""
    """What else is going on, in the colour of warnings."""
    right: str = ""
    added: int = 0
    removed: int = 0


class TitleBar(Bar):
    """The first row."""

    BACK = "panel"

    _title = Title("review")

    def say(self, title: Title) -> None:
        """Show this."""
        self._title = title
        self.update_bar()

    def pieces(self, width: int) -> list[Piece]:
        """Left what is shown, right how."""
        style, title = theme.active().style, self._title
        right: list[Piece] = []
        if title.added or title.removed:
            right += [
                (f"  +{title.added} ", style("hunk-added")),
                (f"{MINUS}{title.removed}", style("hunk-struck")),
            ]
        right.append((f"   {title.right} " if width >= _ROOM_FOR_HOW else " ", style("faint")))
        left: list[Piece] = [(f" {title.what} ", style("accent", more="bold"))]
        room = width - sum(cell_len(text) for text, _ in (*left, *right))
        if title.alert:
            alert = clip(f" {title.alert}  ", max(room, 0))
            left.append((alert, style("warning")))
            room -= cell_len(alert)
        left.append((clip(f" {one_line(title.words)}", max(room, 0)), style("muted")))
        return spread(left, right, width)


class FileList(PaintedWidget):
    """The files, the one in sight lit; it scrolls along.

    Over the diff each has one row; in a column of its own (`in_column`) it has two.
    """

    in_column = False

    def __init__(self, choose: Callable[[str], None]) -> None:
        """``choose`` is told the path of a file that was clicked."""
        super().__init__(id="review-files")
        self._choose = choose
        self._files: Sequence[FileChanges] = ()
        self._now = 0
        self._top = 0
        self._height = ""

    def show(self, files: Sequence[FileChanges], now: FileChanges | None) -> None:
        """These files; ``now`` is in sight."""
        self._files = files
        self._now = next((i for i, file in enumerate(files) if file is now), 0)
        rows = self.rows(len(files))
        height = "1fr" if self.in_column else str(rows)
        if self._height != height:
            self._height = self.styles.height = height
        self._top = min(self._top, self._now, max(len(files) - rows, 0))
        self._top = max(self._top, self._now - rows + 1)
        self.refresh()

    def on_unmount(self) -> None:
        """A closed screen may live on: what was shown is large."""
        self._files = ()

    def rows(self, files: int) -> int:
        """How many rows the list has for this many files."""
        if self.in_column:
            return max(self.size.height // _ROWS_IN_COLUMN, 1)
        share = self.screen.size.height // _ROWS_A_FILE_ROW
        return max(min(files, min(max(share, _FEWEST_ROWS), _MOST_ROWS)), 1)

    def render_line(self, y: int) -> Strip:
        """A file: its name, how its hunks stand, how much it is."""
        width, palette = self.size.width, theme.active()
        index = self._index(y)
        base = palette.style("foreground", "surface")
        if index >= len(self._files):
            return make_strip([], width, base)
        file, lit = self._files[index], index == self._now
        style = palette.style
        if self.in_column and y % _ROWS_IN_COLUMN:
            return make_strip([("   ", base), *_glyphs(file.hunks, width - 6)], width, base)
        more = self._more(y)
        right = [*_states(file.hunks, width), *counts(palette, file), (more, style("faint"))]
        room = width - sum(cell_len(text) for text, _ in right) - 4
        name = clip_left(one_line(file.path), max(room, 6))
        left: list[Piece] = [
            (" ▸ " if lit else "   ", style("accent")),
            (name, style("foreground" if lit else "muted", more="bold" if lit else "")),
        ]
        if file.words:
            left.append((f"  {file.words}", style("faint")))
        return make_strip(spread(left, right, width), width, base)

    def _more(self, y: int) -> str:
        """Whether there are files above or below the ones in sight."""
        if y == 0 and self._top:
            return " ↑ "
        rows = self.rows(len(self._files))
        below = self._top + rows < len(self._files)
        return " ↓ " if below and self._index(y) == self._top + rows - 1 else "   "

    def on_click(self, event: events.Click) -> None:
        """Go to that file."""
        event.stop()
        if (index := self._index(event.y)) < len(self._files):
            self._choose(self._files[index].path)

    def _index(self, y: int) -> int:
        """Of the file on that row."""
        return self._top + (y // _ROWS_IN_COLUMN if self.in_column else y)


def _states(hunks: Sequence[Hunk], width: int) -> list[Piece]:
    """A glyph a hunk, as far as there is room."""
    return _glyphs(hunks, _MOST_GLYPHS) if width >= _ROOM_FOR_GLYPHS and hunks else []


def _glyphs(hunks: Sequence[Hunk], most: int) -> list[Piece]:
    """So many of them at most, and whether there are more."""
    style = theme.active().style
    shown = [look(hunk) for hunk in hunks[:most]]
    pieces: list[Piece] = [(state.glyph, style(state.colour)) for state in shown]
    pieces.append(("… " if len(hunks) > most else "  ", style("faint")))
    return pieces


class ReviewDecisions:
    """Decides on the chosen hunk or on many, and chooses the next one that waits."""

    def __init__(
        self,
        session: Session,
        content: ReviewContent,
        cursor: DiffCursor,
        say: Callable[[str], object],
        leave: Callable[[Message], object],
    ) -> None:
        """``say`` tells why nothing is done; ``leave`` closes the review with a message."""
        self._session = session
        self._content = content
        self._cursor = cursor
        self._say = say
        self._leave = leave

    # -- one hunk

    def accept(self) -> None:
        """Accept the chosen hunk, and choose the next one that waits; place an ambiguous one."""
        hunk = self._chosen()
        if hunk is not None and not self._place(hunk):
            self._session.submit(Accept((hunk.id,)))
            self._cursor.next_pending()

    def reject(self, words: str = "", *, redo: bool = False) -> None:
        """Reject the chosen hunk, and choose the next one that waits; the model gets the words.

        ``redo``: it gets them now, to make the hunk anew.
        """
        if (hunk := self._chosen()) is not None:
            asked = RedoHunk(hunk.id, words) if redo else Reject((hunk.id,), words)
            self._session.submit(asked)
            self._cursor.next_pending()

    def stop_redoing(self) -> None:
        """Have the chosen hunk redone no more."""
        if (hunk := self._chosen(any_hunk=True) and self._cursor.hunk) is not None:
            self._session.submit(StopRedoing(hunk.id))

    def to_explain(self) -> Hunk | None:
        """The chosen hunk, if it may be rejected with words."""
        hunk = self._chosen()
        if hunk is not None and hunk.decision is not Decision.PENDING:
            self._say("This hunk is already decided; u undoes that.")
            return None
        return hunk

    def edit(self) -> str | None:
        """Go and edit the hunk in the editor; of one that is not there return the text to copy."""
        hunk = self._chosen()
        if hunk is not None and hunk.is_out:
            self._say("The hunk's text is copied: paste it where it belongs.")
            return hunk.agent or hunk.base
        if hunk is not None:
            self._leave(HunkShown(hunk.id, edit=hunk.decidable, review=True))
        return None

    def go(self) -> None:
        """Go to what is chosen in the editor; an ambiguous hunk is placed."""
        hunk, change, file = self._cursor.hunk, self._cursor.change, self._cursor.file
        if hunk is not None:
            if not self._place(hunk):
                self._leave(HunkShown(hunk.id))
        elif file is not None:
            line = change.first if change is not None else None
            self._leave(Wanted(OpenFile(file.path, line), enter=True))

    def _place(self, hunk: Hunk) -> bool:
        """Place an ambiguous hunk where it is shown; False if it is not ambiguous."""
        if not hunk.placeable:
            return False
        at = self._cursor.places.get(hunk.id, 0) % len(hunk.candidates)
        self._session.submit(PlaceHunk(hunk.id, hunk.candidates[at]))
        return True

    # -- many

    def decide_file(self, accept: bool) -> None:
        """Accept or reject what waits in this file."""
        self._decide(self._cursor.file.hunks if self._cursor.file is not None else (), accept)

    def decide_all(self, accept: bool) -> None:
        """Accept or reject all that waits among what is shown."""
        self._decide((hunk for file in self._cursor.files for hunk in file.hunks), accept)

    def _decide(self, hunks: Iterable[Hunk], accept: bool) -> None:
        if self._chosen(any_hunk=True) is None:
            return
        able = [hunk for hunk in hunks if hunk.decidable]
        whole = [hunk for hunk in able if not (accept and hunk.stage is Stage.CUT)]
        waiting = tuple(hunk.id for hunk in whole)
        if len(whole) < len(able):
            left = next(hunk for hunk in able if hunk not in whole)
            self._say(f"Hunk {left.id} was cut, and is left out: {CUT_WAYS}.")
        if waiting:
            self._session.submit(Accept(waiting) if accept else Reject(waiting))
            self._cursor.next_pending()
        elif not able:
            self._say("No hunk is waiting here.")

    def undo(self) -> None:
        """Take the last decision back, and choose what was decided on."""
        if self._chosen(any_hunk=True) is not None:
            hunk = self._cursor.hunk
            back = hunk.id if hunk is not None and hunk.reason == TAKEN_BACK else 0
            self._session.workspace.documents.decisions.bring_up(back)
            entry = self._session.workspace.last_decision()
            self._session.submit(UndoDecision(back))
            self._follow(entry)

    def redo(self) -> None:
        """Bring it back."""
        if self._chosen(any_hunk=True) is not None:
            entry = self._session.workspace.last_decision(again=True)
            self._session.submit(RedoDecision())
            self._follow(entry)

    def _follow(self, entry: DecisionEntry | None) -> None:
        """Choose what was decided on, where that is shown."""
        for hunk in entry.hunks if entry is not None else ():
            if self._cursor.choose_hunk(hunk.id):
                return

    def _chosen(self, *, any_hunk: bool = False) -> Hunk | None:
        """The chosen hunk (or the first there is); says so if nothing can be decided here."""
        if not self._content.decides:
            self._say("This diff is read-only; d goes back to the review.")
            return None
        hunk = self._cursor.hunk
        if hunk is None and any_hunk:
            hunk = next((hunk for file in self._cursor.files for hunk in file.hunks), None)
        return hunk


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
    named = "diff"
    """What the title says where no hunks are decided on."""
    read_only: tuple[Scope, ...] = ("diff",)
    """Whose keys work then."""

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
        self.view = DiffView()
        self.content = ReviewContent(session, self.view, self, self.update_bars)
        self.content.against, self.content.path = against, path
        self.content.from_review = against is None
        self.decisions = ReviewDecisions(
            session, self.content, self.view.cursor, self.say, self.leave
        )
        self.scopes: tuple[Scope, ...] = ("turn", "diff")
        self.action_close = self.leave
        self.action_stop_redoing = self.decisions.stop_redoing
        self.action_accept_hunk = self.decisions.accept
        self.action_reject_hunk = self.decisions.reject
        self.action_decide_file = self.decisions.decide_file
        self.action_decide_all = self.decisions.decide_all
        self.action_redo_decision = self.decisions.redo
        self.action_step = self.view.cursor.step
        self.action_step_file = self.view.cursor.step_file
        self.action_scroll_rows = self.view.cursor.scroll_rows
        self._tell = tell
        self._came_from = 0
        """The hunk that was chosen before a diff was shown."""
        self._title = TitleBar(id="review-title")
        self._list = FileList(self.view.cursor.choose_path)
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

    def leave(self, message: Message | None = None) -> None:
        """Back to the workbench, which gets this message."""
        self._left = True
        self.content.stop()
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
        what, how = "review" if content.decides else self.named, "one column"
        if content.split:
            how = "side by side"
        self._title.say(Title(what, content.words, alert, how, counts.added, counts.removed))
        self._list.show(self.view.cursor.files, self.view.cursor.file)
        states: set[When] = {"busy" if status.busy else "idle"}
        hunk = self.view.cursor.hunk
        if hunk is not None and (hunk.decidable or hunk.placeable):
            states.add("pending")
        if hunk is not None and hunk.is_redoing:
            states.add("redoing")
        if counts.waiting or counts.conflicts:
            states.add("waiting")
        if status.busy or status.retry_s is not None or status.deciding:
            states.add("stoppable")
        self.scopes = ("turn", "diff") if content.decides else self.read_only
        is_cut = hunk is not None and hunk.decidable and hunk.stage is Stage.CUT
        labels = {
            "layout": "one column" if content.split else "side by side",
            "accept_hunk": "place" if hunk is not None and hunk.placeable else "accept",
            **({"accept_hunk": "keep", "reject_hunk": "take back"} if is_cut else {}),
            "close": "stop" if "stoppable" in states else "back",
            "against": content.next_words if self.named == "diff" else "",
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

    # -- actions of the scope "turn"

    def action_go(self) -> None:
        """Go to what is chosen in the editor; an ambiguous hunk is placed."""
        self.decisions.go()

    def action_reject_why(self) -> None:
        """Ask why, then reject."""
        from tui.ui.screens.dialogs import Rejection, RejectReasonScreen

        if (hunk := self.decisions.to_explain()) is None:
            return

        def answered(why: Rejection | None) -> None:
            if why is not None and self.view.cursor.choose_hunk(hunk.id):
                self.decisions.reject(why.words, redo=why.redo)

        self.app.push_screen(RejectReasonScreen(hunk), answered)

    def action_take_back(self, what: str) -> None:
        """Take the last ``decision`` back, or the model's last ``turn``."""
        if what == "turn":
            self.session.submit(UndoTurn())
        else:
            self.decisions.undo()

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

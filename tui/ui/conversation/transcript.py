"""The conversation's pane: paints its rows, and turns keys and clicks into what they mean.

No layout and no child widgets: `TranscriptLayout` has the rows, `Viewport` scrolls and paints
them, `Selection` knows what the keys act on, and the search bar looks for words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip

from tui.core.document.hunk import TAKEN_BACK, Hunk
from tui.engine.intents import (
    Accept,
    Intent,
    OpenFile,
    PlaceHunk,
    RedoDecision,
    RedoHunk,
    Reject,
    StopRedoing,
    UndoDecision,
)
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui.conversation.fences import FRAME_S, colours_for
from tui.ui.conversation.layout import TranscriptLayout
from tui.ui.conversation.selection import (
    CommandKeys,
    Copied,
    Selection,
    Viewport,
    selected_text,
    whole_text,
)
from tui.ui.conversation.views import ViewContext
from tui.ui.keymap import actions, bindings
from tui.ui.messages import HunkSelected, HunkShown, PromptWanted, Wanted
from tui.ui.styled_text import MARGIN
from tui.ui.widgets.painted import PaintedWidget

if TYPE_CHECKING:
    from tui.ui.conversation.search import SearchBar

_WHEEL_ROWS = 3
_COLOUR_S = 0.016
"""How soon code that could not be coloured in a frame is gone on with."""
_TALKING, _REVIEWING = actions("conversation"), actions("review")


class TranscriptPane(PaintedWidget, can_focus=True):
    """The conversation of one session."""

    BINDINGS = bindings("conversation", "command", "review")

    def __init__(self, session: Session, *, root: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows = TranscriptLayout(session, ViewContext(root=root))
        self.viewport = Viewport(self.rows, self.refresh, lambda: self.size.height)
        self.selection = Selection(
            session.workspace.hunk_list,
            self.rows,
            self.viewport,
            lambda hunk, line: self.post_message(HunkSelected(hunk.id, line)),
        )
        self.action_step_message = self.selection.step_message
        self.action_next_hunk = self.selection.step_hunk
        self.action_next_candidate = self.selection.choose_candidate
        self.commands = CommandKeys(self.rows, self.viewport, self.selection)
        self.search_bar: SearchBar | None = None
        """Made when it is first opened."""
        self._late: set[int] = set()
        """Rows in sight whose colours are not all made: they are painted once more."""
        self._colouring = False
        self._first = session.goes_on
        """Its first picture shows much that was said: no colours, for which modules are loaded."""
        self._leaving = False
        """Something was typed: the focus is on its way to the prompt."""

    def sync(self, notices: Notices) -> None:
        """Take up what changed; called once a frame."""
        if self.rows.context.width >= 2:
            first = self.rows.sync(notices, self.viewport.height)
            if first is not None and self.viewport.height:  # none: another pane has the width
                self.viewport.changed_from(first)
        if self.search_bar is not None and notices.transcript_from is not None:
            self.search_bar.control.grown(notices.transcript_from)
        if self.rows.ticks:
            self.commands.count(self.set_interval)

    def recolour(self) -> None:
        """The theme changed."""
        self.viewport.restyle()

    def close_search(self) -> bool:
        """Close the search bar; False if it is not open."""
        return self.search_bar is not None and self.search_bar.close()

    # -- painting

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a region; code gets colours for as long as a frame has time for them."""
        with colours_for(0.0 if self._first else FRAME_S):
            strips = super().render_lines(crop)
        self._first = self._first and not strips
        self.viewport.place_thumb()
        if self._late and not self._colouring:
            self._colouring = True
            self.set_timer(_COLOUR_S, self._colour_on)
        return strips

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        number = self.viewport.top + y
        row = self.rows.row(number) if self.viewport.height else None  # not told its size yet
        bar = self.search_bar
        lights = bar.control.highlights(number) if bar is not None else ()
        mark = self.selection.mark_of(row, number) if row is not None else ""
        # the focus is dear to ask for, and this runs for every row of every frame
        strip = self.viewport.painted(y, row, mark if mark and self.has_focus else "", lights)
        if row is not None and row.waits:
            self._late.add(y)
        return strip

    def _colour_on(self) -> None:
        late, self._late, self._colouring = self._late, set(), False
        if late:
            self.refresh(*(Region(0, y, self.viewport.width, 1) for y in late))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """It takes what it is given."""
        return container.height

    # -- events

    def on_resize(self, event: events.Resize) -> None:
        """See `Viewport.resize`."""
        self.viewport.resize(*event.size)

    def on_focus(self) -> None:
        """The keys need something to act on."""
        self._leaving = False
        self.selection.focus(True)

    def on_blur(self) -> None:
        """The keys go elsewhere."""
        self.selection.focus(False)

    def wheel(self, steps: int, *, sideways: bool) -> None:
        """Scroll."""
        self.viewport.go_to(self.viewport.top + steps * _WHEEL_ROWS)

    def on_click(self, event: events.Click) -> None:
        """Act on the row; on the hint: go to the end."""
        number = self.viewport.top + event.y
        if self.viewport.at_hint(event.y):
            self.action_scroll_end()
        elif action := self.rows.action_at(number, event.x - MARGIN):
            self.action_task(action, number)
        elif self.selection.select_at(self.viewport.top + event.y):
            self.action_activate()

    def on_key(self, event: events.Key) -> None:
        """What is typed here belongs into the prompt.

        Keys that come before the focus has moved go there too, whatever they mean here.
        """
        typed = event.character if event.is_printable else None
        if self._leaving and event.key == "enter":
            typed = "\n"
        ours = event.key in _TALKING or event.key in _REVIEWING or self.commands.has(event.key)
        if typed and (self._leaving or not ours):
            self._leaving = True
            event.stop()
            event.prevent_default()
            self.post_message(PromptWanted(typed))

    # -- actions of the scope "conversation"

    def action_prompt(self) -> None:
        """Back to the prompt."""
        self.post_message(PromptWanted())

    def action_search(self) -> None:
        """Look for words in the conversation."""
        from tui.ui.conversation.search import SearchBar

        if self.search_bar is None:
            self.search_bar = SearchBar(self, self.rows, self.viewport)
            self.screen.query_one("#panes").mount(self.search_bar, after=self)
        self.search_bar.open()

    def action_activate(self) -> None:
        """Unfold, open the place, or show the hunk."""
        target, hunk = self.selection.target, self.selection.hunk
        if hunk is not None and self._place(hunk):
            return
        if hunk is not None and hunk.is_out:
            self.selection.peek(hunk)
        elif target is None:
            return
        elif target.kind in ("fold", "file"):
            self.rows.toggle(target.key, target.path)
            self.viewport.go_to(self.viewport.top)
        elif target.kind == "card":
            self.action_prompt()
        elif target.kind in ("code", "message"):
            self.action_copy_block()
        elif target.kind == "place":
            self._want(OpenFile(target.path, target.line, target.col), enter=True)
        elif target.kind == "hunk":
            self.post_message(HunkShown(target.key))

    def action_peek(self) -> None:
        """Show the selected hunk's lines in its card; do what Enter does on anything else."""
        if (hunk := self.selection.hunk) is not None:
            self.selection.peek(hunk)
        else:
            self.action_activate()

    def action_previous_stop(self) -> None:
        """Select the stop above, or scroll where there is none."""
        self.selection.step(back=True)

    def action_next_stop(self) -> None:
        """Select the stop below, or scroll where there is none."""
        self.selection.step(back=False)

    def action_scroll_pages(self, pages: int) -> None:
        """Scroll by pages; negative is up."""
        self.viewport.go_to(self.viewport.top + pages * max(self.size.height - 2, 1))

    def action_scroll_home(self) -> None:
        """To the first row."""
        self.viewport.go_to(0)

    def action_scroll_end(self) -> None:
        """To the last row, and follow."""
        self.viewport.go_to(self.rows.total)

    def action_copy_block(self) -> None:
        """Copy what is selected: code, a hunk's text, output, a message."""
        if (view := self.selection.view) is not None:
            self._copy(selected_text(self.selection.target, view))

    def action_copy_message(self) -> None:
        """Copy all of the message in which the selection is; without one the newest answer."""
        if (view := self.selection.view) is not None:
            self._copy(whole_text(view))

    def _copy(self, copied: Copied) -> None:
        if not copied.text.strip():
            self.notify("There is nothing to copy here.", timeout=3, markup=False)
            return
        self.app.copy_to_clipboard(copied.text)
        self.notify(f"Copied: {copied.what}, {copied.size}.", timeout=3, markup=False)

    # -- actions of the scope "command"

    def action_task(self, what: str, row: int | None = None) -> None:
        """Have the selected command, or that of a row, go on behind the answer, or stopped."""
        if (intent := self.commands.asked(what, row)) is not None:
            self._want(intent)

    # -- actions of the scope "review"

    def action_accept_hunk(self) -> None:
        """Accept the selected hunk; an ambiguous one is placed at the chosen candidate."""
        hunk = self.selection.hunk
        if hunk is not None and not self._place(hunk):
            self._want(Accept((hunk.id,)))
            self.selection.step_hunk(waiting=True)

    def action_reject_hunk(self) -> None:
        """Reject the selected hunk."""
        if (hunk := self.selection.hunk) is not None:
            self._want(Reject((hunk.id,)))
            self.selection.step_hunk(waiting=True)

    def action_reject_why(self) -> None:
        """Reject the selected hunk with words for the model."""
        from tui.ui.screens.dialogs import Rejection, RejectReasonScreen

        hunk = self.selection.hunk
        if hunk is None:
            return

        def answered(why: Rejection | None) -> None:
            if why is not None:
                redo = RedoHunk(hunk.id, why.words)
                self._want(redo if why.redo else Reject((hunk.id,), why.words))
                self.selection.step_hunk(waiting=True)

        self.app.push_screen(RejectReasonScreen(hunk), answered)

    def action_stop_redoing(self) -> None:
        """Have the selected hunk redone no more."""
        if (hunk := self.selection.hunk) is not None:
            self._want(StopRedoing(hunk.id))

    def action_accept_all(self) -> None:
        """Accept every decidable hunk."""
        self._want(Accept())

    def action_reject_all(self) -> None:
        """Reject every decidable hunk."""
        self._want(Reject())

    def action_undo_decision(self) -> None:
        """Take the last decision back."""
        hunk = self.selection.hunk
        back = hunk is not None and hunk.reason == TAKEN_BACK
        self._want(UndoDecision(hunk.id if hunk is not None and back else 0))

    def action_redo_decision(self) -> None:
        """Decide again what was taken back last."""
        self._want(RedoDecision())

    def action_previous_hunk(self) -> None:
        """Select the hunk above."""
        self.selection.step_hunk(back=True)

    def action_edit_hunk(self) -> None:
        """Go and edit the hunk's text in the editor; copy the text of one that is not there."""
        hunk = self.selection.hunk
        if hunk is not None and hunk.is_out:
            self.app.copy_to_clipboard(hunk.agent or hunk.base)
            self.notify("The hunk's text is copied: paste it where it belongs.", markup=False)
        elif hunk is not None:
            self.post_message(HunkShown(hunk.id, edit=True))

    def _place(self, hunk: Hunk) -> bool:
        """Put an ambiguous hunk at the chosen place; False if it is not ambiguous."""
        line = self.selection.candidate_line(hunk)
        if line is not None:
            self._want(PlaceHunk(hunk.id, line))
        return line is not None

    def _want(self, intent: Intent, *, enter: bool = False) -> None:
        self.post_message(Wanted(intent, enter=enter))

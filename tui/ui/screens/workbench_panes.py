"""What the keys do that show one pane or another, and what is in the editor pane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from tui.engine.session import Session
from tui.ui.conversation.transcript import TranscriptPane
from tui.ui.editor.sides import FEWEST_COLUMNS
from tui.ui.prompt.box import PromptBox
from tui.ui.screens.editor_keys import EditorKeys
from tui.ui.widgets.panes import Pane, Panes

if TYPE_CHECKING:
    from tui.ui.guide.guide import Guide


class WorkbenchPanes(EditorKeys):
    """Actions of the scope "global" about panes; `WorkbenchKeys` adds the others."""

    session: Session
    prompt_box: PromptBox
    panes: Panes
    transcript: TranscriptPane
    guide: Guide | None = None
    """The lesson that runs, if one does."""

    def leave_guide(self) -> bool:
        """Put the guide away, or say that the next key does; False: there is none."""
        return self.guide is not None and self.guide.leave()

    def in_editor(self, widget: Widget | None) -> bool:
        """True if a widget is part of the editor pane."""
        return widget is not None and self.editor in widget.ancestors_with_self

    def enter_editor(self) -> None:
        """Show the editor and put the cursor into it."""
        self.panes.choose("editor")
        self.editor.focus_editor()

    def where_next(self) -> str:
        """Where the key for the next pane leads, for the footer."""
        if self.panes.narrow:
            return "editor" if self.panes.shown == "conversation" else "conversation"
        return "prompt" if self.in_editor(self.focused) else "editor"

    def update_keys(self) -> None:
        """The footer says what the keys do now."""
        raise NotImplementedError

    def action_next_pane(self) -> None:
        """Between the two; where one has the width the other one takes it."""
        narrow, in_editor = self.panes.narrow, self.in_editor(self.focused)
        back = self.panes.shown == "editor" if narrow else in_editor
        self.action_pane("conversation" if back else "editor")

    def action_pane(self, name: Pane) -> None:
        """Go to this pane; one that was not in sight is only shown, the prompt keeps the keys."""
        enter = name == "editor" and self.panes.in_sight(name)
        self.panes.choose(name)
        if enter:
            self.editor.focus_editor()
        else:
            self.prompt_box.focus_prompt()
        self.update_keys()

    async def action_split(self) -> None:
        """Two editors side by side, or one again."""
        if self.editor.sides.divided:
            self.editor.sides.join()
        else:
            await self.editor.sides.divide()
            self.panes.choose("editor")
            if self.size.width < 2 * FEWEST_COLUMNS:  # else nothing would seem to have happened
                self.notify(
                    f"Two editors are seen from {2 * FEWEST_COLUMNS} columns on;"
                    " Alt+3 goes to the other one.",
                    markup=False,
                )
        self.panes.divide(self.editor.sides.divided)
        self.update_keys()

    async def action_other_side(self) -> None:
        """The other one of two editors; where there is one only, a second one first."""
        if not self.editor.sides.divided:
            await self.action_split()
        self.panes.choose("editor")
        if (other := self.editor.sides.other) is not None:
            self.editor.sides.enter(other)
            self.editor.focus_editor()
        self.update_keys()

    async def action_tree(self) -> None:
        """The file tree: show it and go there; from within it put it away."""
        self.panes.choose("editor")
        await self.editor.dock.toggle()
        self.update_keys()

    def action_search(self) -> None:
        """Search the conversation."""
        self.panes.choose("conversation")
        self.transcript.action_search()
        self.update_keys()

    def action_card(self) -> None:
        """From lines to the card of the hunk that wrote them, and from a card to its lines."""
        if self.focused is self.transcript:
            self.transcript.action_activate()
            return
        view = self.editor.editor.view
        path, line = ("", 0) if view is None else (view.path, view.cursor.position[0])
        self.panes.choose("conversation")
        if not self.transcript.selection.return_to(path, line):
            words = "No card wrote this line; this is where you were."
            self.transcript.notify(words, markup=False)
        self.set_focus(self.transcript)
        self.update_keys()

"""The right half of the workbench: tabs, editors, find bar, file tree, and the keys for them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui.core.document.workspace import landing_number
from tui.engine.intents import OpenFile, SaveFile
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui.editor import changes
from tui.ui.editor.asking import LineWords
from tui.ui.editor.editor import Editor
from tui.ui.editor.open_files import FileTabs
from tui.ui.editor.sides import FEWEST_COLUMNS, Sides
from tui.ui.finding.find import Find, FindBar
from tui.ui.keymap import bindings
from tui.ui.messages import EditorWanted
from tui.ui.widgets.painted import set_dim

if TYPE_CHECKING:
    from tui.core.outline import Symbol
    from tui.ui.files.file_tree import FileTree
    from tui.ui.files.finder import ChosenFile, FileFinder


_BESIDE_COLUMNS = 40
"""An editor beside the tree has these; else the tree lies over it, and goes when it is left."""
_WIDEST, _NARROWEST = 36, 24


class TreeDock:
    """Opens, places and puts away the tree of one editor pane."""

    def __init__(self, session: Session, sides: Sides, pane: Widget) -> None:
        self.tree: FileTree | None = None
        """None until it was first wanted."""
        self.cramped = False
        """Tree and editor do not fit beside each other."""
        self._session = session
        self._sides = sides
        self._pane = pane

    @property
    def is_open(self) -> bool:
        """The tree is in sight."""
        return self._pane.has_class("-tree")

    @property
    def is_over(self) -> bool:
        """It lies over the editor."""
        return self._pane.has_class("-tree-over")

    async def toggle(self) -> None:
        """Show the tree and go into it; from within it: put it away."""
        screen = self._pane.screen
        if self.tree is None or not self.is_open:
            await self._open()
        elif screen.focused is self.tree:
            self.close()
            self._pane.post_message(EditorWanted())
            return
        if self.tree is not None:
            screen.set_focus(self.tree)

    def close(self) -> None:
        """Put the tree away."""
        if self.tree is not None and self.is_open:
            focused = self._pane.screen.focused is self.tree
            self._pane.remove_class("-tree", "-tree-over")
            self.tree.hide()
            if focused:
                self._focus_editor()

    def leave(self) -> bool:
        """Esc in the tree: take back what was typed, else leave it; False if it has no focus."""
        tree = self.tree
        if tree is None or not self.is_open or self._pane.screen.focused is not tree:
            return False
        if tree.clear_filter():
            return True
        if self.is_over:
            self.close()
            return self._sides.used.editor.view is not None
        return self._focus_editor()

    def sync(self, notices: Notices) -> None:
        """Paint what changed; called once a frame."""
        if self.tree is not None and self.is_open:
            if self.cramped and self.is_over == (self._sides.used.editor.view is None):
                self.place()  # the first file came, or the last one went
            if self.is_over and self._pane.screen.focused is not self.tree:
                self.close()
            self.tree.sync(notices)

    def place(self) -> None:
        """Beside the editor, or over it: two sides need the room that the tree has."""
        if self.tree is None or not self.is_open:
            return
        width = self._pane.size.width
        columns = max(min(width // 3, _WIDEST), _NARROWEST)
        needed = 2 * FEWEST_COLUMNS if self._sides.beside else _BESIDE_COLUMNS
        self.cramped = width - columns < needed
        over = self.cramped and self._sides.used.editor.view is not None
        self._pane.set_class(over, "-tree-over")
        self.tree.styles.width = min(_WIDEST, width) if over else columns

    def _focus_editor(self) -> bool:
        """Give the focus to the text, if there is one."""
        editor = self._sides.used.editor
        if editor.view is not None:
            self._pane.screen.set_focus(editor)
        return editor.view is not None

    async def _open(self) -> None:
        from tui.ui.files.file_tree import FileTree  # not before it is wanted

        if self.tree is None:
            self.tree = FileTree(self._session, id="tree")
            await self._pane.query_one("#editor-row").mount(self.tree, before=0)
        self._pane.add_class("-tree")
        self.place()
        self.tree.show(self._sides.used.path)


class EditorPane(Vertical):
    """Routes keys and messages to those who do the work."""

    BINDINGS = bindings("editor")

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.sides = Sides(session, self)
        self.files = FileTabs(session, self.sides, self, self.action_follow)
        self.dock = TreeDock(session, self.sides, self)
        self.find_bar = FindBar(id="find-bar")
        self.find = Find(session, self.sides, self.find_bar)
        self.words = LineWords(session, self.sides, self.find, self)
        self.words.on_gone = lambda: self.post_message(EditorWanted())
        self.action_find = partial(self.find.open, "find")
        self.action_replace = partial(self.find.open, "replace")
        self.action_goto_line = self.find.ask_line
        self.action_note = self.words.note
        self.action_step_note = self.words.step
        self.action_step_tab = self.files.step
        self.sides.on_settled = self._settled
        self.files.on_shown = self.find.follow
        self.files.on_note = self.find.on_note = self.note
        self._finder: FileFinder | None = None
        """The list of files that is open over the screen."""

    def compose(self) -> ComposeResult:
        """All parts; which are seen is a matter of classes."""
        yield self.files.tabs
        with Horizontal(id="editor-row"):
            yield self.sides[0]
            yield self.files.notice
        yield self.find_bar

    def on_mount(self) -> None:
        """Show what is open already."""
        self.files.sync_tabs()

    def sync(self, notices: Notices) -> None:
        """Paint what changed; called once a frame."""
        self.files.sync(notices)
        for side in self.sides:
            side.editor.repaint()
        self.note()
        self.dock.sync(notices)
        if notices.listing and self._finder is not None:
            self._finder.look_again()

    @property
    def editor(self) -> Editor:
        """The editor that keys and commands are for."""
        return self.sides.used.editor

    def note(self) -> None:
        """Show where the cursors are, and how often is there what is looked for."""
        self.files.note()
        self.find.note()

    def focus_editor(self) -> None:
        """Put the cursor into the text, at once: the next key is meant for it."""
        if not self._focus_now():  # the file that was asked for comes with the next frame
            self.call_after_refresh(self._focus_now)

    def _focus_now(self) -> bool:
        """False, and the focus stays where it is, while there is no text to see."""
        shown = self.editor.view is not None
        if shown:
            self.screen.set_focus(self.editor)
        return shown

    def _settled(self) -> None:
        """Sides came or went, or the user is in another one."""
        self.files.sync_tabs()
        self.find.follow()
        self.note()
        self.dock.place()

    # -- actions of the keymap's scope "editor" -------------------------------------------

    def action_save(self) -> None:
        """Write the file."""
        if active := self.files.active:
            self.editor.editing.end_step()
            if number := landing_number(self.session.workspace, active):
                said = f"Saved without hunk {number}, which is still landing."
                self.app.notify(said, markup=False)
            self.session.submit(SaveFile(active))

    def action_undo(self) -> None:
        """Take the user's own last edit back."""
        self.editor.undo()

    def action_redo(self) -> None:
        """Do it again."""
        self.editor.undo(again=True)

    def action_duplicate(self) -> None:
        """Put a copy behind the lines, or behind what is selected in one."""
        if (view := self.editor.view) is not None:
            self.editor.change(changes.duplicate(view.cursor))

    def action_move_lines(self, step: int) -> None:
        """Move the lines up or down."""
        if (view := self.editor.view) is not None:
            self.editor.change(changes.move(view.cursor, step))

    def action_toggle_comment(self) -> None:
        """Make the lines comments, or take the signs off again."""
        from tui.ui.editor.comments import marks_of, toggle  # asks Pygments for rare languages

        if (view := self.editor.view) is not None:
            marks = marks_of(view.buffer, view.cursor.position[0])
            if marks is None:
                self.app.notify("duetto knows no comment syntax for this language.", markup=False)
            else:
                self.editor.change(toggle(view.cursor, marks))

    def action_bracket(self) -> None:
        """Go to the partner of the bracket at the cursor, or of the next one in its line."""
        view = self.editor.view
        if view is not None and not self.editor.background.jump(view):
            self.app.notify("There is no matching bracket here.", markup=False)

    def action_outline(self) -> None:
        """Go to a symbol of this file; the editor shows each one that is moved to."""
        from tui.ui.finding.outline import OutlineScreen

        editor = self.editor
        if (view := editor.view) is None:
            return
        cursor, place, follow = view.cursor, view.place, self.sides.follow
        back, followed = (cursor.anchor, cursor.position), (follow.on, follow.resumes)
        editor.let_go()  # else the landing edit would bring another file behind the list

        def chosen(symbol: Symbol | None) -> None:
            if symbol is not None:
                if view is not self.editor.view:
                    self.files.choose(view.path)
                self.editor.go((symbol.line, symbol.col))
            elif view is editor.view:
                view.scroll_to(place[0], editor.size.height)
                cursor.select(*back)
                editor.moved()
            if symbol is None and editor.leads:
                follow.on, follow.resumes = followed
            self.note()

        def look(symbol: Symbol) -> None:
            if view is not editor.view:
                return
            height = editor.size.height
            if symbol.line not in view.shown(height // 2):  # the list lies over the lower half
                view.scroll_to(symbol.line - height // 4, height)
            editor.go((symbol.line, symbol.col))

        self.app.push_screen(OutlineScreen(view, look), chosen)

    def action_open_file(self) -> None:
        """Open a file by a few letters."""
        from tui.ui.files.finder import FileFinder

        active = self.files.active
        recent = [path for path in self.session.status.open_paths if path != active]
        self.session.folders.look()
        self._finder = FileFinder(self.session.listing, recent, self.session.folders.sizes)
        self.app.push_screen(self._finder, self._open_wish)

    def _open_wish(self, wish: ChosenFile | None) -> None:
        """The file finder was left."""
        self._finder = None
        if wish is not None:
            self.files.leave(wish.path)
            self.session.submit(OpenFile(wish.path, wish.line, wish.col))
            self.files.show(wish.path, None if wish.line is None else (wish.line, wish.col))
            self.files.sync_tabs()
            self.post_message(EditorWanted())

    def bright(self, bright: bool) -> None:
        """Whether the keys are in this pane: in the editor that the user is in."""
        self.files.tabs.bright(bright)
        for side in self.sides:
            set_dim(side.editor, not bright or side.editor is not self.editor)

    def action_close_tab(self) -> None:
        """Close this file's tab."""
        if active := self.files.active:
            self.files.close(active)

    def action_wrap(self) -> None:
        """Wrap long lines, or don't; for this session."""
        wrap = not self.editor.wrap
        self.sides.set_wrap(wrap)
        said = "Long lines wrap." if wrap else "Long lines go on to the right."
        self.app.notify(said, timeout=2, markup=False)
        self.note()

    def action_removed(self) -> None:
        """Hide the removed lines of pending hunks, or show them; for this session."""
        hunks = self.session.workspace.hunks
        hidden = self.editor.hidden_to is None
        self.sides.hide_removed((hunks[-1].id if hunks else 0) if hidden else None)
        said = "Removed lines are hidden." if hidden else "Removed lines are shown."
        self.app.notify(said, timeout=2, markup=False)
        self.note()

    def action_follow(self) -> None:
        """Follow the landing edit (again), or let go of it."""
        editor, follow = self.sides.leader.editor, self.sides.follow
        follow.on, follow.resumes = not follow.on, False
        line = None if editor.view is None else editor.view.written_line
        if follow.on and line is not None:
            editor.follow_to(line)
            editor.repaint()
        self.note()

    # -- messages of the parts ------------------------------------------------------------

    @on(Editor.Moved)
    def _moved(self, event: Editor.Moved) -> None:
        event.stop()
        self.note()

    @on(Editor.Edited)
    def _edited(self, event: Editor.Edited) -> None:
        event.stop()
        self.files.edited()

    async def on_file_tree_opened(self, event: FileTree.Opened) -> None:
        """A file was chosen: show it, and go there."""
        event.stop()
        if event.aside:
            await self.sides.divide()
            if (other := self.sides.other) is not None:
                self.sides.enter(other)
        if self.dock.cramped:
            self.dock.close()
        self.files.choose(event.path)
        self.post_message(EditorWanted())

    def on_file_tree_left(self, event: FileTree.Left) -> None:
        """Back to the editor."""
        event.stop()
        if self.dock.is_over:
            self.dock.close()
        self.post_message(EditorWanted())

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The user is where the focus is."""
        for side in self.sides:
            if side.editor is event.widget:
                self.sides.enter(side)

    def on_resize(self, event: events.Resize) -> None:
        """Two sides if they fit; the tree beside them, or over them."""
        before = self.sides.beside
        self.sides.fit()
        if self.sides.beside != before:
            self._settled()
        self.dock.place()

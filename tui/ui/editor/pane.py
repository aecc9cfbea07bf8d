"""The right half of the workbench: the editor's actions, the file finder, the outline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from tui.core.edits.telling.progress import landing_number
from tui.engine.intents import OpenFile, SaveFile
from tui.engine.notices import Notices
from tui.ui.editor import changes
from tui.ui.editor.tabs import Tabs
from tui.ui.files.pane import EditorTree
from tui.ui.finding.finding import EditorFinding
from tui.ui.keymap import bindings
from tui.ui.messages import EditorWanted

if TYPE_CHECKING:
    from tui.ui.files.finder import FileFinder, Wish
    from tui.ui.finding.outline import Symbol


class EditorPane(EditorFinding, EditorTree):
    """Tabs, editors, file tree, find bar."""

    BINDINGS = bindings("editor")
    _finder: FileFinder | None = None
    """The list of files that is open over the screen."""

    def sync(self, notices: Notices) -> None:
        """Paint what changed; called once a frame."""
        super().sync(notices)
        if notices.listing and self._finder is not None:
            self._finder.look_again()

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

    # -- actions of the keymap's scope "editor" -------------------------------------------

    def action_save(self) -> None:
        """Write the file."""
        if self.active:
            self.editor.typist.groups.close()
            if number := landing_number(self.session.workspace, self.active):
                said = f"Saved without hunk {number}, which is still landing."
                self.app.notify(said, markup=False)
            self.session.submit(SaveFile(self.active))

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
                self.app.notify("This language has no comments that duetto knows.", markup=False)
            else:
                self.editor.change(toggle(view.cursor, marks))

    def action_bracket(self) -> None:
        """Go to the partner of the bracket at the cursor, or of the next one in its line."""
        if (editor := self.editor).view is not None and not editor.jump_to_partner():
            self.app.notify("There is no bracket with a partner here.", markup=False)

    def action_outline(self) -> None:
        """Go to a symbol of this file; the editor shows each one that is moved to."""
        from tui.ui.finding.outline import OutlineScreen

        editor = self.editor
        if (view := editor.view) is None:
            return
        cursor, place = view.cursor, view.place
        back = cursor.anchor, cursor.position

        followed = editor.following, editor.resumes
        editor.let_go()  # else the landing edit would bring another file behind the list

        def chosen(symbol: Symbol | None) -> None:
            if symbol is not None:
                if view is not self.editor.view:
                    self.choose(view.path)
                self.editor.go((symbol.line, symbol.col))
            elif view is editor.view:
                view.scroll_to(place[0], editor.size.height)
                cursor.select(*back)
                editor.moved()
            if symbol is None:
                editor.following, editor.resumes = followed
            self.note()

        def look(symbol: Symbol) -> None:
            if view is not editor.view:
                return
            editor.let_go()
            height = editor.size.height
            if symbol.line not in view.shown(height // 2):  # the list lies over the lower half
                view.scroll_to(symbol.line - height // 4, height)
            editor.go((symbol.line, symbol.col))

        self.app.push_screen(OutlineScreen(view, look), chosen)

    def action_open_file(self) -> None:
        """Open a file by a few letters."""
        from tui.ui.files.finder import FileFinder

        recent = [path for path in self.session.status.open_paths if path != self.active]
        self.session.folders.look()
        finder = FileFinder(self.session.listing, recent)
        self._finder = finder
        self.app.push_screen(finder, self._open_wish)

    def action_close_tab(self) -> None:
        """Close this file's tab."""
        if self.active:
            self.close_file(self.active)

    def action_step_tab(self, step: int) -> None:
        """Go to a neighbouring tab."""
        paths = self.session.status.open_paths
        if paths:
            at = paths.index(self.active) if self.active in paths else 0
            self.choose(paths[(at + step) % len(paths)])

    def action_wrap(self) -> None:
        """Wrap long lines, or don't; for this session."""
        wrap = not self.editor.wrap
        self.set_wrap(wrap)
        said = "Long lines wrap." if wrap else "Long lines go on to the right."
        self.app.notify(said, timeout=2, markup=False)
        self.note()

    def action_follow(self) -> None:
        """Follow the landing edit (again), or let go of it."""
        editor = self.follower.editor
        editor.following, editor.resumes = not editor.following, False
        line = None if editor.view is None else editor.view.pen.line
        if editor.following and line is not None:
            editor.follow_to(line)
            editor.repaint()
        self.note()

    @on(Tabs.FollowWanted)
    def _follow_wanted(self, event: Tabs.FollowWanted) -> None:
        event.stop()
        self.action_follow()

    def _open_wish(self, wish: Wish | None) -> None:
        """The file finder was left."""
        self._finder = None
        if wish is not None:
            self.leave(wish.path)
            self.session.submit(OpenFile(wish.path, wish.line, wish.col))
            self.show(wish.path, None if wish.line is None else (wish.line, wish.col))
            self._sync_tabs()
            self.post_message(EditorWanted())

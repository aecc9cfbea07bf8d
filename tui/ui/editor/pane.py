"""The right half of the workbench: the editor's actions, find, go to line, the file finder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from tui.engine.intents import OpenFile, SaveFile
from tui.ui.editor.files import EditorFiles
from tui.ui.editor.find_bar import FindBar
from tui.ui.editor.search import MOST_MATCHES
from tui.ui.editor.tabs import Tabs
from tui.ui.keymap import bindings
from tui.ui.messages import EditorWanted

if TYPE_CHECKING:
    from tui.ui.editor.file_finder import Wish


class EditorPane(EditorFiles):
    """Tabs, editor, overview, find bar."""

    BINDINGS = bindings("editor")

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

    def close_open(self) -> bool:
        """Close the find bar; False if nothing was open."""
        if not self.find_bar.close():
            return False
        if (view := self.editor.view) is not None:
            view.search.look_for("", case=False)
        self.editor.focus()
        self.editor.repaint()
        self.note()
        return True

    def shown(self) -> None:
        """Another file: look for the same in it."""
        if self.find_bar.is_open:
            self._look()

    # -- actions of the keymap's scope "editor" -------------------------------------------

    def action_save(self) -> None:
        """Write the file."""
        if self.active:
            self.session.submit(SaveFile(self.active))

    def action_undo(self) -> None:
        """Take the user's own last edit back."""
        self.editor.undo()

    def action_redo(self) -> None:
        """Do it again."""
        self.editor.undo(again=True)

    def action_find(self) -> None:
        """Find in this file: what is selected, else what was looked for last."""
        if self.editor.view is not None:
            selected = self.editor.selected_text
            self.find_bar.open("find", "" if "\n" in selected else selected)

    def action_goto_line(self) -> None:
        """Ask for a line."""
        if self.editor.view is not None:
            self.find_bar.open("line")

    def action_open_file(self) -> None:
        """Open a file by a few letters."""
        from tui.ui.editor.file_finder import FileFinder

        recent = [path for path in self.session.status.open_paths if path != self.active]
        finder = FileFinder(self.session.listing(), recent)
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
        self.set_wrap(not self.editor.wrap)
        self.note()

    def action_follow(self) -> None:
        """Follow the landing edit (again), or let go of it."""
        editor = self.editor
        editor.following, editor.resumes = not editor.following, False
        view = editor.view
        if editor.following and view is not None and view.pen_line is not None:
            editor.follow_to(view.pen_line)
            editor.repaint()
        self.note()

    # -- messages of the find bar ---------------------------------------------------------

    @on(FindBar.Sought)
    def _sought(self, event: FindBar.Sought) -> None:
        event.stop()
        self._look()

    @on(FindBar.Stepped)
    def _stepped(self, event: FindBar.Stepped) -> None:
        event.stop()
        view = self.editor.view
        if view is None:
            return
        ends = view.cursor.selection or (view.cursor.position, view.cursor.position)
        self._go(ends[0] if event.backwards else ends[1], backwards=event.backwards)

    @on(FindBar.LineChosen)
    def _line_wanted(self, event: FindBar.LineChosen) -> None:
        event.stop()
        self.editor.let_go()
        self.editor.go((event.line, event.col))
        self.close_open()

    @on(Tabs.FollowWanted)
    def _follow_wanted(self, event: Tabs.FollowWanted) -> None:
        event.stop()
        self.action_follow()

    def _look(self) -> None:
        """Find what is typed, from the start of what was found before."""
        view = self.editor.view
        if view is None:
            return
        view.search.look_for(self.find_bar.needle, case=self.find_bar.case)
        selection = view.cursor.selection
        self._go(selection[0] if selection else view.cursor.position)

    def _go(self, position: tuple[int, int], *, backwards: bool = False) -> None:
        """To the next match from a position on, or to the one before it."""
        view = self.editor.view
        if view is None:
            return
        search = view.search
        found = search.go(position, backwards=backwards)
        if found is not None:
            self.editor.let_go()
            line, start, end = found
            self.editor.go((line, start), select_to=(line, end))
        self.editor.repaint()
        self.note()
        if not search.needle:
            self.find_bar.count("")
        elif found is None:
            self.find_bar.count("not found", nothing=True)
        else:
            more = "+" if len(search.matches) >= MOST_MATCHES else ""
            self.find_bar.count(f"{(search.index or 0) + 1} of {len(search.matches)}{more}")

    def _open_wish(self, wish: Wish | None) -> None:
        """The file finder was left."""
        if wish is not None:
            self.session.submit(OpenFile(wish.path, wish.line, wish.col))
            self.show(wish.path, None if wish.line is None else (wish.line, wish.col))
            self._sync_tabs()
            self.post_message(EditorWanted())

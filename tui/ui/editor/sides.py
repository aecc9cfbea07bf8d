"""One editor, or two beside each other; the landing edit is followed where the user is not.

Both may show one file: there is one buffer with one set of colours, and each side has a cursor
and a scroll position of its own. Where two do not fit, the one that the user is in is seen.
"""

from __future__ import annotations

from textual import events
from textual.containers import Vertical

from tui.ui.editor.editor import Editor
from tui.ui.editor.overview import Overview
from tui.ui.editor.session import EditorSession
from tui.ui.editor.side import Side

FEWEST_COLUMNS = 45
"""A side that is narrower than this is not shown beside another one."""


class EditorSides(Vertical):
    """The sides; `EditorFiles` adds the open files, tabs and all."""

    def __init__(self, session: EditorSession, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self.sides = [Side(session, id="side-1", editor_id="editor-text")]
        """The left one, and once there were two the right one."""
        self.split = False
        """There are two."""
        self.sides[0].add_class("-used", update=False)
        self._used = 0
        """The side that the user is in, or was in last."""

    @property
    def side(self) -> Side:
        """The side that the user is in, or was in last."""
        if self.split:
            focused = self.screen.focused
            for side in self.sides:
                if side.editor is focused:
                    return side
        return self.sides[self._used]

    @property
    def other(self) -> Side | None:
        """The other side; None if there is only one."""
        if not self.split:
            return None
        return self.sides[1] if self.side is self.sides[0] else self.sides[0]

    @property
    def beside(self) -> bool:
        """Two are seen."""
        return self.split and not self.has_class("-one")

    @property
    def editor(self) -> Editor:
        """The editor that keys and commands are for."""
        return self.side.editor

    @property
    def overview(self) -> Overview:
        """The strip beside `editor`."""
        return self.side.overview

    @property
    def active(self) -> str:
        """The path that `editor` shows; empty: none."""
        return self.side.path

    @property
    def follower(self) -> Side:
        """Where the landing edit is followed: the side that the user is not in, if it is seen."""
        other = self.other
        return other if other is not None and self.beside else self.side

    @property
    def following(self) -> bool:
        """The landing edit is followed."""
        return self.follower.editor.following

    async def divide(self) -> None:
        """Two sides, showing the same file; the user stays where they are."""
        if self.split:
            return
        if len(self.sides) == 1:
            self.sides.append(Side(self.session, id="side-2", editor_id="editor-text-2"))
            self.sides[1].editor.wrap = self.sides[0].editor.wrap
            self.sides[1].editor.slow_pen.mode = self.sides[0].editor.slow_pen.mode
            await self.query_one("#editor-row").mount(self.sides[1], after=self.sides[0])
            left, right = (side.editor for side in self.sides)
            left.twins, right.twins = (right,), (left,)
            right.following = False  # unless the pane follows: `_settle_follow`
        self.split = True
        self.add_class("-split")
        self.fit()
        first, second = self.sides
        second.path, second.editor.wrap = first.path, first.editor.wrap
        if first.editor.view is not None:
            second.view_of(first.editor.view.buffer, first)
        second.editor.show(second.shown)
        self.settled()

    def set_wrap(self, wrap: bool) -> None:
        """Wrap long lines on both sides, or on none."""
        for side in self.sides:
            side.editor.set_wrap(wrap)

    def join(self) -> None:
        """One side: that of the user."""
        if not self.split:
            return
        first, second = self.sides
        focused = second.editor.has_focus
        if self.side is second:
            first.swap(second)
            first.editor.show(first.shown)
        self._used, self.split = 0, False
        second.editor.show(None)
        second.keep(())
        second.path = ""
        self.remove_class("-split", "-one")
        first.styles.width = second.styles.width = "1fr"
        self._mark()
        self._settle_follow()
        if focused:
            self.screen.set_focus(first.editor)
        self.settled()

    def enter(self, side: Side) -> None:
        """The user goes to this side; the focus, if it is in the other one, goes along.

        Whoever goes where the model writes has let go of it: what they left stays as it was.
        """
        if self.beside and side.editor.following and self.session.status.busy:
            side.editor.let_go()
        at, focused = self.sides.index(side), self.screen.focused
        before, self._used = self._used, at
        self._mark()
        if any(one.editor is focused for one in self.sides if one is not side):
            self.screen.set_focus(side.editor)
        if at != before:
            self._settle_follow()
            side.editor.report()
            self.settled()

    def settled(self) -> None:
        """Sides came, went, or the user is in another one."""

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The user is where the focus is."""
        for side in self.sides:
            if side.editor is event.widget:
                self.enter(side)

    def on_resize(self, event: events.Resize) -> None:
        """Two, if they fit."""
        before = self.beside
        self.fit()
        if self.beside != before:
            self.settled()

    def fit(self) -> None:
        """Two sides, if the pane is wide enough for them."""
        narrow = self.split and 0 < self.size.width < 2 * FEWEST_COLUMNS
        self.set_class(narrow, "-one")
        self._mark()
        self._settle_follow()

    def on_side_dragged(self, event: Side.Dragged) -> None:
        """The user moves the line between the two sides; each keeps a third of the least width."""
        event.stop()
        left, right = self.sides
        total = right.region.right - left.region.x
        least = FEWEST_COLUMNS // 3
        first = max(min(event.x - left.region.x, total - least), least)
        left.styles.width, right.styles.width = f"{first}fr", f"{total - first}fr"

    def _mark(self) -> None:
        """Say which side the user is in."""
        for number, side in enumerate(self.sides):
            side.set_class(number == self._used, "-used")
            side.editor.aside = number != self._used

    def _settle_follow(self) -> None:
        """Follow mode is a thing of the pane: the side that follows now has it."""
        following = any(side.editor.following for side in self.sides)
        resumes = any(side.editor.resumes for side in self.sides)
        for side in self.sides:
            follows = side is self.follower
            side.editor.following = following and follows
            side.editor.resumes = resumes and follows

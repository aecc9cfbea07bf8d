"""A text area that shows long texts as labels, each of which is one thing under the cursor."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from tui.ui import theme
from tui.ui.keymap import shown
from tui.ui.prompt.folds import Folds

MOST_SHOWN_CHARS = 50_000
"""Wrapping so many takes some 50 ms."""


class FoldingText(TextArea):
    """Keeps `Folds`; `whole` is the text without labels."""

    _folds: Folds | None = None
    """None while the base class makes itself."""

    @property
    def folds(self) -> Folds:
        """What the labels stand for."""
        if self._folds is None:
            self._folds = Folds()
        return self._folds

    @property
    def whole(self) -> str:
        """The draft as it is sent."""
        return self.folds.whole(self.text)

    @property
    def selected_text(self) -> str:
        """What is copied: the text behind labels too."""
        return self.folds.whole(super().selected_text)

    @property
    def at_fold(self) -> bool:
        """True while the cursor touches a label."""
        return self._beside() is not None

    def take_in(self, text: str) -> None:
        """Put a text at the cursor or over the selection; what is long is folded."""
        folded = self.folds.fold(text, self.text)
        if result := self._replace_via_keyboard(folded, *self.selection):
            self.move_cursor(result.end_location)

    def unfold(self) -> str:
        """Show what the label at the cursor stands for; otherwise a sentence that says why not."""
        place = self._beside()
        if place is None:
            key = shown("unfold", "prompt")
            return f"{key} shows what a label like [pasted 200 lines] stands for: go to one first."
        row, (start, end) = place
        text = self.folds.whole(self.document.get_line(row)[start:end])
        if len(text) > MOST_SHOWN_CHARS:
            return f"{len(text):,} characters are too many to show here; they are sent whole."
        self.replace(text, (row, start), (row, end))
        return ""

    def edit(self, edit: Edit) -> EditResult:
        """Textual's; a label is changed as one: it stays whole or goes."""
        first, last = edit.top, edit.bottom
        inside_first, inside_last = self._inside(first), self._inside(last)
        if first == last and inside_first:
            first = last = (first[0], inside_first[1])
        else:
            first = (first[0], inside_first[0]) if inside_first else first
            last = (last[0], inside_last[1]) if inside_last else last
        if (first, last) != (edit.top, edit.bottom):
            edit.from_location, edit.to_location = first, last
        return super().edit(edit)

    def validate_selection(self, selection: Selection) -> Selection:
        """The cursor steps over a label, and never into it."""
        return Selection(*(self._outside(at, self.selection.end) for at in selection))

    def _refresh_size(self) -> None:
        """Textual's; a cursor below what an undo left is brought in first.

        The new size scrolls, which asks for the cursor's place before Textual has moved it: the
        undo of a paste of ten lines raised ValueError, which ended the app.
        """
        kept = self._validate_selection(self.selection)
        if kept != self.selection:
            self.set_reactive(TextArea.selection, kept)
        super()._refresh_size()

    def get_line(self, line_index: int) -> Text:
        """The line, its labels in their colour."""
        line = super().get_line(line_index)
        for start, end in self.folds.places(line.plain):
            line.stylize(theme.active().style("accent", more="bold"), start, end)
        return line

    def action_cut(self) -> None:
        """Textual's; the text behind labels is cut."""
        start, end = self.selection
        if start == end:
            result = self._delete_cursor_line()
        else:
            result = self._delete_via_keyboard(start, end)
        if result is not None:
            self.app.copy_to_clipboard(self.folds.whole(result.replaced_text))

    def action_paste(self) -> None:
        """What duetto itself copied."""
        self.take_in(self.app.clipboard)

    def _inside(self, at: Location) -> tuple[int, int] | None:
        """The label that a place lies inside of."""
        row, column = at
        if row >= self.document.line_count:
            return None
        return self.folds.around(self.document.get_line(row), column)

    def _outside(self, at: Location, before: Location) -> Location:
        """A place at an end of the label around it: the one that the cursor was not at."""
        place = self._inside(at)
        if place is None:
            return at
        start, end = place
        if before in ((at[0], start), (at[0], end)):
            return (at[0], end if before[1] == start else start)
        return (at[0], start if at[1] - start < end - at[1] else end)

    def _beside(self) -> tuple[int, tuple[int, int]] | None:
        """Row and place of the label that the cursor touches, the one before it first."""
        row, column = self.cursor_location
        places = self.folds.places(self.document.get_line(row))
        touched = [place for place in places if column in place]
        return (row, touched[0]) if touched else None

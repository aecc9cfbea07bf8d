"""The draft as the prompt's controllers see it: Textual's text area, or a test's own."""

from __future__ import annotations

from typing import Protocol

Location = tuple[int, int]
"""Row and column, 0-based."""


class DraftLines(Protocol):
    """The text by lines."""

    @property
    def line_count(self) -> int:
        """At least 1."""

    def get_line(self, index: int) -> str:
        """A line without its end."""


class Draft(Protocol):
    """A text with a cursor."""

    @property
    def text(self) -> str:
        """All of it."""

    @property
    def document(self) -> DraftLines:
        """Its lines."""

    @property
    def selected_text(self) -> str:
        """Empty if nothing is selected."""

    @property
    def cursor_location(self) -> Location:
        """Where the cursor is."""

    def move_cursor(self, location: Location) -> None:
        """Put the cursor there; nothing is selected then."""

    def replace(
        self,
        insert: str,
        start: Location,
        end: Location,
        *,
        maintain_selection_offset: bool = True,
    ) -> object:
        """Put a text between two places."""

    def undo(self) -> None:
        """Take the user's last edit back."""

    def redo(self) -> None:
        """Bring it back."""

    def checkpoint(self) -> None:
        """What follows is undone by itself."""

    def select(self, anchor: Location, cursor: Location) -> None:
        """Select what lies between the two."""

"""What the ledger and a front end ask of a section that is landing, or that waits for a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tui.core.edits.hunk import Hunk
from tui.core.text.change_set import Position
from tui.core.text.rows import Span

if TYPE_CHECKING:
    from tui.core.text.change_set import Author


class OpenSection(Protocol):
    """A section that is landing in a file."""

    hunks: list[Hunk]

    @property
    def trouble(self) -> str:
        """Why painting had to stop: somebody changed matched lines."""

    def changed(self, span: Span, author: Author) -> None:
        """Rows of the file changed, not by this section."""

    def without(self) -> tuple[int, int, str]:
        """Rows that it has painted, and the text that belongs there without it."""

    def painted(self, start: Position, end: Position) -> list[int] | None:
        """Rows of a range that are the model's alone; None: all are."""

    @property
    def unfinished(self) -> int | None:
        """The row of the line that is still coming, if it is painted."""

    def shortened(self, now: bool) -> None:
        """The user deletes in painted rows now, and types nothing."""

    def give_way(self) -> None:
        """Painted rows were taken out for the user: no more come."""

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""

    def places(self) -> Sequence[int]:
        """First rows at which it could stand, as long as that is not decided."""

    def decorations(self, first: int, last: int) -> dict[int, str]:
        """Line -> landing, struck or candidate, of lines ``first`` to ``last``."""

    def ghost(self) -> tuple[int, list[str]] | None:
        """The line under which incoming lines may be shown, and these lines."""


class WaitingSection(Protocol):
    """A section that fits in several places and waits for the user's choice."""

    hunks: list[Hunk]
    height: int
    """How many rows each of the places has; at least 1."""

    def place_at(self, row: int) -> None:
        """Land at one of the candidates. Raises EditRefused."""

    def every_place(self) -> Sequence[int]:
        """All rows at which it could be placed, in the text as it is now."""

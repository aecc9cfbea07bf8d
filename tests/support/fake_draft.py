"""The prompt's draft without a screen, for its controllers."""

from __future__ import annotations

from tui.ui.prompt.draft import Location


class FakeDraft:
    """A text with a cursor; it is its own lines."""

    def __init__(self, text: str = "") -> None:
        self.cursor_location: Location = (0, 0)
        self.selected: tuple[Location, Location] | None = None
        self._texts = [""]
        self.write(text)

    @property
    def text(self) -> str:
        return self._texts[-1]

    @property
    def document(self) -> FakeDraft:
        return self

    @property
    def selected_text(self) -> str:
        return "something" if self.selected else ""

    @property
    def line_count(self) -> int:
        return self.text.count("\n") + 1

    def get_line(self, index: int) -> str:
        return self.text.split("\n")[index]

    def write(self, text: str) -> None:
        """As the prompt does it: the cursor is behind the text."""
        self._texts.append(text)
        self._go_to(len(text))

    def move_cursor(self, location: Location) -> None:
        self.cursor_location, self.selected = location, None

    def replace(
        self,
        insert: str,
        start: Location,
        end: Location,
        *,
        maintain_selection_offset: bool = True,
    ) -> None:
        first, last = self._index(start), self._index(end)
        self._texts.append(self.text[:first] + insert + self.text[last:])
        self._go_to(first + len(insert))

    def undo(self) -> None:
        self._texts.pop()

    def redo(self) -> None:
        raise NotImplementedError

    def checkpoint(self) -> None:
        """Each text is one."""

    def select(self, anchor: Location, cursor: Location) -> None:
        self.cursor_location, self.selected = cursor, (anchor, cursor)

    def _index(self, place: Location) -> int:
        row, column = place
        return sum(len(line) + 1 for line in self.text.split("\n")[:row]) + column

    def _go_to(self, index: int) -> None:
        before = self.text[:index]
        self.cursor_location = before.count("\n"), len(before) - before.rfind("\n") - 1

"""A whole file in a fence, line by line, from the first line behind the opening fence.

A fence inside of it is content: it is shorter than the outer one, or it opens with an info
string and a bare one closes it (EDITS.md section 1; aider#22, aider#2106).
"""

from __future__ import annotations

import re

from tui.core.document.hunk import Kind
from tui.core.edit_stream.events import Cut, End, Ev, Failure, FileEnd, FileOp, Line, whole

_RUN = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)", re.DOTALL)
_SEARCH = re.compile(r"[ \t]*(?:<{3,}|-{3,}) ?SEARCH>?\s*")


def nearly_search(line: str) -> bool:
    """The line is meant to be a SEARCH marker, whatever its length."""
    return len(line) <= 80 and _SEARCH.fullmatch(line) is not None


class ListingGrammar:
    """One whole file."""

    def __init__(self, path: str, opening: str, sections: int, *, marked: bool = False) -> None:
        """``opening`` is the line of the fence; ``marked``: other formats' markers are errors."""
        self.ended = False
        self.failed = False
        self.wrapper_closed = False
        self.sections = sections
        self.rest: list[str] = []
        self._path = path
        stripped = opening.strip()
        self._char = stripped[0]
        self._length = len(stripped) - len(stripped.lstrip(self._char))
        self._indent = len(opening) - len(opening.lstrip(" \t"))
        self._inner: list[int] = []
        """Lengths of the fences that are open inside of the file."""
        self._marked = marked
        self._number = 0
        self._begun = False

    def take(self, text: str, ending: str, number: int, closing: bool) -> list[Ev]:
        """Read one whole line; see `reading.EditGrammar`."""
        self._number = number
        said = [] if self._begun else self._begin()
        if self._indent:
            text = self._dedented(text)
        if text.lstrip(" \t")[:1] == self._char and self._fences(text):
            self.ended = True
            return [*said, FileEnd(closed=True), End(explicit=True)]
        if self._marked and text[:3] in ("<<<", "---") and nearly_search(text):
            self.rest = [whole(text, ending)]
            return [*said, *self._fail("a SEARCH marker behind other lines of a whole file")]
        said.append(Line("+", text, ending))
        return said

    def partial(self, pending: str) -> str | None:
        """The unfinished line, unless it may become a fence."""
        text = pending.removesuffix("\r")
        if self._indent:
            text = self._dedented(text)
        return None if not text or text.lstrip(" \t")[:1] in ("`", "~", "") else text

    def over_at(self, pending: str) -> bool:
        """The closing fence is there, its newline is not."""
        text = pending.strip()
        return not self._inner and len(text) >= self._length and not text.strip(self._char)

    def close(self, explicit: bool) -> list[Ev]:
        """The input is complete though the fence is not closed."""
        said = [] if self._begun else self._begin()
        if self._inner:
            return [*said, *self._fail(f"the fence around '{self._path}' is not closed")]
        self.ended = True
        return [*said, FileEnd(closed=True), End(explicit=False)]

    def cut(self, pending: str) -> list[Ev]:
        """The stream was cut inside the file."""
        said = [] if self._begun else self._begin()
        self.ended = True
        return [*said, Cut(), FileEnd(closed=False)]

    def _begin(self) -> list[Ev]:
        self._begun = True
        return [FileOp(Kind.ADD, self._path, "whole_file")]

    def _dedented(self, text: str) -> str:
        """The line without the fence's indent, as far as it has one (CommonMark)."""
        blanks = len(text) - len(text.lstrip(" \t"))
        return text[min(blanks, self._indent) :]

    def _fences(self, text: str) -> bool:
        """The line closes the file; notes fences that open and close inside of it."""
        match = _RUN.fullmatch(text)
        if match is None or match[1][0] != self._char or len(match[1]) < self._length:
            return False
        if match[2].strip():
            if self._char not in match[2]:
                self._inner.append(len(match[1]))
            return False
        if self._inner and len(match[1]) >= self._inner[-1]:
            self._inner.pop()
            return False
        return not self._inner

    def _fail(self, message: str) -> list[Ev]:
        self.failed = self.ended = True
        return [Failure(self._number, message), FileEnd(closed=False)]

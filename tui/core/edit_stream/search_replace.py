"""SEARCH/REPLACE blocks, line by line, from the line behind the first ``<<<<<<< SEARCH``.

Markers have 5 to 9 characters (aider), or are cline's ``-------`` and ``+++++++``; they count
at column 0 or at the indent of the block's own first marker. Which of several dividers divides
is for the placement to decide: all are told.
"""

from __future__ import annotations

import re
from typing import Literal

from tui.core.document.hunk import Kind
from tui.core.edit_stream.events import (
    Cut,
    Divider,
    End,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    SectionEnd,
    SectionStart,
    whole,
)

_SEARCH = re.compile(r"[ \t]*(?:<{5,9} ?|-{5,9} )SEARCH>?\s*")
_DIVIDER = re.compile(r"={5,9}\s*")
_REPLACE = re.compile(r"(?:>{5,9}|\+{5,9}) ?REPLACE>?\s*")
_BLANKS = " \t"
_MARKS = frozenset("<>=+- \t")
_MAY_MARK = (">", "<", "=", "+", "-----")


def is_search(line: str) -> bool:
    """The line begins a block, at any indent."""
    return len(line) <= 80 and _SEARCH.fullmatch(line) is not None


class BlockGrammar:
    """The blocks of one file: one `FileOp`, a section each.

    Behind a block it is `ended` but its file is not: the next block may `resume` it, else
    `close` says that the file is over.
    """

    def __init__(self, path: str, others: tuple[str, ...], sections: int) -> None:
        self.path = path
        self.ended = False
        self.failed = False
        self.wrapper_closed = False
        self.sections = sections
        self.rest: list[str] = []
        self._others = others
        self._indent = ""
        self._indent_sure = False
        self._first = True
        self._op: Literal["-", "+"] = "-"
        self._open = False
        """Inside a block."""
        self._number = 0

    def resume(self, marker: str) -> list[Ev]:
        """A block begins: the line is its SEARCH marker."""
        self.ended = False
        self._indent = marker[: len(marker) - len(marker.lstrip(_BLANKS))]
        self._indent_sure = False
        self._op = "-"
        self._open = True
        self.sections += 1
        start = SectionStart(self.sections, self._first)
        if not self._first:
            return [start]
        self._first = False
        return [FileOp(Kind.EDIT, self.path, "search_replace", self._others), start]

    def take(self, text: str, ending: str, number: int, closing: bool) -> list[Ev]:
        """Read one whole line; see `reading.EditGrammar`."""
        self._number = number
        if self._indent:
            text = self._dedented(text)
        if text[:1] not in _MARKS or text[0] in _BLANKS:
            return [Line(self._op, text, ending)]
        if _REPLACE.fullmatch(text):
            return self._replace_marker(text, ending)
        if _DIVIDER.fullmatch(text):
            self._op = "+"
            return [Divider(text)]
        if is_search(text):
            self.rest = [whole(self._indent + text, ending)]
            return self._fail(f"expected '{self._expected}' before another SEARCH")
        return [Line(self._op, text, ending)]

    def partial(self, pending: str) -> str | None:
        """The unfinished line of a replacement, unless it may become a marker."""
        if self._op == "-":
            return None
        text = pending.removesuffix("\r")
        if self._indent:
            text = text.removeprefix(self._indent)
        return None if not text or text.startswith(_MAY_MARK) else text

    def over_at(self, pending: str) -> bool:
        """The last marker is there, its newline is not."""
        text = pending.removeprefix(self._indent)
        return self._op == "+" and _REPLACE.fullmatch(text) is not None

    def close(self, explicit: bool) -> list[Ev]:
        """The blocks are over; inside of one that is an error."""
        if self._open:
            return self._fail(f"expected '{self._expected}', the text ends before it")
        self.ended = True
        return [FileEnd(closed=True), End(explicit=True)]

    def cut(self, pending: str) -> list[Ev]:
        """The stream was cut inside a block."""
        return [Cut(), *self._abandoned()]

    @property
    def _expected(self) -> str:
        return "=======" if self._op == "-" else ">>>>>>> REPLACE"

    def _replace_marker(self, text: str, ending: str) -> list[Ev]:
        if self._op == "-":
            return self._fail(f"expected '=======' before '{text.strip()}'")
        self._open, self.ended = False, True
        return [SectionEnd(closed=True)]

    def _dedented(self, text: str) -> str:
        """The line without the indent of the first marker, if the block's lines have it."""
        if text.startswith(self._indent):
            self._indent_sure = self._indent_sure or not text.isspace()
            return text[len(self._indent) :]
        if text and not text.isspace() and not self._indent_sure:
            self._indent = ""
        return text

    def _fail(self, message: str) -> list[Ev]:
        self.failed = True
        return [Failure(self._number, message), *self._abandoned()]

    def _abandoned(self) -> list[Ev]:
        """Close what is open as not closed."""
        self.ended = True
        ends: list[Ev] = [SectionEnd(closed=False)] if self._open else []
        self._open = False
        return [*ends, FileEnd(closed=False)]

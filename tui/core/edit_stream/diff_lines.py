r"""A unified diff, line by line, from its first header line to its end.

With counts (``@@ -l,n +l,n @@``) ``--- x`` inside of a hunk is a removed line; without them it
is a header if ``+++ y`` and ``@@`` follow. Counts that models get wrong are told as a flag.
"""

from __future__ import annotations

import re
from typing import Literal

from tui.core.edit_stream.diff_head import (
    Head,
    counts_of,
    is_binary,
    is_head,
    place_of,
    starts_diff,
)
from tui.core.edit_stream.events import (
    Anchor,
    Cut,
    End,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    MoveTo,
    NoNewline,
    Refusal,
    SectionEnd,
    SectionStart,
)
from tui.core.edit_stream.grammar import no_prefix, quoted
from tui.core.edit_stream.naming import Exists
from tui.core.edit_stream.reading import whole
from tui.core.edits.hunk import Kind

WRONG_COUNTS = "line counts are wrong"
LOST_MODE = "the change of the file's mode is left out"
_OPS: dict[str, Literal["=", "-", "+"]] = {" ": "=", "-": "-", "+": "+"}
_ITEM = re.compile(r"[-+] \S")


class DiffGrammar:
    """The files of one diff."""

    def __init__(
        self, sections: int, exists: Exists, *, indent: str, fenced: bool, strict: bool
    ) -> None:
        """``fenced``: something closes around it; ``strict``: nothing else may stand behind."""
        self._exists = exists
        self.ended = False
        self.failed = False
        self.wrapper_closed = False
        self.sections = sections
        self.rest: list[str] = []
        self._indent = indent
        self._fenced = fenced
        self._strict = strict
        self._head = Head()
        self._kind: Kind | None = None
        """Of the open file; None between files."""
        self._path = ""
        self._in_file = 0
        """Sections of the open file."""
        self._hunk = False
        """Behind an ``@@``."""
        self._section = False
        """Its first line was told."""
        self._told = False
        """A line of the hunk came."""
        self._hint: int | None = None
        self._place = ""
        """What a header without numbers says instead."""
        self._old: int | None = None
        """Old lines to come; None without counts."""
        self._new: int | None = None
        self._op: Literal["=", "-", "+"] = "="
        self._flags: list[str] = []
        self._held: list[tuple[str, str, int]] = []
        """Blank lines and ``---``/``+++`` that the next line decides on."""
        self._skipping = False
        """The lines of what is refused."""
        self._number = 0
        self._out: list[Ev] = []

    def take(self, text: str, ending: str, number: int, closing: bool) -> list[Ev]:
        """Read one whole line; see `reading.EditGrammar`."""
        self._number = number
        line = text
        if self._indent:
            text = text.removeprefix(self._indent)
        if closing and text[:1] not in _OPS:
            self._close(explicit=True)
            self.wrapper_closed = not self.failed
        elif self._hunk:
            self._in_hunk(text, ending, number)
        else:
            self._in_head(text, ending, number)
        if self.failed and not self.rest:
            self.rest = [whole(line, ending)]
        out, self._out = self._out, []
        return out

    def partial(self, pending: str) -> str | None:
        """The unfinished ``+`` line inside a hunk that is not complete."""
        if self._indent:
            pending = pending.removeprefix(self._indent)
        if not pending.startswith("+") or not self._hunk or self._complete or self._held:
            return None
        return pending[1:].removesuffix("\r")

    def over_at(self, pending: str) -> bool:
        """Nothing marks the end of a diff."""
        return False

    def close(self, explicit: bool) -> list[Ev]:
        """The input is complete, or the fence was closed."""
        self._close(explicit)
        out, self._out = self._out, []
        return out

    def cut(self, pending: str) -> list[Ev]:
        """The stream was cut; a hunk whose counts are complete is whole."""
        if self._section and self._complete and not pending.startswith((" ", "+")):
            self._end_section(closed=True)
        self._out.append(Cut())
        self._abandon()
        out, self._out = self._out, []
        return out

    @property
    def _complete(self) -> bool:
        """The counts say that all lines of the hunk came."""
        return self._old is not None and self._old <= 0 and (self._new or 0) <= 0

    # Between hunks.

    def _in_head(self, text: str, ending: str, number: int) -> None:
        if text.startswith("@@") and (self._kind is not None or self._head.full or self._head.done):
            self._held.clear()
            self._open_file(text)
            if not self.ended:
                self._begin_hunk(text)
        elif not text.strip():
            self._held.append((text, ending, number))
        elif is_head(text):
            self._held.clear()
            if starts_diff(text) and (self._kind is not None or self._head.over_at(text)):
                self._close_file()
                self._head = Head()
            self._head.take(text)
        elif self._refused() and is_binary(text):
            self._held.clear()
        elif self._kind is None and self._head.full and text[0] in _OPS:
            self._open_file()
            if not self.ended:
                self._begin_hunk("@@")
                self._in_hunk(text, ending, number)
        else:
            self._finish_before(text, ending)

    def _refused(self) -> bool:
        """The file is one that cannot be edited: what it holds is read over."""
        if self._kind is None and self._head.refusal and self._head.complete:
            self._open_file()
        return self._skipping

    def _open_file(self, hunk: str = "") -> None:
        """Tell the file, if it was not told yet; ``hunk``: its first ``@@`` follows."""
        if self._kind is not None:
            return
        kind, path, target, others = self._head.target()
        if not path:
            self._fail("the diff names no file")
            return
        if kind is Kind.EDIT and not target:
            row, old, new = counts_of(hunk)
            if self._head.new_gone and new == 0:
                kind = Kind.DELETE
            elif (self._head.old_gone and not old) or (row == old == 0 and not self._exists(path)):
                kind = Kind.ADD
        self._kind, self._path, self._in_file = kind, path, 0
        self._flags = []
        self._out.append(FileOp(kind, path, "unified_diff", others))
        if target:
            self._out.append(MoveTo(target))
        refusal = self._head.refusal
        if self._head.mode and not refusal and not self._head.full and not target:
            refusal = "a change of the file's mode is not made"
        if refusal:
            self._out.append(Refusal(refusal))
        self._skipping = bool(refusal)

    def _close_file(self, *, sure: bool = True) -> None:
        """Close the open file operation, or one that consists of its header."""
        if self._kind is None:
            if not self._head.done:
                return
            self._open_file()
            if self.ended:
                return
        if self._kind is Kind.DELETE and not sure:
            self._fail(f"the diff ends inside of the delete of '{quoted(self._path)}'")
            return
        self._out.append(FileEnd(closed=True))
        self._kind, self._skipping = None, False
        self._head = Head()

    def _begin_hunk(self, header: str) -> None:
        self._hint, self._old, self._new = counts_of(header)
        self._place = place_of(header) if self._hint is None else ""
        self._hunk = True
        self._section = self._told = False
        self._held.clear()
        if self._head.mode and LOST_MODE not in self._flags:
            self._flags.append(LOST_MODE)

    # Inside a hunk.

    def _in_hunk(self, text: str, ending: str, number: int) -> None:
        first = text[:1]
        if first in _OPS and not (self._held or self._complete or text.startswith("--- ")):
            self._say(_OPS[first], text[1:], ending)
        elif text.startswith("\\ "):
            self._release()
            if not self._skipping and (self._section or self._kind is Kind.ADD):
                self._out.append(NoNewline(self._op))
        elif first == "@" and text.startswith("@@"):
            self._next_hunk(text)
        elif not text.strip() and (first != " " or self._complete):
            self._held.append((text, ending, number))
            if self._old == self._new == len(self._held) and not any(
                held[0].strip() for held in self._held
            ):
                self._release()  # exactly what the counts expect
        elif self._held_header(text, ending, number):
            return
        elif first in _OPS and not (self._complete and self._is_behind(text)):
            self._release()
            self._say(_OPS[first], text[1:], ending)
        elif is_head(text) and starts_diff(text):
            self._end_hunk()
            self._in_head(text, ending, number)
        else:
            self._foreign(text, ending, number)

    def _is_behind(self, text: str) -> bool:
        """A line behind a complete hunk is a mail's signature, or of a list below the diff.

        Others go on with the hunk: the counts are a hint.
        """
        loose = bool(self._held) and not (self._fenced or self._strict)
        return text in ("-- ", "--") or (loose and _ITEM.match(text) is not None)

    def _held_header(self, text: str, ending: str, number: int) -> bool:
        """Hold ``---`` and ``+++`` lines until it is known whether they begin another file."""
        marks = [held for held in self._held if held[0].startswith(("--- ", "+++ "))]
        if text.startswith("--- ") and text[4:].strip():
            if marks:
                self._release()
            self._held.append((text, ending, number))
            return True
        if text.startswith("+++ ") and len(marks) == 1:
            if self._complete:
                self._next_file()
                self._in_head(text, ending, number)
            else:
                self._held.append((text, ending, number))
            return True
        return False

    def _next_hunk(self, text: str) -> None:
        """``@@`` behind lines of a hunk: of this file, or of the one that held lines name."""
        marks = [held for held in self._held if held[0].startswith(("--- ", "+++ "))]
        content = self._old == 1 and self._new == 1
        if len(marks) == 2 and not content:
            self._next_file()
            self._in_head(marks[1][0], marks[1][1], marks[1][2])
            self._open_file(text)
        else:
            self._end_hunk()
        if not self.ended:
            self._begin_hunk(text)

    def _next_file(self) -> None:
        """The last held ``---`` line is a header."""
        at = max(i for i, held in enumerate(self._held) if held[0].startswith("--- "))
        mark = self._held[at]
        self._held = self._held[:at]
        self._end_hunk()
        if not self.ended:
            self._in_head(*mark)

    def _foreign(self, text: str, ending: str, number: int) -> None:
        """A line that is none of a hunk."""
        open_counts = self._old is not None and not self._complete
        loose = not self._fenced and not self._strict and bool(self._held)
        if any(held[0].strip() for held in self._held):
            self._release()
        if self._complete or (loose and not open_counts):
            self._finish_before(text, ending)
        elif self._kind is Kind.EDIT:
            self._release()
            self._say("=", text, ending, number)
        else:
            self._fail(no_prefix(text))

    def _finish_before(self, text: str, ending: str) -> None:
        """The diff was over before this line, and before blank lines above it."""
        rest = [whole(held[0], held[1]) for held in self._held]
        self._held.clear()
        self._close(explicit=True)
        self.rest = [*rest, whole(text, ending)]

    def _release(self) -> None:
        """Held lines are lines of the hunk."""
        held, self._held = self._held, []
        for text, ending, _ in held:
            self._say(_OPS.get(text[:1], "="), text[1:], ending)

    def _say(self, op: Literal["=", "-", "+"], text: str, ending: str, bare: int = 0) -> None:
        """Tell one line of the hunk."""
        if self._old is not None and self._new is not None:
            self._old -= op != "+"
            self._new -= op != "-"
            if (self._old < 0 or self._new < 0) and WRONG_COUNTS not in self._flags:
                self._flags.append(WRONG_COUNTS)
        self._op, self._told = op, True
        if self._skipping:
            return
        if self._kind is Kind.ADD:
            if op != "+":
                self._fail(f"the new file '{quoted(self._path)}' has no old lines")
                return
        elif not self._section:
            self._section = True
            self.sections += 1
            self._in_file += 1
            self._out.append(SectionStart(self.sections, self._in_file == 1))
            if self._hint is not None or self._place:
                self._out.append(Anchor(self._place, self._hint))
        self._out.append(Line(op, text, ending, bare))

    def _end_hunk(self) -> None:
        """The hunk is over: another, another file, or the end follows."""
        if any(held[0].strip() for held in self._held):
            self._release()
        self._held.clear()
        self._hunk = False
        if not self._told and not self._skipping and not self._complete:
            self._fail("a hunk has no lines")
            return
        if self._old is not None and not self._complete and WRONG_COUNTS not in self._flags:
            self._flags.append(WRONG_COUNTS)
        if self._section:
            self._end_section(closed=True)

    def _end_section(self, closed: bool) -> None:
        flags, self._flags = self._flags, []
        self._out.append(SectionEnd(closed, tuple(flags)))
        self._section = False

    def _close(self, explicit: bool) -> None:
        """The diff is over."""
        if any(held[0].strip() for held in self._held):
            self._release()
        whole_hunk = self._old is not None and self._complete
        right = not self._hunk or self._old is None or whole_hunk
        sure = explicit or not self._hunk or whole_hunk
        if self._hunk and not self.ended:
            self._end_hunk()
        if not self.ended:
            self._close_file(sure=sure)
        if not self.ended:
            self._out.append(End(explicit=right))
            self.ended = True

    def _fail(self, message: str) -> None:
        self._out.append(Failure(self._number, message))
        self.failed = True
        self._abandon()

    def _abandon(self) -> None:
        """Close what is open as not closed."""
        if self._section:
            self._end_section(closed=False)
        if self._kind is not None:
            self._out.append(FileEnd(closed=False))
        self._kind, self._hunk = None, False
        self._held.clear()
        self.ended = True

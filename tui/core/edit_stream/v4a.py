"""One V4A patch, line by line, from the line behind ``*** Begin Patch`` to its end.

The grammar is the published one with what was found beyond it (EDITS.md section 1): padded
markers, an ``*** Environment ID:`` preamble, a first chunk without ``@@``, stacked ``@@``, a
unified diff's ``@@ -l,n +l,n @@``, and blank lines that are context or separator: they are
held until the next line decides.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from tui.core.document.hunk import Kind
from tui.core.edit_stream.events import (
    Anchor,
    Cut,
    EditGrammar,
    End,
    EndOfFile,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    MoveTo,
    SectionEnd,
    SectionStart,
    whole,
)
from tui.core.text.patterns import pattern

BEGIN = "*** Begin Patch"
END = "*** End Patch"
_END_OF_FILE = "*** End of File"
_HEADER = pattern(r"\*\*\* (Add|Delete|Update) File:(.*)", re.DOTALL)
HEADER_STARTS = ("*** Add File:", "*** Delete File:", "*** Update File:")
_MOVE = pattern(r"\*\*\* Move to:(.*)", re.DOTALL)
_KNOWN = pattern(r"\*\*\* (?:(?:Begin|End) Patch|End of File|(?:\w+ File|Move to):)")
_RANGE = pattern(r"-(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@ ?(.*)", re.DOTALL)
_KINDS = {"Add": Kind.ADD, "Delete": Kind.DELETE, "Update": Kind.EDIT}
_OPS: dict[str, Literal["=", "-", "+"]] = {" ": "=", "-": "-", "+": "+"}
_BEGINNINGS = " \t+-@*"
"""How a line of a patch begins."""
PARTED = "blank lines behind its added lines were left out"
_HEADERS = "'*** Add File: PATH', '*** Delete File: PATH', '*** Update File: PATH'"


def quoted(text: str) -> str:
    """A piece of a patch for a message: cut to a length, control characters escaped."""
    cut = text if len(text) <= 60 else text[:60] + "..."
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in cut
    )


def no_prefix(text: str) -> str:
    """What is wrong with a line of a patch that begins like none, in words."""
    return f"'{quoted(text)}' has no ' ', '+' or '-' prefix"


def is_header(line: str) -> bool:
    """The line says what is done to which file: a patch may begin with it."""
    match = _HEADER.fullmatch(line.strip())
    return match is not None and bool(match[2].strip())


def _below(folder: str, path: str) -> str:
    """What a path that is relative to the folder is in the workspace."""
    relative = folder and not path.startswith(("/", "~"))
    return f"{folder.rstrip('/')}/{path}" if relative else path


def anchor_of(header: str) -> Anchor | None:
    """The anchor that a line starting with ``@@`` names; None for a bare one."""
    text = header[2:].removeprefix(" ").rstrip()
    hint = None
    if match := _RANGE.match(text):
        before = match[2] is not None and not int(match[2])  # then it is the line above
        hint, text = max(0, int(match[1]) - (not before)), match[3].rstrip()
    elif text.endswith(" @@") or text == "@@":
        text = text[:-2].rstrip()
    if text.strip() == "...":
        text = ""
    return Anchor(text, hint) if text or hint is not None else None


class _File(Struct):
    """The file operation that is open."""

    kind: Kind
    path: str
    line: int
    moved: bool = False
    sections: int = 0


class _Held(Struct, frozen=True):
    """A line that the next one decides on.

    A blank line or a padded ``*** End Patch`` is context if an op follows; else the one is a
    separator and the other the end. What closes the patch's wrapper (a fence) is the end, or
    an error if the patch goes on.
    """

    text: str
    ending: str
    number: int
    wrapper: bool = False

    @property
    def is_end(self) -> bool:
        """A padded ``*** End Patch`` inside a section."""
        return bool(self.text.strip()) and not self.wrapper


class Grammar(EditGrammar):
    """The state between two lines; every method returns the events that it decides."""

    def __init__(self, indent: str = "", sections: int = 0, folder: str = "") -> None:
        """Start behind a ``*** Begin Patch`` that was indented by ``indent``.

        ``sections`` is the number of sections of earlier patches in the stream, ``folder`` is
        what relative paths begin at.
        """
        super().__init__(sections)
        self._folder = folder
        self._indent = indent
        self._indent_sure = False
        self._file: _File | None = None
        self._in_section = False
        self._chunk = False
        """``@@`` was seen and no line of the section yet."""
        self._after_eof = False
        self._quotes = self._parted = False
        """The section has lines of the file; blank lines behind it were no part of it."""
        self._anchors: list[Anchor] = []
        self._held: list[_Held] = []
        self._bare: tuple[int, str] | None = None
        """The first line of the section that has no prefix, and what is to be said of it."""
        self._since: list[str] = []
        """All lines of the section from that one on: text behind the patch if that is not ended."""
        self._number = 0
        self._out: list[Ev] = []

    def take(self, text: str, ending: str, number: int, closing: bool = False) -> list[Ev]:
        """Read one whole line; see `reading.EditGrammar`."""
        if self._in_section and (op := _OPS.get(text[:1])) and self._is_plain(op, text):
            self._number = number
            self._quotes = self._quotes or op != "+"
            return [Line(op, text[1:], ending)]
        if self._ends_before(text):
            self._close(explicit=False)
            self.rest.append(whole(text, ending))
            return self._said()
        self._number = number
        line, text = text, self._dedented(text)
        if not text or (text.isspace() and (not self._in_section or text[0] != " ")):
            self._held.append(_Held(text, ending, number))
        elif wrapper := next((held for held in self._held if held.wrapper), None):
            self._fail(no_prefix(wrapper.text), wrapper.number)
        elif closing and text[0] not in _BEGINNINGS:
            self._held.append(_Held(text, ending, number, wrapper=True))
        elif marker := self._marker(text):
            self._take_marker(marker)
        elif (
            self._file is not None
            and self._file.kind is Kind.EDIT
            and (text if self._in_section or self._chunk else text.lstrip()).startswith("@@")
        ):
            self._take_chunk_header(text.lstrip())
        elif self._in_section and text[0] == " " and text.strip() == END:
            self._held.append(_Held(text, ending, number))
        else:
            self._take_op(text, ending)
        if self._bare is not None:
            self._since.append(whole(line, ending))
        if self.failed and text.strip() != END:
            self.rest = [whole(line, ending)]
        return self._said()

    def _is_plain(self, op: str, text: str) -> bool:
        """True if a line of the section with a prefix can be nothing else, as most are."""
        if self._held or self._indent or self._bare is not None:
            return False
        return op != "=" or not text.lstrip().startswith("***")

    def over_at(self, pending: str) -> bool:
        """``*** End Patch`` is there, its newline is not."""
        return pending.strip() == END

    def _ends_before(self, text: str) -> bool:
        """The patch was over before this line, which is no part of it."""
        text = self._dedented(text)
        if text.rstrip() == BEGIN:
            return self._file is not None
        foreign = bool(text.strip()) and text[0] not in _BEGINNINGS
        return foreign and any(held.is_end or held.wrapper for held in self._held)

    def partial(self, pending: str) -> str | None:
        """The text of an unfinished ``+`` line, if it can be painted."""
        file = self._file
        if file is None or self._held or not (self._in_section or file.kind is Kind.ADD):
            return None
        if self._indent:
            pending = pending.removeprefix(self._indent)
        return pending[1:].removesuffix("\r") if pending.startswith("+") else None

    def close(self, explicit: bool) -> list[Ev]:
        """End the patch because the input is complete, or a wrapper or another patch follows."""
        self._close(explicit)
        return self._said()

    def _close(self, explicit: bool) -> None:
        file = self._file
        explicit = explicit or any(held.is_end for held in self._held)
        self.wrapper_closed = any(held.wrapper for held in self._held)
        self._drop_held()
        if file is None:
            self._fail("patch has no file operations")
        elif not explicit and self._bare is not None:
            self.rest = self._since[:]
            self._fail(self._bare[1], self._bare[0])
        elif not explicit and file.kind is Kind.DELETE:
            self._fail(f"no End Patch after the delete of '{quoted(file.path)}'")
        elif not explicit and file.moved and not file.sections:
            self._fail(f"no End Patch after the move of '{quoted(file.path)}'")
        elif self._close_file():
            self._out.append(End(explicit))
            self.ended = True

    def cut(self, pending: str) -> list[Ev]:
        """End the patch because the stream was cut: nothing that is open gets closed."""
        self._out.append(Cut())
        self._abandon()
        return self._said()

    def _said(self) -> list[Ev]:
        out, self._out = self._out, []
        return out

    def _dedented(self, text: str) -> str:
        if not self._indent or not text.strip():
            return text.removeprefix(self._indent)
        if text.startswith(self._indent):
            self._indent_sure = True
            return text[len(self._indent) :]
        if not self._indent_sure or text[0] in "@+-":
            self._indent = ""
        return text

    def _marker(self, text: str) -> str | None:
        """The marker on a line, stripped: at column 0 inside a section, anywhere outside."""
        stripped = text.strip()
        if not stripped.startswith("***"):
            return None
        inside = self._in_section or self._chunk
        if (
            text[0] == "*"
            or (text[0] == "\t" and stripped == END)
            or (not inside and _KNOWN.match(stripped))
        ):
            return stripped
        editing = self._file is not None and self._file.kind is Kind.EDIT
        return None if inside or editing else stripped

    def _take_marker(self, marker: str) -> None:
        self._settle_held()
        if marker == BEGIN or (marker.startswith("*** Environment ID:") and self._file is None):
            return
        if marker == END:
            self._close(explicit=True)
        elif marker == _END_OF_FILE:
            self._take_end_of_file()
        elif match := _MOVE.fullmatch(marker):
            self._take_move(match[1].strip())
        elif match := _HEADER.fullmatch(marker):
            self._take_header(_KINDS[match[1]], match[2].strip())
        else:
            self._fail(f"'{quoted(marker)}' is not a file header; valid ones are {_HEADERS}")

    def _take_header(self, kind: Kind, path: str) -> None:
        if self._file is not None and not self._close_file():
            return
        if not path:
            self._fail("the file header names no path")
            return
        path = _below(self._folder, path)
        self._file = _File(kind, path, self._number)
        self._out.append(FileOp(kind, path))

    def _take_move(self, path: str) -> None:
        file = self._file
        if file is None or file.kind is not Kind.EDIT or file.sections or self._chunk or file.moved:
            self._fail("'*** Move to:' belongs right behind '*** Update File:'")
        elif not path:
            self._fail("'*** Move to:' names no path")
        else:
            file.moved = True
            self._out.append(MoveTo(_below(self._folder, path)))

    def _take_end_of_file(self) -> None:
        if self._file is not None and self._file.kind is Kind.ADD:
            return
        if not self._in_section:
            if not self._after_eof:
                self._fail("'*** End of File' without lines before it")
            return
        self._out.append(EndOfFile())
        self._end_section(closed=True)
        self._after_eof = True

    def _take_chunk_header(self, text: str) -> None:
        self._settle_held()
        if self._in_section:
            self._end_section(closed=True)
        self._chunk = True
        self._after_eof = False
        if anchor := anchor_of(text):
            self._anchors.append(anchor)

    def _take_op(self, text: str, ending: str) -> None:
        file = self._file
        if file is None or file.kind is Kind.DELETE:
            self._fail(f"'{quoted(text)}' is not a file header; valid ones are {_HEADERS}")
        elif file.kind is Kind.ADD:
            if text[0] != "+":
                self._fail(f"'{quoted(text)}' in Add File has no '+' prefix")
                return
            self._out += [Line("+", "", held.ending) for held in self._held]
            self._held.clear()
            self._out.append(Line("+", text[1:], ending))
        elif self._after_eof:
            self._fail("a line behind '*** End of File' without a new '@@'")
        else:
            self._begin_section(file)
            self._release_held(len(self._held))
            self._quotes = self._quotes or text[0] != "+"
            if text[0] in _OPS:
                self._out.append(Line(_OPS[text[0]], text[1:], ending))
            else:
                self._bare = self._bare or (self._number, no_prefix(text))
                self._out.append(Line("=", text, ending, self._number))

    def _begin_section(self, file: _File) -> None:
        if self._in_section:
            return
        file.sections += 1
        self.sections += 1
        self._out.append(SectionStart(self.sections, file.sections == 1))
        self._out += self._anchors
        self._anchors = []
        self._chunk = self._quotes = self._parted = False
        self._in_section = True

    def _settle_held(self) -> None:
        """Before a marker, blank lines are separators; a padded end before them was context."""
        last = max((i for i, held in enumerate(self._held, 1) if held.is_end), default=0)
        self._release_held(last)
        self._drop_held()

    def _drop_held(self) -> None:
        """The held lines are no part of the section."""
        self._parted = self._parted or any(not held.text.strip() for held in self._held)
        self._held.clear()

    def _release_held(self, count: int) -> None:
        """Say the first held lines: they are context."""
        self._quotes = self._quotes or count > 0
        for held in self._held[:count]:
            self._out.append(Line("=", held.text[1:], held.ending))
        del self._held[:count]

    def _end_section(self, closed: bool) -> None:
        parted = self._parted and not self._quotes
        self._out.append(SectionEnd(closed, (PARTED,) if parted else ()))
        self._in_section, self._bare = False, None
        self._since.clear()

    def _close_file(self) -> bool:
        """Close the open file operation; False if it turns out to be wrong."""
        file = self._file
        if file is None:
            return True
        self._drop_held()
        if self._in_section:
            self._end_section(closed=True)
        elif self._anchors:
            self._fail(f"the section '@@ {quoted(self._anchors[-1].text)}' has no lines")
            return False
        if file.kind is Kind.EDIT and not file.sections and not file.moved:
            self._fail(f"Update File '{quoted(file.path)}' has no hunks", file.line)
            return False
        self._out.append(FileEnd(closed=True))
        self._file, self._chunk, self._after_eof = None, False, False
        return True

    def _fail(self, message: str, line: int | None = None) -> None:
        self._out.append(Failure(self._number if line is None else line, message))
        self.failed = True
        self._abandon()

    def _abandon(self) -> None:
        """Close what is open as not closed."""
        if self._in_section:
            self._end_section(closed=False)
        if self._file is not None:
            self._out.append(FileEnd(closed=False))
        self._file = None
        self._held.clear()
        self.ended = True

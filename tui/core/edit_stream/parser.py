r"""The push parser of all formats: text in pieces of any size, events out.

Split-invariant: any cutting of the same text gives the same facts (pieces of prose may be cut
differently, together they are the same). Cost is linear in the text: an unfinished line is a
list of parts, joined when its newline comes or a frame asks for the tail; inside an edit a
delta without a newline is one append.
"""

from __future__ import annotations

import re

from tui.core.edit_stream.events import (
    Cut,
    EditGrammar,
    Ev,
    Failure,
    Notation,
    Partial,
    Prose,
    split_line,
)
from tui.core.edit_stream.naming import Exists, no_file
from tui.core.edit_stream.outside import LIMIT, BlockGrammar, Found, Outside, closes, is_begin
from tui.core.edit_stream.v4a import END, Grammar, quoted
from tui.core.wire.json_reading import mended

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_HEAD = 200
"""Characters of the stream's beginning that are kept for a message."""
_MISSING: dict[Notation, tuple[str, str]] = {
    "apply_patch": ("no Begin Patch", "'*** Begin Patch'"),
    "search_replace": ("no SEARCH block", "a file name and '<<<<<<< SEARCH'"),
    "unified_diff": ("no diff", "'--- PATH', '+++ PATH' and '@@'"),
    "whole_file": ("no file", "a file name, and the whole file in a fence below it"),
}


class EditParser:
    """Reads a stream with edits of some formats in it."""

    def __init__(
        self, formats: frozenset[Notation], *, required: bool, exists: Exists = no_file
    ) -> None:
        """``required``: a stream without an edit is a failure, and the first failure ends it.

        ``exists`` says whether a name is that of a file of the workspace.
        """
        self._required = required
        self._formats = formats
        self._outside = Outside(formats, exists)
        self._grammar: EditGrammar | None = None
        """The edit that is open."""
        self._parts: list[str] = []
        """The unfinished line."""
        self._hidden = False
        """The unfinished line is long, and how it begins says that it is not to be painted."""
        self._half = ""
        """Outside of edits: the first half of a surrogate pair, at the end of a delta."""
        self._number = 0
        self._edits = 0
        self._over = False
        """Nothing more is read: finished, or failed on a tool channel."""
        self._skipping = False
        """Behind a failure, up to the end of that patch."""
        self._flowing = False
        """The unfinished line is prose for sure and has been said as far as it came."""
        self._quick = False
        """Flowing, and nothing else is to be done with a delta."""
        self._behind = False
        """Text came behind the last edit: another may begin there."""
        self._start = ""
        """The first text that came, for messages."""
        self._out: list[Ev] = []

    @property
    def unnamed(self) -> int:
        """See `Parser`."""
        return self._outside.unnamed

    def feed(self, delta: str) -> list[Ev]:
        """Read the next piece of the stream."""
        if "\n" not in delta:
            if self._grammar is not None:
                self._parts.append(delta)
                return []
            if self._quick and delta[-1:] < "\ud800":
                self._parts.append(delta)
                return [Prose(delta)] if delta else []
        return self._feed(delta)

    def tail(self) -> list[Ev]:
        """The unfinished added line, for one frame; never a fact."""
        if self._grammar is None or self._over or not self._parts or self._hidden:
            return []
        line = "".join(self._parts)
        self._parts = [line]
        if not line.isascii():
            line = mended(line[:-1] if "\ud800" <= line[-1] <= "\udbff" else line)
        text = self._grammar.partial(line)
        self._hidden = text is None and len(line) > LIMIT
        return [] if text is None else [Partial(text)]

    def finish(self, cut: bool) -> list[Ev]:
        """The stream is over: complete, or ``cut`` at this character."""
        if self._over:
            return []
        if self._half:
            half, self._half = self._half, ""
            self._more(half)
        grammar, pending = self._grammar, "".join(self._parts)
        if grammar is not None and cut and not grammar.over_at(pending):
            self._out += grammar.cut(pending)
            self._grammar = None
        else:
            self._end(cut, pending)
        self._over = True
        out, self._out = self._out, []
        return out

    def _end(self, cut: bool, pending: str) -> None:
        """The end of a stream, not in the middle of an edit."""
        closers = self._outside.closers
        if (
            cut
            and pending
            and self._grammar is None
            and not self._flowing
            and not (closers and closes(pending, closers[-1]))
        ):
            self._outside.release()
            self._outside.prose.append(pending)
        elif pending or self._flowing:
            self._end_line("")
        if self._grammar is None and not cut and not self._over:
            found = self._outside.finish()
            self._flush()
            if found is not None:
                self._begin(found)
        if self._grammar is not None:
            self._out += self._grammar.cut("") if cut else self._grammar.close(explicit=False)
            if self._grammar.rest:
                self._out.append(Prose("".join(self._grammar.rest)))
            self._grammar = None
        self._outside.release()
        self._flush()
        if self._outside.idle is not None:
            self._close_idle(cut)
        if self._required and not self._edits and not self._over:
            self._out.append(Cut() if cut else Failure(1, self._why_none()))
        elif self._required and cut and self._behind and Cut() not in self._out:
            self._out.append(Cut())

    def _close_idle(self, cut: bool) -> None:
        """Behind a SEARCH/REPLACE block: its file is over."""
        idle, self._outside.idle = self._outside.idle, None
        if idle is not None:
            ends = idle.close(explicit=True)
            self._out += [ends[0], Cut()] if cut and self._required else ends

    def _feed(self, delta: str) -> list[Ev]:
        if self._over:
            return []
        self._quick = False
        if self._required and len(self._start) < _HEAD:
            self._start += (delta if self._start else delta.lstrip())[:_HEAD]
        lines = delta.split("\n")
        rest = lines.pop()
        for line in lines:
            grammar = self._grammar
            if grammar is not None and not self._parts and line.isascii() and line[-1:] != "\r":
                self._number += 1
                self._read(grammar, line, "\n", self._number)
                continue
            if grammar is None:
                self._more(line, ends=True)
            else:
                self._parts.append(line)
            self._end_line("\n")
        if rest and not self._over:
            if self._grammar is None:
                self._more(rest)
            else:
                self._parts.append(rest)
        full = not self._required or len(self._start) >= _HEAD
        self._quick = self._flowing and full and not self._half
        out, self._out = self._out, []
        return out

    def _more(self, piece: str, *, ends: bool = False) -> None:
        """Lengthen the unfinished line outside of edits; ``ends``: its newline follows."""
        if self._over:
            return
        if self._half:
            piece, self._half = self._half + piece, ""
        if not ends and "\ud800" <= piece[-1:] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        if not piece:
            return
        if not piece.isascii():
            piece = mended(piece)
        self._parts.append(piece)
        if self._flowing:
            self._out.append(Prose(piece))
        elif not ends and not self._skipping:
            self._flow_if_prose()

    def _flow_if_prose(self) -> None:
        """Say the unfinished line if it can be nothing but prose."""
        if self._outside.must_wait:
            return
        beginning = "".join(self._parts)
        if not self._outside.may_be_special(beginning):
            self._outside.release()
            self._flush()
            self._close_idle(cut=False)
            self._behind = True
            self._out.append(Prose(beginning))
            self._flowing = True

    def _end_line(self, newline: str) -> None:
        """The unfinished line is whole."""
        if self._over:
            return
        self._number += 1
        parts = self._parts
        line = (parts[0] if len(parts) == 1 else "".join(parts)) + newline
        parts.clear()
        self._hidden = False
        if self._grammar is not None:
            self._inside(self._grammar, line if line.isascii() else mended(line), self._number)
        elif self._flowing:
            self._flowing = False
            if newline:
                self._out.append(Prose(newline))
            self._outside.passed(line[:LIMIT])
        else:
            self._line(line, self._number)

    def _line(self, line: str, number: int) -> None:
        """Read a whole line, wherever it is."""
        if self._grammar is not None:
            self._inside(self._grammar, line, number)
        elif self._skipping and not is_begin(line):
            self._out.append(Prose(line))
            self._skipping = line.strip() != END
        else:
            self._skipping, behind = False, self._behind
            found = self._outside.take(line)
            if self._outside.prose:
                self._flush()
            if found is not None:
                self._begin(found)
            elif self._edits and _HUNK.match(line) and "unified_diff" in self._formats:
                if self._required:
                    self._out.append(Failure(number, "a hunk without a file's header above it"))
                self._over = self._required
            elif self._edits and behind and self._required and line.strip() == END:
                self._out.append(Failure(number, "the lines above this End Patch are of no patch"))
                self._over = True

    def _begin(self, found: Found) -> None:
        """An edit begins, perhaps some lines ago."""
        grammar = found.grammar
        idle, self._outside.idle = self._outside.idle, None
        if idle is not None and idle is not grammar:
            self._out += idle.close(explicit=True)
        self._edits += 1
        self._behind = False
        self._grammar = grammar
        if isinstance(grammar, BlockGrammar):
            self._out += grammar.resume(found.marker)
        number = self._number - len(found.lines)
        for line in found.lines:
            number += 1
            self._line(line, number)

    def _inside(self, grammar: EditGrammar, line: str, number: int) -> None:
        """Read a whole line of an edit."""
        self._read(grammar, *split_line(line), number)

    def _read(self, grammar: EditGrammar, text: str, ending: str, number: int) -> None:
        """Read a whole line of an edit, of which the ending is split off."""
        closers = self._outside.closers
        closing = bool(closers) and closes(text + ending, closers[-1])
        self._out += grammar.take(text, ending, number, closing)
        if grammar.ended:
            self._leave(grammar, number)

    def _leave(self, grammar: EditGrammar, number: int) -> None:
        """The edit is over; read again what was no part of it."""
        outside = self._outside
        if grammar.wrapper_closed and outside.closers:
            outside.closers.pop()
        self._grammar = None
        outside.sections = grammar.sections
        if grammar.failed and self._required:
            self._over = True
            if grammar.rest:
                self._out.append(Prose("".join(grammar.rest)))
            return
        if isinstance(grammar, BlockGrammar) and not grammar.failed:
            outside.idle = grammar
        rest, grammar.rest = grammar.rest, []
        self._skipping = isinstance(grammar, Grammar) and grammar.failed and bool(rest)
        number -= len(rest)
        for line in rest:
            number += 1
            self._line(line, number)

    def _flush(self) -> None:
        """Say the prose that was read."""
        prose = self._outside.prose
        if prose:
            self._close_idle(cut=False)
            text = "".join(prose)
            self._behind = self._behind or bool(text.strip())
            self._out.append(Prose(text))
            prose.clear()

    def _why_none(self) -> str:
        """What is missing, in words."""
        if len(self._formats) > 1:
            missing = "no Begin Patch, nor another edit"
            expected = "a patch, a diff, SEARCH/REPLACE blocks or a file"
        else:
            missing, expected = next(_MISSING[fmt] for fmt in self._formats)
        if not self._start:
            return f"{missing}: the input is empty"
        if self._start[0] in "{[":
            return (
                f"{missing}: the argument's form is wrong, it is JSON where the plain text "
                "of the patch belongs"
            )
        first = quoted(mended(self._start[:_HEAD]).split("\n", 1)[0].strip())
        return f"{missing}: expected {expected}, found '{first}'"


class PatchParser(EditParser):
    """Reads a tool's apply_patch text: a patch must be there, text around it is tolerated."""

    def __init__(self) -> None:
        super().__init__(frozenset(["apply_patch"]), required=True)


class ProsePatches(EditParser):
    """Reads assistant text with any number of apply_patch patches in it, or none."""

    def __init__(self) -> None:
        super().__init__(frozenset(["apply_patch"]), required=False)

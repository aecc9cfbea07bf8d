r"""The push parser for V4A patches: text in pieces of any size, events out.

Split-invariant: any cutting of the same text gives the same facts (pieces of prose may be cut
differently, together they are the same). Cost is linear in the text: an unfinished line is a
list of parts, joined when its newline comes or a frame asks for the tail.
"""

from __future__ import annotations

from tui.core.edit_stream.events import Cut, Ev, Failure, Partial, Prose
from tui.core.edit_stream.grammar import END, Grammar, quoted
from tui.core.edit_stream.wrapping import (
    LIMIT,
    closes,
    fence_of,
    folder_of,
    heredoc_of,
    is_begin,
    may_be_special,
)
from tui.core.wire.mending import mended


class PatchParser:
    """Reads a tool's patch text: one must be there, text around it is tolerated."""

    required = True
    """A stream without a patch is a failure."""

    def __init__(self) -> None:
        self._half = ""
        """The first half of a surrogate pair, whose second is in the next delta."""
        self._parts: list[str] = []
        """The unfinished line."""
        self._number = 0
        self._grammar: Grammar | None = None
        self._patches = 0
        self._sections = 0
        self._over = False
        """Nothing more is read: finished, or failed on a tool channel."""
        self._skipping = False
        """Behind a failure, up to the end of that patch."""
        self._flowing = False
        """The unfinished line is prose for sure and has been said as far as it came."""
        self._fence = ""
        """The open fence in prose."""
        self._wrappers: list[tuple[str, str]] = []
        """Held lines that may wrap a patch (or are blank), with what would close them."""
        self._closers: list[str] = []
        """What closes the wrappers of the patch, innermost last."""
        self._folder = ""
        """Where the wrapper goes before the patch, and what its paths are relative to."""
        self._head = ""
        """The first text that came, for messages."""
        self._prose: list[str] = []
        self._out: list[Ev] = []

    def feed(self, delta: str) -> list[Ev]:
        """Read the next piece of the stream."""
        if self._over:
            return []
        delta = self._half + delta
        self._half = delta[-1:] if "\ud800" <= delta[-1:] <= "\udbff" else ""
        if self._half:
            delta = delta[:-1]
        delta = mended(delta)
        if len(self._head) < LIMIT:
            self._head = (self._head + delta[:LIMIT]).lstrip()[:LIMIT]
        *wholes, rest = delta.split("\n")
        for whole in wholes:
            self._add(whole)
            self._end_line("\n")
        self._add(rest)
        return self._said()

    def tail(self) -> list[Ev]:
        """The unfinished ``+`` line, for one frame; never a fact."""
        if self._grammar is None or self._over or not self._parts:
            return []
        self._parts = ["".join(self._parts)]
        text = self._grammar.partial(self._parts[0])
        return [] if text is None else [Partial(text)]

    def finish(self, cut: bool) -> list[Ev]:
        """The stream is over: complete, or ``cut`` at this character."""
        if self._over:
            return []
        if self._half:
            self._half = ""
            self._add("\ufffd")
        pending = "".join(self._parts)
        if self._grammar is not None and cut and pending.strip() != END:
            self._say(*self._grammar.cut())
            self._grammar = None
        else:
            if self._parts or self._flowing:
                self._end_line("")
            if self._grammar is not None:
                ends = self._grammar.cut() if cut else self._grammar.close(explicit=False)
                self._say(*ends)
            self._release_wrappers()
            if self.required and not self._patches and not self._over:
                self._say(Cut() if cut else Failure(1, self._why_none()))
        self._over = True
        return self._said()

    def _add(self, piece: str) -> None:
        """Lengthen the unfinished line."""
        if not piece or self._over:
            return
        if self._flowing:
            self._prose.append(piece)
            return
        self._parts.append(piece)
        if self._grammar is not None or self._skipping:
            return
        beginning = "".join(self._parts)
        if not may_be_special(beginning, self._closers[-1] if self._closers else ""):
            self._parts.clear()
            self._release_wrappers()
            self._prose.append(beginning)
            self._flowing = True

    def _end_line(self, newline: str) -> None:
        """The unfinished line is whole."""
        if self._over:
            return
        self._number += 1
        if self._flowing:
            self._prose.append(newline)
            self._flowing = False
            return
        raw = "".join(self._parts)
        self._parts.clear()
        if self._grammar is not None:
            self._take_inside(self._grammar, raw, newline)
        elif self._skipping and not is_begin(raw):
            self._prose.append(raw + newline)
            self._skipping = raw.strip() != END
        else:
            self._take_outside(raw, newline)

    def _take_inside(self, grammar: Grammar, raw: str, newline: str) -> None:
        text = raw.removesuffix("\r")
        if grammar.ends_before(text):
            self._say(*grammar.close(explicit=False))
            self._leave(grammar)
            if not self._over:
                self._take_outside(raw, newline)
            return
        closing = bool(self._closers) and closes(raw, self._closers[-1])
        ending = "\r" + newline if text != raw else newline
        self._say(*grammar.take(text, ending, self._number, closing))
        if grammar.ended:
            self._leave(grammar)
            if grammar.failed and text.strip() != END:
                self._skipping = True
                self._prose.append(raw + newline)

    def _leave(self, grammar: Grammar) -> None:
        if grammar.wrapper_closed:
            self._closers.pop()
        self._grammar = None
        self._sections = grammar.sections
        self._over = grammar.failed and self.required

    def _take_outside(self, raw: str, newline: str) -> None:
        """Decide what a whole line outside of a patch is."""
        if is_begin(raw):
            self._begin(raw)
        elif self._closers and (not raw.strip() or closes(raw, self._closers[-1])):
            if raw.strip():
                self._closers.pop()
                self._wrappers.clear()
            else:
                self._wrappers.append((raw + newline, ""))
        elif self._fence:
            self._release_wrappers()
            self._prose.append(raw + newline)
            if closes(raw, self._fence):
                self._fence = ""
        elif closer := fence_of(raw) or heredoc_of(raw):
            if self._closers:
                self._release_wrappers()
            empty = any(opened and closes(raw, opened) for _, opened in self._wrappers)
            self._wrappers.append((raw + newline, closer))
            if empty:
                self._release_wrappers()
        elif self._wrappers and not raw.strip():
            self._wrappers.append((raw + newline, ""))
        else:
            self._release_wrappers()
            self._prose.append(raw + newline)

    def _begin(self, raw: str) -> None:
        closers = [closer for _, closer in self._wrappers if closer]
        if closers or not self._closers:
            folders = [folder_of(text) for text, _ in self._wrappers]
            self._folder = next((folder for folder in reversed(folders) if folder), "")
        self._closers = closers or self._closers
        self._wrappers.clear()
        self._skipping = False
        self._patches += 1
        indent = raw[: len(raw) - len(raw.lstrip())]
        self._grammar = Grammar(indent, self._sections, self._folder)

    def _release_wrappers(self) -> None:
        """What was held is prose after all."""
        for text, closer in self._wrappers:
            self._prose.append(text)
            if closer and closer[0] in "`~":
                self._fence = "" if self._fence and closes(text, self._fence) else closer
        self._wrappers.clear()
        self._closers.clear()

    def _why_none(self) -> str:
        if not self._head:
            return "no Begin Patch: the input is empty"
        if self._head[0] in "{[":
            return (
                "no Begin Patch: the argument's form is wrong, it is JSON where the plain text "
                "of the patch belongs"
            )
        first = quoted(self._head.split("\n", 1)[0].strip())
        return f"no Begin Patch: expected '*** Begin Patch', found '{first}'"

    def _say(self, *events: Ev) -> None:
        self._flush_prose()
        self._out += events

    def _flush_prose(self) -> None:
        if text := "".join(self._prose):
            self._out.append(Prose(text))
        self._prose.clear()

    def _said(self) -> list[Ev]:
        self._flush_prose()
        out, self._out = self._out, []
        return out

"""What an edit stream says: facts in the order of the stream (EDITS.md section 3).

The order is fixed::

    Prose*                                     text outside of patches
    FileOp [MoveTo] [Refusal] section* FileEnd a file that is updated
    FileOp Line('+')* FileEnd                  a file that is added, or written whole: no section
    FileOp section* FileEnd                    a file that is deleted (V4A: no section)
    section = SectionStart Anchor* Line+ [EndOfFile] SectionEnd            V4A, unified diff
    section = SectionStart Line('-')* Divider (Line('+')* Divider?)* SectionEnd     SEARCH/REPLACE
    End                                        the patch is over; another may follow

A SEARCH/REPLACE block and a whole file are each a FileOp's section or lines; blocks that follow
each other for one file are sections of one FileOp. `NoNewline` stands behind the `Line` it is of.

Only lines that ended with a newline are facts, and facts are never taken back. `Cut` and
`Failure` end a patch early: they come *before* the ``SectionEnd(closed=False)`` and
``FileEnd(closed=False)`` of what was open then, so that a reader knows the reason when it
closes; no `End` follows. In text another patch may begin after a `Failure`.
"""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct

from tui.core.document.hunk import Kind

Notation = Literal["apply_patch", "search_replace", "unified_diff", "whole_file"]
"""What the lines of a file operation are written in; it decides how they are placed."""


class FileOp(Struct, frozen=True):
    """A file header: `kind` is EDIT, ADD or DELETE; nothing may happen to the file yet.

    A whole file is an ADD whose notation is whole_file: it may replace one that is there.
    """

    kind: Kind
    path: str
    """As the model wrote it, stripped; not checked. Empty: SEARCH/REPLACE without a file name."""
    notation: Notation = "apply_patch"
    others: tuple[str, ...] = ()
    """Other lines near that may be the name, best first: taken if `path` is no file."""


class MoveTo(Struct, frozen=True):
    """The file goes to this path, once all its sections are placed (at its `FileEnd`)."""

    path: str


class SectionStart(Struct, frozen=True):
    """A ``@@`` chunk begins; it is told with its first line, so a section is never empty."""

    number: int
    """Counted from 1 over the whole stream."""
    first: bool
    """It is the first one of its file operation."""


class Anchor(Struct, frozen=True):
    """The text behind ``@@``; stacked ones come outermost first, before the first `Line`."""

    text: str
    """Trailing blanks removed, leading ones kept; empty if there is only a line number."""
    line_hint: int | None = None
    """0-based first old line of a unified diff's ``@@ -l,n +l,n @@``: a tie-breaker only."""


class Line(Struct, frozen=True):
    """One whole line of a section or of a new file."""

    op: Literal["=", "-", "+"]
    """Context, removed, added."""
    text: str
    """Without the prefix and without the line ending."""
    ending: str = "\n"
    """What ended it *in the patch* (``""``, ``"\\n"`` or ``"\\r\\n"``): not the file's."""
    bare: int = 0
    """The 1-based line of the stream if it came without a prefix (then it is context, as it
    stands), else 0: the prefix column may have been forgotten, which the file decides."""


class Divider(Struct, frozen=True):
    """``=======`` of a SEARCH/REPLACE block: what is replaced is whole.

    A further one is told too: it may be a line of either text (a heading of a document), and
    then the placement decides by the file which of them divides (aider#1803).
    """

    text: str
    """The line as it came."""


class NoNewline(Struct, frozen=True):
    r"""``\ No newline at end of file`` of a unified diff: of the line before."""

    op: Literal["=", "-", "+"]


class Refusal(Struct, frozen=True):
    """This file operation cannot be done (a binary, a symlink); those behind it go on."""

    message: str


class EndOfFile(Struct, frozen=True):
    """``*** End of File``: the section must match at the end of the file."""


class SectionEnd(Struct, frozen=True):
    """The section is over."""

    closed: bool
    """False: it was cut or failed, more may have been to come."""
    flags: tuple[str, ...] = ()
    """Why a person must look, in words: ``line counts are wrong``."""


class FileEnd(Struct, frozen=True):
    """The file operation is over."""

    closed: bool
    """True: the next header or the end was seen; only then delete, move or finish an add."""


class End(Struct, frozen=True):
    """The patch is over."""

    explicit: bool
    """``*** End Patch`` was seen; False: the input was complete without it (a flag)."""


class Cut(Struct, frozen=True):
    """The stream was cut inside the patch, or before it began on a tool channel."""


class Prose(Struct, frozen=True):
    """Text that is no patch, in the pieces in which it came (line endings included)."""

    text: str


class Failure(Struct, frozen=True):
    """The text is no patch: nothing more of it is read, what was closed before stays."""

    line: int
    """1-based, in the stream."""
    message: str
    """The reason in words, without the line number; control characters are escaped."""


class Partial(Struct, frozen=True):
    """The unfinished ``+`` line as it stands: to be painted, never to be acted on."""

    text: str


Ev = (
    FileOp
    | MoveTo
    | SectionStart
    | Anchor
    | Line
    | Divider
    | NoNewline
    | Refusal
    | EndOfFile
    | SectionEnd
    | FileEnd
    | End
    | Cut
    | Prose
    | Failure
    | Partial
)


class EditGrammar(Protocol):
    """The state between two lines of an edit; every method returns the events that it decides.

    After `ended`, `rest` holds the last lines that turned out to be no part of the edit: they
    are read again outside of it.
    """

    ended: bool
    failed: bool
    wrapper_closed: bool
    """The line that closed what is wrapped around the edit was read as a part of it."""
    sections: int
    """Sections so far, of earlier edits in the stream too."""
    rest: list[str]
    """Whole lines with their endings."""

    def __init__(self, sections: int) -> None:
        self.ended = self.failed = self.wrapper_closed = False
        self.sections, self.rest = sections, []

    def take(self, text: str, ending: str, number: int, closing: bool) -> list[Ev]:
        r"""Read one whole line.

        ``text`` is without its ``ending`` (``""``, ``"\n"``, ``"\r\n"`` or ``"\r"``),
        ``number`` its 1-based place in the stream; ``closing`` tells that it would close what
        is wrapped around the edit.
        """

    def partial(self, pending: str) -> str | None:
        """What of an unfinished line may be painted as added text; None for nothing."""

    def close(self, explicit: bool) -> list[Ev]:
        """End it because the input is complete, or what is wrapped around it was closed."""

    def cut(self, pending: str) -> list[Ev]:
        """End it because the stream was cut inside of the unfinished line ``pending``."""

    def over_at(self, pending: str) -> bool:
        """An unfinished line that ends the edit though its newline is missing."""


def whole(text: str, ending: str) -> str:
    """The line as it came."""
    return text + ending


def split_line(line: str) -> tuple[str, str]:
    r"""A whole line -> its text and its ending (``"\r"`` belongs to the ending)."""
    text = line[:-1] if line.endswith("\n") else line
    bare = text.removesuffix("\r")
    return bare, line[len(bare) :]

"""What an edit stream says: facts in the order of the stream (EDITS.md section 3).

The order is fixed::

    Prose*                                     text outside of patches
    FileOp [MoveTo] section* FileEnd           a file that is updated
    FileOp Line('+')* FileEnd                  a file that is added: no section
    FileOp FileEnd                             a file that is deleted
    section = SectionStart Anchor* Line+ [EndOfFile] SectionEnd
    End                                        the patch is over; another may follow

Only lines that ended with a newline are facts, and facts are never taken back. `Cut` and
`Failure` end a patch early: they come *before* the ``SectionEnd(closed=False)`` and
``FileEnd(closed=False)`` of what was open then, so that a reader knows the reason when it
closes; no `End` follows. In text another patch may begin after a `Failure`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from tui.core.hunk import Kind


class FileOp(Struct, frozen=True):
    """A file header: `kind` is EDIT, ADD or DELETE; nothing may happen to the file yet."""

    kind: Kind
    path: str
    """As the model wrote it, stripped; not checked."""


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


class EndOfFile(Struct, frozen=True):
    """``*** End of File``: the section must match at the end of the file."""


class SectionEnd(Struct, frozen=True):
    """The section is over."""

    closed: bool
    """False: it was cut or failed, more may have been to come."""


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
    | EndOfFile
    | SectionEnd
    | FileEnd
    | End
    | Cut
    | Prose
    | Failure
    | Partial
)

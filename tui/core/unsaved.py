"""What a user typed that is neither on the disk nor sent: kept when duetto ends by force."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from msgspec import Struct

from tui.core.document.disk_changes import replace_as_user
from tui.core.document.disk_plan import StillText, still_text
from tui.core.document.documents import Documents
from tui.core.files import ascii_shown
from tui.core.text.buffer import Buffer, Form, form_of, plain_text
from tui.core.text.diff import merge3
from tui.core.text.rows import whole_text
from tui.errors import EditRefused

_MOST_NAMED = 3
_PIECE_LINES = 4_000


class UnsavedFile(Struct, frozen=True):
    """A file whose text in the editor was not on the disk."""

    path: str
    data: bytes
    """The user's text and the accepted hunks; and others, where the user has typed in them."""
    before: bytes | None
    """What lay on the disk; None: nothing."""


class Unsaved(Struct, frozen=True):
    """All that would be lost."""

    files: tuple[UnsavedFile, ...] = ()
    draft: str = ""
    queued: tuple[str, ...] = ()
    folder: str = ""
    """Absolute path of where it is kept; empty: nowhere yet."""

    def __bool__(self) -> bool:
        return bool(self.files or self.draft.strip() or self.queued)

    @property
    def words(self) -> str:
        """What is in it: ``2 files (a.py, b.py), a draft``."""
        parts = []
        if self.files:
            names = [ascii_shown(file.path) for file in self.files[:_MOST_NAMED]]
            more = ", …" if len(self.files) > _MOST_NAMED else ""
            parts.append(f"{_count(self.files, 'file')} ({', '.join(names)}{more})")
        if self.draft.strip():
            parts.append("a draft")
        if self.queued:
            parts.append(_count(self.queued, "queued prompt"))
        return ", ".join(parts)

    @property
    def prompts(self) -> str:
        """The queued prompts and the draft, for the prompt box."""
        return "\n\n".join(filter(str.strip, (*self.queued, self.draft)))


class TypedText(Struct, frozen=True):
    """A text as it stood at one moment; its bytes are made later, where nobody waits for them."""

    path: str
    text: StillText
    before: bytes | None

    def file(self) -> UnsavedFile | None:
        """What a save would have written, with all that was typed; None: nothing.

        Raises whatever a bug raises.
        """
        planned = self.text.planned(typed=True)
        return None if planned is None else UnsavedFile(self.path, _encoded(planned), self.before)

    def whole(self) -> UnsavedFile:
        """All that stood there, be it decided or not."""
        return UnsavedFile(self.path, _encoded(self.text.buffer()), None)


def _encoded(text: Buffer) -> bytes:
    """Made in pieces, so that the thread that paints gets its turn in between."""
    pieces, form = [text.form.encode("")], Form(cr=text.form.cr)
    for at in range(0, text.line_count, _PIECE_LINES):
        lines = text.lines[at : at + _PIECE_LINES]
        endings = text.endings[at : at + _PIECE_LINES]
        piece = "".join(chain.from_iterable(zip(lines, endings, strict=True)))
        pieces.append(form.encode(piece))
    return b"".join(pieces)


def typed_text(documents: Documents, path: str) -> TypedText | None:
    """What would be lost of an open file; None: nothing. Costs a copy of lists.

    Raises whatever a bug raises.
    """
    record = documents.records[path]
    if record.view or record.gone:
        return None
    return TypedText(path, still_text(documents, record), record.disk)


def all_of(buffer: Buffer) -> TypedText:
    """A text as it stands, when a bug keeps what belongs on the disk from being found out."""
    text = StillText(buffer.path, buffer.form, list(buffer.lines), list(buffer.endings))
    return TypedText(buffer.path, text, None)


def _count(things: Iterable[object], name: str) -> str:
    number = len(list(things))
    return f"{number} {name}{'s' if number > 1 else ''}"


def _kept_text(file: UnsavedFile) -> str:
    """However long it is: nothing else has it. Raises EditRefused: it is none of duetto's texts."""
    try:
        return file.data.decode("utf-8")
    except UnicodeDecodeError:
        raise EditRefused(f"what was kept of '{ascii_shown(file.path)}' is not UTF-8") from None


def bring_back(documents: Documents, file: UnsavedFile) -> bool:
    """Put a kept text into its buffer, as an edit of the user's own that undo takes back.

    What came into the buffer or the file since then stays where it touches other lines.
    Returns False if it touched the same ones: then the kept text is there instead.

    Raises:
        EditRefused: the file cannot be edited.
    """
    kept = _kept_text(file)
    before = "" if file.before is None else file.before.decode("utf-8", "replace")
    path = documents.real(file.path)
    missing = path not in documents.buffers and documents.read(path).data is None
    record = documents.create(path) if missing else documents.open(path)
    if missing:
        record.buffer.form = form_of(kept)
    mine = plain_text(kept)
    merged = merge3(plain_text(before), mine, whole_text(record.buffer))
    replace_as_user(
        documents, record, mine if merged is None else merged, f"rescue:{documents.revision}"
    )
    return merged is not None

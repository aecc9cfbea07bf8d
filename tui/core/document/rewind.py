"""Files are brought from one text to another, and what others did since goes along."""

from __future__ import annotations

from typing import NamedTuple

from tui.core.document.disk_plan import backed_out
from tui.core.document.documents import Documents
from tui.core.document.past_texts import carried
from tui.core.files import decoded
from tui.core.text.buffer import form_of, plain_text
from tui.core.text.change_set import Author
from tui.core.text.rows import file_rows, whole_text
from tui.errors import EditRefused

SINCE = "its lines were changed since"


class Swap(NamedTuple):
    """A file, what it was, and what it is to be instead; None: there is no file."""

    path: str
    was: bytes | None
    then: bytes | None

    @property
    def back(self) -> Swap:
        """What undoes it."""
        return Swap(self.path, self.then, self.was)


def swapped(documents: Documents, swap: Swap) -> str:
    """Bring an open file, or one that is not open, from one text to another.

    What was changed since goes along; where it clashes it stays. The path is to be written then.

    Returns:
        Why some of it stays as it is; empty: all is done.

    Raises:
        EditRefused: nothing of it can be done, with the reason.
    """
    path = swap.path
    record = documents.find(path)
    was, then = text_of(path, swap.was), text_of(path, swap.then)
    if record is None and then is None:
        return ""
    if record is None and was is not None:
        raise EditRefused("it is gone since")
    if record is not None and record.read_only:
        raise EditRefused(record.read_only)
    if record is not None and record.sections:
        raise EditRefused("a model writes in it")
    if record is None:
        record = documents.create(path)
        record.buffer.form = form_of(decoded(path, swap.then or b""))
    now = backed_out(documents, record)
    text, clashes = carried(was or "", then or "", now)
    if then is None and not text:
        documents.drop(record)
        record.decide()
        return ""
    whole, others = carried(now, text, whole_text(record.buffer))
    documents.rewrite(record, (0, file_rows(record.buffer)), whole, Author.REVIEW)
    record.decide()
    return SINCE if clashes or others else ""


def text_of(path: str, data: bytes | None) -> str | None:
    """A file's text as a buffer has it. Raises EditRefused: it is none."""
    return None if data is None else plain_text(decoded(path, data))

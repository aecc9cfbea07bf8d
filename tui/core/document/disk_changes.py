"""What somebody else did to a file on the disk, and what that means for its buffer.

Pending hunks that somebody else brought to the disk count as accepted. Case I03 of EDIT-CASES.md
(zed's keep_committed_edits): who pulls, checks out or applies the same change and commits it has
decided. Only what is the same line by line counts. git is not asked: a pending hunk is not on the
disk, so what is committed with it has come to the disk before.
"""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.document.disk_plan import backed_out, count_as_saved, is_on_disk, text_now
from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import REPLACED, Decision, Hunk, Kind
from tui.core.document.review import reject
from tui.core.files import MAX_LINES, FileRead, ascii_shown, decoded, unwritable, viewed
from tui.core.steps import finished
from tui.core.text.buffer import Buffer, ended, form_of, plain_text
from tui.core.text.change_set import Author, ChangeSet
from tui.core.text.diff import LineBlock, fitted, line_changes, merge3, trimmed
from tui.core.text.rows import keep_ends, row_count, rows_range, whole_text
from tui.errors import EditRefused


def same_hunks(record: FileRecord, mine: ChangeSet, others: ChangeSet) -> list[Hunk]:
    """Pending hunks all of whose lines somebody else changed in the same way.

    Both sets change what lay on the disk: ``mine`` to what stands in the buffer, ``others`` to
    what was made of it elsewhere.
    """
    if not any(hunk.decidable for hunk in record.live):
        return []
    theirs, found = set(others.changes), dict[Hunk, None]()
    for change, at, _ in mine.placed():
        if change in theirs:
            rows = at[0], at[0] + row_count(change.new_text)
            near = record.live.near(*rows)
            found.update(dict.fromkeys(h for h in near if _is_within(h, rows, change.old_text)))
    return list(found)


def count_as_accepted(documents: Documents, record: FileRecord, hunks: Sequence[Hunk]) -> None:
    """Hunks that are where they belong already are accepted; nobody has to write them."""
    for hunk in hunks:
        record.decide()
        hunk.decision = Decision.ACCEPTED
    if hunks:
        documents.hunk_list.reviewed()
        documents.bump()


def deleted_as_proposed(documents: Documents, record: FileRecord, read: FileRead) -> bool:
    """A file whose deletion is pending was deleted by somebody: that accepts it."""
    hunk = record.deletion
    if hunk is None or read.data is not None or read.refusal or record.sections:
        return False
    if record.undo_log.state != documents.layers[hunk.id].state:
        return False
    pending = [one for one in record.live if one.decidable]
    record.deletion = None
    documents.layers.own(hunk).record = record
    record.disk = None
    count_as_accepted(documents, record, [*pending, hunk])
    record.synced = record.version
    documents.drop(record)
    return True


def _is_within(hunk: Hunk, rows: tuple[int, int], old: str) -> bool:
    """True if all of a pending hunk is in these rows, which were ``old``."""
    if not hunk.decidable or hunk.start is None or hunk.end is None:
        return False
    gone = hunk.start.line == hunk.end.line  # two hunks may have taken lines out at one place
    if gone and hunk.kind is Kind.EDIT and hunk.base not in old:
        return False
    return rows[0] <= hunk.start.line and hunk.end.line <= rows[1]


_NO_STATE = -1
"""None of a file's own: a deletion that was proposed for another text is in conflict."""


def outside_change(
    documents: Documents, path: str, read: FileRead, author: Author = Author.DISK
) -> None:
    """Reload a clean buffer line by line, merge into a changed one, or note a conflict.

    The user's text and pending hunks are never overwritten; a file that was deleted keeps its
    buffer and is not made again without being asked. What is only looked at is shown as it is
    now; where the rights changed, it may be edited from now on, or not any more. ``author`` is TOOL
    where it is known that a formatter did it.
    """
    record = documents.records.get(path)
    if record is None:
        return
    _note_deletion(documents, record, read)
    if _has_grown(documents, record, read, author):
        return
    if record.view or _is_view_now(record, read):
        _look_again(documents, record, read)
        return
    if read.data is not None:
        record.read_only = unwritable(path, read)
    if read.data == record.disk:
        if not read.refusal:
            documents.conflicts.discard(path)
            if record.synced is None and not record.gone and is_on_disk(documents, record):
                count_as_saved(documents, record)
        return
    # in a conflict the record keeps what both sides began with: nothing is written over the
    # other's text by mistake, and a later change is merged on the same base
    if record.gone:
        record.disk = read.data
        return
    if deleted_as_proposed(documents, record, read):
        return
    try:
        if read.data is None:
            raise EditRefused(read.refusal or "deleted on the disk")
        new = decoded(path, read.data)
    except EditRefused:
        record.synced = None
        documents.conflicts.add(path)
        return
    _merge(documents, record, (read.data, new), author)


def _note_deletion(documents: Documents, record: FileRecord, read: FileRead) -> None:
    """A proposed deletion was of another text than what others have written now."""
    if record.deletion is not None and read.data not in (None, record.disk):
        documents.layers.own(record.deletion).state = _NO_STATE


def _has_grown(documents: Documents, record: FileRecord, read: FileRead, author: Author) -> bool:
    """Take over what was written behind a file without edits, as logs grow; False: it is not so.

    Only the new lines are looked at: a log of 7 MB may grow ten times a second.
    """
    old, new = record.disk, read.data
    if record.view or not old or new is None or len(new) <= len(old) or old[-1:] != b"\n":
        return False
    edited = not _is_clean(record) or record.live or record.path in documents.conflicts
    rest = new[len(old) :]
    lines = record.buffer.line_count + rest.count(b"\n")
    if edited or lines > MAX_LINES or not new.startswith(old):
        return False
    try:
        text = decoded(record.path, rest)
    except EditRefused:
        return False
    record.read_only = unwritable(record.path, read)
    record.disk = new
    _note_others(documents, record, author)
    end = record.buffer.end
    documents.apply(record, end, end, text, author)
    record.undo_log.end_group()
    record.synced = record.version
    return True


def _note_others(documents: Documents, record: FileRecord, author: Author) -> None:
    """Behind which hunk another program changed the file."""
    if author is Author.DISK:
        record.changed_behind = documents.last_id


def _is_clean(record: FileRecord) -> bool:
    """True for a file that is on the disk as it is here, and that nothing is landing in."""
    clean = record.saved and record.disk is not None and not record.gone
    return clean and not (record.landing or record.waiting)


def _merge(
    documents: Documents, record: FileRecord, there: tuple[bytes, str], author: Author
) -> None:
    """Bring the disk's bytes, which are this text, into the buffer; or note a conflict.

    Only what differs is made into lines: a log that grows may be open all day.
    """
    data, new = there
    base = "" if record.disk is None else plain_text(record.disk.decode("utf-8", "replace"))
    now, then = record.buffer.text(), plain_text(new)
    newline = "" if record.sections or record.waiting else _other_newline(base, now, then)
    if newline:
        base, now = ended(base, newline), ended(now, newline)
    mine, others = line_changes(base, now), line_changes(base, then)
    # where a move has brought the text, it was not made of what lay here: nothing is to be merged
    came = any(hunk.kind is Kind.MOVE for hunk in record.undecided)
    fit = None if came and mine.changes != others.changes else fitted(mine, others)
    clean = record.saved
    if fit is None and author is Author.TOOL:
        # what was typed meanwhile stays; the next save brings it to the disk and formats it
        record.disk, record.synced = data, None
        return
    if fit is None:
        documents.conflicts.add(record.path)
        return
    record.disk = data
    if newline:
        record.end_lines(newline, author)
        documents.decisions.end_lines(record, newline)
        documents.touched.add(record.path)
    _note_others(documents, record, author)
    same = same_hunks(record, mine, others) if author is Author.DISK else []
    own = _untouched(record) if author is Author.TOOL else []
    for change in reversed(fit.changes):
        documents.apply(record, change.start, change.old_end, change.new_text, author)
    record.buffer.form = form_of(new)
    record.undo_log.end_group()
    documents.conflicts.discard(record.path)
    count_as_accepted(documents, record, same)
    if others or record.synced is None:
        # an undo into lines that both changed comes to neither's text: no state is the disk's
        same_text = clean or set(mine.changes) <= set(others.changes)
        record.synced = record.version if same_text else None
        record.held = [] if same_text else record.held
    for hunk in own:
        hunk.agent = text_now(record, hunk)


def _other_newline(base: str, now: str, then: str) -> str:
    """What all lines end with, where they ended in another way before; empty: they did not."""
    newline = "\r\n" if "\r\n" in then else "\n"
    if "\n" not in base or ended(base, newline) == base or ended(then, newline) != then:
        return ""
    alone = any("\r" in ended(text, "\n") for text in (base, now, then))
    return "" if alone else newline


def _untouched(record: FileRecord) -> list[Hunk]:
    """Accepted hunks whose text is the model's: formatted, it is nobody else's."""
    return [
        hunk
        for hunk in record.live
        if hunk.decision is Decision.ACCEPTED and text_now(record, hunk) == hunk.agent
    ]


def is_formatted(documents: Documents, path: str, read: FileRead) -> bool:
    """False if what a formatter left cannot be what it made of the text: no text, or nothing."""
    before = documents.records[path].disk or b""
    try:
        text = "" if read.data is None else decoded(path, read.data)
    except EditRefused:
        return False
    return read.data is not None and bool(text.strip() or not before.strip())


def doubt(documents: Documents, path: str) -> None:
    """What lies on the disk may be half written: keep the buffer, and have the user asked."""
    record = documents.records[path]
    record.synced = None
    documents.conflicts.add(path)


def _is_view_now(record: FileRecord, read: FileRead) -> bool:
    """True for a file without edits that became one that can only be looked at.

    What was written from here is no such one, be it long: its history stays.
    """
    if read.data is not None and read.data == record.disk:
        return False
    if not _is_clean(record) or record.live:
        return False
    try:
        return not viewed(record.path, read).exact
    except EditRefused:
        return False


def _look_again(documents: Documents, record: FileRecord, read: FileRead) -> None:
    """Show what the disk says now; what can no longer be read stays as it was."""
    try:
        seen = viewed(record.path, read)
    except EditRefused:
        return
    mark = 0 if seen.exact else hash(read.data or read.head)
    same, record.seen = mark == record.seen, mark
    record.read_only, record.view = seen.why, not seen.exact
    if same and record.view:
        return  # it grew behind what is shown of it, as logs do
    record.disk = read.data if seen.exact else None
    record.buffer.form = form_of(seen.text)
    old, new = keep_ends(whole_text(record.buffer)), keep_ends(plain_text(seen.text))
    first, last, start, end = trimmed(old, new, LineBlock(0, len(old), 0, len(new)))
    if first < last or start < end:
        where = rows_range(record.buffer, first, last)
        documents.apply(record, *where, "".join(new[start:end]), Author.DISK)
    record.begin_anew()
    record.synced = record.version


def follow(documents: Documents, path: str, read: FileRead, target: str) -> None:
    """Somebody moved an open file: its text, hunks and undo go on at ``target``.

    ``read`` is what lies there.

    Raises:
        EditRefused: it cannot be edited there, or not now.
    """
    record = documents.records.get(path)
    target = documents.checked(target)
    there = documents.records.get(target)
    if record is None or record.gone:
        raise EditRefused(f"'{ascii_shown(path)}' is not open")
    if record.sections or path in documents.busy:
        raise EditRefused("a model writes in it: try again when it is done")
    if there is not None and not there.gone:
        raise EditRefused(f"'{ascii_shown(target)}' is open already")
    if read.data is None:
        raise EditRefused(read.refusal or f"'{ascii_shown(target)}' is gone again")
    decoded(target, read.data)
    documents.buffers.pop(path, None)
    documents.records[path] = FileRecord(path, Buffer(path), None, gone=True)
    record.path = record.buffer.path = target
    documents.records[target], documents.buffers[target] = record, record.buffer
    waiting = [hunk for section in record.waiting for hunk in section.hunks]
    alone = [hunk for hunk in (record.deletion, record.moving) if hunk is not None]
    documents.hunk_list.moved(
        [*record.live, *record.made, *record.undecided, *waiting, *alone], target
    )
    documents.conflicts.discard(path)
    documents.touched |= {path, target}
    documents.bump()
    outside_change(documents, target, read)


def take_theirs(documents: Documents, path: str, read: FileRead) -> None:
    """Let the disk's text win over the user's; the user's undo brings it back.

    Pending hunks stay where they fit the new text, else all of the file's are rejected.

    Raises:
        EditRefused: there is nothing on the disk that can be edited, or a model writes in it.
    """
    record = documents.records.get(path)
    if record is None or record.gone:
        raise EditRefused(f"'{ascii_shown(path)}' is not open")
    if read.data is None:
        raise EditRefused(read.refusal or f"'{ascii_shown(path)}' is not on the disk any more")
    if record.landing is not None:
        raise EditRefused(f"a model writes in '{ascii_shown(path)}': try again when it is done")
    new = decoded(path, read.data)
    theirs = plain_text(new)
    mine = backed_out(documents, record)
    group = f"theirs:{documents.revision}"
    text = merge3(mine, whole_text(record.buffer), theirs)
    if text is not None:
        replace_as_user(documents, record, text, group)
    if text is None or backed_out(documents, record) != theirs:
        finished(reject(documents, record.live, REPLACED, whole=True))
        if record.path not in documents.buffers:  # the hunks had made it; somebody else did too
            documents.restore(record)
        replace_as_user(documents, record, theirs, group)
    record.buffer.form = form_of(new)
    record.disk = read.data
    count_as_saved(documents, record)
    documents.conflicts.discard(path)
    documents.bump()


def replace_as_user(documents: Documents, record: FileRecord, text: str, group: str) -> None:
    """Give a buffer another text, by edits of the user's that one undo takes back."""
    for change in reversed(line_changes(whole_text(record.buffer), text).changes):
        done = documents.apply(record, change.start, change.old_end, change.new_text, Author.USER)
        record.undo_log.record(record.weave, done, group)
    record.undo_log.end_group()

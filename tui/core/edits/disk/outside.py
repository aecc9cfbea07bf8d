"""What somebody else did to a file on the disk, and what that means for its buffer."""

from __future__ import annotations

from tui.core.edits.deciding.review import reject
from tui.core.edits.deciding.same_change import count_as_accepted, deleted_as_proposed, same_hunks
from tui.core.edits.disk.disk_plan import backed_out, count_as_saved, is_on_disk
from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import Decision, Hunk
from tui.core.edits.journal import History
from tui.core.edits.ledger import Ledger
from tui.core.edits.user_regions import UserRegions
from tui.core.files import MAX_LINES, FileRead, ascii_shown, decoded, unwritable, viewed
from tui.core.steps import finished
from tui.core.text.buffer import Buffer, form_of, plain_text
from tui.core.text.change_set import Author
from tui.core.text.merge import fitted, line_changes, merge3
from tui.core.text.rows import keep_ends, rows_range, rows_text, whole_text
from tui.errors import EditRefused

_REPLACED = "the file on the disk was taken instead"


def outside_change(ledger: Ledger, path: str, read: FileRead, author: Author = Author.DISK) -> None:
    """Reload a clean buffer line by line, merge into a changed one, or note a conflict.

    The user's text and pending hunks are never overwritten; a file that was deleted keeps its
    buffer and is not made again without being asked. What is only looked at is shown as it is
    now; where the rights changed, it may be edited from now on, or not any more. ``author`` is TOOL
    where it is known that a formatter did it.
    """
    record = ledger.records.get(path)
    if record is None:
        return
    if _has_grown(ledger, record, read, author):
        return
    if record.view or _is_view_now(record, read):
        _look_again(ledger, record, read)
        return
    if read.data is not None:
        record.read_only = unwritable(path, read)
    if read.data == record.disk:
        if not read.refusal:
            ledger.conflicts.discard(path)
            if record.synced is None and not record.gone and is_on_disk(ledger, record):
                count_as_saved(ledger, record)
        return
    # in a conflict the record keeps what both sides began with: nothing is written over the
    # other's text by mistake, and a later change is merged on the same base
    if record.gone:
        record.disk = read.data
        return
    if deleted_as_proposed(ledger, record, read):
        return
    try:
        if read.data is None:
            raise EditRefused(read.refusal or "deleted on the disk")
        new = decoded(path, read.data)
    except EditRefused:
        record.synced = None
        ledger.conflicts.add(path)
        return
    _merge(ledger, record, (read.data, new), author)


def _has_grown(ledger: Ledger, record: FileRecord, read: FileRead, author: Author) -> bool:
    """Take over what was written behind a file without edits, as logs grow; False: it is not so.

    Only the new lines are looked at: a log of 7 MB may grow ten times a second.
    """
    old, new = record.disk, read.data
    if record.view or not old or new is None or len(new) <= len(old) or old[-1:] != b"\n":
        return False
    edited = not _is_clean(record) or record.live or record.path in ledger.conflicts
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
    end = record.buffer.end
    ledger.apply(record, end, end, text, author)
    record.history.end_group()
    record.synced = record.version
    return True


def _is_clean(record: FileRecord) -> bool:
    """True for a file that is on the disk as it is here, and that nothing is landing in."""
    clean = record.saved and record.disk is not None and not record.gone
    return clean and not (record.landing or record.waiting)


def _merge(ledger: Ledger, record: FileRecord, there: tuple[bytes, str], author: Author) -> None:
    """Bring the disk's bytes, which are this text, into the buffer; or note a conflict.

    Only what differs is made into lines: a log that grows may be open all day.
    """
    data, new = there
    base = "" if record.disk is None else plain_text(record.disk.decode("utf-8", "replace"))
    mine = line_changes(base, record.buffer.text())
    others = line_changes(base, plain_text(new))
    fit = fitted(mine, others)
    clean = record.saved
    if fit is None and author is Author.TOOL:
        # what was typed meanwhile stays; the next save brings it to the disk and formats it
        record.disk, record.synced = data, None
        return
    if fit is None:
        ledger.conflicts.add(record.path)
        return
    record.disk = data
    same = same_hunks(record, mine, others) if author is Author.DISK else []
    own = _untouched(record) if author is Author.TOOL else []
    for change in reversed(fit.changes):
        ledger.apply(record, change.start, change.old_end, change.new_text, author)
    record.buffer.form = form_of(new)
    record.history.end_group()
    ledger.conflicts.discard(record.path)
    count_as_accepted(ledger, record, same)
    if clean or set(mine.changes) <= set(others.changes):
        record.synced, record.held = record.version, []
    else:
        # an undo into lines that both changed comes to neither's text: no state is the disk's
        record.synced = None
    for hunk in own:
        hunk.agent = _standing(record, hunk)


def _untouched(record: FileRecord) -> list[Hunk]:
    """Accepted hunks whose text is the model's: formatted, it is nobody else's."""
    return [
        hunk
        for hunk in record.live
        if hunk.decision is Decision.ACCEPTED and _standing(record, hunk) == hunk.agent
    ]


def _standing(record: FileRecord, hunk: Hunk) -> str:
    """What stands in a hunk's rows."""
    assert hunk.start is not None
    assert hunk.end is not None
    return rows_text(record.buffer, hunk.start.line, hunk.end.line)


def is_formatted(ledger: Ledger, path: str, read: FileRead) -> bool:
    """False if what a formatter left cannot be what it made of the text: no text, or nothing."""
    before = ledger.records[path].disk or b""
    try:
        text = "" if read.data is None else decoded(path, read.data)
    except EditRefused:
        return False
    return read.data is not None and bool(text.strip() or not before.strip())


def doubt(ledger: Ledger, path: str) -> None:
    """What lies on the disk may be half written: keep the buffer, and have the user asked."""
    record = ledger.records[path]
    record.synced = None
    ledger.conflicts.add(path)


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


def _look_again(ledger: Ledger, record: FileRecord, read: FileRead) -> None:
    """Show what the disk says now; what cannot be read any more stays as it was."""
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
    first, most = 0, min(len(old), len(new))
    while first < most and old[first] == new[first]:
        first += 1
    behind = 0
    while behind < most - first and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    if first + behind < max(len(old), len(new)):
        where = rows_range(record.buffer, first, len(old) - behind)
        ledger.apply(record, *where, "".join(new[first : len(new) - behind]), Author.DISK)
    record.history, record.regions, record.since = History(), UserRegions(), UserRegions()
    record.synced = record.version


def follow(ledger: Ledger, path: str, read: FileRead, target: str) -> None:
    """Somebody moved an open file: its text, hunks and undo go on at ``target``.

    ``read`` is what lies there.

    Raises:
        EditRefused: it cannot be edited there, or not now.
    """
    record = ledger.records.get(path)
    target = ledger.checked(target)
    there = ledger.records.get(target)
    if record is None or record.gone:
        raise EditRefused(f"'{ascii_shown(path)}' is not open")
    if record.sections or path in ledger.busy:
        raise EditRefused("a model writes in it: try again when it is done")
    if there is not None and not there.gone:
        raise EditRefused(f"'{ascii_shown(target)}' is open already")
    if read.data is None:
        raise EditRefused(read.refusal or f"'{ascii_shown(target)}' is gone again")
    decoded(target, read.data)
    ledger.buffers.pop(path, None)
    ledger.records[path] = FileRecord(path, Buffer(path), None, gone=True)
    record.path = record.buffer.path = target
    ledger.records[target], ledger.buffers[target] = record, record.buffer
    waiting = [hunk for section in record.waiting for hunk in section.hunks]
    alone = [hunk for hunk in (record.deletion, record.moving) if hunk is not None]
    ledger.roster.moved([*record.live, *record.made, *record.undecided, *waiting, *alone], target)
    ledger.conflicts.discard(path)
    ledger.touched |= {path, target}
    ledger.bump()
    outside_change(ledger, target, read)


def take_theirs(ledger: Ledger, path: str, read: FileRead) -> None:
    """Let the disk's text win over the user's; the user's undo brings it back.

    Pending hunks stay where they fit the new text, else all of the file's are rejected.

    Raises:
        EditRefused: there is nothing on the disk that can be edited, or a model writes in it.
    """
    record = ledger.records.get(path)
    if record is None or record.gone:
        raise EditRefused(f"'{ascii_shown(path)}' is not open")
    if read.data is None:
        raise EditRefused(read.refusal or f"'{ascii_shown(path)}' is not on the disk any more")
    if record.landing is not None:
        raise EditRefused(f"a model writes in '{ascii_shown(path)}': try again when it is done")
    new = decoded(path, read.data)
    theirs = plain_text(new)
    mine = backed_out(ledger, record)
    group = f"theirs:{ledger.revision}"
    text = merge3(mine, whole_text(record.buffer), theirs)
    if text is not None:
        replace_as_user(ledger, record, text, group)
    if text is None or backed_out(ledger, record) != theirs:
        finished(reject(ledger, record.live, _REPLACED, whole=True))
        if record.path not in ledger.buffers:  # the hunks had made it; somebody else did too
            ledger.restore(record)
        replace_as_user(ledger, record, theirs, group)
    record.buffer.form = form_of(new)
    record.disk = read.data
    count_as_saved(ledger, record)
    ledger.conflicts.discard(path)
    ledger.bump()


def replace_as_user(ledger: Ledger, record: FileRecord, text: str, group: str) -> None:
    """Give a buffer another text, by edits of the user's that one undo takes back."""
    for change in reversed(line_changes(whole_text(record.buffer), text).changes):
        done = ledger.apply(record, change.start, change.old_end, change.new_text, Author.USER)
        record.history.record(done, group)
    record.history.end_group()

"""Which file a name near a block of text means: never a guess between two (EDIT-CASES C01, C02)."""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.edit_stream.events import FileOp
from tui.core.edits.ledger import Ledger
from tui.core.file_read import ascii_shown
from tui.errors import EditRefused

_READ = 200
"""Files of the workspace that are looked into for a block without a name, at most."""
_READ_BYTES = 4_000_000
_MOST_BYTES = 80_000_000
"""After so many no file is named for the further blocks of a patch that have none."""
_NAMED = 5


def path_of(ledger: Ledger, op: FileOp, *, basename: bool) -> str:
    """The path of the file that a header names.

    Of several names the first that is a file; with ``basename`` else the one file of the
    workspace whose path ends with it. Else what the header says, be there such a file or not.
    """
    names = [name for name in (op.path, *op.others) if name]
    for name in names:
        if is_file(ledger, name):
            return name
    for name in names if basename else ():
        found = _ending_with(ledger, name)
        if len(found) == 1:
            return found[0]
    return op.path


def files_with(ledger: Ledger, lines: Sequence[str]) -> list[str]:
    """The files in which these lines are; open ones and, if there are none, others."""
    if not any(line.strip() for line in lines):
        return []
    if ledger.searched_bytes > _MOST_BYTES:
        return []
    text = "\n".join(lines)
    found: list[str] = []
    for path in ledger.buffers:
        if buffer := ledger.quotable(path):
            whole = "\n".join(buffer.lines)
            ledger.searched_bytes += len(whole)
            found += [path] if text in whole else []
    wanted, left = text.encode("utf-8", "replace"), _READ_BYTES
    for path in () if found else list(ledger.names())[:_READ]:
        data = None if path in ledger.buffers or left < 0 else ledger.read(path).data
        if data is not None:
            left -= len(data)
            ledger.searched_bytes += len(data)
            found += [path] if wanted in data else []
    return found


def unknown_name(found: Sequence[str]) -> str:
    """Why a block without a name is refused, and which file it may be of."""
    words = "no file name above this block: put the path on the line before it"
    if not found:
        return words
    named = ", ".join(f"'{ascii_shown(path)}'" for path in found[:_NAMED])
    return f"{words}; its SEARCH is in {named}" + (" only" if len(found) == 1 else "")


def is_file(ledger: Ledger, name: str) -> bool:
    """True if a file is there, or was until it was deleted, be it none that can be edited.

    What is there and is refused must not send its edit to another file (EDIT-CASES C18).
    """
    try:
        path = ledger.checked(name)
    except EditRefused:
        return False
    if path in ledger.arriving or path in ledger.records:
        return True
    if ledger.is_there(path):
        return True
    return "\\" in name and is_file(ledger, name.replace("\\", "/"))


def _ending_with(ledger: Ledger, name: str) -> list[str]:
    name = name.replace("\\", "/").removeprefix("./")
    if name.startswith(("/", "..", "~")):
        return []
    known = dict.fromkeys([*ledger.buffers, *ledger.names()])
    return [path for path in known if path.endswith("/" + name)]

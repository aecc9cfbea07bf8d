"""How many files a stream, as far as it came, allows to delete and to move (EDITS.md section 6).

Told from the text alone, by rules of its own: nothing here asks the code that it is to check. A
header allows nothing by itself. In apply_patch another ``*** `` line must stand behind it, in a
unified diff its counts must be complete, or another file's header must follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tui.core.document.hunk import PLACED, Hunk, Kind

_MARKER = re.compile(r"\s*\*\*\*\s*(End|Begin|Add|Update|Delete|Move)\b")
_COUNTS = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_NEXT = re.compile(r"diff --git |Index: |```|~~~|\*\*\* End Patch")
_NEXT_FILE = re.compile(r"--- ")


def check_not_early(hunks: Iterable[Hunk], text: str) -> None:
    """Raise AssertionError if more files are deleted or moved than the stream asks for so far."""
    kinds = [hunk.kind for hunk in hunks if hunk.stage in PLACED]
    deletes, moves = allowed(text)
    assert kinds.count(Kind.DELETE) <= deletes, "a file was deleted early"
    assert kinds.count(Kind.MOVE) <= moves, "a file was moved early"


def allowed(text: str) -> tuple[int, int]:
    """The number of deletions and of moves that may be placed by this beginning of a stream."""
    lines = text.split("\n")
    headers = {
        "delete": ("*** Delete File", "+++ /dev/null", "deleted file mode"),
        "move": ("*** Move to", "rename to"),
    }
    counts = []
    for marks in headers.values():
        counts.append(sum(_is_closed(lines, at, marks) for at in range(len(lines))))
    return counts[0], counts[1]


def _is_closed(lines: Sequence[str], at: int, marks: Sequence[str]) -> bool:
    line, behind = lines[at].strip(), lines[at + 1 :]
    mark = next((mark for mark in marks if line.startswith(mark)), "")
    if not mark:
        return False
    if mark.startswith("***"):
        return any(map(_MARKER.match, behind))
    own = next((n for n, one in enumerate(behind) if _NEXT.match(one)), len(behind))
    if mark == "deleted file mode" and "+++ /dev/null" in behind[:own]:
        return False  # counted there
    if own < len(behind) or _counts_are_complete(behind):
        return True
    # the header's own `---` line comes before `+++`, and behind what git says of a rename
    return mark == "+++ /dev/null" and any(map(_NEXT_FILE.match, behind))


def _counts_are_complete(lines: Sequence[str]) -> bool:
    """True if the hunks of the first file in these lines are whole; False if there are none."""
    left = None
    for line in lines[:-1]:  # the last one may go on
        if found := _COUNTS.match(line):
            left = [int(found[1] or 1), int(found[2] or 1)]
        elif left and max(left) > 0:
            left[0] -= line[:1] in ("-", " ", "")
            left[1] -= line[:1] in ("+", " ", "")
    return left is not None and max(left) <= 0

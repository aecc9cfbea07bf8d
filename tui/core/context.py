"""What a request says besides the user's words: the open files and what changed since.

The memory of what was sent lives here, so that on a chain only buffers whose text changed are
quoted again; a request that starts over quotes them all. Everything is stated from the records
as they are now (EDITS.md section 10), never from what the model asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from tui.core.buffer import Buffer, Position
from tui.core.file_block import file_block
from tui.core.hunk import OPEN, PLACED, Decision, Hunk, Kind, Stage
from tui.core.workspace import UserChange, Workspace

WHOLE_LIMIT_CHARS = 60_000
"""Longer files are quoted around the cursor only."""
WINDOW_CHARS = 30_000
TOTAL_LIMIT_CHARS = 240_000
"""For all files of one request."""
QUOTE_LIMIT_CHARS = 6_000
"""For all quoted regions of reports and changes together: about 1,500 tokens."""


class OpenFile(Struct, frozen=True):
    """A buffer that the user has open or that a hunk waits in."""

    buffer: Buffer
    active: bool = False
    cursor: Position | None = None
    selection: tuple[Position, Position] | None = None
    private: str = ""
    """Why its text is not sent; empty if it is."""
    read_only: str = ""
    """Why nobody may edit it, as a sentence."""
    view: bool = False
    """Its text cannot be quoted: it is a part of the file, or a picture of its bytes."""


class Changes(Struct):
    """What happened since the last request."""

    edits: Sequence[UserChange] = ()
    decisions: Sequence[Hunk] = ()
    cut: str = ""
    """`cut_report` of an interrupted turn."""
    appeared: Sequence[str] = ()
    """Paths that the file list did not have."""
    vanished: Sequence[str] = ()
    private: Mapping[str, str] = field(default_factory=dict)
    """Paths of which nothing may be quoted."""


class Context:
    """Quotes the open files; remembers which text of a file was sent."""

    def __init__(self) -> None:
        self._sent: dict[str, tuple[int, int]] = {}
        """Path -> identity of the buffer and its revision."""

    def forget(self) -> None:
        """The next message quotes all files."""
        self._sent = {}

    def message(self, files: Sequence[OpenFile], *, full: bool) -> str:
        """The open files that the model has not seen like this; empty if there are none."""
        if full:
            self.forget()
        quoted, named = self._files(files)
        parts = []
        if quoted:
            parts.append("Open files, as they stand in the editor now:\n" + "\n".join(quoted))
        if named:
            parts.append("\n".join(named))
        return "\n\n".join(parts)

    def _files(self, files: Sequence[OpenFile]) -> tuple[list[str], list[str]]:
        quoted: list[str] = []
        named: list[str] = []
        left = TOTAL_LIMIT_CHARS
        for file in sorted(files, key=lambda f: (not f.active, f.buffer.path)):
            path = file.buffer.path
            state = (id(file.buffer), file.buffer.revision)
            if file.view:
                named.append(f"{path} is open but cannot be quoted: {file.read_only}.")
            elif file.private:
                named.append(
                    f"{path} is open but its text is not sent: {file.private}. "
                    "read_file asks the user for it."
                )
            elif self._sent.get(path) == state:
                named.append(f"{path} is unchanged since you last saw it{_where(file)}.")
            else:
                block = quote(file)
                if len(block) > left:
                    named.append(f"{path} is open; too long to quote here, use read_file.")
                    continue
                left -= len(block)
                self._sent[path] = state
                quoted.append(block)
        return quoted, named


def quote(file: OpenFile) -> str:
    """A file's block: whole, or the part around the cursor if it is long."""
    buffer = file.buffer
    attributes = {"state": "active" if file.active else "open"}
    if file.cursor is not None:
        attributes["cursor"] = place(file.cursor)
    if file.selection is not None and file.selection[0] != file.selection[1]:
        attributes["selection"] = "-".join(place(p) for p in sorted(file.selection))
    if file.read_only:
        attributes["writable"] = "no"
    text = buffer.text()
    if len(text) > WHOLE_LIMIT_CHARS:
        first, last = window(buffer, file.cursor[0] if file.cursor else 0)
        text = buffer.slice((first, 0), (last, len(buffer.lines[last])))
        attributes |= {"from_": str(first + 1), "to": str(last + 1)}
        attributes["lines"] = str(buffer.line_count)
    return file_block(buffer.path, text, **attributes)


def window(buffer: Buffer, line: int) -> tuple[int, int]:
    """First and last line around ``line`` that fit `WINDOW_CHARS`; at least that line."""
    first = last = min(max(line, 0), buffer.line_count - 1)
    size = len(buffer.lines[first])
    while True:
        grown = False
        if first > 0 and size + len(buffer.lines[first - 1]) < WINDOW_CHARS:
            first -= 1
            size += len(buffer.lines[first]) + 1
            grown = True
        if last + 1 < buffer.line_count and size + len(buffer.lines[last + 1]) < WINDOW_CHARS:
            last += 1
            size += len(buffer.lines[last]) + 1
            grown = True
        if not grown:
            return first, last


def place(position: Position) -> str:
    """A position as people count: line and column from 1."""
    return f"{position[0] + 1}:{position[1] + 1}"


def _where(file: OpenFile) -> str:
    words = " (active" if file.active else " (open"
    if file.cursor is not None:
        words += f", cursor {place(file.cursor)}"
    if file.selection is not None and file.selection[0] != file.selection[1]:
        words += ", selection " + "-".join(place(p) for p in sorted(file.selection))
    return words + ")"


def changes_message(changes: Changes, workspace: Workspace) -> str:
    """What changed since the last request, one paragraph a kind; empty if nothing did."""
    quota = _Quota()
    parts = []
    if changes.cut:
        parts.append(changes.cut)
    decided = [hunk_state(hunk, workspace, quota, changes.private) for hunk in changes.decisions]
    if decided:
        parts.append("The user's decisions on your hunks:\n" + "\n".join(decided))
    edits = [user_edit(edit, quota) for edit in changes.edits if edit.path not in changes.private]
    if edits:
        parts.append("The user edited meanwhile:\n" + "\n".join(edits))
    if changes.appeared:
        parts.append("New files: " + _some(changes.appeared))
    if changes.vanished:
        parts.append("Files that are gone: " + _some(changes.vanished))
    return "\n\n".join(parts)


class Cut(Struct, frozen=True):
    """An answer that did not come to its end."""

    turn: int
    chars: int
    """Output that had arrived."""
    how: str = "was interrupted by the user"


def cut_report(
    cut: Cut, hunks: Iterable[Hunk], workspace: Workspace, private: Mapping[str, str]
) -> str:
    """What an answer left in the buffers when it was cut."""
    quota = _Quota()
    lines = [f"Your last answer {cut.how} after {cut.chars} characters."]
    states = [hunk_state(hunk, workspace, quota, private) for hunk in hunks]
    if states:
        lines.append("Do not send kept hunks again. What stands in the buffers now:")
        lines += states
    else:
        lines.append("None of it changed a file.")
    return "\n".join(lines)


class _Quota:
    """Characters that may still be quoted."""

    def __init__(self) -> None:
        self.left = QUOTE_LIMIT_CHARS

    def take(self, text: str) -> str:
        """The text, cut to what is left."""
        if not text:
            return ""
        if self.left <= 0:
            return "(not quoted here; use read_file)"
        cut = text if len(text) <= self.left else text[: self.left] + "\n(cut)"
        self.left -= len(text)
        return cut


def hunk_state(hunk: Hunk, workspace: Workspace, quota: _Quota, private: Mapping[str, str]) -> str:
    """One hunk as it stands, in words for a model."""
    head = f"{hunk.path}: hunk {hunk.id} "
    if hunk.kind is Kind.MOVE:
        head = f"{hunk.path}: move to {hunk.target} "
    elif hunk.kind is Kind.DELETE:
        head = f"{hunk.path}: deletion "
    if hunk.decision is Decision.REJECTED:
        words = f': "{hunk.words}"' if hunk.words else ""
        return f"{head}rejected by the user{words}; it is not in the file"
    if hunk.stage not in PLACED:
        reason = f": {hunk.reason}" if hunk.reason and hunk.path not in private else ""
        what = "still being placed" if hunk.stage in OPEN else "NOT applied"
        return f"{head}{what} ({hunk.stage.value}){reason}"
    verb = "accepted" if hunk.decision is Decision.ACCEPTED else "kept, pending review"
    if hunk.stage is Stage.PARTIAL:
        verb += ", only in part: it was cut"
    return head + verb + _extent(hunk) + _edited(hunk, workspace, quota, private)


def _extent(hunk: Hunk) -> str:
    if hunk.start is None or hunk.end is None or hunk.kind is not Kind.EDIT:
        return ""
    first, last = hunk.start.line + 1, max(hunk.end.line, hunk.start.line + 1)
    return f", now line {first}" if first == last else f", now lines {first}-{last}"


def _edited(hunk: Hunk, workspace: Workspace, quota: _Quota, private: Mapping[str, str]) -> str:
    """The hunk's text where the user changed it afterwards."""
    buffer = workspace.buffers.get(hunk.path)
    if buffer is None or hunk.start is None or hunk.end is None or hunk.kind is not Kind.EDIT:
        return ""
    now = buffer.slice(buffer.clamp(hunk.start.position), buffer.clamp(hunk.end.position))
    if now == hunk.agent or hunk.path in private:
        return ""
    return ", edited by the user; it reads now:\n" + quota.take(now.rstrip("\n"))


def user_edit(edit: UserChange, quota: _Quota) -> str:
    """One region that the user changed, as removed and added lines."""
    removed = [f"-{line}" for line in edit.old_text.splitlines()]
    added = [f"+{line}" for line in edit.new_text.splitlines()]
    return f"{edit.path} at line {edit.first_line + 1}:\n" + quota.take("\n".join(removed + added))


def _some(paths: Sequence[str], limit: int = 100) -> str:
    more = f" and {len(paths) - limit} more" if len(paths) > limit else ""
    return ", ".join(paths[:limit]) + more

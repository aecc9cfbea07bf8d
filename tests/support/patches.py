"""Workspaces in memory, and patches made of real edits, for tests of landings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import strategies as st

from tui.core.document import review
from tui.core.document.workspace import Workspace
from tui.core.edit_stream import Format
from tui.core.files import FileRead
from tui.core.patches.landing import Landing


@dataclass
class Disk:
    """Files in memory, written as a front end would write them."""

    files: dict[str, bytes] = field(default_factory=dict)
    workspace: Workspace = field(init=False)
    calls: int = 0

    def __post_init__(self) -> None:
        self.workspace = Workspace(self.read, root="/root")

    def read(self, path: str) -> FileRead:
        """The bytes of a path."""
        return FileRead(self.files.get(path))

    def write(self, paths: Iterable[str]) -> None:
        """Bring the disk to what the workspace plans; what is in conflict is not written."""
        for path in paths:
            if path in self.workspace.conflicts:
                self.workspace.write_failed(path)
                continue
            plan = self.workspace.disk_plan(path)
            assert self.files.get(path) == plan.expected, path
            if plan.data is None:
                self.files.pop(path, None)
            else:
                self.files[path] = plan.data
            self.workspace.written(path, plan.data)

    def start(self, turn: int = 1, fmt: Format = "apply_patch") -> Landing:
        """A new call's landing."""
        self.calls += 1
        return Landing(self.workspace, turn=turn, call_id=f"call_{self.calls}", fmt=fmt)

    def land(
        self, patch: str, *, cut: bool = False, turn: int = 1, fmt: Format = "apply_patch"
    ) -> Landing:
        """Land a whole patch."""
        landing = self.start(turn, fmt)
        landing.feed(patch)
        landing.finish(cut)
        return landing

    def text(self, path: str) -> str:
        """The live text of a path."""
        return self.workspace.buffers[path].text()


def disk(**files: str) -> Disk:
    """A disk with files named by their stem: ``disk(a="x\\n")`` has ``a.txt``."""
    return Disk({f"{name}.txt": text.encode() for name, text in files.items()})


def patch(*lines: str, file: str = "a.txt") -> str:
    """A V4A patch that updates one file."""
    return "\n".join(["*** Begin Patch", f"*** Update File: {file}", *lines, "*** End Patch", ""])


def section(old: Sequence[str], ops: Sequence[str]) -> list[str]:
    """A chunk: a header and lines with their prefix."""
    return ["@@", *old, *ops]


@dataclass(frozen=True)
class Edit:
    """One edit of a list of lines: ``first .. last`` become ``new``."""

    first: int
    last: int
    new: tuple[str, ...]


@st.composite
def edits_of(draw: st.DrawFn, count: int, apart: int = 3) -> list[Edit]:
    """Edits of ``count`` lines, in order and at least ``apart`` lines from each other."""
    edits: list[Edit] = []
    at = 0
    while at <= count and len(edits) < 4:
        first = draw(st.integers(at, min(count, at + 6)))
        last = draw(st.integers(first, min(count, first + 3)))
        new = draw(st.lists(st.sampled_from(["new", "  more", "x", ""]), max_size=3))
        if last > first or new:
            edits.append(Edit(first, last, tuple(new)))
        at = last + apart
        if not draw(st.booleans()):
            break
    return edits


def patch_of(lines: Sequence[str], edits: Iterable[Edit], context: int, file: str) -> str:
    """The V4A patch that makes these edits, with so many lines of context."""
    out: list[str] = []
    for edit in edits:
        before = lines[max(0, edit.first - context) : edit.first]
        after = lines[edit.last : edit.last + context]
        out.append("@@")
        out += [f" {line}" for line in before]
        out += [f"-{line}" for line in lines[edit.first : edit.last]]
        out += [f"+{line}" for line in edit.new]
        out += [f" {line}" for line in after]
    return patch(*out, file=file)


def pieces(text: str, cuts: Iterable[int]) -> list[str]:
    """A text cut at these places."""
    at = [0, *sorted({cut % (len(text) + 1) for cut in cuts}), len(text)]
    return [text[a:b] for a, b in pairwise(at)]


def turns_left(workspace: Workspace) -> set[int]:
    """The turns of which something can be taken back."""
    documents = workspace.documents
    return {hunk.turn for hunk in documents.hunks if review.is_undoable(documents, hunk)}

"""Everything at once, in any order: nothing raises, hunks stand inside their files."""

from __future__ import annotations

from contextlib import suppress
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.notations import notations, told
from tests.support.patches import Disk, edits_of
from tui.core.document.hunk import PLACED, Decision
from tui.core.edit_stream.events import Notation
from tui.core.files import FileRead
from tui.errors import EditRefused

EXTRAS: dict[Notation, list[str]] = {
    "search_replace": [
        "",
        "b.txt\n<<<<<<< SEARCH\n=======\none\n>>>>>>> REPLACE\n",
        "a.txt\n<<<<<<< SEARCH\n=======\nat the end\n>>>>>>> REPLACE\n",
        "a.txt\n<<<<<<< SEARCH\na\n...\nb\n=======\nx\n...\ny\n>>>>>>> REPLACE\n",
    ],
    "unified_diff": [
        "",
        "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1,1 @@\n+one\n",
        "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        "diff --git a/a.txt b/c.txt\nrename from a.txt\nrename to c.txt\n",
    ],
    "whole_file": ["", "b.txt\n```\none\n```\n", "a.txt\n```\nnew\n# ... rest\n```\n"],
}
"""What may follow in the same patch."""
WORDS = ["", "x", "\n", "mine\n", "two\nlines", "\r\n"]


class Play:
    """One workspace, two patches, a user, a disk, and dice."""

    def __init__(self, text: str, patches: list[tuple[str, Notation]], seed: int) -> None:
        self.dice = Random(seed)
        self.disk = Disk({"a.txt": text.encode()})
        self.workspace = self.disk.workspace
        self.workspace.open("a.txt")
        self.streams = [
            (self.disk.start(turn, fmt), list(patch))
            for turn, (patch, fmt) in enumerate(patches, 1)
        ]
        self.acts = [self.type, self.stream, self.stream, self.stream, self.undo, self.decide]
        self.acts += [self.outside, self.take_back, self.place, self.save]

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.dice.choice(self.acts)()
            self.check()
        for landing, rest in self.streams:
            landing.feed("".join(rest))
            landing.finish(cut=self.dice.random() < 0.3)
            landing.report()
            self.check()
        self.workspace.take_user_changes()

    def check(self) -> None:
        for path, buffer in self.workspace.buffers.items():
            assert buffer.path == path
            assert len(buffer.lines) == len(buffer.endings)
            assert buffer.endings[-1] == ""
            assert "" not in buffer.endings[:-1]
            marks = self.workspace.decorations(path, 0, 10_000)
            assert all(0 <= line <= buffer.line_count for line in marks)
            ghost = self.workspace.ghost(path)
            assert ghost is None or ghost[0] <= buffer.line_count
        for hunk in self.workspace.hunks:
            if hunk.stage in PLACED and hunk.decision is Decision.PENDING and hunk.start:
                buffer = self.workspace.buffers[hunk.path]
                assert hunk.end is not None
                assert 0 <= hunk.start.line <= hunk.end.line <= buffer.line_count

    def path(self) -> str | None:
        return self.dice.choice([*sorted(self.workspace.buffers), None])

    def type(self) -> None:
        if (path := self.path()) is not None:
            buffer = self.workspace.buffers[path]
            rows = sorted(self.dice.randrange(buffer.line_count) for _ in range(2))
            if self.dice.random() < 0.6:
                rows[1] = rows[0]
            at = [(row, self.dice.randint(0, len(buffer.lines[row]))) for row in rows]
            self.workspace.edit(path, min(at), max(at), self.dice.choice(WORDS), "type")

    def stream(self) -> None:
        landing, rest = self.dice.choice(self.streams)
        count = self.dice.randint(1, 30)
        landing.feed("".join(rest[:count]))
        del rest[:count]
        if self.dice.random() < 0.5:
            landing.tail()

    def undo(self) -> None:
        if (path := self.path()) is not None:
            self.dice.choice([self.workspace.undo, self.workspace.redo])(path)

    def ids(self) -> list[int] | None:
        if self.dice.random() < 0.3:
            return None
        return [hunk.id for hunk in self.workspace.hunks if self.dice.random() < 0.4]

    def decide(self) -> None:
        if self.dice.random() < 0.5:
            self.finish(self.workspace.accept(self.ids()))
        else:
            self.workspace.reject(self.ids(), "no")

    def take_back(self) -> None:
        if self.dice.random() < 0.3:
            self.finish(self.workspace.undo_turn())

    def finish(self, paths: list[str]) -> None:
        if self.dice.random() < 0.8:
            self.disk.write(paths)
        else:
            for path in paths:
                self.workspace.write_failed(path)

    def outside(self) -> None:
        if self.dice.random() < 0.3 and (path := self.path()) is not None:
            lines = self.disk.files.get(path, b"").decode().splitlines(keepends=True)
            lines.insert(self.dice.randint(0, len(lines)), "outside\n")
            if self.dice.random() < 0.3:
                lines = [f"{line.rstrip()}\r\n" for line in lines]
            data = "".join(lines).encode() if self.dice.random() < 0.8 else None
            self.disk.files.pop(path, None)
            if data is not None:
                self.disk.files[path] = data
            self.workspace.outside_change(path, FileRead(data))
            if data is not None and self.dice.random() < 0.3 and path in self.workspace.conflicts:
                with suppress(EditRefused):  # a model writes in it
                    self.workspace.outside_change(path, FileRead(data), theirs=True)
                    assert self.workspace.disk_plan(path).data == data

    def place(self) -> None:
        for hunk in list(self.workspace.hunks):
            if hunk.candidates:
                with suppress(EditRefused):
                    self.workspace.place(hunk.id, self.dice.choice(hunk.candidates))

    def save(self) -> None:
        if (path := self.path()) is not None:
            self.disk.write([path])


@given(st.data(), st.lists(st.sampled_from("abcd"), max_size=14), st.integers(0, 10**6))
@settings(max_examples=40)
def test_nothing_raises_and_hunks_stand_in_their_files(data, lines, seed):
    patches = []
    for _ in range(2):
        context = data.draw(st.integers(0, 2))
        fmt = data.draw(notations)
        text = told(fmt, lines, data.draw(edits_of(len(lines), apart=1)), context, "a.txt")
        if fmt != "apply_patch":
            patches.append((text + data.draw(st.sampled_from(EXTRAS[fmt])), fmt))
            continue
        extra = data.draw(
            st.sampled_from(
                [
                    "",
                    "*** Add File: b.txt\n+one\n+two\n",
                    "*** Delete File: a.txt\n",
                    "*** Update File: a.txt\n*** Move to: c.txt\n",
                    "*** Add File: a.txt\n+new\n+newer\n",
                    "*** Add File: b.txt\n+one\n*** Update File: b.txt\n@@\n-one\n+1\n",
                ]
            )
        )
        patches.append((text.replace("*** End Patch\n", extra + "*** End Patch\n"), fmt))
    Play("".join(f"{line}\n" for line in lines), patches, seed).run(60)

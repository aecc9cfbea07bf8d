"""Any patch, cut anywhere and in any pieces: same hunks, disk as planned, undo byte for byte."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.document.workspace import Workspace
from tui.core.edit_stream import Channel, Format
from tui.core.files import FileRead
from tui.core.patches.landing import Landing

DISK = {
    "a.py": b"def f():\n    x = 1\n    y = 2\n\n\ndef g():\n    x = 1\n    return x\n",
    "b.py": b"one\r\ntwo\r\nthree",
    "c.py": b"",
    "e.py": b"\xef\xbb\xbfa\nb\nc\n",
}
HEADERS = [
    "*** Update File: a.py", "*** Update File: b.py", "*** Update File: c.py",
    "*** Update File: e.py", "*** Update File: z.py", "*** Add File: n.py", "*** Add File: a.py",
    "*** Delete File: b.py", "*** Delete File: n.py", "*** Move to: z.py", "*** Move to: a.py",
]  # fmt: skip
BODY = [
    "@@", "@@ def g():", "@@ def", "-    x = 1", "+    x = 3", "     y = 2", "     x = 1",
    " def f():", "-def g():", "+def h():", "    return x", "-    return x", "", " ",
    "*** End of File", "-one", "+ONE", " two", "-three", "+3", "-a", "+A", " b", "-c", "+new",
]  # fmt: skip

v4a = st.tuples(
    st.sampled_from(HEADERS[:9]),
    st.lists(st.one_of(st.sampled_from(BODY), st.sampled_from(HEADERS + BODY)), max_size=14),
).map(lambda parts: "\n".join(["*** Begin Patch", parts[0], *parts[1], "*** End Patch"]) + "\n")
TEXT = [
    "    x = 1", "    x = 3", "def f():", "def h():", "    return x", "", "one", "ONE", "two",
    "three", "a", "b", "c", "...", "# ...", "    y = 2", "```", "=======", "x\r",
]  # fmt: skip
BLOCK = ["<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "```python", "````", "`b.py`:", "n.py"]
NAMES = ["a.py", "b.py", "c.py", "e.py", "n.py", "z.py", "**a.py**", "### `b.py`", "../a.py", "x"]
DIFF = [
    "--- a/a.py", "+++ b/a.py", "--- a/b.py", "+++ b/b.py", "--- /dev/null", "+++ /dev/null",
    "+++ b/n.py", "@@ -1,2 +1,2 @@", "@@ -6,3 +6,3 @@ def g():", "@@ ... @@", "@@",
    "\\ No newline at end of file", "diff --git a/a.py b/z.py", "rename from a.py",
    "rename to z.py", "new file mode 100644", "new file mode 120000", "GIT binary patch",
    "index 1..2 100644",
]  # fmt: skip


@st.composite
def blocks(draw: st.DrawFn) -> str:
    """SEARCH/REPLACE blocks, most of them well formed."""
    lines = st.lists(st.sampled_from(TEXT), max_size=3)
    loose = st.lists(st.sampled_from([*TEXT, *BLOCK]), max_size=6)
    out: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        parts = [[draw(st.sampled_from(NAMES))], ["<<<<<<< SEARCH"], draw(lines)]
        parts += [["======="], draw(lines), [">>>>>>> REPLACE"]]
        if draw(st.integers(0, 3)) == 0:
            parts[draw(st.integers(0, 5))] = draw(loose)
        out += [line for part in parts for line in part]
    return "".join(f"{line}\n" for line in out)


@st.composite
def diffs(draw: st.DrawFn) -> str:
    """Unified diffs, many of them with wrong numbers."""
    rows = [*(f"{sign}{line}" for sign in " -+" for line in TEXT), *DIFF]
    names = draw(st.sampled_from([DIFF[0:2], DIFF[2:4], [DIFF[4], DIFF[6]], [DIFF[0], DIFF[5]]]))
    body = draw(st.lists(st.sampled_from(rows), max_size=12))
    out = [*names, draw(st.sampled_from(DIFF[7:11])), *body]
    return "".join(f"{line}\n" for line in out)


@st.composite
def wholes(draw: st.DrawFn) -> str:
    """Files whole, some with fences in them."""
    out: list[str] = []
    for _ in range(draw(st.integers(1, 2))):
        lines = draw(st.lists(st.sampled_from([*TEXT, *BLOCK]), max_size=8))
        out += [draw(st.sampled_from(NAMES)), draw(st.sampled_from(["```", "````", "```py"]))]
        out += [*lines, draw(st.sampled_from(["```", "````", ""]))]
    return "".join(f"{line}\n" for line in out)


@st.composite
def patches(draw: st.DrawFn) -> tuple[str, Format, Channel]:
    """A patch, or what looks like one, with how it comes."""
    texts = {"search_replace": blocks(), "unified_diff": diffs(), "whole_file": wholes()}
    fmt: Format = draw(st.sampled_from(["apply_patch", *texts]))
    text = draw(texts.get(fmt, v4a))
    channel: Channel = draw(st.sampled_from(["custom", "text"]))
    if channel == "text":
        text = f"Here it is:\n\n{text}\nThat is all.\n"
        fmt = draw(st.sampled_from([fmt, "auto", "marked"]))
    return text, fmt, channel


class Bench:
    """A workspace over a disk in memory, with one patch landed in it."""

    def __init__(
        self, patch: tuple[str, Format, Channel], size: int, cut: bool, frames: bool
    ) -> None:
        text, fmt, channel = patch
        self.disk = dict(DISK)
        self.workspace = Workspace(lambda path: FileRead(self.disk.get(path)))
        self.landing = Landing(self.workspace, turn=1, call_id="c", channel=channel, fmt=fmt)
        for at in range(0, len(text), size):
            self.landing.feed(text[at : at + size])
            if frames:
                self.landing.tail()
        self.landing.finish(cut)

    def seen(self) -> tuple[object, ...]:
        """All that can be told from outside."""
        hunks = [
            (h.path, h.kind, h.stage, tuple(h.flags), h.reason, h.base, h.agent, h.target)
            for h in self.landing.hunks
        ]
        texts = {path: buffer.encode() for path, buffer in self.workspace.buffers.items()}
        return hunks, texts, self.landing.failure, self.landing.report()

    def write(self, paths: list[str]) -> None:
        """Do what the workspace plans, as a front end does."""
        for path in paths:
            plan = self.workspace.disk_plan(path)
            assert plan.expected == self.disk.get(path)
            if plan.data is None:
                self.disk.pop(path, None)
            else:
                self.disk[path] = plan.data
            self.workspace.written(path, plan.data)

    def check_untouched(self) -> None:
        """Disk and buffers are as they were in the beginning."""
        assert self.disk == DISK
        for path, data in DISK.items():
            if path in self.workspace.buffers:
                assert self.workspace.buffers[path].encode() == data


@given(patch=patches(), at=st.integers(0, 400), size=st.integers(1, 9), cut=st.booleans())
@settings(max_examples=80)
def test_a01_a02_pieces_cuts_and_undo(patch, at, size, cut):
    text, *how = patch
    if cut:
        patch = (text[:at], *how)
    whole = Bench(patch, len(text), cut, False)
    pieces = Bench(patch, size, cut, True)
    assert pieces.seen() == whole.seen()
    for path in pieces.workspace.buffers:
        assert pieces.workspace.disk_plan(path).data == DISK.get(path)
    pieces.workspace.undo_turn()
    pieces.check_untouched()
    whole.write(whole.workspace.accept())
    whole.write(whole.workspace.undo_turn())
    whole.check_untouched()


@given(patch=patches(), chosen=st.sets(st.integers(1, 8)))
@settings(max_examples=40)
def test_some_accepted_the_rest_rejected_then_undone(patch, chosen):
    bench = Bench(patch, len(patch[0]), False, False)
    bench.write(bench.workspace.accept(sorted(chosen & {h.id for h in bench.landing.hunks})))
    bench.write(bench.workspace.reject())
    for path, data in bench.disk.items():
        if path in bench.workspace.buffers:
            assert bench.workspace.buffers[path].encode() == data
    bench.write(bench.workspace.undo_turn())
    bench.check_untouched()

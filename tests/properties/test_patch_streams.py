"""Any patch, cut anywhere and in any pieces: same hunks, disk as planned, undo byte for byte."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.file_read import FileRead
from tui.core.landing import Landing
from tui.core.workspace import Workspace

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

patches = st.tuples(
    st.sampled_from(HEADERS[:9]),
    st.lists(st.one_of(st.sampled_from(BODY), st.sampled_from(HEADERS + BODY)), max_size=14),
).map(lambda parts: "\n".join(["*** Begin Patch", parts[0], *parts[1], "*** End Patch"]) + "\n")


class Bench:
    """A workspace over a disk in memory, with one patch landed in it."""

    def __init__(self, text: str, size: int, cut: bool, frames: bool) -> None:
        self.disk = dict(DISK)
        self.workspace = Workspace(lambda path: FileRead(self.disk.get(path)))
        self.landing = Landing(self.workspace, turn=1, call_id="c")
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


@given(text=patches, at=st.integers(0, 400), size=st.integers(1, 9), cut=st.booleans())
@settings(max_examples=400, deadline=None)
def test_a01_a02_pieces_cuts_and_undo(text, at, size, cut):
    """A01, A02: any pieces -> same result; undo-all restores the input bytes."""
    if cut:
        text = text[:at]
    whole = Bench(text, len(text) or 1, cut, False)
    pieces = Bench(text, size, cut, True)
    assert pieces.seen() == whole.seen()
    for path in pieces.workspace.buffers:
        assert pieces.workspace.disk_plan(path).data == DISK.get(path)
    pieces.workspace.undo_turn()
    pieces.check_untouched()
    whole.write(whole.workspace.accept())
    whole.write(whole.workspace.undo_turn())
    whole.check_untouched()


@given(text=patches, chosen=st.sets(st.integers(1, 8)))
@settings(max_examples=200, deadline=None)
def test_some_accepted_the_rest_rejected_then_undone(text, chosen):
    bench = Bench(text, len(text), False, False)
    bench.write(bench.workspace.accept(sorted(chosen & {h.id for h in bench.landing.hunks})))
    bench.write(bench.workspace.reject())
    for path, data in bench.disk.items():
        if path in bench.workspace.buffers:
            assert bench.workspace.buffers[path].encode() == data
    bench.write(bench.workspace.undo_turn())
    bench.check_untouched()

"""What holds for every patch, every file, every chunking and every cut (EDIT-CASES A01, A02)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.patches import Disk, edits_of, patch_of, pieces
from tui.core.edits.hunk import Stage

LINES = st.sampled_from(["a", "b", "  a", "b ", "", "c", "\td", "e\x0cf"])
ENDINGS = st.sampled_from(["\n", "\n", "\n", "\r\n"])


@st.composite
def files(draw: st.DrawFn) -> str:
    """A small text with many equal lines, any endings, perhaps none at the end."""
    lines = draw(st.lists(LINES, max_size=12))
    text = "".join(line + draw(ENDINGS) for line in lines)
    bom = "\ufeff" if draw(st.integers(0, 9)) == 0 else ""
    return bom + (text if draw(st.booleans()) else text.rstrip("\r\n"))


@st.composite
def patches(draw: st.DrawFn, text: str) -> str:
    """A patch for it: edits that fit, or a loose collection of lines, or operations on files."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    kind = draw(st.integers(0, 3))
    if kind <= 1:
        edits = draw(edits_of(len(lines), apart=draw(st.integers(0, 4))))
        return patch_of(lines, edits, draw(st.integers(0, 3)), "a.txt")
    loose = st.builds("{}{}".format, st.sampled_from([" ", "-", "+"]), LINES)
    body = draw(st.lists(st.one_of(loose, st.just("@@"), st.just("@@ b")), max_size=12))
    out = ["*** Begin Patch", "*** Update File: a.txt", *body]
    if kind == 3:
        extra = [
            ["*** Add File: n.txt", "+one", "+two"],
            ["*** Add File: a.txt", "+other"],
            ["*** Delete File: a.txt"],
            ["*** Update File: a.txt", "*** Move to: m.txt", "@@", "-a", "+z"],
        ]
        for one in draw(st.lists(st.sampled_from(extra), max_size=3)):
            out += one
    return "\n".join([*out, "*** End Patch", ""])


def state(disk: Disk) -> object:
    """All that a chunking must not change."""
    workspace = disk.workspace
    hunks = [
        (
            hunk.path, hunk.kind, hunk.stage, hunk.base, hunk.agent, tuple(hunk.flags),
            hunk.reason, hunk.candidates, hunk.added, hunk.removed,
            hunk.start and hunk.start.line, hunk.end and hunk.end.line,
        )
        for hunk in workspace.hunks
    ]  # fmt: skip
    texts = {path: buffer.encode() for path, buffer in workspace.buffers.items()}
    return hunks, texts, [workspace.decorations(path, 0, 99) for path in sorted(texts)]


@pytest.mark.case("A01")
@given(st.data(), files(), st.lists(st.integers(0, 500), max_size=30), st.booleans())
@settings(max_examples=300, deadline=None)
def test_a01_any_chunking_gives_the_same_buffers_and_hunks(data, text, cuts, frames):
    wanted = data.draw(patches(text))
    cut = data.draw(st.booleans())
    whole = Disk({"a.txt": text.encode()})
    report = whole.land(wanted, cut=cut).report()
    for chunks in (pieces(wanted, cuts), list(wanted)):
        other = Disk({"a.txt": text.encode()})
        landing = other.start()
        for chunk in chunks:
            landing.feed(chunk)
            if frames:
                landing.tail()
        landing.finish(cut)
        assert state(other) == state(whole)
        assert landing.report() == report


@pytest.mark.case("A02")
@given(st.data(), files())
@settings(max_examples=200, deadline=None)
def test_a02_a_cut_anywhere_and_reject_all_restores_the_bytes(data, text):
    wanted = data.draw(patches(text))
    at = data.draw(st.integers(0, len(wanted)))
    disk = Disk({"a.txt": text.encode()})
    landing = disk.start()
    landing.feed(wanted[:at])
    landing.tail()
    landing.finish(cut=True)
    for path in disk.workspace.ledger.records:
        assert disk.workspace.disk_plan(path).data == disk.files.get(path)
    disk.workspace.reject()
    disk.write(disk.workspace.buffers)
    assert disk.files == {"a.txt": text.encode()}
    buffer = disk.workspace.buffers.get("a.txt")
    assert buffer is None or buffer.encode() == text.encode()
    assert set(disk.workspace.buffers) <= {"a.txt"}


@given(st.data(), files(), st.integers(0, 999))
@settings(max_examples=200, deadline=None)
def test_turns_are_taken_back_byte_for_byte_whatever_was_decided(data, text, seed):
    random = Random(seed)
    disk = Disk({"a.txt": text.encode()})
    for turn in (1, 2):
        disk.land(data.draw(patches(text)), turn=turn)
        ids = [hunk.id for hunk in disk.workspace.hunks if random.random() < 0.5]
        disk.write(disk.workspace.accept(ids))
        ids = [hunk.id for hunk in disk.workspace.hunks if random.random() < 0.2]
        disk.write(disk.workspace.reject(ids))
    disk.write(disk.workspace.undo_turn())
    disk.write(disk.workspace.undo_turn())
    assert disk.workspace.model_turns == []
    assert disk.files == {"a.txt": text.encode()}


@given(st.data(), files())
@settings(max_examples=200, deadline=None)
def test_accepting_all_writes_what_the_buffer_shows(data, text):
    disk = Disk({"a.txt": text.encode()})
    disk.land(data.draw(patches(text)))
    disk.write(disk.workspace.accept())
    assert all(h.decision == "accepted" for h in disk.workspace.hunks if h.stage == Stage.LANDED)
    for path, buffer in disk.workspace.buffers.items():
        assert disk.files[path] == buffer.encode()
        assert not disk.workspace.is_dirty(path)

"""SEARCH/REPLACE, unified diffs and whole files: any file, any text, any pieces, any cut."""

from __future__ import annotations

from difflib import unified_diff

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.patches import Disk, pieces
from tui.core.edit_stream import Format
from tui.core.edits.patches.landing import Landing

LINES = st.sampled_from(["a", "b", "  a", "b ", "", "c", "\td", "long line 1", "long line 2", "}"])
TEXTS = st.lists(LINES, max_size=14)
NEW = st.lists(st.one_of(LINES, st.sampled_from(["new", "=======", "..."])), max_size=8)
ENDINGS = st.sampled_from(["\n", "\n", "\r\n"])


@st.composite
def files(draw: st.DrawFn) -> str:
    """A text with equal lines, any endings, perhaps none at the end."""
    text = "".join(line + draw(ENDINGS) for line in draw(TEXTS))
    return text if draw(st.booleans()) else text.rstrip("\r\n")


def rows_of(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def block(old: list[str], new: list[str]) -> str:
    body = ["a.txt", "<<<<<<< SEARCH", *old, "=======", *new, ">>>>>>> REPLACE"]
    return "\n".join(body) + "\n"


@st.composite
def answers(draw: st.DrawFn, text: str) -> tuple[Format, str]:
    """An edit of a.txt in some notation; it fits, or it does not."""
    rows = rows_of(text)
    kind = draw(st.integers(0, 3))
    if kind == 0:
        new = draw(NEW)
        return "whole_file", "a.txt\n`````\n" + "".join(f"{one}\n" for one in new) + "`````\n"
    if kind == 1:
        new = draw(NEW)
        diff = unified_diff(rows, new, "a/a.txt", "b/a.txt", lineterm="", n=draw(st.integers(0, 3)))
        return "unified_diff", "".join(f"{line}\n" for line in diff)
    blocks = ""
    for _ in range(draw(st.integers(1, 3))):
        first = draw(st.integers(0, len(rows)))
        last = draw(st.integers(first, min(len(rows), first + 5)))
        old = rows[first:last] if draw(st.booleans()) else draw(st.lists(LINES, max_size=4))
        blocks += block(old, draw(NEW))
    return "search_replace", blocks


def start(text: str, fmt: Format) -> tuple[Disk, Landing]:
    disk = Disk({"a.txt": text.encode()})
    return disk, Landing(disk.workspace, turn=1, call_id="x", channel="text", fmt=fmt)


def state(disk: Disk, landing: Landing) -> object:
    hunks = [
        (h.kind, h.stage, h.base, h.agent, tuple(h.flags), h.reason, h.candidates, h.added,
         h.removed, h.start and h.start.line, h.end and h.end.line)
        for h in disk.workspace.hunks
    ]  # fmt: skip
    texts = {path: buffer.encode() for path, buffer in disk.workspace.buffers.items()}
    marks = [disk.workspace.decorations(path, 0, 99) for path in sorted(texts)]
    return hunks, texts, marks, landing.failure


@pytest.mark.case("A01", "A02")
@given(st.data(), files(), st.lists(st.integers(0, 300), max_size=20), st.booleans())
@settings(max_examples=300, deadline=None)
def test_a01_a02_any_pieces_any_cut_and_every_byte_back(data, text, cuts, cut):
    fmt, answer = data.draw(answers(text))
    if cut:
        answer = answer[: data.draw(st.integers(0, len(answer)))]
    whole, landing = start(text, fmt)
    landing.feed(answer)
    landing.finish(cut)
    wanted = state(whole, landing)
    for chunks in (pieces(answer, cuts), list(answer)):
        disk, landing = start(text, fmt)
        for chunk in chunks:
            landing.feed(chunk)
            landing.tail()
        landing.finish(cut)
        assert state(disk, landing) == wanted
        for path in disk.workspace.buffers:
            assert disk.workspace.disk_plan(path).data == text.encode()
    disk.workspace.undo_turn()
    for path, buffer in disk.workspace.buffers.items():
        assert buffer.encode() == disk.files[path]
    whole.write(whole.workspace.accept())
    whole.write(whole.workspace.undo_turn())
    assert whole.files == {"a.txt": text.encode()}


@given(st.data(), files())
@settings(max_examples=300, deadline=None)
def test_a_whole_file_is_what_it_says_and_a_unique_block_lands(data, text):
    rows, new = rows_of(text), data.draw(NEW)
    disk, landing = start(text, "whole_file")
    landing.feed("a.txt\n`````\n" + "".join(f"{one}\n" for one in new) + "`````\n")
    landing.finish(cut=False)
    if landing.placed_all and "a.txt" in disk.workspace.buffers:
        assert rows_of(disk.text("a.txt")) == new
    first = data.draw(st.integers(0, len(rows)))
    last = data.draw(st.integers(first, len(rows)))
    old = rows[first:last]
    places = [at for at in range(len(rows)) if rows[at : at + len(old)] == old]
    disk, landing = start(text, "search_replace")
    fresh = data.draw(st.lists(st.sampled_from(["new", "", "a", "}"]), max_size=6))
    landing.feed(block(old, fresh))
    landing.finish(cut=False)
    reason = "".join(hunk.reason for hunk in landing.hunks)
    if old and len(places) == 1 and "already applied" not in reason:
        assert rows_of(disk.text("a.txt")) == rows[:first] + fresh + rows[last:], reason
    elif len(places) > 1 and old and fresh != old:
        assert "ambiguous" in reason
        assert disk.text("a.txt").encode() == text.encode()


@given(st.data(), files(), st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_what_the_user_types_meanwhile_is_never_lost(data, text, size):
    fmt, answer = data.draw(answers(text))
    disk, landing = start(text, fmt)
    workspace, typed = disk.workspace, 0
    workspace.open("a.txt")
    random = data.draw(st.randoms(use_true_random=False))
    for at in range(0, len(answer), size):
        landing.feed(answer[at : at + size])
        landing.tail()
        at_work = workspace.ledger.records["a.txt"].landing is not None
        if at_work and random.random() < 0.2:
            row = random.randrange(workspace.buffers["a.txt"].line_count)
            col = random.randint(0, len(workspace.buffers["a.txt"].lines[row]))
            word = chr(0x4E00 + typed) + "\n" * random.randint(0, 1)
            workspace.edit("a.txt", (row, col), (row, col), word)
            typed += 1
            workspace.disk_plan("a.txt")
    landing.finish(cut=random.random() < 0.3)
    words = [chr(0x4E00 + number) for number in range(typed)]
    if "a.txt" in workspace.buffers:
        assert all(word in disk.text("a.txt") for word in words)
        workspace.reject()
        workspace.undo_turn()
        assert all(word in disk.text("a.txt") for word in words)

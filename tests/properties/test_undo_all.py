"""A02: who takes back all of his edits, and all of a model's, has the bytes he began with.

Whatever he deleted across the hunks while they came, and in whichever order he goes back.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.test_two_authors import streams
from tests.support.patches import Disk
from tui.core.document.workspace import undo_stopped

PATH = "a.txt"


def types(data: st.DataObject, disk: Disk, number: int) -> None:
    """The user types, or deletes across lines."""
    buffer = disk.workspace.buffers[PATH]
    row = data.draw(st.integers(0, buffer.line_count - 1))
    last = min(row + data.draw(st.integers(0, 3)), buffer.line_count - 1)
    rows = data.draw(st.booleans())  # from start to start of lines, as dd and Ctrl+K do
    start = (row, 0 if rows else data.draw(st.integers(0, len(buffer.lines[row]))))
    end = (last, 0 if rows else data.draw(st.integers(0, len(buffer.lines[last]))))
    text = data.draw(st.sampled_from(["", "", "", "q", "q\n"]))
    if start != end or text:
        disk.workspace.edit(PATH, min(start, end), max(start, end), text, str(number))


def undoes(disk: Disk) -> None:
    """Undo until there is nothing more, or a model's text stands in the way."""
    while disk.workspace.undo(PATH) is not None and not undo_stopped(disk.workspace, PATH):
        pass


def takes_back(disk: Disk, whole_turn: bool) -> None:
    """All of the model's."""
    if whole_turn:
        disk.workspace.undo_turn()
    else:
        disk.workspace.reject([hunk.id for hunk in disk.workspace.hunks])


@pytest.mark.case("A02")
@given(st.data(), streams(), st.sampled_from(["", "end"]))
@settings(max_examples=60)
def test_a02_all_taken_back_is_the_input(data, stream, rest):
    lines, newline, _, chunks, fmt = stream
    before = newline.join([*lines, rest]).encode()
    disk = Disk({PATH: before})
    disk.workspace.open(PATH)
    landing = disk.start(fmt=fmt)
    number = 0
    for chunk in ["", *chunks]:
        landing.feed(chunk)
        if data.draw(st.booleans()):
            landing.tail()
        for _ in range(data.draw(st.integers(0, 2))):
            types(data, disk, number := number + 1)
    landing.finish(cut=data.draw(st.booleans()))
    whole_turn = data.draw(st.booleans())
    if data.draw(st.booleans()):
        takes_back(disk, whole_turn)  # what was typed in may not come apart yet
    for _ in range(3):  # what stood in his way is gone then
        undoes(disk)
        takes_back(disk, whole_turn)
    assert disk.workspace.buffers[PATH].encode() == before
    assert not disk.workspace.is_dirty(PATH)

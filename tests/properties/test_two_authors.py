"""The user types while a model writes (EDIT-CASES G): nothing of the user's is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.notations import edited, notations, told
from tests.support.patches import Disk, Edit, edits_of, pieces
from tui.core.document.hunk import Stage
from tui.core.edit_stream.events import Notation
from tui.core.text.buffer import Buffer
from tui.core.text.rows import file_rows, rows_text
from tui.core.unsaved import typed_text

ENDINGS = st.sampled_from(["\n", "\r\n"])


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[str], str, list[Edit], list[str], Notation]:
    """Lines that all differ, their ending, edits of them, the patch in pieces, and its format."""
    count = draw(st.integers(1, 14))
    lines = [f"line {number}" for number in range(count)]
    edits = draw(edits_of(count))
    fmt = draw(notations)
    # nothing but a number is no place: only V4A says where lines without any around them go
    context = draw(st.integers(0 if fmt == "apply_patch" else 1, 3))
    if not context:  # an addition without any anchor that comes twice says nothing new
        once = {(-1 if edit.last == edit.first else edit.first, edit.new): edit for edit in edits}
        edits = sorted(once.values(), key=lambda edit: edit.first)
    if fmt == "whole_file" and 2 * len(edited(lines, edits)) < count:
        edits = []  # it would be held
    text = told(fmt, lines, edits, context, "a.txt")
    cuts = draw(st.lists(st.integers(0, 400), min_size=1, max_size=8))
    return lines, draw(ENDINGS), edits, pieces(text, cuts), fmt


def far(edits: list[Edit], count: int, reach: int = 4) -> list[int]:
    """Lines that no section of the patch reads or writes."""
    near = {line for edit in edits for line in range(edit.first - reach, edit.last + reach)}
    return [line for line in range(count) if line not in near]


def held_text(disk: Disk) -> str:
    """The text of hunks that was not saved, as the user has typed in it."""
    record = disk.workspace.documents.records["a.txt"]
    rows = [(hunk.start.line, hunk.end.line) for hunk in record.held if hunk.start and hunk.end]
    return "".join(rows_text(record.buffer, first, last) for first, last in rows)


@pytest.mark.slow
@pytest.mark.case("G01", "G03")
@given(st.data(), streams())
@settings(max_examples=50)
def test_g01_what_the_user_types_is_there_at_the_end_whatever_is_decided(data, stream):
    lines, newline, _, chunks, fmt = stream
    disk = Disk({"a.txt": newline.join([*lines, ""]).encode()})
    buffer = disk.workspace.open("a.txt")
    landing = disk.start(fmt=fmt)
    words: list[str] = []
    for chunk in ["", *chunks]:  # what is typed before the first line came counts, too
        landing.feed(chunk)
        if data.draw(st.booleans()):
            landing.tail()
        for _ in range(data.draw(st.integers(0, 2))):
            words.append(chr(0xE000 + len(words)))
            line = data.draw(st.integers(0, buffer.line_count - 1))
            at = (line, data.draw(st.integers(0, len(buffer.lines[line]))))
            ends = data.draw(st.sampled_from(["", "\n"]))
            disk.workspace.edit("a.txt", at, at, words[-1] + ends)
    landing.finish(cut=data.draw(st.booleans()))
    text = buffer.text()
    assert [text.count(word) for word in words] == [1] * len(words)
    ids = data.draw(st.lists(st.sampled_from(range(1, 9)), max_size=4))
    disk.workspace.accept(ids)
    disk.workspace.reject(data.draw(st.lists(st.sampled_from(range(1, 9)), max_size=4)))
    plan = disk.workspace.disk_plan("a.txt")
    assert plan.data is not None
    typed = typed_text(disk.workspace.documents, "a.txt")
    kept = typed.file() if typed else None
    assert kept is not None
    saved, kept_text = plan.data.decode(), kept.data.decode()
    disk.workspace.written("a.txt", plan.data)
    held = held_text(disk)
    assert disk.workspace.is_dirty("a.txt") == bool(held)
    if data.draw(st.booleans()):
        disk.workspace.undo_turn()
    text = buffer.text()
    assert [text.count(word) for word in words] == [1] * len(words)
    assert [kept_text.count(word) for word in words] == [1] * len(words)
    apart = [word for word in words if word not in held]
    assert [saved.count(word) for word in apart] == [1] * len(apart)


@given(st.data(), streams())
@settings(max_examples=50)
def test_edits_elsewhere_stay_when_the_model_is_taken_back(data, stream):
    lines, newline, edits, chunks, fmt = stream
    disk = Disk({"a.txt": newline.join([*lines, ""]).encode()})
    buffer = disk.workspace.open("a.txt")
    mine = Buffer("mine", newline.join([*lines, ""]))
    free = far(edits, len(lines))
    landing = disk.start(fmt=fmt)
    for chunk in ["", *chunks]:
        landing.feed(chunk)
        landing.tail()
        if free and data.draw(st.booleans()):
            line = free.pop(data.draw(st.integers(0, len(free) - 1)))
            new = data.draw(st.sampled_from(["mine", "mine\nmore", ""]))
            for text, edit in ((mine, mine.replace), (buffer, None)):
                row = text.lines.index(f"line {line}")
                where = (row, 0), (row, len(text.lines[row]))
                if edit:
                    edit(*where, new)
                else:
                    disk.workspace.edit("a.txt", *where, new)
    assert disk.workspace.disk_plan("a.txt").data == mine.encode()
    landing.finish(cut=False)
    assert landing.placed_all or not edits
    assert disk.workspace.disk_plan("a.txt").data == mine.encode()
    accepted = data.draw(st.lists(st.sampled_from(range(1, 5)), max_size=3))
    disk.write(disk.workspace.accept(accepted))
    disk.write(disk.workspace.undo_turn())
    assert buffer.encode() == mine.encode()
    assert disk.workspace.disk_plan("a.txt").data == mine.encode()


@given(st.data(), streams())
@settings(max_examples=50)
def test_g05_the_users_undo_and_redo_pass_the_models_lines_by(data, stream):
    lines, newline, edits, chunks, fmt = stream
    start = newline.join([*lines, ""])
    alone = Disk({"a.txt": start.encode()})
    alone.land("".join(chunks), fmt=fmt)
    disk = Disk({"a.txt": start.encode()})
    buffer = disk.workspace.open("a.txt")
    free = far(edits, len(lines))
    landing = disk.start(fmt=fmt)
    for chunk in ["", *chunks]:
        landing.feed(chunk)
        if free and data.draw(st.booleans()):
            line = free.pop()
            row = buffer.lines.index(f"line {line}")
            disk.workspace.edit(
                "a.txt", (row, 0), (row, 2), data.draw(st.sampled_from(["x", newline]))
            )
    landing.finish(cut=False)
    both = buffer.text()
    while disk.workspace.undo("a.txt"):
        pass
    assert buffer.text() == (alone.text("a.txt") if edits else start)
    assert not disk.workspace.is_dirty("a.txt")
    while disk.workspace.redo("a.txt"):
        pass
    assert buffer.text() == both


@given(st.data(), streams())
@settings(max_examples=40)
def test_hunks_stand_where_their_text_is_after_edits_elsewhere(data, stream):
    lines, newline, edits, chunks, fmt = stream
    disk = Disk({"a.txt": newline.join([*lines, ""]).encode()})
    disk.land("".join(chunks), fmt=fmt)
    buffer = disk.workspace.open("a.txt")
    for line in far(edits, len(lines)):
        row = buffer.lines.index(f"line {line}")
        new = data.draw(st.sampled_from(["", "two\nlines\n", "same\n"]))
        disk.workspace.edit("a.txt", (row, 0), (row + 1, 0), new)
    for hunk in disk.workspace.hunks:
        assert hunk.stage is Stage.LANDED
        assert hunk.start is not None
        assert hunk.end is not None
        assert hunk.end.line <= file_rows(buffer)
        text = buffer.slice((hunk.start.line, 0), (hunk.end.line, 0))
        assert text == hunk.agent


@given(st.data(), st.lists(st.sampled_from("abc"), max_size=8))
@settings(max_examples=40)
def test_the_users_changes_are_told_exactly(data, lines):
    disk = Disk({"a.txt": "".join(f"{line}\n" for line in lines).encode()})
    buffer = disk.workspace.open("a.txt")
    before = buffer.text()
    for _ in range(data.draw(st.integers(0, 5))):
        start = data.draw(st.integers(0, buffer.line_count - 1))
        last = data.draw(st.integers(start, min(start + 2, buffer.line_count - 1)))
        begin = (start, data.draw(st.integers(0, len(buffer.lines[start]))))
        end = (last, data.draw(st.integers(0, len(buffer.lines[last]))))
        text = data.draw(st.sampled_from(["", "x", "\n", "y\nz", "w\n"]))
        disk.workspace.edit("a.txt", begin, max(begin, end), text)
    after = buffer.text().split("\n")
    for change in reversed(disk.workspace.take_user_changes()):
        count = change.new_text.count("\n") + (not change.new_text.endswith("\n"))
        first = change.first_line
        assert "\n".join(after).split("\n")[first : first + count] is not None
        text = "\n".join(after)
        at = sum(len(line) + 1 for line in after[:first])
        assert text[at : at + len(change.new_text)] == change.new_text
        after = (text[:at] + change.old_text + text[at + len(change.new_text) :]).split("\n")
    assert "\n".join(after) == before
    assert disk.workspace.take_user_changes() == []

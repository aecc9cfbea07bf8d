"""How the files of a write that was cut short are found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.document.unfinished_writes import (
    FoundStep,
    State,
    WriteStep,
    found,
    is_torn,
    state_of,
    told,
)
from tui.core.files import FileRead

texts = st.binary(max_size=40) | st.text("ab\n\0", max_size=40).map(str.encode)


def test_old_new_and_neither() -> None:
    change, made, removed = (
        WriteStep("a", b"old", b"new"),
        WriteStep("b", None, b"n"),
        WriteStep("c", b"o", None),
    )
    assert state_of(change, FileRead(b"old")) is State.OLD
    assert state_of(change, FileRead(b"new")) is State.NEW
    assert state_of(change, FileRead(b"other")) is State.OTHER
    assert state_of(change, FileRead(None)) is State.OTHER
    assert state_of(change, FileRead(None, "it is a folder")) is State.OTHER
    assert state_of(made, FileRead(None)) is State.OLD
    assert state_of(made, FileRead(b"n")) is State.NEW
    assert state_of(removed, FileRead(None)) is State.NEW
    assert state_of(removed, FileRead(b"o")) is State.OLD


@pytest.mark.case("H08")
@given(texts, texts, st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=4), st.data())
def test_whatever_was_being_written_in_place_is_known(
    old: bytes, new: bytes, writes: list[tuple[bool, int]], data: st.DataObject
) -> None:
    """Room is made first where the system can; then a beginning is written over; then again."""
    now = old
    for back, reached in writes:
        text = old if back else new
        size = max(len(now), len(text)) if data.draw(st.booleans()) else len(now)
        begun = text[:reached]
        now = begun + now.ljust(size, b"\0")[len(begun) :]
    state = state_of(WriteStep("a", old, new, in_place=True), FileRead(now))
    assert state in (State.OLD, State.NEW, State.TORN)


def test_what_somebody_wrote_is_not_taken_for_half_a_write() -> None:
    change = WriteStep("a", b"one\ntwo\nthree\n", b"one\nTWO\nthree\n")
    for text in (b"one\nmine\nthree\n", b"one\nTWO\nthree\nfour\n", b"", None):
        assert not is_torn(text, change)
    assert not is_torn(b"x", WriteStep("a", None, b"x y"))
    half = b"one\nTWo\nthree\n"
    over = WriteStep("a", change.before, change.after, in_place=True)
    assert state_of(over, FileRead(half)) is State.TORN
    assert state_of(change, FileRead(half)) is State.OTHER, "it would have been replaced whole"


def test_it_is_said_which_is_which() -> None:
    steps = [WriteStep(f"{name}.py", b"old", b"new") for name in "abcdefgh"]
    reads = [FileRead(b"new"), *[FileRead(b"old")] * 6, FileRead(b"mine")]
    findings = found(steps, reads)
    assert findings[0] == FoundStep(steps[0], State.NEW, b"new")
    assert told(findings) == (
        "a.py is new; b.py, c.py, d.py, e.py, f.py and 1 more are old;"
        " h.py is neither, somebody changed it since"
    )

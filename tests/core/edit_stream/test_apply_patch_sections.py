"""V4A sections as the parser tells them; where they land is told in tests/core/edits."""

from __future__ import annotations

import pytest

from tests.support.edit_streams import read
from tui.core.edit_stream.events import (
    Anchor,
    End,
    EndOfFile,
    Ev,
    Line,
    SectionEnd,
    SectionStart,
)


def sections(body: str) -> list[Ev]:
    """What is told between the file's header and its end."""
    events = read(f"*** Begin Patch\n*** Update File: f.py\n{body}*** End Patch\n")
    assert events[-1] == End(True)
    return events[1:-2]


@pytest.mark.case("B09")
def test_a_section_of_only_added_lines():
    """B09: with and without an anchor; where it goes is for the placement."""
    assert sections("@@\n+a\n") == [SectionStart(1, True), Line("+", "a"), SectionEnd(True)]
    assert sections("@@ class A:\n+a\n")[1] == Anchor("class A:")


@pytest.mark.case("B10")
def test_end_of_file_closes_its_section():
    """B10: told before the section's end; the next section needs its own header."""
    assert sections("@@\n-a\n+b\n*** End of File\n@@\n c\n") == [
        SectionStart(1, True),
        Line("-", "a"),
        Line("+", "b"),
        EndOfFile(),
        SectionEnd(True),
        SectionStart(2, False),
        Line("=", "c"),
        SectionEnd(True),
    ]


@pytest.mark.case("B15", "B16")
def test_sections_are_told_as_they_are_written():
    """B15, B16: old lines that an earlier section removed, and context only, are no error here."""
    told = sections("@@\n-a\n+b\n@@\n-a\n+c\n@@\n d\n")
    assert [event.text for event in told if isinstance(event, Line)] == ["a", "b", "a", "c", "d"]
    assert [event.number for event in told if isinstance(event, SectionStart)] == [1, 2, 3]


@pytest.mark.case("B17")
def test_repeated_lines_keep_their_order():
    """B17: `-a -b +b +b +a`."""
    told = sections("@@\n-a\n-b\n+b\n+b\n+a\n")
    marks = [event.op + event.text for event in told if isinstance(event, Line)]
    assert marks == ["-a", "-b", "+b", "+b", "+a"]


@pytest.mark.case("B20")
def test_a_diff_without_an_envelope_reads_as_if_it_had_one():
    """B20: the envelope that a hosted tool leaves out is put around its diff, end and all."""
    diff = "@@ def f():\n a\n-b\n+c\n"
    body = f"*** Begin Patch\n*** Update File: f.py\n{diff}"
    whole, bare = read(body + "*** End Patch\n"), read(body)
    assert whole[:-1] == bare[:-1]
    assert (whole[-1], bare[-1]) == (End(True), End(False))

"""B20: the hosted tool's diff has no envelope and no header; the results are the same."""

from __future__ import annotations

import pytest

from tests.support.edit_streams import pieces, read, run
from tui.core.edit_stream.events import Cut, End, Failure, FileEnd, FileOp, Partial
from tui.core.edit_stream.hosted import HostedPatch
from tui.core.hunk import Kind


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("operation", "header", "diff"),
    [
        ("create_file", "Add", "+one\n+two\n"),
        ("update_file", "Update", "@@ def f():\n x\n-a\n+b\n\n@@\n-c\n"),
        ("update_file", "Update", "-a\r\n+b\r\n"),
        ("delete_file", "Delete", ""),
    ],
)
def test_b20_same_events_as_with_an_envelope(operation, header, diff, size):
    """B20: hosted tool, diff body only -> same results."""
    whole = f"*** Begin Patch\n*** {header} File: a b.py\n{diff}*** End Patch\n"
    assert run(HostedPatch(operation, "a b.py"), pieces(diff, size)) == read(whole)


def test_last_line_without_newline_and_tail():
    parser = HostedPatch("update_file", "f")
    parser.feed("@@\n-a\n+b")
    assert parser.tail() == [Partial("b")]
    assert parser.finish(False)[-1] == End(True)
    assert parser.finish(False) == []


def test_cut_and_errors():
    deleted = HostedPatch("delete_file", "f")
    assert deleted.finish(True) == [FileOp(Kind.DELETE, "f"), Cut(), FileEnd(False)]
    events = run(HostedPatch("create_file", "f"), ["+a\nb\n+c\n"])
    assert events[-2:] == [Failure(2, "'b' in Add File has no '+' prefix"), FileEnd(False)]

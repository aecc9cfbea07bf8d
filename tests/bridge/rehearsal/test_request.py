from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.rehearsed import user
from tests.support.tables import each
from tui.bridge.rehearsal.request import parse_request
from tui.core.context import Context, FileInContext
from tui.core.text.buffer import Buffer


@each("tools", [5, "x", {"a": 1}, None, [5, None, {"name": 7, "type": []}]])
def test_tools_of_any_type_are_taken(tools: object) -> None:
    parsed = parse_request({"tools": tools}, [user("hello")])
    assert parsed.prompt == "hello"


LINES = st.lists(st.sampled_from(["a", "b", "c", "dd", ""]), min_size=1, max_size=9)


@given(LINES, LINES)
def test_a_file_of_which_only_the_difference_is_told_is_known_whole(
    old: list[str], new: list[str]
) -> None:
    context, buffer = Context(), Buffer("a.py", "\n".join([*old, *"xyz" * 9]))
    said = [context.message([FileInContext(buffer)], full=True)]
    buffer.replace((0, 0), (len(old) - 1, len(old[-1])), "\n".join(new))
    said.append(context.message([FileInContext(buffer)], full=False))
    parsed = parse_request({}, [*map(user, said)])
    assert parsed.files["a.py"] == buffer.text()
    assert not parsed.stale


def test_edits_that_are_only_told_leave_a_file_to_be_read() -> None:
    said = "The user edited meanwhile:\na.py at line 1:\n-one\n+two"
    block = Context().message([FileInContext(Buffer("a.py", "one\n"))], full=True)
    assert parse_request({}, [user(block), user(said)]).stale == {"a.py"}

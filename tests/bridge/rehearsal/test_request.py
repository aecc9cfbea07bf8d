from __future__ import annotations

from tests.support.rehearsed import user
from tests.support.tables import each
from tui.bridge.rehearsal.request import parse_request
from tui.core.files import file_block


def test_a_part_of_a_file_is_not_the_file() -> None:
    part = file_block("a.py", "x", from_="3", to="9", lines="20")
    whole = file_block("b.py", "x", from_="1", to="9", lines="9")
    assert parse_request({}, [user(part), user(whole)]).files == {"b.py": "x"}


@each("tools", [5, "x", {"a": 1}, None, [5, None, {"name": 7, "type": []}]])
def test_tools_of_any_type_are_taken(tools: object) -> None:
    parsed = parse_request({"tools": tools}, [user("hello")])
    assert parsed.prompt == "hello"

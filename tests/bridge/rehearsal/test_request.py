from __future__ import annotations

from tests.support.rehearsed import user
from tests.support.tables import each
from tui.bridge.rehearsal.request import parse_request


@each("tools", [5, "x", {"a": 1}, None, [5, None, {"name": 7, "type": []}]])
def test_tools_of_any_type_are_taken(tools: object) -> None:
    parsed = parse_request({"tools": tools}, [user("hello")])
    assert parsed.prompt == "hello"

"""The text of items in the shapes that servers give them."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.conversation import Item
from tui.engine.response_items import call_text, closed_json, with_text


@each(
    "item",
    [
        {"type": "custom_tool_call"},
        {"type": "function_call", "arguments": ""},
        {"type": "apply_patch_call", "operation": {"type": "update_file", "path": "a"}},
    ],
)
def test_a_call_takes_the_text_that_came(item: Item) -> None:
    assert call_text(with_text(item, "what came")) == "what came"


def test_json_is_closed_where_it_can_be() -> None:
    assert closed_json('{"input":"a') == '{"input":"a"}'
    assert closed_json('{"input":"a\\') == ""
    assert closed_json("[" * 200_000) == ""

"""Items in the shapes that servers give them, and which one an event is about."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.conversation import Item
from tui.engine.response_items import Slots, call_text, closed_json, with_text


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


CALL: Item = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "list",
    "arguments": "{}",
}


def test_an_item_is_one_from_its_beginning_to_its_end() -> None:
    slots = Slots()
    begun = slots.added(CALL, 0)
    assert begun is not None
    key, item = begun
    assert item == CALL
    assert slots.added(CALL, 0) is None
    assert slots.of("function_call", "fc_1", 0) == key
    assert slots.ended(CALL, 0) == (key, CALL)
    assert not slots.mended


def test_an_end_that_was_said_before_is_known_again() -> None:
    slots = Slots()
    assert slots.ended(CALL, 0) is not None
    assert slots.ended(CALL, 0) is None
    assert slots.ended(dict(CALL), 3) is None


def test_an_id_that_is_used_again_is_another_item() -> None:
    slots = Slots()
    one = slots.ended({"type": "message", "id": "x", "content": "a"}, 0)
    two = slots.ended({"type": "message", "id": "x", "content": "b"}, 1)
    assert one[0] != two[0]


def test_deltas_without_ids_belong_to_the_open_item() -> None:
    slots = Slots()
    begun = slots.added({"type": "message", "id": "m"}, 2)
    assert slots.of("message", "", 2) == begun[0]
    assert slots.of("message", "", 0) == begun[0]
    assert slots.of("reasoning", "", 2) != begun[0]


def test_deltas_that_name_their_item_otherwise() -> None:
    slots = Slots()
    key = slots.of("message", "random-1", 0)
    assert slots.of("message", "random-2", 0) == key
    ended = slots.ended({"type": "message", "id": "msg_1"}, 0)
    assert ended[0] == key
    assert slots.of("message", "random-3", 1) != key


def test_two_calls_never_share_a_call_id() -> None:
    slots = Slots()
    one = slots.ended(CALL, 0)
    two = slots.ended({**CALL, "id": "fc_2"}, 1)
    assert one[1]["call_id"] != two[1]["call_id"]
    assert slots.mended

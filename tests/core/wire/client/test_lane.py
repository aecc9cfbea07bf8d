"""Ends and beginnings with another id than expected, without one, twice, or not at all."""

from __future__ import annotations

from tests.support.client_side import ClientSide, kinds
from tests.support.tables import each


@each("announced", [False, True])
def test_an_end_alone_is_one_if_it_brings_something(announced: bool) -> None:
    side = ClientSide()
    if announced:
        side.streaming()
        side.completed()
    for turn in range(3):
        side.ask()
        response = {"output": [{"type": "message", "id": f"i{turn}"}]}
        assert kinds(side.say("response.completed", response=response)) == ["Completed"]


def test_a_server_that_never_says_created() -> None:
    side = ClientSide()
    for turn in range(3):
        side.ask()
        added = side.say("response.output_item.added", item={"type": "message", "id": f"i{turn}"})
        assert kinds(added) == ["ItemAdded"]
        delta = side.say("response.output_text.delta", item_id=f"i{turn}", delta="x")
        assert kinds(delta) == ["TextDelta"]
        assert kinds(side.item(type="message", id=f"i{turn}")) == ["ItemDone"]
        assert kinds(side.completed(f"resp_{turn}")) == ["Completed"]


def test_what_comes_late_after_a_stop_is_known_even_if_created_is_never_said() -> None:
    side = ClientSide()
    for turn in range(3):
        side.ask()
        assert side.say("response.output_text.delta", item_id=f"i{turn}", delta="x")
        side.client.interrupt(None, side.now)
        side.incomplete("interrupted", f"resp_{turn}")
        side.ask()
        late = side.say("response.output_text.delta", item_id=f"i{turn}", delta="late")
        assert late == side.item(type="message", id=f"i{turn}") == []
        assert side.say("response.output_text.delta", item_id=f"j{turn}", delta="x")
        assert kinds(side.completed(f"resp_{turn}_b")) == ["Completed"]

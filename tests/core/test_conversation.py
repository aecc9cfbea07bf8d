from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tui.core.conversation import (
    NO_ANSWER,
    Block,
    BlockKind,
    History,
    HistoryEntry,
    Item,
    answer_item,
    user_item,
)
from tui.core.steps import finished

HEAD: dict[str, object] = {"model": "m", "instructions": "work", "tools": []}
FAST = "main\tm"
DEEP = "other\tn"


def call(call_id: str, kind: str = "function_call") -> Item:
    return {"type": kind, "id": f"id_{call_id}", "call_id": call_id, "name": "list"}


def message(text: str) -> Item:
    return {"type": "message", "id": f"msg_{text}", "status": "completed", "role": "assistant"}


def kinds(request: dict[str, object]) -> list[object]:
    items = request["input"]
    assert isinstance(items, list)
    return [item["type"] for item in items]


def after_one_turn() -> History:
    history = History()
    history.context("files")
    history.prompt("one")
    history.request(HEAD, FAST)
    history.output({"type": "reasoning", "id": "rs"}, FAST)
    history.output(message("a"), FAST)
    history.ended("resp_1", chainable=True)
    return history


def test_foreign_reasoning_is_left_out_and_ids_with_it() -> None:
    history = after_one_turn()
    history.prompt("two")
    request = history.request({**HEAD, "model": "n"}, DEEP)
    assert kinds(request) == ["message", "message", "message", "message"]
    items = request["input"]
    assert isinstance(items, list)
    assert all("id" not in item and "status" not in item for item in items)


def test_a_restart_replaces_the_quoted_files() -> None:
    history = after_one_turn()
    history.note("the user edited a.py")
    history.context("newer files")
    history.prompt("two")
    history.restart("newest files")
    texts = [
        json.loads(json.dumps(entry.item))["content"][0]["text"]
        for entry in history.entries
        if entry.kind in ("context", "note", "prompt")
    ]
    assert texts == ["one", "the user edited a.py", "newest files", "two"]


def test_an_unanswered_prompt_can_be_withdrawn() -> None:
    history = after_one_turn()
    history.note("something")
    history.prompt("two")
    assert history.withdraw() == ["two"]
    assert [entry.kind for entry in history.entries][-1] == "note"
    assert history.withdraw() == []


def test_the_first_prompt_continues_from_a_prewarm() -> None:
    history = History()
    request = history.warm(HEAD, FAST)
    assert (request["generate"], request["input"]) == (False, [])
    history.warmed("resp_0")
    history.context("files")
    history.prompt("one")
    request = history.request(HEAD, FAST)
    assert request["previous_response_id"] == "resp_0"
    assert len(kinds(request)) == 2


def test_hosted_calls_are_answered_with_a_status() -> None:
    item = answer_item(call("c", "apply_patch_call"), "no", failed=True)
    assert item["type"] == "apply_patch_call_output"
    assert item["status"] == "failed"


turns = st.lists(
    st.tuples(
        st.integers(0, 3),  # calls
        st.booleans(),  # a call was cut
        st.booleans(),  # the response ended well
        st.booleans(),  # the socket broke afterwards
    ),
    max_size=12,
)


@given(turns)
def test_requests_add_up_to_the_conversation(plan: list[tuple[int, bool, bool, bool]]) -> None:
    """What the server holds and what is sent is always the whole conversation, in order."""
    history = History()
    held: list[object] = []
    for number, (calls, cut, well, broken) in enumerate(plan):
        history.prompt(f"prompt {number}")
        request = history.request(HEAD, FAST)
        sent = request["input"]
        assert isinstance(sent, list)
        chained = "previous_response_id" in request
        held = [*held, *sent] if chained else list(sent)
        lasting = [entry.item for entry in history.entries if entry.kind != "cut"]
        assert [item for item in held if item in lasting] == lasting
        outputs = [call(f"c{number}.{index}") for index in range(calls)]
        for item in outputs:
            history.output(item, FAST)
        if cut:
            history.cut_call(call(f"cut{number}"), "cut")
        history.ended(f"resp_{number}", chainable=well)
        held += outputs
        for item in outputs:
            history.answer(item, "done")
        if broken:
            history.break_chain()


@given(turns, st.integers(1, 4))
def test_what_was_looked_at_before_changes_no_request(
    plan: list[tuple[int, bool, bool, bool]], often: int
) -> None:
    """Whatever was taken out of the conversation since, or put right in it."""
    history = History()
    for number, (calls, cut, well, broken) in enumerate(plan):
        history.context(f"file {number}")
        history.prompt(f"prompt {number}")
        for index in range(calls):
            item = call("same" if index % 2 else f"c{number}.{index}")
            history.output(item, FAST if calls % 2 else DEEP)
            entry = history.answer(item, "done") if index or not broken else None
            if number % often == 0:
                finished(history.preparing(FAST))
            if entry is not None:
                history.amend(entry, answer_item(item, "done at last"))
        if cut:
            history.cut_call(call("same"), "cut")
            history.withdraw()
        if broken:
            history.restart(f"files {number}")
        request, anew = history.request(HEAD, FAST), History()
        anew.entries = [*history.entries]
        if "previous_response_id" not in request:
            assert request == anew.request(HEAD, FAST)
        history.ended(f"resp_{number}", chainable=well)


def test_a_call_that_nobody_answered_is_answered_once() -> None:
    history = after_one_turn()
    history.output(call("c"), FAST)
    history.ended("resp_2", chainable=True)
    owed = []
    for number in range(2):
        history.prompt(f"more {number}")
        items = history.request(HEAD, FAST)["input"]
        assert isinstance(items, list)
        owed.append(sum(item.get("output") == NO_ANSWER for item in items))
        history.ended(f"resp_{number + 3}", chainable=True)
    assert owed == [1, 0]


def test_a_continuation_looks_only_at_what_is_new() -> None:
    looked_at = 0

    class Seen(dict[str, object]):
        def get(self, name: str, default: object = None) -> object:
            nonlocal looked_at
            looked_at += 1
            return super().get(name, default)

    history = History()
    for number in range(1000):
        history.prompt(f"prompt {number}")
        history.output(Seen(message("a")), FAST)
    history.request(HEAD, FAST)
    history.ended("resp_1", chainable=True)
    looked_at = 0
    history.prompt("two")
    history.request(HEAD, FAST)
    assert looked_at == 0


def grown(pieces: list[str]) -> Block:
    block = Block(BlockKind.TEXT, 1)
    for piece in pieces:
        block.append(piece)
    return block


@given(st.lists(st.text(max_size=9), max_size=900), st.data())
def test_any_part_is_that_of_the_whole(pieces: list[str], data: st.DataObject) -> None:
    block, text = grown(pieces), "".join(pieces)
    assert (block.text, block.length) == (text, len(text))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert block.text_between(start, end) == text[start:end]
    assert block.text_since(start) == text[start:]


def test_another_text_takes_the_place_of_all() -> None:
    block = grown(["x"] * 1000)
    block.say("stopped")
    block.append(".")
    assert (block.text, block.length) == ("stopped.", 8)


def turns_of(history: History, *turns: int, first: str = "") -> None:
    for turn in turns:
        history.turn = turn
        history.note(first if turn == turns[0] else "")
        history.prompt(f"prompt {turn}")
        history.output(call(f"c{turn}"), FAST)
        history.answer(call(f"c{turn}"), "done")


def said(history: History) -> list[str]:
    return [f"{one.kind} {one.turn}" for one in history.entries]


def summary(turn: int) -> HistoryEntry:
    return HistoryEntry("summary", user_item("a summary"), turn=turn)


def test_a_rewind_to_a_turn_that_was_compacted_in_its_midst_takes_all_of_it_out() -> None:
    history = History()
    turns_of(history, 1, 2)
    prompt = history.entries[3]
    history.compact(6, [summary(2), prompt])
    history.output(message("more"), FAST)
    assert [one.kind for one in history.whole()].count("prompt") == 2
    history.rewind(2)
    assert said(history) == ["prompt 1", "output 1", "answer 1"]


def test_what_was_compacted_before_this_start_is_no_place_to_rewind_to() -> None:
    history, before = History(), History()
    turns_of(before, 1, first="the map")
    history.begin_with([summary(6), before.entries[0]])  # the map stays behind the summary
    turns_of(history, 7, 8, 9)
    assert [turn for turn in range(1, 10) if history.has_begin_of(turn)] == [7, 8, 9]
    history.compact(len(history.entries) - 3, [summary(8), before.entries[0]])
    assert [turn for turn in range(1, 10) if history.has_begin_of(turn)] == [7, 8, 9]
    history.compact(1, [summary(8)])  # the user edits it
    history.rewind(8)
    assert said(history) == ["summary 6", "note 1", "prompt 7", "output 7", "answer 7"]

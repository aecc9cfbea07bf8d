"""What was said is found by words, by turn, and whole by its id; answers are bounded."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.compaction import FOUND, WHOLE_CHARS, PastItem, Recollection, recalled
from tui.core.conversation import EntryKind, Item, user_item
from tui.core.steps import finished


def message(text: str) -> Item:
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content}


def item(number: int, turn: int, kind: EntryKind, said: Item) -> PastItem:
    return PastItem(str(number), turn, kind, said)


SAID = [
    item(1, 1, "prompt", user_item("make the Cache safe")),
    item(2, 1, "context", user_item("cache.py quoted: the cache")),
    item(3, 1, "output", message("The cache has a lock now.")),
    item(
        4, 1, "output", {"type": "function_call", "name": "search", "arguments": '{"pattern":"x"}'}
    ),
    item(5, 1, "answer", {"type": "function_call_output", "output": "a.py:1: x = cache"}),
    item(6, 2, "prompt", user_item("straße und 語")),
    item(7, 2, "cut", {"type": "custom_tool_call", "name": "apply_patch", "input": "+half\n"}),
]


def found(**asked: object) -> str:
    return finished(recalled(SAID, Recollection(**asked)))


@each(
    "words, ids",
    [
        ("cache", ["5", "3", "1"]),
        ("CACHE lock", ["3"]),
        ("safe lock", ["3", "1"]),
        ("STRASSE", ["6"]),
        ("語", ["6"]),
        ("half", ["7"]),
        ("search", ["4"]),
        ("absent", []),
    ],
)
def test_words(words: str, ids: list[str]) -> None:
    lines = [line for line in found(words=words).splitlines() if line.startswith("item ")]
    assert [line.split(",")[0].removeprefix("item ") for line in lines] == ids


@each(
    "said, words",
    [
        ("u\u0308ber cafe\u0301", "über café"),
        ("ß" * 3000 + " the needle", "needle"),
        ("u\u0308" * 3000 + " the needle", "NEEDLE"),
        ("a.*b [x](", ".*b [x]("),
    ],
)
def test_letters_of_any_spelling_are_found_and_shown(said: str, words: str) -> None:
    text = finished(recalled([item(1, 1, "output", message(said))], Recollection(words)))
    assert text.startswith("1 item;")
    assert text.endswith(said[-10:])


def test_it_says_which_turn_who_said_it_and_how_many_words() -> None:
    text = found(words="safe lock")
    assert text.startswith("2 items, with 1 of the 2 words (none has all); item=ID gives")
    assert "item 3, turn 1, you:\nThe cache has a lock now." in text
    assert "item 1, turn 1, the user:" in text


def test_a_turn_and_an_item() -> None:
    assert "item 6" in found(turn=2)
    assert "item 1" not in found(turn=2)
    assert found(item="3") == "item 3, turn 1, you:\nThe cache has a lock now."
    assert found(item="2").startswith("There is no item 2")
    assert found() == "Say words to look for, a turn, or the id of an item."


def test_answers_are_bounded_and_say_how_to_go_on() -> None:
    many = [item(n, n, "output", message(f"the cache, {n}: " + "x" * 50_000)) for n in range(100)]
    text = finished(recalled(many, Recollection("cache")))
    assert text.count("\nitem ") == FOUND
    assert "100 items, the first 20 of them" in text
    assert len(text) < 20_000
    whole = finished(recalled(many, Recollection(item="7")))
    assert len(whole) < WHOLE_CHARS + 200
    start = int(whole.rpartition("start=")[2].rstrip(")"))
    rest = finished(recalled(many, Recollection(item="7", start=start)))
    assert "start=" in rest
    assert finished(recalled(many, Recollection(item="7", start=10**9))).endswith("you:\n")


def test_words_are_found_in_other_turns_where_the_named_one_has_none() -> None:
    said = found(words="lock", turn=2)
    assert said.startswith("Nothing in turn 2 has any of these words. In other turns: 1 item;")
    assert "item 3, turn 1" in said
    assert found(words="lock", turn=1).startswith("1 item in turn 1")
    assert (
        found(words="nowhere", turn=2) == "Nothing that was said in turn 2 has any of these words."
    )

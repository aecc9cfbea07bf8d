from __future__ import annotations

import pytest

from tests.support.rehearsed import CUSTOM, FUNCTION, READ, user
from tui.bridge.rehearsal.scene import read_scene, shows_failure
from tui.core.file_block import file_block

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-1\n+2\n*** End Patch\n"


def call(call_id: str, name: str, text: str, custom: bool = False) -> dict[str, object]:
    kind, key = ("custom_tool_call", "input") if custom else ("function_call", "arguments")
    return {"type": kind, "call_id": call_id, "name": name, key: text}


def output(call_id: str, text: object, custom: bool = False) -> dict[str, object]:
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return {"type": kind, "call_id": call_id, "output": text}


def test_files_and_prompt_are_told_apart_and_the_newest_text_counts() -> None:
    scene = read_scene(
        {},
        [
            user(file_block("a.py", "old\n")),
            user("Open files:\n" + file_block("a.py", "new\n", state="active") + "\n\ngo"),
            user("the prompt"),
        ],
    )
    assert scene.files == {"a.py": "new\n"}
    assert scene.prompt == "the prompt"
    assert scene.said[0].startswith("Open files:")
    assert "<file" not in scene.said[0]


def test_a_part_of_a_file_is_not_the_file() -> None:
    part = file_block("a.py", "x", from_="3", to="9", lines="20")
    whole = file_block("b.py", "x", from_="1", to="9", lines="9")
    assert read_scene({}, [user(part), user(whole)]).files == {"b.py": "x"}


@pytest.mark.parametrize(
    ("tools", "channel", "can_read"),
    [
        ([CUSTOM, READ], "custom", True),
        ([FUNCTION], "function", False),
        ([], "text", False),
        (None, "text", False),
        (["odd", {"type": "web_search"}], "text", False),
    ],
)
def test_the_tools_say_how_to_edit(tools: object, channel: str, can_read: bool) -> None:
    scene = read_scene({"tools": tools}, [])
    assert (scene.channel, scene.can_read) == (channel, can_read)


def test_tools_may_travel_as_an_item() -> None:
    item = {"type": "additional_tools", "role": "developer", "tools": [CUSTOM]}
    assert read_scene({}, [item]).channel == "custom"


def test_outputs_that_nothing_follows_continue_the_turn() -> None:
    items = [user("go"), call("1", "read_file", '{"path": "a.py"}')]
    answered = [*items, output("1", file_block("a.py", "text\n"))]
    scene = read_scene({}, answered)
    assert [answer.name for answer in scene.answers] == ["read_file"]
    assert scene.files == {"a.py": "text\n"}
    assert read_scene({}, [*answered, user("more")]).answers == []
    parts = [{"type": "input_text", "text": "there is no file a.py"}]
    refused = read_scene({}, [*items, output("1", parts)])
    assert refused.unreadable == {"a.py": "there is no file a.py"}


@pytest.mark.parametrize("custom", [True, False])
def test_a_patch_makes_the_quoted_file_old(custom: bool) -> None:
    import json

    text = PATCH if custom else json.dumps({"input": PATCH})
    items = [user(file_block("a.py", "1\n")), user("go"), call("1", "apply_patch", text, custom)]
    scene = read_scene({}, items)
    assert scene.stale == {"a.py"}
    assert scene.patched == {"a.py"}
    again = read_scene({}, [*items, output("1", "placed", custom), user(file_block("a.py", "2\n"))])
    assert again.stale == set()
    assert again.files == {"a.py": "2\n"}


def test_a_failure_counts_until_the_next_patch() -> None:
    shown = user("FAILED tests/test_a.py::test_b - AssertionError")
    assert read_scene({}, [shown]).failed
    assert not read_scene({}, [shown, call("1", "apply_patch", PATCH, True)]).failed


@pytest.mark.parametrize(
    "text",
    ["1 failed, 2 passed", "FAIL: test_a", "E   assert 1 == 2", "the tests fail", "it still fails"],
)
def test_failures_are_recognised(text: str) -> None:
    assert shows_failure(text)


@pytest.mark.parametrize("text", ["0 failed, 3 passed", "make it fail-safe", "all tests pass"])
def test_success_is_no_failure(text: str) -> None:
    assert not shows_failure(text)


def test_odd_items_do_no_harm() -> None:
    odd = [
        {},
        {"type": 1},
        {"type": "message", "role": "user", "content": 3},
        {"type": "reasoning"},
    ]
    assert read_scene({"instructions": 7}, odd).prompt == ""


@pytest.mark.parametrize("tools", [5, "x", {"a": 1}, None, [5, None, {"name": 7, "type": []}]])
def test_tools_of_any_type_are_taken(tools: object) -> None:
    scene = read_scene({"tools": tools}, [user("hello")])
    assert scene.prompt == "hello"


def test_of_a_message_of_mebibytes_the_ends_are_read() -> None:
    scene = read_scene({}, [user("hello " + "x" * 20_000_000 + " goodbye")])
    assert scene.prompt.startswith("hello x")
    assert scene.prompt.endswith("x goodbye")
    assert len(scene.prompt) < 200_000

"""A conversation of Responses items as messages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.chat_answers import asked, body, call, chunk, told
from tests.support.rehearsed import user
from tests.support.tables import each
from tui.bridge.endpoints.base import ModelFacts, Refused

PNG = "data:image/png;base64,AAAA"


def said(role: str, *texts: str, kind: str = "input_text") -> dict[str, Any]:
    parts = [{"type": kind, "text": text} for text in texts]
    return {"type": "message", "role": role, "content": parts}


def assistant(text: str) -> dict[str, Any]:
    return said("assistant", text, kind="output_text")


def called(call_id: str, name: str = "read", arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def output(call_id: str, value: object = "out") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": value}


def messages(*items: dict[str, Any], instructions: str = "", **options: Any) -> list[Any]:
    request = {"instructions": instructions} if instructions else {}
    found = body(asked(*items, **request), **options)["messages"]
    assert isinstance(found, list)
    return found


def test_instructions_at_the_beginning_are_one_message() -> None:
    items = (said("developer", "one", "two"), said("system", "three"), user("a"))
    assert messages(*items, instructions="zero")[0] == {
        "role": "system",
        "content": "zero\n\none\n\ntwo\n\nthree",
    }
    (first, _) = messages(*items, system_role="developer")
    assert first["role"] == "developer"


def test_users_that_follow_each_other_are_one_where_templates_want_it() -> None:
    assert len(messages(user("a"), user("b"))) == 2
    assert messages(user("a"), user("b"), alternate=True) == [{"role": "user", "content": "a\n\nb"}]


def test_a_call_without_output_and_an_output_without_call() -> None:
    told_messages = messages(called("c1"), user("b"), output("c9", "lost"))
    assert told_messages[1] == {
        "role": "tool", "tool_call_id": "c1", "content": "(there is no output)",
    }  # fmt: skip
    assert told_messages[-1]["content"] == "The output of a tool:\n\nlost"


def test_outputs_of_all_forms() -> None:
    parts = [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]
    shell = {"type": "shell_call", "call_id": "c3", "action": {"commands": ["ls"]}}
    items = (
        called("c1"), output("c1", parts), called("c2"), output("c2", {"exit": 0}),
        shell, {"type": "shell_call_output", "call_id": "c3", "output": [{"stdout": "x"}]},
        called("c4"), output("c4", ""),
    )  # fmt: skip
    tools = [one["content"] for one in messages(*items) if one["role"] == "tool"]
    assert tools == ["a\n\nb", '{"exit":0}', '{"stdout":"x"}', ""]


def test_images() -> None:
    image = {"type": "input_image", "image_url": PNG, "detail": "high"}
    shown = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "a"}, image],
    }
    part = {"type": "image_url", "image_url": {"url": PNG, "detail": "high"}}
    assert messages(shown)[0]["content"] == [{"type": "text", "text": "a"}, part]


def test_what_tools_show_is_the_users() -> None:
    image = {"type": "input_image", "image_url": PNG}
    items = (called("c1"), called("c2"), output("c1", [image]), output("c2"))
    turn, first, second, last = messages(*items)
    assert len(turn["tool_calls"]) == 2
    assert first["content"] == "(see the picture below)"
    assert second["content"] == "out"
    assert last["content"][1] == {"type": "image_url", "image_url": {"url": PNG}}


@each(
    "part, code",
    [
        ({"type": "input_image", "image_url": PNG}, "image_not_supported"),
        ({"type": "input_file", "file_data": "x", "filename": "a.pdf"}, "file_not_supported"),
    ],
)
def test_what_a_text_model_cannot_see(part: dict[str, Any], code: str) -> None:
    shown = {"type": "message", "role": "user", "content": [part]}
    for item in (shown, output("c1", [part])):
        with pytest.raises(Refused, match="The model m") as refused:
            body(asked(called("c1"), item, facts=ModelFacts(images=False)))
        assert (refused.value.code, refused.value.status) == (code, 400)


def test_a_document_where_it_is_taken() -> None:
    part = {"type": "input_file", "file_data": "data:x", "filename": "a.pdf"}
    shown = {"type": "message", "role": "user", "content": [part]}
    file = {"type": "file", "file": {"file_data": "data:x", "filename": "a.pdf"}}
    assert messages(shown, files=True)[0]["content"] == [file]


def test_mistrals_ids_and_order() -> None:
    items = (called("call_1"), output("call_1"), user("b"))
    turn, tool, word, last = messages(*items, call_ids="mistral", user_after_tool=False)
    assert len(tool["tool_call_id"]) == 9
    assert tool["tool_call_id"] == turn["tool_calls"][0]["id"]
    assert (word["role"], last["role"]) == ("assistant", "user")


# ---- thoughts


def test_mistrals_thoughts_are_content() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "so"}]}
    answer = told(chunk(content=[thinking]), chunk(content="b"), chunk("stop"))
    (_, turn) = messages(user("a"), *answer.output, reasoning_back="thinking")
    assert turn["content"] == [thinking, {"type": "text", "text": "b"}]


def test_openrouters_blocks_go_back_whole() -> None:
    pieces = [
        {"type": "reasoning.text", "text": "so", "format": "anthropic-claude-v1", "index": 0},
        {"type": "reasoning.text", "text": " it", "signature": None, "index": 0},
        {"type": "reasoning.text", "signature": "sig", "index": 0},
        {"type": "reasoning.encrypted", "data": "abc", "id": "rs_1", "index": 1},
    ]
    streamed = [chunk(reasoning=one.get("text"), reasoning_details=[one]) for one in pieces]
    answer = told(*streamed, call(0, "read", "{}", id="c1"), chunk("tool_calls"))
    assert answer.texts()[0] == ("reasoning", "so it")
    _, turn, _ = messages(user("a"), *answer.output, output("c1"))
    assert turn["reasoning_details"] == [
        {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0,
         "signature": "sig", "text": "so it"},
        {"type": "reasoning.encrypted", "data": "abc", "id": "rs_1", "index": 1},
    ]  # fmt: skip
    assert "reasoning" not in turn


def test_calls_of_others_are_excused() -> None:
    excuse = {"extra_content": {"google": {"thought_signature": "skip"}}}
    items = (called("c1"), called("c2"), output("c1"), output("c2"))
    first, second = messages(*items, unsigned_calls=excuse)[0]["tool_calls"]
    assert first["extra_content"] == excuse["extra_content"]
    assert "extra_content" not in second
    signed = {"google": {"thought_signature": "sig"}}
    answer = told(call(0, "read", "{}", id="c1", extra_content=signed), chunk("tool_calls"))
    (turn, _) = messages(*answer.output, output("c1"), unsigned_calls=excuse)
    assert turn["tool_calls"][0]["extra_content"] == signed


def test_a_beginning_that_another_provider_sealed_is_named() -> None:
    sealed_ = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
    first, second = messages(sealed_, user("go on"))
    assert "not known here" in first["content"]
    assert second["content"] == "go on"

"""A conversation of Responses items as messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.chat_answers import asked, body, call, chunk, told
from tests.support.rehearsed import user
from tui.bridge.endpoints.base import ModelFacts, Refused
from tui.bridge.endpoints.carried import seal

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


def sealed(text: str, model: str = "m", **payload: Any) -> dict[str, Any]:
    content = seal("openai-chat", model, payload)
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"type": "reasoning", "summary": summary, "encrypted_content": content}


def messages(*items: dict[str, Any], instructions: str = "", **options: Any) -> list[Any]:
    request = {"instructions": instructions} if instructions else {}
    found = body(asked(*items, **request), **options)["messages"]
    assert isinstance(found, list)
    return found


def test_a_plain_conversation() -> None:
    assert messages(user("a"), assistant("b"), user("c"), instructions="Be brief.") == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]


def test_instructions_at_the_beginning_are_one_message() -> None:
    items = (said("developer", "one", "two"), said("system", "three"), user("a"))
    assert messages(*items, instructions="zero")[0] == {
        "role": "system",
        "content": "zero\n\none\n\ntwo\n\nthree",
    }
    (first, _) = messages(*items, system_role="developer")
    assert first["role"] == "developer"


def test_later_instructions() -> None:
    items = (user("a"), assistant("b"), said("developer", "stop"), user("c"))
    assert [one["role"] for one in messages(*items)] == ["user", "assistant", "user", "user"]
    roles = [one["role"] for one in messages(*items, late_system="developer")]
    assert roles == ["user", "assistant", "developer", "user"]


def test_users_that_follow_each_other_are_one_where_templates_want_it() -> None:
    assert len(messages(user("a"), user("b"))) == 2
    assert messages(user("a"), user("b"), alternate=True) == [{"role": "user", "content": "a\n\nb"}]


def test_calls_and_their_outputs() -> None:
    custom = {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": 'a "b"'}
    done = {"type": "custom_tool_call_output", "call_id": "c2", "output": "placed"}
    items = (user("a"), assistant("I look."), called("c1"), custom, output("c1"), done, user("b"))
    _, turn, first, second, last = messages(*items)
    assert (turn["role"], turn["content"]) == ("assistant", "I look.")
    assert [one["id"] for one in turn["tool_calls"]] == ["c1", "c2"]
    function = turn["tool_calls"][1]["function"]
    assert (function["name"], json.loads(function["arguments"])) == (
        "apply_patch",
        {"input": 'a "b"'},
    )
    assert first == {"role": "tool", "tool_call_id": "c1", "content": "out"}
    assert second == {"role": "tool", "tool_call_id": "c2", "content": "placed"}
    assert last["role"] == "user"


def test_outputs_stand_behind_their_calls_wherever_they_came() -> None:
    items = (called("c1"), user("wait"), called("c2"), output("c2", "two"), output("c1", "one"))
    roles = [(one["role"], one.get("content")) for one in messages(*items)]
    assert roles == [
        ("assistant", None), ("tool", "one"), ("user", "wait"),
        ("assistant", None), ("tool", "two"),
    ]  # fmt: skip


def test_a_call_without_output_and_an_output_without_call() -> None:
    told_messages = messages(called("c1"), user("b"), output("c9", "lost"))
    assert told_messages[1] == {
        "role": "tool", "tool_call_id": "c1", "content": "(there is no output)",
    }  # fmt: skip
    assert told_messages[-1]["content"] == "The output of a tool:\n\nlost"


def test_the_same_id_twice() -> None:
    items = (called("0"), output("0", "one"), called("0"), output("0", "two"))
    assert [one["content"] for one in messages(*items)] == [None, "one", None, "two"]


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


@pytest.mark.parametrize(
    ("part", "code"),
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


def test_stored_images_are_not_known() -> None:
    shown = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_image", "file_id": "f"}],
    }
    with pytest.raises(Refused, match="data: or https:"):
        messages(shown)


def test_a_document_where_it_is_taken() -> None:
    part = {"type": "input_file", "file_data": "data:x", "filename": "a.pdf"}
    shown = {"type": "message", "role": "user", "content": [part]}
    file = {"type": "file", "file": {"file_data": "data:x", "filename": "a.pdf"}}
    assert messages(shown, files=True)[0]["content"] == [file]


def test_odd_items_are_left_out() -> None:
    odd = [
        {"type": "web_search_call", "id": "w"},
        {"type": "reasoning", "summary": [], "encrypted_content": "theirs"},
        {"type": "additional_tools", "tools": []}, {}, said("user"), assistant(""),
        {"type": "message", "role": "user", "content": None},
    ]  # fmt: skip
    assert messages(user("a"), *odd) == [{"role": "user", "content": "a"}]


def test_a_refusal_is_remembered() -> None:
    part = {"type": "refusal", "refusal": "No."}
    refused = {"type": "message", "role": "assistant", "content": [part]}
    assert messages(refused) == [{"role": "assistant", "content": "No."}]


def test_mistrals_ids_and_order() -> None:
    items = (called("call_1"), output("call_1"), user("b"))
    turn, tool, word, last = messages(*items, call_ids="mistral", user_after_tool=False)
    assert len(tool["tool_call_id"]) == 9
    assert tool["tool_call_id"] == turn["tool_calls"][0]["id"]
    assert (word["role"], last["role"]) == ("assistant", "user")


# ---- thoughts


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_go_back_as_they_came_with_their_calls(field: str) -> None:
    answer = told(chunk(**{field: "so"}), call(0, "read", "{}", id="c1"), chunk("tool_calls"))
    _, turn, _ = messages(user("a"), *answer.output, output("c1"))
    assert turn[field] == "so"
    answer = told(chunk(**{field: "so"}), chunk(content="b"), chunk("stop"))
    assert field not in messages(user("a"), *answer.output, user("c"))[1]
    assert messages(user("a"), *answer.output, reasoning_back=field)[1][field] == "so"


def test_mistrals_thoughts_are_content() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "so"}]}
    answer = told(chunk(content=[thinking]), chunk(content="b"), chunk("stop"))
    (_, turn) = messages(user("a"), *answer.output, reasoning_back="thinking")
    assert turn["content"] == [thinking, {"type": "text", "text": "b"}]


def test_deepseek_wants_the_field_with_every_call() -> None:
    habits: dict[str, Any] = {"reasoning_back": "reasoning_content"}
    items = (called("c1"), output("c1"))
    assert messages(*items, **habits)[0]["reasoning_content"] == ""
    assert "reasoning_content" not in messages(*items)[0]


def test_thoughts_of_other_models_and_kinds_stay_here() -> None:
    others = [sealed("so", "another", back="reasoning_content")]
    others += [{**others[0], "encrypted_content": seal("anthropic", "m", {"blocks": []})}]
    turn = messages(user("a"), *others, called("c1"), output("c1"))[1]
    assert "reasoning_content" not in turn
    assert "so" not in json.dumps(turn)


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


def test_googles_signatures_go_back_with_their_call() -> None:
    signed = {"google": {"thought_signature": "sig"}}
    answer = told(
        call(0, "read", "{}", id="c1", extra_content=signed), call(1, "read", "{}", id="c2"),
        chunk("tool_calls"),
    )  # fmt: skip
    turn, *_ = messages(*answer.output, output("c1"), output("c2"))
    first, second = turn["tool_calls"]
    assert first["extra_content"] == signed
    assert "extra_content" not in second


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


def test_two_calls_of_one_id_in_one_message() -> None:
    said_ = [user("a"), called("c"), called("c"), output("c", "one"), output("c", "two")]
    _, turn, *outputs = messages(*said_)
    ids = [call["id"] for call in turn["tool_calls"]]
    assert len(set(ids)) == 2
    assert [(one["tool_call_id"], one["content"]) for one in outputs] == [
        (ids[0], "one"),
        (ids[1], "two"),
    ]

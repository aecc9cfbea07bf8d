"""Any conversation of items becomes one that the Messages API takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bridge.endpoints.anthropic.rules import check
from tests.support.rehearsed import CUSTOM, READ, user
from tests.support.tables import each
from tui.bridge.endpoints.anthropic.request import AnthropicOptions, messages_request
from tui.bridge.endpoints.base import Asked, ModelFacts, Refused
from tui.bridge.endpoints.encrypted_content import seal

MODEL = "claude-sonnet-4-5"
Item = dict[str, Any]


def body_of(items: list[Item], facts: ModelFacts | None = None, **request: Any) -> dict[str, Any]:
    asked = Asked(MODEL, {"tools": [READ, CUSTOM], **request}, items, facts or ModelFacts())
    body = messages_request(asked, AnthropicOptions()).body
    json.dumps(body)
    return body


def messages_of(items: list[Item], **request: Any) -> list[tuple[str, list[Any]]]:
    """Roles and what is told, in short."""
    body = body_of(items, **request)
    check(body)
    return [
        (message["role"], [_short(block) for block in message["content"]])
        for message in body["messages"]
    ]


def _short(block: dict[str, Any]) -> Any:
    kind = block["type"]
    if kind == "tool_result":
        content = block.get("content", "")
        texts = content if isinstance(content, str) else "".join(b.get("text", "") for b in content)
        return ("result", block["tool_use_id"], texts)
    if kind == "tool_use":
        return ("call", block["id"], block["input"])
    return block.get("text") or block.get("thinking") or block.get("data") or kind


def said(text: str, role: str = "assistant") -> Item:
    return {"type": "message", "role": role, "content": [{"type": "output_text", "text": text}]}


def thought(text: str, model: str = MODEL, kind: str = "anthropic") -> Item:
    block = {"type": "thinking", "thinking": text, "signature": "s"}
    sealed = seal(kind, model, {"blocks": [block]})
    return {"type": "reasoning", "summary": [], "encrypted_content": sealed}


def called(call_id: str, path: str = "a") -> Item:
    arguments = json.dumps({"path": path})
    return {"type": "function_call", "name": "read_file", "call_id": call_id,
            "arguments": arguments}  # fmt: skip


def output(call_id: str, text: Any = "out") -> Item:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def test_leading_instructions_are_the_system_prompt_and_later_ones_marked_words() -> None:
    items = [said("one", "developer"), said("two", "system"), user("hi"), said("yes"),
             said("Be quick.", "developer"), user("go")]  # fmt: skip
    body = body_of(items, instructions="zero")
    check(body)
    assert [block["text"] for block in body["system"]] == ["zero", "one", "two"]
    last = body["messages"][-1]["content"]
    assert last[0]["text"] == "<system-reminder>\nBe quick.\n</system-reminder>"
    assert last[1]["text"] == "go"


def test_outputs_of_other_forms_are_told_as_json() -> None:
    shell = {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}}
    done = {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": "x", "exit": 0}]}
    told = messages_of([user("hi"), shell, done, output("c9", {"a": 1})])
    assert told[1][1] == [("call", "c1", {"commands": ["ls"]})]
    assert json.loads(told[2][1][0][2]) == [{"stdout": "x", "exit": 0}]


PNG = "data:image/png;base64,iVBORw0KGgo="


def test_pictures_as_data_and_as_addresses() -> None:
    urls = [PNG, "https://host/a.png", "data:image/JPG;charset=x;base64,AAAA"]
    parts = [{"type": "input_image", "image_url": url} for url in urls]
    body = body_of([{"role": "user", "content": parts}, called("c1"), output("c1", parts[:1])])
    sources = [block["source"] for block in body["messages"][0]["content"]]
    assert sources == [
        {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
        {"type": "url", "url": "https://host/a.png"},
        {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"},
    ]
    (result,) = body["messages"][2]["content"]
    assert result["content"][0]["type"] == "image"


@each(
    "part, words",
    [
        ({"type": "input_file", "file_data": "data:application/pdf;base64,AA"}, "documents"),
        ({"type": "input_audio", "data": "x"}, "input_audio"),
        ({"type": "input_image", "file_id": "file_1"}, "file's id"),
        ({"type": "input_image", "image_url": "data:image/svg+xml;base64,AA"}, "svg"),
        ({"type": "input_image", "image_url": "data:image/png,raw"}, "base64"),
    ],
)
def test_what_it_cannot_take_is_refused_in_words(part: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words) as caught:
        body_of([{"role": "user", "content": [part]}])
    assert caught.value.status == 400
    assert not caught.value.elsewhere


_ID = st.sampled_from(["c1", "c2", "call with spaces", "é", "x" * 90])
_TEXT = st.sampled_from(["", " ", "text", "ü\n"])
_ITEM = st.one_of(
    st.builds(user, _TEXT),
    st.builds(said, _TEXT, st.sampled_from(["assistant", "developer", "system"])),
    st.builds(thought, st.just("t"), st.sampled_from([MODEL, "other"])),
    st.builds(called, _ID),
    st.builds(output, _ID, st.one_of(_TEXT, st.just([]), st.none())),
    st.just({"type": "web_search_call", "id": "ws"}),
    st.just({"type": "reasoning", "summary": [], "encrypted_content": "duetto1.%"}),
)


@given(
    st.lists(_ITEM, max_size=14),
    st.sampled_from([None, "none", "low", "xhigh"]),
    st.sampled_from(["auto", "required", "none"]),
    st.sampled_from([None, 1, 1500, 4000]),
)
def test_the_api_takes_any_conversation(
    items: list[Item], effort: str | None, choice: str, most: int | None
) -> None:
    reasoning = {"effort": effort} if effort else None
    check(body_of(items, reasoning=reasoning, tool_choice=choice, max_output_tokens=most,
                  temperature=0.2))  # fmt: skip


def test_a_beginning_that_another_provider_sealed_is_named() -> None:
    sealed_ = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
    ((role, (first, second)),) = messages_of([sealed_, user("go on")])
    assert role == "user"
    assert "not known here" in first
    assert second == "go on"

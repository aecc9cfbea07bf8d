"""The whole kind over real sockets: a server that does not know a field, and what is learnt."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.endpoint_kinds import Stand, failure, standing, text_of
from tests.support.endpoint_servers import MODEL, STALL, Mark, Plan, Say, Script, Status, sse
from tests.support.endpoint_servers_chat import Chat
from tests.support.rehearsed import user
from tests.support.tables import each
from tui.bridge.endpoints.base import ModelFacts

OK = Script([Say("all is well")])
READ = {"type": "function", "name": "read", "strict": True,
        "parameters": {"type": "object", "properties": {}}}  # fmt: skip


def refusing(words: str, status: int = 400) -> Script:
    return Script(instead=Status(status, "invalid_request_error", words))


async def bodies(stand: Stand, *scripts: Script, **fields: Any) -> list[dict[str, Any]]:
    """What the server was sent till the answer came."""
    stand.answers(*scripts, OK)
    await stand.ask(**fields)
    assert text_of(await stand.until()) == "all is well"
    return [request.body for request in stand.server.requests]


async def test_the_other_name_of_the_limit() -> None:
    words = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )
    async with standing("openai-chat") as stand:
        first, second = await bodies(stand, refusing(words), max_output_tokens=50)
    assert first["max_tokens"] == second["max_completion_tokens"] == 50
    assert "max_tokens" not in second


async def test_strict_tools_and_roles_that_alternate() -> None:
    strict = refusing("tools.0.function.strict: Extra inputs are not permitted", 422)
    roles = refusing("Conversation roles must alternate user/assistant/user/...", 500)
    async with standing("openai-chat") as stand:
        fields: dict[str, Any] = {"said": [user("a"), user("b")], "tools": [READ]}
        *_, last = await bodies(stand, strict, roles, **fields)
    assert "strict" not in last["tools"][0]["function"]
    assert last["messages"] == [{"role": "user", "content": "a\n\nb"}]


@each(
    "words, gone",
    [
        (
            'Invalid JSON payload received. Unknown name "$schema" at '
            "'tools[0].function_declarations[0].parameters': Cannot find field.\nInvalid JSON "
            'payload received. Unknown name "format" at '
            "'tools[0].function_declarations[0].parameters.properties[1].value': Cannot find it.",
            {"$schema", "format"},
        ),
        ("Unsupported JSON schema fields: {'minLength', 'items'}", {"minLength"}),
    ],
)
async def test_keywords_of_schemas_that_it_does_not_know(words: str, gone: set[str]) -> None:
    inner = {"type": "string", "format": "uri", "minLength": 1}
    parameters = {"$schema": "x", "type": "object", "properties": {"format": inner}}
    tool = {"type": "function", "name": "fetch", "parameters": parameters}
    async with standing("openai-chat") as stand:
        first, second = await bodies(stand, refusing(words), tools=[tool])
    assert first["tools"][0]["function"]["parameters"] == parameters
    taken = {key: value for key, value in inner.items() if key not in gone}
    left = {key: value for key, value in parameters.items() if key not in gone}
    wanted = {**left, "properties": {"format": taken}}
    assert second["tools"][0]["function"]["parameters"] == wanted


@each(
    "words",
    [
        "Invalid 'content': 'content' field must be a string or an array of objects.",
        "body.messages.1.content.str: Input should be a valid string",
        "invalid message content type: <nil>",
        'can only concatenate str (not "NoneType") to str in message.content',
    ],
)
async def test_a_message_that_only_calls_may_want_a_text(words: str) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
    done = {"type": "function_call_output", "call_id": "c", "output": "x"}
    async with standing("openai-chat") as stand:
        first, second = await bodies(stand, refusing(words), said=[user("a"), call, done])
    assert first["messages"][1]["content"] is None
    assert second["messages"][1]["content"] == ""


@each(
    "words",
    [
        "Invalid schema for function 'read': 'additionalProperties' is required to be false.",
        "This model takes no more than 8192 tokens.",
        "max_tokens is too large: 9000. This model supports at most 4096 completion tokens.",
        "Invalid schema for function 'read'.",
        "Missing required parameter: 'messages[0].role'.",
    ],
)
async def test_other_complaints_are_told_at_once(words: str) -> None:
    async with standing("openai-chat") as stand:
        stand.answers(refusing(words), OK)
        await stand.ask(max_output_tokens=9000, tools=[READ])
        assert failure(await stand.until()) == ("invalid_request_error", words, 400)
        assert len(stand.server.requests) == 1


class Tail:
    """Chat Completions with an end of one's own."""

    def __init__(self, *ending: bytes | Mark) -> None:
        self._ending = ending

    def plan(self, script: Script) -> Plan:
        *told, _finish, _count, _done = Chat().plan(script)
        return [*told, *self._ending]


FINISH = sse({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})


@pytest.mark.slow
@each(
    "ending",
    [
        (FINISH, STALL),
        (FINISH, b": ping\n\n", STALL),
        (FINISH, b"data: [DONE]"),
        (b"data: [DONE]",),
        (FINISH, b'data: {"choices": [], "usa'),
    ],
)
async def test_a_whole_answer_whose_stream_has_no_end(
    ending: tuple[bytes | Mark, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with standing("openai-chat") as stand:
        monkeypatch.setattr(stand.server.dialect, "plan", Tail(*ending).plan)
        events = await stand.answered(OK)
        assert events[-1]["type"] == "response.completed"
        assert text_of(events) == "all is well"
        assert events[-1]["response"]["usage"]["estimated"] is True


async def test_limits_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    status = Status(429, "rate_limit_exceeded", "Slow down.", {
        "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m30s",
    })  # fmt: skip
    async with standing("openai-chat") as stand:
        stand.answers(Script(instead=status))
        await stand.ask()
        last = (await stand.until())[-1]
        assert (last["status"], last["error"]["code"]) == (429, "rate_limit_exceeded")
        assert last["error"]["headers"] == {"retry-after": "90"}


async def test_descriptions_that_are_too_long() -> None:
    words = (
        "Invalid 'tools[0].function.description': string too long. Expected a string with maximum "
        "length 64, but got a string with length 200 instead."
    )
    long = {**READ, "description": "word " * 40}
    async with standing("openai-chat") as stand:
        first, second = await bodies(stand, refusing(words), tools=[long])
    assert first["tools"][0]["function"]["description"] == "word " * 40
    assert len(second["tools"][0]["function"]["description"]) == 64
    assert second["messages"][0]["content"].endswith("word " * 40)


async def test_tools_that_nobody_can_run_are_named() -> None:
    async with standing("openai-chat") as stand:
        stand.answers(OK)
        await stand.ask(tools=[READ, {"type": "web_search"}, {"type": "mcp"}])
        last = (await stand.until())[-1]["response"]
        assert last["metadata"]["duetto_tools_left_out"] == "web_search, mcp"
        assert len(stand.server.requests[0].body["tools"]) == 1


async def test_what_is_known_of_a_model_is_no_bar_to_learning() -> None:
    facts = ModelFacts(ask_output_tokens=500)
    async with standing("openai-chat", known_models={MODEL: facts}) as stand:
        first, second = await bodies(stand, refusing("Unknown parameter: 'seed'"), seed=1)
    assert first["seed"] == 1
    assert second["max_tokens"] == 500
    assert "seed" not in second

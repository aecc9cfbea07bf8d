"""A field that a server refuses by name is left out and stays out, whatever the kind."""

from __future__ import annotations

from typing import Any

from tests.support.endpoint_kinds import Stand, failure, standing, text_of
from tests.support.endpoint_servers import Say, Script, Status
from tests.support.endpoint_servers_ws import WsServer
from tests.support.messages_upstream import Events, bodies, messages, start, stop, text
from tests.support.tables import each

OK = Script([Say("all is well")])
LITELLM = (
    "litellm.UnsupportedParamsError: anthropic does not support parameters: "
    "['prompt_cache_key'], for model=claude. To drop these, set `litellm.drop_params=True`"
)


def refusing(words: str, status: int = 400) -> Script:
    return Script(instead=Status(status, "invalid_request_error", words))


def sent(stand: Stand) -> list[dict[str, Any]]:
    if isinstance(stand.server, WsServer):
        return [one for one in stand.server.frames if one["type"] == "response.create"]
    return [request.body for request in stand.server.requests]


async def begun(stand: Stand) -> str:
    """A conversation that a WebSocket holds: what comes next is refused there, not at the door."""
    return str((await stand.answered(OK))[-1]["response"]["id"])


@each("kind", ["openai-chat", "openai-responses", "responses-ws"])
@each('words, status', [
    (LITELLM, 400),
    ("prompt_cache_key: Extra inputs are not permitted", 422),
    ("create() got an unexpected keyword argument 'prompt_cache_key'", 500),
])  # fmt: skip
async def test_it_is_left_out_and_that_is_kept_in_mind(kind: str, words: str, status: int) -> None:
    options = {"cache_key": "prompt_cache_key"} if kind == "openai-chat" else {}
    async with standing(kind, options=options) as stand:
        parent = await begun(stand)
        stand.answers(refusing(words, status), OK, OK)
        for _ in range(2):
            fields = {"prompt_cache_key": "thread", "temperature": 1}
            await stand.ask("more", previous_response_id=parent, **fields)
            events = await stand.until()
            assert text_of(events) == "all is well"
            assert events[-1]["response"]["metadata"]["duetto_left_out"] == "prompt_cache_key"
            parent = events[-1]["response"]["id"]
        told = sent(stand)[1:]
    assert ["prompt_cache_key" in body for body in told] == [True, False, False]
    assert all("temperature" in body for body in told)


@each("kind", ["openai-chat", "openai-responses", "responses-ws"])
async def test_what_the_request_is_about_is_never_left_out(kind: str) -> None:
    async with standing(kind) as stand:
        parent = await begun(stand)
        stand.answers(*[refusing("Unsupported parameter: 'model'")] * 3)
        await stand.ask("more", previous_response_id=parent)
        assert failure(await stand.until())[2] == 400
        assert len(sent(stand)) == 1 + 1


@each("kind", ["openai-responses", "responses-ws"])
async def test_nested_fields_and_an_end(kind: str) -> None:
    reasoning = {"effort": "high", "summary": "auto"}
    async with standing(kind) as stand:
        parent = await begun(stand)
        stand.answers(refusing("Unknown parameter: 'reasoning.summary'."), OK)
        fields: dict[str, Any] = {"prompt_cache_key": "thread", "reasoning": reasoning}
        await stand.ask("more", previous_response_id=parent, **fields)
        events = await stand.until()
        assert text_of(events) == "all is well"
        assert sent(stand)[-1]["reasoning"] == {"effort": "high"}
        names = [f"field_{number}" for number in range(20)]
        stand.answers(*(refusing(f"Unknown parameter: '{name}'") for name in names))
        parent = events[-1]["response"]["id"]
        fields |= dict.fromkeys(names, 1)
        await stand.ask("more", previous_response_id=parent, **fields)
        failure(await stand.until())
        assert len(sent(stand)) == 3 + 6


@each('words, status', [
    ("metadata.user_id: Extra inputs are not permitted", 400),
    ("create() got an unexpected keyword argument 'metadata'", 500),
])  # fmt: skip
async def test_messages_learn_it_too(words: str, status: int) -> None:
    fine = Events(start(), text("ok"), stop())
    refusal = Events(instead=Status(status, "invalid_request_error", words))
    async with messages() as claude:
        claude.answers(refusal, fine, fine)
        for _ in range(2):
            await claude.ask(user="u", stop=["END"])
            events = await claude.until()
            assert text_of(events) == "ok"
            assert events[-1]["response"]["metadata"]["duetto_left_out"] == "user"
        assert ["metadata" in body for body in bodies(claude)] == [True, False, False]
        assert all("stop_sequences" in body for body in bodies(claude))

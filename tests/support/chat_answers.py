"""Answers of Chat Completions told as a run, without a socket."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.support.endpoint_kinds import items, well_told
from tests.support.server_side import create, one_run, sent
from tui.bridge.endpoints.base import Asked, Broken, EndpointSpec, ModelFacts, Refused, Target
from tui.bridge.endpoints.openai_chat.endpoint import ChatLanguage
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.upstream.sse import Message
from tui.core.wire.address import Address
from tui.core.wire.server.protocol import ServerProtocol

KEY = "sk-very-secret-0123456789"
HOST = "provider.test"
Chunk = dict[str, Any] | bytes | Message


@dataclass
class Answer:
    """What was told of an answer."""

    events: list[dict[str, Any]]
    error: Refused | Broken | None
    writer: ResponseWriter
    output: list[dict[str, Any]] = field(default_factory=list)

    @property
    def last(self) -> dict[str, Any]:
        """The response of the terminal event."""
        response = self.events[-1]["response"]
        assert isinstance(response, dict)
        return response

    def texts(self) -> list[tuple[str, str]]:
        """Kind and text of each finished item."""
        return [(item["type"], _text(item)) for item in items(self.events)]


def language(**options: Any) -> ChatLanguage:
    """A dialect."""
    return ChatLanguage(options)


def target(**options: Any) -> Target:
    """An endpoint with a key."""
    url = f"https://{HOST}/v1"
    spec = EndpointSpec("openai-chat", url, options=options)
    return Target("there", spec, Address(url, {"Authorization": f"Bearer {KEY}"}))


def asked(*said: dict[str, Any], facts: ModelFacts | None = None, **request: Any) -> Asked:
    """A request with these items."""
    return Asked("m", request, list(said), facts or ModelFacts())


def body(wanted: Asked, **options: Any) -> dict[str, Any]:
    """What a provider is sent."""
    _, data = language(**options).request(wanted, target(**options))
    decoded = json.loads(data)
    assert isinstance(decoded, dict)
    return decoded


def told(
    *chunks: Chunk,
    options: dict[str, Any] | None = None,
    whole: bytes | None = None,
    refused: tuple[int, bytes] | None = None,
    **fields: Any,
) -> Answer:
    """A stream of these chunks, told to its end; it is marked, if ``[DONE]`` is the last one.

    Or an answer that came ``whole``, or was ``refused`` with a status and a body.
    """
    server = ServerProtocol()
    run = one_run(server, create(**fields))

    async def flush() -> None:
        return None

    writer, error = ResponseWriter(run, flush), None
    habits = options or {}
    wanted = Asked(str(run.request["model"]), run.request, run.full_input)
    reader = language(**habits).reader(wanted, target(**habits), writer)
    marked = bool(chunks) and chunks[-1] == b"[DONE]"
    try:
        if refused is not None:
            reader.refuse(*refused, {}, HOST)
        elif whole is not None:
            reader.hear_whole(Message("", whole))
        for chunk in chunks[:-1] if marked else chunks:
            if not isinstance(chunk, bytes | Message):
                chunk = json.dumps(chunk).encode()
            reader.hear(Message("", chunk) if isinstance(chunk, bytes) else chunk)
        if whole is None:
            reader.cut(HOST, marked=marked)
    except (Refused, Broken) as caught:
        error = caught
    events = sent(server)
    if run.done:
        well_told(events)
    return Answer(events, error, writer, run.output)


def chunk(finish: str | None = None, /, **delta: Any) -> dict[str, Any]:
    """One chunk as OpenAI makes it."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m-2026",
        "choices": [choice],
    }  # fmt: skip


def counted(tokens_in: int = 10, tokens_out: int = 5, **more: Any) -> dict[str, Any]:
    """The chunk with the count."""
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, **more}
    usage.setdefault("total_tokens", tokens_in + tokens_out)
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": usage}


def call(index: int | str | None, name: str | None, arguments: Any, **more: Any) -> dict[str, Any]:
    """A chunk with one delta of a call."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value}
    at = {} if index is None else {"index": index}
    return chunk(tool_calls=[{**at, "function": function, **more}])


def _text(item: dict[str, Any]) -> str:
    parts = item.get("content") or item.get("summary") or []
    text = "".join(part.get("text", part.get("refusal", "")) for part in parts)
    return text or item.get("arguments", item.get("input", ""))

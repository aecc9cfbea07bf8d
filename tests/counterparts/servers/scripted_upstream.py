"""A provider that speaks Chat Completions and Messages: ``scripted_upstream.py PORT LOG``.

It answers the sentences that the rehearsal model knows (see docs/rehearsal.md), so that the same
clients can be played through the bridge. Its chunks have the shapes of the official SDKs, which
`shapes_client.py` proves by reading them with those. Every request, and how its answer ended, is a
line of JSON in LOG.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from aiohttp import web

CALL = re.compile(r"\brehearse\s+call\s+([\w.-]+)\s+(\S.*)")
TOKENS = re.compile(r"\brehearse\s+(\d+)\s+tokens")
PATCH = "*** Begin Patch\n*** Add File: ledger/tags.py\n+TAGS = ['a \"b\" \\\\']\n*** End Patch\n"
THOUGHT = "The user wants a module. "
PLAIN = "This is the rehearsal model, no real one."


class Plan:
    """What is answered: a thought, text, calls."""

    def __init__(self, said: list[tuple[str, str]], tools: dict[str, dict[str, Any]]) -> None:
        """``said``: (role, text) with role user, assistant or tool; ``tools``: name -> schema."""
        self.thought, self.text = "", ""
        self.calls: list[tuple[str, str]] = []
        results = []
        while said and said[-1][0] == "tool":
            results.insert(0, said.pop()[1])
        users = [text for role, text in said if role == "user"]
        prompt = users[-1] if users else ""
        behind = [text for role, text in said[-1:] if role == "user"]
        if results:
            self.text = "".join(f"answered: {result}\n" for result in results)
        elif found := CALL.findall(prompt):
            self.calls = [(name, _arguments(tools.get(name, {}), text)) for name, text in found]
        elif count := TOKENS.search(prompt):
            self.text = "Rehearsed text. " * (int(count[1]) // 4 + 1)
        elif any("finds the tags" in text for text in users):
            self.thought = THOUGHT
            if "apply_patch" in tools:
                self.calls = [("apply_patch", _arguments(tools["apply_patch"], PATCH))]
            else:
                self.text = "The module finds tags."
        else:
            self.text = PLAIN
        self.heard = len(behind)


def _arguments(schema: dict[str, Any], text: str) -> str:
    properties = list(schema.get("properties", {}))
    return json.dumps({properties[0]: text}) if properties == ["input"] else text


def pieces(text: str) -> list[str]:
    """Cut where models cut: every few characters, in the middle of escapes too."""
    return [text[at : at + 5] for at in range(0, len(text), 5)]


def rate_of(model: str) -> float:
    """Pieces a second: ``NAME-slow`` is slow."""
    return 30.0 if model.endswith("slow") else 400.0


class Upstream:
    """The server."""

    def __init__(self, log: Path) -> None:
        self._log = log.open("a", buffering=1)
        self._count = 0

    def app(self) -> web.Application:
        """Its routes."""
        app = web.Application(client_max_size=2**26)
        app.router.add_get("/v1/models", self.models)
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_post("/v1/messages", self.messages)
        return app

    def note(self, **fields: Any) -> None:
        """A line of the log."""
        self._log.write(json.dumps({"t": time.time(), **fields}) + "\n")

    async def models(self, request: web.Request) -> web.Response:
        """``GET /v1/models``."""
        self.note(path="models", peer=str(request.transport.get_extra_info("peername")))
        names = ("scripted", "scripted-slow")
        return web.json_response(
            {
                "object": "list",
                "has_more": False,
                "data": [
                    {"id": one, "object": "model", "created": 1, "owned_by": "us",
                     "type": "model", "display_name": one, "created_at": "2026-01-01T00:00:00Z"}
                    for one in names
                ],
            }
        )  # fmt: skip

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """``POST /v1/chat/completions``."""
        body = await request.json()
        self._count += 1
        self.note(path="chat", body=body, headers=_shown(request))
        said = [
            (_role(one["role"]), _text(one.get("content"))) for one in body["messages"]
        ]
        tools = {
            tool["function"]["name"]: tool["function"].get("parameters") or {}
            for tool in body.get("tools", [])
        }
        plan = Plan(said, tools)
        if not body.get("stream"):
            message = {"role": "assistant", "content": plan.text, "refusal": None}
            choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
            return web.json_response({**self._head(body), "object": "chat.completion",
                                      "choices": [choice], "usage": _chat_usage(body, 4)})  # fmt: skip
        return await self._stream(request, self._chat_chunks(body, plan), body["model"])

    def _head(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"id": f"chatcmpl-{self._count}", "object": "chat.completion.chunk",
                "created": int(time.time()), "model": body["model"]}  # fmt: skip

    async def _chat_chunks(self, body: dict[str, Any], plan: Plan) -> AsyncIterator[bytes]:
        head = self._head(body)

        def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
            return _data({**head, "choices": [choice]})

        yield chunk({"role": "assistant", "content": ""})
        count = 0
        for piece in pieces(plan.thought):
            count += 1
            yield chunk({"reasoning_content": piece})
        for piece in pieces(plan.text):
            count += 1
            yield chunk({"content": piece})
        for at, (name, arguments) in enumerate(plan.calls):
            begun = {"index": at, "id": f"call_{self._count}_{at}", "type": "function",
                     "function": {"name": name, "arguments": ""}}  # fmt: skip
            yield chunk({"tool_calls": [begun]})
            for piece in pieces(arguments):
                count += 1
                yield chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
        yield chunk({}, "tool_calls" if plan.calls else "stop")
        if (body.get("stream_options") or {}).get("include_usage"):
            yield _data({**head, "choices": [], "usage": _chat_usage(body, count)})
        yield b"data: [DONE]\n\n"

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """``POST /v1/messages``."""
        body = await request.json()
        self._count += 1
        self.note(path="messages", body=body, headers=_shown(request))
        said: list[tuple[str, str]] = []
        for one in body["messages"]:
            content = one["content"]
            blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
            for block in blocks:
                if block["type"] == "tool_result":
                    said.append(("tool", _text(block.get("content"))))
                elif block["type"] == "text":
                    said.append((one["role"], block["text"]))
                else:
                    said.append((one["role"] + "-block", ""))
        tools = {tool["name"]: tool.get("input_schema") or {} for tool in body.get("tools", [])}
        return await self._stream(
            request, self._message_events(body, Plan(said, tools)), body["model"]
        )

    async def _message_events(self, body: dict[str, Any], plan: Plan) -> AsyncIterator[bytes]:
        count = 1
        tokens = len(json.dumps(body["messages"])) // 4
        cached = tokens // 2 if len(body["messages"]) > 1 else 0
        usage = {"input_tokens": tokens - cached, "cache_read_input_tokens": cached,
                 "cache_creation_input_tokens": 0, "output_tokens": 1, "service_tier": "standard"}  # fmt: skip
        message = {"id": f"msg_{self._count}", "type": "message", "role": "assistant",
                   "content": [], "model": body["model"], "stop_reason": None,
                   "stop_sequence": None, "usage": usage}  # fmt: skip
        yield _event("message_start", message=message)
        yield _event("ping")
        blocks: list[tuple[dict[str, Any], str, str, str]] = []
        if plan.thought and body.get("thinking"):
            thinking = {"type": "thinking", "thinking": "", "signature": ""}
            blocks.append((thinking, "thinking_delta", "thinking", plan.thought))
        if plan.text:
            blocks.append(({"type": "text", "text": ""}, "text_delta", "text", plan.text))
        for at, (name, arguments) in enumerate(plan.calls):
            call = {"type": "tool_use", "id": f"toolu_{self._count}_{at}", "name": name, "input": {}}
            blocks.append((call, "input_json_delta", "partial_json", arguments))
        for index, (block, kind, key, text) in enumerate(blocks):
            yield _event("content_block_start", index=index, content_block=block)
            for piece in pieces(text):
                count += 1
                yield _event("content_block_delta", index=index, delta={"type": kind, key: piece})
            if kind == "thinking_delta":
                signed = {"type": "signature_delta", "signature": "c2lnbmVk"}
                yield _event("content_block_delta", index=index, delta=signed)
            yield _event("content_block_stop", index=index)
        reason = "tool_use" if plan.calls else "end_turn"
        delta = {"stop_reason": reason, "stop_sequence": None}
        yield _event("message_delta", delta=delta, usage={"output_tokens": count})
        yield _event("message_stop")

    async def _stream(
        self, request: web.Request, events: AsyncIterator[bytes], model: str
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        number = self._count
        try:
            await response.prepare(request)
            async for event in events:
                await response.write(event)
                await asyncio.sleep(1 / rate_of(model))
            await response.write_eof()
        except (ConnectionError, asyncio.CancelledError):
            self.note(end="cut", number=number)
            raise
        self.note(end="whole", number=number)
        return response


def _role(role: str) -> str:
    return "user" if role == "user" else "tool" if role == "tool" else "assistant"


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return content or ""


def _shown(request: web.Request) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


def _chat_usage(body: dict[str, Any], count: int) -> dict[str, Any]:
    tokens = len(json.dumps(body["messages"])) // 4
    cached = tokens // 2 if any(m["role"] == "assistant" for m in body["messages"]) else 0
    return {
        "prompt_tokens": tokens, "completion_tokens": count, "total_tokens": tokens + count,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }  # fmt: skip


def _data(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\n".encode() + _data({"type": kind, **fields})


if __name__ == "__main__":
    # aiohttp ends the handler when the client leaves
    web.run_app(
        Upstream(Path(sys.argv[2])).app(), host="127.0.0.1", port=int(sys.argv[1]),
        handler_cancellation=True, print=None,
    )  # fmt: skip

"""A server whose model calls tools by a script: one list of commands for each response."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from aiohttp import WSMsgType, web

from tests.support.served import served

TOOL = "shell"


class CallingServer:
    """Each request is answered by the next commands of the script, then with words.

    A command may be a call of its own making: members of its item, over those of a usual one.
    """

    def __init__(self, *commands: Sequence[str | dict[str, Any]], words: str = "Done.") -> None:
        self.outputs: list[str] = []
        """What was answered to the calls, in their order."""
        self.called_s: list[float] = []
        """When the last token of each call was ready, by the clock of the day."""
        self.requests: list[dict[str, Any]] = []
        """All that were answered, prewarms left out."""
        self._script = iter(commands)
        self._words = words
        self._ids = itertools.count(1)
        self.port = served(self._socket)

    @property
    def address(self) -> str:
        """For ``--endpoint``."""
        return f"ws://127.0.0.1:{self.port}/v1/responses"

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=1 << 28)
        await socket.prepare(request)
        async for message in socket:
            heard = json.loads(message.data) if message.type is WSMsgType.TEXT else {}
            if heard.get("type") == "response.create":
                for event in self._answer(heard):
                    await socket.send_json(event)
        return socket

    def _answer(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        number = next(self._ids)
        response: dict[str, Any] = {"id": f"resp_{number}", "model": "m", "output": []}
        lane = {"stream_id": request["stream_id"]} if "stream_id" in request else {}
        yield {"type": "response.created", "response": {**response, "status": "in_progress"}} | lane
        prewarms = request.get("generate") is False
        for item in () if prewarms else self._items(number, request):
            place = {"output_index": len(response["output"])} | lane
            bare = {**item, "arguments": ""} if "arguments" in item else {**item, "content": []}
            yield {"type": "response.output_item.added", "item": bare, **place}
            if "arguments" in item:
                kind, piece = "response.function_call_arguments.delta", item["arguments"]
            else:
                kind, piece = "response.output_text.delta", item["content"][0]["text"]
            yield {"type": kind, "item_id": item["id"], "delta": piece, "content_index": 0, **place}
            if "arguments" in item:
                self.called_s.append(time.time())
            yield {"type": "response.output_item.done", "item": item, **place}
            response["output"].append(item)
        usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
        whole = {**response, "status": "completed", "usage": usage}
        yield {"type": "response.completed", "response": whole} | lane

    def _items(self, number: int, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        self.requests.append(request)
        sent = [item for item in request["input"] if item["type"] == "function_call_output"]
        self.outputs += [item["output"] for item in sent]
        commands = next(self._script, ())
        for at, command in enumerate(commands):
            usual = {
                "type": "function_call",
                "id": f"fc_{number}_{at}",
                "call_id": f"call_{number}_{at}",
                "name": TOOL,
            }
            own = command if isinstance(command, dict) else {}
            yield {"arguments": json.dumps({"command": command}), **usual, **own}
        if not commands:
            content = [{"type": "output_text", "text": self._words, "annotations": []}]
            yield {
                "type": "message",
                "id": f"msg_{number}",
                "role": "assistant",
                "content": content,
            }

"""A server of the Responses API over WebSocket: by the `websockets` library, told what to answer.

Strict about parents: it knows the responses of the same connection, and no others.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request as Upgrade
from websockets.http11 import Response

from tests.support.endpoint_servers import (
    CUT,
    HOLD,
    Heard,
    Mark,
    Request,
    Script,
    Server,
    Status,
    written,
)
from tests.support.endpoint_servers_responses import Responses, events


class ResponsesWs(Responses):
    """See `endpoint_servers.Dialect`."""

    kind = "responses-ws"


class WsServer(Server):
    """See the module's text."""

    def __init__(self) -> None:
        super().__init__(ResponsesWs())
        self.interrupts = True
        """It knows `response.interrupt`."""
        self.frames: list[dict[str, Any]] = []
        """All that it was sent, in order."""
        self.sockets: list[ServerConnection] = []
        self._known: dict[str, list[dict[str, Any]]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._counter = 0

    @property
    def heard(self) -> list[Heard]:
        """All requests with what their parents held."""
        return [self.dialect.heard(request.body) for request in self.requests]

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[WsServer]:
        """On a free port of this machine."""
        async with serve(
            self._connected, "127.0.0.1", 0, process_request=self._check, max_size=2**26
        ) as server:
            self.port = server.sockets[0].getsockname()[1]
            try:
                yield self
            finally:
                for task in self._tasks.values():
                    task.cancel()

    def _check(self, _connection: ServerConnection, upgrade: Upgrade) -> Response | None:
        instead = self.scripts[0].instead if self.scripts else None
        if instead in (None, "silence", "error-in-200"):
            return None
        if isinstance(instead, str):
            headers = Headers({"Content-Type": "text/html", "Content-Length": "13"})
            return Response(200, "OK", headers, b"<html></html>")
        body = self.dialect.error(instead)
        headers = Headers({**instead.headers, "Content-Length": str(len(body))})
        return Response(instead.status, HTTPStatus(500).phrase, headers, body)

    async def _connected(self, socket: ServerConnection) -> None:
        self.connections += 1
        number = self.connections
        self.sockets.append(socket)
        await self.note()
        mine: list[Request] = []
        with contextlib.suppress(ConnectionClosed):
            async for text in socket:
                event = json.loads(text)
                self.frames.append(event)
                if event["type"] == "response.create":
                    assert socket.request is not None
                    headers = {k.lower(): v for k, v in socket.request.headers.raw_items()}
                    body = await self._resolved(socket, event)
                    if body is not None:
                        request = Request("/responses", headers, body, number)
                        mine.append(request)
                        self._begin(request, socket)
                        await self.note()
                else:
                    await self._interrupt(socket, event, mine)
        for request in mine:
            if not request.body.get("_whole"):
                request.leave()

    async def _resolved(
        self, socket: ServerConnection, event: dict[str, Any]
    ) -> dict[str, Any] | None:
        """The request with all that its parent holds; None: it was refused."""
        parent = event.get("previous_response_id")
        if parent is None:
            return dict(event)
        key = f"{id(socket)} {parent}"
        if key in self._known:
            return {**event, "input": self._known[key] + event["input"]}
        error = {"code": "previous_response_not_found", "message": f"No {parent} here."}
        await socket.send(json.dumps({"type": "error", "status": 400, "error": error}))
        return None

    def _begin(self, request: Request, socket: ServerConnection) -> None:
        self.requests.append(request)
        self._counter += 1
        name = f"resp_up{self._counter}"
        request.body["_name"] = name
        self._tasks[name] = asyncio.create_task(self._answer(request, socket, name))

    async def _answer(self, request: Request, socket: ServerConnection, name: str) -> None:
        script = self.next_script()
        done: list[dict[str, Any]] = []
        request.body["_done"] = done
        with contextlib.suppress(ConnectionClosed):
            if script.instead is not None:
                await self._instead(script, socket)
                return
            for number, event in enumerate(events(script, name)):
                if isinstance(event, Mark):
                    if event is CUT:
                        socket.transport.abort()
                        return
                    await (self.released if event is HOLD else asyncio.Event()).wait()
                    continue
                await self._say(socket, event, number)
                if isinstance(event, dict) and event["type"] == "response.output_item.done":
                    done.append(event["item"])
            request.body["_whole"] = True
            self._keep(request, socket, name)

    async def _say(self, socket: ServerConnection, event: object, number: int) -> None:
        if not isinstance(event, dict):
            await socket.send(str(event))
            return
        text = written({**event, "sequence_number": number})
        parts = self.shape(text.encode())
        if len(parts) == 1:
            await socket.send(text)
            return
        cut = max(1, len(text) // len(parts))
        await socket.send([text[at : at + cut] for at in range(0, len(text), cut)])

    async def _instead(self, script: Script, socket: ServerConnection) -> None:
        if script.instead == "error-in-200":
            body = json.loads(self.dialect.error(Status(400)))
            await socket.send(json.dumps({"type": "error", "status": 400, **body}))
        elif isinstance(script.instead, Status):
            body = json.loads(self.dialect.error(script.instead))
            told = {"type": "error", "status": script.instead.status, **body}
            await socket.send(json.dumps(told))

    def _keep(self, request: Request, socket: ServerConnection, name: str) -> None:
        self._known[f"{id(socket)} {name}"] = request.body["input"] + request.body["_done"]

    async def _interrupt(
        self, socket: ServerConnection, event: dict[str, Any], mine: list[Request]
    ) -> None:
        """`response.interrupt`, as PROTOCOL section 8 has it; or a server that does not know it."""
        name = event.get("response_id")
        meant = next((one for one in mine if one.body["_name"] == name), None)
        if not self.interrupts:
            error = {"code": "unknown_event", "message": "Unknown event."}
            await socket.send(json.dumps({"type": "error", "status": 400, "error": error}))
            return
        if meant is None or meant.body.get("_whole"):
            return
        meant.leave()
        self._tasks[str(name)].cancel()
        await socket.send(json.dumps({"type": "response.interrupt.accepted", "response_id": name}))
        usage = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}
        ended = {"id": name, "status": "incomplete", "output": meant.body["_done"], "usage": usage}
        ended["incomplete_details"] = {"reason": "interrupted"}
        meant.body["_whole"] = True
        self._keep(meant, socket, str(name))
        await socket.send(json.dumps({"type": "response.incomplete", "response": ended}))

"""A server that streams one patch: a very large one, or one that stops in the middle."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from typing import Any

from aiohttp import WSMsgType, web

from tests.benchmarks.screen import replay_server
from tests.benchmarks.screen.replay_server import Pace, Sent
from tests.benchmarks.screen.replay_text import Wanted
from tests.support.served import served

DELTA_CHARS, DELTAS_S = 400, 200
"""What streams: about 20,000 tokens a second."""


def made(hunks: int, files: int) -> tuple[dict[str, str], dict[str, str], str]:
    """Texts by their paths, what they become, and the patch."""
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    parts: list[str] = []
    each = hunks // files
    for number in range(files):
        path, rows = f"f{number:02}.txt", range(1, each * 2, 2)
        before[path] = "".join(f"line {row}\n" for row in range(each * 2))
        after[path] = "".join(f"line {row - 1}\nnew {row}\n" for row in rows)
        sections = (f"@@\n line {row - 1}\n-line {row}\n+new {row}\n" for row in rows)
        parts += [f"*** Update File: {path}\n", *sections]
    return before, after, f"*** Begin Patch\n{''.join(parts)}*** End Patch\n"


class PatchServer:
    """Answers the first request with the patch, all others with a word; in a thread of its own."""

    def __init__(self, patch: str, *, stalls: bool = False) -> None:
        """``stalls``: behind the patch, which need not be whole, nothing comes until a stop."""
        self._stalls = stalls
        self.says = "Done."
        self.ended = threading.Event()
        """All of the patch was sent."""
        self._deltas = [patch[at : at + DELTA_CHARS] for at in range(0, len(patch), DELTA_CHARS)]
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._pace = Pace()
        self.requests: list[dict[str, Any]] = []
        """What was asked, prewarms left out."""
        self.port = served(self._socket)

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(compress=False, max_msg_size=1 << 28)
        await socket.prepare(request)
        transport, sent = request.transport, Sent("websocket", 0.0)
        assert transport is not None
        async for message in socket:
            heard = json.loads(message.data) if message.type is WSMsgType.TEXT else {}
            if heard.get("type") != "response.create":
                sent.stopped_s = time.monotonic()
            elif heard.get("generate") is False:
                transport.write(replay_server.warm_up(900))
            else:
                self.requests.append(heard)
                sent = Sent("websocket", time.monotonic())
                task = asyncio.create_task(self._answer(transport, sent))
                self._tasks.add(task)
        return socket

    async def _answer(self, transport: asyncio.WriteTransport, sent: Sent) -> None:
        number = next(self._numbers)
        deltas = self._deltas if number == 1 else [self.says]
        kind = "edit" if number == 1 else "text"
        answer = replay_server.response(deltas, number, kind, replay_server.frame)
        transport.write(answer.head)
        await self._pace.play(transport, answer, Wanted(DELTAS_S, len(deltas), number), sent)
        while self._stalls and number == 1 and not sent.stopped_s:
            await asyncio.sleep(0.01)
        transport.write(answer.stopped if sent.stopped_s else answer.tail)
        self.ended.set()

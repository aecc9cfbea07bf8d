"""The WebSocket server: loopback only, bearer token, `core.server_protocol` around the models."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hmac
import http
import json
import logging
import secrets
import time
from collections.abc import Coroutine, Mapping
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from tui.bridge.models import DEEP, FAST, NoSuchModelError, Rehearsal
from tui.bridge.rehearsal.director import answer
from tui.bridge.rehearsal.player import Player
from tui.core.run import Run
from tui.core.server_protocol import ServerProtocol
from tui.core.steering import required_outputs
from tui.core.usage import Usage

PATH = "/v1/responses"
MODELS_PATH = "/v1/models"
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_CHARS_PER_TOKEN = 4
_log = logging.getLogger(__name__)


class Bridge:
    """Serves the rehearsal models on 127.0.0.1."""

    def __init__(self, rehearsal: Rehearsal | None = None, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(32)
        self.rehearsal = rehearsal or Rehearsal()
        self.port = 0
        self._server: Server | None = None
        self._connections = 0

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"ws://127.0.0.1:{self.port}{PATH}"

    async def start(self, port: int = 0) -> None:
        """Listen; port 0 takes a free one. Raises OSError if the port is taken."""
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            port,
            process_request=self._check,
            max_size=MAX_MESSAGE_BYTES,
            compression=None,
            ping_timeout=None,
            close_timeout=1,
            server_header=None,
        )
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def _check(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuse what has no business here before the upgrade; None lets it in."""
        path = request.path.partition("?")[0]
        if request.headers.get_all("Origin"):
            return _refusal(http.HTTPStatus.FORBIDDEN, "Web pages may not use this bridge.")
        if path not in (PATH, MODELS_PATH):
            return _refusal(http.HTTPStatus.NOT_FOUND, f"There is only {PATH} here.")
        if not self._is_known(request.headers.get_all("Authorization")):
            return _refusal(http.HTTPStatus.UNAUTHORIZED, "A bearer token is required.")
        if path == MODELS_PATH:
            models = [{"id": name, "object": "model"} for name in (FAST, DEEP)]
            return _respond(http.HTTPStatus.OK, {"object": "list", "data": models})
        return None

    def _is_known(self, given: list[str]) -> bool:
        scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
        same = hmac.compare_digest(token.strip().encode(), self.token.encode())
        return scheme.lower() == "bearer" and same

    async def _serve(self, socket: ServerConnection) -> None:
        self._connections += 1
        stage = Stage(socket, self.rehearsal, f"{secrets.token_hex(4)}{self._connections:x}_")
        await stage.run()


class Stage:
    """One connection: reads frames, plays runs, writes frames."""

    def __init__(self, socket: ServerConnection, rehearsal: Rehearsal, prefix: str) -> None:
        self._socket = socket
        self._rehearsal = rehearsal
        self._protocol = ServerProtocol(prefix, steering=True)
        self._players: dict[str, asyncio.Event] = {}
        """Response id -> set when its run was told something."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._writing = asyncio.Lock()

    async def run(self) -> None:
        """Serve until the client is gone; then all work for it stops."""
        try:
            with contextlib.suppress(ConnectionClosed):
                async for message in self._socket:
                    if isinstance(message, str):
                        self._protocol.receive_text(message, int(time.time()))
                    else:
                        self._protocol.receive_binary()
                    self._wake()
                    await self._write()
        finally:
            self._protocol.connection_lost()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _wake(self) -> None:
        """Start what may start, and tell the runs that were steered or interrupted."""
        for run in self._protocol.accept():
            self._players[run.response_id] = asyncio.Event()
            self._spawn(self._play(run), run)
        told = [run for run in self._protocol.running() if run.steered]
        for run in [*told, *self._protocol.interrupted_runs()]:
            if run.response_id in self._players:
                self._players[run.response_id].set()

    def _spawn(self, work: Coroutine[None, None, None], run: Run) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(functools.partial(self._reap, run))

    def _reap(self, run: Run, task: asyncio.Task[None]) -> None:
        """A run's task is over: if it broke, the client hears of it."""
        self._tasks.discard(task)
        self._players.pop(run.response_id, None)
        if task.cancelled() or task.exception() is None:
            return
        _log.error("a run of the rehearsal broke", exc_info=task.exception())
        if not run.done:
            run.fail("server_error", "The rehearsal model broke; see the log.")
            self._wake()
            self._spawn(self._write(), run)

    async def _play(self, run: Run) -> None:
        """Play one run to its end, then start what waited for it."""
        await self._perform(run)
        self._wake()
        await self._write()

    async def _perform(self, run: Run) -> None:
        told = self._players[run.response_id]
        try:
            manner, pace = self._rehearsal.cast(run.request)
        except NoSuchModelError as error:
            run.refuse(400, error.code, str(error), error.param)
            return
        beats = answer(run.request, run.full_input, manner)
        tokens = input_tokens(run.request, run.full_input)
        player = Player(beats, pace, seed=manner.seed, now=time.monotonic())
        while not (player.done or run.interrupted or (run.steered and player.at_boundary)):
            wait_s = player.due_s() - time.monotonic()
            if wait_s > 0 and await _within(told, wait_s):
                told.clear()
                continue
            player.play(run, time.monotonic(), one_item=run.steered)
            await self._write()
        _finish(run, player, player.usage(*tokens))

    async def _write(self) -> None:
        """Write what waits, in order; a client that does not read makes its runs wait here.

        Of a client that is gone nobody is told here: the reader ends everything then.
        """
        async with self._writing:
            with contextlib.suppress(ConnectionClosed):
                for text in self._protocol.data_to_send():
                    await self._socket.send(text)


def _finish(run: Run, player: Player, usage: Usage) -> None:
    """End a run as it was stopped, or as it ended by itself."""
    if run.interrupted:
        run.finish_interrupted(usage)
    elif player.done or required_outputs(run.output):
        run.finish("completed", usage)
    else:
        run.finish("incomplete", usage, reason="steered")


async def _within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event that long; returns whether it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def input_tokens(request: Mapping[str, Any], items: list[dict[str, Any]]) -> tuple[int, int]:
    """Estimated tokens of the whole input, and how many of them the parent had already."""
    known = len(items) - len(request.get("input") or [])
    before = _size(items[:known])
    settings = _size([request.get("instructions"), request.get("tools")])
    total = settings + before + _size(items[known:])
    cached = settings + before if known else 0
    return total // _CHARS_PER_TOKEN, cached // _CHARS_PER_TOKEN


def _size(parts: list[Any]) -> int:
    return sum(len(json.dumps(part, ensure_ascii=False)) for part in parts if part)


def _refusal(status: http.HTTPStatus, message: str) -> Response:
    return _respond(status, {"error": {"message": message, "type": "invalid_request_error"}})


def _respond(status: http.HTTPStatus, body: dict[str, Any]) -> Response:
    data = json.dumps(body).encode() + b"\n"
    headers = Headers(
        [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(data))),
            ("Connection", "close"),
        ]
    )
    return Response(status.value, status.phrase, headers, data)

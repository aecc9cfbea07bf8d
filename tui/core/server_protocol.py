"""The server's side of the wire without any I/O: text frames in, runs and text frames out.

A server calls `receive_text` for each frame, then `accept` for the runs to start (again whenever a
run ended: a lane is first come, first served), and writes what `data_to_send` gives.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from tui.core.chain import Chains, unanswered_call
from tui.core.client_events import (
    Create,
    Interrupt,
    Invalid,
    Steer,
    decode_client,
)
from tui.core.run import Run, Task, error_event, frame
from tui.core.usage import Usage

MAX_IN_FLIGHT = 16
"""Responses that run at a time on one connection; more wait."""
MAX_LANES = 32
"""Distinct names on one connection; the default lane is not counted."""


class ServerProtocol:
    """One connection, seen from the server."""

    def __init__(self, prefix: str = "") -> None:
        """``prefix`` makes the response ids unique over connections."""
        self._prefix = prefix
        self._counter = 0
        self._unix_s = 0
        self._names: set[str] = set()
        self._waiting: deque[Create] = deque()
        self._running: dict[str | None, Run] = {}
        self._interrupted: list[Run] = []
        self._ended_ids: set[str] = set()
        self._chains = Chains()
        self._outbox: list[str] = []

    def receive_text(self, text: str, unix_s: int = 0) -> None:
        """Take one text frame of the client; ``unix_s`` dates the responses."""
        self._unix_s = unix_s
        event = decode_client(text)
        match event:
            case Create():
                self._queue(event)
            case Interrupt():
                self._interrupt(event)
            case Steer():
                self._refuse_steer(event)
            case Invalid():
                self._error(event.code, event.message, event.param, event.stream_id)
            case _:
                self._error("unknown_event", f"Unknown event type {event.type!r}.", "type")

    def receive_binary(self) -> None:
        """Take a binary frame: there are none in this protocol."""
        self._error("invalid_json", "Binary messages are not part of this protocol.")

    def accept(self) -> list[Run]:
        """The runs that may start now, already announced to the client.

        A prewarm is answered here, and so is a request that cannot be resolved.
        """
        started: list[Run] = []
        held: set[str | None] = set()
        waiting, self._waiting = self._waiting, deque()
        for create in waiting:
            lane = create.stream_id
            full = len(self._running) >= MAX_IN_FLIGHT
            if full or lane in held or lane in self._running:
                held.add(lane)
                self._waiting.append(create)
                continue
            run = self._start(create)
            if run is not None:
                started.append(run)
        return started

    def interrupted_runs(self) -> list[Run]:
        """Runs newly asked to stop: end each with `Run.finish_interrupted`."""
        runs, self._interrupted = self._interrupted, []
        return [run for run in runs if not run.done]

    def data_to_send(self) -> list[str]:
        """Text frames to write, in order."""
        frames, self._outbox = self._outbox, []
        return frames

    def running(self) -> list[Run]:
        """The runs in flight."""
        return list(self._running.values())

    def connection_lost(self) -> list[Run]:
        """The client is gone: every run is abandoned; returns those whose work is to stop."""
        runs = self.running()
        for run in runs:
            run.abandon()
        self._running.clear()
        self._waiting.clear()
        self._outbox.clear()
        return runs

    def _queue(self, create: Create) -> None:
        lane = create.stream_id
        if lane is not None and lane not in self._names:
            if len(self._names) >= MAX_LANES:
                message = f"At most {MAX_LANES} distinct stream ids on one connection."
                self._error("websocket_stream_limit_reached", message, "stream_id", lane)
                return
            self._names.add(lane)
        self._waiting.append(create)

    def _start(self, create: Create) -> Run | None:
        """Resolve the parent and announce the run; None: it is over already."""
        request, lane = create.request, create.stream_id
        parent = request.get("previous_response_id")
        known = self._chains.items_before(parent) if parent else []
        if known is None:
            message = f"Previous response with id '{parent}' not found."
            self._error("previous_response_not_found", message, "previous_response_id", lane)
            return None
        full_input = known + request["input"]
        call_id = unanswered_call(full_input)
        if call_id:
            if parent:
                self._chains.forget(lane, parent)
            message = f"No tool output found for function call {call_id}."
            self._error("invalid_request", message, "input", lane)
            return None
        self._counter += 1
        response_id = f"resp_{self._prefix}{self._counter:06d}"
        task = Task(response_id, lane, request, full_input, create.generate, self._unix_s)
        run = Run(task, self._outbox_append, self._ended)
        self._running[lane] = run
        run.start()
        if not create.generate:
            run.finish("completed", Usage(0, 0))
            return None
        return run

    def _ended(self, run: Run, remembered: bool) -> None:
        lane, parent = run.lane, run.request.get("previous_response_id")
        if self._running.get(lane) is run:
            del self._running[lane]
        self._ended_ids.add(run.response_id)
        if remembered:
            self._chains.remember(lane, run.response_id, [*run.full_input, *run.output])
        elif parent:
            self._chains.forget(lane, parent)

    def _interrupt(self, event: Interrupt) -> None:
        for run in self._running.values():
            if run.response_id == event.response_id:
                if not run.interrupted:
                    run.interrupted = True
                    run.emit("response.interrupt.accepted", response_id=run.response_id)
                    self._interrupted.append(run)
                return
        # One that is over already is ignored: an error would hit the client's next turn.
        if self._running and event.response_id not in self._ended_ids:
            error = {"code": "response_not_found", "message": "No such response is running."}
            self._say(type="response.interrupt.failed", response_id=event.response_id, error=error)

    def _refuse_steer(self, event: Steer) -> None:
        error = {
            "type": "invalid_request_error",
            "code": "steering_not_supported",
            "message": "This server does not steer: interrupt and send a new request.",
        }
        steer = {"previous_response_id": event.previous_response_id, "input": event.input}
        self._say(type="response.steer.failed", steer=steer, error=error)

    def _error(self, code: str, message: str, param: str = "", lane: str | None = None) -> None:
        self._say(**error_event(400, code, message, param=param or None, lane=lane))

    def _say(self, **event: Any) -> None:
        self._outbox.append(frame(event))

    def _outbox_append(self, text: str) -> None:
        self._outbox.append(text)

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
from tui.core.run import Run, Task, error_fields, frame
from tui.core.steering import Steering, behind_outputs, is_steerable, required_outputs
from tui.core.usage import Usage

MAX_IN_FLIGHT = 16
"""Responses that run at a time on one connection; more wait."""
MAX_LANES = 32
"""Distinct names on one connection; the default lane is not counted."""
MAX_WAITING = 64
"""Requests that wait for their lane on one connection; more are refused."""


class ServerProtocol:
    """One connection, seen from the server."""

    def __init__(self, prefix: str = "", *, steering: bool = False) -> None:
        """``prefix`` makes the response ids unique over connections.

        With ``steering`` the owner ends a run whose `Run.steered` is set at the next item
        boundary, as ``incomplete`` with the reason ``steered``.
        """
        self._prefix = prefix
        self._counter = 0
        self._unix_s = 0
        self._names: set[str] = set()
        self._waiting: deque[Create] = deque()
        self._running: dict[str | None, Run] = {}
        self._interrupted: list[Run] = []
        self._ended_ids: set[str] = set()
        self._chains = Chains()
        self._steering = Steering(prefix) if steering else None
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
                self._steer(event)
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
        self._outbox = []
        return runs

    def limit_reached(self) -> None:
        """The connection's time is up: the client hears it, and nothing after it.

        Not to be answered: the owner writes and closes.
        """
        words = "The connection has reached its time limit: open another one."
        self._error("websocket_connection_limit_reached", words)
        last = self._outbox
        self.connection_lost()
        self._outbox = last

    def _queue(self, create: Create) -> None:
        lane = create.stream_id
        if lane is not None and lane not in self._names:
            if len(self._names) >= MAX_LANES:
                message = f"At most {MAX_LANES} distinct stream ids on one connection."
                self._error("websocket_stream_limit_reached", message, "stream_id", lane)
                return
            self._names.add(lane)
        if len(self._waiting) >= MAX_WAITING:
            message = f"At most {MAX_WAITING} requests may wait on one connection."
            self._say("error", lane, error_fields(429, "websocket_queue_full", message))
            return
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
        if parent and self._steering is not None and (owed := self._steering.take(parent)):
            request = {**request, "input": behind_outputs(request["input"], owed)}
            full_input = known + request["input"]
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
        if self._steering is not None and self._steering.waiting(run.response_id):
            self._succeed(run, self._steering, usable=remembered and not run.interrupted)

    def _succeed(self, run: Run, steering: Steering, *, usable: bool) -> None:
        """Start the successor of a steered run, or say what it waits for."""
        stubs = required_outputs(run.output)
        for text in steering.waiting(run.response_id):
            if not usable:
                steer = text.shown(with_input=True)
                error = _steer_error("successor_creation_failed", "The response was stopped.")
                run.postscript("response.steer.failed", steer=steer, error=error)
            elif stubs:
                run.postscript(
                    "response.steer.pending",
                    steer=text.shown(),
                    reason="waiting_for_required_input",
                    required_input=stubs,
                )
        if not usable:
            steering.take(run.response_id)
        elif not stubs:
            items = steering.take(run.response_id)
            request = {**run.request, "previous_response_id": run.response_id, "input": items}
            self._waiting.appendleft(Create(request, run.lane))

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
            fields = {"response_id": event.response_id, "error": error}
            self._say("response.interrupt.failed", None, fields)

    def _steer(self, event: Steer) -> None:
        parent = event.previous_response_id
        run = next((r for r in self._running.values() if r.response_id == parent), None)
        if self._steering is None:
            words = "This server does not steer: interrupt and send a new request."
            self._refuse_steer(event, "steering_not_supported", words)
        elif run is None:
            over = parent in self._ended_ids
            code = "response_already_completed" if over else "response_not_found"
            self._refuse_steer(event, code, "No such response is running.")
        elif run.interrupted:
            self._refuse_steer(event, "response_not_active", "The response is being stopped.")
        elif not is_steerable(event.input):
            self._refuse_steer(event, "invalid_input", "User messages are expected.")
        elif self._steering.is_full(parent):
            words = "Too many texts wait for this response's successor."
            self._refuse_steer(event, "too_many_pending_steers", words)
        else:
            text = self._steering.accept(parent, event.input)
            run.steered = True
            run.emit("response.steer.accepted", steer=text.shown())

    def _refuse_steer(self, event: Steer, code: str, words: str) -> None:
        steer = {"previous_response_id": event.previous_response_id, "input": event.input}
        fields = {"steer": steer, "error": _steer_error(code, words)}
        self._say("response.steer.failed", None, fields)

    def _error(self, code: str, message: str, param: str = "", lane: str | None = None) -> None:
        self._say("error", lane, error_fields(400, code, message, param or None))

    def _say(self, kind: str, lane: str | None, fields: dict[str, Any]) -> None:
        """Say what belongs to no run."""
        event = {"type": kind, "sequence_number": 0, **fields}
        self._outbox.append(frame(event if lane is None else {**event, "stream_id": lane}))

    def _outbox_append(self, text: str) -> None:
        self._outbox.append(text)


def _steer_error(code: str, message: str) -> dict[str, str]:
    return {"type": "invalid_request_error", "code": code, "message": message}
